"""Judges and data: metrics, validity, data sets."""

from __future__ import annotations

import numpy as np

from cmeans import FuzzyCMeans, KernelKMeans, PossibilisticCMeans, datasets, metrics, validity

from .cases import Words, case
from .rows import SMALL, shares, weights


@case("metrics")
def _metrics() -> Words:
    rng = np.random.default_rng(0)
    truth = rng.integers(4, size=900)
    labels = np.where(rng.random(900) < 0.7, truth, rng.integers(6, size=900))
    noisy, names = np.where(rng.random(900) < 0.1, -1, labels), np.array(list("abcd"))[truth]
    u, v = shares(900, 5), shares(900, 5)[::-1]
    return {
        "purity": metrics.purity(truth, labels),
        "relative purity": metrics.relative_purity(names, labels, noisy),
        "success rate": [
            metrics.success_rate(truth, noisy, noise="cluster"),
            metrics.success_rate(truth, noisy, nearest=labels),
        ],
        "rand": [
            metrics.rand_measure(truth, noisy, noise="cluster"),
            metrics.rand_measure(names, noisy, nearest=labels),
        ],
        "generalized rand": [
            metrics.generalized_rand_measure(truth, u),
            metrics.generalized_rand_measure(u, v),
            metrics.generalized_rand_measure(u, v, n_pairs=5000, random_state=3),
        ],
        "objectives": [metrics.error_reduction(7.3, 2.9), metrics.percent_error(3.1, 2.9)],
    }


@case("validity")
def _validity() -> Words:
    x, said = SMALL(), {}
    models = [
        FuzzyCMeans(4, m=1.3, kernel="rbf", landmarks=40),
        KernelKMeans(4, kernel="linear"),
        PossibilisticCMeans(3, kernel="rbf", landmarks=None),
    ]
    for model in models:
        model.set_params(random_state=0).fit(x)
        said[type(model).__name__] = [
            validity.partition_coefficient(model.memberships_),
            validity.partition_coefficient(
                model.memberships_, normalized=True, sample_weight=weights(600)
            ),
            validity.partition_entropy(model.memberships_, sample_weight=weights(600)),
            validity.xie_beni(model, x),
            validity.xie_beni(model, x, sample_weight=weights(600)),
        ]
    return said


@case("data sets")
def _data() -> Words:
    return {
        "ring and disc": datasets.make_ring_and_disc(random_state=1),
        "close Gaussians": datasets.make_close_gaussians(random_state=1),
        "s set": datasets.make_s_set(9, 1000, overlap=0.1, noise=0.1, random_state=1),
        "quadrupeds": datasets.make_quadrupeds(200, random_state=1),
        "quadrupeds, as printed": datasets.make_quadrupeds(200, as_printed=True, random_state=1),
        "features": datasets.quadruped_feature_names(),
    }
