"""Pictures show what the tables say: labels of axes, and numbers by what they are called."""

from __future__ import annotations

import numpy as np
import pytest

from fastmmd import experiments
from fastmmd.experiments._style import LIGHT, LOOKS

LABELS = {
    "sinusoids": {
        "All at once": ("t", ""),
        "One after the other": ("cosine part", "sine part"),
    },
    "diameter": {
        "On the circle of one frequency": ("", ""),
        "The objective around it": ("end of the diameter, t", ""),
    },
    "flowchart": {
        "Two samples": ("", ""),
        "Kernel's frequencies": ("", ""),
        "Root mean square of η": ("circles", ""),
        "The same by bandwidth": ("bandwidth", ""),
    },
    "blobs": {
        "P: round blobs": ("", ""),
        "Q: stretched blobs": ("", ""),
        "1000 MMD², by bandwidth": ("bandwidth", ""),
    },
    "approximation": {
        # Their horizontal axis is that of the panels below.
        "Biased MMD": ("", "mean relative error"),
        "Unbiased MMD": ("", ""),
    },
    "family": {
        "Biased MMD": ("bandwidth", "MMD, mean and deviation"),
        "Unbiased MMD": ("bandwidth", ""),
        "Deviation of unbiased MMD": ("bandwidth", "deviation"),
        "Picks the best bandwidth": ("per cent of trials", ""),
    },
    "efficiency": {
        "Rows (16 columns, L = 128)": ("rows of both samples", "seconds"),
        "Columns (2,000 rows, L = 512)": ("columns", ""),
    },
    "table1": {
        "MMD as a share of the exact one": ("estimate / exact", ""),
        "Time of one estimate": ("seconds", ""),
    },
    "type2": {
        "Frequencies, at ratio 4": ("frequencies L", "Type II error"),
        "Ratio of eigenvalues, L = 256": ("ratio", ""),
        "Time of one test": ("seconds", ""),
    },
    "bounds": {
        "Fourier": ("number of frequencies L", "error of MMD²"),
        "Fastfood": ("size d of a block, with L = d", ""),
    },
}
"""The titles of all panels, and their axes."""


@pytest.fixture(scope="session")
def panels(written):
    """Return a function that draws an experiment's picture and returns panels by title."""
    figures = {}

    def panels(name):
        from matplotlib.figure import Figure

        if name not in figures:
            (picture,) = written(name).outcome.pictures
            figures[name] = Figure(figsize=picture.size, layout="constrained")
            picture.draw(figures[name], LIGHT)
        titled = {axes.get_title(loc="left"): axes for axes in figures[name].axes}
        titled |= {axes.get_title(): axes for axes in figures[name].axes}
        return {title: axes for title, axes in titled.items() if title}

    return panels


@pytest.fixture
def table(written):
    """Return a function that returns the columns of a table as arrays."""

    def table(name, number=0):
        columns = written(name).outcome.tables[number].columns
        return {key: np.array(values) for key, values in columns.items()}

    return table


def lines(axes):
    """Return the points of all lines with a label, of those with bars too."""
    found = {}
    for handle, label in zip(*axes.get_legend_handles_labels(), strict=True):
        line = handle[0] if isinstance(handle, tuple) else handle
        found[label] = np.array(line.get_data(), dtype=np.float64)
    return found


def markers(axes, *, hollow):
    """Return where the markers of one kind are, by the label of their height."""
    names = [text.get_text() for text in axes.get_yticklabels()]
    found = {}
    for line in axes.lines:
        x, y = (np.atleast_1d(values) for values in line.get_data())
        if len(x) == 1 and (line.get_markerfacecolor() == LIGHT.page) is hollow:
            found[names[round(float(y[0]))]] = float(x[0])
    return found


@pytest.mark.parametrize("name", experiments.names())
def test_axes_say_what_they_show(name, panels):
    found = {
        title: (axes.get_xlabel(), axes.get_ylabel())
        for title, axes in panels(name).items()
    }
    assert found == LABELS[name]


def test_sinusoids(panels):
    *others, total = panels("sinusoids")["All at once"].lines
    # The broad line is the sum of the others, those of y subtracted.
    sums = np.sum([line.get_ydata() for line in others], axis=0)
    np.testing.assert_allclose(total.get_ydata(), sums, atol=1e-14)
    colours = [line.get_color() for line in others]
    assert colours == [LIGHT.first] * 4 + [LIGHT.second] * 4


def test_the_best_diameter(panels, table):
    columns = table("diameter")
    curve, *_ = panels("diameter")["The objective around it"].lines
    x, y = curve.get_data()
    np.testing.assert_array_equal(x, columns["angle_in_radians"][::4])
    np.testing.assert_array_equal(y, columns["objective"][::4])
    best, proof = (
        [float(v[0]) for v in line.get_data()]
        for line in panels("diameter")["The objective around it"].lines[-2:]
    )
    # A grid of 1440 angles comes within half a step of the top, and there the cosine is
    # below its largest value by the square of half a step, halved.
    assert best[1] == pytest.approx(columns["objective"].max(), rel=(np.pi / 1440) ** 2)
    assert abs((best[0] - proof[0]) % (2 * np.pi)) == pytest.approx(np.pi / 2)


def test_the_flowchart_ends_with_its_table(panels, table):
    circles, bandwidths = table("flowchart"), table("flowchart", 1)
    running = panels("flowchart")["Root mean square of η"].lines[0]
    ensemble = circles["ensemble_so_far"]
    np.testing.assert_array_equal(running.get_xdata(), 1 + np.arange(len(ensemble)))
    np.testing.assert_array_equal(running.get_ydata(), ensemble)
    curve = panels("flowchart")["The same by bandwidth"].lines[0]
    np.testing.assert_array_equal(curve.get_xdata(), bandwidths["bandwidth"])
    np.testing.assert_array_equal(curve.get_ydata(), bandwidths["biased_mmd"])


def test_blobs(panels, table):
    rows, bandwidths = table("blobs"), table("blobs", 1)
    for sample, title in (("P", "P: round blobs"), ("Q", "Q: stretched blobs")):
        (points,) = panels("blobs")[title].collections
        mine = rows["sample"] == sample
        expected = np.column_stack([rows[f"column_{i}"][mine] for i in (1, 2)])
        np.testing.assert_array_equal(points.get_offsets(), expected)
    x, y = lines(panels("blobs")["1000 MMD², by bandwidth"])["1,000 rows of each"]
    np.testing.assert_array_equal(x, bandwidths["bandwidth"])
    np.testing.assert_array_equal(y, 1000.0 * bandwidths["mean_unbiased_mmd2"])


def test_errors_by_frequencies(panels, table):
    columns = table("approximation")
    for estimator in ("biased", "unbiased"):
        found = lines(panels("approximation")[f"{estimator.capitalize()} MMD"])
        for method in ("fourier", "fastfood", "orthogonal", "sobol"):
            mine = columns["method"] == method
            mine &= columns["estimator"] == estimator
            x, y = found[LOOKS[method].label]
            np.testing.assert_array_equal(x, columns["n_frequencies"][mine])
            np.testing.assert_allclose(y, columns["mean_relative_error_of_mmd"][mine])


def test_family(panels, table):
    values, picks = table("family"), table("family", 1)
    for estimator in ("biased", "unbiased"):
        found = lines(panels("family")[f"{estimator.capitalize()} MMD"])
        for method in set(values["method"][values["estimator"] == estimator]):
            mine = (values["method"] == method) & (values["estimator"] == estimator)
            x, y = found[LOOKS[method].label]
            np.testing.assert_array_equal(x, values["bandwidth"][mine])
            np.testing.assert_array_equal(y, values["mean_mmd"][mine])
        np.testing.assert_array_equal(found["Exact"][1], values["exact_mmd"][mine])
    for label, (x, y) in lines(panels("family")["Deviation of unbiased MMD"]).items():
        mine = values["method"] == next(k for k in LOOKS if LOOKS[k].label == label)
        mine &= (values["estimator"] == "unbiased") & (values["deviation_mmd"] > 0.0)
        np.testing.assert_array_equal(x, values["bandwidth"][mine])
        np.testing.assert_array_equal(y, values["deviation_mmd"][mine])
    unbiased = picks["estimator"] == "unbiased"
    for hollow, column in ((False, "the_same_rows"), (True, "new_rows")):
        found = markers(panels("family")["Picks the best bandwidth"], hollow=hollow)
        expected = {
            LOOKS[method].label: 100.0 * share
            for method, share in zip(
                picks["method"][unbiased],
                picks[f"picked_on_{column}"][unbiased],
                strict=True,
            )
            if hollow or method != "exact"
        }
        assert found == expected


def test_times_by_rows_and_columns(panels, table):
    drawn = list(panels("efficiency").values())
    for number, (axes, varied) in enumerate(zip(drawn, ("rows", "columns"), strict=True)):
        columns, found = table("efficiency", number), lines(axes)
        for method in set(columns["method"]):
            mine = columns["method"] == method
            x, y = found[LOOKS[method].label]
            np.testing.assert_array_equal(x, columns[varied][mine])
            np.testing.assert_array_equal(y, columns["seconds"][mine])
    streams = table("efficiency", 2)
    x, y = lines(drawn[0])["Sketches"]
    np.testing.assert_array_equal(x, streams["rows"])
    np.testing.assert_array_equal(y, streams["seconds"])


@pytest.mark.parametrize(
    ("name", "number", "title", "key"),
    [
        ("table1", 1, "Time of one estimate", "method"),
        ("type2", 3, "Time of one test", "test"),
    ],
)
def test_times_of_one_method_each(name, number, title, key, panels, table):
    columns, axes = table(name, number), panels(name)[title]
    labels = [LOOKS[method].label for method in columns[key]]
    found = dict(zip(labels, columns["seconds"], strict=True))
    guessed = found.pop(LOOKS["textbook"].label, None)
    assert markers(axes, hollow=False) == found
    # The shortest on top.
    heights = [text.get_text() for text in axes.get_yticklabels()]
    slowest_first = np.argsort(-columns["seconds"])
    assert heights == [labels[i] for i in slowest_first]
    paper = markers(axes, hollow=True)
    # What is extrapolated is hollow, too; the paper has no time of its own for that.
    assert paper.pop(LOOKS["textbook"].label, None) == guessed
    assert paper == {
        label: float(seconds)
        for label, seconds in zip(labels, columns["paper_seconds"], strict=True)
        if seconds != ""
    }


@pytest.mark.parametrize("column", ["mean_mmd", "paper_mean_mmd"])
def test_estimates_of_table_1(column, panels, table):
    columns, axes = table("table1"), panels("table1")["MMD as a share of the exact one"]
    shares = columns[column] / columns[column][columns["method"] == "exact"]
    assert markers(axes, hollow=column.startswith("paper")) == {
        LOOKS[method].label: pytest.approx(share)
        for method, share in zip(columns["method"], shares, strict=True)
        if method != "exact"
    }


def test_type_2_errors(panels, table):
    ratios, numbers = table("type2"), table("type2", 1)
    found = lines(panels("type2")["Ratio of eigenvalues, L = 256"])
    for test in set(ratios["test"]):
        mine = ratios["test"] == test
        x, y = found[LOOKS[test].label]
        np.testing.assert_array_equal(x, ratios["ratio"][mine])
        np.testing.assert_array_equal(y, ratios["type2_error"][mine])
    axes = panels("type2")["Frequencies, at ratio 4"]
    x, y = lines(axes)["FastMMD"]
    np.testing.assert_array_equal(x, numbers["n_frequencies"])
    np.testing.assert_array_equal(y, numbers["type2_error"])
    assert set(axes.lines[0].get_ydata()) == set(numbers["type2_error_of_bootstrap"])


def test_bounds(panels, table):
    fourier, fastfood = table("bounds"), table("bounds", 1)
    named = {
        text.get_text(): line
        for text, line in zip(
            (t for t in panels("bounds")["Fourier"].texts if t.get_weight() == "bold"),
            panels("bounds")["Fourier"].lines,
            strict=True,
        )
    }
    for label, column in (
        ("Theorem 3", "theorem_3_error_of_mmd2"),
        ("worst pair of rows", "measured_worst_pair_of_rows"),
        ("the blobs", "measured_blobs_biased"),
    ):
        np.testing.assert_array_equal(named[label].get_xdata(), fourier["n_frequencies"])
        np.testing.assert_array_equal(named[label].get_ydata(), fourier[column])
    found = lines(panels("bounds")["Fastfood"])
    for label, column in (
        ("two opposite rows", "measured_opposite_rows"),
        ("Theorem 4, its assumption violated", "theorem_4_as_printed_error_of_mmd2"),
        ("its proof, one line earlier", "theorem_4_line_before_error_of_mmd2"),
    ):
        x, y = found[label][:, : len(fastfood["block_size"])]
        np.testing.assert_array_equal(x, fastfood["block_size"])
        np.testing.assert_array_equal(y, fastfood[column])


def test_the_shaded_range_is_the_papers_in_a_quick_run_too(panels):
    from fastmmd.experiments._efficiency_times import PAPER

    (span,) = panels("efficiency")["Rows (16 columns, L = 128)"].patches
    low, high = span.get_extents().transformed(span.axes.transData.inverted()).intervalx
    assert (low, high) == pytest.approx((PAPER.rows[0], PAPER.rows[-1]))


def test_lines_that_coincide_can_be_told_apart(panels):
    axes = panels("type2")["Ratio of eigenvalues, L = 256"]
    named = {line.get_label(): line for line in axes.lines}
    mine = [named[LOOKS[test].label] for test in ("pearson", "spectrum", "gamma")]
    # Above a broad line lie dashes that leave gaps, and dashes in those gaps.
    assert mine[0].get_linewidth() > max(line.get_linewidth() for line in mine[1:])
    assert [line.is_dashed() for line in mine] == [False, True, True]
    (start, first), (other, second) = (line._unscaled_dash_pattern for line in mine[1:])
    assert first == second
    assert first[0] <= other - start <= first[1]


def test_a_line_of_deviations_says_why_it_ends(panels, table):
    columns, axes = table("family"), panels("family")["Deviation of unbiased MMD"]
    fourier = (columns["method"] == "fourier") & (columns["estimator"] == "unbiased")
    none = columns["deviation_mmd"][fourier] == 0.0
    assert none[-1]
    assert columns["share_below_zero"][fourier][-1] == 1.0
    assert [text.get_text() for text in axes.texts] == ["then 0\nin every\ntrial"]


def test_what_is_extrapolated_is_hollow(panels):
    axes = panels("table1")["Time of one estimate"]
    (text,) = (t for t in axes.texts if "about" in t.get_text())
    assert text.get_text().endswith(", extrapolated")
    assert LOOKS["textbook"].label in markers(axes, hollow=True)
    assert LOOKS["textbook"].label not in markers(axes, hollow=False)
