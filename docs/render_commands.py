"""Render the commands and options of ``fastmmd`` into ``docs/reference/command-line.md``.

The text is that of the program's own help. With ``--check`` nothing is written, and the exit
status is 1 if the page would change.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

from fastmmd.cli.app import COMMANDS, EPILOGUE, HELP, make_app, unfolded

PAGE = Path(__file__).parent / "reference" / "command-line.md"


def render() -> str:
    """Return the page."""
    app = make_app()
    lines = ["# Command line", "", plain(HELP), ""]
    for name, command in COMMANDS.items():
        text = plain(
            unfolded(command.function.__doc__ or "").partition("\nParameters\n")[0]
        )
        lines += [f"## fastmmd {name}", "", "```text"]
        lines += [f"fastmmd {name} {command.usage}", "```", "", text, ""]
        group = None
        for argument in app[name].assemble_argument_collection(parse_docstring=True):
            if not (argument.show and argument.parse):
                continue
            title = str(argument.parameter.group[0].name)
            if title != group:
                lines += [f"**{title}**", ""]
                group = title
            lines += [f"`{usage(argument)}`", f": {about(argument)}", ""]
        lines += ["**Examples**", "", "```sh", command.examples, "```", ""]
    lines += ["## Exit status", "", plain(EPILOGUE), ""]
    return "\n".join(lines).rstrip() + "\n"


def usage(argument: Any) -> str:
    """Return the names of an option with what follows them."""
    names = ", ".join(argument.names)
    if not argument.names[0].startswith("-") or argument.hint is bool:
        return names
    choices = argument.get_choices()
    if choices:
        return f"{names} {{{','.join(choices)}}}"
    value = argument.parameter.metavar or {"int": "N", "float": "X"}.get(
        kind(argument), ""
    )
    return f"{names} {value or 'TEXT'}"


def about(argument: Any) -> str:
    """Return the help of an option with its default."""
    text = plain(argument.parameter.help or "")
    default = argument.field_info.default
    shown = argument.hint is not bool and isinstance(default, (int, float, str))
    if argument.required:
        return f"{text} Required."
    return f"{text} By default `{default}`." if shown else text


def kind(argument: Any) -> str:
    """Return the name of the type of an option's value."""
    named = [t for t in ("int", "float") if t in str(argument.hint)]
    return named[0] if named else ""


def plain(text: str) -> str:
    """Return text of the help as Markdown: stars and brackets mean themselves."""
    for character in "*<[":
        text = text.replace(character, f"\\{character}")
    return unfolded(text).replace(" --", " \\--")


def main() -> int:
    """Write the page, or compare it."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--check", action="store_true", help="write nothing, only compare"
    )
    options = parser.parse_args()
    text = render()
    if PAGE.exists() and PAGE.read_text(encoding="utf-8") == text:
        return 0
    if options.check:
        sys.stderr.write(f"docs/reference/{PAGE.name} is not up to date.\n")
        return 1
    PAGE.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
