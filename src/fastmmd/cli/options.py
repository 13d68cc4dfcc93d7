"""Options that several commands share, and what the library calls them.

cyclopts reads these annotations and docstrings at run time: they are the help.
"""

from __future__ import annotations

import csv
import math
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeAlias

from cyclopts import Group, Parameter

from fastmmd.cli.errors import UsageError

if TYPE_CHECKING:
    from fastmmd.tables import Source

# Both, so that shells complete names of files and URLs keep their two slashes.
DataPath: TypeAlias = str | Path
Flag: TypeAlias = Annotated[bool, Parameter(show_default=False, negative=())]
Names: TypeAlias = Annotated[list[str] | None, Parameter(metavar="NAMES", negative=())]
KernelName: TypeAlias = Literal[
    "adaptive", "gaussian", "laplace", "matern", "rational_quadratic", "cauchy"
]

READING = Group("Reading", sort_key=10)
COLUMNS = Group("Columns", sort_key=11)
TESTING = Group("Test", sort_key=12)
OUTPUT = Group("Output", sort_key=13)


@Parameter(name="*", group=READING)
@dataclass(frozen=True, kw_only=True)
class Reading:
    """How data are read.

    Parameters
    ----------
    where
        Only rows that meet a condition, such as "delay > 3 and carrier in ('AA', 'UA')".
    format
        Format, if the names of the files do not tell.
    types
        Text formats: types of columns whose first lines mislead, such as zip=string.
    delimiter
        CSV: the character between values; by default a comma, a tab in .tsv files.
    no_header
        CSV: the first line has no names; columns are f0, f1, ...
    encoding
        CSV: the encoding of the text.
    array
        .npz: which array to read.
    """

    where: Annotated[str | None, Parameter(metavar="CONDITION")] = None
    format: Literal["parquet", "csv", "arrow", "jsonl", "numpy"] | None = None
    types: Annotated[list[str] | None, Parameter(metavar="NAME=TYPE", negative=())] = None
    delimiter: Annotated[str | None, Parameter(metavar="CHARACTER")] = None
    no_header: Flag = False
    encoding: Annotated[str, Parameter(metavar="NAME")] = "utf8"
    array: Annotated[str | None, Parameter(metavar="NAME")] = None

    def open(self, data: Any, /) -> Source:
        """Return the data, not yet read."""
        from fastmmd.tables import open_source

        return open_source(
            data,
            where=self.where,
            format=self.format,
            types=pairs(self.types, option="--types"),
            delimiter=_character(self.delimiter),
            header=not self.no_header,
            encoding=self.encoding,
            array=self.array,
        )


@Parameter(name="*", group=COLUMNS)
@dataclass(frozen=True, kw_only=True)
class Columns:
    """Which columns are used, and how they become numbers.

    Parameters
    ----------
    columns
        Use only these columns, separated by commas; by default all that the data share.
    exclude
        Leave these columns out.
    missing
        Missing values: refuse them, drop their rows, or let "missing" be a value.
    scale
        Scale numbers by median and quartiles, or by mean and standard deviation.
    kinds
        Kinds that differ from the column's type, such as zip_code=categorical.
    max_levels
        Most places for the levels of one category.
    """

    columns: Names = None
    exclude: Names = None
    missing: Literal["raise", "drop", "indicator"] = "raise"
    scale: Literal["robust", "standard"] = "robust"
    kinds: Annotated[list[str] | None, Parameter(metavar="NAME=KIND", negative=())] = None
    max_levels: int = 32

    def keywords(self) -> dict[str, Any]:
        """Return the options as the library takes them."""
        return {
            "columns": listed(self.columns),
            "exclude": listed(self.exclude),
            "missing": self.missing,
            "scale": self.scale,
            "kinds": pairs(self.kinds, option="--kinds"),
            "max_levels": self.max_levels,
        }

    def given(self) -> list[str]:
        """Return the options that are not as they are by default."""
        usual = asdict(Columns())
        return [
            f"--{field.name.replace('_', '-')}"
            for field in fields(self)
            if getattr(self, field.name) != usual[field.name]
        ]


@Parameter(name="*", group=TESTING)
@dataclass(frozen=True, kw_only=True)
class Testing:
    """The test itself.

    Parameters
    ----------
    level
        Significance level.
    margin
        Test instead whether the data are further apart than this MMD; needs one kernel.
    n_resamples
        Relabellings of the permutation test.
    seed
        Source of all randomness: the same seed and data give the same answer.
    fail_on_difference
        End with status 1 if the data differ at the level.
    """

    level: float = 0.05
    margin: float | None = None
    n_resamples: int = 999
    seed: int = 0
    fail_on_difference: Flag = False

    def keywords(self) -> dict[str, Any]:
        """Return the options as the library takes them."""
        self._check_within_reach()
        return {
            "level": self.level,
            "margin": self.margin,
            "n_resamples": self.n_resamples,
            "rng": check_seed(self.seed),
        }

    def _check_within_reach(self) -> None:
        """Refuse a level below every p-value: a pipeline would never hear of anything."""
        if self.margin is not None or self.n_resamples < 1 or self.level <= 0.0:
            return  # no relabelling, or the library refuses it
        smallest = 1.0 / (1 + self.n_resamples)
        if self.level < smallest:
            msg = (
                f"--n-resamples must be at least {math.ceil(1.0 / self.level) - 1} for "
                f"--level {self.level:g}: no p-value of {self.n_resamples} relabellings "
                f"is below {smallest:.3g}."
            )
            raise UsageError(msg)


@Parameter(name="*", group=OUTPUT)
@dataclass(frozen=True, kw_only=True)
class Output:
    """What is printed.

    Parameters
    ----------
    json
        Print one JSON object and nothing else; of an error, one with the key "error".
    quiet
        Show no progress, even on a terminal.
    debug
        Show where an error comes from.
    """

    json: Flag = False
    quiet: Flag = False
    debug: Flag = False


OPTION_GROUPS = (Reading, Columns, Testing, Output)
DEFAULT_READING = Reading()
DEFAULT_COLUMNS = Columns()
DEFAULT_TESTING = Testing()
DEFAULT_OUTPUT = Output()


def check_seed(seed: int, /) -> int:
    """Return a seed, if it can be one."""
    if seed < 0:
        msg = f"--seed must be an integer of at least 0; got {seed}."
        raise UsageError(msg)
    return seed


def listed(words: list[str] | None, /) -> list[str] | None:
    """Return the names in words such as ``a,b``; quotes keep a comma in a name."""
    if words is None:
        return None
    return [name.strip() for row in csv.reader(words) for name in row if name.strip()]


def pairs(words: list[str] | None, /, *, option: str) -> dict[str, str] | None:
    """Return what words such as ``a=string,b=float`` say."""
    found = {}
    for word in listed(words) or []:
        name, mark, value = word.rpartition("=")
        if not mark:
            msg = f"{option} must be NAME=VALUE; got {word!r}."
            raise UsageError(msg)
        found[name.strip()] = value.strip()
    return found or None


def _character(text: str | None) -> str | None:
    """Return a delimiter; a tab is hard to type."""
    character = {"\\t": "\t", "tab": "\t"}.get(text or "", text)
    if character is not None and len(character) != 1:
        msg = f"--delimiter must be one character; got {text!r}."
        raise UsageError(msg)
    return character
