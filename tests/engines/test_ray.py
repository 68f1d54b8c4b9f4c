"""What Ray alone can show: the bits of memory from a dataset and from files, a worker that dies,
refusals. What all holders of rows have to do is tested on a simulated one. Run by `nox -s ray`."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import cmeans
from cmeans.engines import Pass
from cmeans.sweeps.passes import SweepPass
from limited import limited

ray = pytest.importorskip("ray", reason="Ray is not installed: pip install cmeans[ray]")
pytest.importorskip("ray.data")
pd = pytest.importorskip("pandas")

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore")]  # Ray's own, of all kinds
rng = np.random.default_rng(5)
N, TASKS = 1000, 4
X = rng.normal(size=(N, 3)) + 6.0 * rng.normal(size=(4, 3))[rng.integers(4, size=N)]
WORDS: dict[str, Any] = {"init": X[[5, 300, 600, 900]], "kernel": "linear", "tol": 1e-2}


@pytest.fixture(scope="module", autouse=True)
def cluster() -> Iterator[None]:
    path = os.pathsep.join([str(Path(__file__).parents[1]), os.environ.get("PYTHONPATH", "")])
    ray.init(
        num_cpus=2,
        include_dashboard=False,
        log_to_driver=False,
        runtime_env={"env_vars": {"PYTHONPATH": path}},
    )
    yield
    ray.shutdown()


@pytest.fixture(autouse=True)
def tasks_of_one_size(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows in memory are cut into as many tasks as there are blocks."""
    sizes = {"loaded_bytes": 0, "canonical_rows": 0, "tasks": TASKS, "task_values": 1}
    limited(monkeypatch, **sizes, least_task_rows=1, partition_rows=N // TASKS)


def dataset(x: Any = X, parts: int = TASKS) -> Any:
    """Rows in blocks of their order."""
    return ray.data.from_pandas(
        [pd.DataFrame(part, columns=list("abc")) for part in np.array_split(x, parts)]
    )


def assert_same_bits(there: Any, here: Any) -> None:
    assert there.objective_ == here.objective_
    np.testing.assert_array_equal(there.objective_history_, here.objective_history_)
    np.testing.assert_array_equal(np.asarray(there.labels_), here.labels_)


def test_a_dataset_has_the_bits_of_memory(tmp_path: Path) -> None:
    """One of the blocks has no rows. Predictions are a map of the saved model."""
    here = cmeans.FuzzyCMeans(4, **WORDS).fit(X)
    empty = ray.data.from_pandas(pd.DataFrame(X[:0], columns=list("abc")))
    there = cmeans.FuzzyCMeans(4, **WORDS).fit(dataset().union(empty))
    assert_same_bits(there, here)
    assert there.feature_names_in_.tolist() == ["a", "b", "c"]
    cmeans.save(there, tmp_path / "model.cmeans")
    loaded = cmeans.load(tmp_path / "model.cmeans")
    answered = cmeans.BatchPredictor(loaded).over(dataset()).to_pandas()
    assert list(answered.columns) == ["a", "b", "c", "label"]
    np.testing.assert_array_equal(answered["label"], here.labels_)


def test_files_that_workers_read_have_the_bits_of_memory(tmp_path: Path) -> None:
    np.save(tmp_path / "rows.npy", X)
    here = cmeans.FuzzyCMeans(4, **WORDS).fit(X)
    there = cmeans.FuzzyCMeans(4, **WORDS, engine=cmeans.RayEngine()).fit(tmp_path / "rows.npy")
    assert_same_bits(there, here)


def test_a_worker_that_dies_takes_nothing_along(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = cmeans.FuzzyCMeans(4, **WORDS).fit(X)
    sweep, mark = SweepPass.part, tmp_path / "died"
    monkeypatch.setattr(
        SweepPass, "part", lambda self, *span: DyingOnce(sweep(self, *span), str(mark))
    )
    there = cmeans.FuzzyCMeans(4, **WORDS).fit(dataset())
    assert mark.exists()
    assert_same_bits(there, here)


class DyingOnce(Pass[Any]):
    """A pass whose first worker dies."""

    def __init__(self, over: Pass[Any], mark: str) -> None:
        self.over, self.mark = over, mark

    def prepare(self, rows: Any) -> Any:
        return self.over.prepare(rows)

    def work(self, rows: Any, task: int, prepared: Any) -> Any:
        if not os.path.exists(self.mark):
            with open(self.mark, "x"):
                os._exit(1)
        return self.over.work(rows, task, prepared)


def test_what_is_no_number_is_named() -> None:
    words = ray.data.from_items([{"a": 1.0, "b": "x"}])
    with pytest.raises(ValueError, match=r"FuzzyCMeans: columns of X that are not.*'b' \(string\)"):
        cmeans.FuzzyCMeans(2).fit(words)
