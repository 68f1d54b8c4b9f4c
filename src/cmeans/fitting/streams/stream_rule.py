"""The rule that the parameters of a stream ask for."""

from __future__ import annotations

from typing import Any, get_args

from ...rules import Fuzzy, Hard, Mixture, NoiseFuzzy, Rule
from ...rules.base import rule_of
from ...runtime.checks import parameters_of
from ..arguments import StreamRule, StretchedStreamRule, changed_among

GAUSSIAN = "gaussian"  # the rule of mixtures, of streams whose clusters have covariances


def stream_rule(estimator: Any, name: str) -> Rule:
    """Return the rule of the parameters: a name has `m` and `noise` beside it, an object its
    own."""
    if estimator.rule == Fuzzy.name:
        m, share = estimator.m, estimator.noise
        with parameters_of(name, share="noise"):
            return Fuzzy(m) if share is None else NoiseFuzzy(m, share)
    if estimator.rule == GAUSSIAN and "covariance" in vars(estimator):
        return _mixture(estimator, name)
    names = StretchedStreamRule if "covariance" in vars(estimator) else StreamRule
    rule = rule_of(estimator.rule, name, get_args(names))
    if estimator.rule == Hard.name and estimator.noise is not None:
        raise ValueError(
            f"{name}(noise={estimator.noise!r}): there is no hard rule with noise; take "
            'rule="fuzzy", or noise=None.'
        )
    if rule is estimator.rule:
        for word in changed_among({"m", "noise"}, estimator):
            raise ValueError(
                f"{name}({word}={getattr(estimator, word)!r}): rule={rule!r} is an object that "
                "holds its own parameters."
            )
    if rule.needs_pilot or rule.has_prices or rule.most_clusters is not None:
        raise ValueError(
            f"{name}(rule={rule!r}): a stream keeps no scales, prices or nearest clusters of "
            "rows; give another rule."
        )
    return rule


def _mixture(estimator: Any, name: str) -> Rule:
    """Return the rule of a mixture of Gaussians."""
    said = f'{name}(rule="{GAUSSIAN}"'
    if estimator.noise is not None:
        raise ValueError(
            f"{said}, noise={estimator.noise!r}): a stream has no noise beside Gaussians so far; "
            "take noise=None, or GaussianMixture."
        )
    if estimator.covariance is None:
        raise ValueError(
            f'{said}, covariance=None): Gaussians have covariances; take covariance="full", '
            '"diag", "tied" or "spherical".'
        )
    return Mixture()
