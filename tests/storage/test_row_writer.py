"""predict_to and fit_predict_to: what is in the files, and what bad words get."""

from __future__ import annotations

import errno
from pathlib import Path

import numpy as np
import pytest

import cmeans
from cmeans.data.files import row_table
from every_estimator import EVERY_NAME, build, known
from full_disk import files_end_at
from limited import limited
from stored_rows import Kept

pq = pytest.importorskip("pyarrow.parquet", reason="pyarrow is not installed")

pytestmark = pytest.mark.slow

rng = np.random.default_rng(0)
X = rng.normal(size=(2500, 3)) + 6.0 * rng.normal(size=(5, 3))[rng.integers(5, size=2500)]


@pytest.fixture(scope="module")
def model() -> cmeans.FuzzyCMeans:
    return cmeans.FuzzyCMeans(5, m=2.0, kernel="linear", random_state=0).fit(X)


@pytest.fixture(params=["array", "file"])
def rows(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> object:
    if request.param == "array":
        return X
    limited(monkeypatch, loaded_bytes=0)
    np.save(tmp_path / "rows.npy", X)
    return tmp_path / "rows.npy"


def test_all_memberships(
    model: cmeans.FuzzyCMeans, rows: object, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(row_table, "ROWS", 1000)
    counts = model.predict_to(rows, tmp_path / "o.parquet")
    table = pq.read_table(tmp_path / "o.parquet")
    assert table.column_names == ["label", "u0", "u1", "u2", "u3", "u4"]
    assert np.array_equal(table["label"], model.predict(X))
    assert np.array_equal(np.column_stack([table[f"u{j}"] for j in range(5)]), model.memberships(X))
    assert np.array_equal(counts, np.bincount(model.predict(X), minlength=5))
    groups = pq.ParquetFile(tmp_path / "o.parquet").metadata
    assert [groups.row_group(at).num_rows for at in range(groups.num_row_groups)][:-1] == [1024] * (
        groups.num_row_groups - 1
    )


@pytest.mark.parametrize("k", [1, 2, 5])
def test_the_largest(model: cmeans.FuzzyCMeans, rows: object, tmp_path: Path, k: int) -> None:
    model.predict_to(rows, tmp_path / "o.parquet", top_k=k)
    table, u = pq.read_table(tmp_path / "o.parquet"), model.memberships(X)
    assert table.column_names == [
        "label",
        *(f"{name}{place}" for place in range(1, k + 1) for name in ("cluster", "u")),
    ]
    for row in range(0, len(X), 97):
        order = sorted(range(5), key=lambda j, row=row: (-u[row, j], j))[:k]
        assert [table[f"cluster{place}"][row].as_py() for place in range(1, k + 1)] == order
        assert [table[f"u{place}"][row].as_py() for place in range(1, k + 1)] == [
            u[row, j] for j in order
        ]
    assert np.array_equal(table["cluster1"], table["label"])


@pytest.mark.parametrize("k", [None, 1, 2])
def test_those_above_a_threshold(
    model: cmeans.FuzzyCMeans, rows: object, tmp_path: Path, k: int | None
) -> None:
    model.predict_to(rows, tmp_path / "o.parquet", threshold=0.2, top_k=k)
    table, u = pq.read_table(tmp_path / "o.parquet").to_pydict(), model.memberships(X)
    assert list(table) == ["label", "clusters", "u"]
    for row in range(len(X)):
        wanted = [j for j in range(5) if u[row, j] >= 0.2]
        if k is not None:
            wanted = sorted(sorted(wanted, key=lambda j, row=row: (-u[row, j], j))[:k])
        assert table["clusters"][row] == wanted
        assert table["u"][row] == [u[row, j] for j in wanted]


def test_labels_alone(model: cmeans.FuzzyCMeans, rows: object, tmp_path: Path) -> None:
    model.predict_to(rows, tmp_path / "o.npy")
    labels = np.load(tmp_path / "o.npy")
    assert labels.dtype == np.int32
    assert np.array_equal(labels, model.predict(X))
    model.predict_to(rows, tmp_path / "o.csv", memberships=False)
    assert (tmp_path / "o.csv").read_text().splitlines() == ['"label"', *map(str, labels)]
    hard = cmeans.KernelKMeans(3, kernel="linear", random_state=0).fit(X)
    hard.predict_to(rows, tmp_path / "h.parquet")
    assert pq.read_table(tmp_path / "h.parquet").column_names == ["label"]


def test_rows_that_belong_nowhere_are_counted_nowhere(tmp_path: Path) -> None:
    model = cmeans.AdaptivePossibilisticCMeans((1, 6), random_state=0).fit(X)
    far = np.vstack([X[:50], np.full((3, 3), 1e4)])
    counts = model.predict_to(far, tmp_path / "o.parquet", threshold=0.01)
    table = pq.read_table(tmp_path / "o.parquet").to_pydict()
    assert table["label"][-3:] == [-1, -1, -1]
    assert table["clusters"][-3:] == [[], [], []]
    assert counts.sum() == np.sum(np.array(table["label"]) >= 0)


def test_a_file_is_whole_or_absent(
    model: cmeans.FuzzyCMeans, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "o.parquet").write_text("former")
    with pytest.raises(ValueError, match="NaN"):
        model.predict_to(np.where(X.mean() < X, np.nan, X), tmp_path / "o.parquet")

    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(row_table.RowTable, "append", full)
    with pytest.raises(
        ValueError,
        match=r"FuzzyCMeans.predict_to: cannot write .*o.parquet: No space left on device",
    ):
        model.predict_to(X, tmp_path / "o.parquet")
    assert [path.name for path in tmp_path.iterdir()] == ["o.parquet"]
    assert (tmp_path / "o.parquet").read_text() == "former"


def test_a_prediction_that_cannot_be_written_ends_at_once(
    model: cmeans.FuzzyCMeans, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(row_table.RowTable, "append", full)
    limited(
        monkeypatch,
        loaded_bytes=0,
        block_rows=16,
        narrow_block_rows=16,
        task_rows=16,
        least_blocks=1,
    )
    monkeypatch.setattr(model, "n_jobs", 1)
    reads: list[int] = []
    with pytest.raises(ValueError, match="cannot write"):
        model.predict_to(Kept(X, lambda start, _: reads.append(start)), tmp_path / "o.parquet")
    assert 0 < len(reads) < 20


@pytest.mark.parametrize("ending", ["parquet", "csv", "npy"])
def test_a_disk_that_fills_up_names_the_file(
    model: cmeans.FuzzyCMeans, tmp_path: Path, ending: str
) -> None:
    """Where it is NumPy or pyarrow that writes."""
    file = tmp_path / f"o.{ending}"
    for size in (0, 5_000):  # at once, and at the end
        with files_end_at(size), pytest.raises(OSError, match="cannot write") as caught:
            model.predict_to(X, file)
        assert isinstance(caught.value, ValueError)
        assert (caught.value.errno, caught.value.filename) == (errno.EFBIG, str(file))
        assert str(caught.value) == f"FuzzyCMeans.predict_to: cannot write {file}: File too large."
        assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("name", "words", "message"),
    [
        ("o.txt", {}, "unknown ending; known are .parquet"),
        (
            "o.parquet",
            {"top_k": 6},
            r"predict_to\(top_k=6\): the model has 5 clusters; give 1 ... 5",
        ),
        ("o.parquet", {"top_k": 0}, "give 1 ... 5"),
        ("o.parquet", {"threshold": 0.0}, "give a number above 0"),
        ("o.parquet", {"threshold": 1.5}, "between 0 and 1"),
        ("o.parquet", {"memberships": False, "top_k": 1}, "take memberships=True"),
        ("o.npy", {"memberships": True}, "can hold labels only"),
        ("o.npy", {"top_k": 1}, "can hold labels only"),
        ("o.csv", {"threshold": 0.1}, "a CSV holds no lists"),
        ("no/o.parquet", {}, "cannot write .*no/o.parquet: No such file or directory"),
    ],
)
def test_refused(
    model: cmeans.FuzzyCMeans, tmp_path: Path, name: str, words: dict[str, object], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        model.predict_to(X, tmp_path / name, **words)
    assert not list(tmp_path.iterdir())


class TestFitPredictTo:
    """A fit that writes its rows in its last pass."""

    @pytest.mark.parametrize("name", EVERY_NAME)
    @pytest.mark.parametrize("stored", [False, True])
    def test_it_is_a_fit_and_then_predict_to(
        self, name: str, stored: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        limited(monkeypatch, loaded_bytes=0 if stored else 2**24, task_rows=128, block_rows=32)
        np.save(tmp_path / "rows.npy", X[:160])
        # where the default looks at several
        rows, one_scale = tmp_path / "rows.npy", known(name, {"pilot_m": "auto", "alpha": 1.0})
        fitted = build(name, **one_scale).fit(rows)
        written = build(name, **one_scale)
        counts = written.fit_predict_to(rows, tmp_path / "one.parquet")
        np.testing.assert_array_equal(counts, fitted.predict_to(rows, tmp_path / "two.parquet"))
        np.testing.assert_array_equal(written.labels_, fitted.labels_)
        assert written.objective_ == fitted.objective_
        one, two = pq.read_table(tmp_path / "one.parquet"), pq.read_table(tmp_path / "two.parquet")
        assert one.column_names == two.column_names
        np.testing.assert_array_equal(one["label"], fitted.labels_)
        for column in one.column_names[1:]:
            np.testing.assert_allclose(one[column], two[column], rtol=1e-6, atol=1e-9)

    @pytest.mark.parametrize(
        "name", ["FuzzyCMeans", "PossibilisticCMeans", "AdaptivePossibilisticCMeans"]
    )
    def test_stored_rows_are_read_no_more_than_by_the_fit(
        self, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        limited(monkeypatch, loaded_bytes=0)
        reads: list[int] = []
        rows = Kept(X, lambda start, _: reads.append(start))
        build(name).fit(rows)
        of_the_fit, reads[:] = len(reads), []
        rows = Kept(X, lambda start, _: reads.append(start))
        build(name).fit_predict_to(rows, tmp_path / "o.parquet", top_k=2)
        assert len(reads) == of_the_fit

    def test_what_cannot_be_written_is_refused_before_the_fit(self, tmp_path: Path) -> None:
        model = cmeans.FuzzyCMeans(5, kernel="linear")
        never = Kept(X, lambda *_: pytest.fail("rows were read"))
        np.save(tmp_path / "rows.npy", X)
        for out, words, message in (
            ("o.txt", {}, "unknown ending"),
            ("o.parquet", {"top_k": 6}, r"fit_predict_to\(top_k=6\): the model has 5 clusters"),
            ("o.npy", {"memberships": True}, "can hold labels only"),
            ("no folder/o.parquet", {}, "fit_predict_to: cannot write"),
        ):
            with pytest.raises(ValueError, match=message):
                model.fit_predict_to(never, tmp_path / out, **words)
        with pytest.raises(
            ValueError, match=r"fit_predict_to\(out=.*\) would overwrite the input file"
        ):
            model.fit_predict_to(tmp_path / "rows.npy", tmp_path / "rows.npy")
        assert not hasattr(model, "labels_")
        assert [path.name for path in tmp_path.iterdir()] == ["rows.npy"]

    def test_fewer_clusters_than_memberships_asked_for(self, tmp_path: Path) -> None:
        model = cmeans.AdaptivePossibilisticCMeans((1, 10), random_state=0)
        model.fit_predict_to(X[:500], tmp_path / "o.parquet", top_k=10)
        found = model.n_clusters_
        assert found < 10
        assert len(pq.read_table(tmp_path / "o.parquet").column_names) == 1 + 2 * found

    def test_a_disk_that_fills_up_does_not_lose_the_fit(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        limited(monkeypatch, loaded_bytes=0)
        monkeypatch.setattr(row_table, "ROWS", 500)
        np.save(tmp_path / "rows.npy", X)
        model, out = cmeans.FuzzyCMeans(5, kernel="linear", random_state=0), tmp_path / "o.parquet"
        with (
            files_end_at(20_000),
            pytest.raises(
                cmeans.storage.atomic.WriteError, match=r"fit_predict_to: cannot write .*o.parquet"
            ),
        ):
            model.fit_predict_to(tmp_path / "rows.npy", out)
        np.testing.assert_array_equal(model.labels_, model.predict(X))
        assert not out.exists()
