"""No block of code on a page is left unchecked, and this is how each kind is checked.

``pycon``, and ``python`` with prompts: run by pytest as doctests. ``console``: run by
`test_console`. ``sh``: lines that need a package index or data of the reader's; here their
words are checked. ``python`` without prompts: run by the tests named below. Files that are
shown as a whole are examples with tests of their own.
"""

from __future__ import annotations

import ast
import re
import shlex
import tomllib

import pages
import pytest

BLOCKS = [block for path in pages.pages() for block in pages.blocks(path)]

RUN_ELSEWHERE = {
    # By `make test-engines`, each in the environment of its engine.
    "docs/how-to/from-laptop-to-cluster.md": "tests/engine_data.py",
    "docs/sketch-format.md": "tests/unit/test_sketch_file.py",
}
EXAMPLES = {
    "examples/ci_gate/": "tests/docs/test_ci_gate.py",
    "examples/torch_": "tests/docs/test_torch_examples.py",
}
PROSE = {"text", "{include}", "{toctree}", "{picture}", "{eval-rst}"}


def of_language(*languages):
    found = [block for block in BLOCKS if block.language in languages]
    return pytest.mark.parametrize("block", found, ids=[b.place for b in found])


def test_blocks_are_found():
    assert len(BLOCKS) > 100
    assert {block.page for block in BLOCKS} >= {"README.md", "docs/index.md"}


@pytest.mark.parametrize("block", BLOCKS, ids=[block.place for block in BLOCKS])
def test_every_block_is_checked_somehow(block):
    known = PROSE | {"console", "pycon", "python", "sh", "{literalinclude}"}
    assert block.language in known


def test_pytest_runs_the_prompts():
    configured = tomllib.loads((pages.ROOT / "pyproject.toml").read_text("utf-8"))
    options = configured["tool"]["pytest"]["ini_options"]
    assert {"README.md", "docs"} <= set(options["testpaths"])
    assert "--doctest-glob=*.md" in options["addopts"]


@of_language("pycon")
def test_prompts(block):
    assert block.text.startswith(">>> ")
    # Otherwise the fence would be taken for output.
    assert block.text.endswith("\n\n")


@of_language("python")
def test_code_without_prompts_is_run_by_a_test(block):
    if ">>> " in block.text:
        test_prompts(block)
        return
    ast.parse(block.text)
    test = pages.ROOT / RUN_ELSEWHERE[block.page]
    assert block.page.removeprefix("docs/").rpartition("/")[2] in test.read_text("utf-8")


@of_language("{literalinclude}")
def test_files_shown_have_tests(block):
    file = (pages.ROOT / block.page).parent / block.argument
    name = str(file.resolve().relative_to(pages.ROOT))
    assert file.is_file()
    tests = [test for start, test in EXAMPLES.items() if name.startswith(start)]
    assert tests
    assert file.name in (pages.ROOT / tests[0]).read_text("utf-8")
    shown = re.search(r":pyobject: (\w+)", block.text)
    if shown:
        assert f"def {shown[1]}(" in file.read_text("utf-8")


@of_language("sh")
def test_lines_for_a_shell(block):
    joined = block.text.replace("\\\n", " ")
    for line in joined.splitlines():
        words = shlex.split(line, comments=True)
        if words:
            check_words(words)


def test_twenty_lines():
    first = pages.blocks(pages.DOCS / "explanation" / "how-it-works.md")[0]
    assert sum(line.startswith((">>>", "...")) for line in first.text.splitlines()) == 20


def check_words(words):
    """Check a command that cannot be run here."""
    program = words[0].rpartition("/")[2]
    match program:
        case "pip" | "python" | "python3":
            for extra in re.findall(r"\[([\w,]+)\]", " ".join(words)):
                assert set(extra.split(",")) <= extras()
        case "make":
            targets = re.findall(r"^([\w-]+):", makefile(), flags=re.MULTILINE)
            assert set(words[1:]) <= set(targets)
        case "fastmmd":
            app = pytest.importorskip("fastmmd.cli.app").make_app()
            until = next((i for i, word in enumerate(words) if word == ">"), len(words))
            app.parse_args(words[1:until], exit_on_error=False, print_error=False)
        case "eval":
            assert words[1] == "$(fastmmd completion bash)"
        case _:
            pytest.fail(f"how is {program} checked?")


def extras():
    configured = tomllib.loads((pages.ROOT / "pyproject.toml").read_text("utf-8"))
    return set(configured["project"]["optional-dependencies"])


def makefile():
    return (pages.ROOT / "Makefile").read_text("utf-8")
