"""A fit that is broken off anywhere goes on to the same bits, and whoever interrupts it keeps the
centres so far."""

from __future__ import annotations

import errno
import itertools
import os
import re
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from scipy import sparse
from sklearn.metrics import adjusted_rand_score
from sklearn.metrics.pairwise import polynomial_kernel

import cmeans
from cmeans import Checkpoint, Landmarks, Search
from cmeans.data.row_source import RowsError, StoredRows
from cmeans.kernels import Precomputed
from cmeans.papers import GradientLandmarks
from cmeans.solvers import checkpoints
from cmeans.solvers.fit_identity import formatted
from damage import Damage, changed_by_hand, flipped, truncated
from full_disk import files_end_at
from limited import limited

pytestmark = pytest.mark.slow

rng = np.random.default_rng(0)
X = rng.normal(size=(700, 4)) + 3.0 * rng.normal(size=(5, 4))[rng.integers(5, size=700)]
WEIGHT = rng.uniform(0.5, 2.0, len(X))
SAME = ("objective_", "n_iter_", "row_visits_", "converged_", "stop_reason_", "n_clusters_")

FITS = {
    "hard": lambda **words: cmeans.KernelKMeans(5, landmarks=30, n_init=3, **words),
    "fuzzy": lambda **words: cmeans.FuzzyCMeans(
        5, m=1.5, kernel="rbf", landmarks=30, n_init=2, **words
    ),
    "plain": lambda **words: cmeans.FuzzyCMeans(
        5, kernel="linear", search=Search(None, acceleration=None), **words
    ),
    "mixture": lambda **words: cmeans.GaussianMixture(4, max_iter=8, **words),
    "mixtures": lambda **words: cmeans.GaussianMixture((2, 3), max_iter=5, **words),
    "stretched": lambda **words: cmeans.FuzzyCMeans(
        4, m=1.3, covariance="full", max_iter=10, **words
    ),
    "noise": lambda **words: cmeans.FuzzyCMeans(5, noise=0.2, m=1.3, **words),
    "gradient": lambda **words: cmeans.FuzzyCMeans(
        4, kernel="rbf", landmarks=GradientLandmarks(20), max_iter=12, **words
    ),
    "exact": lambda **words: cmeans.FuzzyCMeans(
        4, landmarks=None, kernel="laplacian", max_iter=6, **words
    ),
    "possibilistic": lambda **words: cmeans.PossibilisticCMeans(
        5, kernel="rbf", landmarks=30, **words
    ),
    "memberships": lambda **words: cmeans.papers.PrintedCMeans(
        5, rule="fuzzy", tol=1e-3, kernel="rbf", landmarks=30, **words
    ),
    "adaptive": lambda **words: cmeans.AdaptivePossibilisticCMeans((1, 7), tol=1e-2, **words),
    "sequential": lambda **words: cmeans.SequentialPossibilisticCMeans((1, 7), tol=1e-2, **words),
    "two steps": lambda **words: cmeans.TwoStepKernelKMeans(5, landmarks=200, n_init=3, **words),
    "batched": lambda **words: cmeans.ProbabilisticKMeans(
        5, kernel="rbf", landmarks=30, solver="batched", quantile=0.9, n_init=2, **words
    ),
    "fagp": lambda **words: cmeans.ProbabilisticKMeans(
        3, kernel="rbf", solver="fagp", n_init=2, **words
    ),
    "agp": lambda **words: cmeans.ProbabilisticKMeans(
        5, solver="agp", step=0.02, max_iter=20, n_init=2, **words
    ),
    "lloyd": lambda **words: cmeans.ProbabilisticKMeans(5, solver="lloyd", n_init=2, **words),
}
UNWEIGHTED = {"lloyd"}
OF_FEW = {
    "exact": 300,
    "mixture": 300,
    "mixtures": 150,
    "stretched": 300,
    "fagp": 24,
    "agp": 90,
}  # rows, where each costs time


@pytest.fixture(autouse=True, scope="module")
def _few_rows_are_many() -> Iterator[None]:
    """Several tasks over landmarks, which are taken by default; rows in their own order, which hard
    sweeps over many columns leave out."""
    with pytest.MonkeyPatch.context() as patch:
        limited(
            patch,
            task_values=8000,
            least_task_rows=100,
            canonical_rows=500,
            exact_rows=500,
            cached_rows=500,
            spanned_above=200,
        )
        patch.setattr("cmeans.sweeps.choice.LEAST_BOUNDED", 2**19)
        yield


class BrokenError(Exception):
    """What ends a fit in these tests."""


def fitted(name: str, checkpoint: object = None, seed: int = 3, n_jobs: int = 1) -> object:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return FITS[name](
            random_state=seed, engine=cmeans.ThreadEngine(n_jobs=n_jobs, checkpoint=checkpoint)
        ).fit(X[: OF_FEW.get(name)], sample_weight=None)


def breaking_off(
    monkeypatch: pytest.MonkeyPatch, at: int, error: type[BaseException] = BrokenError
) -> list[int]:
    """From now on the write number `at` succeeds, and then the fit breaks; gives the count of
    writes."""
    write, counts = checkpoints.write_packed, [0]

    def written(*words: object) -> None:
        write(*words)
        counts[0] += 1
        if counts[0] == at:
            raise error

    monkeypatch.setattr(checkpoints, "write_packed", written)
    return counts


@pytest.fixture(scope="module", params=FITS)
def whole_fit(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> tuple[str, object, int]:
    """The name of a fit, the model, and the count of checkpoints that it writes."""
    with pytest.MonkeyPatch.context() as patch:
        counts = breaking_off(patch, at=-1)
        model = fitted(
            request.param, Checkpoint(tmp_path_factory.mktemp("whole") / "fit.checkpoint", sweeps=1)
        )
    return request.param, model, counts[0]


def test_checkpoints_change_no_bit_of_a_fit(whole_fit: tuple[str, object, int]) -> None:
    name, written, _ = whole_fit
    assert_same_bits(fitted(name), written)


def assert_same_bits(again: object, whole: object) -> None:
    for attribute in SAME:
        assert getattr(again, attribute) == getattr(whole, attribute), attribute
    assert np.array_equal(again.labels_, whole.labels_)
    assert np.array_equal(again.memberships_, whole.memberships_)
    assert np.array_equal(again.objective_history_, whole.objective_history_)
    assert np.array_equal(again._state.centres.coordinates, whole._state.centres.coordinates)


@pytest.mark.parametrize("share", [0.0, 0.6])
def test_what_is_broken_off_goes_on_to_the_same_bits(
    whole_fit: tuple[str, object, int],
    share: float,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    name, whole, count = whole_fit
    file = tmp_path / "fit.checkpoint"
    with monkeypatch.context() as patch:
        breaking_off(patch, max(1, int(share * count)))
        with pytest.raises(BrokenError):
            fitted(name, Checkpoint(file, sweeps=1))
    seed = 99 if name in ("hard", "plain") else 3  # the file knows the seed
    # and the bits do not depend on the number of threads
    again = fitted(name, Checkpoint(file, resume=True), seed=seed, n_jobs=5)
    assert_same_bits(again, whole)


def test_progressive_samples_are_sections_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    limited(monkeypatch, subsampled_above=600)
    whole = fitted("fuzzy")
    file = tmp_path / "fit.checkpoint"
    with monkeypatch.context() as patch:
        breaking_off(patch, 4)
        with pytest.raises(BrokenError):
            fitted("fuzzy", Checkpoint(file, sweeps=1))
    again = fitted("fuzzy", Checkpoint(file, resume=True))
    assert (again.objective_, again.row_visits_) == (whole.objective_, whole.row_visits_)
    assert np.array_equal(again.memberships_, whole.memberships_)


def test_a_finished_fit_resumes_without_a_sweep(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "fit.checkpoint"
    whole = fitted("fuzzy", file)
    swept = []
    monkeypatch.setattr("cmeans.solvers.fixed_point._Loop.advance", lambda *_: swept.append(1))
    again = fitted("fuzzy", Checkpoint(file, resume=True))
    assert not swept
    assert np.array_equal(again.memberships_, whole.memberships_)


@pytest.mark.parametrize("name", ["hard", "fuzzy", "possibilistic", "adaptive", "sequential"])
def test_who_interrupts_keeps_the_centres_so_far(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    breaking_off(monkeypatch, 40 if name == "adaptive" else 5, KeyboardInterrupt)
    model = FITS[name](
        random_state=3,
        engine=cmeans.ThreadEngine(n_jobs=1, checkpoint=Checkpoint(tmp_path / "f", sweeps=1)),
    )
    with pytest.raises(KeyboardInterrupt):
        model.fit(X)
    assert not model.converged_
    assert "interrupted after" in model.stop_reason_
    assert set(model.predict(X)) <= {-1, *range(7)}
    assert not {"labels_", "memberships_", "objective_"} & set(vars(model))
    cmeans.save(model, tmp_path / "model")
    assert np.array_equal(cmeans.load(tmp_path / "model").predict(X), model.predict(X))


def test_too_early_there_is_no_model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # in the fuzzy run that gives adaptive clusters their scales
    breaking_off(monkeypatch, 1, KeyboardInterrupt)
    model = FITS["adaptive"](
        random_state=3, engine=cmeans.ThreadEngine(checkpoint=Checkpoint(tmp_path / "f", sweeps=1))
    )
    with pytest.raises(KeyboardInterrupt):
        model.fit(X)
    assert "_state" not in vars(model)


def interrupted_in_the_second_solve(monkeypatch: pytest.MonkeyPatch) -> None:
    """From now on the second solve of a fit is interrupted in its first sweep."""
    advance, state = cmeans.solvers.fixed_point._Loop.advance, {"loop": None, "n": 0}

    def stopping(loop: object, now: object) -> object:
        if loop is not state["loop"]:
            state["loop"], state["n"] = loop, state["n"] + 1
        if state["n"] == 2:
            raise KeyboardInterrupt
        return advance(loop, now)

    monkeypatch.setattr("cmeans.solvers.fixed_point._Loop.advance", stopping)


def test_the_best_of_several_starts_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    """An interrupt in the first sweeps of a later start leaves the better end of an earlier one."""
    first = cmeans.KernelKMeans(5, kernel="linear", n_init=1, search=None, random_state=0).fit(X)
    interrupted_in_the_second_solve(monkeypatch)
    model = cmeans.KernelKMeans(5, kernel="linear", n_init=2, search=None, random_state=0)
    with pytest.raises(KeyboardInterrupt):
        model.fit(X)
    # clusters are numbered at the end of a fit
    assert adjusted_rand_score(model.predict(X), first.labels_) == 1.0


def test_the_scales_of_an_interrupted_pilot_are_those_of_the_start_that_is_kept(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    first = cmeans.PossibilisticCMeans(5, kernel="linear", n_init=1, random_state=0).fit(X)
    interrupted_in_the_second_solve(monkeypatch)
    model = cmeans.PossibilisticCMeans(5, kernel="linear", n_init=2, random_state=0)
    with pytest.raises(KeyboardInterrupt):
        model.fit(X)
    assert np.array_equal(np.sort(model.eta_), np.sort(first.eta_))


def test_an_error_of_the_rows_leaves_a_checkpoint(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    limited(monkeypatch, loaded_bytes=0)
    # rows are read in every sweep
    monkeypatch.setattr("cmeans.sweeps.represented_rows.RepresentedRows._reserve", lambda *_: False)

    class Failing(StoredRows):
        left = 20

        def memory(self, n_threads: int) -> int:
            return 0

        def _read(self, start: int, stop: int) -> np.ndarray:
            self.left -= 1
            if self.left < 0:
                raise OSError(errno.EIO, "the disk is gone")
            return X[start:stop].copy()

    file, rows = tmp_path / "fit.checkpoint", Failing("somewhere", range(4), X.dtype, len(X))
    words = {"m": 1.5, "kernel": "rbf", "landmarks": 30, "random_state": 0}
    with pytest.raises(
        RowsError, match=r"somewhere: rows .* cannot be read, tried twice \(the disk is gone"
    ):
        cmeans.FuzzyCMeans(5, **words, engine=cmeans.ThreadEngine(n_jobs=1, checkpoint=file)).fit(
            rows
        )
    assert file.exists()
    rows.left = 10**9
    again = cmeans.FuzzyCMeans(
        5, **words, engine=cmeans.ThreadEngine(n_jobs=1, checkpoint=Checkpoint(file, resume=True))
    ).fit(rows)
    assert again.objective_ == cmeans.FuzzyCMeans(5, **words).fit(X).objective_


def test_a_full_disk_does_not_end_the_fit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("cmeans.storage.codec.save_file", full)
    with pytest.warns(
        RuntimeWarning, match="cannot write .*No space left on device.*goes on without"
    ):
        model = cmeans.FuzzyCMeans(
            5,
            kernel="rbf",
            landmarks=30,
            random_state=3,
            engine=cmeans.ThreadEngine(checkpoint=Checkpoint(tmp_path / "f", sweeps=1)),
        ).fit(X)
    assert model.converged_
    assert not list(tmp_path.iterdir())


def test_a_disk_that_fills_up_does_not_end_the_fit(tmp_path: Path) -> None:
    """What safetensors itself says of it."""
    file = tmp_path / "f"
    with (
        files_end_at(5_000),
        pytest.warns(
            RuntimeWarning,
            match=r"checkpoint: cannot write .*/f: File too large. The fit goes on without",
        ),
    ):
        model = cmeans.FuzzyCMeans(
            5,
            kernel="rbf",
            landmarks=300,
            random_state=3,
            engine=cmeans.ThreadEngine(checkpoint=Checkpoint(file, sweeps=1)),
        ).fit(X)
    assert model.converged_
    assert not list(tmp_path.iterdir())


class TestPlaces:
    """Where a checkpoint cannot be kept, the fit does not begin."""

    def unwritable(self, file: Path, number: int, monkeypatch: pytest.MonkeyPatch) -> None:
        before = sorted(tmp.name for tmp in file.parent.iterdir()) if file.parent.is_dir() else None
        monkeypatch.setattr("cmeans.fitting.fit.BaseCMeans._by_sweeps", None)
        for word in (file, Checkpoint(file, sweeps=1)):
            with pytest.raises(OSError, match="cannot write") as caught:
                cmeans.FuzzyCMeans(5, engine=cmeans.ThreadEngine(checkpoint=word)).fit(X)
            assert isinstance(caught.value, ValueError)
            assert (caught.value.errno, caught.value.filename) == (number, str(file))
            assert str(caught.value) == f"cannot write {file}: {os.strerror(number)}."
        assert (
            sorted(tmp.name for tmp in file.parent.iterdir()) if file.parent.is_dir() else None
        ) == before

    def test_no_folder(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.unwritable(tmp_path / "no" / "f", errno.ENOENT, monkeypatch)

    def test_a_folder(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.unwritable(tmp_path, errno.EISDIR, monkeypatch)

    def test_below_a_file(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        (tmp_path / "file").touch()
        self.unwritable(tmp_path / "file" / "f", errno.ENOTDIR, monkeypatch)

    def test_a_full_disk(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        with files_end_at(1_000):
            self.unwritable(tmp_path / "f", errno.EFBIG, monkeypatch)

    @pytest.mark.parametrize("number", [errno.EACCES, errno.EROFS, errno.ENOSPC])
    def test_what_else_the_system_may_say(
        self, number: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def refusing(*_: object, **__: object) -> str:
            raise OSError(number, os.strerror(number), "somewhere")

        monkeypatch.setattr("cmeans.storage.atomic.tempfile.mkdtemp", refusing)
        self.unwritable(tmp_path / "f", number, monkeypatch)

    @pytest.mark.parametrize("content", [b"", b"words", b"\x93NUMPY\x01\0", None])
    def test_other_files_are_left(self, content: bytes | None, tmp_path: Path) -> None:
        file = tmp_path / "other"
        if content is None:
            cmeans.save(fitted("plain"), file)
        else:
            file.write_bytes(content)
        before = file.read_bytes()
        with pytest.raises(
            ValueError,
            match=r"checkpoint: .*other is no checkpoint of a fit, and is not written over; give "
            r"another name",
        ):
            fitted("plain", file)
        assert file.read_bytes() == before

    @pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes here")
    def test_a_pipe(self, tmp_path: Path) -> None:
        os.mkfifo(tmp_path / "pipe")
        with pytest.raises(ValueError, match="pipe is no plain file"):
            fitted("plain", tmp_path / "pipe")

    def test_one_that_cannot_be_read(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        file = tmp_path / "f"
        fitted("plain", file)
        opening = Path.open

        def refusing(path: Path, *words: object, **more: object) -> object:
            if path == file:
                raise PermissionError(errno.EACCES, "Permission denied", str(file))
            return opening(path, *words, **more)

        monkeypatch.setattr(Path, "open", refusing)
        with pytest.raises(PermissionError, match=r"Permission denied: .*f"):
            fitted("plain", Checkpoint(file, resume=True))


def test_written_when_it_is_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    times = itertools.count(0, 61)  # each look at the clock is a minute later
    monkeypatch.setattr("cmeans.solvers.checkpoints.time.monotonic", lambda: float(next(times)))
    counts = breaking_off(monkeypatch, -1)
    model = fitted("plain", Checkpoint(tmp_path / "f", minutes=2))
    assert 3 <= counts[0] < model.n_iter_
    counts[0] = 0
    fitted("plain", Checkpoint(tmp_path / "f", minutes=None))
    assert counts[0] == 1  # at the end


class TestRefused:
    def refused(self, file: Path, match: str, x: np.ndarray = X, **words: object) -> None:
        given = {
            "m": 1.5,
            "kernel": "rbf",
            "landmarks": 30,
            "n_init": 2,
            "random_state": 3,
            **words,
        }
        with pytest.raises(ValueError, match=match):
            cmeans.FuzzyCMeans(
                5, **given, engine=cmeans.ThreadEngine(checkpoint=Checkpoint(file, resume=True))
            ).fit(x)

    def test_another_fit(self, tmp_path: Path) -> None:
        file = tmp_path / "f"
        fitted("fuzzy", file)
        self.refused(file, r"was begun with m='1.5', this fit has '1.6'", m=1.6)
        self.refused(file, r"was begun with values=", x=X + 1)
        self.refused(file, r"was begun with rows=700, this fit has 699", x=X[:-1])
        with pytest.raises(ValueError, match="was begun with estimator='FuzzyCMeans'"):
            cmeans.KernelKMeans(
                5, engine=cmeans.ThreadEngine(checkpoint=Checkpoint(file, resume=True))
            ).fit(X)

    @pytest.mark.parametrize("form", ["array", "float32", "CSR", "npy", "map", "parquet", "csv"])
    def test_other_rows_anywhere(
        self, form: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """One entry or one weight that differs, two rows or weights that change places."""

        def given(x: np.ndarray) -> object:
            if form in ("npy", "map"):
                np.save(tmp_path / "rows.npy", x)
                if form == "map":
                    return np.load(tmp_path / "rows.npy", mmap_mode="r")
                return cmeans.open_blocks(tmp_path / "rows.npy")
            if form == "parquet":
                table = pa.table({name: x[:, j] for j, name in enumerate("abcd")})
                pq.write_table(table, tmp_path / "rows.parquet", row_group_size=300)
                return cmeans.open_blocks(tmp_path / "rows.parquet")
            if form == "csv":
                np.savetxt(tmp_path / "rows.csv", x, delimiter=",", header="a,b,c,d", comments="")
                return cmeans.open_blocks(tmp_path / "rows.csv")
            return {"array": np.asarray, "float32": np.float32, "CSR": sparse.csr_array}[form](x)

        limited(monkeypatch, loaded_bytes=0, canonical_rows=0)
        weight, file = 1.0 + np.arange(len(X)) % 3, tmp_path / "f"
        model = cmeans.KernelKMeans(
            5, kernel="linear", random_state=3, engine=cmeans.ThreadEngine(checkpoint=file)
        )
        model.fit(given(X), sample_weight=weight)
        model.set_params(engine=cmeans.ThreadEngine(2, checkpoint=Checkpoint(file, resume=True)))
        model.fit(given(X), sample_weight=weight)
        entry, order, other = X.copy(), np.arange(len(X)), weight.copy()
        entry[-1, -1] += 1e-3
        order[[600, 601]] = 601, 600
        other[650] += 0.5
        for x, w, word in (
            (entry, weight, "values"),
            (X[order], weight, "values"),
            (X, other, "weights"),
            (X, weight[order], "weights"),
        ):
            with pytest.raises(ValueError, match=f"was begun with {word}="):
                model.fit(given(x), sample_weight=w)

    def test_no_file_and_no_checkpoint(self, tmp_path: Path) -> None:
        self.refused(tmp_path / "none", "there is no .*none to resume from; take resume=False")
        (tmp_path / "text").write_text("words")
        self.refused(tmp_path / "text", "text is damaged, or no checkpoint")
        cmeans.save(fitted("plain"), tmp_path / "model")
        self.refused(tmp_path / "model", "model is damaged, or no checkpoint")

    def test_half_a_file(self, tmp_path: Path) -> None:
        fitted("fuzzy", tmp_path / "f")
        content = (tmp_path / "f").read_bytes()
        for size in (0, 7, len(content) // 2, len(content) - 1):
            (tmp_path / "f").write_bytes(content[:size])
            self.refused(tmp_path / "f", "is damaged, or no checkpoint")

    @pytest.mark.parametrize("name", ["hard", "adaptive"])
    @pytest.mark.parametrize("damage", [truncated, flipped, changed_by_hand])
    def test_damage(self, name: str, damage: Damage, tmp_path: Path) -> None:
        """What goes on from a damaged file is the same fit, or there is none."""
        file = tmp_path / "f"
        whole = fitted(name, file)
        data = file.read_bytes()
        for what, changed in damage(data, tmp_path / "scratch"):
            file.write_bytes(changed)
            complaint, again = "", None
            try:
                again = fitted(name, Checkpoint(file, resume=True))
            except ValueError as error:
                complaint = str(error)
            if again is None:
                assert complaint.startswith(
                    f"checkpoint: {file} is damaged, or no checkpoint of this version: "
                ), what
            else:
                assert np.array_equal(
                    again._state.centres.coordinates, whole._state.centres.coordinates
                ), what

    def test_parameters_that_differ_in_the_midst_of_an_object(self) -> None:
        """An array in an object, of which `repr` shows the ends alone, and a function with
        parameters, of which it shows an address."""
        points = np.zeros((2, 2000))
        others = points.copy()
        others[0, 900] = 1.0
        one, other = (
            formatted({"landmarks": Landmarks(points=given)})["landmarks"]
            for given in (points, others)
        )
        assert (
            one != other == formatted({"landmarks": Landmarks(points=others.copy())})["landmarks"]
        )
        two, three = (
            formatted({"kernel": partial(polynomial_kernel, degree=degree)})["kernel"]
            for degree in (2, 3)
        )
        assert re.fullmatch(r"function polynomial_kernel \w{16}\(degree=2\)", two)
        assert three == two.replace("2)", "3)")

    @pytest.mark.parametrize(
        "made",
        [
            lambda k: lambda x, y: x @ y.T + k,
            lambda k: (lambda x, y: (x @ y.T) ** 2) if k else (lambda x, y: (x @ y.T) ** 3),
            lambda k: cmeans.KernelKMeans(3, kernel="linear").fit(X + k),
            lambda k: sparse.csr_array(np.eye(4) * (1 + k)),
            lambda k: [np.arange(2000.0) + k * (np.arange(2000) == 1500)],
            lambda k: cmeans.Sizes(least=np.arange(2000.0) + k * (np.arange(2000) == 1500)),
            lambda k: Precomputed(diagonal=np.arange(2000.0) + k * (np.arange(2000) == 1500)),
        ],
    )
    def test_parameters_that_look_alike(self, made: Callable[[int], object]) -> None:
        """Functions of one name, models with the same parameters, what is long; the text of each is
        the same in every process."""
        one, same, other = (formatted({"word": made(k)})["word"] for k in (0, 0, 1))
        assert one == same != other
        assert "0x" not in one

    def test_numbers_of_numpy_are_numbers(self) -> None:
        assert formatted({"m": np.float64(1.5)}) == formatted({"m": 1.5})

    def test_a_fit_from_sparse_points_has_a_checkpoint(self, tmp_path: Path) -> None:
        x, file = sparse.csr_array(X), tmp_path / "f"
        model = cmeans.KernelKMeans(5, kernel="linear", init=x[:5])
        model.set_params(engine=cmeans.ThreadEngine(checkpoint=file)).fit(x)
        model.set_params(
            init=x[1:6], engine=cmeans.ThreadEngine(checkpoint=Checkpoint(file, resume=True))
        )
        with pytest.raises(ValueError, match="was begun with init='array"):
            model.fit(x)

    @pytest.mark.parametrize(
        ("word", "one", "other"),
        [
            (
                "known_labels",
                np.arange(700) % 5,
                np.where(np.arange(700) > 690, 0, np.arange(700) % 5),
            ),
            ("label_strength", np.full(700, 0.5), np.where(np.arange(700) == 699, 0.4, 0.5)),
            ("must_link", [[0, 1], [2, 3]], [[0, 2], [1, 3]]),
        ],
    )
    def test_other_facts_of_rows(
        self, word: str, one: object, other: object, tmp_path: Path
    ) -> None:
        told = {"known_labels": np.arange(700) % 5} if word == "label_strength" else {}
        kept = Checkpoint(tmp_path / "f")
        model = cmeans.FuzzyCMeans(5, random_state=3, engine=cmeans.ThreadEngine(checkpoint=kept))
        whole = model.fit(X, **told, **{word: one}).objective_
        model.set_params(engine__checkpoint__resume=True)
        assert model.fit(X, **told, **{word: one}).objective_ == whole
        which = "linked rows" if word == "must_link" else "known labels"
        with pytest.raises(ValueError, match=f"was begun with {which}="):
            model.fit(X, **told, **{word: other})

    def test_every_fit_knows_its_rows_and_weights(
        self, whole_fit: tuple[str, object, int], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        name, file = whole_fit[0], tmp_path / "f"
        n = OF_FEW.get(name, len(X))
        x, weight = X[:n].copy(), np.where(np.arange(n) % 2, 1.0, 2.0)
        weighted = name not in UNWEIGHTED
        words = {"sample_weight": weight} if weighted else {}

        def fit(x: np.ndarray, words: dict[str, np.ndarray], resume: bool) -> None:
            kept = cmeans.ThreadEngine(
                n_jobs=1, checkpoint=Checkpoint(file, sweeps=1, resume=resume)
            )
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                FITS[name](random_state=3, engine=kept).fit(x, **words)

        with monkeypatch.context() as patch:
            breaking_off(patch, 1)
            with pytest.raises(BrokenError):
                fit(x, words, resume=False)
        other, swapped = x.copy(), weight[::-1].copy()
        other[-1, 0] += 1e-9
        with pytest.raises(ValueError, match=r"checkpoint: .* was begun with values="):
            fit(other, words, resume=True)
        with pytest.raises(ValueError, match=r"checkpoint: .* was begun with values="):
            fit(x[::-1].copy(), words, resume=True)
        if weighted:
            with pytest.raises(ValueError, match=r"checkpoint: .* was begun with weights="):
                fit(x, {"sample_weight": swapped}, resume=True)

    @pytest.mark.parametrize(
        "word",
        [3, Checkpoint("f", sweeps=0), Checkpoint("f", sweeps=True), Checkpoint("f", minutes=-1)],
    )
    def test_wrong_words(self, word: object) -> None:
        with pytest.raises(ValueError, match=r"ThreadEngine\(checkpoint="):
            cmeans.FuzzyCMeans(2, engine=cmeans.ThreadEngine(checkpoint=word)).fit(X)
