"""Tables of the comparison with other libraries, of growth and of start-up time.

Used by ``render_measurements.py``. What has not been measured is said to be so.
"""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

PARTS = ("rows", "columns", "wide", "exact", "tests", "million")
MISSING = "*Not measured yet; `make compare` does it.*\n"
README_ROWS = 100_000
README_WAYS = {
    ("FastMMD", "Fourier"): "`mmd`, `Fourier(128)`",
    ("NumPy, textbook", "features, float64"): "independent draws in NumPy, textbook",
    ("NumPy, float32 blocks", "features, float32 in blocks"): "… float32 in blocks",
    ("PyTorch", "features, float32 in blocks"): "… in PyTorch, float32 in blocks",
    ("scikit-learn", "RBFSampler"): "scikit-learn, `RBFSampler`",
    ("NumPy, B-test", "blocks of rows, float64"): "B-test in NumPy",
    ("KeOps", "double sum, float64"): "all pairs, KeOps",
    ("NumPy, all pairs", "double sum, float64"): "all pairs, NumPy in tuned tiles",
    ("NumPy, all pairs", "double sum, plain blocks"): "all pairs, NumPy in blocks",
    ("hyppo", "MMD statistic"): "all pairs, hyppo",
    ("dcor", "energy distance"): "energy distance, dcor",
}


def render(results: Path) -> dict[str, str]:
    """Return the text of every generated file of the comparison, by name."""
    parts = {name: load(results / f"compare_{name}.json") for name in PARTS}
    growth, startup = (load(results / f"{name}.json") for name in ("growth", "startup"))
    return {
        "compare_rows.md": problems(parts["rows"]),
        "compare_columns.md": problems(parts["columns"]),
        "compare_wide.md": problems(parts["wide"]),
        "compare_exact.md": problems(parts["exact"]),
        "compare_tests.md": problems(parts["tests"]),
        "compare_power.md": power(parts["tests"]),
        "compare_million.md": problems(parts["million"]),
        "compare_fastfood.md": fastfood(parts["columns"], parts["wide"]),
        "compare_rates.md": rates(parts["rows"]),
        "compare_shares.md": shares(
            parts[name] for name in ("rows", "columns", "wide", "million")
        ),
        "compare_conditions.md": conditions(parts.values()),
        "growth_rows.md": growth_rows(growth),
        "growth_columns.md": growth_columns(growth),
        "startup.md": start_up(startup),
    }


def readme(results: Path) -> str:
    """Return the small table of the README: the peers at one size, with all threads."""
    part = load(results / "compare_rows.json")
    if part is None:
        return MISSING
    threads = max(entry["threads"] for entry in part["problems"])
    mine = [entry for entry in part["problems"] if entry["threads"] == threads]
    entry = min(mine, key=lambda e: abs(e["n_rows"] - README_ROWS))
    cells = {(c["peer"], c.get("way")): c for c in entry["results"]}
    base = baseline(entry)
    rows = []
    for key, title in README_WAYS.items():
        cell = cells.get(key)
        if cell is None:
            continue
        rows.append([title, *time_and_ratio(cell, base), error(cell)])
    head = [f"{shape(entry)}, {plural(threads, 'thread')}", "time", "times ours", "error"]
    return table(head, rows)


def load(path: Path) -> dict[str, Any] | None:
    """Return a measurement, or nothing if it has not been made."""
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else None


def table(head: list[str], rows: list[list[str]], *, left: int = 1) -> str:
    """Return a Markdown table; the first `left` columns are text, the others numbers."""
    marks = ["---"] * left + ["---:"] * (len(head) - left)
    return "\n".join("| " + " | ".join(row) + " |" for row in (head, marks, *rows)) + "\n"


def problems(part: dict[str, Any] | None) -> str:
    """Return one table a shape: every way, with its times at each number of threads."""
    if part is None:
        return MISSING
    shapes: dict[str, list[dict[str, Any]]] = {}
    for entry in part["problems"]:
        shapes.setdefault(shape(entry), []).append(entry)
    found_power = {
        (row["peer"], row["way"]): rate(row["power"])
        for row in part.get("power", {}).get("rows", [])
    }
    texts = []
    for title, entries in shapes.items():
        head = ["way"]
        for entry in entries:
            head += [plural(entry["threads"], "thread"), "times ours"]
        last = entries[-1]
        rows = []
        for key in unique(
            (c["peer"], c.get("way")) for e in entries for c in e["results"]
        ):
            row = [": ".join(filter(None, key))]
            cell: dict[str, Any] = {}
            for entry in entries:
                found = [c for c in entry["results"] if (c["peer"], c.get("way")) == key]
                cell = found[0] if found else {"status": ""}
                row += time_and_ratio(cell, baseline(entry))
            row.append(error(cell))
            if not found_power:
                row.append(draws(cell))
            row.append(memory(cell))
            rows.append([*row, found_power.get(key, "")] if found_power else row)
        if found_power:
            few = f"{part['power']['n_rows']:,}"
            head += ["null", "memory / input", f"power, {few} rows"]
        else:
            head += ["error", "draws", "memory / input"]
        text = table(head, rows)
        texts.append(f"**{title}**\n\n{text}{reference(last)}")
    return "\n".join(texts)


def power(part: dict[str, Any] | None) -> str:
    """Return level and power of the tests with their standard errors."""
    if part is None or "power" not in part:
        return MISSING
    measured = part["power"]
    rows = []
    for row in measured["rows"]:
        shown = [rate(row[which]) for which in ("level", "power")]
        runs = str(row["power"].get("runs", ""))
        rows.append([f"{row['peer']}: {row['way']}", runs, *shown])
    title = f"{measured['n_rows']:,} rows, {measured['n_columns']} columns"
    head = [title, "runs", "level", f"power, shift {measured['shift']:g}"]
    return table(head, rows)


def fastfood(*parts: dict[str, Any] | None) -> str:
    """Return Fastfood beside Fourier, time and error."""
    if any(part is None for part in parts):
        return MISSING
    rows = []
    for entry in (entry for part in parts if part for entry in part["problems"]):
        cells = {
            c["way"]: c
            for c in entry["results"]
            if c["peer"] == "FastMMD" and "seconds" in c
        }
        if not {"Fourier", "Fourier, independent", "Fastfood"} <= cells.keys():
            continue
        names = ("Fourier", "Fourier, independent", "Fastfood")
        fast = cells["Fastfood"]["seconds"]
        ratios = [f"{cells[name]['seconds'] / fast:.2g}" for name in names[:2]]
        shown = [error(cells[name]) for name in names]
        rows.append([shape(entry), str(entry["threads"]), *ratios, *shown])
    head = [
        "shape",
        "threads",
        "Fourier's time over Fastfood's",
        "… independent draws",
        "error of Fourier",
        "… independent",
        "… Fastfood",
    ]
    return table(head, rows)


def rates(part: dict[str, Any] | None) -> str:
    """Return what the machine can do, at each number of threads."""
    if part is None or not part["rates"]:
        return MISSING
    names = {
        "sgemm_flops": "large float32 product, Gflop/s",
        "copy_bytes": "copying memory, GB/s",
        "sum_bytes": "reading memory, GB/s",
        "cosines": "float32 cosines in cache (NumPy), G/s",
        "sines": "float32 sines in cache (NumPy), G/s",
        "polynomials": "float32 polynomials of degree 6 in cache (NumPy), G/s",
    }
    rows = [
        [title, *(f"{found[name] / 1e9:.3g}" for found in part["rates"])]
        for name, title in names.items()
    ]
    head = ["rate", *(plural(found["threads"], "thread") for found in part["rates"])]
    return table(head, rows)


def shares(parts: Iterable[dict[str, Any] | None]) -> str:
    """Return what part of our time each floor would take alone."""
    rows = []
    for part in parts:
        for entry in part["problems"] if part else []:
            base, found = baseline(entry), entry.get("floors")
            if base is None or found is None:
                continue
            floors = ("product", "cosines_and_sines", "arithmetic", "reading")
            shown = [
                percent(found[name] / base) if name in found else "" for name in floors
            ]
            rows.append([shape(entry), str(entry["threads"]), duration(base), *shown])
    if not rows:
        return MISSING
    head = [
        "shape",
        "threads",
        "our time",
        "bare product",
        "NumPy's cosines and sines",
        "arithmetic of two polynomials",
        "reading the rows",
    ]
    return table(head, rows)


def conditions(parts: Iterable[dict[str, Any] | None]) -> str:
    """Return one paragraph on what the numbers were measured with."""
    found = [part for part in parts if part]
    if not found:
        return MISSING
    part = found[0]
    versions = ", ".join(f"{name} {v}" for name, v in part["peers"].items() if v)
    where = part["environment"]
    threads = " and ".join(str(t) for t in where["threads"])
    load = max(part["load_average"][0] for part in found)
    text = (
        f"Measured with {versions}, Python {where['python']}, on "
        f"{plural(part['processors'], 'processor core')} of an {where['processor']}, "
        f"with {threads} threads"
        f"{'' if where['compiled_extension'] else ', without the compiled extension'}. "
        f"A call may take {part['time_limit_seconds']:.0f} s and a process "
        f"{part['memory_limit_bytes'] / 2**30:.0f} GiB. The load average was at most "
        f"{load:.1f} when a part began.\n"
    )
    missing = unique(
        cell["peer"]
        for each in found
        for entry in each["problems"]
        for cell in entry["results"]
        if "way" not in cell
    )
    if missing:
        text += f"Not installed and so not measured: {', '.join(missing)}.\n"
    if any(part["quick"] for part in found):
        text += "**A quick run with small shapes: not to be quoted.**\n"
    return text


def growth_rows(measured: dict[str, Any] | None) -> str:
    """Return time and memory by the number of rows."""
    if measured is None:
        return MISSING
    rows = [
        [
            f"{row['n_rows']:,}",
            duration(row["seconds"]),
            f"{row['nanoseconds_a_row']:.3g}",
            size(row["input_bytes"]),
            "" if row["peak_bytes"] is None else size(row["peak_bytes"]),
        ]
        for row in measured["by_rows"]
    ]
    head = ["rows", "time", "nanoseconds a row", "data", "peak beyond the data"]
    last = f"The time follows the {measured['power_of_rows']:.2f} power of the rows, "
    return f"{table(head, rows)}\n{last}from the last two sizes.\n"


def growth_columns(measured: dict[str, Any] | None) -> str:
    """Return the times of Fourier and Fastfood by columns, and where they cross."""
    if measured is None:
        return MISSING
    names = ("fourier", "fourier_independent", "fastfood")
    rows = []
    for row in measured["by_columns"]:
        shown = [duration(row[f"{name}_seconds"]) for name in names]
        errors = [percent(row[f"{name}_error"]) for name in names]
        rows.append([f"{row['n_columns']:,}", *shown, *errors])
    head = ["columns", "Fourier", "… independent", "Fastfood"]
    head += ["error of Fourier", "… independent", "… Fastfood"]
    texts = []
    for other, title in (
        ("fourier", "`Fourier`"),
        ("fourier_independent", "`Fourier` with independent draws"),
    ):
        place = measured["fastfood_is_faster_from"][other]
        # Interpolated between sizes, at which times are uncertain: one digit is known.
        where = (
            "nowhere here"
            if place is None
            else f"from about {float(f'{place:.0e}'):,.0f} columns"
        )
        texts.append(f"faster than {title} {where}")
    given = (
        f"{measured['wide_rows']:,} rows in float32, {measured['wide_frequencies']:,} "
        "frequencies; errors are from a few draws each."
    )
    return f"{given}\n\n{table(head, rows)}\nHere Fastfood is {' and '.join(texts)}.\n"


def start_up(measured: dict[str, Any] | None) -> str:
    """Return how long processes take that only import."""
    if measured is None:
        return MISSING
    rows = [
        [f"`{statement}`", duration(seconds)]
        for statement, seconds in measured["seconds"].items()
    ]
    over = measured["over_numpy"]
    return (
        f"{table(['statement', 'whole process'], rows)}\nThe bare import loads no NumPy "
        f"and takes {over['bare']:.1f} times as long as NumPy's; with the first use of "
        f"the main functions, which loads it, {over['first_use']:.1f} times (times are "
        f"medians of {measured['repeats']} runs in turns, ratios medians of the ratios "
        f"of each turn).\n"
    )


def baseline(entry: dict[str, Any]) -> float | None:
    """Return our time: that of our first way at this shape."""
    for cell in entry["results"]:
        if cell["peer"] == "FastMMD" and "seconds" in cell:
            return cell["seconds"]
    return None


def time_and_ratio(cell: dict[str, Any], base: float | None) -> list[str]:
    """Return the time of a way and its multiple of ours, or why there is none."""
    if "seconds" in cell:
        ratio = "" if base is None else two_digits(cell["seconds"] / base)
        return [duration(cell["seconds"]), ratio]
    if "expected_seconds" in cell:
        seconds = cell["expected_seconds"]
        ratio = "" if base is None else f"({two_digits(seconds / base)})"
        rows = f"{cell['expected_from_rows']:,}"
        return [f"not run; {duration(seconds)} expected from {rows} rows", ratio]
    return [cell["status"], ""]


def error(cell: dict[str, Any]) -> str:
    """Return the relative error of an estimate in words or per cent."""
    if cell.get("kind") == "ceiling" or "seconds" not in cell:
        return ""
    value = cell.get("relative_error")
    if value is None:
        return cell.get("note", "")
    if cell.get("is_reference"):
        return "the reference"
    return "rounding" if value < 1e-9 else percent(value)


def draws(cell: dict[str, Any]) -> str:
    """Return from how many seeds the error of an estimate is."""
    return "" if "%" not in error(cell) else f"{cell['draws']:,}"


def memory(cell: dict[str, Any]) -> str:
    """Return the peak beyond the data as a multiple of the input's size."""
    # A ceiling keeps its operands from call to call: its peak means nothing.
    if cell.get("peak_bytes") is None or cell["kind"] == "ceiling":
        return ""
    return two_digits(max(0, cell["peak_bytes"]) / cell["input_bytes"])


def reference(entry: dict[str, Any]) -> str:
    """Return what errors were taken against."""
    found = entry["reference"]
    if not found:
        return ""
    text = f"\nErrors are against {found['by']}"
    if found["standard_error"]:
        text += f" (itself {percent(found['standard_error'] / found['unbiased'])})"
    return text + ".\n"


def shape(entry: dict[str, Any]) -> str:
    """Return rows, columns and frequencies of a problem."""
    text = f"{entry['n_rows']:,} rows, {entry['n_columns']:,} columns, "
    text += f"{entry['n_frequencies']:,} frequencies"
    if entry["density"] < 1.0:
        text += f", {100 * entry['density']:g} % non-zero"
    return text if entry["dtype"] == "float64" else f"{text}, {entry['dtype']}"


def rate(found: dict[str, Any]) -> str:
    """Return a rate of rejections with its standard error."""
    if "rate" not in found:
        return found["status"]
    return f"{found['rate']:.2f} ± {found['standard_error']:.2f}"


def duration(seconds: float) -> str:
    """Return a time to three digits, in the unit that suits it."""
    for unit, scale in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)):
        if seconds >= scale or unit == "µs":
            return f"{digits(seconds / scale, 3)} {unit}"
    raise AssertionError(seconds)


def size(n_bytes: float) -> str:
    """Return a number of bytes in megabytes."""
    return f"{two_digits(n_bytes / 1e6)} MB"


def percent(share: float) -> str:
    """Return a share in per cent with two digits."""
    return f"{two_digits(100 * share)} %"


def two_digits(value: float) -> str:
    """Return a number to two digits, without an exponent."""
    return digits(value, 2)


def digits(value: float, count: int) -> str:
    """Return a number with so many digits, without an exponent."""
    if value == 0.0:
        return "0"
    rounded = float(f"{value:.{count - 1}e}")
    places = max(0, count - 1 - math.floor(math.log10(abs(rounded))))
    return f"{rounded:,.{places}f}"


def plural(count: int, noun: str) -> str:
    """Return a count with its noun."""
    return f"{count} {noun}{'' if count == 1 else 's'}"


def unique(values: Iterable[Any]) -> list[Any]:
    """Return each value once, in order of appearance."""
    return list(dict.fromkeys(values))
