"""Render measured numbers as Markdown tables into ``docs/generated``.

The numbers come from ``benchmarks/results``, ``calibration/results`` and
``src/fastmmd/plan_rates.json``, the automatic rule from the package itself; one table
goes into the README, between its markers. With
``--check`` nothing is written, and the exit status is 1 if a rendered file would change.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
from pathlib import Path
from typing import Any

import render_alternatives
import render_comparison

import fastmmd
from fastmmd.frequencies import choose_sampling

ROOT = Path(__file__).parents[1]
GENERATED = ROOT / "docs" / "generated"
RESULTS = ROOT / "benchmarks" / "results"
CALIBRATION = ROOT / "calibration" / "results"
README = ROOT / "README.md"
MARKERS = ("<!-- generated: compare -->\n", "<!-- end -->\n")
RATES = ROOT / "src" / "fastmmd" / "plan_rates.json"

NOT_YET = "*Not measured yet; `make bench-engines` does it.*\n"

KERNEL_NAMES = {
    "gaussian": "Gaussian",
    "matern_1/2": "Matern, nu = 1/2",
    "rational_quadratic": "RationalQuadratic",
    "laplace": "Laplace (product)",
    "cauchy": "Cauchy (product)",
}
DRAW_NAMES = {
    "iid": "independent",
    "orthogonal": "orthogonal",
    "stratified": "stratified lengths",
    "sobol": "Sobol",
    "fastfood": "Fastfood",
}
RATE_NAMES = {
    "pair": "a pair of rows (exact, block)",
    "pair_column": "each column of a pair, up to 8 columns",
    "pair_column_product": "each column of a pair, beyond",
    "linear_row": "a row (linear)",
    "linear_number": "each number of a row (linear)",
    "phase": "a row and frequency (Fourier, Fastfood)",
    "phase_column": "each column of those (Fourier)",
    "phase_nonzero": "each non-zero of those (Fourier, sparse rows)",
    "orthogonal": "a column, frequency and block member (orthogonal directions)",
    "hadamard": "a number and halving of the columns (Fastfood)",
    "grid_row_1": "a row in 1 column (grid)",
    "grid_row_2": "a row in 2 columns (grid)",
    "grid_row_3": "a row in 3 columns (grid)",
    "grid_mode_1": "a grid frequency in 1 column (grid)",
    "grid_mode_2": "a grid frequency in 2 columns (grid)",
    "grid_mode_3": "a grid frequency in 3 columns (grid)",
    "call": "any call",
}
RULE_NAMES = {
    "soft maximum": "soft maximum",
    "soft maximum of plain scores": "… of plain scores",
    "maximum": "maximum",
    "min-p": "min-p",
    "sum": "sum",
    "FUSE's rule": "FUSE's rule",
    "median": "median only",
}
SINGLE_NAMES = {
    "soft maximum": "all, soft maximum",
    "2 medians": "2",
    "median": "1",
    "median / 2": "1/2",
    "median / 4": "1/4",
    "median / 8": "1/8",
    "median / 16": "1/16",
    "median / 32": "1/32",
}


def table(head: list[str], rows: list[list[str]], *, left: int = 1) -> str:
    """Return a Markdown table; the first `left` columns are text, the others numbers."""
    marks = ["---"] * left + ["---:"] * (len(head) - left)
    lines = [head, marks, *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines) + "\n"


def sampling_error(measured: dict[str, Any], n_frequencies: int) -> str:
    """Return one table a kernel: columns of data down, draws across, smallest in bold."""
    cells = [c for c in measured["by_draw"] if c["n_frequencies"] == n_frequencies]
    parts = []
    for kernel, title in KERNEL_NAMES.items():
        mine = [cell for cell in cells if cell["kernel"] == kernel]
        draws = [draw for draw in DRAW_NAMES if any(c["draw"] == draw for c in mine)]
        rows = []
        for n_columns in sorted({cell["n_columns"] for cell in mine}):
            errors = {
                c["draw"]: c["relative_rms_error"]
                for c in mine
                if c["n_columns"] == n_columns
            }
            best = min(errors.values())
            shown = [percent(errors[draw], bold=errors[draw] == best) for draw in draws]
            rows.append([str(n_columns), *shown])
        head = ["columns", *(DRAW_NAMES[draw] for draw in draws)]
        parts.append(f"**{title}**\n\n{table(head, rows)}")
    return "\n".join(parts)


def sobol_groups(measured: dict[str, Any]) -> str:
    """Return the error of Sobol draws by the number of scramblings."""
    cells = measured["by_sobol_groups"]
    counts = sorted({cell["sobol_groups"] for cell in cells})
    rows = []
    for key in unique((c["kernel"], c["n_frequencies"], c["n_columns"]) for c in cells):
        errors = {
            c["sobol_groups"]: c["relative_rms_error"]
            for c in cells
            if (c["kernel"], c["n_frequencies"], c["n_columns"]) == key
        }
        kernel, n_frequencies, n_columns = key
        rows.append(
            [KERNEL_NAMES[kernel], str(n_frequencies), str(n_columns)]
            + [percent(errors[count]) for count in counts]
        )
    rows.sort(key=lambda row: (row[0], int(row[1]), int(row[2])))
    return table(["kernel", "frequencies", "columns", *map(str, counts)], rows)


def standard_error(measured: dict[str, Any]) -> str:
    """Return how the reported standard error compares with the true error, by draw."""
    rows = []
    measured_draws = unique(c["draw"] for c in measured["by_draw"])
    for draw in (draw for draw in DRAW_NAMES if draw in measured_draws):
        title = DRAW_NAMES[draw]
        for n_frequencies in sorted({c["n_frequencies"] for c in measured["by_draw"]}):
            ratios = sorted(
                c["reported_over_true"]
                for c in measured["by_draw"]
                if c["draw"] == draw and c["n_frequencies"] == n_frequencies
            )
            middle = ratios[len(ratios) // 2]
            shown = [f"{value:.2f}" for value in (ratios[0], middle, ratios[-1])]
            rows.append([title, str(n_frequencies), *shown])
    return table(["draw", "frequencies", "smallest", "median", "largest"], rows)


def few_blocks(measured: dict[str, Any]) -> str:
    """Return the same ratio for draws of few blocks in 64 columns."""
    cells = measured["few_blocks"]
    rows = []
    for draw in ("orthogonal", "fastfood"):
        for n_frequencies in unique(c["n_frequencies"] for c in cells):
            ratios = [
                next(
                    c["reported_over_true"]
                    for c in cells
                    if (c["kernel"], c["draw"], c["n_frequencies"])
                    == (kernel, draw, n_frequencies)
                )
                for kernel in unique(c["kernel"] for c in cells)
            ]
            blocks = str(n_frequencies // 64)
            rows.append([DRAW_NAMES[draw], blocks, *(f"{r:.2f}" for r in ratios)])
    kernels = [KERNEL_NAMES[k] for k in unique(c["kernel"] for c in cells)]
    return table(["draw", "blocks", *kernels], rows)


def few_frequencies(measured: dict[str, Any]) -> str:
    """Return errors, in percent, and times of draws with fewer frequencies than columns."""
    cells = measured["cells"]
    draws = unique(c["draw"] for c in cells)
    rows = []
    for kernel in unique(c["kernel"] for c in cells):
        for n in unique(c["n_frequencies"] for c in cells):
            found = {
                c["draw"]: c
                for c in cells
                if (c["kernel"], c["n_frequencies"]) == (kernel, n)
            }
            share = f"{n} in {cells[0]['n_columns']} columns"
            errors = [f"{100 * found[d]['relative_error']:.1f} %" for d in draws]
            times = [milliseconds(found[d]["draw_seconds"]) for d in draws[1:]]
            rows.append([kernel, share, *errors, *times])
    heads = [DRAW_NAMES[d] for d in draws]
    times = [f"ms for {DRAW_NAMES[d]}" for d in draws[1:]]
    return table(["kernel", "frequencies", *heads, *times], rows, left=2)


def frequencies_needed(measured: dict[str, Any]) -> str:
    """Return the fewest frequencies measured that reach an error, by draw and columns."""
    targets = (0.1, 0.03, 0.01, 0.003)
    rows = []
    for n_columns in unique(c["n_columns"] for c in measured["cells"]):
        automatic = choose_sampling(fastmmd.Gaussian(1.0), n_columns, 2**20)
        for draw in (automatic, "iid"):
            errors = {
                c["n_frequencies"]: c["relative_rms_error"]
                for c in measured["cells"]
                if (c["n_columns"], c["draw"]) == (n_columns, draw)
            }
            most = max(errors)
            shown = [
                str(min((n for n, e in errors.items() if e <= t), default=f"> {most}"))
                for t in targets
            ]
            rows.append([f"{n_columns}, {DRAW_NAMES[draw]}", *shown])
    head = [percent(target) for target in targets]
    return table(["columns and draw", *head], rows)


def sampling_rule() -> str:
    """Return what ``sampling="auto"`` means, as the code has it."""
    kernels = {
        "Gaussian": fastmmd.Gaussian(1.0),
        "Matern, nu = 1/2": fastmmd.Matern(1.0, nu=0.5),
        "RationalQuadratic": fastmmd.RationalQuadratic(1.0),
        "Laplace (product)": fastmmd.Laplace(1.0),
        "Cauchy (product)": fastmmd.Cauchy(1.0),
    }
    rows = []
    for title, kernel in kernels.items():
        many = 2**20
        last = max(
            d for d in range(1, 1000) if choose_sampling(kernel, d, many) == "sobol"
        )
        beyond = DRAW_NAMES[choose_sampling(kernel, last + 1, many)]
        wide = 2**12
        few = max(
            (
                n
                for n in range(1, wide)
                if choose_sampling(kernel, wide, n) == "stratified"
            ),
            default=0,
        )
        crowded = (
            f"{DRAW_NAMES['stratified']} up to 1 frequency for {wide // few} columns"
            if few
            else beyond
        )
        rows.append([title, f"Sobol up to {last} columns", beyond, crowded])
    head = ["kernel", "few columns", "more columns", "… and few frequencies"]
    return table(head, rows, left=4)


def plan_rates(rates: dict[str, Any]) -> str:
    """Return the rates of `fastmmd.plan` in nanoseconds."""
    rows = [[title, nanoseconds(rates[name])] for name, title in RATE_NAMES.items()]
    return table(["each", "nanoseconds"], rows)


def test_cost(measured: dict[str, Any]) -> str:
    """Return what the whole test costs, and the null beside the pass."""
    small = measured["small"]
    rows = [
        [
            "relabelling rows, one product for all (NumPy)",
            milliseconds(small["gram_seconds"]),
        ],
        [
            "relabelling rows, one product each (NumPy)",
            milliseconds(small["one_by_one_seconds"]),
        ],
        ["two_sample_test, Fourier(256)", milliseconds(small["fourier_256_seconds"])],
        ["two_sample_test, adaptive", milliseconds(small["adaptive_seconds"])],
    ]
    first = table(["1000 + 1000 rows, 1000 relabellings", "milliseconds"], rows)
    rows = [
        [
            f"{row['rows']:,}",
            milliseconds(row["pass_seconds"]),
            milliseconds(row["null_seconds"]),
        ]
        for row in measured["large"]
    ]
    second = table(["rows, 10 columns, adaptive", "pass, ms", "null, ms"], rows)
    return f"{first}\n\n{second}"


def cli_parquet(measured: dict[str, Any]) -> str:
    """Return time and memory of the command beside just reading the files."""
    n_rows, columns = measured["rows"] / 1e6, measured["columns"]
    rows = [
        [
            f"{columns['time']} columns, PyArrow reads them",
            f"{measured['read_seconds']:.2g} s",
        ],
        [
            f"{columns['time']} columns, fastmmd test",
            f"{measured['test_seconds']:.2g} s",
        ],
        [
            f"{columns['memory']} columns, fastmmd test, most resident memory",
            f"{measured['resident_bytes'] / 1e6:.0f} MB",
        ],
    ]
    head = [f"{n_rows:g} million rows of Parquet, {threads(measured)}", "measured"]
    return table(head, rows)


def engines_share(measured: dict[str, dict[str, Any]]) -> str:
    """Return the throughput of the engines beside the plain call, a line for each."""
    kinds = {"files": "files", "frame": "data frame"}
    rows = [
        [
            f"{name.capitalize()}, {title}",
            million(found["rows_per_core_second"]["plain"]),
            million(found["rows_per_core_second"][kind]),
            percent(found["share_of_plain"][kind]),
            f"{4e-6 * found['columns'] * found['rows_per_core_second'][kind]:.0f}",
        ]
        for name, found in measured.items()
        for kind, title in kinds.items()
    ]
    # Four bytes a number: the files hold single precision.
    head = ["engine and data", "plain call", "engine", "share", "MB a second"]
    return table(head, rows)


def engines_bytes(measured: dict[str, dict[str, Any]]) -> str:
    """Return what is sent and held, a column for each engine."""
    about = {
        "sent to a worker, kB": lambda m: f"{m['sent_to_a_worker_bytes'] / 1e3:.1f}",
        "sketch of a partition, MB": lambda m: f"{m['sketch_bytes'] / 1e6:.1f}",
        "partitions": lambda m: str(m["partitions"]),
        "to the driver for each partition, MB": lambda m: (
            f"{m['driver_bytes_per_partition'] / 1e6:.1f}"
        ),
        "memory of a process that does a task, MB": lambda m: (
            f"{m['worker_memory_bytes']['task'] / 1e6:.0f}"
        ),
        "of these before it starts, MB": lambda m: (
            f"{m['worker_memory_bytes']['base'] / 1e6:.0f}"
        ),
    }
    rows = [
        [title, *(shown(found) for found in measured.values())]
        for title, shown in about.items()
    ]
    return table(["", *(name.capitalize() for name in measured)], rows)


def engines_time(measured: dict[str, dict[str, Any]]) -> str:
    """Return measured times, and on paper those of more rows and processors."""
    rows = []
    for name, found in measured.items():
        rate = found["rows_per_core_second"]["files"]
        times = sorted(found["seconds"]["files"])
        title = f"{name.capitalize()}, measured"
        rows.append(
            [
                title,
                f"{found['rows']:.0e}",
                str(found["workers"]),
                duration(times[len(times) // 2]),
            ]
        )
        if "large" in found:
            large = found["large"]
            rows.append(
                [
                    title,
                    f"{large['rows']:.0e}",
                    str(found["workers"]),
                    duration(large["seconds"]),
                ]
            )
        for n_rows, cores in ((1e9, 64), (1e12, 1000)):
            seconds = n_rows / (rate * cores)
            title = f"{name.capitalize()}, on paper"
            rows.append([title, f"{n_rows:.0e}", str(cores), duration(seconds)])
    return (
        table(["one pass", "rows", "cores", "time"], rows)
        .replace("e+0", "e")
        .replace("e+", "e")
    )


def engines_conditions(measured: dict[str, dict[str, Any]]) -> str:
    """Return what the numbers were measured with."""
    first = next(iter(measured.values()))
    versions = ", ".join(
        f"{k} {v}" for m in measured.values() for k, v in m["engine"].items()
    )
    return (
        f"{first['rows'] / 1e6:g} million rows of {first['columns']} columns in single "
        f"precision, Parquet on a local disk; {first['kernels']} kernels, "
        f"{first['features']} features; plain call and engines with {first['workers']} "
        f"cores of an {first['environment']['processor']} processor, in turns, medians of "
        f"{first['repeats']}; {versions}; start-up left out.\n"
    )


def duration(seconds: float) -> str:
    """Return a time in the unit that suits it."""
    for unit, name in ((86400, "days"), (3600, "h"), (60, "min")):
        if seconds >= 2 * unit:
            return f"{plain(f'{seconds / unit:.2g}')} {name}"
    return f"{plain(f'{seconds:.2g}')} s"


def million(number: float) -> str:
    """Return a number in millions."""
    return f"{number / 1e6:.2f} M"


def threads(measured: dict[str, Any]) -> str:
    """Return how many threads a measurement had."""
    number = measured["environment"]["threads"]
    return f"{number} thread{'' if number == 1 else 's'}"


def milliseconds(seconds: float) -> str:
    """Return a time to two digits."""
    return plain(f"{1000 * seconds:.2g}")


def plan_check(measured: dict[str, Any]) -> str:
    """Return predicted and measured times in milliseconds."""
    rows = []
    for row in measured["check"]:
        density = "dense" if row["density"] == 1.0 else f"{100 * row['density']:g} %"
        times = [f"{1000 * row[f'{w}_seconds']:.2g}" for w in ("predicted", "measured")]
        sizes = [str(row["n_x"] + row["n_y"]), str(row["n_columns"])]
        ratio = f"{row['measured_over_predicted']:.2g}"
        rows.append([row["method"], density, *sizes, *map(plain, times), ratio])
    head = [
        "method",
        "entries",
        "rows",
        "columns",
        "predicted, ms",
        "measured, ms",
        "ratio",
    ]
    return table(head, rows, left=2)


def level_exact(measured: dict[str, Any]) -> str:
    """Return the rejection rates of tests whose level is exact."""
    rows = []
    for cell in measured["cells"]:
        rates = cell["rates"]["p"]
        shown = [rate(rates[level]) for level in ("0.05", "0.01")]
        runs = str(rates["0.05"]["runs"])
        rows.append([cell["group"], sizes(cell), cell["data"], runs, *shown])
    return table(["test", "rows", "data", "runs", "at 0.05", "at 0.01"], rows, left=3)


def level_asymptotic(measured: dict[str, Any]) -> str:
    """Return the rejection rates of asymptotic tests, one row for each null."""
    names = {"asymptotic": "automatic"}
    rows = []
    for cell in measured["cells"]:
        for null, rates in cell["rates"].items():
            if null == "p":  # some sketches did match
                continue
            shown = [rate(rates[level]) for level in ("0.05", "0.01")]
            runs = str(rates["0.05"]["runs"])
            start = [cell["group"], sizes(cell), cell["data"], names.get(null, null)]
            rows.append([*start, runs, *shown])
    head = ["test", "rows", "data", "null", "runs", "at 0.05", "at 0.01"]
    return table(head, rows, left=4)


def power_bins(measured: dict[str, Any]) -> str:
    """Return the power from rows and from different numbers of bins."""
    ways = list(measured["cells"][0]["rates"])
    rows = [
        [cell["name"], str(cell["runs"]), *(rate(cell["rates"][w]["0.05"]) for w in ways)]
        for cell in measured["cells"]
    ]
    return table(["alternative", "runs", *ways], rows)


def power_table(measured: dict[str, Any], ways: dict[str, str]) -> str:
    """Return the power of several tests, with the mean over the held-out scenarios."""
    rows, held_out = [], []
    for cell in measured["cells"]:
        found = {
            way: cell["rates"][way]["0.05"]["rate"]
            for way in ways
            if way in cell["rates"]
        }
        if cell["held_out"]:
            held_out.append(found)
        shown = [f"{found[way]:.3f}" if way in found else "" for way in ways]
        mark = "*" if cell["held_out"] else ""
        rows.append([cell["name"] + mark, str(cell["runs"]), *shown])
    means = [
        f"{sum(f[way] for f in held_out) / len(held_out):.3f}"
        if held_out and all(way in f for f in held_out)
        else ""
        for way in ways
    ]
    rows.append(["mean of those with a star", "", *means])
    return table(["scenario", "runs", *ways.values()], rows)


def scenarios(measured: dict[str, Any]) -> str:
    """Return what the scenarios are and what a test took."""
    rows = [
        [
            cell["name"],
            cell["text"],
            f"{cell['means']['kernels']:.1f}",
            f"{1000 * cell['means']['seconds']:.0f}",
        ]
        for cell in measured["cells"]
    ]
    head = ["scenario", "samples (n rows each)", "bandwidths kept", "time, ms"]
    return table(head, rows, left=2)


def power_fuse(measured: dict[str, Any]) -> str:
    """Return power and time of the default test and of MMD-FUSE on the same data."""
    rows = []
    for cell in measured["cells"]:
        shown = []
        for test, title in (("default test", "the default test"), ("MMD-FUSE",) * 2):
            shown.append(rate(cell["rates"][test]["0.05"]))
            shown.append(f"{cell['means'][f'seconds of {title}']:.2f}")
        rows.append([cell["name"], str(cell["runs"]), *shown])
    head = ["scenario", "runs", "default", "seconds", "MMD-FUSE", "seconds"]
    return table(head, rows)


def intervals(measured: dict[str, Any]) -> str:
    """Return how often intervals miss the truth, and the level of the margin test."""
    rows = []
    for cell in measured["cells"]:
        kinds = ("misses", "too low", "too high", "margin")
        shown = [
            rate(cell["rates"][kind]["0.05"]) if kind in cell["rates"] else ""
            for kind in kinds
        ]
        rows.append([sizes(cell), f"{cell['shift']:g}", str(cell["runs"]), *shown])
    head = ["rows", "shift", "runs", "misses", "too low", "too high", "margin test"]
    return table(head, rows)


def sizes(cell: dict[str, Any]) -> str:
    """Return the sample sizes of a cell."""
    return " + ".join(str(size) for size in cell["sizes"])


def rate(found: dict[str, Any]) -> str:
    """Return a rate with its standard error."""
    return f"{found['rate']:.4f} ± {found['standard_error']:.4f}"


def conditions(measured: dict[str, Any]) -> str:
    """Return one sentence on what the numbers were measured with."""
    where = measured["environment"]
    versions = ", ".join(f"{k} {v}" for k, v in where["packages"].items() if v)
    return (
        f"Measured with {versions}, Python {where['python']}, one thread of an "
        f"{where['processor']} processor"
        f"{'' if where['compiled_extension'] else ', without the compiled extension'}.\n"
    )


def percent(share: float, *, bold: bool = False) -> str:
    """Return a share in per cent with two digits."""
    text = f"{plain(f'{100 * share:.2g}')} %"
    return f"**{text}**" if bold else text


def nanoseconds(seconds: float) -> str:
    """Return a time in nanoseconds with two digits."""
    return plain(f"{1e9 * seconds:.2g}")


def plain(number: str) -> str:
    """Return a number written without an exponent."""
    value = float(number)
    digits = 0 if value == 0 else max(0, 1 - math.floor(math.log10(abs(value))))
    return f"{value:.{digits}f}"


def unique(values: Any) -> list[Any]:
    """Return each value once, in order of appearance."""
    return list(dict.fromkeys(values))


def render(comparison: Path) -> dict[str, str]:
    """Return the text of every generated file, by name."""
    sampling = json.loads((RESULTS / "sampling_error.json").read_text(encoding="utf-8"))
    check = json.loads((RESULTS / "plan_check.json").read_text(encoding="utf-8"))
    cost = json.loads((RESULTS / "two_sample_cost.json").read_text(encoding="utf-8"))
    needed = json.loads((RESULTS / "frequencies_needed.json").read_text(encoding="utf-8"))
    few = json.loads((RESULTS / "few_frequencies.json").read_text(encoding="utf-8"))
    command = json.loads((RESULTS / "cli_parquet.json").read_text(encoding="utf-8"))
    engines = {
        name: json.loads(path.read_text(encoding="utf-8"))
        for name in ("dask", "ray", "spark")
        if (path := RESULTS / f"engines_{name}.json").exists()
    }
    rates = json.loads(RATES.read_text(encoding="utf-8"))
    calibrated = {
        path.stem: json.loads(path.read_text(encoding="utf-8"))
        for path in sorted(CALIBRATION.glob("*.json"))
    }
    adaptive = calibrated["power_adaptive"]
    return {
        "sampling_error_1024.md": sampling_error(sampling, 1024),
        "sampling_error_256.md": sampling_error(sampling, 256),
        "sobol_groups.md": sobol_groups(sampling),
        "standard_error.md": standard_error(sampling),
        "few_blocks.md": few_blocks(sampling),
        "few_frequencies.md": few_frequencies(few),
        "frequencies_needed.md": frequencies_needed(needed),
        "sampling_rule.md": sampling_rule(),
        "sampling_conditions.md": conditions(sampling),
        "plan_rates.md": plan_rates(rates),
        "plan_check.md": plan_check(check),
        "plan_conditions.md": conditions(check),
        "test_cost.md": test_cost(cost),
        "cli_parquet.md": cli_parquet(command),
        "engines_share.md": engines_share(engines) if engines else NOT_YET,
        "engines_bytes.md": engines_bytes(engines) if engines else NOT_YET,
        "engines_time.md": engines_time(engines) if engines else NOT_YET,
        "engines_conditions.md": engines_conditions(engines) if engines else NOT_YET,
        "calibration_level_exact.md": level_exact(calibrated["level_exact"]),
        "calibration_level_asymptotic.md": level_asymptotic(
            calibrated["level_asymptotic"]
        ),
        "calibration_bins.md": power_bins(calibrated["power_bins"]),
        "calibration_rules.md": power_table(adaptive, RULE_NAMES),
        "calibration_single.md": power_table(adaptive, SINGLE_NAMES),
        "calibration_scenarios.md": scenarios(adaptive),
        "calibration_fuse.md": power_fuse(calibrated["power_fuse"]),
        "calibration_intervals.md": intervals(calibrated["intervals"]),
        "calibration_conditions.md": conditions(calibrated["level_exact"]),
        **render_alternatives.render(calibrated["alternatives"]),
        **render_comparison.render(comparison),
    }


def with_table(text: str, inserted: str) -> str:
    """Return the README with another table between its markers."""
    begin, end = MARKERS
    before, _, rest = text.partition(begin)
    _, found, after = rest.partition(end)
    if not found:
        msg = f"the README must have the lines {begin.strip()} and {end.strip()}."
        raise ValueError(msg)
    return f"{before}{begin}\n{inserted}\n{end}{after}"


def main() -> int:
    """Write the files, or compare them."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--check", action="store_true", help="write nothing, only compare"
    )
    parser.add_argument(
        "--comparison",
        type=Path,
        default=RESULTS,
        help="directory with the results of the comparison",
    )
    options = parser.parse_args()
    GENERATED.mkdir(exist_ok=True)
    rendered = {
        GENERATED / name: text for name, text in render(options.comparison).items()
    }
    rendered[README] = with_table(
        README.read_text(encoding="utf-8"), render_comparison.readme(options.comparison)
    )
    status = 0
    for path, text in rendered.items():
        if path.exists() and path.read_text(encoding="utf-8") == text:
            continue
        if options.check:
            sys.stderr.write(f"{path.relative_to(ROOT)} is not up to date.\n")
            status = 1
        else:
            path.write_text(text, encoding="utf-8")
    return status


if __name__ == "__main__":
    sys.exit(main())
