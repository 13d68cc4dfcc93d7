"""Help: every command, option and example is there, and every example can be parsed."""

from __future__ import annotations

import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from fastmmd.cli.app import COMMANDS, make_app, unfolded
from fastmmd.cli.output import count, duration, size
from fastmmd.cli.progress import brief, sentence, shortened


def test_help_lists_the_commands(call, run):
    text = call("--help").stdout
    for name in COMMANDS:
        assert f" {name} " in text
    assert "Exit status" in text
    assert call().stdout == text
    assert run("-h").stdout.startswith("Usage: fastmmd COMMAND")


@pytest.mark.parametrize("name", COMMANDS)
def test_help_of_each_command(name, call):
    done = call(name, "--help")
    assert (done.returncode, done.stderr) == (0, "")
    arguments = make_app()[name].assemble_argument_collection(parse_docstring=True)
    assert len(arguments) >= 1
    for argument in arguments:
        # Groups of options have no help of their own.
        if argument.show and argument.parse:
            assert argument.names[0] in done.stdout
            assert argument.parameter.help, argument.names
    for example in COMMANDS[name].examples.splitlines():
        assert example in done.stdout
    assert done.stdout.startswith(f"Usage: fastmmd {name} ")


@pytest.mark.parametrize(
    "example",
    [line for command in COMMANDS.values() for line in command.examples.splitlines()],
)
def test_examples_can_be_parsed(example):
    if example.startswith("eval"):
        example = "fastmmd completion bash"
    words = shlex.split(example.partition(" > ")[0])
    make_app().parse_args(words[1:], exit_on_error=False, print_error=False)


def test_paragraphs_are_unfolded():
    text = """Do it.

    Two lines
    of text.

    Parameters
    ----------
    a
        Some more
        words.
    b
        Others.
    """
    assert unfolded(text).splitlines() == [
        *("Do it.", "", "Two lines of text.", "", "Parameters", "----------"),
        *("a", "    Some more words.", "b", "    Others."),
    ]
    assert unfolded(unfolded(text)) == unfolded(text)


def test_numbers_for_people():
    assert [size(n) for n in (0, 999, 1000, 8_917_000, 3e12, 4e15)] == [
        *("0 bytes", "999 bytes", "1 kB", "8.92 MB", "3 TB", "4e+03 TB"),
    ]
    assert [duration(s) for s in (0.5, 30, 600, 7200)] == [
        *("0.5 s", "30 s", "10 min", "2.0 h"),
    ]
    assert [brief(n) for n in (5, 12_345, 1e6, 3e9)] == ["5", "12.3 k", "1 M", "3 G"]
    assert count(1, "row") == "1 row"
    assert count(2000, "row") == "2,000 rows"
    assert shortened("a" * 40, 10) == "…" + "a" * 9
    assert sentence(5, None, None) == "5 rows"
    assert sentence(5000, 20_000, 1000.0) == (
        "5,000 of 20,000 rows, 1 k rows/s, 0:00:15 left"
    )
    assert sentence(5, 5, 1.0) == "5 rows, 1 rows/s"


def test_the_reference_page_is_up_to_date():
    script = Path(__file__).parents[2] / "docs" / "render_commands.py"
    done = subprocess.run(
        [sys.executable, script, "--check"], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
