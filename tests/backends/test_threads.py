"""How many threads: `fastmmd.threads`, the environment, forks, and many callers at once."""

from __future__ import annotations

import concurrent.futures
import contextvars
import multiprocessing
import os
import signal
import subprocess
import sys
import threading
import time
import warnings

import numpy as np
import precision
import pytest

import fastmmd
from fastmmd import _threads
from fastmmd._threads import n_threads

KERNEL = fastmmd.Gaussian(1.0)
VARIABLES = ("FASTMMD_NUM_THREADS", "OMP_NUM_THREADS")


@pytest.fixture(autouse=True)
def no_variables(monkeypatch):
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)


@pytest.fixture(scope="module")
def samples():
    """Return samples whose estimate takes several parts of work."""
    rng = np.random.default_rng(1)
    return rng.normal(size=(4000, 3)), rng.normal(size=(4000, 3)) + 0.1


def estimate(samples, **options):
    return fastmmd.mmd(
        *samples,
        kernel=KERNEL,
        method=fastmmd.Fourier(1024),
        rng=0,
        **options,
    ).mmd2


# --- Choosing a number


def test_the_limit_holds_inside_the_block_only():
    outside = n_threads()
    with fastmmd.threads(3):
        assert n_threads() == 3
        with fastmmd.threads(np.int64(5)):
            assert n_threads() == 5
        assert n_threads() == 3
        with fastmmd.threads(None):
            assert n_threads() == 3
    assert n_threads() == outside


def test_the_limit_is_lifted_after_an_error():
    outside = n_threads()
    with pytest.raises(KeyError), fastmmd.threads(outside + 1):
        raise KeyError
    assert n_threads() == outside


@pytest.mark.parametrize(
    ("bad", "error"),
    [
        (0, ValueError),
        (-1, ValueError),
        (1.5, TypeError),
        ("2", TypeError),
        (True, TypeError),
    ],
)
def test_bad_numbers_are_refused(bad, error):
    outside = n_threads()
    with pytest.raises(error, match="`n_threads` must be"), fastmmd.threads(bad):
        pass
    with pytest.raises(error, match="`n_threads` must be"):
        fastmmd.mmd([0.0, 1.0], [2.0, 3.0], n_threads=bad)
    with pytest.raises(error, match="`n_threads` must be"):
        fastmmd.two_sample_test([0.0, 1.0], [2.0, 3.0], n_threads=bad)
    assert n_threads() == outside


@pytest.mark.parametrize(
    ("own", "openmp", "expected"),
    [
        ("7", None, 7),
        (None, "6", 6),
        ("7", "6", 7),
        (None, "4,2", 4),
        (None, " 4 , 2", 4),
        ("4,2", None, 4),
        ("", "6", 6),
        ("many", "6", 6),
        ("0", "6", 6),
        ("-3", "6", 6),
        ("2.5", "6", 6),
        (None, None, None),
        ("many", "none", None),
        ("", "", None),
        (",", "0", None),
    ],
)
def test_environment_variables(own, openmp, expected, monkeypatch):
    for name, value in zip(VARIABLES, (own, openmp), strict=True):
        if value is not None:
            monkeypatch.setenv(name, value)
    assert n_threads() == (
        _threads._usable_processors() if expected is None else expected
    )
    with fastmmd.threads(2):
        assert n_threads() == 2


def test_the_default_is_what_this_process_may_use():
    assert 1 <= n_threads() <= (os.cpu_count() or 1)


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="Linux only")
def test_the_default_heeds_affinity():
    allowed = os.sched_getaffinity(0)
    try:
        os.sched_setaffinity(0, {min(allowed)})
        assert n_threads() == 1
    finally:
        os.sched_setaffinity(0, allowed)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("max 100000\n", 64),
        ("150000 100000\n", 2),
        ("50000 100000\n", 1),
        ("100000 100000\n", 1),
        ("nonsense\n", 64),
        ("a b\n", 64),
        ("", 64),
    ],
)
def test_the_default_heeds_a_containers_quota(text, expected, monkeypatch, tmp_path):
    quota = tmp_path / "cpu.max"
    quota.write_text(text, "ascii")
    monkeypatch.setattr(_threads, "Path", lambda _: quota)
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: range(64), raising=False)
    _threads._container_processors.cache_clear()
    try:
        assert n_threads() == expected
    finally:
        _threads._container_processors.cache_clear()


def test_the_limit_belongs_to_the_current_thread():
    seen = []
    with fastmmd.threads(n_threads() + 1):
        limited = n_threads()
        worker = threading.Thread(target=lambda: seen.append(n_threads()))
        worker.start()
        worker.join()
        copied = contextvars.copy_context()
    assert seen == [limited - 1]
    assert copied.run(n_threads) == limited


# --- Handing it on


def test_functions_hand_the_number_on(samples, monkeypatch):
    from fastmmd._backends import native

    if not precision.EXACT_SUMS:
        pytest.skip("the NumPy backend has no threads of its own")
    seen = set()
    count = native.n_threads

    def noted():
        seen.add(count())
        return count()

    monkeypatch.setattr(native, "n_threads", noted)
    x, y = (rows[:60] for rows in samples)
    for method in (fastmmd.Exact(), fastmmd.Fourier(16), fastmmd.Fastfood(16)):
        fastmmd.mmd(x, y, method=method, rng=0, n_threads=5)
    assert seen == {5}
    seen.clear()
    sketch = fastmmd.Sketch(fastmmd.Gaussian(1.0), 3)
    with fastmmd.threads(6):
        sketch.update(x)
    assert seen == {6}


def test_results_do_not_depend_on_the_number(samples):
    assert len({estimate(samples, n_threads=n) for n in (1, 2, 3, 8, None)}) == 1
    x, y = (rows[:700] for rows in samples)
    pvalues, exact = set(), set()
    for n in (1, 2, 8):
        result = fastmmd.two_sample_test(x, y, rng=0, n_threads=n)
        pvalues.add((result.pvalue, result.statistic))
        exact.add(fastmmd.mmd(x, y, kernel=KERNEL, method="exact", n_threads=n).mmd2)
    assert len(pvalues) == len(exact) == 1


def test_more_threads_than_work():
    x, y = [0.0, 1.0], [2.0, 3.0]
    options = {"kernel": fastmmd.Gaussian(1.0)}
    assert (
        fastmmd.mmd(x, y, n_threads=10_000, **options).mmd2
        == fastmmd.mmd(x, y, n_threads=1, **options).mmd2
    )


# --- Many callers, and forks


def test_callers_in_several_threads_at_once(samples):
    expected = estimate(samples, n_threads=1)
    few = [rows[:500] for rows in samples]
    exact = fastmmd.mmd(*few, kernel=KERNEL, method="exact").mmd2

    def work(index):
        if index % 2:
            return estimate(samples, n_threads=1 + index % 3) == expected
        return fastmmd.mmd(*few, kernel=KERNEL, method="exact").mmd2 == exact

    with concurrent.futures.ThreadPoolExecutor(6) as pool:
        assert all(pool.map(work, range(12)))


def test_other_threads_run_meanwhile(samples):
    # With the interpreter's lock held, the ticks would wait for the end of each call.
    x = np.concatenate([samples[0]] * 4)
    ticks, done = [], threading.Event()

    def tick():
        while not done.is_set():
            ticks.append(time.perf_counter())
            time.sleep(0.001)

    worker = threading.Thread(target=tick)
    worker.start()
    start = time.perf_counter()
    fastmmd.mmd(
        x, x[::-1], kernel=fastmmd.Matern(1.0, nu=1.5), method="exact", n_threads=1
    )
    stop = time.perf_counter()
    done.set()
    worker.join()
    inside = [t for t in ticks if start <= t <= stop]
    # Calls of 2^27 pairs take most of this time. On a busy machine a tick may come late,
    # so only a few are asked for out of a thousand.
    assert len(inside) > 20


def child_estimate(queue, samples):
    queue.put((estimate(samples, n_threads=2), estimate(samples, n_threads=1)))


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
def test_a_forked_child_computes_again(samples):
    # Threads that lived on would be missing in the child, which would then wait forever.
    expected = estimate(samples, n_threads=2)
    context = multiprocessing.get_context("fork")
    queue = context.SimpleQueue()
    with warnings.catch_warnings():
        # Python warns of forks while other threads (of BLAS, of other tests) are alive.
        warnings.simplefilter("ignore", DeprecationWarning)
        child = context.Process(target=child_estimate, args=(queue, samples))
        child.start()
    child.join(60)
    try:
        assert child.exitcode == 0
        assert queue.get() == (expected, expected)
    finally:
        child.kill()
    assert estimate(samples, n_threads=2) == expected


LONG_WORK = """
import numpy as np, fastmmd
x = np.random.default_rng(0).normal(size=(400_000, 3))
print("ready", flush=True)
fastmmd.mmd(x, x[::-1], kernel=fastmmd.Gaussian(1.0), method="exact", n_threads=1)
print("finished", flush=True)
"""


@pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
def test_an_interrupt_is_heard_between_calls():
    # The work would take many minutes; one call of it about a second.
    process = subprocess.Popen(
        [sys.executable, "-c", LONG_WORK],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdout.readline() == "ready\n"
        time.sleep(0.3)
        process.send_signal(signal.SIGINT)
        out, errors = process.communicate(timeout=60)
    finally:
        process.kill()
    assert "finished" not in out
    assert "KeyboardInterrupt" in errors
    assert process.returncode != 0
