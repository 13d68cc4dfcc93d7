"""Sketch rows that a GPU makes: the next batch is copied while the last one is added up.

Compares embeddings of two streams of inputs without keeping either. Needs PyTorch; a GPU
is used if there is one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

import fastmmd

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator


def rows_on_host(batches: Iterable[torch.Tensor]) -> Iterator[torch.Tensor]:
    """Yield batches in main memory, one behind, so that copies overlap with their use."""
    waiting = None
    for batch in batches:
        # Only into pinned memory does a copy run by itself.
        rows = torch.empty(batch.shape, dtype=batch.dtype, pin_memory=batch.is_cuda)
        rows.copy_(batch.detach(), non_blocking=True)
        copied = torch.cuda.Event() if batch.is_cuda else None
        if copied is not None:
            copied.record()
        if waiting is not None:
            yield arrived(*waiting)
        waiting = rows, copied
    if waiting is not None:
        yield arrived(*waiting)


def arrived(rows: torch.Tensor, copied: torch.cuda.Event | None) -> torch.Tensor:
    """Return rows when their copy is complete."""
    if copied is not None:
        copied.synchronize()
    return rows


def main() -> None:
    """Sketch the embeddings of two streams and compare them."""
    device = "cuda" if torch.cuda.is_available() else "cpu"
    torch.manual_seed(0)
    network = torch.nn.Sequential(torch.nn.Linear(64, 32), torch.nn.Tanh()).to(device)

    def embeddings(n_batches: int, contrast: float) -> Iterator[torch.Tensor]:
        with torch.inference_mode():
            for _ in range(n_batches):
                yield network(contrast * torch.randn(2048, 64, device=device))

    first = next(embeddings(1, 1.0)).cpu().numpy()
    reference = fastmmd.Sketch.adaptive(first, n_rows=60_000, stream="reference")
    today = reference.like(stream="today")
    for rows in rows_on_host(embeddings(20, 1.0)):
        reference.update(rows.numpy())
    for rows in rows_on_host(embeddings(10, 1.1)):
        today.update(rows.numpy())
    print(fastmmd.compare(reference, today, rng=0))


if __name__ == "__main__":
    main()
