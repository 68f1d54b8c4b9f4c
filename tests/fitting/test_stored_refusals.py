"""What stored rows cannot be used for, and what becomes of a fit whose files go, change, stutter or
leave no room."""

from __future__ import annotations

import errno
import os
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

import cmeans
from cmeans import Search
from cmeans.data.row_source import RowsError, StoredRows
from every_estimator import COUNTING, FINDING, NAMES, OF_KERNEL_VALUES, build, known
from file_formats import ipc, npy, parquet
from limited import limited
from stored_rows import C, Kept, N, placed, rows

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("nothing_is_small")]
LINEAR: dict[str, Any] = {"kernel": "linear"}
SHORT: dict[str, Any] = {
    "tol": 1e-2,
    "n_init": 1,
    "pilot_m": "auto",
    "alpha": 1.0,
    "patience": 1,
    "quantile": 0.5,
}
OWN: dict[str, Any] = {"chunk_size": 200, "patch_size": 140, "eta_scale": 0.3, **SHORT, **LINEAR}
VARIANTS: dict[str, tuple[str, dict[str, Any]]] = {
    "tree": ("KernelPatchClustering", {"merge": "tree"})
}
EVERYBODY = (*NAMES, *VARIANTS)


def made(name: str, **words: Any) -> Any:
    name, own = VARIANTS.get(name, (name, {}))
    return build(
        name, n_clusters=8 if name in FINDING else C, **{**known(name, OWN), **own, **words}
    )


over_everybody = pytest.mark.parametrize("name", EVERYBODY)


def found_by(model: Any) -> set[str]:
    """Attributes that say that a model is fitted."""
    return {name for name in vars(model) if name.endswith("_")} - {
        "n_features_in_",
        "feature_names_in_",
    }


# ----------------------------------------------------------------------------- words that cannot be


@pytest.mark.parametrize("name", OF_KERNEL_VALUES)
def test_the_exact_kernel_is_refused(name: str, tmp_path: Path) -> None:
    model = made(name, kernel="rbf", landmarks=None)
    with pytest.raises(ValueError, match=r"\(landmarks=None\): .*x\.npy") as caught:
        model.fit(npy(tmp_path, rows()))
    assert str(caught.value).startswith(type(model).__name__)
    assert not found_by(model)


@over_everybody
def test_kernel_values_are_refused(name: str, tmp_path: Path) -> None:
    model = made(name, kernel="precomputed")
    np.save(tmp_path / "gram.npy", np.eye(N))
    with pytest.raises(
        ValueError,
        match=r'\(kernel="precomputed"\): (kernel values must be in memory; load .*gram\.npy|a '
        r"stream computes)",
    ):
        model.fit(tmp_path / "gram.npy")
    assert not found_by(model)


@pytest.mark.parametrize("solver", ["fagp", "agp"])
def test_solvers_that_follow_single_rows_are_refused(solver: str, tmp_path: Path) -> None:
    with pytest.raises(
        ValueError, match=rf"ProbabilisticKMeans\(solver='{solver}'\): .*\"batched\".*x\.npy"
    ):
        made("ProbabilisticKMeans", solver=solver).fit(npy(tmp_path, rows()))


@over_everybody
def test_weights_twice_are_refused(name: str, tmp_path: Path) -> None:
    given = placed("parquet", tmp_path, rows(), weight=np.ones(N))
    model = made(name)
    with pytest.raises(
        ValueError,
        match=rf"{type(model).__name__}: sample_weight is given, and X brings weights of its own",
    ):
        model.fit(given, sample_weight=np.ones(N))
    assert not found_by(model)


@over_everybody
def test_weights_of_another_length_are_refused(name: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"sample_weight has shape \(5,\)"):
        made(name).fit(npy(tmp_path, rows()), sample_weight=np.ones(5))


@pytest.mark.parametrize("name", COUNTING)
@pytest.mark.parametrize("n", [5, N])
def test_fewer_rows_than_clusters(name: str, n: int, tmp_path: Path) -> None:
    model = made(name)
    model.set_params(n_clusters=n + 1)
    for word in ("chunk_size", "patch_size"):
        if word in model.get_params():
            model.set_params(**{word: 3 * n})
    with pytest.raises(ValueError, match=rf"n_clusters={n + 1}\).*fewer.*n_samples={n}"):
        model.fit(npy(tmp_path, rows()[:n]))


@pytest.mark.parametrize(
    "words",
    [{"landmarks": np.array([0, N])}, {"landmarks": N + 1}, {"init": np.array([0, 1, N])}],
    ids=str,
)
def test_rows_that_are_not_there(words: dict[str, Any], tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="KernelKMeans"):
        made("KernelKMeans", kernel="rbf", **words).fit(npy(tmp_path, rows()))


@pytest.mark.parametrize(
    "question", ["predict", "transform", "memberships", "score", "outlier_score"]
)
def test_an_unfitted_model_knows_nothing(question: str, tmp_path: Path) -> None:
    with pytest.raises(NotFittedError):
        getattr(cmeans.FuzzyCMeans(), question)(npy(tmp_path, rows()))


# -------------------------------------------------------------------------------------------- holes


@over_everybody
@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_a_hole_in_the_middle_is_found(name: str, value: float, tmp_path: Path) -> None:
    x = rows().copy()
    x[412, 2] = value
    model = made(name, n_jobs=2)
    what = (
        r"is empty or not a number \(NaN\)"
        if np.isnan(value)
        else "is infinite or too large for float64"
    )
    for path, column in ((parquet(tmp_path, x, group=33), "'c'"), (npy(tmp_path, x), "2")):
        with pytest.raises(RowsError, match=rf"{path.name}: column {column} {what} in row 412"):
            model.fit(path)
        assert not found_by(model)


def test_a_hole_in_a_question(tmp_path: Path) -> None:
    x = rows().copy()
    x[680, 0] = np.nan
    model = made("FuzzyCMeans").fit(Kept(rows()))
    for question in ("predict", "transform", "score"):
        with pytest.raises(RowsError, match=r"x\.npy: column 0 .* in row 680"):
            getattr(model, question)(npy(tmp_path, x))


# ------------------------------------------------------------------------------------ files that go


def removed(file: Path) -> None:
    file.unlink()


def shortened(file: Path) -> None:
    os.truncate(file, file.stat().st_size // 2)


def replaced(file: Path) -> None:
    other = file.with_name("other")
    other.write_bytes(file.read_bytes())
    other.replace(file)


MISHAPS = {"removed": removed, "shortened": shortened, "replaced": replaced}
WRITTEN: dict[str, Callable[[Path, np.ndarray], Path]] = {
    "npy": npy,
    "parquet": parquet,
    "arrow": ipc,
}


@pytest.mark.parametrize("what", MISHAPS)
@pytest.mark.parametrize("form", WRITTEN)
def test_between_opening_and_fitting(form: str, what: str, tmp_path: Path) -> None:
    file = WRITTEN[form](tmp_path, rows())
    given, model = cmeans.open_blocks(file), made("FuzzyCMeans")
    MISHAPS[what](file)
    with pytest.raises(
        RowsError, match=rf"{file.name}: changed \(or disappeared\) while it was being read"
    ):
        model.fit(given)
    assert not found_by(model)
    with pytest.raises(NotFittedError):
        model.predict(rows())


def failing_late(
    rows: StoredRows, mishap: Callable[[], None], after: int, reads: list[int] | None = None
) -> StoredRows:
    """The mishap comes after so many blocks; `reads` notes their lengths."""
    reads = [] if reads is None else reads

    def counted(block: np.ndarray) -> np.ndarray:
        reads.append(len(block))
        if len(reads) == after:
            mishap()
        return block

    return rows.mapped(counted)


@over_everybody
@pytest.mark.parametrize(
    ("form", "what"), [("npy", "removed"), ("parquet", "replaced"), ("arrow", "shortened")]
)
def test_while_fitting(name: str, form: str, what: str, tmp_path: Path) -> None:
    """Early, and late where nothing decoded is kept: the fit knows most things already."""
    file = WRITTEN[form](tmp_path, rows())
    reads: list[int] = []
    if form == "npy":
        made(name, n_jobs=1).fit(failing_late(cmeans.open_blocks(file), lambda: None, 0, reads))
    model = made(name, n_jobs=1 if form == "npy" else 2)
    given = failing_late(
        cmeans.open_blocks(file), lambda: MISHAPS[what](file), max(1, len(reads) - 1)
    )
    with pytest.raises(
        RowsError, match=rf"{file.name}: changed \(or disappeared\) while it was being read"
    ):
        model.fit(given)
    assert not found_by(model)
    with pytest.raises(NotFittedError):
        model.predict(rows())
    # nothing is left that would hinder the next fit
    assert model.fit(Kept(rows())).labels_.shape == (N,)


@pytest.mark.parametrize(
    "name",
    [
        "KernelKMeans",
        "FuzzyCMeans",
        "PossibilisticCMeans",
        "CMeans",
        "ProbabilisticKMeans",
        "AdaptivePossibilisticCMeans",
    ],
)
def test_between_sweeps(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is kept from one sweep to the next, so that each reads all rows anew."""
    monkeypatch.setattr(cmeans.fitting.memory, "ALWAYS_THERE", 0)
    monkeypatch.setattr(cmeans.fitting.memory, "free_memory", lambda: 0)
    file = npy(tmp_path, rows())
    reads: list[int] = []
    made(name, n_jobs=1).fit(failing_late(cmeans.open_blocks(file), lambda: None, 0, reads))
    model = made(name, n_jobs=1)
    assert len(reads) > 9
    for after in (len(reads) // 2, len(reads) - 1):
        with pytest.raises(RowsError, match=r"x\.npy: changed"):
            model.fit(failing_late(cmeans.open_blocks(file), lambda: removed(file), after))
        assert not found_by(model)
        npy(tmp_path, rows())


def test_a_refit_that_fails_does_not_answer_with_half_of_it(tmp_path: Path) -> None:
    """It knows what it knew, but for what it says of rows."""
    model = made("FuzzyCMeans").fit(rows())
    before = model.predict(rows())
    names = found_by(model)
    x = rows() + 100.0
    x[N - 1, 0] = np.nan
    with pytest.raises(RowsError):
        model.fit(npy(tmp_path, x))
    assert found_by(model) <= names
    np.testing.assert_array_equal(model.predict(rows()), before)


# ---------------------------------------------------------------------------------- reads that fail


class Stuttering:
    """Every read of one block fails so many times."""

    def __init__(self, times: int, block: int = 4) -> None:
        self.times, self._block, self._reads, self._failed = times, block, 0, 0

    def __call__(self, start: int, stop: int) -> None:
        self._reads += 1
        if self._reads >= self._block and self._failed < self.times:
            self._failed += 1
            raise OSError(errno.EIO, os.strerror(errno.EIO), "the-file")


@over_everybody
def test_a_read_that_fails_is_tried_again(name: str) -> None:
    other = made(name, n_jobs=1).fit(Kept(rows()))
    before = Stuttering(1)
    model = made(name, n_jobs=1).fit(Kept(rows(), before))
    assert before._failed == 1
    np.testing.assert_array_equal(model.labels_, other.labels_)
    assert model.objective_ == other.objective_


@over_everybody
def test_a_read_that_fails_twice_ends_the_fit(name: str) -> None:
    model = made(name, n_jobs=1)
    with pytest.raises(
        RowsError,
        match=r"the-file: rows \d+ to \d+ cannot be read, tried twice \(Input/output error\)",
    ):
        model.fit(Kept(rows(), Stuttering(2)))
    assert not found_by(model)


def test_every_block_may_stutter_once() -> None:
    seen: set[tuple[int, int]] = set()

    def before(start: int, stop: int) -> None:
        if (start, stop) not in seen:
            seen.add((start, stop))
            raise OSError(errno.EAGAIN, "try again")

    model = made("FuzzyCMeans", n_jobs=2).fit(Kept(rows(), before))
    np.testing.assert_array_equal(model.labels_, made("FuzzyCMeans", n_jobs=2).fit(rows()).labels_)
    assert len(seen) > 3


def test_other_errors_are_not_tried_again() -> None:
    calls = []

    def before(start: int, stop: int) -> None:
        calls.append(start)
        raise RowsError("f: is damaged.")

    with pytest.raises(RowsError, match=r"f: is damaged\."):
        made("FuzzyCMeans", n_jobs=1).fit(Kept(rows(), before))
    assert len(calls) == 1


# ------------------------------------------------------------------------------ a disk that is full


def full(*_: Any) -> None:
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


@pytest.fixture
def full_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever is written to scratch finds no room."""
    without = types.SimpleNamespace(**{name: getattr(os, name) for name in dir(os)})
    without.write = without.posix_fallocate = full
    monkeypatch.setattr(cmeans.data.scratch, "os", without)


@pytest.mark.usefixtures("full_disk")
@pytest.mark.parametrize("name", ["KernelKMeans", "FuzzyCMeans", "PossibilisticCMeans"])
def test_no_room_for_samples(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    limited(monkeypatch, subsampled_above=900, array_bytes=N + 1)  # there is room for labels
    model = made(name, search=Search(progressive=True))
    with pytest.raises(
        RowsError,
        match=r"no room for [\d,]+ bytes of scratch in .* \(set TMPDIR .*No space left on device",
    ):
        model.fit(Kept(rows()))
    assert not found_by(model)
    assert made(name, search=Search(progressive=False)).fit(Kept(rows())).labels_.shape == (N,)


@pytest.mark.usefixtures("full_disk")
@over_everybody
def test_no_room_for_labels(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """And none for P, of which the first is needed at once."""
    limited(monkeypatch, array_bytes=0)
    model = made(name)
    size = {"ProbabilisticKMeans": N * C * 8}.get(name, N)
    with pytest.raises(
        RowsError, match=rf"no room for {size:,} bytes of scratch in .*No space left on device"
    ):
        model.fit(Kept(rows()))
    assert not found_by(model)


@pytest.mark.parametrize(("name", "size"), [("FuzzyCMeans", N), ("ProbabilisticKMeans", 8 * C * N)])
def test_what_the_disk_cannot_hold_is_told_before_anything_is_written(
    name: str, size: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    limited(monkeypatch, array_bytes=0)
    monkeypatch.setattr(cmeans.data.scratch, "_free", lambda _: 10)
    with pytest.raises(RowsError, match=rf"no room for {size:,} bytes of scratch in"):
        made(name).fit(Kept(rows()))


@pytest.mark.usefixtures("full_disk")
def test_no_room_to_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    model = made("FuzzyCMeans").fit(rows())
    limited(monkeypatch, array_bytes=0)
    with pytest.raises(RowsError, match="no room"):
        model.predict(Kept(rows()))
