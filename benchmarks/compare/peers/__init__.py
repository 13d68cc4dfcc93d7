"""One module a peer; each lists what it can do in ``WAYS``."""

from __future__ import annotations

# In the order of the tables.
NAMES = {
    "fastmmd_": "FastMMD",
    "numpy_textbook": "NumPy, textbook",
    "numpy_blocked": "NumPy, float32 blocks",
    "numpy_exact": "NumPy, all pairs",
    "numpy_btest": "NumPy, B-test",
    "scikit_learn": "scikit-learn",
    "pytorch": "PyTorch",
    "keops": "KeOps",
    "goodpoints_": "goodpoints",
    "hyppo_": "hyppo",
    "dcor_": "dcor",
    "ceiling": "the machine",
}
PACKAGES = (
    "fastmmd",
    "numpy",
    "scipy",
    "scikit-learn",
    "torch",
    "pykeops",
    "goodpoints",
    "hyppo",
    "dcor",
)
