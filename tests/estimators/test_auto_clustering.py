"""One call: the space and the number by evidence."""

from __future__ import annotations

import re
import warnings
from pathlib import Path

import numpy as np
import pytest
from sklearn.base import clone, is_clusterer
from sklearn.datasets import load_wine, make_moons
from sklearn.metrics import adjusted_rand_score, pairwise_distances
from sklearn.pipeline import Pipeline

import cmeans
from cmeans import AutoClustering, DataWarning, KernelKMeans
from cmeans.estimators import auto_rows
from cmeans.estimators.auto_rows import in_their_span
from cmeans.estimators.auto_spaces import CANDIDATES, COSTS, ON_A_PLANE, SamplePartitions
from cmeans.persistence.model_file import read_metadata
from cmeans.runtime.progress import Progress, listening


def blobs(
    centres: list[tuple[float, float]], each: int, deviation: float, seed: int = 0
) -> tuple[np.ndarray, np.ndarray]:
    labels = np.repeat(np.arange(len(centres)), each)
    noise = np.random.default_rng(seed).normal(0, deviation, (len(labels), 2))
    return noise + np.array(centres)[labels], labels


CORNERS = [(0.0, 0.0), (3.0, 0.0), (1.5, 2.6)]


def test_both_levels_of_six_blobs_in_two_groups_are_named() -> None:
    X, y = blobs(CORNERS + [(x + 60, y) for x, y in CORNERS], 100, 0.25)
    model = cmeans.cluster(X)
    assert model.n_clusters_ == 6
    assert adjusted_rand_score(y, model.labels_) > 0.98
    assert model.evidence_.stable_numbers[0] == 2
    assert "coarse to fine: 2" in str(model.evidence_)


def test_a_few_far_rows_are_named_and_hide_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(auto_rows, "WHOLE", 1000)
    monkeypatch.setattr(auto_rows, "SAMPLE", 600)
    X, y = blobs([(0, 0), (9, 0)], 3000, 1.0)
    X = np.concatenate([X, np.random.default_rng(1).normal(90, 0.1, (12, 2))])
    with pytest.warns(DataWarning, match="12 rows lie far from all others, such as row 6000"):
        model = cmeans.cluster(X)
    assert model.n_clusters_ == 2
    assert model.evidence_.far_rows.tolist() == list(range(6000, 6012))
    assert adjusted_rand_score(y, model.labels_[:6000]) > 0.98


def test_forty_blobs_are_forty_and_the_end_of_a_range_warns() -> None:
    X, y = blobs([(2 * (i % 8), 2 * (i // 8)) for i in range(40)], 25, 0.1)
    model = cmeans.cluster(X)
    assert model.n_clusters_ == 40
    assert adjusted_rand_score(y, model.labels_) == 1.0
    with pytest.warns(DataWarning, match="40 clusters stand out, more than the 5 allowed"):
        assert cmeans.cluster(X, (2, 5), candidates=["plain"]).n_clusters_ <= 5


def test_columns_of_other_units_are_scaled_and_predict_scales_too() -> None:
    rng, y = np.random.default_rng(0), np.arange(600) % 3
    X = np.stack([rng.normal(1e5, 2e4, 600), rng.normal(0.02 + 0.03 * y, 0.004)], axis=1)
    model = cmeans.cluster(X)
    assert model.n_clusters_ == 3
    assert adjusted_rand_score(y, model.labels_) > 0.98
    assert "ranges of 1" in model.evidence_.scaling
    assert isinstance(model.best_estimator_, Pipeline)
    np.testing.assert_array_equal(model.predict(X), model.labels_)
    np.testing.assert_array_equal(model.best_estimator_.predict(X), model.labels_)


def test_logarithms_are_kept_and_the_evidence_with_them(tmp_path: Path) -> None:
    rng, y = np.random.default_rng(0), np.arange(200) % 2
    X = np.exp(rng.normal(size=(200, 2)) + 2.5 * y[:, None])
    model = cmeans.cluster(X, 2, scaling="log")
    cmeans.save(model, tmp_path / "model")
    np.testing.assert_array_equal(cmeans.load(tmp_path / "model").predict(X), model.labels_)
    kept = read_metadata(tmp_path / "model")["metadata"]["evidence"]
    assert kept == str(model.evidence_).splitlines()
    steps = model.best_estimator_[:-1]
    np.testing.assert_allclose(steps.inverse_transform(steps.transform(X)), X)


def test_one_heap_is_one_cluster_and_says_what_there_would_be() -> None:
    X = np.random.default_rng(2).normal(size=(200, 2))
    with pytest.warns(DataWarning, match=r"one cluster; evidence_\.partition has the"):
        model = cmeans.cluster(X, candidates=["pieces", "plain"])
    assert model.n_clusters_ == 1
    assert set(model.labels_.tolist()) == {0}
    assert len(set(model.evidence_.partition.tolist())) > 1


def test_unclear_clusters_are_found_by_consensus() -> None:
    """Round clusters that touch, where pieces say nothing."""
    X, y = blobs([(0, 0), (4, 0), (0, 4), (4, 4)], 150, 1.1, seed=3)
    model = cmeans.cluster(X, candidates=["plain", "covariances"])
    assert model.n_clusters_ == 4
    assert adjusted_rand_score(y, model.labels_) > 0.8
    assert "valleys" in model.evidence_.reason


def test_communities_say_what_shallow_valleys_do_not() -> None:
    """Of answers Yes and No of four groups, and of one."""
    for groups in (4, 1):
        rng = np.random.default_rng(0)
        y = np.arange(600) % groups
        X = (rng.random((600, 15)) < rng.choice([0.1, 0.85], (groups, 15))[y]).astype(float)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DataWarning)  # of one cluster
            model = AutoClustering(candidates=["plain"], random_state=0).fit(X)
        assert model.n_clusters_ == groups
        assert adjusted_rand_score(y, model.labels_) > 0.9
        assert ("communities" in model.evidence_.reason) == (groups > 1)


def test_rows_of_more_columns_than_rows_are_judged_in_their_span() -> None:
    x = np.random.default_rng(0).normal(size=(7, 20))
    found = in_their_span(x)
    assert found.shape == (7, 7)
    np.testing.assert_allclose(pairwise_distances(found), pairwise_distances(x), atol=1e-12)
    np.testing.assert_array_equal(in_their_span(x[:, :12]), x[:, :12])


def test_it_is_an_ordinary_estimator(tmp_path: Path) -> None:
    X, y = make_moons(200, noise=0.05, random_state=0)
    model = cmeans.cluster(X, 2)
    assert adjusted_rand_score(y, model.labels_) == 1.0
    assert is_clusterer(model)
    assert clone(model).get_params() == model.get_params()
    np.testing.assert_array_equal(model.labels_, model.best_estimator_.labels_)
    np.testing.assert_array_equal(model.fit_predict(X), model.labels_)
    np.testing.assert_array_equal(model.memberships(X).argmax(axis=1), model.labels_)
    assert model.transform(X).shape == (200, 2)
    with pytest.raises(AttributeError, match="no attribute 'm_'"):
        AutoClustering().m_  # noqa: B018
    assert "<table>" in model.evidence_._repr_html_()
    cmeans.save(model, tmp_path / "model")
    np.testing.assert_array_equal(cmeans.load(tmp_path / "model").predict(X), model.labels_)


def test_copies_are_weights_and_the_order_of_rows_does_not_matter() -> None:
    X, _ = blobs(CORNERS, 40, 0.4)
    weight, order = np.random.default_rng(4).integers(1, 4, 120), np.random.default_rng(5)
    model = cmeans.cluster(X, 3, sample_weight=weight)
    copies = order.permutation(np.repeat(np.arange(120), weight))
    again = cmeans.cluster(X[copies], 3)
    assert adjusted_rand_score(model.labels_[copies], again.labels_) == 1.0
    ours, theirs = model.evidence_.candidates[0], again.evidence_.candidates[0]
    assert (ours.space, ours.score) == (theirs.space, pytest.approx(theirs.score))


def test_candidates_are_forced_and_forbidden() -> None:
    X, _ = blobs(CORNERS, 50, 0.3)
    model = cmeans.cluster(X, 3, candidates=["plain"])
    assert [candidate.space for candidate in model.evidence_.candidates] == ["plain"]
    assert isinstance(model.best_estimator_, KernelKMeans)
    found = cmeans.cluster(X, 3, candidates=["not pieces", "not graph"]).evidence_.candidates
    assert {candidate.space for candidate in found} == {"plain", "covariances"}
    with pytest.raises(ValueError, match="candidates='nothing'"):
        cmeans.cluster(X, candidates=["nothing"])
    with pytest.raises(ValueError, match="give a list"):
        cmeans.cluster(X, candidates="plain")


def test_the_budget_decides_before_the_start_and_is_told() -> None:
    X, _ = blobs(CORNERS, 50, 0.3)
    evidence = cmeans.cluster(X, 3, budget=2e5).evidence_
    left = {entry.what: entry.budget for entry in evidence.left_out}
    assert left
    whole = cmeans.cluster(X, 3, budget=max(left.values()) * 2).evidence_
    assert len(whole.candidates) == 4
    assert not whole.left_out
    assert "budget=" in str(evidence)


def test_limits_of_time_and_interrupts_keep_the_best(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = blobs(CORNERS, 60, 0.3)
    model = AutoClustering(time_limit=1e-9).fit(X)
    assert model.n_clusters_ == 3
    assert "time_limit" in model.stop_reason_
    usual = SamplePartitions.__call__

    def interrupted(self: SamplePartitions, space: str, number: int) -> object:
        if space == "graph":
            raise KeyboardInterrupt
        return usual(self, space, number)

    monkeypatch.setattr(SamplePartitions, "__call__", interrupted)
    model = AutoClustering().fit(X)
    assert "interrupted" in model.stop_reason_
    assert adjusted_rand_score(y, model.labels_) > 0.95
    assert {candidate.space for candidate in model.evidence_.candidates} == {"pieces", "plain"}


def test_the_winner_is_fitted_once_and_warns_for_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    X, _ = blobs(CORNERS, 40, 0.3)
    fits, usual = list[int](), KernelKMeans.fit

    def counted(self: KernelKMeans, X: np.ndarray, *given: object, **words: object) -> KernelKMeans:
        if len(X) == 120:
            fits.append(self.n_clusters)
            warnings.warn("a word of the fit", DataWarning, stacklevel=1)
        return usual(self, X, *given, **words)

    monkeypatch.setattr(KernelKMeans, "fit", counted)
    model = AutoClustering(3, candidates=["plain"])
    with pytest.warns(DataWarning, match="a word of the fit") as told:
        model.fit(X)
    assert fits == [3]
    assert len(told) == 1
    plain = KernelKMeans(3, kernel="linear", random_state=model.best_estimator_.random_state)
    np.testing.assert_array_equal(model.labels_, usual(plain, X).labels_)


def test_a_choice_without_a_fit_and_its_progress() -> None:
    X, _ = blobs(CORNERS, 40, 0.3)
    model, messages = AutoClustering(3, candidates=["pieces", "plain"]), list[Progress]()
    with listening(messages.append):
        evidence = model.choose(X)
    assert [(one.stage, one.run, one.n_runs) for one in messages] == [
        ("trial", 0, 2),
        ("trial", 1, 2),
    ]
    assert not hasattr(model, "evidence_")
    assert str(evidence) == str(model.fit(X).evidence_)


def test_what_it_refuses() -> None:
    X, _ = blobs(CORNERS, 10, 0.3)
    with pytest.raises(ValueError, match=r"AutoClustering.*n_clusters"):
        AutoClustering(0).fit(X)
    with pytest.raises(ValueError, match="scaling"):
        AutoClustering(scaling="furlongs").fit(X)
    with pytest.raises(ValueError, match="budget"):
        AutoClustering(budget=-1).fit(X)


def test_costs_cover_all_candidates() -> None:
    for spaces in (*CANDIDATES.values(), ON_A_PLANE):
        assert set(spaces) <= set(COSTS)


class TestMissingValues:
    X, kinds = load_wine(return_X_y=True)

    def holes(self, share: float) -> np.ndarray:
        drawn = np.random.default_rng(0).random(self.X.shape)
        return np.where(drawn < share, np.nan, self.X)

    @pytest.mark.parametrize(
        ("share", "note"),
        [
            (0.005, "Chosen by 165 of 178 rows, those without missing values."),
            (0.15, "as only 18 of 178 rows have none."),
        ],
    )
    def test_rows_that_speak_for_all(self, share: float, note: str) -> None:
        x = self.holes(share)
        with pytest.warns(UserWarning, match=re.escape(note)):
            model = AutoClustering(missing="partial").fit(x)
        assert (model.evidence_.space, model.n_clusters_) == ("consensus", 3)
        assert adjusted_rand_score(self.kinds, model.labels_) > 0.8
        assert np.array_equal(model.predict(x), model.labels_)
        assert model.n_missing_.sum() == np.isnan(x).sum()

    def test_without_holes_it_is_as_ever(self) -> None:
        partial = AutoClustering(missing="partial").fit(self.X)
        assert np.array_equal(partial.labels_, AutoClustering().fit(self.X).labels_)

    def test_what_has_no_answer(self) -> None:
        x = np.random.default_rng(0).normal(size=(120, 61))
        x[np.arange(120), np.arange(120) % 60] = x[::2, 60] = np.nan
        with pytest.raises(ValueError, match=r"0 of 120 rows have no missing value.*column 60"):
            AutoClustering(missing="partial").fit(x)
        with pytest.raises(ValueError, match=r"candidates=\['graph'\].*alone take missing values"):
            AutoClustering(missing="partial", candidates=["graph"]).fit(self.holes(0.1))
        with pytest.raises(ValueError, match="Input X contains NaN"):
            AutoClustering().fit(x)
        with pytest.raises(ValueError, match="X has no value in column 0 in any of the 0 rows"):
            AutoClustering(missing="partial").fit(np.full((30, 3), np.nan))


class TestLines:
    """Clusters of tables that nearest rows show as one, and lines through them as two."""

    @staticmethod
    def survey() -> tuple[np.ndarray, np.ndarray]:
        """Answers of 1 to 7 to 15 questions by four groups, two of which are near."""
        rng = np.random.default_rng(0)
        profiles = np.repeat([[2, 6, 4], [6, 2, 4], [4, 2, 6], [6, 6, 6]], 5, axis=1)
        groups = rng.choice(4, 600)
        answers = np.rint(profiles[groups] + rng.normal(0, 1.1, (600, 15)))
        return np.clip(answers, 1, 7), groups

    def test_groups_of_a_survey(self) -> None:
        X, groups = self.survey()
        model = cmeans.cluster(X, random_state=0)
        evidence = model.evidence_
        assert model.n_clusters_ == 4
        assert adjusted_rand_score(groups, model.labels_) > 0.95
        assert evidence.reason.startswith("4 clusters: 3 by nearest rows, inside which lines lead")
        assert evidence.stable_numbers[-2:] == [3, 4]

    def test_a_budget_that_has_no_room_for_them_says_so(self) -> None:
        X, _ = self.survey()
        model = AutoClustering(budget=300 * 1500, random_state=0)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DataWarning)
            model.fit(X[:300])
        assert "lines through clusters" in {left.what for left in model.evidence_.left_out}

    def test_a_number_that_is_the_most_is_kept(self) -> None:
        X, _ = self.survey()
        model = AutoClustering((2, 3), random_state=0)
        with pytest.warns(DataWarning, match="3 clusters are the most that were looked for"):
            model.fit(X)
        assert model.n_clusters_ == 3
