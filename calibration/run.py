"""Calibrate the tests by simulation: levels, powers, coverage.

Run as ``python calibration/run.py``; parts are A (level of exact tests), B (level of
asymptotic tests), C (bins against rows), D (power of the adaptive test), E (intervals and
margins), F (MMD-FUSE on the same data), G (other tests where they are better; boosted trees
only if scikit-learn is there), H (power by the number of frequencies), I (estimates of small
p-values), J (power where a share of the rows is relabelled) and K (planned power). Results
are written to ``calibration/results`` after every setting.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from simulate import Options, environment, simulate

environment.use_one_thread()

from alternatives import alternative_cells
from intervals import interval_cells
from level import asymptotic_cells, exact_cells
from planning import planning_cells
from power import adaptive_cells, bins_cells, frequencies_cells, published_cells
from shares import share_cells
from tails import tail_cells

PARTS = "ABCDEFGHIJK"


def main() -> None:
    """Run the parts asked for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--part", choices=tuple(PARTS), help="only this part")
    parser.add_argument("--runs", type=int, help="runs of every setting")
    parser.add_argument("--quick", action="store_true", help="a twentieth of the runs")
    parser.add_argument("--data", type=Path, help="folder with the real data sets")
    parser.add_argument(
        "--only", default="", help="run settings with this in their name, keep the others"
    )
    parser.add_argument(
        "--missing", action="store_true", help="run settings that have no result yet"
    )
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    options = Options(
        runs=given.runs,
        share=0.05 if given.quick else 1.0,
        only=given.only,
        missing=given.missing,
        data=given.data,
        seed=given.seed,
    )
    parts = given.part or PARTS
    both = (0.05, 0.01)
    if "A" in parts:
        simulate("level_exact", exact_cells(), options, levels=both)
    if "B" in parts:
        simulate("level_asymptotic", asymptotic_cells(), options, levels=both)
    if "C" in parts:
        simulate("power_bins", bins_cells(), options, levels=(0.05,))
    if "D" in parts:
        simulate("power_adaptive", adaptive_cells(given.data), options, levels=(0.05,))
    if "E" in parts:
        simulate("intervals", interval_cells(), options, levels=(0.05,))
    if "F" in parts:
        simulate("power_fuse", published_cells(given.data), options, levels=(0.05,))
    if "G" in parts:
        simulate("alternatives", alternative_cells(), options, levels=(0.05,))
    if "H" in parts:
        simulate("power_frequencies", frequencies_cells(), options, levels=(0.05,))
    if "I" in parts:
        simulate("tails", tail_cells(), options, levels=(0.05,))
    if "J" in parts:
        simulate("power_shares", share_cells(), options, levels=(0.05,))
    if "K" in parts:
        simulate("planning", planning_cells(), options, levels=(0.05,))


if __name__ == "__main__":
    main()
