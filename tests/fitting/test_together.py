"""Which features of a fit go together: every pair of them either fits, or is refused by what the
table says."""

from __future__ import annotations

import itertools
import re
import warnings
from typing import Any

import numpy as np
import pytest

from cmeans import AdaptivePossibilisticCMeans, CMeans, FuzzyCMeans, KernelKMeans, Search, Sizes
from cmeans.fitting.procedure import Stage
from cmeans.fitting.stages.holes import Holes
from cmeans.fitting.stages.joined import EqualRows
from cmeans.fitting.stages.known import KnownRows
from cmeans.fitting.stages.linked import LinkedRows
from cmeans.fitting.stages.sized import SizedClusters
from cmeans.fitting.together import TABLE, refused_beside

X = np.random.default_rng(0).normal(size=(30, 3)).round(1) + 9 * (np.arange(30)[:, None] // 10)
KNOWN = np.where(np.arange(30) % 10 == 0, np.arange(30) // 10, -1)
WORDS: dict[str, dict[str, Any]] = {  # by which each feature is asked for
    "known_labels": {"known_labels": KNOWN},
    "must_link": {"must_link": [[0, 1]]},
    "sizes": {"sizes": Sizes(least=5)},
    "noise": {"noise": 0.1},
    "covariance": {"covariance": "diag"},
    "top_k": {"top_k": 2},
    'search="breathing"': {"search": "breathing"},
    'missing="partial"': {"missing": "partial"},
    "join_equal_rows": {"search": Search(join_equal_rows=True)},
    "a kernel": {"kernel": "rbf"},
    "landmarks": {"landmarks": 5},
    "numbers of landmarks": {"landmarks": [0, 10, 20]},
}
OF_FIT = ("known_labels", "must_link")
APART = {apart.both: apart.why for apart in TABLE}


def fit(*features: str) -> FuzzyCMeans:
    words = {name: value for feature in features for name, value in WORDS[feature].items()}
    told = {name: words.pop(name) for name in OF_FIT if name in words}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return FuzzyCMeans(3, random_state=0, max_iter=5, **words).fit(X, **told)


@pytest.mark.parametrize("pair", itertools.combinations(WORDS, 2), ids=" and ".join)
def test_a_pair_fits_or_is_refused_by_the_table(pair: tuple[str, str]) -> None:
    why = APART.get(frozenset(pair))
    if "landmarks" in pair[0] and "landmarks" in pair[1]:
        return  # two ways to say one thing
    if 'missing="partial"' in pair and "numbers of landmarks" in pair:
        why = APART[frozenset(('missing="partial"', "landmarks"))]
    if "covariance" in pair and "numbers of landmarks" in pair:
        why = APART[frozenset(("covariance", "landmarks"))]
    if "covariance" in pair and "a kernel" in pair:
        why = "clusters have covariances among rows as they are"  # a graph's features have some too
    if why is None:
        assert fit(*pair).labels_.shape == (30,)
        return
    with pytest.raises(ValueError, match=re.escape(why)) as refused:
        fit(*pair)
    for feature in pair:
        for name in WORDS[feature]:
            assert name in str(refused.value), "the message names what was given"


def test_annealing_is_refused_beside_few_memberships() -> None:
    with pytest.raises(
        ValueError, match=r'CMeans\(top_k=2, search="annealing"\): annealing begins'
    ):
        CMeans(3, rule="entropy", top_k=2, search="annealing").fit(X)


def test_rows_of_kernel_values_are_not_joined() -> None:
    with pytest.raises(ValueError, match="rows of kernel values or affinities stand for all rows"):
        KernelKMeans(3, kernel="precomputed", search=Search(join_equal_rows=True)).fit(X @ X.T)


@pytest.mark.parametrize("name", ["known_labels", "must_link"])
def test_an_estimator_that_does_not_heed_an_argument_says_which_do(name: str) -> None:
    with pytest.raises(
        ValueError, match=rf"AdaptivePossibilisticCMeans: {name} is for KernelKMeans.*leave it out"
    ):
        AdaptivePossibilisticCMeans((1, 3)).fit(X, **{name: WORDS[name][name]})


@pytest.mark.parametrize("stage", [Holes, EqualRows, KnownRows, LinkedRows, SizedClusters])
def test_what_a_stage_refuses_is_what_the_table_says(stage: type[Stage]) -> None:
    others = {(apart.both - {stage.name}) for apart in TABLE if stage.name in apart.both}
    assert refused_beside(stage.name) == frozenset().union(*others)
    assert refused_beside(stage.name)


def test_a_stage_that_defines_nothing_changes_nothing() -> None:
    stage, thing = Stage(), object()
    assert stage.place(thing) is stage.prepare(thing) is stage.restore(thing) is thing  # type: ignore[arg-type, comparison-overlap]
    assert not stage.identity
    assert not stage.attributes


def test_a_plain_fit_has_no_stages() -> None:
    model = FuzzyCMeans(3)
    procedure, settings = model._checked()
    _, blocks = model._blocks_of(X, None, settings.kernel)
    assert not list(model._stages(procedure, settings, blocks))
