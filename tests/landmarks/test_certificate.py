"""What a fit on landmarks says of the fit with the whole kernel, against naive loops over the whole
matrix."""

from __future__ import annotations

import dataclasses
import json
import warnings
from functools import cache

import numpy as np
import pytest

import naive
from cmeans import (
    CMeans,
    FuzzyCMeans,
    KernelKMeans,
    Landmarks,
    PossibilisticCMeans,
    StreamingFuzzyCMeans,
    TwoStepKernelKMeans,
    load,
    save,
)
from cmeans.data.limits import Limits
from cmeans.kernels import NormalizedPolynomial, Polynomial, Precomputed, Sigmoid
from cmeans.landmarks.certificate import Approximation
from cmeans.papers import GradientLandmarks
from cmeans.persistence.model_file import read_metadata
from forged import forge, parts_of
from limited import limited, within

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("one_thread")]

C, N = 3, 90


KERNELS = {
    "rbf": ({"kernel": "rbf", "gamma": 0.3}, lambda x, y: naive.rbf(x, y, 0.3)),
    "narrow": ({"kernel": "rbf", "gamma": 3.0}, lambda x, y: naive.rbf(x, y, 3.0)),
    "laplacian": ({"kernel": "laplacian", "gamma": 0.4}, lambda x, y: naive.laplacian(x, y, 0.4)),
    "polynomial": (
        {"kernel": Polynomial(degree=3, gamma=0.3, coef0=1)},
        lambda x, y: naive.polynomial(x, y, 0.3, 1, 3),
    ),
    "normalized": (
        {"kernel": NormalizedPolynomial(degree=3, gamma=0.3, coef0=1)},
        lambda x, y: naive.normalized_polynomial(x, y, 0.3, 1, 3),
    ),
    "cosine": ({"kernel": "cosine"}, naive.cosine),
    "linear": ({"kernel": "linear"}, naive.linear),
}
CENTRED = ("polynomial", "linear")  # about the mean of the landmarks
# directions that these kernels have on four features, less one to leave something out
FULL = {"cosine": 3, "linear": 3}


def rows(seed, n=N, d=4, dtype="float64"):
    rng = np.random.default_rng(seed)
    X = 2.5 * rng.normal(size=(C, d))[np.arange(n) % C] + rng.normal(size=(n, d)) + 1.0
    return X.astype(np.float32).astype(dtype)


@cache
def whole(kernel, seed, n=N):
    X = rows(seed, n)
    return naive.kernel_matrix(X, X, KERNELS[kernel][1])


def cost_of(K, u, m, weight, eta=None):
    """The objective of memberships with the whole kernel, each cluster at its own weighted mean."""
    return naive.objective(naive.exact_distances(K, weight[:, None] * u**m), u, m, weight, eta)


def left(K, Ks, Kss):
    """E = K - K_s K_ss^+ K_s^T."""
    values, vectors = np.linalg.eigh(Kss)
    kept = values > 1e-11 * values[-1]
    z = Ks @ vectors[:, kept] / np.sqrt(values[kept])
    return K - z @ z.T


def own_of(K, Ks, Kss, kernel):
    """k(x, x), of the kernel centred about the mean of the landmarks where constants do not
    matter."""
    return np.diag(K) - 2 * Ks.mean(axis=1) + Kss.mean() if kernel in CENTRED else np.diag(K)


RULES = {
    "hard": (KernelKMeans, {}, 1.0),
    "fuzzy": (FuzzyCMeans, {"m": 1.15}, 1.15),
    "possibilistic": (PossibilisticCMeans, {"m": 1.6, "pilot_m": 1.1, "eta_scale": 0.7}, 1.6),
}


def problems():
    """Every kernel with every rule, the other circumstances in turn."""
    number = 0
    for kernel in KERNELS:
        for rule in RULES:
            for _ in range(2):
                yield pytest.param(kernel, rule, number, id=f"{kernel}-{rule}-{number}")
                number += 1


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize(("kernel", "rule", "number"), problems())
def test_the_true_cost_lies_between_the_bounds(kernel, rule, number):
    """Whatever the landmarks, weights, precision, solver and however early the run stopped."""
    rng, seed = np.random.default_rng(number), number % 3
    make, own, m = RULES[rule]
    s = FULL.get(kernel, 6 + 5 * (number % 4))
    how = ("rpcholesky", "uniform", "points", "k-means++", "rows")[number % 5]
    dtype = "float32" if number % 3 == 1 else "float64"
    weight = (
        rng.integers(0, 4, size=N) + rng.uniform(size=N) * (number % 4 > 1)
        if number % 2
        else np.ones(N)
    )
    X, K = rows(seed, dtype=dtype), whole(kernel, seed)
    words = {
        **KERNELS[kernel][0],
        **own,
        "random_state": number,
        "max_iter": (300, 1, 2, 3, 5)[(number // 2) % 5],
    }
    solver = "gradient" if number % 6 == 5 and kernel not in FULL else "eigh"
    points = rows(100 + seed)[:s]
    choice = GradientLandmarks if solver == "gradient" else Landmarks
    if how == "points":
        chosen = choice(points=points.astype(dtype))
    elif how == "rows":
        chosen = choice(points=rng.choice(N, size=s, replace=False))
    else:
        chosen = choice(s, method=how)
    model = make(C, landmarks=chosen, **words).fit(X, sample_weight=weight)
    certificate, u = model.approximation_, np.asarray(model.memberships_, dtype=float)
    true = cost_of(K, u, m, weight, getattr(model, "eta_", None))
    low, high = certificate.cost_bounds
    single = 3e-6 if dtype == "float32" else 1e-11
    assert low <= true * (1 + single)
    assert high >= true * (1 - single)
    landmarks = np.asarray(model.landmarks_, dtype=float)
    Ks = naive.kernel_matrix(X.astype(float), landmarks, KERNELS[kernel][1])
    Kss = naive.kernel_matrix(landmarks, landmarks, KERNELS[kernel][1])
    error = np.maximum(np.diag(left(K, Ks, Kss)), 0)
    size = own_of(K, Ks, Kss, kernel)
    residual = float(weight @ error / (weight @ size))
    loose = dtype == "float32" or solver == "gradient"
    assert certificate.residual == pytest.approx(
        residual, rel=1e-3 if loose else 1e-6, abs=1e-4 if loose else 1e-9
    )
    assert certificate.residual_interval == (certificate.residual,) * 2
    assert certificate.n_landmarks == s == model.n_landmarks_
    # Nothing but what is left out, and rounding, is between the bounds.
    pull = float(weight @ (error * (u**m).sum(axis=1)))
    slack = (1e-5 if dtype == "float32" else 1e-10) * float(weight @ np.abs(size))
    assert high - low <= pull * (1 + 1e-2 * loose) + slack + 1e-4 * loose * float(
        weight @ np.abs(size)
    )
    if solver == "gradient":
        assert certificate.rank is None
        assert certificate.comparison_error is None
        return
    assert 1 <= certificate.rank <= s + (kernel in CENTRED)
    if kernel == "linear":
        return  # see below
    root = np.sqrt(weight)
    values = np.linalg.eigvalsh(root[:, None] * left(K, Ks, Kss) * root[None, :])
    leading = np.maximum(values[-C:], 0).sum()
    assert certificate.comparison_error == pytest.approx(
        leading / high, rel=0.03, abs=1e-4 if dtype == "float32" else 1e-8
    )


@pytest.mark.parametrize("kernel", ["rbf", "polynomial"])
@pytest.mark.parametrize("count", [1, 4])
def test_the_comparison_error_is_the_sum_of_the_largest_eigenvalues_of_what_is_left(kernel, count):
    """Of 800 rows, whose weights add where they are equal, 300 are looked at."""
    X = rows(7, 800)
    weight = np.random.default_rng(0).uniform(0.2, 3.0, size=800)
    if kernel == "rbf":
        words, K = (
            {"kernel": "rbf", "gamma": 0.3},
            np.exp(-0.3 * ((X[:, None] - X[None]) ** 2).sum(axis=2)),
        )
    else:
        words, K = {"kernel": Polynomial(degree=3, gamma=0.1, coef0=1)}, (0.1 * X @ X.T + 1) ** 3
    chosen = np.arange(0, 800, 32)
    model = KernelKMeans(count, landmarks=chosen, random_state=0, **words).fit(
        X, sample_weight=weight
    )
    root = np.sqrt(weight)
    error = root[:, None] * left(K, K[:, chosen], K[np.ix_(chosen, chosen)]) * root[None, :]
    expected = np.linalg.eigvalsh(error)[-count:].sum()
    assert model.approximation_.comparison_error == pytest.approx(
        expected / model.approximation_.cost_bounds[1], rel=0.15
    )


def test_the_comparison_error_of_the_linear_kernel():
    X, chosen = rows(0), np.array([0, 1, 2])
    model = KernelKMeans(C, kernel="linear", landmarks=chosen, random_state=0).fit(X)
    values = np.linalg.eigvalsh(left(X @ X.T, X @ X[chosen].T, X[chosen] @ X[chosen].T))
    assert model.approximation_.comparison_error == pytest.approx(
        values[-C:].sum() / model.approximation_.cost_bounds[1], rel=0.03
    )


@pytest.mark.parametrize("seed", range(4))
def test_partitions_compare_as_well_as_the_comparison_error_says(seed):
    """The difference of two partitions' costs, with the landmarks and with the whole kernel."""
    K, chosen = whole("rbf", seed % 3), np.arange(seed, N, 7)
    X = rows(seed % 3)
    model = KernelKMeans(C, gamma=0.3, landmarks=chosen, random_state=0).fit(X)
    approximate = K - left(K, K[:, chosen], K[np.ix_(chosen, chosen)])
    most, rng = (
        model.approximation_.comparison_error * model.approximation_.cost_bounds[1],
        np.random.default_rng(seed),
    )
    partitions = [
        np.eye(C)[model.labels_],
        *(np.eye(C)[rng.permutation(np.arange(N) % C)] for _ in range(6)),
    ]
    partitions += [
        np.eye(C)[np.where(rng.uniform(size=N) < 0.1, rng.integers(0, C, size=N), model.labels_)]
        for _ in range(6)
    ]
    costs = np.array(
        [[cost_of(one, u, 1, np.ones(N)) for one in (K, approximate)] for u in partitions]
    )
    differences = costs[:, None] - costs[None]
    assert np.abs(differences[..., 0] - differences[..., 1]).max() <= most * 1.03


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("offset", [3.0, 300.0])
def test_single_precision_far_from_the_origin(offset):
    """Values of a polynomial that are nearly all the same carry rounding of their own size."""
    Y = (rows(2, d=2) + offset).astype(np.float32)
    words = {
        "kernel": Polynomial(degree=2, gamma=1.0, coef0=1.0),
        "landmarks": np.arange(0, N, 15),
        "init": np.arange(C),
    }
    model, exact = KernelKMeans(C, **words).fit(Y), Y.astype(np.longdouble)
    squares = ((exact @ exact.T + 1) ** 2).astype(float)
    true = cost_of(squares, np.eye(C)[model.labels_], 1.0, np.ones(N))
    low, high = model.approximation_.cost_bounds
    assert low <= true <= high


def test_all_rows_as_landmarks_leave_nothing_out():
    X = rows(0)
    model = FuzzyCMeans(
        C, m=1.02, kernel="rbf", gamma=3.0, landmarks=np.arange(N), random_state=0
    ).fit(X)
    certificate = model.approximation_
    assert certificate.residual <= 1e-9
    assert certificate.comparison_error <= 1e-8
    assert (
        certificate.cost_bounds[1] - certificate.cost_bounds[0] <= 1e-9 * certificate.cost_bounds[1]
    )
    assert certificate.cost_bounds[1] == pytest.approx(
        cost_of(whole("narrow", 0), model.memberships_, 1.02, np.ones(N)), rel=1e-9
    )


@pytest.mark.filterwarnings("ignore:.*centres coincide:UserWarning")
def test_weights_of_k_are_k_copies_and_their_unit_counts():
    X, weight = rows(1), np.random.default_rng(0).integers(0, 4, size=N)
    words = {
        "m": 1.15,
        "kernel": "rbf",
        "gamma": 0.3,
        "landmarks": X[::9],
        "init": X[:C],
        "tol": 1e-10,
    }
    weighted = FuzzyCMeans(C, **words).fit(X, sample_weight=weight).approximation_
    copied = FuzzyCMeans(C, **words).fit(np.repeat(X, weight, axis=0)).approximation_
    tenth = FuzzyCMeans(C, **words).fit(X, sample_weight=weight / 1e7).approximation_
    assert weighted.residual == pytest.approx(copied.residual, rel=1e-9)
    np.testing.assert_allclose(weighted.cost_bounds, copied.cost_bounds, rtol=1e-9)
    assert weighted.comparison_error == pytest.approx(copied.comparison_error, rel=1e-6)
    np.testing.assert_allclose(np.array(tenth.cost_bounds) * 1e7, weighted.cost_bounds, rtol=1e-9)
    assert tenth.comparison_error == pytest.approx(weighted.comparison_error, rel=1e-6)


def test_it_is_the_same_for_any_number_of_threads():
    X = rows(2, 600)
    one, *others = (
        FuzzyCMeans(C, m=1.15, kernel="rbf", gamma=0.3, landmarks=20, random_state=0, n_jobs=k)
        .fit(X)
        .approximation_
        for k in (1, 2, 5)
    )
    assert all(other == one for other in others)


# ------------------------------------------------------------------------------------ from a sample


@pytest.mark.parametrize("weighted", [pytest.param(False, marks=pytest.mark.minutes), True])
def test_from_a_sample_the_truth_lies_within_99_percent_intervals_nearly_always(
    weighted, monkeypatch
):
    """Of 20 data sets at most two outside; where 100 of 400 rows are measured."""
    limited(monkeypatch, certified_rows=150, fixed_rows=100)
    missed, widths = np.zeros(3, dtype=int), []
    for seed in range(20):
        rng = np.random.default_rng(seed)
        X = 2.5 * rng.normal(size=(C, 3))[np.arange(400) % C] + rng.normal(size=(400, 3))
        weight = rng.uniform(0.1, 2.0, size=400) if weighted else np.ones(400)
        K = np.exp(-0.5 * ((X[:, None] - X[None]) ** 2).sum(axis=2))
        chosen = np.arange(0, 400, 20)
        model = KernelKMeans(
            C, gamma=0.5, landmarks=chosen, random_state=0, max_iter=3, tol=1.0
        ).fit(X, sample_weight=weight)
        certificate = model.approximation_
        error = np.diag(left(K, K[:, chosen], K[np.ix_(chosen, chosen)]))
        residual, (low, high) = weight @ error / weight.sum(), certificate.residual_interval
        u = np.eye(C)[model.labels_]
        a = weight[:, None] * u
        true = weight.sum() - sum(a[:, j] @ K @ a[:, j] / a[:, j].sum() for j in range(C))
        missed += [
            not low <= residual <= high,
            certificate.cost_bounds[0] > true,
            certificate.cost_bounds[1] < true,
        ]
        assert 40 < certificate.rows_measured <= 100
        assert low < certificate.residual < high
        widths.append((high - low) / residual)
    assert missed[0] <= 2
    assert missed[1] <= 2
    assert missed[2] == 0  # the upper bound needs no sample
    assert 0.05 < np.mean(widths) < 0.6


def test_the_sample_is_the_same_whatever_the_seed(monkeypatch):
    """So that certificates of different seeds compare: the same partition, the same words about
    it."""
    limited(monkeypatch, certified_rows=150, fixed_rows=100)
    X = rows(3, 400)
    words = {
        "kernel": "rbf",
        "gamma": 0.3,
        "landmarks": np.arange(0, 400, 20),
        "init": np.arange(C),
    }
    first, second = (
        KernelKMeans(C, random_state=seed, **words).fit(X).approximation_ for seed in (0, 1)
    )
    assert first == second


def test_all_rows_are_measured_up_to_1000():
    assert (Limits().certified_rows, Limits().fixed_rows) == (1000, 1000)
    X = rows(4, 600)
    assert (
        KernelKMeans(C, gamma=0.3, landmarks=20, random_state=0).fit(X).approximation_.rows_measured
        == 600
    )
    weight = np.ones(600)
    weight[::3] = 0
    model = KernelKMeans(C, gamma=0.3, landmarks=20, random_state=0).fit(X, sample_weight=weight)
    assert model.approximation_.rows_measured == 400


# ------------------------------------------------------------------------------- where it is silent


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_kernels_that_are_indefinite_have_none():
    X = rows(5)
    indefinite = np.tanh(0.5 * X @ X.T - 1.0)
    assert np.linalg.eigvalsh(indefinite)[0] < -1e-3
    model = KernelKMeans(
        C, kernel=Sigmoid(gamma=0.5, coef0=-1.0), landmarks=20, random_state=0
    ).fit(X)
    assert model.approximation_ is None
    assert (
        KernelKMeans(C, kernel="precomputed", landmarks=20, random_state=0)
        .fit(indefinite)
        .approximation_
        is None
    )
    named = KernelKMeans(
        C, kernel=lambda x, y: np.tanh(0.5 * x @ y.T - 1.0), landmarks=20, random_state=0
    ).fit(X)
    assert named.approximation_ is None


def test_a_precomputed_kernel_that_is_definite_has_one():
    K = whole("rbf", 0)
    given = (
        KernelKMeans(C, kernel="precomputed", landmarks=np.arange(0, N, 9), init=np.arange(C))
        .fit(K)
        .approximation_
    )
    made = (
        KernelKMeans(C, gamma=0.3, landmarks=np.arange(0, N, 9), init=np.arange(C))
        .fit(rows(0))
        .approximation_
    )
    assert given.residual == pytest.approx(made.residual, rel=1e-6)
    np.testing.assert_allclose(given.cost_bounds, made.cost_bounds, rtol=1e-9)
    assert given.comparison_error == pytest.approx(made.comparison_error, rel=1e-4)
    chosen = np.arange(0, N, 9)
    columns = KernelKMeans(
        C, kernel=Precomputed(diagonal=np.diag(K)), landmarks=chosen, init=np.arange(C)
    )
    only = columns.fit(K[:, chosen]).approximation_
    np.testing.assert_allclose(only.cost_bounds, made.cost_bounds, rtol=1e-9)
    assert only.residual == pytest.approx(made.residual, rel=1e-6)
    assert only.comparison_error is None  # the kernel between rows is not known


def test_a_callable_that_is_definite_has_one():
    X = rows(0)
    model = KernelKMeans(
        C,
        kernel=lambda x, y: np.exp(-0.3 * ((x[:, None] - y[None]) ** 2).sum(axis=2)),
        landmarks=20,
        random_state=0,
    )
    made = KernelKMeans(C, gamma=0.3, landmarks=20, random_state=0)
    assert model.fit(X).approximation_.residual == pytest.approx(
        made.fit(X).approximation_.residual, rel=1e-6
    )


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_fits_without_landmarks_have_none_and_a_refit_forgets():
    X = rows(6)
    model = FuzzyCMeans(C, m=1.15, kernel="rbf", gamma=0.3, landmarks=20, random_state=0).fit(X)
    assert isinstance(model.approximation_, Approximation)
    assert model.set_params(landmarks=None).fit(X).approximation_ is None
    assert model.set_params(kernel="linear", m=2.0).fit(X).approximation_ is None
    assert (
        CMeans(C, rule="hard", kernel="rbf", gamma=0.3, landmarks=20, random_state=0)
        .fit(X)
        .approximation_
        is not None
    )
    for other in (
        StreamingFuzzyCMeans(C, m=1.15, kernel="rbf", gamma=0.3, random_state=0),
        TwoStepKernelKMeans(C, gamma=0.3, random_state=0),
    ):
        assert getattr(other.fit(X), "approximation_", None) is None


# ------------------------------------------------------------------------------- in words and files

EXAMPLE = Approximation(50, 48, 0.0123, (0.0111, 0.0135), (101.5, 103.25), 0.0042, 2000)


def test_in_words():
    assert str(EXAMPLE) == (
        "50 landmarks (rank 48) leave out 1.23% (1.11 to 1.35%) of the kernel; "
        "the true cost lies in [101.5, 103.25]; costs of partitions compare to 0.42%"
    )
    bare = dataclasses.replace(
        EXAMPLE, rank=None, residual_interval=(0.0123, 0.0123), comparison_error=None
    )
    assert (
        str(bare)
        == "50 landmarks leave out 1.23% of the kernel; the true cost lies in [101.5, 103.25]"
    )
    assert str(dataclasses.replace(bare, rank=50)) == str(bare)


def test_it_does_not_change():
    with pytest.raises(dataclasses.FrozenInstanceError):
        EXAMPLE.residual = 0.0


@cache
@within()
def a_model():
    return FuzzyCMeans(C, m=1.15, kernel="rbf", gamma=0.3, landmarks=20, random_state=0).fit(
        rows(0)
    )


@pytest.fixture
def saved(tmp_path):
    save(a_model(), tmp_path / "model.safetensors")
    return a_model(), tmp_path / "model.safetensors"


@pytest.mark.parametrize("whole_rows", [True, False])
@pytest.mark.parametrize(
    "words", [{}, {"landmarks": GradientLandmarks()}, {"landmarks": None}], ids=str
)
def test_it_survives_a_file(words, whole_rows, tmp_path):
    model = FuzzyCMeans(
        C, **{"m": 1.15, "kernel": "rbf", "gamma": 0.3, "landmarks": 20, "random_state": 0, **words}
    ).fit(rows(0))
    path = tmp_path / "model.safetensors"
    save(model, path, rows=whole_rows)
    again = load(path)
    assert again.approximation_ == model.approximation_
    assert type(again.approximation_) is type(model.approximation_)
    assert str(again.approximation_) == str(model.approximation_)
    shown = read_metadata(path)["fitted"].get("approximation_")
    if model.approximation_ is None:
        assert shown is None
    else:
        expected = {
            name: list(v) if isinstance(v, tuple) else v
            for name, v in dataclasses.asdict(model.approximation_).items()
        }
        assert json.loads(json.dumps(shown)) == expected


def rewritten(path, change):
    """The file with the certificate in its header changed."""
    header, arrays = parts_of(path.read_bytes())
    change(header["fitted"])
    forge(path, header, arrays)


FIELDS = {
    "residual": [None, "much", True, [0.1], {"$list": [0.1]}, float("nan")],
    "residual_interval": [
        None,
        0.1,
        {"$list": [0.1]},
        {"$list": [0.1, 0.2, 0.3]},
        {"$list": ["a", "b"]},
        {"$list": [0.1, float("inf")]},
    ],
    "cost_bounds": [None, {"$list": [True, 1.0]}, {"$array": "dual_coef_"}],
    "landmarks": [None, 1.5, "20", True],
    "rank": [1.5, "20", True],
    "comparison_error": ["0.1", {"$list": [0.1]}],
    "rows_measured": [None, 1.5],
}


@pytest.mark.parametrize(
    ("field", "value"),
    [(field, value) for field, values in FIELDS.items() for value in values],
    ids=str,
)
def test_a_damaged_field_is_refused(saved, field, value):
    _, path = saved

    def change(fitted):
        fitted["approximation_"]["fields"][field] = value

    rewritten(path, change)
    for reading in (load, read_metadata):
        with pytest.raises(ValueError, match=r"damaged|not a readable"):
            reading(path)


@pytest.mark.parametrize("field", ["residual", "rank", "cost_bounds"])
def test_a_missing_or_additional_field_is_refused(saved, field):
    _, path = saved
    rewritten(path, lambda fitted: fitted["approximation_"]["fields"].pop(field))
    for reading in (load, read_metadata):
        with pytest.raises(ValueError, match="damaged"):
            reading(path)


def test_a_field_that_nobody_knows_is_refused(saved):
    _, path = saved
    rewritten(path, lambda fitted: fitted["approximation_"]["fields"].update(other=1.0))
    for reading in (load, read_metadata):
        with pytest.raises(ValueError, match="damaged"):
            reading(path)


INSTEAD = ["all is well", 1.0, True, {"$list": [1.0]}, {"$object": "Hard", "fields": {}}]
UNKNOWN = {"$object": "os", "fields": {}}


@pytest.mark.parametrize(
    ("value", "message"),
    [
        *((value, "damaged") for value in INSTEAD),
        (UNKNOWN, "object of the class os, which is not known here"),
    ],
    ids=str,
)
def test_something_else_in_its_place_is_refused(saved, value, message):
    _, path = saved
    rewritten(path, lambda fitted: fitted.update(approximation_=value))
    for reading in (load, read_metadata):
        with pytest.raises(ValueError, match=message):
            reading(path)


def test_a_warning_about_the_kernel_does_not_come_twice():
    """The certificate looks at the sampled kernel again, and says nothing of it."""
    X = rows(0)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        KernelKMeans(
            C,
            kernel=lambda x, y: np.tanh(0.5 * x @ y.T - 1.0),
            landmarks=20,
            random_state=0,
            max_iter=300,
        ).fit(X)
    assert (
        sum("negative" in str(one.message) or "indefinite" in str(one.message) for one in caught)
        <= 1
    )
