"""Figure 7: time by the number of rows and of columns, and beyond the paper's range."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fastmmd.experiments._efficiency_times import (
    BATCH_ROWS,
    LONG_SECONDS,
    METHODS,
    PAPER,
    QUICK,
    Design,
    time_methods,
    time_ranges,
    time_stream,
)
from fastmmd.experiments._experiment import (
    Experiment,
    Outcome,
    Picture,
    Settings,
    Table,
    Verdict,
    judge,
)
from fastmmd.experiments._pictures import hollow, short_time
from fastmmd.experiments._style import LOOKS
from fastmmd.experiments._timing import growth
from fastmmd.experiments._words import times

if TYPE_CHECKING:
    from fastmmd.experiments._style import Style

_AXES = ("rows", "seconds")


def powers(rows: list[dict[str, Any]], varied: str, start: float, /) -> dict[str, float]:
    """Return the power of `varied` that each method's time follows, from `start` on."""
    found = {}
    for method in METHODS:
        mine = [
            row
            for row in rows
            if row["method"] == method
            and row[varied] >= start
            and not row["extrapolated"]
        ]
        if len(mine) > 1:
            seconds = [row["seconds"] for row in mine]
            found[method] = growth([row[varied] for row in mine], seconds)
    return found


def run(settings: Settings) -> Outcome:
    """Time every method at every size, then the streams."""
    sizes = QUICK if settings.quick else PAPER
    n_columns, n_rows = sizes.few_columns, sizes.rows_of_columns
    # First, while the process holds little: memory that was freed would hide the peak. One
    # more before, for what is loaded on demand.
    time_stream(settings, sizes.rows[0], sizes)
    streams = [
        time_stream(settings, n, sizes) for n in settings.track(sizes.streamed, "Streams")
    ]
    by_rows = time_methods(
        settings, [(n, n_columns) for n in sizes.rows], sizes.few_frequencies, "Rows"
    )
    by_columns = time_methods(
        settings, [(n_rows, d) for d in sizes.columns], sizes.many_frequencies, "Columns"
    )
    ranges = time_ranges(settings, sizes)
    # Where the time of the work is well above that of a call.
    starts = {"rows": sizes.rows[-1] / 10, "columns": sizes.columns[-1] / 16}
    found = {
        "rows": powers(by_rows, "rows", starts["rows"]),
        "columns": powers(by_columns, "columns", starts["columns"]),
    }
    stream_power = growth(*([each[key] for each in streams] for key in _AXES))
    picture = Picture(
        "efficiency",
        "Time by the number of rows and by the number of columns for six methods, and of "
        "sketches of streams beyond the paper's range; both axes are logarithmic.",
        (8.6, 4.7),
        lambda figure, style: _draw(figure, style, by_rows, by_columns, streams),
    )
    return Outcome(
        tables=[
            Table.from_rows(
                "efficiency",
                "A row is a method at a number of rows: the median time of one estimate. "
                "Those without runs are extrapolated by the square of the rows.",
                by_rows,
            ),
            Table.from_rows(
                "efficiency-columns", "The same by the number of columns.", by_columns
            ),
            Table.from_rows(
                "efficiency-streams",
                "A row is a pair of streams of so many rows in all, sketched in batches, then "
                "tested; drawing the rows is not counted.",
                streams,
            ),
            Table.from_rows(
                "efficiency-powers",
                "A row is a method: the power of the rows, or columns, that its time in "
                "seconds follows from a size on.",
                [
                    {
                        "varied": varied,
                        "method": method,
                        "from_size": starts[varied],
                        "power_of_seconds": power,
                    }
                    for varied, each in found.items()
                    for method, power in each.items()
                ],
            ),
            Table.from_rows(
                "efficiency-ranges",
                "A row is a method: its time on overlapping ranges, which are used here, "
                "and on those that the paper prints.",
                ranges,
            ),
        ],
        pictures=[picture],
        verdicts=[
            _growth_with_rows(found["rows"], stream_power, starts["rows"]),
            *_speed_ups(by_rows),
            _gain_on_others(by_rows, by_columns),
            _slower_growth_than_linear(found),
        ],
        notes=[*_notes(sizes, ranges, streams), *_not_judged(by_rows)],
    )


def _notes(
    sizes: Design, ranges: list[dict[str, Any]], streams: list[dict[str, Any]]
) -> list[str]:
    ratios = [row["ratio"] for row in ranges]
    # More than a tenth is what times of one thing differ by when they are few and short.
    alike = max(*ratios, 1.0 / min(ratios)) <= _ALIKE
    same = "Times are the same: " if alike else "Times are too uneven to compare here: "
    last = streams[-1]
    peak = last["megabytes_more_at_the_peak"]
    held = "" if peak == "" else f", {peak:.0f} MB more memory at the peak"
    return [
        (
            "The paper prints the ranges [0, 0.95] and [0.95, 1] for every column: samples "
            "that do not overlap and that any method tells apart. Here they are [0, 0.95] "
            f"and [0.05, 1], which may have been meant. {same}those on the printed ranges are "
            f"{min(ratios):.2f} to {max(ratios):.2f} times as long, over the methods."
        ),
        (
            "Rows are those of both samples together, half of them in each; the paper does "
            "not say. The bandwidth, half the root of the number of columns, is of the size "
            "of a distance; the paper gives none."
        ),
        (
            "Exact, NumPy is the double sum as the formula reads, all processors at work in "
            f"its products; where it would take more than {LONG_SECONDS:g} s it is extrapolated by "
            "the square of the rows and drawn hollow. Exact is this library's."
        ),
        (
            f"Beyond the paper's range: {last['rows']:,} rows of {sizes.few_columns} columns, "
            f"read in batches of {BATCH_ROWS:,}, are sketched in {last['seconds']:.2g} s and "
            f"tested in {last['seconds_of_the_test']:.2g} s{held}; together they would fill "
            f"{last['megabytes_of_all_rows']:,.0f} MB."
        ),
    ]


_LINEAR, _QUADRATIC, _BETWEEN = (0.8, 1.2), (1.8, 2.2), (1.25, 1.75)
_ALIKE = 1.1
_PAPER_SPEED_UPS = {"fourier": (2000.0, 5.0), "fastfood": (4000.0, 10.0)}


def _growth_with_rows(
    found: dict[str, float], stream_power: float, start: float
) -> Verdict:
    asked = {
        "fourier": _LINEAR,
        "fastfood": _LINEAR,
        "textbook": _QUADRATIC,
        "exact": _QUADRATIC,
        "block": _BETWEEN,
    }
    asked = {method: span for method, span in asked.items() if method in found}
    texts = ", ".join(f"{LOOKS[method].label} {found[method]:.2f}" for method in asked)
    return judge(
        "With the number of rows N, the time of Fourier and Fastfood grows as N, that of "
        "the exact sum as N^2 and that of the B-test as N^1.5.",
        measured=(
            f"Powers of N, fitted from {start:,.0f} rows on: {texts}; of sketched streams "
            f"{stream_power:.2f}."
        ),
        rule=(
            f"Holds if powers are within {_LINEAR[0]} to {_LINEAR[1]} for linear growth, "
            f"{_QUADRATIC[0]} to {_QUADRATIC[1]} for quadratic and {_BETWEEN[0]} to "
            f"{_BETWEEN[1]} for the B-test."
        ),
        met=[low <= found[method] <= high for method, (low, high) in asked.items()],
    )


def _at(rows: list[dict[str, Any]], varied: str, size: int) -> dict[str, float]:
    """Return the seconds of every method at one size."""
    return {row["method"]: row["seconds"] for row in rows if row[varied] == size}


def _speed_ups(by_rows: list[dict[str, Any]]) -> list[Verdict]:
    """Return the verdict on a claim about the paper's largest size, if it was reached."""
    if _largest(by_rows) < PAPER.rows[-1]:
        return []
    measured, met = _measured_speed_ups(by_rows)
    return [
        judge(
            f"With {PAPER.rows[-1]:,} rows of 16 columns Fourier is 2000 times as fast as the "
            "exact sum and 5 times as fast as the B-test, Fastfood 4000 and 10 times.",
            measured=measured,
            rule="Holds if each is at least as many times as fast, exact being that in NumPy.",
            met=met,
        )
    ]


def _not_judged(by_rows: list[dict[str, Any]]) -> list[str]:
    """Return a note in place of that verdict if the sizes stay below."""
    if _largest(by_rows) >= PAPER.rows[-1]:
        return []
    measured, _ = _measured_speed_ups(by_rows)
    text = (
        f"What the paper claims of {PAPER.rows[-1]:,} rows, how many times as fast Fourier and "
        f"Fastfood are, cannot be judged at {_largest(by_rows):,}, and is not. {measured}"
    )
    return [text]


def _largest(by_rows: list[dict[str, Any]]) -> int:
    return max(int(row["rows"]) for row in by_rows)


def _measured_speed_ups(by_rows: list[dict[str, Any]]) -> tuple[str, list[bool]]:
    """Return how fast the methods are at the largest size, and if it is as claimed."""
    size = _largest(by_rows)
    seconds = _at(by_rows, "rows", size)
    texts: list[str] = []
    met: list[bool] = []
    for method, (over_exact, over_block) in _PAPER_SPEED_UPS.items():
        textbook, exact, block = (
            seconds[other] / seconds[method] for other in ("textbook", "exact", "block")
        )
        met += [textbook >= over_exact, block >= over_block]
        texts.append(
            f"{LOOKS[method].label} is {times(textbook)} times as fast as the double sum in "
            f"NumPy ({over_exact:,.0f} in the paper), {times(exact)} times as fast as this "
            f"library's and {times(block)} times as fast as its B-test ({over_block:g} in the "
            "paper)"
        )
    estimated = any(row["extrapolated"] for row in by_rows if row["rows"] == size)
    remark = " The time of the double sum in NumPy is extrapolated." if estimated else ""
    return f"At {size:,} rows {'; '.join(texts)}.{remark}", met


def _gain_on_others(
    by_rows: list[dict[str, Any]], by_columns: list[dict[str, Any]]
) -> Verdict:
    texts, met = [], []
    for rows, varied in ((by_rows, "rows"), (by_columns, "columns")):
        ends = [size(row[varied] for row in rows) for size in (min, max)]
        first, last = (_at(rows, varied, end) for end in ends)
        for method in _PAPER_SPEED_UPS:
            gains = []
            for other in ("exact", "block"):
                before, after = (
                    seconds[other] / seconds[method] for seconds in (first, last)
                )
                met += [after > before, after > 1.0]
                gains.append(f"{times(before)} to {times(after)} ({LOOKS[other].label})")
            texts.append(
                f"{LOOKS[method].label} from {ends[0]:,} to {ends[1]:,} {varied}: "
                f"{' and '.join(gains)}"
            )
    return judge(
        "As rows or columns become more, Fourier and Fastfood become faster than the exact "
        "sum and the B-test.",
        measured=f"How many times as fast as this library's others: {'; '.join(texts)}.",
        rule=(
            "Holds if each of these numbers grows from the smallest size to the largest, and "
            "is above 1 there."
        ),
        met=met,
    )


def _slower_growth_than_linear(found: dict[str, dict[str, float]]) -> Verdict:
    methods = ("linear", *_PAPER_SPEED_UPS)
    texts = [
        f"with the {varied} "
        + ", ".join(f"{LOOKS[method].label} {each[method]:.2f}" for method in methods)
        for varied, each in found.items()
    ]
    return judge(
        "The times of Fourier and Fastfood grow more slowly than that of MMD-linear.",
        measured=f"Powers that times follow: {'; '.join(texts)}.",
        rule="Holds if both powers are below MMD-linear's, for rows and for columns.",
        met=[
            each[method] < each["linear"]
            for each in found.values()
            for method in _PAPER_SPEED_UPS
        ],
    )


def _draw(
    figure: Any,
    style: Style,
    by_rows: list[dict[str, Any]],
    by_columns: list[dict[str, Any]],
    streams: list[dict[str, Any]],
) -> None:
    left, right = figure.subplots(1, 2, width_ratios=(1.25, 1.0))
    for axes, rows, varied in ((left, by_rows, "rows"), (right, by_columns, "columns")):
        axes.set_xscale("log", base=10 if varied == "rows" else 2)
        axes.set_yscale("log")
        for method in METHODS:
            _draw_method(axes, style, method, varied, rows)
    _draw_streams(left, style, streams)
    _mark_range(left, style)
    left.set(
        title=f"Rows ({by_rows[0]['columns']} columns, "
        f"L = {by_rows[-1]['n_frequencies']})",
        xlabel="rows of both samples",
        ylabel="seconds",
    )
    right.set(
        title=f"Columns ({by_columns[0]['rows']:,} rows, "
        f"L = {by_columns[-1]['n_frequencies']})",
        xlabel="columns",
    )
    ticks = sorted({row["columns"] for row in by_columns})
    right.set_xticks(ticks, ticks)
    handles, labels = left.get_legend_handles_labels()
    figure.legend(
        handles, labels, loc="outside lower center", ncols=len(labels), columnspacing=1.2
    )


def _draw_method(
    axes: Any, style: Style, method: str, varied: str, rows: list[dict[str, Any]]
) -> None:
    mine = [row for row in rows if row["method"] == method]
    sizes = [row[varied] for row in mine]
    axes.plot(sizes, [row["seconds"] for row in mine], **style.line(method))
    guessed = [row for row in mine if row["extrapolated"]]
    axes.plot(
        [row[varied] for row in guessed],
        [row["seconds"] for row in guessed],
        **hollow(style, method),
    )


def _draw_streams(axes: Any, style: Style, streams: list[dict[str, Any]]) -> None:
    sizes, seconds = ([row[key] for row in streams] for key in _AXES)
    axes.plot(sizes, seconds, **style.line("sketch", lw=2.4, markersize=9.0))
    peak = streams[-1]["megabytes_more_at_the_peak"]
    text = f"{sizes[-1]:,} rows\n{short_time(seconds[-1])}"
    if peak != "":
        text += f", {peak:.0f} MB of memory"
    axes.annotate(
        text,
        (sizes[-1], seconds[-1]),
        (4, 9),
        textcoords="offset points",
        ha="right",
        fontsize=8.5,
        color=style.colour("sketch"),
    )


def _mark_range(axes: Any, style: Style) -> None:
    """Shade the sizes of the paper, of which a quick run has the smaller ones."""
    low, high = PAPER.rows[0], PAPER.rows[-1]
    axes.axvspan(low, high, color=style.faint, alpha=0.45, lw=0.0, zorder=0)
    axes.annotate(
        "range of the paper",
        (low, 1.0),
        (5, -5),
        xycoords=("data", "axes fraction"),
        textcoords="offset points",
        va="top",
        fontsize=8.5,
        color=style.muted,
    )


EXPERIMENT = Experiment(
    name="efficiency",
    paper="Figure 7",
    title="time by the number of rows and columns, in the paper's range and beyond",
    run=run,
    trials=5,
    quick_trials=2,
)
