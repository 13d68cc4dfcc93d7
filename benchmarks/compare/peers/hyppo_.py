"""hyppo's MMD: a statistic through HSIC, and the test with its chi-square null."""

from __future__ import annotations

from hyppo.ksample import MMD

from compare.common import Data, Way, only_dense


def mmd(data: Data) -> MMD:
    return MMD(compute_kernel="rbf", gamma=0.5 / data.bandwidth**2)


def statistic(data: Data, _seed: int) -> float:
    return float(mmd(data).statistic(data.x, data.y))


def test(data: Data, seed: int) -> float:
    return float(mmd(data).test(data.x, data.y, random_state=seed).pvalue)


WAYS = (
    Way(
        "MMD statistic",
        statistic,
        target="",
        pairwise=True,
        random=False,
        compiles=True,
        note="normalised: not on the scale of MMD",
        refuses=only_dense,
    ),
    Way(
        "MMD test",
        test,
        "test",
        "",
        pairwise=True,
        compiles=True,
        note="chi-square null, its default",
        refuses=only_dense,
    ),
)
