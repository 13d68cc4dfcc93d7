"""Which experiments there are. Each is a module with one `EXPERIMENT`."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

from fastmmd._validation import check_choice

if TYPE_CHECKING:
    from fastmmd.experiments._experiment import Experiment

NAMES = ("sinusoids",)
"""In the order of the paper; each is the name of its module, too."""


def find(name: str, /) -> Experiment:
    """Return an experiment by its name; its module is loaded only now."""
    check_choice(name, NAMES, name="name")
    found: Experiment = importlib.import_module(f"fastmmd.experiments.{name}").EXPERIMENT
    return found
