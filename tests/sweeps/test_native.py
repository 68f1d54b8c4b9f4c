"""Native sweeps as a whole: their arithmetic, and where they run."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
import pytest
from scipy import sparse

from cmeans import CMeans, FuzzyCMeans, KernelKMeans, PossibilisticCMeans, native
from cmeans.data.blocks import Blocks
from cmeans.data.precision import resolution
from cmeans.kernels import RBF
from cmeans.native.calls import ADDRESS, REAL, WHOLE, address
from cmeans.papers import PrintedCMeans
from cmeans.rules import Fuzzy, Hard, Possibilistic, Rule
from cmeans.spaces import EuclideanSpace, ExactSpace, landmark_space
from cmeans.sweeps import choice
from contracts.arrays import DTYPES, as_form, cut_raggedly

pytestmark = pytest.mark.skipif(
    os.environ.get("CMEANS_NATIVE") == "off",
    reason="CMEANS_NATIVE=off: there is no native code to test",
)

# ------------------------------------------------------------------------- the elementary functions

# units of the dtype's resolution that a logarithm or an exponential may be off by, as measured: 1.9
# and 1.6
ULPS = 2
EXACT = np.longdouble
LOWEST = {"float32": -87.0, "float64": -708.0}  # exponentials of less are zero
LANES = 16


def run(name: str, x: np.ndarray, *parameters: float) -> np.ndarray:
    padded = np.concatenate([x, np.ones(-len(x) % LANES, x.dtype)])
    out = np.empty_like(padded)
    function = native.function(name, x.dtype, (ADDRESS, *[REAL] * len(parameters), WHOLE, ADDRESS))
    function(address(padded), *parameters, len(padded), address(out))
    return out[: len(x)]


@pytest.mark.parametrize("dtype", DTYPES)
def test_logarithms(dtype):
    """Of everything, and of numbers near one, where the result is small."""
    rng, kind = np.random.default_rng(0), np.finfo(dtype)
    x = np.exp(rng.uniform(np.log(float(kind.tiny)) + 1, np.log(float(kind.max)) - 1, 50_000))
    x = np.concatenate(
        [x, rng.uniform(0.5, 2, 50_000), 1 + rng.uniform(-1e-3, 1e-3, 10_000)]
    ).astype(dtype)
    expected = np.log(x.astype(EXACT))
    assert (
        np.abs(run("logarithm_of", x) - expected) <= ULPS * resolution(dtype) * np.abs(expected)
    ).all()
    special = run("logarithm_of", np.array([0, kind.tiny / 2, 1, np.nan], dtype=dtype))
    np.testing.assert_array_equal(special, [-np.inf, -np.inf, 0, np.nan])


@pytest.mark.parametrize("dtype", DTYPES)
def test_exponentials(dtype):
    x = np.random.default_rng(0).uniform(LOWEST[dtype], 0, 100_000).astype(dtype)
    expected = np.exp(x.astype(EXACT))
    assert (
        np.abs(run("exponential_of", x) - expected) <= ULPS * resolution(dtype) * expected
    ).all()
    special = run(
        "exponential_of", np.array([0, 1.001 * LOWEST[dtype], -np.inf, np.nan], dtype=dtype)
    )
    np.testing.assert_array_equal(special, [1, 0, 0, np.nan])


@pytest.mark.parametrize("exponent", [0.05, 0.5, 1, 2, 20, 250])
@pytest.mark.parametrize("dtype", DTYPES)
def test_powers(dtype, exponent):
    """By logarithms, so that a result e^-t is off by t times what the logarithm was; below the
    lowest exponential it is zero."""
    x = np.random.default_rng(0).uniform(0, 1, 100_000).astype(dtype)
    t = -EXACT(np.dtype(dtype).type(exponent)) * np.log(x.astype(EXACT))
    y, lowest = run("power_of", x, exponent), -LOWEST[dtype]
    there = t < 0.999 * lowest
    assert (np.abs(y - np.exp(-t)) <= ULPS * resolution(dtype) * (1 + t) * np.exp(-t))[there].all()
    assert (y[t > 1.001 * lowest] == 0).all()
    np.testing.assert_array_equal(
        run("power_of", np.array([0, 1, np.nan], dtype=dtype), exponent), [0, 1, np.nan]
    )


# --------------------------------------------------------------------------------------- the choice


class Own(Rule):
    """Anybody's rule: no native code knows it."""

    def memberships(self, d2, scales):
        return Fuzzy(2.0).memberships(d2, scales)

    def weights(self, u):
        return u * u


def is_native(rule: Rule, x: Any, space: Any = None, clusters: int = 8) -> bool:
    space = EuclideanSpace(np.zeros(x.shape[1])) if space is None else space
    return choice.sweeps_are_native(space, Blocks(x, np.ones(x.shape[0])), rule, clusters)


def test_rows_of_any_number_are_swept_by_native_code():
    for rule in (Hard(), Fuzzy(2.0), Fuzzy(1.3), Possibilistic(2.0)):
        assert is_native(rule, np.zeros((1, 2)))
        assert is_native(rule, np.broadcast_to(0.0, (10**6, 200)))
    # for matrix products
    assert not is_native(Hard(), np.broadcast_to(0.0, (60_000, 6000)), clusters=100)


def test_what_native_code_does_not_know():
    x = np.random.default_rng(0).normal(size=(20, 2))
    landmarks = landmark_space(RBF(1.0), x[:5], None, x.dtype)
    assert is_native(Hard(), x, landmarks)
    assert is_native(Hard(), sparse.csr_array(x), landmarks)
    assert not is_native(Own(), x)
    assert is_native(Hard(), sparse.csr_array(x))
    # about another point than the origin these are dense
    assert not is_native(Hard(), sparse.csr_array(x), EuclideanSpace(np.ones(2)))
    assert not is_native(Hard(), as_form(x, "array_api_strict"))
    assert not is_native(Hard(), as_form(x, "torch"))
    assert not is_native(Hard(), x, ExactSpace(RBF(1.0), Blocks(x, np.ones(20))))


@pytest.mark.filterwarnings("ignore:.*collapsed")
@pytest.mark.parametrize("columns", [2, 140])
def test_the_generic_sweeps_are_not_touched_where_native_ones_run(columns, monkeypatch):
    """And the other way round; the two agree."""

    def refuse(*words):
        raise AssertionError("this sweep was not to run")

    rng = np.random.default_rng(0)
    X = rng.normal(size=(3000, columns)) + 4 * rng.integers(0, 3, size=(3000, columns))
    words = {"kernel": "linear", "random_state": 0, "tol": 1e-2}
    for model in (KernelKMeans(8, **words), FuzzyCMeans(8, m=1.5, **words)):
        with monkeypatch.context() as patch:
            for name in ("sweep", "assign"):
                patch.setattr(choice.generic, name, refuse)
            patch.setattr(choice.generic_measures, "distances", refuse)
            here = dict(vars(model.fit(X)), distances=model.transform(X))
        with monkeypatch.context() as patch:
            patch.setattr("cmeans.native.is_available", lambda: False)
            for name in ("NativeSweep", "BoundedSweep", "NativeAssign", "NativeMeasure"):
                patch.setattr(choice, name, refuse)
            generic_fit = dict(vars(model.fit(X)), distances=model.transform(X))
        assert here["n_iter_"] == generic_fit["n_iter_"]
        assert here["objective_"] == pytest.approx(generic_fit["objective_"], rel=1e-9)
        np.testing.assert_array_equal(here["labels_"], generic_fit["labels_"])
        np.testing.assert_allclose(here["distances"], generic_fit["distances"], rtol=1e-6)


@pytest.mark.parametrize(
    "model", [CMeans(3, rule=Own()), PrintedCMeans(3, rule="hard")], ids=["own", "memberships"]
)
def test_a_fit_with_anything_else_ends_well(model, monkeypatch):
    """Rules that only the generic sweep knows, and the papers' stopping rule."""
    X = np.eye(3)[np.arange(90) % 3] * 5 + np.random.default_rng(0).normal(size=(90, 3))
    expected = model.set_params(random_state=0).fit(X).labels_
    monkeypatch.setattr("cmeans.native.is_available", lambda: False)
    np.testing.assert_array_equal(model.fit(X).labels_, expected)


# -------------------------------------------------------------------------------- rows of all kinds


@pytest.mark.filterwarnings("ignore:.*the clusters have collapsed:UserWarning")
@pytest.mark.parametrize("dtype", DTYPES)
def test_rows_of_every_kind_give_the_same_model(dtype, tmp_path):
    """Read-only rows, memory maps, rows in any order; kernel values as given."""
    X = (4 * np.eye(3)[np.arange(150) % 2] + np.random.default_rng(0).normal(size=(150, 3))).astype(
        dtype
    )
    ones = np.ones(150, dtype=dtype)
    X.setflags(write=False)
    np.save(tmp_path / "X.npy", X)
    for estimator in (KernelKMeans, FuzzyCMeans, PossibilisticCMeans):
        for words in ({"kernel": "rbf", "gamma": 0.1, "landmarks": 9}, {"kernel": "linear"}):
            expected = estimator(2, random_state=0, **words).fit(X, sample_weight=ones)
            for x in (
                np.asfortranarray(X),
                np.repeat(X, 2, axis=0)[::2],
                np.load(tmp_path / "X.npy", mmap_mode="r"),
            ):
                model = estimator(2, random_state=0, **words).fit(x)
                np.testing.assert_array_equal(model.labels_, expected.labels_)
                np.testing.assert_allclose(
                    model.transform(x[:9]),
                    expected.transform(X[:9]),
                    rtol=1e-4 if dtype == "float32" else 1e-10,
                )


@pytest.mark.filterwarnings("ignore:.*max_iter", "ignore:.*collapsed")
@pytest.mark.parametrize("workers", [2, 5])
@pytest.mark.parametrize("estimator", [KernelKMeans, FuzzyCMeans])
def test_any_number_of_threads_gives_the_same_bits(estimator, workers, monkeypatch):
    cut_raggedly(monkeypatch, block=50, tasks=7)
    X = np.random.default_rng(1).normal(size=(700, 6))
    for words in ({"kernel": "rbf", "landmarks": 140, "gamma": 0.1}, {"kernel": "linear"}):
        one, more = (
            estimator(5, random_state=0, n_jobs=jobs, tol=0, max_iter=9, **words)
            for jobs in (1, workers)
        )
        one.fit(X)
        more.fit(X)
        np.testing.assert_array_equal(more.memberships_, one.memberships_)
        assert more.objective_ == one.objective_
