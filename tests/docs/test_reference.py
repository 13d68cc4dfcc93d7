"""The reference names everything that is public, and nothing that is not there."""

from __future__ import annotations

import ast
import importlib
import inspect
import re

import pages
import pytest

import fastmmd

INDEX = pages.DOCS / "reference" / "index.md"
MODULES = sorted(n for n in fastmmd.__all__ if inspect.ismodule(getattr(fastmmd, n)))
ENGINES = ("dask", "ray", "spark")
BY_NAME = ("fastmmd", "fastmmd.tables", *(f"fastmmd.engines.{e}" for e in ENGINES))
"""Modules whose names have pages of their own; others have one page for the module."""


def listed():
    """Return the full names in the tables of the reference."""
    found = []
    for block in re.findall(
        r"```\{eval-rst\}\n(.*?)```", INDEX.read_text("utf-8"), re.DOTALL
    ):
        module = "fastmmd"
        for line in block.splitlines():
            current = re.match(r"\.\. currentmodule:: (\S+)", line)
            module = current[1] if current else module
            name = re.match(r"   ([\w.]+)$", line)
            if name:
                found.append(f"{module}.{name[1]}")
    return found


def public(module):
    """Return what a module says is public, without importing its engine."""
    path = pages.ROOT / "src" / module.replace(".", "/")
    file = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
    for node in ast.parse(file.read_text("utf-8")).body:
        if isinstance(node, ast.Assign) and node.targets[0].id == "__all__":
            return ast.literal_eval(node.value)
    pytest.fail(f"{module} has no __all__")


def test_names_are_listed_once():
    assert len(listed()) == len(set(listed())) > 60


@pytest.mark.parametrize("module", BY_NAME)
def test_every_public_name_has_a_page(module):
    wanted = {f"{module}.{name}" for name in public(module)}
    wanted -= {f"fastmmd.{name}" for name in MODULES}
    assert wanted <= set(listed())


@pytest.mark.parametrize("module", MODULES)
def test_every_public_module_has_a_page(module):
    qualified = f"fastmmd.{module}"
    assert qualified in listed() or qualified in BY_NAME


@pytest.mark.parametrize(
    "name", [n for n in listed() if not n.startswith("fastmmd.engines.")]
)
def test_names_exist_and_have_examples(name):
    module, _, last = name.rpartition(".")
    thing = getattr(importlib.import_module(module), last)
    things = [thing]
    if inspect.ismodule(thing):
        things = [getattr(thing, entry) for entry in thing.__all__]
    for each in things:
        assert ">>> " in each.__doc__, each


@pytest.mark.parametrize("engine", ENGINES)
def test_names_of_engines_exist(engine):
    start = f"fastmmd.engines.{engine}."
    mine = [name.removeprefix(start) for name in listed() if name.startswith(start)]
    assert sorted(mine) == sorted(public(f"fastmmd.engines.{engine}"))
