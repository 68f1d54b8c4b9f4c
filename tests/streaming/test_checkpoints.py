"""Fits of streams that are broken off anywhere go on to the same bits."""

from __future__ import annotations

import json
import warnings
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest
from scipy import sparse
from sklearn.metrics.pairwise import polynomial_kernel

import cmeans
from cmeans import Checkpoint, KernelPatchClustering, StreamingFuzzyCMeans
from cmeans.fitting.streams.stream_state import FitSummary
from cmeans.kernels import RBF
from cmeans.papers import ComplexWaveletSSIM, SpatialPyramid, StreamingKernelFCM
from cmeans.solvers import checkpoints
from cmeans.solvers.checkpoints import FORMAT, KEY
from cmeans.storage.codec import read_packed, write_packed
from contracts.arrays import strict_array

rng = np.random.default_rng(0)
X = rng.normal(size=(600, 4)) + 3.0 * rng.normal(size=(4, 4))[rng.integers(4, size=600)]
KNOWN = np.where(np.arange(600) % 50 == 0, np.arange(600) // 50 % 4, -1)
SAME = (
    "objective_",
    "n_iter_",
    "row_visits_",
    "converged_",
    "stop_reason_",
    "n_clusters_",
    "n_chunks_",
    "n_samples_seen_",
)

FITS: dict[str, Any] = {
    "linear": lambda **words: StreamingFuzzyCMeans(4, chunk_size=75, **words),
    "landmarks": lambda **words: StreamingFuzzyCMeans(
        4, chunk_size=75, kernel="rbf", landmarks=60, warm_up=160, **words
    ),
    "hard": lambda **words: StreamingFuzzyCMeans(
        4, chunk_size=75, kernel="rbf", rule="hard", landmarks=25, **words
    ),
    "projection": lambda **words: StreamingKernelFCM(
        4, chunk_size=75, kernel="rbf", method="projection", decay=0.9, **words
    ),
    "noise": lambda **words: StreamingKernelFCM(
        4, method="landmarks", chunk_size=75, noise="auto", m=1.5, past_weight="u", **words
    ),
    "graph": lambda **words: StreamingFuzzyCMeans(
        4, chunk_size=75, kernel="landmark_graph", landmarks=40, **words
    ),
    "stretched": lambda **words: StreamingFuzzyCMeans(
        4, chunk_size=75, rule="hard", covariance="full", warm_up=80, **words
    ),
    "one chunk": lambda **words: StreamingFuzzyCMeans(4, **words),
    "short of sweeps": lambda **words: StreamingFuzzyCMeans(
        4, chunk_size=75, max_iter=2, tol=1e-9, **words
    ),
    "patches": lambda **words: KernelPatchClustering(4, patch_size=75, n_points=3, **words),
    "tree": lambda **words: KernelPatchClustering(
        4, patch_size=75, n_points=3, merge="tree", **words
    ),
    "tree of two levels": lambda **words: KernelPatchClustering(
        4, patch_size=60, n_points=6, merge="tree", m=2.0, **words
    ),
}


class BrokenError(Exception):
    """What ends a fit in these tests."""


def fitted(name: str, checkpoint: object = None, x: Any = X, n_jobs: int = 1, **told: Any) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return FITS[name](
            random_state=3, engine=cmeans.ThreadEngine(n_jobs=n_jobs, checkpoint=checkpoint)
        ).fit(x, **told)


def breaking_off(patch: pytest.MonkeyPatch, at: int) -> list[int]:
    """From now on the write number `at` succeeds, and then the fit breaks; gives the count of
    writes."""
    write, counts = checkpoints.write_packed, [0]

    def written(*words: Any) -> None:
        write(*words)
        counts[0] += 1
        if counts[0] == at:
            raise BrokenError

    patch.setattr(checkpoints, "write_packed", written)
    return counts


def assert_same_bits(again: Any, whole: Any) -> None:
    for attribute in SAME:
        assert getattr(again, attribute) == getattr(whole, attribute), attribute
    for attribute in ("labels_", "memberships_", "objective_history_", "projection_loss_", "mass_"):
        assert np.array_equal(getattr(again, attribute), getattr(whole, attribute)), attribute
    assert np.array_equal(again._state.centres.coordinates, whole._state.centres.coordinates)


@pytest.mark.parametrize("name", FITS)
def test_what_is_broken_off_goes_on_to_the_same_bits(name: str, tmp_path: Path) -> None:
    """After the first chunk, and all but the last; and checkpoints change no bit."""
    x, file = X[:225], tmp_path / "fit.checkpoint"
    whole = fitted(name, x=x)
    with pytest.MonkeyPatch.context() as patch:
        counts = breaking_off(patch, -1)
        assert_same_bits(fitted(name, Checkpoint(file, sweeps=1), x=x), whole)
    assert counts[0] == whole.n_chunks_ + (name.startswith("tree"))
    for at in {1, counts[0] - 1} - {0}:
        with pytest.MonkeyPatch.context() as patch:
            breaking_off(patch, at)
            with pytest.raises(BrokenError):
                fitted(name, Checkpoint(file, sweeps=1), x=x)
        assert_same_bits(fitted(name, Checkpoint(file, resume=True), x=x, n_jobs=3), whole)


@pytest.mark.parametrize("name", ["landmarks", "tree"])
def test_chunks_that_are_done_are_not_clustered_again(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "fit.checkpoint"
    whole = fitted(name, file)
    begun, found = [], type(whole)._chunk_problem
    monkeypatch.setattr(
        type(whole), "_chunk_problem", lambda *words: begun.append(1) or found(*words)
    )
    assert_same_bits(fitted(name, Checkpoint(file, resume=True)), whole)
    # the last chunk; the first patch, which has the kernel, and three merges
    assert len(begun) == {"landmarks": 1, "tree": 4}[name]


def test_an_interrupt_within_a_chunk_leaves_the_chunks_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file, whole = tmp_path / "fit.checkpoint", fitted("landmarks")
    going_on = StreamingFuzzyCMeans._go_on

    def interrupted(model: Any, stream: Any, chunk: Any) -> Any:
        if chunk.number == 5:
            raise KeyboardInterrupt
        return going_on(model, stream, chunk)

    with monkeypatch.context() as patch:
        patch.setattr(StreamingFuzzyCMeans, "_go_on", interrupted)
        with pytest.raises(KeyboardInterrupt):
            fitted("landmarks", file)  # which would be written every five minutes
    header, _ = read_packed(file, KEY)
    assert header["sections"]["chunks"]["$dict"]["stream"]["fields"]["n_chunks"] == 5
    assert_same_bits(fitted("landmarks", Checkpoint(file, resume=True)), whole)


@pytest.mark.parametrize("form", ["float32", "csr", "file", "known labels"])
def test_other_rows(form: str, tmp_path: Path) -> None:
    x: Any = {
        "float32": X.astype(np.float32),
        "csr": sparse.csr_array(np.where(X > 0, X, 0.0)),
        "file": str(tmp_path / "x.npy"),
    }.get(form, X)
    if form == "file":
        np.save(x, X)
    told = {"known_labels": KNOWN} if form == "known labels" else {}
    whole, file = fitted("landmarks", x=x, **told), tmp_path / "fit.checkpoint"
    with pytest.MonkeyPatch.context() as patch:
        breaking_off(patch, 4)
        with pytest.raises(BrokenError):
            fitted("landmarks", Checkpoint(file, sweeps=1), x=x, **told)
    again = fitted("landmarks", Checkpoint(file, resume=True), x=x, **told)
    assert again.objective_ == whole.objective_
    assert np.array_equal(again.labels_, whole.labels_)
    assert np.array_equal(again._state.centres.coordinates, whole._state.centres.coordinates)


@dataclass(frozen=True, repr=False)
class Own(RBF):
    """A kernel of one's own, which a file may hold."""

    power: float = 1.0

    def __call__(self, x: Any, y: Any) -> Any:
        return super().__call__(x, y) ** self.power


@pytest.mark.parametrize(
    "kernel",
    [Own(gamma=0.1, power=0.5), SpatialPyramid(levels=2), ComplexWaveletSSIM(levels=1)],
    ids=repr,
)
@pytest.mark.parametrize(
    "stream",
    [
        partial(StreamingFuzzyCMeans, chunk_size=75, landmarks=20),
        partial(KernelPatchClustering, patch_size=75, n_points=3),
    ],
)
def test_kernels_from_outside_go_on_too(stream: Any, kernel: Any, tmp_path: Path) -> None:
    images, file = np.abs(np.tile(X[:300], 4)), tmp_path / "f"

    def fit(checkpoint: object) -> Any:
        engine = cmeans.ThreadEngine(checkpoint=checkpoint)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return stream(4, kernel=kernel, random_state=3, max_iter=20, engine=engine).fit(images)

    whole = fit(None)
    with pytest.MonkeyPatch.context() as patch:
        breaking_off(patch, 2)
        with pytest.raises(BrokenError):
            fit(Checkpoint(file, sweeps=1))
    assert_same_bits(fit(Checkpoint(file, resume=True)), whole)
    cmeans.save(whole, tmp_path / "model")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        again, whole = (
            one.partial_fit(images[:75]) for one in (cmeans.load(tmp_path / "model"), whole)
        )
    assert_same_bits(again, whole)


@pytest.mark.parametrize("losses", [(0.3, 0.1), (0.1, 0.3)])
def test_the_loss_of_a_fit_is_the_largest_of_its_chunks(losses: tuple[float, float]) -> None:
    summary, solution = None, SimpleNamespace(converged=True)
    for loss in losses:
        chunk = SimpleNamespace(
            loss=np.array([loss]),
            solution=solution,
            geometry=SimpleNamespace(blocks=None),
            without=lambda _: None,
        )
        summary = FitSummary.after(summary, cast(Any, None), cast(Any, chunk))
    assert summary is not None
    assert summary.loss == [0.3]


class TestRefused:
    @pytest.mark.parametrize("name", FITS)
    def test_other_rows_and_weights(self, name: str, tmp_path: Path) -> None:
        x, weight = X[:300], np.where(np.arange(300) % 3, 1.0, 2.0)
        words = {} if "patches" in name or "tree" in name else {"sample_weight": weight}
        with pytest.MonkeyPatch.context() as patch:
            breaking_off(patch, 1)
            with pytest.raises(BrokenError):
                fitted(name, Checkpoint(tmp_path / "f", sweeps=1), x=x, **words)
        other, resumed = x.copy(), Checkpoint(tmp_path / "f", resume=True)
        other[-1, -1] += 1e-9
        for rows in (other, x[::-1].copy()):
            with pytest.raises(ValueError, match="was begun with values="):
                fitted(name, resumed, x=rows, **words)
        if words:
            with pytest.raises(ValueError, match="was begun with weights="):
                fitted(name, resumed, x=x, sample_weight=weight[::-1].copy())

    def refused(self, file: Path, match: str, **words: Any) -> None:
        given = {
            "kernel": "rbf",
            "landmarks": 60,
            "warm_up": 160,
            "chunk_size": 75,
            "random_state": 3,
            **words,
        }
        with pytest.raises(ValueError, match=match):
            StreamingFuzzyCMeans(
                4, **given, engine=cmeans.ThreadEngine(checkpoint=Checkpoint(file, resume=True))
            ).fit(X)

    def test_another_fit(self, tmp_path: Path) -> None:
        fitted("landmarks", tmp_path / "f")
        self.refused(
            tmp_path / "f", r"was begun with chunk_size='75', this fit has '80'", chunk_size=80
        )
        self.refused(tmp_path / "none", "there is no .*none to resume from")

    def test_another_format(self, tmp_path: Path) -> None:
        file = tmp_path / "f"
        fitted("landmarks", file)
        header, arrays = read_packed(file, KEY)
        assert header["format"] == FORMAT == 3
        for number in (2, 4):
            write_packed(file, KEY, {**header, "format": number}, arrays)
            self.refused(file, "f is damaged, or no checkpoint of this version")

    @pytest.mark.parametrize(
        "change",
        [
            lambda chunks: chunks.pop("loss"),
            lambda chunks: chunks.update(stream=7),
            lambda chunks: chunks["stream"]["fields"].clear(),
        ],
    )
    def test_changed_by_hand(self, change: Any, tmp_path: Path) -> None:
        file = tmp_path / "f"
        fitted("landmarks", file)
        header, arrays = read_packed(file, KEY)
        change(header["sections"]["chunks"]["$dict"])
        write_packed(file, KEY, json.loads(json.dumps(header)), arrays)
        self.refused(file, "f is damaged, or no checkpoint of this version")

    def test_a_kernel_that_no_file_can_hold(self, tmp_path: Path) -> None:
        for kernel in (lambda x, y: x @ y.T, partial(polynomial_kernel, degree=2)):
            model = StreamingFuzzyCMeans(
                4,
                chunk_size=75,
                kernel=kernel,
                landmarks=20,
                engine=cmeans.ThreadEngine(checkpoint=tmp_path / "f"),
            )
            with pytest.raises(
                ValueError,
                match=r"\(checkpoint=\)\): no file can hold kernel=.*; take the library's",
            ):
                model.fit(X)
        assert not list(tmp_path.iterdir())

    def test_rows_of_another_library(self, tmp_path: Path) -> None:
        with pytest.raises(
            ValueError,
            match=r"\(checkpoint=\)\): a file holds rows of NumPy alone; give those, or no "
            r"checkpoint",
        ):
            fitted("landmarks", tmp_path / "f", x=strict_array(X))
        assert not list(tmp_path.iterdir())

    def test_a_wrong_word(self) -> None:
        for estimator in (StreamingFuzzyCMeans, KernelPatchClustering):
            with pytest.raises(ValueError, match=r"\(checkpoint=3\): give a path or a Checkpoint"):
                estimator(2, engine=cmeans.ThreadEngine(checkpoint=3)).fit(X)


def test_models_do_not_keep_it(tmp_path: Path) -> None:
    """`partial_fit` writes none, and files of models hold none."""
    model = StreamingFuzzyCMeans(
        4, random_state=0, engine=cmeans.ThreadEngine(checkpoint=tmp_path / "f")
    ).partial_fit(X)
    assert not list(tmp_path.iterdir())
    cmeans.save(model, tmp_path / "model")
    assert cmeans.load(tmp_path / "model").engine is None
