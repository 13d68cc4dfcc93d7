"""The commands together, and how one run of them ends."""

from __future__ import annotations

import inspect as inspect_module
import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import final

from cyclopts import App, CycloptsError

from fastmmd.cli.commands.compare import compare
from fastmmd.cli.commands.completion import completion
from fastmmd.cli.commands.demo import demo
from fastmmd.cli.commands.inspect import inspect
from fastmmd.cli.commands.merge import merge
from fastmmd.cli.commands.plan import plan
from fastmmd.cli.commands.reproduce import reproduce
from fastmmd.cli.commands.sketch import sketch
from fastmmd.cli.commands.test import run_test
from fastmmd.cli.errors import INTERRUPTED, PIPE_CLOSED, USAGE, explain, usage_message
from fastmmd.cli.options import OPTION_GROUPS
from fastmmd.cli.output import say


@final
@dataclass(frozen=True, slots=True)
class Command:
    """A command, the words that it takes, and examples shown below its help."""

    function: Callable[..., int]
    usage: str
    examples: str


# Commands that come with other parts of the package are added here.
COMMANDS = {
    "test": Command(
        run_test,
        "A [B] [OPTIONS]",
        """\
fastmmd test july.csv october.csv
fastmmd test flights.parquet --by year=2017,2018 --exclude flight,tail_number
fastmmd test 's3://bucket/2017/*.parquet' 's3://bucket/2018/*.parquet'
fastmmd test reference.mmd today.parquet --json --fail-on-difference""",
    ),
    "sketch": Command(
        sketch,
        "DATA... -o FILE [OPTIONS]",
        """\
fastmmd sketch january.parquet -o january.mmd
fastmmd sketch february.parquet -o february.mmd --like january.mmd
fastmmd sketch 'logs/*.csv.gz' -o logs.mmd --missing drop --resume""",
    ),
    "merge": Command(
        merge,
        "FILE... -o FILE [OPTIONS]",
        """\
fastmmd merge january.mmd february.mmd march.mmd -o quarter.mmd
fastmmd merge days/*.mmd -o year.mmd""",
    ),
    "compare": Command(
        compare,
        "A B [OPTIONS]",
        """\
fastmmd compare january.mmd february.mmd
fastmmd compare reference.mmd today.mmd --level 0.01 --fail-on-difference""",
    ),
    "inspect": Command(
        inspect,
        "FILE [OPTIONS]",
        """\
fastmmd inspect january.mmd
fastmmd inspect flights.parquet
fastmmd inspect data/ --json""",
    ),
    "plan": Command(
        plan,
        "A [B] [OPTIONS]",
        """\
fastmmd plan july.csv october.csv
fastmmd plan flights.parquet --by year=2017,2018 --threads 8""",
    ),
    "demo": Command(
        demo,
        "[FOLDER] [OPTIONS]",
        """\
fastmmd demo
fastmmd demo somewhere""",
    ),
    "reproduce": Command(
        reproduce,
        "[NAME...] [OPTIONS]",
        """\
fastmmd reproduce
fastmmd reproduce all --quick
fastmmd reproduce approximation --trials 200 --out figures""",
    ),
    "completion": Command(
        completion,
        "SHELL",
        """\
eval "$(fastmmd completion bash)"
fastmmd completion zsh > ~/.zfunc/_fastmmd
fastmmd completion fish > ~/.config/fish/completions/fastmmd.fish""",
    ),
}

HELP = """\
Tell whether two data sets come from one distribution, and how far apart they are.

Data are files or folders of Parquet, CSV, Arrow, JSON lines or NumPy, patterns in quotes, or
URLs such as s3://bucket/folder. Sketches (.mmd) are summaries of a few megabytes that stand
for any number of rows."""

EPILOGUE = """\
Exit status: 0 the command worked, 1 the data differ (with --fail-on-difference), 2 wrong
usage, 3 data that cannot be read or used, 130 interrupted.

New here? Run "fastmmd demo" for sample data and the first commands to try."""


def make_app() -> App:
    """Return the application with all its commands."""
    app = App(
        name="fastmmd",
        help=unfolded(HELP),
        help_epilogue=unfolded(EPILOGUE),
        help_format="plaintext",
        version=_version,
        version_format="plaintext",
        result_action="return_value",
        exit_on_error=False,
        print_error=False,
        suppress_keyboard_interrupt=False,
    )
    for place, (name, command) in enumerate(COMMANDS.items()):
        for documented in (command.function, *OPTION_GROUPS):
            documented.__doc__ = unfolded(documented.__doc__ or "")
        indented = command.examples.replace("\n", "\n  ")
        app.command(
            command.function,
            name=name,
            sort_key=place,
            usage=f"Usage: fastmmd {name} {command.usage}",
            help_epilogue=f"Examples:\n\n  {indented}",
        )
    return app


def unfolded(text: str, /) -> str:
    """Return text with each paragraph on one line: a terminal has its own width."""
    lines: list[str] = []
    for line in inspect_module.cleandoc(text).splitlines():
        before = lines[-1] if lines else ""
        ruled = "---" in before + line  # the heading of a section, and what follows
        same = _indentation(before) == _indentation(line)
        if before.strip() and line.strip() and same and not ruled:
            lines[-1] = f"{before} {line.strip()}"
        else:
            lines.append(line)
    return "\n".join(lines)


def _indentation(line: str) -> int:
    return len(line) - len(line.lstrip())


def run(arguments: Sequence[str], /) -> int:
    """Run one command; whatever happens becomes an exit status and one line."""
    for stream in (sys.stdout, sys.stderr):
        # A name that the terminal's encoding lacks must not end the command.
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
    app = make_app()
    debug = "--debug" in arguments
    try:
        status = _run(app, arguments, debug=debug)
        sys.stdout.flush()
    except BrokenPipeError:
        status = PIPE_CLOSED
    if status == PIPE_CLOSED:
        # Python flushes once more when it ends, and would complain there.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return status


def _run(app: App, arguments: Sequence[str], *, debug: bool) -> int:
    try:
        return app(list(arguments)) or 0
    except CycloptsError as error:
        say("error", usage_message(error, arguments))
        return USAGE
    except KeyboardInterrupt as error:
        say("error", str(error) or "interrupted.")
        return INTERRUPTED
    except BrokenPipeError:
        raise
    except SystemExit as end:
        # Help is written by rich, which ends the program like this if the pipe is closed.
        return PIPE_CLOSED if end.code == 1 else int(end.code or 0)
    except Exception as error:  # noqa: BLE001 - the end of the line for every error
        if debug:
            import traceback

            traceback.print_exc()
        message, status = explain(error)
        say("error", message)
        return status


def _version() -> str:
    import fastmmd

    return str(fastmmd.__version__)
