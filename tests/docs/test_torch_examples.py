"""The examples in PyTorch agree with the library: torch_mmd.py and torch_stream.py."""

from __future__ import annotations

import runpy

import numpy as np
import pages
import pytest

import fastmmd
from fastmmd.frequencies import draw_frequencies

torch = pytest.importorskip("torch")

EXAMPLES = pages.ROOT / "examples"


@pytest.fixture(scope="module")
def squared_mmd():
    return runpy.run_path(str(EXAMPLES / "torch_mmd.py"))["squared_mmd"]


@pytest.fixture(scope="module")
def rows_on_host():
    return runpy.run_path(str(EXAMPLES / "torch_stream.py"))["rows_on_host"]


@pytest.mark.parametrize("kernel", [fastmmd.Gaussian(1.5), fastmmd.Laplace(2.0)])
def test_the_same_number(squared_mmd, kernel, rng):
    x, y = rng.normal(size=(300, 4)), rng.normal(0.3, 1.2, size=(200, 4))
    w = draw_frequencies(kernel, 128, 4, rng=0).frequencies
    ours = fastmmd.mmd(x, y, kernel=kernel, method=fastmmd.Fourier(frequencies=w)).mmd2
    found = squared_mmd(*(torch.from_numpy(rows) for rows in (x, y, w)))
    # Phases of size p round by p * eps, features likewise, and the mean over rows and
    # frequencies averages that: a hundred eps are plenty for phases below 20.
    assert abs(float(found) - ours) < 100 * np.finfo(float).eps


def test_gradients(squared_mmd):
    torch.manual_seed(0)
    x, y, w = (torch.randn(n, 3, dtype=torch.float64) for n in (6, 5, 8))
    x.requires_grad_()
    assert torch.autograd.gradcheck(lambda rows: squared_mmd(rows, y, w), (x,))


def test_batches_arrive_in_order_and_complete(rows_on_host):
    batches = [torch.full((n, 2), float(n), requires_grad=True) for n in (3, 1, 4)]
    arrived = list(rows_on_host(iter(batches)))
    assert [rows.tolist() for rows in arrived] == [batch.tolist() for batch in batches]
    assert not any(rows.requires_grad for rows in arrived)
    assert list(rows_on_host(iter(()))) == []


def test_batches_are_used_while_the_next_is_on_its_way(rows_on_host):
    made = []

    def batches():
        for number in range(3):
            made.append(number)
            yield torch.full((1, 1), float(number))

    for number, rows in enumerate(rows_on_host(batches())):
        assert rows.item() == number
        # The copy of the next one has begun, and no later one is made yet.
        assert made[-1] == min(number + 1, 2)


def test_a_batch_may_be_overwritten_once_it_was_handed_over(rows_on_host):
    buffer = torch.zeros(2, 2)

    def batches():
        for number in range(3):
            buffer.fill_(number)
            yield buffer

    assert [rows[0, 0].item() for rows in rows_on_host(batches())] == [0.0, 1.0, 2.0]
