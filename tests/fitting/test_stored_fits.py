"""Rows that stay in their files: every fit is the one that they give in memory, whatever the files
and whoever fits."""

from __future__ import annotations

import dataclasses
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import naive
from cmeans import KernelKMeans, Landmarks, ProbabilisticKMeans, Search
from cmeans.fitting.memory import plan
from cmeans.fitting.ways import by_sweeps
from cmeans.papers import StreamingKernelFCM
from cmeans.rules import Fuzzy
from cmeans.sweeps import choice, nearest
from cmeans.sweeps.bounded import BoundedSweep
from every_estimator import FINDING, SWEPT, build, known
from limited import limited, within
from stored_rows import ELSEWHERE, EVERYWHERE, FEW, C, Kept, N, placed, rows
from sweep_choices import often, pairs

pytestmark = [
    pytest.mark.slow,
    pytest.mark.usefixtures("nothing_is_small"),
    pytest.mark.filterwarnings("ignore:.*on the way from chunk to chunk:UserWarning"),
]
OWN: dict[str, dict[str, Any]] = {
    "FuzzyCMeans": {"m": 1.5},
    "CMeans": {"rule": Fuzzy(1.4)},
    "ProbabilisticKMeans": {"quantile": 0.5},
    "SequentialPossibilisticCMeans": {"n_new": 2, "patience": 1},
}
VARIANTS: dict[str, tuple[str | type, dict[str, Any]]] = {
    "projected stream": (StreamingKernelFCM, {"chunk_size": 140}),
    "patches in a tree": ("KernelPatchClustering", {"merge": "tree"}),
}
ESTIMATORS = (*SWEPT, *VARIANTS)
COMMON: dict[str, Any] = {
    "tol": 1e-3,
    "n_init": 1,
    "n_jobs": 2,
    "eta_scale": 0.3,
    "chunk_size": 200,
    "patch_size": 140,
}
SPACES: dict[str, dict[str, Any]] = {
    "linear": {"kernel": "linear"},
    "landmarks": {"kernel": "rbf", "gamma": 0.05, "landmarks": 30},
}
SWEEPERS = ("KernelKMeans", "FuzzyCMeans", "PossibilisticCMeans", "CMeans")
OTHERS = tuple(name for name in ESTIMATORS if name not in SWEEPERS[:3])
DTYPES = (np.float64, np.float32)


@cache
def weights() -> np.ndarray:
    """Some of them zero, all of them whole in any type."""
    return np.random.default_rng(1).integers(0, 5, size=N).astype(np.float64)


def made(estimator: str, space: str, **words: Any) -> Any:
    name, own = VARIANTS.get(estimator, (estimator, OWN.get(estimator, {})))
    most = 12 if name in FINDING else C
    return build(name, n_clusters=most, **known(name, {**COMMON, **own, **SPACES[space], **words}))


@cache
@within(**FEW)
def in_memory(estimator: str, space: str, dtype: Any, weighted: bool = False) -> Any:
    return made(estimator, space).fit(rows(dtype), sample_weight=weights() if weighted else None)


def same(model: Any, other: Any, atol: float = 0.0) -> None:
    """Two fits of the same rows, whose centres are the same to the last bit, or within `atol`."""
    np.testing.assert_array_equal(model.labels_, other.labels_)
    assert model.objective_ == pytest.approx(other.objective_, rel=1e-12)
    np.testing.assert_allclose(model.objective_history_, other.objective_history_, rtol=1e-12)
    for name in (
        "n_iter_",
        "converged_",
        "stop_reason_",
        "n_clusters_",
        "row_visits_",
        "gamma_",
        "n_landmarks_",
        "n_features_in_",
    ):
        assert getattr(model, name) == getattr(other, name), name
    assert (model.approximation_ is None) == (other.approximation_ is None)
    if model.approximation_ is not None:
        mine, theirs = (
            np.hstack(dataclasses.astuple(one.approximation_)) for one in (model, other)
        )
        np.testing.assert_allclose(mine, theirs, rtol=1e-12)
    for name in (
        "cluster_centers_",
        "dual_coef_",
        "landmarks_",
        "landmark_indices_",
        "eta_",
        "mass_",
        "m_",
        "pilot_m_",
    ):
        assert hasattr(model, name) == hasattr(other, name), name
        if getattr(other, name, None) is not None:
            np.testing.assert_allclose(
                getattr(model, name), getattr(other, name), rtol=0, atol=atol, err_msg=name
            )


# ------------------------------------------------------------------------------ everywhere the same


COMBINATIONS = often(2, EVERYWHERE, SWEEPERS[:3], SPACES, DTYPES, [1, 2, 3], [True, False])
COMBINATIONS += pairs(("parquet", "part"), OTHERS, SPACES, DTYPES, [1, 3], [True, False])


@pytest.mark.parametrize(("where", "estimator", "space", "dtype", "n_jobs", "opened"), COMBINATIONS)
def test_fits_are_those_in_memory(
    where: str, estimator: str, space: str, dtype: Any, n_jobs: int, opened: bool, tmp_path: Path
) -> None:
    if where == "csv":  # without a word text is float64
        opened = dtype is np.float32
    given = placed(where, tmp_path, rows(dtype), opened=opened)
    other = in_memory(estimator, space, dtype)
    model = made(estimator, space, n_jobs=n_jobs).fit(given)
    same(model, other)
    if where in ELSEWHERE:
        assert model.labels_.dtype == np.int8
        assert not hasattr(model, "memberships_")
    np.testing.assert_array_equal(model.predict(given), other.predict(rows(dtype)))


def pieced(patch: pytest.MonkeyPatch) -> None:
    """Rows that are picked out are read in many pieces, and what can lie on the disk does."""
    limited(patch, read_rows=100, cached_rows=10, array_bytes=0)


@pytest.mark.parametrize(
    ("estimator", "space", "where"),
    often(2, ESTIMATORS, SPACES, ("parquet", "npy", "csv", "part of mapped")),
)
def test_weights_in_the_file(estimator: str, space: str, where: str, tmp_path: Path) -> None:
    other = in_memory(estimator, space, np.float64, weighted=True)
    same(made(estimator, space).fit(placed(where, tmp_path, rows(), weight=weights())), other)


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_weights_beside_the_file(
    estimator: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pieced(monkeypatch)
    given = placed("parquet", tmp_path, rows())
    same(
        made(estimator, "linear").fit(given, sample_weight=weights()),
        in_memory(estimator, "linear", np.float64, weighted=True),
    )


@pytest.mark.parametrize("power", [-200, 100])
def test_weights_far_from_one(power: int, tmp_path: Path) -> None:
    weight = np.ldexp(weights(), power)
    model = made("FuzzyCMeans", "linear").fit(placed("npz", tmp_path, rows(), weight=weight))
    same(model, made("FuzzyCMeans", "linear").fit(rows(), sample_weight=weight))
    assert model.objective_ == pytest.approx(
        np.ldexp(in_memory("FuzzyCMeans", "linear", np.float64, weighted=True).objective_, power),
        rel=1e-12,
    )


@pytest.mark.parametrize("progressive", [True, False])
@pytest.mark.parametrize(
    ("estimator", "space", "n_init", "weighted"), pairs(SWEEPERS, SPACES, [1, 2], [False, True])
)
def test_samples_that_grow(
    estimator: str,
    space: str,
    n_init: int,
    weighted: bool,
    progressive: bool,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    limited(monkeypatch, subsampled_above=900)
    words = {"n_init": n_init, "search": Search(progressive=progressive)}
    weight = weights() if weighted else None
    other = made(estimator, space, **words).fit(rows(), sample_weight=weight)
    pieced(monkeypatch)
    model = made(estimator, space, **words).fit(placed("parquet", tmp_path, rows(), weight=weight))
    same(model, other)
    if progressive and not weighted:
        assert model.row_visits_ != in_memory(estimator, space, np.float64).row_visits_


# ------------------------------------------------------------------------------------------- starts


STARTS = (
    "k-means++",
    "k-means||",
    "max-min",
    "random",
    "random-partition",
    "rows",
    "labels",
    "points",
    "memberships",
    "model",
    "stored model",
)
STARTING = ("KernelKMeans", "FuzzyCMeans", "ProbabilisticKMeans", "TwoStepKernelKMeans")


def start(kind: str, space: str) -> Any:
    if kind == "rows":
        return np.array([5, 250, 500, N - 1])
    if kind == "labels":
        return np.arange(N) % C
    if kind == "points":
        return rows()[:C] + 0.5
    if kind == "memberships":
        return np.random.default_rng(3).dirichlet(np.ones(C), size=N)
    if "model" in kind:
        words = (
            {**SPACES[space], "landmarks": Landmarks("auto", points=np.arange(0, N, 35))}
            if space == "landmarks"
            else SPACES[space]
        )
        return KernelKMeans(C, random_state=4, max_iter=50, **words).fit(
            Kept(rows()) if kind == "stored model" else rows()
        )
    return kind


def carries_over(kind: str, estimator: str, _: str) -> bool:
    """A model of other landmarks is no start on an exact sample."""
    return estimator != "TwoStepKernelKMeans" or "model" not in kind


@pytest.mark.parametrize(
    ("kind", "estimator", "space"),
    pairs(STARTS, STARTING, SPACES, allowed=carries_over),
)
def test_the_same_start_ends_at_the_same_clusters(
    kind: str, estimator: str, space: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    limited(monkeypatch, seeding_rows=170)
    init = start(kind, space)
    before = init.copy() if isinstance(init, np.ndarray) else None
    other = made(estimator, space, init=init, search=None).fit(rows())
    pieced(monkeypatch)
    same(
        made(estimator, space, init=init, search=None).fit(
            placed("parquet, many files", tmp_path, rows())
        ),
        other,
    )
    if before is not None:
        np.testing.assert_array_equal(init, before)


@pytest.mark.parametrize(
    ("landmarks", "estimator"),
    [
        *(
            ("rpcholesky", estimator)
            for estimator in (
                "FuzzyCMeans",
                "TwoStepKernelKMeans",
                "ProbabilisticKMeans",
                "StreamingFuzzyCMeans",
            )
        ),
        *(("uniform", estimator) for estimator in ("KernelKMeans", "TwoStepKernelKMeans")),
        *(("row numbers", estimator) for estimator in ("KernelKMeans", "TwoStepKernelKMeans")),
        ("points", "FuzzyCMeans"),
    ],
)
def test_landmarks_are_those_chosen_in_memory(
    landmarks: str, estimator: str, tmp_path: Path
) -> None:
    points = {"row numbers": np.arange(0, N, 20), "points": rows()[::20] + 0.1}
    given = points[landmarks] if landmarks in points else Landmarks(method=landmarks)
    words = {"kernel": "rbf", "landmarks": given, "gamma": "median", "search": None}
    other = made(estimator, "landmarks", **words).fit(rows())
    same(made(estimator, "landmarks", **words).fit(placed("arrow", tmp_path, rows())), other)


@pytest.mark.parametrize(
    "words",
    [
        {"kernel": "rbf", "gamma": "scale"},
        {"kernel": "rbf", "gamma": "median"},
        {"kernel": "laplacian", "gamma": "scale"},
        {"kernel": "cosine", "gamma": "scale"},
    ],
)
def test_parameters_of_kernels_are_those_found_in_memory(
    words: dict[str, Any], tmp_path: Path
) -> None:
    words = {"landmarks": 40, "search": None, **words}
    same(
        made("KernelKMeans", "landmarks", **words).fit(placed("parquet", tmp_path, rows())),
        made("KernelKMeans", "landmarks", **words).fit(rows()),
    )


@pytest.mark.parametrize(("estimator", "n_landmarks"), [("KernelKMeans", 200), ("FuzzyCMeans", 30)])
def test_both_kinds_of_sweeps(
    estimator: str, n_landmarks: int, sweeps: str, tmp_path: Path
) -> None:
    """Over many columns hard sweeps in memory keep bounds, and round differently; sweeps over files
    do not."""
    words = {"kernel": "rbf", "landmarks": n_landmarks, "tol": 1e-5, "n_jobs": 1}
    other = made(estimator, "landmarks", **words).fit(rows())
    same(
        made(estimator, "landmarks", **words).fit(placed("npy", tmp_path, rows())),
        other,
        1e-10 if n_landmarks > 100 else 0.0,
    )


# ------------------------------------------------------------------------------ projected gradients


@pytest.mark.filterwarnings("ignore::UserWarning")  # of what is cut short
@pytest.mark.parametrize(
    "words",
    [
        {"quantile": 0.1},
        {"quantile": 1.0},
        {"polish": None},
        {"max_iter": 3},
        {"solver": "lloyd"},
        {"solver": "lloyd", "max_iter": 1},
        {"solver": "batched", "n_init": 2},
    ],
    ids=str,
)
@pytest.mark.parametrize("weighted", [False, True])
def test_projected_gradients_are_those_in_memory(
    words: dict[str, Any], weighted: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    weight = weights() if weighted else None
    limited(monkeypatch, rows_at_once=170)
    other = made("ProbabilisticKMeans", "linear", **words).fit(rows(), sample_weight=weight)
    pieced(monkeypatch)
    model = made("ProbabilisticKMeans", "linear", **words).fit(
        placed("parquet", tmp_path, rows(), weight=weight)
    )
    same(model, other)
    assert model.solver_ == other.solver_
    assert not hasattr(model, "memberships_")


def test_probabilistic_of_rows_that_are_all_the_same(tmp_path: Path) -> None:
    """Flat everywhere: no row has a way down."""
    flat = np.ones((N, 2))
    with pytest.warns(UserWarning, match="hold no row|coincide|distinct"):
        other = ProbabilisticKMeans(3, kernel="linear", random_state=0).fit(flat)
    with pytest.warns(UserWarning, match="hold no row|coincide|distinct"):
        model = ProbabilisticKMeans(3, kernel="linear", random_state=0).fit(
            placed("npy", tmp_path, flat)
        )
    np.testing.assert_array_equal(model.labels_, other.labels_)
    assert model.objective_ == other.objective_ == 0


# ----------------------------------------------------------------------------------- cuts, and text


@pytest.mark.parametrize(
    ("estimator", "space"),
    [(name, space) for name in (*SWEEPERS, "ProbabilisticKMeans") for space in SPACES],
)
def test_smaller_tasks_only_round_differently(
    estimator: str, space: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Many blocks to a task as a large input has them, or one."""
    limited(monkeypatch, block_rows=40, narrow_block_rows=40, tasks=2, task_values=1)
    some, words = rows()[:401], {"solver": "batched"}  # which P has where rows are many
    whole = made(estimator, space, **words).fit(Kept(some))
    limited(monkeypatch, task_rows=80)
    cut = made(estimator, space, **words).fit(Kept(some))
    assert cut.objective_ == pytest.approx(whole.objective_, rel=1e-12)
    np.testing.assert_array_equal(cut.labels_, whole.labels_)


def test_text_is_as_good_as_its_digits(tmp_path: Path) -> None:
    exact, rounded = tmp_path / "exact.csv", tmp_path / "rounded.csv"
    exact.write_text(
        "a,b,c,d\n" + "".join(",".join(map(repr, row)) + "\n" for row in rows().tolist())
    )
    rounded.write_text(
        "a,b,c,d\n"
        + "".join(",".join(f"{value:.5f}" for value in row) + "\n" for row in rows().tolist())
    )
    other = in_memory("FuzzyCMeans", "linear", np.float64)
    same(made("FuzzyCMeans", "linear").fit(exact), other)
    close = made("FuzzyCMeans", "linear").fit(rounded)
    assert close.objective_ != other.objective_
    assert close.objective_ == pytest.approx(other.objective_, rel=1e-5)


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_small_files_are_simply_read(
    estimator: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    limited(monkeypatch, loaded_bytes=rows().nbytes)
    other = in_memory(estimator, "linear", np.float64)
    model = made(estimator, "linear").fit(placed("csv", tmp_path, rows(), opened=False))
    same(model, other)
    np.testing.assert_array_equal(model.memberships_, other.memberships_)
    assert model.labels_.dtype == other.labels_.dtype


def test_hard_sweeps_over_stored_rows_keep_bounds_where_there_is_room(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The same partition as in memory, where they do as well, and the same bits however little room
    there is, and with any threads."""
    limited(monkeypatch, narrow_columns=20, canonical_rows=10)
    kept = []
    call = BoundedSweep.__call__
    monkeypatch.setattr(
        BoundedSweep,
        "__call__",
        lambda self, *words: kept.append(words[0].keep_bounds) or call(self, *words),
    )
    make = partial(made, "KernelKMeans", "landmarks", landmarks=40, init="k-means++")
    there = make().fit(Kept(rows(np.float64)))
    assert all(kept)
    here = make().fit(rows(np.float64))
    np.testing.assert_allclose(there.objective_history_, here.objective_history_, rtol=1e-9)
    np.testing.assert_array_equal(there.labels_, here.labels_)
    for threads in 1, 2, 5:
        kept.clear()
        limited(monkeypatch, bounds_bytes=0)
        without = make(n_jobs=threads).fit(Kept(rows(np.float64)))
        assert not any(kept)
        np.testing.assert_array_equal(without.labels_, there.labels_)
        np.testing.assert_array_equal(without.objective_history_, there.objective_history_)
        np.testing.assert_array_equal(without.dual_coef_, there.dual_coef_)


@pytest.mark.parametrize("space", ["linear", "landmarks"])
def test_what_sweeps_remember_of_samples_is_planned_for(
    space: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Samples in memory of stored rows, of which as a whole nothing is remembered."""
    limited(
        monkeypatch,
        narrow_columns=0,
        canonical_rows=10,
        subsampled_above=N // 2,
        array_bytes=2**20,
        loaded_bytes=0,
        bounds_bytes=0,
    )
    seen, planned, known, call = [0], [], [], BoundedSweep.__call__

    def swept(self: BoundedSweep, rows: Any, rule: Any, state: Any, *words: Any) -> Any:
        if rows.blocks.skipping_pays:
            seen.append(BoundedSweep.memory(rows.space, rows.blocks, len(state.centres)).total)
        return call(self, rows, rule, state, *words)

    def noted(*words: Any) -> Any:
        planned.append(words[-1].remembered_of_sample)
        return plan(*words)

    monkeypatch.setattr(BoundedSweep, "__call__", swept)
    monkeypatch.setattr(by_sweeps, "plan", noted)
    monkeypatch.setattr(choice, "LEAST_BOUNDED", 0)
    for progressive in True, False:
        made(
            "KernelKMeans", space, init="k-means++", search=Search(None, progressive=progressive)
        ).fit(Kept(rows(np.float64)))
        known.append(planned[-1])  # with the space as it is, after that as it is expected
    assert known[0] - known[1] == max(seen) > 0


@cache
@within(**FEW)
def wide_rows_and_their_labels() -> tuple[np.ndarray, np.ndarray]:
    """Rows of many columns, and their labels after three sweeps by brute force."""
    X = rows(np.float64)[:450]
    X = np.concatenate([X, X**2, np.sin(X), np.cos(X)], axis=1)
    X = np.concatenate([X] * (1 + 24 // X.shape[1]), axis=1)
    V = X[:60]
    for _ in range(3):
        labels = naive.point_distances(X, V).argmin(axis=1)
        V = np.stack([X[labels == j].mean(axis=0) for j in range(60)])
    return X, naive.point_distances(X, V).argmin(axis=1)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
# for nothing, for bounds, for coordinates too
@pytest.mark.parametrize("bounds_bytes", [0, 80 * N, 2**30])
def test_stored_rows_have_the_labels_of_brute_force(
    bounds_bytes: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    limited(monkeypatch, narrow_columns=20, bounds_bytes=bounds_bytes)
    monkeypatch.setattr(nearest, "LEAST_WORK", 0)
    X, labels = wide_rows_and_their_labels()
    fits = [
        KernelKMeans(
            60, kernel="linear", init=X[:60], search=None, max_iter=3, tol=0, n_jobs=threads
        ).fit(Kept(X))
        for threads in (1, 2, 5)
    ]
    np.testing.assert_array_equal(fits[0].labels_, labels)
    for other in fits[1:]:
        np.testing.assert_array_equal(other.labels_, fits[0].labels_)
        np.testing.assert_array_equal(other.cluster_centers_, fits[0].cluster_centers_)
        assert other.objective_ == fits[0].objective_
