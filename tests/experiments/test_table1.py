"""Table 1: bags of words of the paper's shape, made and read, and the numbers from them."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse

import fastmmd
from fastmmd import experiments
from fastmmd._errors import DataError
from fastmmd.experiments import table1
from fastmmd.experiments._bag_of_words import (
    CELLS_A_SIDE,
    N_COLUMNS,
    N_IMAGES,
    N_WORDS,
    Bags,
    make_bags,
    normalised,
    read_bags,
)
from fastmmd.experiments._catalogue import find
from fastmmd.experiments._experiment import Table

# --- Images that are made


@pytest.fixture(scope="module")
def bags():
    return make_bags((150, 200), np.random.default_rng(3))


def test_shape_is_that_of_the_paper(bags):
    assert N_COLUMNS == 21_504
    assert sum(N_IMAGES) == 9963
    assert bags.x.shape == (150, N_COLUMNS)
    assert bags.y.shape == (200, N_COLUMNS)
    for rows in (bags.x, bags.y):
        assert scipy.sparse.issparse(rows)
        assert rows.has_canonical_format
        share = rows.nnz / np.prod(rows.shape)
        assert 0.005 < share < 0.1
        assert rows.data.min() > 0.0
        # Some hundred numbers that add up to 1.
        np.testing.assert_allclose(rows.sum(axis=1), 1.0, atol=1e-12)


def test_levels_of_the_pyramid_count_the_same_points(bags):
    dense = bags.x.toarray().reshape(150, -1, N_WORDS)
    levels = np.split(dense, np.cumsum([side**2 for side in CELLS_A_SIDE])[:-1], axis=1)
    assert [level.shape[1] for level in levels] == [1, 4, 16]
    for level in levels:
        np.testing.assert_allclose(level.sum(axis=1), levels[0][:, 0], atol=1e-14)
    # A quarter is four of the sixteen cells: the upper left of a grid of 4 x 4.
    finest = levels[2].reshape(150, 4, 4, N_WORDS)
    upper_left = finest[:, :2, :2].sum(axis=(1, 2))
    np.testing.assert_allclose(upper_left, levels[1][:, 0], atol=1e-14)
    lower_right = finest[:, 2:, 2:].sum(axis=(1, 2))
    np.testing.assert_allclose(lower_right, levels[1][:, 3], atol=1e-14)


def test_frequencies_of_words_fall_as_in_language(bags):
    used = (bags.x.sum(axis=0) + bags.y.sum(axis=0))[:N_WORDS]
    falling = np.sort(used)[::-1]
    # By the law of ranks 0 and 99 they differ 13 times; topics spread that further.
    assert falling[0] > 8.0 * falling[99]
    assert falling[99] > 2.0 * falling[499]
    # Words of low rank are the frequent ones, on the whole.
    assert used[:100].sum() > 3.0 * used[500:600].sum()


def test_kinds_of_images_differ(bags):
    kernel = fastmmd.Gaussian(table1.BANDWIDTH)
    result = fastmmd.two_sample_test(
        bags.x, bags.y, kernel=kernel, method="exact", n_resamples=199, rng=0
    )
    assert result.pvalue == 1.0 / 200.0
    same = fastmmd.two_sample_test(
        bags.y[:100], bags.y[100:], kernel=kernel, method="exact", rng=0
    )
    assert same.pvalue > 0.001


def test_the_same_seed_makes_the_same_images(bags):
    again = make_bags((150, 200), np.random.default_rng(3))
    other = make_bags((150, 200), np.random.default_rng(4))
    for one, two, three in zip(
        (bags.x, bags.y), (again.x, again.y), (other.x, other.y), strict=True
    ):
        np.testing.assert_array_equal(one.indices, two.indices)
        np.testing.assert_array_equal(one.data, two.data)
        assert one.nnz != three.nnz


# --- Matrices that are given


def save(path, matrix, labels, **more):
    np.savez(
        path,
        data=matrix.data,
        indices=matrix.indices.astype(np.uint16),
        indptr=matrix.indptr,
        shape=matrix.shape,
        labels=labels,
        **more,
    )
    return path


@pytest.fixture
def counts(rng):
    numbers = rng.poisson(0.3, size=(40, 30)).astype(np.uint8)
    numbers[7] = 0
    return scipy.sparse.csr_array(numbers)


def test_a_file_is_read_and_normalised(counts, tmp_path):
    labels = np.where(np.arange(40) % 3 == 0, "b", "a")
    bags = read_bags(save(tmp_path / "words.npz", counts, labels))
    dense = counts.toarray().astype(float)
    sums = dense.sum(axis=1, keepdims=True)
    expected = np.divide(dense, sums, out=np.zeros_like(dense), where=sums > 0)
    np.testing.assert_allclose(bags.x.toarray(), expected[labels == "a"], atol=1e-15)
    np.testing.assert_allclose(bags.y.toarray(), expected[labels == "b"], atol=1e-15)
    assert bags.bandwidth is None
    assert not expected[7].any()


def test_a_bandwidth_may_be_given(counts, tmp_path):
    path = save(tmp_path / "words.npz", counts, np.arange(40) % 2, bandwidth=0.3)
    assert read_bags(path).bandwidth == 0.3


def test_norms_are_of_absolute_values():
    matrix = scipy.sparse.csr_array(np.array([[1.0, -3.0], [0.0, 0.0]]))
    expected = [[0.25, -0.75], [0.0, 0.0]]
    np.testing.assert_array_equal(normalised(matrix).toarray(), expected)
    np.testing.assert_array_equal(matrix.toarray(), [[1.0, -3.0], [0.0, 0.0]])


def test_scipy_files_with_labels_are_read(counts, tmp_path):
    plain = tmp_path / "plain.npz"
    scipy.sparse.save_npz(plain, counts)
    with pytest.raises(
        ValueError, match=r"plain.npz` must .*; it lacks labels\. Write it by numpy"
    ):
        read_bags(plain)
    with np.load(plain) as arrays:
        np.savez(tmp_path / "both.npz", **arrays, labels=np.arange(40) % 2)
    assert read_bags(tmp_path / "both.npz").x.shape == (20, 30)


def test_files_that_cannot_be_used(counts, tmp_path):
    labels = np.arange(40) % 2
    columns = scipy.sparse.csc_array(counts)
    path = save(tmp_path / "columns.npz", columns, labels, format=b"csc")
    with pytest.raises(DataError, match="it lacks the CSR format"):
        read_bags(path)
    path = save(tmp_path / "three.npz", counts, np.arange(40) % 3)
    with pytest.raises(DataError, match=r"one of two values for each of the 40 rows.*3"):
        read_bags(path)
    path = save(tmp_path / "short.npz", counts, labels[:-1])
    with pytest.raises(DataError, match=r"each of the 40 rows; got shape \(39,\)"):
        read_bags(path)
    path = tmp_path / "text.npz"
    path.write_text("no archive", encoding="utf-8")
    with pytest.raises(DataError, match=r"text.npz` must be a file in NumPy's") as caught:
        read_bags(path)
    assert "pickle" not in str(caught.value)
    with pytest.raises(DataError, match=r"missing.npz` must be a file; there is none\."):
        read_bags(tmp_path / "missing.npz")
    with pytest.raises(DataError, match=r"must be a file in NumPy's"):
        read_bags(tmp_path)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"data": [0.0, 0.0, 0.0, 0.0]}, "must hold numbers other than 0; it holds none"),
        ({"data": [1.0, np.nan, 1.0, 1.0]}, "must hold finite numbers; some are not"),
        ({"data": ["a", "b", "c", "d"]}, "whose parts fit together: could not convert"),
        ({"data": [None] * 4}, "must hold arrays of numbers in NumPy's .npz format"),
        ({"indices": [0, 1, 2, 3]}, "whose parts fit together: .*indices"),
        ({"indices": [0, -1, 2, 0]}, "whose parts fit together: .*indices"),
        ({"indptr": [0, 3, 2, 3, 4]}, "whose parts fit together: .*indptr"),
        ({"indptr": [0, 1, 2]}, "whose parts fit together: .*index pointer"),
        ({"shape": [4]}, "whose parts fit together: not enough values"),
        ({"labels": [0, 0, 0, 1]}, "two rows of each sample"),
        ({"bandwidth": -1.0}, "must be a number above 0; got -1.0"),
        ({"bandwidth": "wide"}, "must be a number above 0; got wide"),
    ],
)
def test_archives_that_make_no_sense(changes, message, tmp_path):
    usual = {
        "data": [1.0, 2.0, 3.0, 4.0],
        "indices": [0, 1, 2, 0],
        "indptr": [0, 1, 2, 3, 4],
        "shape": [4, 3],
        "labels": [0, 0, 1, 1],
    }
    path = tmp_path / "words.npz"
    np.savez(path, **usual)
    assert read_bags(path).x.shape == (2, 3)
    np.savez(path, **usual | changes)
    with pytest.raises(DataError, match=message):
        read_bags(path)
    # Before anything is computed.
    with pytest.raises(DataError, match=message):
        find("table1").settings(data=path)


def test_a_damaged_archive(counts, tmp_path):
    path = save(tmp_path / "words.npz", counts, np.arange(40) % 2)
    content = bytearray(path.read_bytes())
    content[200] ^= 255
    path.write_bytes(content)
    with pytest.raises(DataError, match=r"in NumPy's .npz format, undamaged"):
        read_bags(path)


def test_samples_that_do_not_differ(counts, tmp_path):
    twice = scipy.sparse.vstack([counts, counts], format="csr")
    path = save(tmp_path / "words.npz", twice, np.repeat([0, 1], 40), bandwidth=0.2)
    # Unbiased squared MMD of a sample and itself is negative.
    with pytest.raises(DataError, match=r"two samples must differ: .* is -"):
        experiments.run("table1", quick=True, trials=2, data=path)


# --- The table


@pytest.fixture(scope="module")
def given(tmp_path_factory):
    """Return a small matrix of the user's and its file."""
    rng = np.random.default_rng(0)
    rates = np.array([0.2, 0.4])[np.arange(120) % 2, None] * np.linspace(0.5, 2.0, 40)
    matrix = scipy.sparse.csr_array(rng.poisson(rates).astype(float))
    path = tmp_path_factory.mktemp("given") / "words.npz"
    return save(path, matrix, np.arange(120) % 2, bandwidth=0.2)


@pytest.fixture(scope="module")
def report(given):
    return experiments.run("table1", quick=True, trials=3, data=given)


def column(table, name):
    return dict(zip(table.columns["method"], table.columns[name], strict=True))


def test_exact_value_is_the_double_sum(report, given):
    bags = read_bags(given)

    def mean(a, b):
        squares = ((a[:, None] - b) ** 2).sum(axis=-1)
        values = np.exp(-squares / (2.0 * 0.2**2))
        if a is b:
            return (values.sum() - len(a)) / (len(a) * (len(a) - 1))
        return values.mean()

    x, y = bags.x.toarray(), bags.y.toarray()
    expected = mean(x, x) + mean(y, y) - 2.0 * mean(x, y)
    accuracy = report.outcome.tables[0]
    assert column(accuracy, "mean_mmd2")["exact"] == pytest.approx(expected, abs=1e-13)
    assert column(accuracy, "mean_mmd")["exact"] == pytest.approx(np.sqrt(expected))
    assert column(accuracy, "relative_error")["exact"] == 0.0


def test_means_and_deviations_are_those_of_direct_calls(report, given, settings):
    bags = read_bags(given)
    kernel = fastmmd.Gaussian(0.2)
    chosen = settings("table1", trials=3, data=given)
    found = {method: [] for method in table1.METHODS}
    for trial in range(3):
        rng = chosen.rng("repetitions", trial)
        orders = [rng.permutation(60), rng.permutation(60)]
        seed = int(rng.integers(2**31))
        for name, method in table1.ways(256).items():
            x, y = bags.x, bags.y
            if name in ("linear", "block"):
                x, y = x[orders[0]], y[orders[1]]
            found[name].append(
                fastmmd.mmd(x, y, kernel=kernel, method=method, rng=seed).mmd
            )
    accuracy = report.outcome.tables[0]
    exact = column(accuracy, "mean_mmd")["exact"]
    for method, values in found.items():
        mean, deviation = np.mean(values), np.std(values, ddof=1)
        assert column(accuracy, "mean_mmd")[method] == pytest.approx(mean)
        assert column(accuracy, "deviation_mmd")[method] == pytest.approx(deviation)
        error = abs(mean - exact) / exact
        assert column(accuracy, "relative_error")[method] == pytest.approx(error)
        assert deviation > 0.0
    assert set(accuracy.columns["repetitions"]) == {1, 3}


def test_the_papers_numbers_stand_beside(report):
    accuracy, times = report.outcome.tables
    paper = column(accuracy, "paper_relative_error")
    # As printed: 24.6 %, 0.277 %, 0.0923 %.
    assert paper["linear"] == pytest.approx(0.246, abs=5e-4)
    assert paper["block"] == pytest.approx(0.00277, abs=5e-6)
    assert paper["fourier"] == pytest.approx(0.000923, abs=5e-7)
    speed = column(times, "paper_speed_up")
    assert [round(speed[m]) for m in table1.METHODS] == [84, 74, 1192, 2417]
    seconds = column(times, "seconds")
    over = column(times, "speed_up_over_exact")
    assert over["fourier"] == pytest.approx(seconds["exact"] / seconds["fourier"])
    assert column(times, "extrapolated")["textbook"]


def test_the_slip_of_the_bandwidth_is_noted(report):
    assert "10^-2.2 is 0.00631" in report.outcome.notes[0]
    assert "those given" in report.outcome.notes[1]


def test_dense_time_is_scaled_by_the_pairs(monkeypatch):
    rows = scipy.sparse.csr_array(np.eye(6))
    bags = Bags(rows[:4], rows)
    monkeypatch.setattr(table1, "_DENSE_ROWS", 3)
    monkeypatch.setattr(table1, "timed", lambda run: (run(), 2.0))
    # Nine pairs are timed; 16 within the first, 36 within the second, 24 between.
    assert table1.dense_seconds(bags, 1.0) == pytest.approx(2.0 * (16 + 36 + 24) / 9)


# --- Verdicts, from tables made up


@pytest.mark.parametrize(
    ("fourier", "fastfood", "expected"),
    [(0.1, 0.2, "holds"), (0.1, 0.6, "holds partly"), (0.95, 0.96, "fails")],
)
def test_verdicts_on_accuracy(fourier, fastfood, expected):
    numbers = [0.0, 0.9, 0.5, fourier, fastfood]
    names = ("relative_error", "deviation_mmd")
    columns = {"method": ["exact", *table1.METHODS]}
    columns |= dict.fromkeys(names, numbers)
    columns |= {f"paper_{name}": numbers for name in names}
    verdicts = table1._more_accurate(Table("table1", "A row is a method.", columns))
    assert [verdict.holds for verdict in verdicts] == [expected] * 2


@pytest.mark.parametrize(
    ("speeds", "expected"),
    [
        ((1100.0, 2000.0), "holds"),
        ((900.0, 1000.0), "holds partly"),
        ((9.0, 9.0), "fails"),
    ],
)
def test_verdict_on_speed(speeds, expected):
    columns = {
        "method": ["fourier", "fastfood"],
        "seconds": [1.0, 2.0],
        "speed_up_over_numpy": speeds,
        "speed_up_over_exact": [10.0, 5.0],
        "paper_speed_up": [1192.0, 2417.0],
    }
    verdict = table1._thousand_times(Table("table1-times", "A row is a method.", columns))
    assert verdict.holds == expected
