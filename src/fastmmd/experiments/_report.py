"""What one run of an experiment came to."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, final

from fastmmd.experiments._experiment import overall

if TYPE_CHECKING:
    from pathlib import Path

    from fastmmd.experiments._experiment import Holds, Outcome, Verdict


QUICK = "fewer trials or smaller sizes than the paper's"
"""What is said of every result of a quick run."""


@final
@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Report:
    """The numbers of one experiment, and what they say of the paper's claims.

    Attributes
    ----------
    name : str
        The experiment.
    paper : str
        Which figure or table of the paper it reproduces.
    title : str
        What it shows.
    outcome : Outcome
        Tables, pictures, verdicts and notes.
    trials, quick, seed : int, bool, int
        How it was run.
    seconds : float
        How long it took.
    folder : Path or None
        Where the files are; None if none were asked for.
    files : tuple of str
        Their names.

    Examples
    --------
    >>> import fastmmd.experiments
    >>> report = fastmmd.experiments.run("sinusoids", quick=True)
    >>> report.name, report.paper, report.folder
    ('sinusoids', 'Figure 1', None)
    """

    name: str
    paper: str
    title: str
    outcome: Outcome = field(repr=False)
    trials: int
    quick: bool
    seed: int
    seconds: float
    folder: Path | None = None
    files: tuple[str, ...] = field(default=(), repr=False)

    @property
    def verdicts(self) -> tuple[Verdict, ...]:
        """What became of each claim."""
        return tuple(self.outcome.verdicts)

    @property
    def holds(self) -> Holds:
        """One word for all verdicts: "holds", "holds partly" or "fails"."""
        return overall(self.outcome.verdicts)

    def to_dict(self) -> dict[str, Any]:
        """Return everything but tables and pictures, ready for ``json.dumps``."""
        return {
            "experiment": self.name,
            "paper": self.paper,
            "title": self.title,
            "holds": self.holds,
            "verdicts": [
                {
                    "claim": verdict.claim,
                    "measured": verdict.measured,
                    "rule": verdict.rule,
                    "holds": verdict.holds,
                }
                for verdict in self.verdicts
            ],
            "notes": list(self.outcome.notes),
            "trials": self.trials,
            "quick": self.quick,
            "seed": self.seed,
            "seconds": self.seconds,
            "folder": None if self.folder is None else str(self.folder),
            "files": list(self.files),
        }

    def to_markdown(self) -> str:
        """Return the verdicts and notes as Markdown without headings."""
        parts = [f"Quick: {QUICK}."] if self.quick else []
        parts += [
            f"**{verdict.holds.capitalize()}.** *{verdict.claim}* {verdict.measured} "
            f"({verdict.rule})"
            for verdict in self.verdicts
        ]
        parts += [f"Note: {note}" for note in self.outcome.notes]
        return "".join(f"- {part}\n" for part in parts)
