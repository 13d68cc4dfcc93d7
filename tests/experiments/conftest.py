"""Settings of an experiment, and one quick run of each with all its files."""

from __future__ import annotations

import pytest

from fastmmd import experiments
from fastmmd.experiments._catalogue import find


def few(name):
    """Return how many trials will do where only files and repeatability matter."""
    return max(2, find(name).fewest_trials)


@pytest.fixture
def settings():
    """Return a function that makes settings of a quick run."""

    def settings(name, **options):
        return find(name).settings(**{"quick": True} | options)

    return settings


@pytest.fixture(scope="session")
def written(tmp_path_factory):
    """Return a function that runs an experiment once, with few trials, into a folder."""
    folder = tmp_path_factory.mktemp("reproduced")
    reports = {}

    def written(name):
        if name not in reports:
            reports[name] = experiments.run(
                name, trials=few(name), quick=True, out=folder
            )
        return reports[name]

    return written
