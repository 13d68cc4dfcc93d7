"""Derive the polynomial coefficients of ``sincos.hpp`` and ``exponential.hpp``.

With ``r`` in [-1/4, 1/4] turns and ``u = r^2``, ``cos(2 pi r) = 1 + u P(u)``, so that the
cosine of 0 is exactly 1, and ``sin(2 pi r) = r Q(u)``. With ``|r| <= ln(2) / 2``,
or a sixteenth of it where a table gives the rest, ``exp(r) = 1 + r + r^2 P(r)``.
Remez's exchange finds the polynomials with the smallest largest error; then coefficients
are rounded to the type, and the error is measured with the rounded ones.

Run ``python native/tools/coefficients.py`` (needs mpmath); it prints the coefficients,
lowest power first, and the errors.
"""

from __future__ import annotations

import mpmath as mp
import numpy as np

mp.mp.dps = 50
EDGE = mp.mpf(1) / 16  # u = r^2 <= (1/4)^2
HALF_LOG_2 = mp.log(2) / 2 * mp.mpf("1.0001")


def cosine_part(u: mp.mpf) -> mp.mpf:
    """Return (cos(2 pi r) - 1) / u, which is -2 (sin(pi r) / r)^2."""
    r = mp.sqrt(u)
    return -2 * (mp.sin(mp.pi * r) / r) ** 2 if r else -2 * mp.pi**2


def sine_part(u: mp.mpf) -> mp.mpf:
    """Return sin(2 pi r) / r."""
    r = mp.sqrt(u)
    return mp.sin(2 * mp.pi * r) / r if r else 2 * mp.pi


def exponential_part(r: mp.mpf) -> mp.mpf:
    """Return (exp(r) - 1 - r) / r^2."""
    if abs(r) < mp.mpf("1e-12"):
        return mp.mpf(1) / 2 + r / 6
    return (mp.e**r - 1 - r) / r**2


def evaluate(coefficients: list[mp.mpf], u: mp.mpf) -> mp.mpf:
    """Return the polynomial's value."""
    return sum(c * u**j for j, c in enumerate(coefficients))


def remez(function, weight, low, high, n_coefficients: int) -> list[mp.mpf]:
    """Return the polynomial on [low, high] with the smallest largest ``weight * error``."""
    n = n_coefficients + 1
    # A small number keeps the weight, and with it the equations, from vanishing at 0.
    floor = mp.mpf("1e-4")
    middle, half = (low + high) / 2, (high - low) / 2
    nodes = [middle - half * mp.cos(mp.pi * (2 * k + 1) / (2 * n)) for k in range(n)]
    for _ in range(12):
        system = mp.matrix(n, n)
        right = mp.matrix(n, 1)
        for i, u in enumerate(nodes):
            for j in range(n_coefficients):
                system[i, j] = u**j
            system[i, n_coefficients] = (-1) ** i / (weight(u) + floor)
            right[i] = function(u)
        solution = mp.lu_solve(system, right)
        coefficients = [solution[j] for j in range(n_coefficients)]

        grid = [middle - half * mp.cos(mp.pi * k / 2000) for k in range(2001)]
        values = [
            (evaluate(coefficients, u) - function(u)) * (weight(u) + floor) for u in grid
        ]
        # One extreme in every run of equal signs.
        extremes: list[int] = []
        for i, value in enumerate(values):
            if extremes and mp.sign(values[extremes[-1]]) == mp.sign(value):
                if abs(value) > abs(values[extremes[-1]]):
                    extremes[-1] = i
            else:
                extremes.append(i)
        if len(extremes) < n:
            break
        nodes = [grid[i] for i in extremes[-n:]]
    return coefficients


def main() -> None:
    """Print coefficients and errors for both precisions."""
    parts = (
        ("cos", cosine_part, lambda u: u, -1),
        ("sin", sine_part, mp.sqrt, 0),
    )
    for dtype, n_coefficients in ((np.float32, 5), (np.float64, 9)):
        for name, function, factor, extra in parts:
            found = remez(function, factor, mp.mpf(0), EDGE, n_coefficients + extra)
            coefficients = [dtype(str(c)) for c in found]
            exact = [mp.mpf(float(c)) for c in coefficients]
            worst = mp.mpf(0)
            for k in range(4001):
                u = EDGE * k / 4000
                error = (evaluate(exact, u) - function(u)) * factor(u)
                worst = max(worst, abs(error))
            print(f"{np.dtype(dtype).name} {name}: worst error {mp.nstr(worst, 3)}")
            print(",\n".join(f"    {float(c)!r}" for c in coefficients))
    for edge, n_coefficients in ((HALF_LOG_2, 10), (HALF_LOG_2 / 16, 5)):
        found = remez(exponential_part, lambda r: r**2, -edge, edge, n_coefficients)
        rounded = [mp.mpf(float(c)) for c in found]
        worst = max(
            abs(evaluate(rounded, r) - exponential_part(r)) * r**2
            for r in (edge * k / 2000 for k in range(-2000, 2001))
        )
        print(f"float64 exp up to {mp.nstr(edge, 3)}: worst error {mp.nstr(worst, 3)}")
        print(",\n".join(f"    {float(c)!r}" for c in found))


if __name__ == "__main__":
    main()
