"""What an experiment is: settings in, tables, pictures and verdicts out."""

from __future__ import annotations

import zlib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias, TypeVar, final

import numpy as np

from fastmmd._validation import check_count

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from pathlib import Path

    import numpy.typing as npt

    from fastmmd.experiments._style import Style

Holds: TypeAlias = Literal["holds", "holds partly", "fails"]
Item = TypeVar("Item")


class Step(NamedTuple):
    """How far an experiment has come.

    Attributes
    ----------
    experiment : str
        Its name.
    what : str
        What part of it is at work.
    done, total : int
        How many steps of this part are done, and how many there are.

    Examples
    --------
    >>> import fastmmd.experiments
    >>> step = fastmmd.experiments.Step("family", "Fourier", 3, 10)
    >>> f"{step.what}: {step.done} of {step.total}"
    'Fourier: 3 of 10'
    """

    experiment: str
    what: str
    done: int
    total: int


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """What one run of an experiment is asked for.

    Parameters
    ----------
    experiment : str
        Name of the experiment; part of every seed, so experiments share no numbers.
    trials : int
        Repetitions.
    quick : bool
        Whether a rough answer will do: fewer and smaller settings.
    seed : int
        Where all randomness comes from.
    data : Path, optional
        Data of the user's own, for the experiments that take some.
    progress : callable, optional
        Called with a `Step` now and then.
    """

    experiment: str
    trials: int
    quick: bool = False
    seed: int = 0
    data: Path | None = None
    progress: Callable[[Step], None] | None = None

    def rng(self, purpose: str, *numbers: int) -> np.random.Generator:
        """Return the generator of one purpose, and of one trial if its number is given.

        It depends on nothing that was drawn before, so trials can run in any order.
        """
        words = (self.experiment, purpose)
        codes = (zlib.crc32(word.encode()) for word in words)
        return np.random.default_rng([self.seed, *codes, *numbers])

    def track(self, items: Sequence[Item], what: str) -> Iterator[Item]:
        """Yield the items, and report how many of them are done."""
        for done, item in enumerate(items):
            self._report(what, done, len(items))
            yield item
        self._report(what, len(items), len(items))

    def _report(self, what: str, done: int, total: int) -> None:
        if self.progress is not None:
            self.progress(Step(self.experiment, what, done, total))


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What became of one claim of the paper; made by `judge`.

    Attributes
    ----------
    claim : str
        What the paper says, in our words.
    measured : str
        What came out here.
    rule : str
        When the claim counts as holding: what was compared with what.
    holds : {"holds", "holds partly", "fails"}
        What the rule says of the numbers.

    Examples
    --------
    >>> import fastmmd.experiments
    >>> report = fastmmd.experiments.run("sinusoids", quick=True)
    >>> report.outcome.verdicts[0].holds
    'holds'
    """

    claim: str
    measured: str
    rule: str
    holds: Holds


def judge(
    claim: str, /, *, measured: str, rule: str, met: Sequence[bool | np.bool_]
) -> Verdict:
    """Return the verdict on a claim from the comparisons that its rule asks for.

    It holds if all of them are met, partly if some are, and fails if none is.
    """
    return Verdict(
        claim=claim, measured=measured, rule=rule, holds=_share_that_holds(met)
    )


def overall(verdicts: Sequence[Verdict], /) -> Holds:
    """Return one word for several verdicts."""
    if any(verdict.holds == "holds partly" for verdict in verdicts):
        return "holds partly"
    return _share_that_holds([verdict.holds == "holds" for verdict in verdicts])


def _share_that_holds(met: Sequence[bool | np.bool_]) -> Holds:
    if not met:
        msg = "a verdict must rest on at least one comparison; got none."
        raise ValueError(msg)
    if all(met):
        return "holds"
    return "holds partly" if any(met) else "fails"


@final
@dataclass(frozen=True, slots=True, eq=False)
class Table:
    """Columns of equal length with names that explain themselves; becomes a CSV file.

    Parameters
    ----------
    name : str
        Name of the file without its ending.
    about : str
        One sentence: what a row is.
    columns : mapping of str to sequence
        Numbers, strings and booleans by the names of the columns, with units.
    """

    name: str
    about: str
    columns: Mapping[str, Sequence[Any] | npt.NDArray[Any]]

    def __post_init__(self) -> None:
        lengths = {name: len(column) for name, column in self.columns.items()}
        if len(set(lengths.values())) > 1:
            msg = f"columns of `{self.name}` must be equally long; got {lengths}."
            raise ValueError(msg)

    @classmethod
    def from_rows(
        cls, name: str, about: str, rows: Sequence[Mapping[str, Any]], /
    ) -> Table:
        """Return a table of rows that all have the same keys."""
        return cls(name, about, {key: [row[key] for row in rows] for key in rows[0]})


@final
@dataclass(frozen=True, slots=True, eq=False)
class Picture:
    """A picture that can be drawn in any style.

    Parameters
    ----------
    name : str
        Name of the file without its ending.
    about : str
        What can be seen, for those who cannot see it.
    size : tuple of float
        Width and height in inches.
    draw : callable
        Takes an empty matplotlib ``Figure`` and a `Style`, and fills the figure. It must
        not draw random numbers: it is called once for every style.
    """

    name: str
    about: str
    size: tuple[float, float]
    draw: Callable[[Any, Style], None]


@final
@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Outcome:
    """What an experiment found.

    Parameters
    ----------
    tables, pictures, verdicts : sequence
        What is written: the first of each is the main one.
    notes : sequence of str
        Sentences on what was chosen where the paper is silent, and on its slips.
    """

    tables: Sequence[Table]
    pictures: Sequence[Picture]
    verdicts: Sequence[Verdict]
    notes: Sequence[str] = ()


@final
@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Experiment:
    """One figure or table of the paper.

    Parameters
    ----------
    name : str
        How it is called on the command line.
    paper : str
        Which figure or table it reproduces.
    title : str
        What it shows, in one line.
    trials, quick_trials, fewest_trials : int
        Repetitions, those of a quick run, and how many it takes to say anything at all; 1
        where nothing is repeated.
    run : callable
        Computes everything.
    check_data : callable, optional
        Raises if a file cannot be the user's own data; None where it takes none.
    """

    name: str
    paper: str
    title: str
    run: Callable[[Settings], Outcome] = field(repr=False)
    trials: int = 1
    quick_trials: int = 1
    fewest_trials: int = 1
    check_data: Callable[[Path], object] | None = field(default=None, repr=False)

    @property
    def takes_data(self) -> bool:
        """Whether it can use data of the user's own."""
        return self.check_data is not None

    def settings(
        self,
        *,
        trials: int | None = None,
        quick: bool = False,
        seed: int = 0,
        data: Path | None = None,
        progress: Callable[[Step], None] | None = None,
    ) -> Settings:
        """Return checked settings of one run; the data, too, are found usable or not."""
        if trials is None:
            trials = self.quick_trials if quick else self.trials
        trials = check_count(trials, name="trials")
        if trials < self.fewest_trials:
            msg = (
                f"`trials` must be an integer of at least {self.fewest_trials} for "
                f"{self.name}; got {trials}."
            )
            raise ValueError(msg)
        seed = check_count(seed, name="seed", minimum=0)
        if data is not None:
            if self.check_data is None:
                msg = f"`data` must be left out: {self.name} makes its own data."
                raise ValueError(msg)
            self.check_data(data)
        return Settings(
            experiment=self.name,
            trials=trials,
            quick=quick,
            seed=seed,
            data=data,
            progress=progress,
        )
