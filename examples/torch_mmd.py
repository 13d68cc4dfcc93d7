"""MMD in PyTorch, on any device and with gradients, from FastMMD's frequencies.

Trains a small generator by the distance alone, then lets FastMMD judge it by fresh rows.
Needs PyTorch; a GPU is used if there is one.
"""

from __future__ import annotations

import numpy as np
import torch

import fastmmd
from fastmmd.frequencies import draw_frequencies


def squared_mmd(
    x: torch.Tensor, y: torch.Tensor, frequencies: torch.Tensor
) -> torch.Tensor:
    """Return the unbiased squared MMD between rows, for a kernel with ``K(0) = 1``."""
    means, excess = [], 0.0
    for rows in (x, y):
        phases = rows @ frequencies.T
        mean = torch.stack([phases.cos().mean(dim=0), phases.sin().mean(dim=0)])
        # Every feature has length one, so pairs of a row with itself are known.
        excess = excess + (1.0 - mean.square().sum(dim=0)) / (len(rows) - 1)
        means.append(mean)
    return ((means[0] - means[1]).square().sum(dim=0) - excess).mean()


def main() -> None:
    """Fit a linear generator to correlated rows."""
    device = "cuda" if torch.cuda.is_available() else "cpu"
    torch.manual_seed(0)
    rng = np.random.default_rng(0)
    target = rng.normal(size=(4096, 2)) @ [[1.0, 0.8], [0.0, 0.6]] + [2.0, -1.0]
    train, held_out = np.array_split(target, 2)
    rows = torch.tensor(train, dtype=torch.float32, device=device)

    kernel = fastmmd.Gaussian(2.0)
    generator = torch.nn.Linear(2, 2, device=device)
    optimizer = torch.optim.Adam(generator.parameters(), lr=0.05)
    for step in range(200):
        # New frequencies at every step: a fixed set has directions it cannot see.
        drawn = draw_frequencies(kernel, 256, 2, rng=step).frequencies
        frequencies = torch.tensor(drawn, dtype=torch.float32, device=device)
        made = generator(torch.randn(1024, 2, device=device))
        loss = squared_mmd(made, rows, frequencies)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step in (0, 100, 199):
            print(f"step {step:3}: squared MMD {loss.item():.4f}")

    with torch.no_grad():
        fresh = generator(torch.randn(2048, 2, device=device)).cpu().numpy()
    print(fastmmd.two_sample_test(fresh, held_out, rng=0))


if __name__ == "__main__":
    main()
