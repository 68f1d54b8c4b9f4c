"""What Spark alone can show: the bits of memory from a data frame and from files, tasks that die,
refusals. What all holders of rows have to do is tested on a simulated one. Run by `nox -s spark`.
"""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import cmeans
from cmeans.engines import spark
from limited import limited

pytest.importorskip("pyspark", reason="Spark is not installed: pip install cmeans[spark]")
if shutil.which("java") is None:
    pytest.skip("Spark needs a Java runtime", allow_module_level=True)

from pyspark import SparkFiles
from pyspark.sql import SparkSession

pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas"),
]
rng = np.random.default_rng(5)
N, TASKS = 1000, 4
X = rng.normal(size=(N, 3)) + 6.0 * rng.normal(size=(4, 3))[rng.integers(4, size=N)]
WORDS: dict[str, Any] = {"init": X[[5, 300, 600, 900]], "kernel": "linear", "tol": 1e-2}


@pytest.fixture(scope="module")
def session() -> Iterator[Any]:
    """Two threads, which do a task again up to three times."""
    os.environ["PYSPARK_PYTHON"] = sys.executable  # of the workers, too
    words = {
        "spark.ui.enabled": "false",
        "spark.sql.shuffle.partitions": "2",
        "spark.ui.showConsoleProgress": "false",
    }
    made = SparkSession.builder.master("local[2,3]").config(map=words).getOrCreate()
    made.sparkContext.setLogLevel("OFF")
    yield made
    made.stop()


@pytest.fixture(autouse=True)
def tasks_of_one_size(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows in memory are cut into as many tasks as there are partitions."""
    sizes = {"loaded_bytes": 0, "canonical_rows": 0, "tasks": TASKS, "task_values": 1}
    limited(monkeypatch, **sizes, least_task_rows=1, partition_rows=N // TASKS)


def frame(session: Any, x: Any = X, parts: int = TASKS) -> Any:
    """Rows in partitions of their order."""
    rows = session.sparkContext.parallelize(x.tolist(), parts)
    return session.createDataFrame(rows, ["a", "b", "c"])


def assert_same_bits(there: Any, here: Any) -> None:
    assert there.objective_ == here.objective_
    np.testing.assert_array_equal(there.objective_history_, here.objective_history_)
    np.testing.assert_array_equal(np.asarray(there.labels_), here.labels_)


def test_a_data_frame_has_the_bits_of_memory(
    session: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Rows are sent to Python twice, and are then on the executor's disk until the fit ends; one of
    the partitions has none. Predictions are a map of the saved model."""
    source, sent = spark.FrameHolder.source, list[int]()

    def counted(self: Any, work: Any, arguments: Any) -> Any:
        parts, task = source(self, work, arguments)
        sent.extend(arguments if parts is self._packed else ())
        return parts, task

    here = cmeans.FuzzyCMeans(4, **WORDS).fit(X)
    monkeypatch.setattr(spark.FrameHolder, "source", counted)
    empty = frame(session, X[:2], 1).where("a > 1e9")
    there = cmeans.FuzzyCMeans(4, **WORDS).fit(empty.union(frame(session)))
    assert sorted(sent) == [0, *sorted([*range(1, TASKS + 1)] * 2)]
    assert not list(Path(SparkFiles.getRootDirectory()).glob("cmeans-*"))
    assert_same_bits(there, here)
    assert there.feature_names_in_.tolist() == ["a", "b", "c"]
    cmeans.save(there, tmp_path / "model.cmeans")
    loaded = cmeans.load(tmp_path / "model.cmeans")
    answered = cmeans.BatchPredictor(loaded).over(frame(session))
    assert answered.columns == ["a", "b", "c", "label"]
    labels = [row.label for row in answered.select("label").collect()]
    np.testing.assert_array_equal(labels, here.predict(X))


def test_files_that_workers_read_have_the_bits_of_memory(session: Any, tmp_path: Path) -> None:
    # with _SUCCESS, and files of checksums
    frame(session, parts=1).write.parquet(str(tmp_path / "rows"))
    here = cmeans.FuzzyCMeans(4, **WORDS).fit(tmp_path / "rows")
    there = cmeans.FuzzyCMeans(4, **WORDS, engine=cmeans.SparkEngine(session)).fit(
        tmp_path / "rows"
    )
    assert_same_bits(there, here)


def test_tasks_that_die_are_done_again(
    session: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In the first reading, and in sweeps, where Python's worker takes along what it has kept and
    the disk is lost as well."""
    source, turns = spark.FrameHolder.source, count()

    def dying(self: Any, work: Any, arguments: Any) -> Any:
        parts, task = source(self, work, arguments)
        if 1 not in arguments:
            return parts, task
        mark = tmp_path / str(next(turns))

        # of the test's own, so that it is sent whole: workers need not import this file
        def run(number: int, held: Any) -> Any:
            if number == 1 and not mark.exists():
                mark.touch()
                shutil.rmtree(SparkFiles.getRootDirectory())
                os._exit(1)
            return task(number, held)

        return parts, run if mark.name in ("0", "3") else task

    here = cmeans.FuzzyCMeans(4, **WORDS).fit(X)
    monkeypatch.setattr(spark.FrameHolder, "source", dying)
    there = cmeans.FuzzyCMeans(4, **WORDS).fit(frame(session))
    assert {mark.name for mark in tmp_path.iterdir()} == {"0", "3"}
    assert_same_bits(there, here)


def test_what_is_no_number_is_named(session: Any) -> None:
    with pytest.raises(ValueError, match=r"FuzzyCMeans: columns of X that are not.*'b' \(string\)"):
        cmeans.FuzzyCMeans(2).fit(session.createDataFrame([(1.0, "x")], ["a", "b"]))
    with pytest.raises(ValueError, match=r"first in partition 1 at its row 0 .row 1 .*column 'b'"):
        cmeans.FuzzyCMeans(2).fit(session.createDataFrame([(1.0, 2.0), (1.0, None)], ["a", "b"]))
    with pytest.raises(ValueError, match=r"give a pyspark\.sql\.SparkSession"):
        cmeans.SparkEngine(3)
