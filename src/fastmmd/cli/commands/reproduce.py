"""``fastmmd reproduce``: the figures and the table of the paper, with verdicts."""

from __future__ import annotations

import difflib
import os
import re
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
_OUT = "fastmmd-reproduced"
_OF_THE_PAPER = re.compile(r"\b(fig|figure|table)\.? ?(\d+)\b", re.IGNORECASE)


def reproduce(
    *names: Annotated[str, Parameter(name="name", metavar="NAME")],
    trials: int | None = None,
    out: Annotated[str, Parameter(metavar="FOLDER")] = _OUT,
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
        Experiments, by name or as figure5, or "all".
    trials
        Repetitions; by default those of the paper. At least 6 for flowchart, 2 for most.
    out
        Where to write; files are replaced only when complete.
    quick
        Rough answers: fewer repetitions and smaller sizes, and marked as such.
    seed
        Source of all randomness: the same seed gives the same numbers, times apart.
    data
        Data of your own, for an experiment that takes some.
    list_
        Only list the experiments.
    """
    from fastmmd import experiments

    asked = quick or seed != 0 or out != _OUT or trials is not None or data is not None
    if list_ or not (names or asked):
        return _list(output)
    chosen = _chosen(names, experiments.names())
    takers = _takers_of_data(chosen) if data is not None else ()
    _check(chosen, takers, trials=trials, seed=seed, out=out, data=data)
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
    words = _names_of_figures(names)
    if not words:
        msg = (
            f"reproduce needs the name of an experiment, or `{_ALL}`; got none. `fastmmd "
            "reproduce` lists them."
        )
        raise UsageError(msg)
    choices = (*known, _ALL)
    for word in words:
        if word not in choices:
            near = difflib.get_close_matches(word.lower(), choices, n=1)
            hint = f" Did you mean `{near[0]}`?" if near else ""
            listed = ", ".join(choices)
            msg = f"`{word}` must be the name of an experiment: {listed}.{hint}"
            raise UsageError(msg)
    return known if _ALL in words else tuple(dict.fromkeys(words))


def _names_of_figures(names: tuple[str, ...]) -> list[str]:
    """Return the words, with the name of the experiment for `fig5`, `Figure 5`, `table 1`."""
    from fastmmd.experiments import describe

    by_paper = {each["paper"].lower(): each["name"] for each in describe()}

    def name(match: re.Match[str]) -> str:
        kind = "table" if match[1].lower() == "table" else "figure"
        return by_paper.get(f"{kind} {match[2]}", match[0].replace(" ", ""))

    return _OF_THE_PAPER.sub(name, " ".join(names)).split()


def _check(
    chosen: tuple[str, ...],
    takers: tuple[str, ...],
    *,
    trials: int | None,
    seed: int,
    out: str,
    data: Path | None,
) -> None:
    """Raise for what any of the experiments would refuse, before the first of them runs."""
    from fastmmd.experiments._catalogue import find
    from fastmmd.experiments._write import check_out

    # The one that asks for most first: what it takes, the others take, too.
    for name in sorted(chosen, key=lambda name: -find(name).fewest_trials):
        find(name).settings(trials=trials, seed=seed)
        check_out(out, name)
    for name in takers:
        find(name).settings(data=data)


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
    from fastmmd.experiments._report import QUICK

    fields: Fields = []
    for verdict in report.verdicts:
        fields += [("claim", verdict.claim), ("measured", verdict.measured)]
        fields.append((verdict.holds, verdict.rule))
    fields += [("note", note) for note in report.outcome.notes]
    if report.quick:
        fields.append(("quick", QUICK[:1].upper() + QUICK[1:] + "."))
    took = f"{count(report.trials, 'trial')}, {duration(report.seconds)}"
    where = os.fspath(report.folder) if report.folder is not None else ""
    return [*fields, ("run", took), ("files", f"{len(report.files)} in {where}")]
