"""What all experiments share: files, repeatability, errors, verdicts by rule."""

from __future__ import annotations

import csv
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from fastmmd import experiments
from fastmmd._errors import MissingDependencyError
from fastmmd.experiments import _catalogue
from fastmmd.experiments._experiment import (
    Experiment,
    Outcome,
    Picture,
    Settings,
    Table,
    judge,
    overall,
)
from fastmmd.experiments._statistics import Slope, mean_error, power_law
from fastmmd.experiments._style import DARK, LIGHT, LOOKS
from fastmmd.experiments._words import percent, small, times
from fastmmd.experiments._write import csv_text

MOST_BYTES = 300_000
"""Of an SVG file: pages stay quick to load."""


# --- Every experiment


@pytest.mark.parametrize("name", experiments.names())
def test_files_of_each_experiment(name, written):
    report = written(name)
    assert report.folder.name == name
    assert sorted(path.name for path in report.folder.iterdir()) == list(report.files)
    expected = {"verdict.md", "conditions.json"}
    expected |= {f"{table.name}.csv" for table in report.outcome.tables}
    expected |= {
        f"{picture.name}{suffix}.{ending}"
        for picture in report.outcome.pictures
        for suffix in ("", "-dark")
        for ending in ("png", "svg")
    }
    assert set(report.files) == expected
    assert {f"{name}.csv", f"{name}.svg", f"{name}-dark.png"} <= expected


@pytest.mark.parametrize("name", experiments.names())
def test_pictures_are_light_and_dark_and_small(name, written):
    from matplotlib import colors, image

    report = written(name)
    for picture in report.outcome.pictures:
        light, dark = (
            (report.folder / f"{picture.name}{suffix}.svg").read_text("utf-8")
            for suffix in ("", "-dark")
        )
        assert LIGHT.ink in light
        assert DARK.ink not in light
        assert DARK.ink in dark
        assert LIGHT.ink not in dark
        for text in (light, dark):
            assert len(text.encode()) < MOST_BYTES
            # What is seen, for those who do not see it; and nothing about when or where.
            assert picture.about.split(",")[0] in text
            assert "dc:date" not in text
            # The page shows through: nothing fills the background.
            assert re.search(r'<g id="patch_1">\s*<path[^>]*style="fill: none', text)
        for style in (LIGHT, DARK):
            path = report.folder / f"{picture.name}{style.suffix}.png"
            assert path.read_bytes().startswith(b"\x89PNG")
            # A viewer may have any colour behind it: the background is the page's.
            red, green, blue, *alpha = image.imread(path)[0, 0]
            assert colors.to_hex((red, green, blue)) == style.page
            assert alpha in ([], [1.0])


@pytest.mark.parametrize("name", experiments.names())
def test_tables_have_names_that_explain_themselves(name, written):
    report = written(name)
    for table in report.outcome.tables:
        with (report.folder / f"{table.name}.csv").open(newline="") as stream:
            header, *rows = csv.reader(stream)
        assert header == list(table.columns)
        assert rows
        assert all(re.fullmatch(r"[a-z][a-z0-9_]*", column) for column in header)
        assert table.about.endswith(".")


@pytest.mark.parametrize("name", experiments.names())
def test_verdicts_are_whole_sentences(name, written):
    report = written(name)
    assert report.verdicts
    text = (report.folder / "verdict.md").read_text("utf-8")
    for verdict in report.verdicts:
        assert verdict.rule.startswith("Holds if ")
        for sentence in (verdict.claim, verdict.measured, verdict.rule):
            assert sentence.endswith(".")
            assert "nan" not in sentence.split()
            assert sentence in text
    assert all(note.endswith(".") and note in text for note in report.outcome.notes)
    # Lines of a list, so that a page can include the file wherever it likes.
    assert all(line.startswith("- ") for line in text.splitlines())


@pytest.mark.parametrize("name", experiments.names())
def test_conditions_say_how_a_run_was_made(name, written):
    report = written(name)
    found = json.loads((report.folder / "conditions.json").read_text("utf-8"))
    assert found["experiment"] == name
    assert (found["trials"], found["quick"], found["seed"]) == (report.trials, True, 0)
    assert found["packages"]["numpy"] == np.__version__
    assert found["holds"] == report.holds
    assert found["seconds"] > 0.0
    assert set(found["tables"]) == {f"{t.name}.csv" for t in report.outcome.tables}


@pytest.mark.parametrize("name", experiments.names())
def test_the_same_seed_gives_the_same_bytes(name, written):
    first, trials = written(name).outcome, written(name).trials
    again = experiments.run(name, trials=trials, quick=True).outcome
    other = experiments.run(name, trials=trials, quick=True, seed=1).outcome
    texts = [
        {
            table.name: csv_text(table)
            for table in outcome.tables
            if not any("seconds" in column for column in table.columns)
        }
        for outcome in (first, again, other)
    ]
    assert texts[0] == texts[1]
    # Of efficiency all tables have times in them.
    assert texts[0] != texts[2] or name == "efficiency"


def test_a_summary_of_all_that_is_there(written):
    reports = {name: written(name) for name in ("diameter", "bounds")}
    text = (reports["diameter"].folder.parent / "summary.md").read_text("utf-8")
    lines = text.splitlines()
    assert lines[0].startswith("| experiment | paper | verdict |")
    assert (
        "| `diameter` | Figure 2 | holds partly | 3 hold, 1 fails | 2, quick |" in lines
    )
    assert lines[-1] == "Quick: fewer trials or smaller sizes than the paper's."
    names = [line.split("`")[1] for line in lines[2:-2]]
    assert names == [name for name in experiments.names() if name in names]
    assert set(names) >= set(reports)


@pytest.mark.parametrize("quick", [True, False])
def test_what_a_quick_run_wrote_says_so(tmp_path, quick):
    report = experiments.run("sinusoids", quick=quick, out=tmp_path)
    text = (report.folder / "verdict.md").read_text("utf-8")
    assert text.startswith("- Quick: fewer trials or smaller sizes") is quick
    assert ("uick" in text) is quick
    summary = (tmp_path / "summary.md").read_text("utf-8")
    assert ("uick" in summary) is quick
    assert ("| 2 hold | 1 |" in summary) is not quick


# --- Running


def test_pictures_are_the_same_bytes_whatever_the_user_has_set(tmp_path, written):
    mpl = pytest.importorskip("matplotlib")
    before = dict(mpl.rcParams)
    with mpl.rc_context({"lines.linewidth": 9.0, "xtick.major.size": 20.0}):
        report = experiments.run("sinusoids", quick=True, out=tmp_path)
    assert dict(mpl.rcParams) == before
    for ending in ("svg", "png"):
        name = f"sinusoids-dark.{ending}"
        other = written("sinusoids").folder / name
        assert (report.folder / name).read_bytes() == other.read_bytes()


def test_pyplot_is_left_alone(tmp_path):
    code = (
        "import sys; from fastmmd import experiments; "
        f"experiments.run('sinusoids', quick=True, out={str(tmp_path)!r}); "
        "assert 'matplotlib' in sys.modules; assert 'matplotlib.pyplot' not in sys.modules"
    )
    source = Path(experiments.__file__).parents[2]
    environment = os.environ | {"PYTHONPATH": str(source)}
    subprocess.run([sys.executable, "-c", code], env=environment, check=True, timeout=60)


def test_numbers_need_no_matplotlib(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    assert experiments.run("sinusoids", quick=True).holds == "holds"
    message = r'pictures need matplotlib: pip install "fastmmd\[experiments\]"'
    with pytest.raises(MissingDependencyError, match=message):
        experiments.run("sinusoids", quick=True, out=tmp_path)
    assert not list(tmp_path.iterdir())


def test_names_and_descriptions():
    found = experiments.describe()
    assert tuple(each["name"] for each in found) == experiments.names()
    for each in found:
        assert re.fullmatch(
            r"(Figures? \d( and \d)?|Table 1|Theorems 3 and 4)", each["paper"]
        )
        assert each["trials"] >= 1


def test_unknown_names_and_wrong_settings():
    with pytest.raises(ValueError, match=r"`name` must be one of .sinusoids..*; got 'x'"):
        experiments.run("x")
    with pytest.raises(ValueError, match=r"of at least 2 for approximation; got 1"):
        experiments.run("approximation", trials=1)
    with pytest.raises(TypeError, match=r"`trials` must be an integer"):
        experiments.run("diameter", trials=1.5)
    with pytest.raises(ValueError, match=r"`seed` must be an integer of at least 0"):
        experiments.run("diameter", seed=-1)
    with pytest.raises(ValueError, match=r"`data` must be left out: diameter makes"):
        experiments.run("diameter", data="rows.npz")


def test_progress_counts_up_to_the_end():
    steps = []
    experiments.run("blobs", trials=3, quick=True, progress=steps.append)
    assert {(s.experiment, s.total) for s in steps} == {("blobs", 3)}
    assert [s.done for s in steps] == [0, 1, 2, 3]


# --- Writing


def make_experiment(monkeypatch, draw, run=None):
    """Put an experiment called ``small`` into the catalogue."""

    def usual(settings):
        drawn = settings.rng("numbers").random(3)
        table = Table("small", "A row is a number.", {"number": drawn})
        return Outcome(
            tables=[table],
            pictures=[Picture("small", "A line.", (2.0, 1.0), draw)],
            verdicts=[judge("It is.", measured="Yes.", rule="Holds if so.", met=[True])],
        )

    experiment = Experiment(name="small", paper="Figure 9", title="t", run=run or usual)
    monkeypatch.setattr("fastmmd.experiments.find", lambda _: experiment)


def draw_line(figure, style):
    figure.subplots().plot([0.0, 1.0], color=style.ink)


def test_a_failure_leaves_the_old_files(monkeypatch, tmp_path):
    make_experiment(monkeypatch, draw_line)
    experiments.run("small", out=tmp_path)
    folder = tmp_path / "small"
    old = {path.name: path.read_bytes() for path in folder.iterdir()}
    (folder / "mine.txt").write_text("kept")

    def fail(_figure, _style):
        msg = "no ink"
        raise RuntimeError(msg)

    make_experiment(monkeypatch, fail)
    with pytest.raises(RuntimeError, match="no ink"):
        experiments.run("small", seed=1, out=tmp_path)
    new = {path.name: path.read_bytes() for path in folder.iterdir()}
    assert new == old | {"mine.txt": b"kept"}
    make_experiment(monkeypatch, draw_line)
    experiments.run("small", seed=1, out=tmp_path)
    assert (folder / "small.csv").read_bytes() != old["small.csv"]
    assert (folder / "mine.txt").exists()


def test_results_are_written_through_links(monkeypatch, tmp_path):
    make_experiment(monkeypatch, draw_line)
    out = tmp_path / "out"
    (out / "small").mkdir(parents=True)
    for name in ("small/small.csv", "summary.md"):
        (out / name).symlink_to(tmp_path / name.replace("/", "-"))
    experiments.run("small", out=out)
    assert (out / "small" / "small.csv").is_symlink()
    assert (out / "summary.md").is_symlink()
    assert (tmp_path / "small-small.csv").read_text().startswith("number")
    assert (tmp_path / "summary.md").read_text().startswith("| experiment |")


def test_an_interruption_leaves_nothing_behind(monkeypatch, tmp_path):
    def interrupt(_):
        raise KeyboardInterrupt

    make_experiment(monkeypatch, draw_line, run=interrupt)
    with pytest.raises(KeyboardInterrupt):
        experiments.run("small", out=tmp_path)
    assert not list(tmp_path.iterdir())


def test_a_place_that_cannot_be_written_to_is_found_before_the_work(
    monkeypatch, tmp_path
):
    def never(_):
        pytest.fail("nothing should be computed")

    make_experiment(monkeypatch, draw_line, run=never)
    (tmp_path / "file").write_text("")
    with pytest.raises(ValueError, match=r"`out` must be a folder; `.*file` is a file\."):
        experiments.run("small", out=tmp_path / "file")
    with pytest.raises(ValueError, match=r"`out` must be a folder; got an empty path"):
        experiments.run("small", out="")
    monkeypatch.setattr("os.access", lambda path, _: path != tmp_path)
    with pytest.raises(ValueError, match=r"that can be written to; `.*` cannot\."):
        experiments.run("small", out=tmp_path / "new" / "folder")
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_a_failure_to_draw_leaves_no_empty_folder(monkeypatch, tmp_path):
    def fail(_figure, _style):
        msg = "no ink"
        raise RuntimeError(msg)

    make_experiment(monkeypatch, fail)
    with pytest.raises(RuntimeError, match="no ink"):
        experiments.run("small", out=tmp_path)
    assert not list(tmp_path.iterdir())


def test_cells_of_a_table():
    table = Table(
        "t",
        "A row.",
        {
            "n": np.array([1, 2]),
            "x": [1 / 3, 1e-20],
            "name": ["a,b", "c"],
            "yes": [True, np.bool_(False)],
        },
    )
    assert csv_text(table) == 'n,x,name,yes\n1,0.33333333,"a,b",True\n2,1e-20,c,False\n'
    with pytest.raises(ValueError, match=r"columns of `t` must be equally long"):
        Table("t", "A row.", {"a": [1], "b": [1, 2]})


# --- Parts


def test_a_verdict_follows_from_its_comparisons():
    def holds(*met):
        return judge("c", measured="m", rule="r", met=met)

    assert holds(True, np.bool_(True)).holds == "holds"
    assert holds(True, False).holds == "holds partly"
    assert holds(False, False).holds == "fails"
    with pytest.raises(ValueError, match="at least one comparison"):
        holds()
    yes, some, no = holds(True), holds(True, False), holds(False)
    assert overall([yes, yes]) == "holds"
    assert overall([no, no]) == "fails"
    assert overall([yes, no]) == overall([yes, some]) == overall([no, some])
    assert overall([yes, no]) == "holds partly"


def test_random_numbers_depend_on_everything_that_names_them():
    def draw(*purpose, name="a", seed=0):
        return Settings(experiment=name, trials=1, seed=seed).rng(*purpose).random()

    values = [
        draw("rows", 0),
        draw("rows", 1),
        draw("other", 0),
        draw("rows", 0, name="b"),
        draw("rows", 0, seed=1),
    ]
    assert len(set(values)) == len(values)
    assert draw("rows", 0) == values[0]


def test_a_power_law_is_found_again(rng):
    x = 2.0 ** np.arange(4, 12)
    exact = power_law(x, 3.0 * x**-0.7, np.full(8, 0.1))
    assert exact.value == pytest.approx(-0.7, abs=1e-13)
    # Scores of the fitted slope over repeated noise have standard deviation 1: over 2000
    # repetitions it is known to 1/sqrt(4000), and five of these are granted.
    scores = []
    for _ in range(2000):
        means = 3.0 * x**-0.7 * (1.0 + 0.02 * rng.standard_normal(8))
        slope = power_law(x, means, 0.02 * means)
        scores.append((slope.value + 0.7) / slope.error)
    assert np.std(scores) == pytest.approx(1.0, abs=5.0 / np.sqrt(4000.0))
    assert Slope(-0.52, 0.001).agrees(-0.5, 0.02)
    assert not Slope(-0.53, 0.001).agrees(-0.5, 0.02)
    assert Slope(-0.53, 0.01).agrees(-0.5, 0.02)
    assert str(Slope(-0.5, 0.01)) == "-0.500 +- 0.010"


def test_the_error_of_a_mean():
    values = np.array([[1.0, 0.0], [3.0, 0.0]])
    np.testing.assert_array_equal(mean_error(values), [1.0, 0.0])


def test_numbers_in_sentences():
    assert [small(v) for v in (0.0, 3.2e-16, -0.004)] == ["0", "3e-16", "-4e-03"]
    assert [percent(v) for v in (0.05, 0.123, 0.0)] == ["5 %", "12 %", "0 %"]
    assert [times(v) for v in (0.934, 4.14, 9.96, 12.3, 4456.0)] == [
        *("0.93", "4.1", "10", "12", "4,500"),
    ]


def luminance(colour):
    """Return the relative luminance of a colour, as WCAG 2 defines it."""
    shares = np.array([int(colour[i : i + 2], 16) for i in (1, 3, 5)]) / 255.0
    linear = np.where(
        shares <= 0.04045, shares / 12.92, ((shares + 0.055) / 1.055) ** 2.4
    )
    return float(linear @ [0.2126, 0.7152, 0.0722])


@pytest.mark.parametrize("style", [LIGHT, DARK])
def test_colours_stand_out_from_the_page(style):
    def contrast(colour):
        low, high = sorted([luminance(colour), luminance(style.page)])
        return (high + 0.05) / (low + 0.05)

    # Three is what WCAG 2 asks of graphics, four and a half what it asks of text.
    for method in LOOKS:
        assert contrast(style.colour(method)) >= 3.0, method
    for text in (style.ink, style.muted):
        assert contrast(text) >= 4.5
    for sample in (style.first, style.second, style.third):
        assert contrast(sample) >= 3.0


def test_methods_of_one_family_differ_in_colour_and_marker():
    looks = list(LOOKS.items())
    split = [name for name, _ in looks].index("fastmmd")
    # Other ways to compute what another method does have its colour.
    variants = {"textbook", "sketch"}
    for family in (looks[:split], looks[split:]):
        markers = [look.marker for _, look in family]
        assert len(set(markers)) == len(markers)
        for field in ("light", "dark"):
            values = [
                getattr(look, field) for name, look in family if name not in variants
            ]
            assert len(set(values)) == len(values), field
    assert LIGHT.line("fourier", lw=3.0)["lw"] == 3.0


def test_catalogue_and_modules_agree():
    folder = Path(experiments.__file__).parent
    modules = {p.stem for p in folder.glob("*.py") if not p.stem.startswith("_")}
    assert modules == set(_catalogue.NAMES)
    for name in _catalogue.NAMES:
        assert _catalogue.find(name).name == name
