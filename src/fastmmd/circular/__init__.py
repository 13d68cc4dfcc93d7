"""The geometry behind the mean discrepancy: samples wrapped around a circle.

One frequency ``w`` sends a row ``x`` to the angle ``w @ x`` on the unit circle. The
circular discrepancy compares two samples there, and its root mean square over the
frequencies of a kernel is the MMD (Zhao and Meng 2015, section 3). Seen this way the MMD
is one of many: `ensemble` takes other norms over frequencies, and the earth mover's
distance in place of the sine.
"""

from __future__ import annotations

from fastmmd.circular.angles import project
from fastmmd.circular.discrepancy import (
    DecisionDiameter,
    circular_discrepancy,
    circular_discrepancy_by_supremum,
    decision_diameter,
    objective,
)
from fastmmd.circular.earth_mover import circular_earth_mover
from fastmmd.circular.ensembles import Ensemble, ensemble

__all__ = [
    "DecisionDiameter",
    "Ensemble",
    "circular_discrepancy",
    "circular_discrepancy_by_supremum",
    "circular_earth_mover",
    "decision_diameter",
    "ensemble",
    "objective",
    "project",
]
