"""The public names: present, documented, quick to import, and without side effects."""

from __future__ import annotations

import importlib
import inspect
import math
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import fastmmd

SOURCE = Path(fastmmd.__file__).parent

MODULES = {
    "fastmmd": fastmmd,
    "fastmmd.bandwidth": fastmmd.bandwidth,
    "fastmmd.bounds": fastmmd.bounds,
    "fastmmd.circular": fastmmd.circular,
    "fastmmd.datasets": fastmmd.datasets,
    "fastmmd.experiments": importlib.import_module("fastmmd.experiments"),
    "fastmmd.kernels": importlib.import_module("fastmmd.kernels"),
    "fastmmd.tables": fastmmd.tables,
}

PUBLIC = [
    f"{module_name}.{name}"
    for module_name, module in MODULES.items()
    for name in module.__all__
    # What `fastmmd.kernels` has besides the kernels is for those who write backends.
    if not inspect.ismodule(getattr(module, name)) and module_name != "fastmmd.kernels"
]

CONTRACT = [
    *("mmd", "MMDEstimate", "plan", "circular", "bounds"),
    *("Gaussian", "Laplace", "Matern", "RationalQuadratic", "Cauchy", "Mixture"),
    *("SpectralKernel", "Exact", "Fourier", "Fastfood", "Linear", "Block", "Grid"),
    *("circular.circular_discrepancy", "circular.decision_diameter", "circular.ensemble"),
    *("bounds.fourier_bound", "bounds.fourier_frequencies"),
    *("bounds.fastfood_bound", "bounds.fastfood_frequencies"),
]
"""Names promised by the design, as far as estimates are concerned."""


def find(path: str) -> Any:
    found: Any = fastmmd
    for name in path.split("."):
        found = getattr(found, name)
    return found


def resolve(qualified: str) -> Any:
    return find(qualified.removeprefix("fastmmd."))


# --- Names


@pytest.mark.parametrize("name", MODULES)
def test_all_is_sorted_without_repeats_and_resolves(name: str) -> None:
    module = MODULES[name]
    assert list(module.__all__) == sorted(set(module.__all__))
    for entry in module.__all__:
        assert getattr(module, entry) is not None
        assert entry in dir(module)
        assert not entry.startswith("_")


@pytest.mark.parametrize("path", CONTRACT)
def test_the_contract_is_kept(path: str) -> None:
    assert find(path) is not None
    assert path.partition(".")[0] in fastmmd.__all__


@pytest.mark.parametrize(
    ("path", "signature"),
    [
        (
            "mmd",
            "x, y, /, *, kernel='gaussian', method='auto', estimator='unbiased', rng",
        ),
        ("plan", "n_x, n_y, n_columns, kernel='gaussian'"),
        ("Gaussian", "bandwidth"),
        ("Laplace", "bandwidth"),
        ("Matern", "bandwidth, nu"),
        ("RationalQuadratic", "bandwidth, alpha"),
        ("Cauchy", "bandwidth"),
        ("Mixture", "kernels, weights"),
        ("SpectralKernel", "sampler"),
        ("Exact", ""),
        ("Fourier", "n_frequencies=1024, sampling='auto', frequencies=None"),
        ("Fastfood", "n_frequencies"),
        ("Linear", ""),
        ("Block", "size=None"),
        ("Grid", "tolerance"),
    ],
)
def test_signatures_of_the_contract(path: str, signature: str) -> None:
    written = str(inspect.signature(find(path), eval_str=False))
    # Leave out annotations: `kernel: Kernel | str = "gaussian"` becomes kernel='gaussian'.
    bare = re.sub(r": '[^']*'", "", written.partition(" -> ")[0]).replace(" = ", "=")
    assert bare.startswith("(" + signature)


def test_methods_answer_to_their_names() -> None:
    for name in ("exact", "fourier", "fastfood", "linear", "block", "grid"):
        method = getattr(fastmmd, name.capitalize())()
        assert method.name == name


def test_results_have_the_promised_fields() -> None:
    result = fastmmd.mmd([0.0, 1.0], [1.0, 3.0])
    for field in ("mmd2", "mmd", "standard_error", "method", "kernel", "n_x", "n_y"):
        assert hasattr(result, field)


def test_errors_derive_from_built_in_ones() -> None:
    assert issubclass(fastmmd.UndefinedEstimateError, ValueError)
    assert issubclass(fastmmd.UnsupportedKernelError, ValueError)
    assert issubclass(fastmmd.MissingDependencyError, ImportError)
    assert issubclass(fastmmd.ToleranceWarning, UserWarning)


def test_version_and_unknown_names() -> None:
    assert re.match(r"\d+\.\d+", fastmmd.__version__)
    with pytest.raises(AttributeError, match=r"module 'fastmmd' has no attribute 'mdm'"):
        fastmmd.mdm  # noqa: B018


# --- Docstrings

ALWAYS = {
    "GL01",  # text starts on the first line
    "GL03",  # double blank lines
    "GL05",  # tabs
    "GL06",  # unknown section
    "GL08",  # no docstring
    "SS01",  # no summary
    "SS02",  # summary without capital letter
    "SS03",  # summary without full stop
    "SS04",  # summary with leading spaces
    "SS06",  # summary of more than one line
    "PR01",  # a parameter that is not documented
    "PR02",  # a documented parameter that does not exist
    "PR03",  # parameters in another order
    "PR07",  # a parameter without description
    "PR10",  # no space before the colon
    "RT01",  # no Returns section
    "RT03",  # a return value without description
    "YD01",  # no Yields section
    "SA02",  # See Also without full stop
    "SA04",  # See Also without description
    "EX01",  # no example
}


def wanted(thing: Any) -> set[str]:
    """Return which of numpydoc's complaints count for a public object."""
    codes = set(ALWAYS)
    if not inspect.isclass(thing):
        return codes
    if issubclass(thing, Exception) or inspect.isabstract(thing):
        codes -= {"EX01"}
    if "\nAttributes\n" in inspect.cleandoc(thing.__doc__ or ""):
        # A result: users read its fields and never call its constructor, and the function
        # that returns it has the example.
        codes -= {"EX01", "PR01"}
    return codes


@pytest.mark.parametrize("qualified", PUBLIC)
def test_docstrings(qualified: str) -> None:
    validate = pytest.importorskip("numpydoc.validate").validate
    codes = wanted(resolve(qualified))
    complaints = [
        f"{code} {text}" for code, text in validate(qualified)["errors"] if code in codes
    ]
    assert not complaints


@pytest.mark.parametrize("qualified", PUBLIC)
def test_public_members_have_a_docstring(qualified: str) -> None:
    thing = resolve(qualified)
    if not inspect.isclass(thing):
        return
    for name, member in inspect.getmembers(thing):
        if name.startswith("_") or not (
            inspect.isroutine(member) or isinstance(member, property)
        ):
            continue
        function = member.fget if isinstance(member, property) else member
        if (getattr(function, "__module__", None) or "").startswith("fastmmd"):
            assert inspect.getdoc(getattr(thing, name)), f"{qualified}.{name}"


@pytest.mark.parametrize("name", MODULES)
def test_modules_have_a_docstring(name: str) -> None:
    summary = (MODULES[name].__doc__ or "").strip().partition("\n")[0]
    assert summary
    assert summary[-1] in ".?"


# --- Importing


def run(code: str, *options: str) -> str:
    """Run Python code with the package that is under test, and return what it prints."""
    environment = os.environ | {"PYTHONPATH": str(SOURCE.parent)}
    command = [sys.executable, "-W", "error", *options, "-c", code]
    return subprocess.run(
        command, env=environment, capture_output=True, text=True, check=True, timeout=60
    ).stdout


def test_importing_loads_nothing_it_does_not_need() -> None:
    loaded = run("import sys, fastmmd; print(fastmmd.__file__, *sys.modules)").split()
    assert Path(loaded[0]).parent == SOURCE
    heavy = {"scipy", "finufft", "torch", "pandas", "pyarrow", "matplotlib", "dask"}
    heavy |= {"cyclopts", "rich", "pyspark", "ray", "narwhals", "numba"}
    heavy |= {"multiprocessing", "importlib.metadata", "concurrent.futures"}
    own = set(loaded[1:]) - set(run("import sys, numpy; print(*sys.modules)").split())
    assert not {name for name in own if name in heavy or name.split(".")[0] in heavy}


def test_a_dense_estimate_loads_no_scipy_sparse() -> None:
    code = (
        "import sys, fastmmd; "
        "fastmmd.mmd([0.0, 1.0], [1.0, 2.0], kernel=fastmmd.Gaussian(1.0)); "
        "print(*sys.modules)"
    )
    assert "scipy" not in run(code).split()


def test_importing_is_silent_and_draws_no_random_numbers() -> None:
    code = (
        "import numpy as np; np.random.seed(1); import fastmmd; print(np.random.random())"
    )
    assert run(code) == run(code.replace("import fastmmd; ", ""))


def test_importing_takes_little_more_than_numpy() -> None:
    clock = (
        "import time; start = time.process_time(); {}; print(time.process_time() - start)"
    )

    def processor_seconds(what: str) -> float:
        return float(run(clock.format(what)))

    # Processor time, and the least of several interleaved runs: other programs on the
    # machine can only add to it.
    numpy = package = math.inf
    for _ in range(7):
        numpy = min(numpy, processor_seconds("import numpy"))
        package = min(package, processor_seconds("import fastmmd"))
        if package <= 1.5 * numpy + 0.05:
            return
    pytest.fail(f"import fastmmd takes {package:.3f} s, import numpy {numpy:.3f} s")


# --- The source tree


def test_the_source_names_no_machine() -> None:
    places = re.compile(
        r"/(work|home|root|tmp|Users|mnt|opt|scratch|var)/\w|[A-Z]:\\\\\w"
        r"|\b\w+@\w+\.(com|org|edu)\b|\blocalhost\b|\b\d+\.\d+\.\d+\.\d+\b"
    )
    files = [
        path
        for path in SOURCE.rglob("*")
        if path.suffix in {".py", ".pyi", ".json", ".typed", ".cpp", ".h", ".md", ".txt"}
    ]
    assert len(files) > 20
    found = [
        f"{path.relative_to(SOURCE)}:{number}: {line.strip()}"
        for path in files
        for number, line in enumerate(path.read_text("utf-8").splitlines(), 1)
        if places.search(line)
    ]
    assert not found


def test_the_package_says_that_it_is_typed() -> None:
    assert (SOURCE / "py.typed").is_file()


def test_every_module_postpones_annotations() -> None:
    for path in SOURCE.rglob("*.py"):
        text = path.read_text("utf-8")
        assert "from __future__ import annotations" in text, path.name
