"""Every rule keeps the contract, and agrees with the naive loops."""

from __future__ import annotations

import numpy as np
import pytest

import naive
import naive_sizes
from cmeans.papers import PrintedFuzzy
from cmeans.rules import (
    Entropy,
    Fuzzy,
    Hard,
    Mixture,
    NoiseFuzzy,
    NoiseMixture,
    PolynomialFuzzy,
    Possibilistic,
    SizedEntropy,
    SizedFuzzy,
    SizedHard,
    SparsePossibilistic,
    Truncated,
)
from contracts.rule import RuleContract, distances

SCALES = np.array([0.5, 1.0, 3.0, 20.0])


class TestHard(RuleContract):
    rule = Hard()


class TestFuzzy(RuleContract):
    rule = Fuzzy(2.0)


class TestNearlyHard(RuleContract):
    rule = Fuzzy(1.004)


class TestVeryFuzzy(RuleContract):
    rule = Fuzzy(4.5)


class TestFuzzyWithThePrintedExponent(RuleContract):
    rule = PrintedFuzzy(2.0)
    minimises = False


class TestNoiseFuzzy(RuleContract):
    rule = NoiseFuzzy(2.0, delta=0.7)

    def in_units(self, factor):
        return NoiseFuzzy(self.rule.m, delta=self.rule.delta * factor)


class TestNearlyHardNoise(TestNoiseFuzzy):
    rule = NoiseFuzzy(1.05, delta=0.1)


class TestVeryFuzzyNoise(TestNoiseFuzzy):
    rule = NoiseFuzzy(3.0, delta=20.0)


class TestPolynomialFuzzy(RuleContract):
    rule = PolynomialFuzzy(0.5)


class TestNearlyHardPolynomialFuzzy(RuleContract):
    rule = PolynomialFuzzy(0.99)


class TestPolynomialFuzzyOfBetaZero(RuleContract):
    rule = PolynomialFuzzy(0.0)


class TestTruncated(RuleContract):
    rule = Truncated(Fuzzy(2.0), 3)
    minimises = False  # among those of three clusters alone: see test_truncated.py


class TestTruncatedToAllClusters(RuleContract):
    rule = Truncated(Fuzzy(1.5), 4)


class TestPossibilistic(RuleContract):
    rule, scales = Possibilistic(2.0), SCALES


class TestNearlyHardPossibilistic(RuleContract):
    rule, scales = Possibilistic(1.05), SCALES


class TestVeryPossibilistic(RuleContract):
    rule, scales = Possibilistic(3.0), SCALES


class TestExponential(RuleContract):
    rule, scales = SparsePossibilistic(share=0.0), SCALES


class TestSparse(RuleContract):
    rule, scales = SparsePossibilistic(share=0.3), SCALES
    sure_at_centres = False


class TestEntropy(RuleContract):
    rule = Entropy(1.5)
    sure_at_centres = False
    penalty_costs = False

    def in_units(self, factor):
        return Entropy(1.5 * factor)


class TestNearlyHardEntropy(TestEntropy):
    rule = Entropy(0.01)

    def in_units(self, factor):
        return Entropy(0.01 * factor)


class OfPrices(RuleContract):
    """A rule with prices, of which the contract knows those alone that leave a row at one centre or
    several what it is without."""

    scales = np.zeros(4)


class TestSizedHard(OfPrices):
    rule = SizedHard()


class TestSizedFuzzy(OfPrices):
    rule = SizedFuzzy(2.0)


class TestNearlyHardSizedFuzzy(OfPrices):
    rule = SizedFuzzy(1.05)


class TestVerySizedFuzzy(OfPrices):
    rule = SizedFuzzy(4.5)


class TestSizedEntropy(OfPrices):
    rule = SizedEntropy(1.5)
    sure_at_centres = False
    penalty_costs = False

    def in_units(self, factor):
        return SizedEntropy(1.5 * factor)


class TestMixture(OfPrices):
    rule = Mixture()
    is_of_metrics = True
    sure_at_centres = False
    penalty_costs = False


class TestNoiseMixture(TestMixture):
    rule = NoiseMixture(0.0)


@pytest.mark.parametrize(
    "rule", [SizedHard(), SizedFuzzy(1.3), SizedFuzzy(2.0), SizedFuzzy(3.0), SizedEntropy(0.7)]
)
def test_memberships_with_prices_are_naive(rule):
    prices, d2 = np.array([0.4, -1.0, 0.0, 2.5]), distances()
    np.testing.assert_allclose(
        rule.memberships(d2, prices), naive_sizes.memberships(rule, d2, prices), rtol=0, atol=1e-9
    )


@pytest.mark.parametrize(("noise", "log_volume"), [(0.0, 0.0), (0.1, -3.0), (0.1, 4.0)])
def test_posteriors_are_naive(noise, log_volume):
    """By shares, covariances and densities in three columns, of which rules know scales alone."""
    shares, volumes = np.array([0.4, 0.1, 0.3, 0.2]) * (1 - noise), np.array([0.3, -1, 0, 2])
    circle, d2 = 3 * np.log(2 * np.pi), distances()
    densities = shares * np.exp(-(d2 + volumes + circle) / 2)
    whole = densities.sum(axis=1) + noise * np.exp(-log_volume)
    rule, scales = Mixture(), 2 * np.log(shares) - volumes
    if noise:
        rule, scales = NoiseMixture(log_volume), scales - 2 * np.log(noise) - circle
        scales += 2 * log_volume
    u = rule.memberships(d2, scales)
    np.testing.assert_allclose(u, densities / whole[:, None], rtol=1e-9, atol=1e-12)
    likelihoods = rule.log_likelihoods(d2, scales, volumes, 3)
    np.testing.assert_allclose(likelihoods, np.log(whole), rtol=1e-9)
    np.testing.assert_allclose(rule.component_weights(scales, volumes, 3), shares, rtol=1e-12)


@pytest.mark.parametrize("rule", [SizedHard(), SizedFuzzy(2.0), SizedEntropy(0.7)])
def test_prices_that_are_missing_say_where_they_come_from(rule):
    with pytest.raises(ValueError, match="sizes=Sizes"):
        rule.memberships(distances(), None)


def test_hard_is_naive():
    np.testing.assert_array_equal(
        Hard().memberships(distances(), None), naive.hard_memberships(distances())
    )


@pytest.mark.parametrize(
    ("m", "exponent"), [(2, None), (1.3, None), (1.05, None), (4, None), (2, 2.0), (1.5, 1.0)]
)
def test_fuzzy_is_naive(m, exponent):
    rule = Fuzzy(m) if exponent is None else PrintedFuzzy(m, exponent)
    np.testing.assert_allclose(
        rule.memberships(distances(), None),
        naive.fuzzy_memberships(distances(), m, exponent),
        rtol=0,
        atol=1e-12,
    )


@pytest.mark.parametrize("m", [2, 1.3, 1.05, 4])
@pytest.mark.parametrize("delta", [1e-3, 0.7, 400.0])
def test_noise_is_naive(m, delta):
    rule = NoiseFuzzy(m, delta=delta)
    u = rule.memberships(distances(), None)
    np.testing.assert_allclose(
        u, naive.noise_memberships(distances(), m, delta), rtol=0, atol=1e-12
    )
    assert rule.penalty(u, None).sum() == pytest.approx(
        naive.noise_penalty(u, m, delta), rel=1e-10, abs=1e-15
    )
    noise = 1 - u.sum(axis=1)
    np.testing.assert_array_equal(rule.left_out(u, distances()), noise > u.max(axis=1) + 1e-15)


@pytest.mark.parametrize("m", [2, 1.3, 1.05, 4])
def test_possibilistic_is_naive(m):
    u = Possibilistic(m).memberships(distances(), SCALES)
    np.testing.assert_allclose(
        u, naive.possibilistic_memberships(distances(), SCALES, m), rtol=0, atol=1e-12
    )
    penalty = Possibilistic(m).penalty(u, SCALES)
    expected = naive.objective(distances(), u, m, eta=SCALES) - naive.objective(distances(), u, m)
    assert penalty.sum() == pytest.approx(expected, rel=1e-10)


@pytest.mark.parametrize("T", [1e-3, 0.4, 1, 30, 1e9])
def test_entropy_is_naive(T):
    u = Entropy(T).memberships(distances(), None)
    np.testing.assert_allclose(u, naive.entropy_memberships(distances(), T), rtol=0, atol=1e-14)
    expected = naive.entropy_objective(distances(), u, T) - naive.objective(distances(), u, 1)
    assert Entropy(T).penalty(u, None).sum() == pytest.approx(expected, rel=1e-10, abs=1e-10)


@pytest.mark.parametrize("rule", [Fuzzy, Possibilistic])
@pytest.mark.parametrize("m", [1, 0.5, -2, np.nan])
def test_m_beyond_reason_is_refused(rule, m):
    with pytest.raises(ValueError, match=r"m must be .*greater than 1"):
        rule(m)


def test_possibilistic_without_scales_says_where_they_come_from():
    with pytest.raises(ValueError, match="fuzzy run"):
        Possibilistic(2.0).memberships(distances(), None)
