"""The scalar problem of sparse possibilistic clustering, against a bracketing solver and against
its own objective."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.special import lambertw

from cmeans import CMeans
from cmeans.papers import LocallySparse
from cmeans.rules import Possibilistic, SparsePossibilistic
from cmeans.rules.sparse import _lambert


def problems(count):
    """(d2, eta, lambda, p) over a wide range; lambda up to what leaves the cluster a radius."""
    rng = np.random.default_rng(5)
    for _ in range(count):
        p, eta = rng.uniform(0.03, 0.97), 10.0 ** rng.uniform(-6, 6)
        yield eta * 8 * rng.random() ** 3, eta, eta * rng.random() * np.exp(-p) / (1 - p), p


def cost(u, d2, eta, strength, p):
    return 0.0 if u == 0 else u * d2 + eta * (u * np.log(u) - u) + strength * u**p


def largest_root(d2, eta, strength, p):
    """By bracketing: the derivative falls, then rises; 0 where it has no root."""

    def slope(u):
        return d2 / eta + np.log(u) + strength / eta * p * u ** (p - 1)

    lowest = (strength * p * (1 - p) / eta) ** (1 / (1 - p))
    return (
        brentq(slope, lowest, max(1.0, 2 * lowest), xtol=1e-300, rtol=8.9e-16, maxiter=500)
        if slope(lowest) < 0
        else 0.0
    )


RULES = {"global": SparsePossibilistic, "local": LocallySparse}


@pytest.mark.parametrize("test", ["global", "local"])
def test_the_root_is_the_bracketed_one(test):
    taken = 0
    for d2, eta, strength, p in problems(600):
        root = largest_root(d2, eta, strength, p)
        if test == "global" and root and cost(root, d2, eta, strength, p) >= 0:
            root = 0.0
        rule = RULES[test](sparsity=strength, share=0.0, p=p)
        u = float(rule.memberships(np.array([[d2]]), np.array([eta]))[0, 0])
        assert u == pytest.approx(root, rel=1e-12, abs=0)
        taken += root > 0
    assert 150 < taken < 570


def test_nothing_beats_the_global_answer():
    for d2, eta, strength, p in problems(400):
        rule = SparsePossibilistic(sparsity=strength, share=0.0, p=p)
        u = float(rule.memberships(np.array([[d2]]), np.array([eta]))[0, 0])
        here = cost(u, d2, eta, strength, p)
        others = [
            0.0,
            *np.geomspace(1e-12, 1.2, 60),
            *(u * factor for factor in (1 - 1e-3, 1 + 1e-3)),
        ]
        assert here <= min(cost(v, d2, eta, strength, p) for v in others) + 1e-12 * eta


def test_lambert_is_scipys():
    z = np.concatenate([np.linspace(0, 0.36, 5001), 10.0 ** -np.linspace(1, 300, 300)])
    np.testing.assert_allclose(_lambert(z), lambertw(-z).real, rtol=2e-13, atol=0)


def test_without_sparsity_it_is_the_exponential():
    d2, eta = np.random.default_rng(0).uniform(0, 9, size=(50, 3)), np.array([0.1, 1.0, 7.0])
    np.testing.assert_array_equal(
        SparsePossibilistic(sparsity=0.0).memberships(d2, eta), np.exp(-d2 / eta)
    )
    nearly = SparsePossibilistic(sparsity=1e-300).memberships(d2, eta)
    np.testing.assert_allclose(nearly, np.exp(-d2 / eta), rtol=1e-12)


@pytest.mark.parametrize("p", [0.2, 0.5, 0.8])
@pytest.mark.parametrize("test", ["global", "local"])
def test_a_cluster_wants_what_is_within_its_radius(test, p):
    eta = np.array([0.5, 1.0, 20.0])
    rule = RULES[test](share=0.5 * SparsePossibilistic(share=0.0, p=p).largest_share, p=p)
    radii = rule.radii(eta)
    assert (radii > 0).all()
    inside, outside = (rule.memberships(radii[None, :] * factor, eta) for factor in (1 - 1e-9, 1.0))
    assert (inside > 0).all()
    assert (outside == 0).all()


def test_the_radius_of_the_smallest_cluster_depends_on_the_share_alone():
    """R^2 / eta = (ln p + 2 - 2p - ln share) / (1 - p): 0.824 for p = .5 and a share of .9."""
    for scale in (1e-6, 1.0, 1e6):
        assert SparsePossibilistic().radii(np.array([1.0, 3.0]) * scale)[0] == pytest.approx(
            2 * (np.log(0.5) + 1 - np.log(0.9)) * scale, rel=1e-12
        )


def test_rows_that_belong_nowhere_are_labelled_so():
    rng = np.random.default_rng(0)
    X = np.vstack([rng.normal(size=(60, 2)), rng.normal(size=(60, 2)) + 12, [[40.0, -40.0]]])
    model = CMeans(
        2, rule=SparsePossibilistic(share=0.3, pilot_m=2.0), kernel="linear", random_state=0
    ).fit(X)
    assert model.labels_[-1] == -1
    np.testing.assert_array_equal(model.memberships_[-1], 0)
    np.testing.assert_array_equal(model.labels_ == -1, (model.memberships_ == 0).all(axis=1))
    np.testing.assert_array_equal(model.predict(X), model.labels_)
    assert (model.representatives(3) >= 0).all()
    assert model.outlier_score(X)[-1] == 1


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_the_objective_never_rises_at_given_scales():
    X = np.random.default_rng(1).normal(size=(200, 3)) + 4 * np.arange(200)[:, None] // 100
    for rule in (
        SparsePossibilistic(share=0.0, pilot_m=2.0),
        SparsePossibilistic(share=0.2, pilot_m=2.0),
    ):
        model = CMeans(2, rule=rule, kernel="linear", tol=0, max_iter=30, random_state=0).fit(X)
        history = np.array(model.objective_history_)
        assert (np.diff(history) <= 1e-9 * history[0]).all()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ({"p": 0}, "p must lie between 0 and 1"),
        ({"p": 1.0}, "p must lie between 0 and 1"),
        ({"p": float("nan")}, "p must lie between 0 and 1"),
        ({"sparsity": -1}, "at least 0"),
        ({"sparsity": float("inf")}, "at least 0"),
        ({"share": 1.36}, r"below 1.359 for p=0.5"),
        ({"share": -0.1}, "at least 0"),
    ],
)
def test_words_beyond_reason_are_refused(words, message):
    with pytest.raises(ValueError, match=message):
        SparsePossibilistic(**words)


def test_scales_are_needed():
    for rule in (Possibilistic(2.0), SparsePossibilistic()):
        with pytest.raises(ValueError, match="fuzzy run"):
            rule.memberships(np.ones((2, 2)), None)


@pytest.mark.parametrize("test", ["global", "local"])
@pytest.mark.parametrize("p", [0.3, 0.5, 0.8])
def test_reach_bounds_every_radius_from_below(p, test):
    """Lambda is lowered where it would cut a cluster, just so far, and left alone where it does
    not."""
    share = 0.5 * SparsePossibilistic(p=p).largest_share
    for scales in (np.array([4.0, 7.0]), np.array([0.05, 3.0]), np.array([0.02, 0.03])):
        plain = RULES[test](share=share, p=p)
        rule = RULES[test](share=share, p=p, reach=3.0)
        over = rule.radii(scales) / (3.0 * scales**2)
        if (plain.radii(scales) >= 3.0 * scales**2).all():
            assert rule.strength(scales) == plain.strength(scales)
        else:
            assert over.min() == pytest.approx(1.0, rel=1e-12)
            assert rule.strength(scales) < plain.strength(scales)
    with pytest.raises(ValueError, match="reach"):
        SparsePossibilistic(reach=-1.0)
