"""What each command says: JSON and text, options, exit statuses."""

from __future__ import annotations

import json
import shutil
import sys

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import fastmmd
from fastmmd import tables


@pytest.fixture
def flights(files):
    return files / "flights.parquet"


@pytest.fixture(scope="session")
def sketches(files, tmp_path_factory):
    """Return two sketches made alike, and one of plain numbers."""
    folder = tmp_path_factory.mktemp("sketches")
    a = tables.sketch_source(files / "a.parquet")
    a.save(folder / "a.mmd")
    tables.sketch_source(files / "b.parquet", like=a).save(folder / "b.mmd")
    plain = fastmmd.Sketch(fastmmd.Gaussian(1.0), 2, stream="plain")
    plain.update(np.random.default_rng(0).normal(size=(50, 2)))
    plain.save(folder / "plain.mmd")
    return folder


# --- test


def test_the_text_of_a_test(files, call):
    done = call("test", files / "a.parquet", files / "b.parquet")
    assert done.returncode == 0
    first, *lines = done.stdout.splitlines()
    assert first.startswith("The samples differ at level 0.05: p = 0.001")
    fields = {line[:15].strip(): line[15:] for line in lines if line[:15].strip()}
    assert list(fields) == [
        *("p-value", "effect size", "MMD^2", "rows", "columns", "kernels", "test"),
    ]
    assert fields["rows"].startswith("300 of ")
    assert fields["columns"] == "2: f0, f1"
    assert "95 % interval" in fields["MMD^2"]
    assert "exact level" in fields["test"]
    assert "\x1b" not in done.stdout


def test_two_years_of_one_file(flights, call_json):
    found = call_json("test", flights, "--by", "year=2017,2018")
    source = tables.open_source(flights)
    expected = tables.two_sample_test(*source.split("year=2017,2018"), rng=0)
    assert found == expected.to_dict()


def test_a_boolean_and_two_words_need_no_values(flights, call_json, tmp_path):
    found = call_json("test", flights, "--by", "late")
    late = pq.read_table(flights)["late"].to_numpy()
    assert (found["n_x"], found["n_y"]) == ((~late).sum(), late.sum())
    words = pa.table({"x": np.arange(40.0), "group": ["new", "old"] * 20})
    pq.write_table(words, tmp_path / "words.parquet")
    assert call_json("test", tmp_path / "words.parquet", "--by", "group")["n_x"] == 20


def test_a_condition_applies_to_both(flights, call_json):
    found = call_json("test", flights, "--by", "late", "--where", "carrier == 'AA'")
    data = pq.read_table(flights).to_pandas()
    counts = data[data.carrier == "AA"].late.value_counts()
    assert (found["n_x"], found["n_y"]) == (counts[False], counts[True])


def test_options_reach_the_library(flights, call_json):
    found = call_json(
        *("test", flights, "--by", "year=2017,2018", "--columns", "delay,late"),
        *("--scale", "standard", "--missing", "indicator", "--kernel", "laplace"),
        *(
            "--n-resamples",
            "199",
            "--level",
            "0.1",
            "--seed",
            "7",
            "--sample-rows",
            "100",
        ),
        *("--kinds", "late=categorical", "--max-levels", "8", "--threads", "1"),
    )
    expected = tables.two_sample_test(
        *tables.open_source(flights).split("year=2017,2018"),
        columns=["delay", "late"],
        scale="standard",
        missing="indicator",
        kinds={"late": "categorical"},
        max_levels=8,
        kernel="laplace",
        n_resamples=199,
        level=0.1,
        sample_rows=100,
        rng=7,
    )
    assert found == expected.to_dict()


def test_options_for_text_are_for_the_side_that_is_text(files, tmp_path, call, call_json):
    text = (files / "a.csv").read_text().replace(",", ";")
    (tmp_path / "a.csv").write_text(text)
    words = (tmp_path / "a.csv", files / "b.parquet", "--delimiter", ";")
    found = call_json("test", *words)
    assert found == call_json("test", files / "a.csv", files / "b.parquet")
    assert call_json("plan", *words)["rows"] == [300, 250]
    call("sketch", files / "b.parquet", "-o", tmp_path / "b.mmd")
    words = (tmp_path / "b.mmd", tmp_path / "a.csv", "--types", "f0=float")
    assert call_json("test", *words, "--delimiter", ";")["n_y"] == 300


def test_names_with_commas_are_quoted(tmp_path, call_json):
    table = pa.table({"a,b": np.arange(30.0), "c": np.arange(30.0) % 7})
    for name in "xy":
        pq.write_table(table, tmp_path / f"{name}.parquet")
    paths = [tmp_path / f"{name}.parquet" for name in "xy"]
    plan = call_json("plan", *paths, "--columns", '"a,b"', "--columns", "c")
    assert plan["columns"] == ["a,b", "c"]


def test_the_status_follows_the_difference(files, call):
    different = ("test", files / "a.parquet", files / "b.parquet")
    assert call(*different, "--fail-on-difference").returncode == 1
    assert call(*different).returncode == 0
    same = ("test", files / "flights.parquet", "--by", "late", "--fail-on-difference")
    assert call(*same, "--seed", "1").returncode == 0


def test_a_margin(files, call):
    words = ("test", files / "a.parquet", files / "b.parquet", "--kernel", "gaussian")
    assert call(*words, "--margin", "0.01", "--fail-on-difference").returncode == 1
    assert call(*words, "--margin", "0.9", "--fail-on-difference").returncode == 0


def test_notes_on_what_was_left_out(tmp_path, call):
    x = np.arange(60.0)
    x[:5] = np.nan
    pq.write_table(
        pa.table({"x": x, "same": [1.0] * 60, "only_a": x}), tmp_path / "a.parquet"
    )
    pq.write_table(pa.table({"x": x + 9.5, "same": [1.0] * 60}), tmp_path / "b.parquet")
    words = ("test", tmp_path / "a.parquet", tmp_path / "b.parquet", "--missing", "drop")
    notes = [
        line for line in call(*words).stdout.splitlines() if line.startswith("  note ")
    ]
    assert len(notes) == 4
    assert "`exclude`" not in call(*words).stdout
    assert "Columns that not all data have, left out: `only_a`." in notes[0]
    assert "Constant columns, which tell nothing: `same`." in notes[1]
    assert "5 of 60 rows of" in notes[2]


# --- Sketches


def test_sketch_merge_and_compare(files, tmp_path, call, call_json):
    a, b, both = (tmp_path / f"{name}.mmd" for name in ("a", "b", "both"))
    made = call_json("sketch", files / "a.parquet", "-o", a)
    assert made["rows"] == 300
    assert made["rows_left_out"] == 0
    call_json("sketch", files / "b.parquet", "--output", b, "--like", a)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.mmd", "b.mmd"]
    loaded = [fastmmd.Sketch.load(path) for path in (a, b)]
    assert loaded[0] == tables.sketch_source(files / "a.parquet")

    found = call_json("compare", a, b)
    assert found == fastmmd.compare(*loaded, rng=0).to_dict()
    assert call("compare", a, b, "--fail-on-difference").returncode == 1
    assert call_json("test", a, b) == found
    assert call_json("test", a, files / "b.parquet") == found

    merged = call_json("merge", a, b, "-o", both)
    assert (merged["rows"], merged["merged"]) == (550, 2)
    assert fastmmd.Sketch.load(both) == loaded[0] + loaded[1]


def test_several_files_become_one_sketch(files, tmp_path, call_json):
    parts = sorted((files / "a-parts").iterdir())
    made = call_json("sketch", *parts, "-o", tmp_path / "a.mmd")
    assert made["rows"] == 300


def test_the_text_of_a_sketch(files, sketches, tmp_path, call):
    done = call("sketch", files / "a.parquet", "-o", tmp_path / "a.mmd", "--bins", "64")
    assert done.stdout.startswith(f"Wrote {tmp_path / 'a.mmd'}: a sketch of 300 rows.\n")
    assert "2: f0, f1; 2 numbers a row" in done.stdout
    assert "rows/s" in done.stdout
    names = sketches / "a.mmd", sketches / "b.mmd"
    done = call("merge", *names, "-o", tmp_path / "both.mmd")
    assert "550 rows, from 2 sketches." in done.stdout
    done = call("compare", *names)
    assert done.stdout.startswith("The samples differ")


def test_rows_left_out_are_told(tmp_path, call):
    x = np.arange(60.0)
    pq.write_table(pa.table({"x": x}), tmp_path / "a.parquet")
    x[:5] = np.nan
    pq.write_table(pa.table({"x": x, "new": x}), tmp_path / "b.parquet")
    a, b = tmp_path / "a.mmd", tmp_path / "b.parquet"
    call("sketch", tmp_path / "a.parquet", "-o", a, "--missing", "drop")
    done = call("test", a, b)
    assert "Columns that the schema has not, left out: `new`." in done.stdout
    assert "5 of 60 rows of" in done.stdout
    done = call("sketch", b, "-o", tmp_path / "b.mmd", "--like", a, "--resume")
    assert "5 rows with missing values left out." in done.stdout
    assert "There was no checkpoint" in done.stdout


def test_a_full_disk_leaves_the_checkpoint(files, tmp_path, call, monkeypatch):
    from fastmmd import Sketch

    def fail(_, path):
        raise OSError(28, "No space left on device", str(path))

    target = tmp_path / "a.mmd"
    monkeypatch.setattr(Sketch, "save", fail)
    done = call("sketch", files / "a.csv", "-o", target)
    assert (done.returncode, done.stdout) == (3, "")
    assert done.stderr == (
        f"error: `{target}`: No space left on device. The same command with --resume goes "
        "on from where it was.\n"
    )
    assert [path.name for path in tmp_path.iterdir()] == ["a.mmd.part"]
    monkeypatch.undo()
    assert call("sketch", files / "a.csv", "-o", target, "--resume").returncode == 0
    assert [path.name for path in tmp_path.iterdir()] == ["a.mmd"]


def test_a_named_stream_gives_the_same_sketch_anywhere(files, tmp_path, call):
    copied = shutil.copy(files / "a.parquet", tmp_path / "other.parquet")
    for path, name in ((files / "a.parquet", "one.mmd"), (copied, "two.mmd")):
        call("sketch", path, "-o", tmp_path / name, "--stream", "a", "--seed", "3")
    first, second = ((tmp_path / f"{name}.mmd").read_bytes() for name in ("one", "two"))
    assert first == second


# --- inspect


def test_inspect_a_sketch(sketches, call, call_json):
    found = call_json("inspect", sketches / "a.mmd")
    sketch = fastmmd.Sketch.load(sketches / "a.mmd")
    assert found["rows"] == 300
    assert found["format_version"] == 1
    assert found["bytes"] == (sketches / "a.mmd").stat().st_size
    assert found["kernels"] == [repr(kernel) for kernel in sketch.kernels]
    assert found["columns"] == sketch.schema["columns"]
    assert list(found["streams"].values()) == [300]
    text = call("inspect", sketches / "a.mmd").stdout
    assert "a sketch of 300 rows." in text
    assert "f0: numeric, centre" in text
    assert "format version 1" in text


def test_inspect_a_sketch_of_plain_numbers(sketches, call):
    assert "2, without names" in call("inspect", sketches / "plain.mmd").stdout
    merged = call("merge", sketches / "plain.mmd", "-o", sketches / "plain2.mmd")
    assert "50 rows, from 1 sketch." in merged.stdout


def test_inspect_data(files, call, call_json):
    found = call_json("inspect", files / "a-hive", "--where", "f0 > 0")
    assert (found["format"], found["rows"], found["files"]) == ("Parquet", 300, 3)
    assert {"name": "part", "type": "int64", "from_folder": True} in found["columns"]
    text = call("inspect", files / "a-hive", "--where", "f0 > 0").stdout
    assert "300, before the filter" in text
    assert "from names of folders" in text
    assert "not known before they are read" in call("inspect", files / "a.csv").stdout


# --- plan


def test_plan_says_what_test_would_do(files, call, call_json):
    found = call_json("plan", files / "a.parquet", files / "b.csv")
    assert found["rows"] == [300, 250]
    assert found["rows_are"] == ["known", "known"]
    assert found["columns"] == ["f0", "f1"]
    assert found["passes"] == 2
    assert 0 < found["seconds"] < 60
    assert 2**26 < found["memory_bytes"] < 2**32
    text = call("plan", files / "a.parquet", files / "b.csv", "--threads", "1").stdout
    assert text.startswith("Sketch both in two passes and compare.\n")
    assert "with 1 thread\n" in text


def test_plan_guesses_rows_of_long_text_files(tmp_path, call_json):
    import bz2

    rng = np.random.default_rng(0)
    lines = [f"{value:.6f}" for value in rng.normal(size=200_000)]
    text = "\n".join(["x", *lines])
    (tmp_path / "a.csv").write_text(text)
    (tmp_path / "b.csv.bz2").write_bytes(bz2.compress(text.encode(), 1))
    found = call_json("plan", tmp_path / "a.csv", tmp_path / "b.csv.bz2")
    assert found["rows_are"] == ["estimated", "estimated"]
    # Lines of equal length: the first megabyte tells. What is packed comes in blocks.
    assert found["rows"] == pytest.approx([200_000, 200_000], rel=0.2)


def test_plan_of_a_sample_of_sketches_and_of_nothing(files, sketches, call, call_json):
    paths = files / "a.parquet", files / "b.parquet"
    found = call_json("plan", *paths, "--sample-rows", "50")
    assert found["what"].startswith("Draw 50 rows of each")
    found = call_json("plan", sketches / "a.mmd", files / "b.parquet")
    assert (found["passes"], found["rows"]) == (1, [300, 250])
    found = call_json("plan", sketches / "a.mmd", sketches / "b.mmd")
    assert found["what"] == "Compare two sketches."
    done = call("plan", *paths, "--where", "f0 > 100")
    assert "cannot be told" in done.stdout
    done = call("plan", files / "flights.parquet", "--by", "late", "--where", "delay > 5")
    assert "about" in done.stdout


def test_rows_that_cannot_be_guessed(files, tmp_path, monkeypatch):
    from fastmmd.cli.lines import estimate_rows

    source = tables.open_source(files / "a.csv")
    assert estimate_rows(source) == pytest.approx(300, abs=2)
    monkeypatch.setattr("fastmmd.cli.lines._LOOK_BYTES", 5)
    assert estimate_rows(source) is None  # not one whole line
    path = tmp_path / "gone.csv"
    path.write_text("x\n1\n")
    source = tables.open_source(path)
    path.unlink()
    assert estimate_rows(source) is None
    assert estimate_rows(tables.open_source(pa.table({"x": [1.0]}))) is None


# --- demo and version


def test_demo_writes_data_and_says_what_to_try(tmp_path, call, call_json):
    folder = tmp_path / "new" / "demo"
    done = call("demo", folder)
    assert done.returncode == 0
    assert f"fastmmd test {folder / 'july.csv'} {folder / 'october.csv'}" in done.stdout
    names = ["july.csv", "october.csv", "weather.parquet"]
    assert sorted(path.name for path in folder.iterdir()) == names
    table = pq.read_table(folder / "weather.parquet")
    weather = fastmmd.datasets.load_airport_weather()
    assert table.num_rows == len(weather.values)
    assert abs(table["temperature"].to_numpy() - weather.values[:, 0]).max() < 0.006
    # Again into the same folder, also with sketches beside.
    (folder / "july.mmd").touch()
    assert call_json("demo", folder)["files"] == [str(folder / name) for name in names]


def test_demo_writes_through_links(tmp_path, call):
    folder, elsewhere = tmp_path / "demo", tmp_path / "elsewhere.csv"
    folder.mkdir()
    (folder / "july.csv").symlink_to(elsewhere)
    assert call("demo", folder).returncode == 0
    assert (folder / "july.csv").is_symlink()
    assert elsewhere.stat().st_size > 1000


def test_demo_leaves_other_folders_alone(tmp_path, call):
    (tmp_path / "mine.txt").touch()
    done = call("demo", tmp_path)
    assert done.returncode == 2
    assert "must be new or empty" in done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]
    assert call("demo", tmp_path / "mine.txt").returncode == 2


def test_version(call, run):
    assert call("--version").stdout == f"{fastmmd.__version__}\n"
    assert run("--version").stdout == f"{fastmmd.__version__}\n"


def test_json_is_one_line_and_nothing_else(files, run):
    done = run("test", files / "a.parquet", files / "b.parquet", "--json")
    assert done.stdout.count("\n") == 1
    assert done.stderr == ""
    assert set(json.loads(done.stdout)) >= {"pvalue", "effect_size", "notes"}


# --- reproduce


def test_reproduce_lists_the_experiments(call, call_json):
    listed = call("reproduce")
    assert listed.returncode == 0
    assert call("reproduce", "--list").stdout == listed.stdout
    assert call("reproduce", "sinusoids", "--list").stdout == listed.stdout
    assert "  sinusoids " in listed.stdout
    assert "Figure 5: the error of FastMMD" in listed.stdout
    found = call_json("reproduce")["experiments"]
    assert [each["name"] for each in found][:2] == ["sinusoids", "diameter"]


def test_reproduce_writes_files_and_a_verdict(tmp_path, call, call_json):
    words = ("reproduce", "sinusoids", "sinusoids", "--quick", "--out", tmp_path)
    done = call(*words)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("sinusoids, Figure 1: holds.\n")
    assert done.stdout.count("Figure 1") == 1
    assert f"7 in {tmp_path / 'sinusoids'}" in done.stdout
    assert "  holds     Holds if every difference is within rounding" in done.stdout
    assert "  quick     Fewer trials or smaller sizes than the paper's.\n" in done.stdout
    slow = call(*(word for word in words if word != "--quick"))
    assert "uick" not in slow.stdout
    found = call_json(*words, "--seed", 3)["experiments"]
    assert [(each["experiment"], each["seed"]) for each in found] == [("sinusoids", 3)]
    assert len(found[0]["files"]) == len(list((tmp_path / "sinusoids").iterdir()))


def test_reproduce_all_runs_everything(tmp_path, call, monkeypatch):
    from fastmmd import experiments

    ran = []

    def run(name, **options):
        ran.append(name)
        return made(name, **options)

    made = experiments.run
    monkeypatch.setattr(experiments, "names", lambda: ("sinusoids", "diameter"))
    monkeypatch.setattr(experiments, "run", run)
    done = call("reproduce", "all", "--quick", "--trials", 9, "--out", tmp_path)
    assert done.returncode == 0
    assert ran == ["sinusoids", "diameter"]
    assert "9 trials" in done.stdout


def test_reproduce_what_is_not_there(tmp_path, call):
    done = call("reproduce", "sinusoid", "--out", tmp_path)
    assert done.returncode == 2
    assert "`sinusoid` must be the name of an experiment: sinusoids, " in done.stderr
    assert not list(tmp_path.iterdir())
    done = call("reproduce", "diameter", "--data", "x.npz", "--out", tmp_path)
    assert done.returncode == 2
    assert "--data must be left out: of the experiments " in done.stderr
    done = call("reproduce", "approximation", "--trials", 1, "--out", tmp_path)
    assert done.returncode == 2
    expected = "`--trials` must be an integer of at least 2 for approximation; got 1"
    assert expected in done.stderr
    (tmp_path / "file").write_text("")
    done = call("reproduce", "diameter", "--quick", "--out", tmp_path / "file")
    assert done.returncode == 2
    assert f"`--out` must be a folder; `{tmp_path / 'file'}` is a file." in done.stderr
    done = call("reproduce", "diameter", "--quick", "--out", "")
    assert done.returncode == 2
    assert "`--out` must be a folder; got an empty path." in done.stderr


@pytest.mark.parametrize(
    ("word", "near"),
    [("approximatn", "approximation"), ("Blobs", "blobs"), ("al", "all"), ("xyz", None)],
)
def test_reproduce_what_may_have_been_meant(word, near, tmp_path, call):
    done = call("reproduce", word, "--out", tmp_path)
    assert done.returncode == 2
    if near is None:
        assert "Did you mean" not in done.stderr
    else:
        assert done.stderr.endswith(f" Did you mean `{near}`?\n")


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (("fig5",), ["approximation"]),
        (("figure5",), ["approximation"]),
        (("Figure 5",), ["approximation"]),
        (("figure", "5", "blobs"), ["approximation", "blobs"]),
        (("table", "1", "Fig. 8", "table1"), ["table1", "type2"]),
    ],
)
def test_reproduce_by_the_numbers_of_the_paper(words, expected, ran, tmp_path, call):
    call("reproduce", *words, "--out", tmp_path)
    assert ran == expected


def test_reproduce_a_figure_that_is_not_there(tmp_path, call):
    done = call("reproduce", "figure", "12", "--out", tmp_path)
    assert done.returncode == 2
    assert "`figure12` must be the name of an experiment" in done.stderr


@pytest.mark.parametrize(
    "options",
    [("--quick",), ("--trials", 3), ("--seed", 1), ("--out", "x"), ("--data", "x.npz")],
)
def test_reproduce_options_without_a_name(options, call):
    done = call("reproduce", *options)
    assert (done.returncode, done.stdout) == (2, "")
    assert "reproduce needs the name of an experiment, or `all`; got none." in done.stderr
    assert call("reproduce", "--list", *options).returncode == 0


@pytest.fixture
def ran(monkeypatch):
    """Return a list of the experiments that were begun; none gets anywhere."""
    from fastmmd import experiments

    begun, made = [], experiments.run

    def run(name, **options):
        begun.append(name)
        return made("sinusoids", quick=True, out=options["out"])

    monkeypatch.setattr(experiments, "run", run)
    return begun


def test_reproduce_checks_everything_before_the_first_experiment(tmp_path, call, ran):
    done = call("reproduce", "all", "--quick", "--trials", 2, "--out", tmp_path)
    assert done.returncode == 2
    expected = "`--trials` must be an integer of at least 6 for flowchart; got 2"
    assert expected in done.stderr
    told = " ".join(call("reproduce", "--help").stdout.replace("│", "").split())
    assert "At least 6 for flowchart" in told
    done = call("reproduce", "all", "--seed", -1, "--out", tmp_path)
    assert (done.returncode, ran) == (2, [])
    missing = tmp_path / "missing.npz"
    done = call("reproduce", "all", "--data", missing, "--out", tmp_path)
    assert done.returncode == 3
    assert f"`{missing}` must be a file; there is none." in done.stderr
    text = tmp_path / "words.txt"
    text.write_text("some words")
    done = call("reproduce", "all", "--data", text, "--out", tmp_path)
    assert done.returncode == 3
    assert f"`{text}` must be a file in NumPy's .npz format" in done.stderr
    assert "pickle" not in done.stderr
    (tmp_path / "bounds").write_text("a file where the last one needs a folder")
    done = call("reproduce", "all", "--quick", "--out", tmp_path)
    assert done.returncode == 2
    assert f"`{tmp_path / 'bounds'}` is a file" in done.stderr
    assert ran == []
    (tmp_path / "bounds").unlink()
    assert call("reproduce", "all", "--quick", "--out", tmp_path).returncode == 0
    assert ran == list(experiment_names())


def experiment_names():
    from fastmmd import experiments

    return experiments.names()


def test_reproduce_without_matplotlib(tmp_path, call, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    done = call("reproduce", "sinusoids", "--quick", "--out", tmp_path)
    assert done.returncode == 2
    assert 'pip install "fastmmd[experiments]"' in done.stderr


def test_bars_of_experiments():
    from fastmmd.cli.progress import ExperimentWatcher, steps
    from fastmmd.experiments import Step

    class Bar:
        def __init__(self):
            self.tasks = {}

        def add_task(self, title, total, text):
            self.tasks[len(self.tasks)] = {"title": title, "total": total, "text": text}
            return len(self.tasks) - 1

        def update(self, task, **changes):
            self.tasks[task] |= changes

        def remove_task(self, task):
            self.tasks[task]["removed"] = True

        def stop(self):
            self.moves = False

        def start(self):
            self.moves = True

    bar = Bar()
    watcher = ExperimentWatcher(2, bar)
    watcher.start("blobs")
    watcher(Step("blobs", "Rows", 1, 4))
    watcher(Step("blobs", "Sums", 2, 3))
    assert bar.tasks[0]["text"] == "blobs"
    assert bar.tasks[1]["removed"]
    assert (bar.tasks[2]["title"], bar.tasks[2]["completed"]) == ("Sums", 2)
    with watcher.ended():
        assert not bar.moves
    assert bar.moves
    assert bar.tasks[0]["completed"] == 1
    assert bar.tasks[2]["removed"]
    assert steps(0, 8, 1.0) == "0 of 8"
    assert steps(2, 8, 10.0) == "2 of 8, 0:00:30 left"
    assert steps(8, 8, 10.0) == "8 of 8"
    silent = ExperimentWatcher(1)
    silent.start("blobs")
    silent(Step("blobs", "Rows", 1, 4))
    with silent.ended():
        pass
