"""The figures and the table of the paper, computed again, with a verdict on each claim.

Each experiment measures what a figure of Zhao and Meng (2015) shows and says by a stated
rule whether the claim that goes with it holds. On the command line: ``fastmmd reproduce``.
Files with pictures need the extra ``experiments``; numbers alone need no more than the
methods that an experiment compares.
"""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fastmmd.experiments._catalogue import NAMES, find
from fastmmd.experiments._experiment import Step, Verdict
from fastmmd.experiments._report import Report
from fastmmd.experiments._style import require_matplotlib
from fastmmd.experiments._write import check_out, replacing, write, write_summary

if TYPE_CHECKING:
    import os
    from collections.abc import Callable

__all__ = ["Report", "Step", "Verdict", "describe", "names", "run"]


def names() -> tuple[str, ...]:
    """Return the names of all experiments, in the order of the paper.

    Returns
    -------
    tuple of str
        What `run` takes.

    Examples
    --------
    >>> names()[0]
    'sinusoids'
    """
    return NAMES


def describe() -> list[dict[str, Any]]:
    """Return what each experiment is about, in the order of the paper.

    Returns
    -------
    list of dict
        With the keys ``name``, ``paper``, ``title``, ``trials`` and ``takes_data``.

    Examples
    --------
    >>> describe()[0]["paper"]
    'Figure 1'
    """
    keys = ("name", "paper", "title", "trials", "takes_data")
    return [{key: getattr(find(name), key) for key in keys} for name in NAMES]


def run(
    name: str,
    /,
    *,
    trials: int | None = None,
    quick: bool = False,
    seed: int = 0,
    out: str | os.PathLike[str] | None = None,
    data: str | os.PathLike[str] | None = None,
    progress: Callable[[Step], None] | None = None,
) -> Report:
    """Run one experiment.

    Parameters
    ----------
    name : str
        One of `names`.
    trials : int, optional
        Repetitions; by default those of the paper, fewer if `quick`.
    quick : bool, default=False
        Whether a rough answer in seconds will do.
    seed : int, default=0
        The same seed gives the same numbers, times apart.
    out : path, optional
        Where to write CSV, PNG, SVG and the verdict: into a folder of the experiment's name
        in this folder, beside a summary of all experiments there. Files are replaced only
        when all are complete. By default nothing is written.
    data : path, optional
        Data of your own, for experiments that take some.
    progress : callable, optional
        Called with a `Step` now and then.

    Returns
    -------
    Report
        Tables and verdicts.

    Raises
    ------
    ValueError
        If a setting does not suit the experiment, or `out` cannot be written to.
    DataError
        If `data` cannot be read or used.
    MissingDependencyError
        If files are asked for and matplotlib is not installed.

    Examples
    --------
    >>> report = run("sinusoids", quick=True)
    >>> report.paper, report.holds
    ('Figure 1', 'holds')
    """
    experiment = find(name)
    settings = experiment.settings(
        trials=trials,
        quick=quick,
        seed=seed,
        data=None if data is None else Path(data),
        progress=progress,
    )

    def compute() -> Report:
        start = time.perf_counter()
        outcome = experiment.run(settings)
        return Report(
            name=name,
            paper=experiment.paper,
            title=experiment.title,
            outcome=outcome,
            trials=settings.trials,
            quick=quick,
            seed=settings.seed,
            seconds=time.perf_counter() - start,
        )

    if out is None:
        return compute()
    require_matplotlib()
    folder = check_out(out, name)
    report = compute()
    with replacing(folder) as new:
        files = write(report, new)
    write_summary(folder.parent)
    return replace(report, folder=folder, files=tuple(files))
