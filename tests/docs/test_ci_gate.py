"""The examples of a gate: they open for good data, close for others, and say which."""

from __future__ import annotations

import json
import shutil
import subprocess

import numpy as np
import pages
import pytest

pa = pytest.importorskip("pyarrow")
yaml = pytest.importorskip("yaml")

import pyarrow.parquet as pq

from fastmmd.tables import sketch_source

EXAMPLES = pages.ROOT / "examples" / "ci_gate"


def write(path, n, moved, seed):
    rng = np.random.default_rng(seed)
    table = {name: rng.normal(size=n) for name in ("mass", "speed")}
    table["speed"] = table["speed"] + moved
    table["kind"] = rng.choice(["a", "b"], n)
    pq.write_table(pa.table(table), path)


@pytest.fixture(params=[("good", 0), ("moved", 1)], ids=lambda p: p[0])
def folder(request, tmp_path):
    """Return a checkout with a reference and data of today, and the status expected."""
    home, (_, status) = tmp_path / "checkout", request.param
    shutil.copytree(EXAMPLES, home)
    write(home / "old.parquet", 3000, 0.0, 0)
    write(home / "today.parquet", 2000, 0.5 * status, 1)
    sketch_source(home / "old.parquet").save(home / "reference.mmd")
    return home, status


@pytest.fixture
def sh(shell_environment):
    """Return a function that runs a line as a pipeline does."""

    def sh(line, folder):
        return subprocess.run(
            ["bash", "-e", "-c", line],
            env=shell_environment,
            cwd=folder,
            capture_output=True,
            text=True,
            check=False,
            timeout=120,
        )

    return sh


def steps_of(name):
    """Return the commands of a pipeline, without those that install."""
    content = yaml.safe_load((EXAMPLES / name).read_text("utf-8"))
    if name == "github.yml":
        (job,) = content["jobs"].values()
        steps = [step["run"] for step in job["steps"] if "run" in step]
    elif name == "gitlab.yml":
        assert content["data-drift"]["allow_failure"]["exit_codes"] == 1
        steps = content["data-drift"]["script"]
    else:
        steps = [hook["entry"] for repo in content["repos"] for hook in repo["hooks"]]
    return [step for step in steps if not step.startswith("pip install")]


@pytest.mark.parametrize("name", ["github.yml", "gitlab.yml", "pre-commit-config.yaml"])
def test_pipelines(name, folder, sh):
    home, status = folder
    (step,) = steps_of(name)
    done = sh(step, home)
    assert (done.returncode, done.stderr) == (status, "")
    if "drift.json" in step:
        result = json.loads((home / "drift.json").read_text("utf-8"))
        assert (result["pvalue"] <= 0.0005) == bool(status)
        # The level is within reach of the p-values.
        assert 1 / (1 + result["n_resamples"]) < result["level"]


def test_gate(folder, sh):
    home, status = folder
    done = sh("./gate.sh reference.mmd today.parquet", home)
    assert done.returncode == status
    assert done.stdout + done.stderr in ("no drift\n", "drift: see drift.json\n")


def test_gate_that_is_broken(folder, sh):
    done = sh("./gate.sh reference.mmd nothing.parquet", folder[0])
    assert done.returncode == 2
    assert "the gate could not run" in done.stderr


def test_columns(folder, sh):
    home, status = folder
    done = sh("./columns.sh old.parquet today.parquet mass speed kind", home)
    assert done.returncode == status
    assert done.stdout == ("speed drifted\n" if status else "")


def test_columns_that_are_not_there(folder, sh):
    done = sh("./columns.sh old.parquet today.parquet mass height", folder[0])
    assert done.returncode == 2


def test_pytest_example(folder, sh):
    home, status = folder
    done = sh("pytest -q -p no:cacheprovider -p no:randomly test_drift.py", home)
    assert done.returncode == status, done.stdout
    assert ("The samples differ at level 0.00054" in done.stdout) == bool(status)
