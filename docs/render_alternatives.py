"""Tables of the page on when not to use MMD: rates of several tests on the same data.

Used by ``render_measurements.py``. Every rate stands with its binomial standard error, every
row with its number of runs.
"""

from __future__ import annotations

from typing import Any

TITLES = {
    "MMD": "`two_sample_test`",
    "t": "t test",
    "Hotelling": "Hotelling",
    "KS": "KS in each column",
    "energy": "energy distance",
    "classifier": "boosted trees",
    "chi-squared": "chi-squared",
    "MMD, margin 0.02": "margin 0.02",
}
TEXTS = {
    "mean of one column": "1 column, moved by 0.5, 60 rows",
    "mean of all columns": "10 columns, each moved by 0.15, 100 rows",
    "one of 64 columns": "64 columns, one moved by 0.5, 200 rows",
    "dependence of 2": "2 columns, correlated by 0.6 in one sample, 200 rows",
    "dependence of 2 in 10": "2 of 10 columns, correlated by 0.8, 200 rows",
    "trees: two of 30 depend": "2 of 30 columns, correlated by 0.7, 1000 rows",
    "trees: all of 30 move": "30 columns, each moved by 0.05, 1000 rows",
    "3 rows": "3 rows, moved by 10",
    "4 rows": "4 rows, moved by 10",
    "5 rows": "5 rows, moved by 2",
    "10 rows": "10 rows, moved by 1.2",
    "four levels": "4 levels, shares 0.40 and 0.10 become 0.34 and 0.16, 300 rows",
    "a rare level": "4 levels, one of share 0.002 becomes 0.006, 3000 rows",
}
PARTS = {
    "means": ("mean of one column", "mean of all columns"),
    "columns": ("one of 64 columns", "dependence of 2", "dependence of 2 in 10"),
    "trees": ("trees: two of 30 depend", "trees: all of 30 move"),
    "few": ("3 rows", "4 rows", "5 rows", "10 rows"),
    "levels": ("four levels", "a rare level"),
}


def render(measured: dict[str, Any]) -> dict[str, str]:
    """Return the text of every generated file, by name."""
    cells = {cell["name"]: cell for cell in measured["cells"]}
    tables = {
        f"alternatives_{part}.md": rates([cells[name] for name in names])
        for part, names in PARTS.items()
    }
    tiny = [cell for name, cell in cells.items() if name.startswith("tiny difference")]
    return {
        **tables,
        "alternatives_series.md": series(cells["dependent rows"]),
        "alternatives_tiny.md": tiny_differences(tiny),
    }


def rates(cells: list[dict[str, Any]]) -> str:
    """Return a row for each setting and a column for each test."""
    tests = [test for test in TITLES if any(test in cell["rates"] for cell in cells)]
    rows = [
        [TEXTS[cell["name"]], str(cell["runs"])]
        + [rate(cell["rates"][test]) if test in cell["rates"] else "" for test in tests]
        for cell in cells
    ]
    return table(["power at level 0.05", "runs", *(TITLES[t] for t in tests)], rows)


def series(cell: dict[str, Any]) -> str:
    """Return a row for each way to treat dependent rows."""
    rows = [
        [name.replace("MMD", TITLES["MMD"]).replace("KS", TITLES["KS"]), rate(found)]
        for name, found in cell["rates"].items()
    ]
    head = f"{cell['rows']} + {cell['rows']} rows of one process, {cell['runs']} runs"
    return table([head, "rejected at 0.05"], rows)


def tiny_differences(cells: list[dict[str, Any]]) -> str:
    """Return a row for each number of rows."""
    rows = [
        [
            f"{cell['rows']:,}",
            str(cell["runs"]),
            rate(cell["rates"]["MMD"]),
            rate(cell["rates"]["MMD, margin 0.02"]),
            f"{cell['means']['effect size']:.4f}",
        ]
        for cell in cells
    ]
    head = ["rows each", "runs", "rejects equality", "rejects MMD <= 0.02"]
    return table([*head, "mean effect size"], rows, left=0)


def rate(by_level: dict[str, Any]) -> str:
    """Return a rate at level 0.05 with its standard error."""
    found = by_level["0.05"]
    return f"{found['rate']:.3f} ± {found['standard_error']:.3f}"


def table(head: list[str], rows: list[list[str]], *, left: int = 1) -> str:
    """Return a Markdown table; the first `left` columns are text, the others numbers."""
    marks = ["---"] * left + ["---:"] * (len(head) - left)
    return "\n".join("| " + " | ".join(row) + " |" for row in (head, marks, *rows)) + "\n"
