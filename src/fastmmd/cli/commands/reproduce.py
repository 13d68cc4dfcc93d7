"""``fastmmd reproduce``: the figures and the table of the paper, with verdicts."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from fastmmd.cli.errors import UsageError
from fastmmd.cli.options import DEFAULT_OUTPUT, Flag, Output
from fastmmd.cli.output import Fields, count, duration, write_json, write_report
from fastmmd.cli.progress import watching_experiments

if TYPE_CHECKING:
    from fastmmd.experiments import Report

_ALL = "all"


def reproduce(
    *names: Annotated[str, Parameter(name="name", metavar="NAME")],
    trials: int | None = None,
    out: Annotated[Path, Parameter(metavar="FOLDER")] = Path("fastmmd-reproduced"),
    quick: Flag = False,
    seed: int = 0,
    data: Annotated[Path | None, Parameter(metavar="FILE")] = None,
    list_: Annotated[Flag, Parameter(name="--list")] = False,
    output: Output = DEFAULT_OUTPUT,
) -> int:
    """Compute the figures of the FastMMD paper again and say which of its claims hold.

    Each experiment writes its numbers (CSV), its picture (PNG and SVG, for light and dark
    pages) and a verdict on each claim, by a rule that it states, into a folder of its own.
    Without a name the experiments are listed. All of them take ten minutes on two cores, with
    --quick half a minute.

    Parameters
    ----------
    names
        Experiments, or "all".
    trials
        Repetitions; by default those of the paper.
    out
        Where to write, by default fastmmd-reproduced; files are replaced only when complete.
    quick
        Rough answers: fewer repetitions and smaller sizes.
    seed
        Source of all randomness: the same seed gives the same numbers, times apart.
    data
        Data of your own, for an experiment that takes some.
    list_
        Only list the experiments.
    """
    from fastmmd import experiments

    if list_ or not names:
        return _list(output)
    chosen = _chosen(names, experiments.names())
    takers = _takers_of_data(chosen) if data is not None else ()
    reports: list[Report] = []
    with watching_experiments(len(chosen), quiet=output.quiet or output.json) as watcher:
        for name in chosen:
            watcher.start(name)
            report = experiments.run(
                name,
                trials=trials,
                quick=quick,
                seed=seed,
                out=out,
                data=data if name in takers else None,
                progress=watcher,
            )
            reports.append(report)
            with watcher.ended():
                if not output.json:
                    write_report(_headline(report), _fields(report))
    if output.json:
        write_json({"experiments": [report.to_dict() for report in reports]})
    return 0


def _chosen(names: tuple[str, ...], known: tuple[str, ...]) -> tuple[str, ...]:
    """Return the names of the experiments to run, each once."""
    if _ALL in names:
        return known
    for name in names:
        if name not in known:
            listed = ", ".join((*known, _ALL))
            msg = f"`{name}` must be the name of an experiment: {listed}."
            raise UsageError(msg)
    return tuple(dict.fromkeys(names))


def _takers_of_data(chosen: tuple[str, ...]) -> tuple[str, ...]:
    """Return the experiments that can use data of the user's own."""
    from fastmmd.experiments import describe

    takers = [each["name"] for each in describe() if each["takes_data"]]
    found = tuple(name for name in chosen if name in takers)
    if not found:
        which = f"only {', '.join(takers)} can use it" if takers else "none can use it"
        msg = f"--data must be left out: of the experiments {which}."
        raise UsageError(msg)
    return found


def _list(output: Output) -> int:
    from fastmmd.experiments import describe

    found: list[dict[str, Any]] = describe()
    if output.json:
        write_json({"experiments": found})
        return 0
    fields = [(each["name"], f"{each['paper']}: {each['title']}") for each in found]
    write_report("Experiments of the paper:", fields)
    write_report("\nTry next:", [("", "fastmmd reproduce all --quick")])
    return 0


def _headline(report: Report) -> str:
    return f"{report.name}, {report.paper}: {report.holds}."


def _fields(report: Report) -> Fields:
    fields: Fields = []
    for verdict in report.verdicts:
        fields += [("claim", verdict.claim), ("measured", verdict.measured)]
        fields.append((verdict.holds, verdict.rule))
    fields += [("note", note) for note in report.outcome.notes]
    took = f"{count(report.trials, 'trial')}, {duration(report.seconds)}"
    where = os.fspath(report.folder) if report.folder is not None else ""
    return [*fields, ("run", took), ("files", f"{len(report.files)} in {where}")]
