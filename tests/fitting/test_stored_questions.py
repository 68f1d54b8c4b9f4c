"""What is asked of models about rows in files, and what becomes of models that were fitted on
them."""

from __future__ import annotations

import pickle
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from scipy import sparse
from sklearn.base import clone

import cmeans
import every_estimator
from cmeans import AdaptivePossibilisticCMeans, KernelKMeans
from every_estimator import FINDING, build
from file_formats import csv, npy, parquet, table
from limited import limited, within
from stored_rows import ELSEWHERE, FEW, C, Kept, N, placed, rows
from sweep_choices import pairs

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("nothing_is_small")]
LANDMARKS: dict[str, Any] = {"kernel": "rbf", "gamma": 0.05, "landmarks": 25}
WORDS: dict[str, dict[str, Any]] = {  # in the space of the rows, but
    "FuzzyCMeans": {"m": 1.5, **LANDMARKS},
    "PossibilisticCMeans": {"eta_scale": 0.3, **LANDMARKS},
    "ProbabilisticKMeans": {"quantile": 0.5, "kernel": "linear"},
    "AdaptivePossibilisticCMeans": {"pilot_m": "auto", "alpha": 1.0, "kernel": "linear"},
    "SequentialPossibilisticCMeans": {"patience": 1, "kernel": "linear"},
    "TwoStepKernelKMeans": LANDMARKS,
    "KernelPatchClustering": {"patch_size": 140, "n_init": 1, "kernel": "rbf", "gamma": 0.05},
    "StreamingFuzzyCMeans": {"chunk_size": 200, "n_init": 1, "kernel": "linear"},
}
MODELS: dict[str, Any] = {
    name: build(
        name, n_clusters=8 if name in FINDING else C, **WORDS.get(name, {"kernel": "linear"})
    )
    for name in every_estimator.NAMES
}
SWEEPERS = ("KernelKMeans", "FuzzyCMeans", "PossibilisticCMeans")
NAMES = ["a", "b", "c", "d"]


@cache
@within(**FEW)
def fitted(name: str) -> Any:
    return clone(MODELS[name]).fit(rows())


@cache
@within(**FEW)
def of_a_file(name: str) -> Any:
    """A fit of rows in a file that is gone since."""
    with tempfile.TemporaryDirectory() as folder:
        return clone(MODELS[name]).fit(placed("parquet", Path(folder), rows()))


# --------------------------------------------------------------------------------- the same answers


@pytest.mark.parametrize(
    ("where", "name", "opened", "dtype"),
    pairs(ELSEWHERE, SWEEPERS, [True, False], [np.float64, np.float32]),
)
def test_answers_about_files_are_those_about_arrays(
    where: str, name: str, opened: bool, dtype: Any, tmp_path: Path
) -> None:
    asked(
        fitted(name),
        placed(where, tmp_path, rows(seed=1).astype(dtype), opened=opened or where == "csv"),
        rows(seed=1).astype(dtype),
    )


@pytest.mark.parametrize("name", MODELS)
def test_everybody_answers(name: str, tmp_path: Path) -> None:
    asked(fitted(name), placed("parquet", tmp_path, rows(seed=1)), rows(seed=1))


def asked(model: Any, given: Any, x: np.ndarray) -> None:
    labels = model.predict(given)
    assert labels.dtype == np.int8
    np.testing.assert_array_equal(labels, model.predict(x))
    for question in ("memberships", "transform", "outlier_score", "predict_proba"):
        if question == "predict_proba" and not hasattr(model, question):
            continue
        answer, expected = getattr(model, question)(given), getattr(model, question)(x)
        assert type(answer) is np.ndarray
        assert answer.dtype == expected.dtype
        np.testing.assert_array_equal(answer, expected, err_msg=question)
    assert model.score(given) == pytest.approx(model.score(x), rel=1e-12)
    weight = np.random.default_rng(0).integers(0, 4, size=len(x))
    assert model.score(given, sample_weight=weight) == pytest.approx(
        model.score(x, sample_weight=weight), rel=1e-12
    )


def test_a_file_brings_its_weights_to_a_score(tmp_path: Path) -> None:
    weight = np.random.default_rng(0).integers(0, 4, size=N).astype(float)
    given = placed("parquet", tmp_path, rows(seed=1), weight=weight)
    assert fitted("FuzzyCMeans").score(given) == pytest.approx(
        fitted("FuzzyCMeans").score(rows(seed=1), sample_weight=weight), rel=1e-12
    )
    with pytest.raises(ValueError, match="sample_weight is given, and X brings weights of its own"):
        fitted("FuzzyCMeans").score(given, sample_weight=weight)
    np.testing.assert_array_equal(
        fitted("FuzzyCMeans").predict(given), fitted("FuzzyCMeans").predict(rows(seed=1))
    )


@pytest.mark.parametrize("name", MODELS)
def test_fit_predict(name: str, tmp_path: Path) -> None:
    labels = clone(MODELS[name]).fit_predict(placed("parquet", tmp_path, rows(), opened=False))
    np.testing.assert_array_equal(labels, fitted(name).labels_)


def test_any_number_of_threads(tmp_path: Path) -> None:
    given = placed("parquet, tiny groups", tmp_path, rows(seed=1))
    for n_jobs in (1, 2, 5):
        asked(
            clone(MODELS["FuzzyCMeans"]).set_params(n_jobs=n_jobs).fit(Kept(rows())),
            given,
            rows(seed=1),
        )


def test_a_few_rows_of_a_file_are_simply_read(tmp_path: Path) -> None:
    asked_few = fitted("FuzzyCMeans").predict(parquet(tmp_path, rows(seed=1)[:10]))
    assert asked_few.dtype == np.int64
    np.testing.assert_array_equal(asked_few, fitted("FuzzyCMeans").predict(rows(seed=1)[:10]))
    assert fitted("FuzzyCMeans").memberships(parquet(tmp_path, rows(seed=1)[:1])).shape == (1, C)


def test_a_model_of_kernel_values_is_asked_with_files_of_them(tmp_path: Path) -> None:
    x, more = rows()[:100], rows(seed=1)
    model = KernelKMeans(C, kernel="precomputed", landmarks=20, random_state=0).fit(_gram(x, x))
    np.save(tmp_path / "kernel.npy", _gram(more, x))
    for given in (tmp_path / "kernel.npy", cmeans.open_blocks(tmp_path / "kernel.npy")):
        np.testing.assert_array_equal(model.predict(given), model.predict(_gram(more, x)))
        np.testing.assert_array_equal(model.transform(given), model.transform(_gram(more, x)))


def _gram(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    return np.exp(-0.05 * ((x[:, None] - y[None]) ** 2).sum(axis=2))


# ------------------------------------------------------------------------------------------ columns


def test_names_of_columns(tmp_path: Path) -> None:
    model = clone(MODELS["KernelKMeans"])
    model.fit(parquet(tmp_path, rows()))
    assert model.feature_names_in_.tolist() == NAMES
    assert model.feature_names_in_.dtype == object
    assert model.n_features_in_ == 4
    model.fit(npy(tmp_path, rows()[:, :3].copy()))
    assert not hasattr(model, "feature_names_in_")
    assert model.n_features_in_ == 3
    model.fit(csv(tmp_path, rows()))
    assert model.feature_names_in_.tolist() == NAMES
    model.fit(rows())
    assert not hasattr(model, "feature_names_in_")
    model.fit(pd.DataFrame(rows(), columns=list("wxyz"))).fit(
        cmeans.open_blocks(parquet(tmp_path, rows()), columns=["d", "a"])
    )
    assert model.feature_names_in_.tolist() == ["d", "a"]
    assert model.n_features_in_ == 2


def test_columns_are_found_by_name(tmp_path: Path) -> None:
    """In whatever order the file has them, and whatever else it has."""
    other = (
        table(rows(seed=1))
        .select(NAMES[::-1])
        .append_column("note", pa.array(["x"] * N))
        .append_column("e", pa.array([np.nan] * N))
    )
    pq.write_table(other, tmp_path / "other.parquet")
    frame = pd.DataFrame(rows(seed=1), columns=NAMES)
    for model in (
        clone(MODELS["FuzzyCMeans"]).fit(parquet(tmp_path, rows())),
        clone(MODELS["FuzzyCMeans"]).fit(pd.DataFrame(rows(), columns=NAMES)),
    ):
        np.testing.assert_array_equal(
            model.predict(tmp_path / "other.parquet"), model.predict(frame)
        )
        np.testing.assert_allclose(
            model.transform(str(tmp_path / "other.parquet")), model.transform(frame), rtol=1e-12
        )
        chosen = cmeans.open_blocks(tmp_path / "other.parquet", columns=NAMES)
        np.testing.assert_array_equal(model.predict(chosen), model.predict(frame))
        for wrong in (NAMES[::-1], ["a", "b", "c", "e"]):
            with pytest.raises(
                ValueError,
                match=r"FuzzyCMeans: the columns of .*other\.parquet are .*open it with "
                r"columns=\['a', 'b', 'c', 'd'\]",
            ):
                model.predict(cmeans.open_blocks(tmp_path / "other.parquet", columns=wrong))


def test_other_numbers_of_columns(tmp_path: Path) -> None:
    model = clone(MODELS["FuzzyCMeans"]).fit(parquet(tmp_path, rows()))
    for given in (rows()[:, :3].copy(), np.column_stack([rows(), rows()])):
        with pytest.raises(
            ValueError,
            match=rf"X has {given.shape[1]} features, but FuzzyCMeans is expecting 4 features",
        ):
            model.predict(cmeans.open_blocks(npy(tmp_path, given)))
    with pytest.raises(ValueError, match=r"x\.parquet: there is no column 'd'"):
        model.predict(parquet(tmp_path, rows()[:, :3]))
    with pytest.raises(ValueError, match=r"X has 3 features, but FuzzyCMeans is expecting 4"):
        fitted("FuzzyCMeans").predict(npy(tmp_path, rows()[:, :3].copy()))


def test_a_sparse_file_is_a_sparse_matrix(tmp_path: Path) -> None:
    x = sparse.csr_matrix(np.where(np.abs(rows()) < 1, 0, rows()))
    sparse.save_npz(tmp_path / "x.npz", x)
    model, other = (
        clone(MODELS["KernelKMeans"]).fit(tmp_path / "x.npz"),
        clone(MODELS["KernelKMeans"]).fit(sparse.csr_array(x)),
    )
    np.testing.assert_array_equal(model.labels_, other.labels_)
    np.testing.assert_array_equal(model.predict(tmp_path / "x.npz"), other.labels_)


# ---------------------------------------------------------------------------- what is left of a fit


@pytest.mark.parametrize("name", MODELS)
def test_attributes_of_one_fit_do_not_outlive_it(name: str) -> None:
    model = clone(MODELS[name]).fit(rows())
    memberships, labels = model.memberships_, model.labels_
    model.fit(Kept(rows()))
    assert not hasattr(model, "memberships_")
    assert model.labels_.dtype == np.int8
    with pytest.raises(
        ValueError, match="representatives: of rows that are not in memory only labels are kept"
    ):
        model.representatives(2)
    model.fit(rows())
    np.testing.assert_array_equal(model.memberships_, memberships)
    np.testing.assert_array_equal(model.labels_, labels)
    assert model.labels_.dtype == labels.dtype
    assert model.representatives(2).shape == (len(model.transform(rows()[:1])[0]), 2)


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("with_rows", [True, False])
def test_models_are_saved_and_loaded(name: str, with_rows: bool, tmp_path: Path) -> None:
    model = of_a_file(name)
    cmeans.save(model, tmp_path / "model.safetensors", rows=with_rows)
    again = cmeans.load(tmp_path / "model.safetensors")
    assert hasattr(again, "labels_") == with_rows
    if with_rows:
        np.testing.assert_array_equal(again.labels_, model.labels_)
        assert again.labels_.dtype == model.labels_.dtype
    assert not hasattr(again, "memberships_")
    assert again.feature_names_in_.tolist() == NAMES
    given = parquet(tmp_path, rows(seed=1), "more.parquet")
    np.testing.assert_array_equal(again.predict(given), model.predict(Kept(rows(seed=1))))
    np.testing.assert_array_equal(again.transform(given), model.transform(given))
    with pytest.raises(
        ValueError, match="only labels are kept" if with_rows else "saved without its rows"
    ):
        again.representatives()


@pytest.mark.parametrize("name", MODELS)
def test_models_are_pickled_and_cloned(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    limited(monkeypatch, array_bytes=0)  # labels on the disk
    given = placed("parquet", tmp_path, rows())
    model = clone(MODELS[name]).fit(given)
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.labels_, model.labels_)
    np.testing.assert_array_equal(again.predict(given), model.labels_)
    assert len(pickle.dumps(model)) < 400_000
    copy = clone(model)
    assert not hasattr(copy, "labels_")
    np.testing.assert_array_equal(copy.fit(given).labels_, model.labels_)


def test_labels_on_the_disk_outlive_rows_and_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    limited(monkeypatch, array_bytes=0)
    path = parquet(tmp_path, rows())
    labels = clone(MODELS["KernelKMeans"]).fit(path).labels_
    path.unlink()
    np.testing.assert_array_equal(labels, fitted("KernelKMeans").labels_)
    labels[:] = 0  # they are the user's
    assert not labels.any()


@pytest.mark.parametrize(("n_clusters", "dtype"), [(128, np.int8), (129, np.int16)])
def test_labels_are_the_smallest_integers_that_hold_them(n_clusters: int, dtype: Any) -> None:
    """With -1 for rows that belong nowhere."""
    model = KernelKMeans(n_clusters, init=np.arange(n_clusters), tol=1e-2, kernel="linear").fit(
        Kept(rows())
    )
    assert model.labels_.dtype == dtype
    assert model.predict(Kept(rows())).dtype == dtype
    assert model.labels_.max() == n_clusters - 1
    np.testing.assert_array_equal(model.labels_, clone(model).fit(rows()).labels_)


def test_rows_that_belong_nowhere() -> None:
    far = rows().copy()
    far[[3, 500]] = 100.0
    model = AdaptivePossibilisticCMeans((1, 8), scaling=None, random_state=0)
    other = clone(model).fit(far)
    labels = model.fit(Kept(far)).labels_
    np.testing.assert_array_equal(labels, other.labels_)
    assert labels.dtype == np.int8
    assert labels.min() == other.labels_.min() == -1


# ------------------------------------------------------------------------------------------ streams


@pytest.mark.parametrize("name", ["StreamingFuzzyCMeans", "KernelPatchClustering"])
def test_chunks_from_files(name: str, tmp_path: Path) -> None:
    cuts = [rows()[:300], rows()[300:340], rows(seed=1)]
    files = [parquet(tmp_path, chunk, f"{number}.parquet") for number, chunk in enumerate(cuts)]
    reversed_ = table(cuts[1]).select(NAMES[::-1])
    pq.write_table(reversed_, files[1])
    from_files, from_arrays = clone(MODELS[name]), clone(MODELS[name])
    for file, chunk in zip(files, cuts, strict=True):
        from_files.partial_fit(file)
        from_arrays.partial_fit(chunk)
        np.testing.assert_array_equal(from_files.labels_, from_arrays.labels_)
        np.testing.assert_array_equal(from_files.memberships_, from_arrays.memberships_)
        np.testing.assert_array_equal(from_files.mass_, from_arrays.mass_)
    with pytest.raises(ValueError, match=r"the columns of .*1\.parquet are"):
        from_files.partial_fit(cmeans.open_blocks(files[1]))
    assert from_files.n_chunks_ == 3


def test_a_fit_on_files_goes_on_with_chunks(tmp_path: Path) -> None:
    on_files, in_memory = (
        clone(MODELS["StreamingFuzzyCMeans"]).fit(npy(tmp_path, rows())),
        clone(MODELS["StreamingFuzzyCMeans"]).fit(rows()),
    )
    assert not hasattr(on_files, "memberships_")
    for model in (on_files, in_memory):
        model.partial_fit(parquet(tmp_path, rows(seed=1), "more.parquet"))
    np.testing.assert_array_equal(on_files.cluster_centers_, in_memory.cluster_centers_)
    np.testing.assert_array_equal(on_files.labels_, in_memory.labels_)
    assert hasattr(on_files, "memberships_")
