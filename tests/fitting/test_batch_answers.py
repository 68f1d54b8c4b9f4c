"""Labels of Arrow batches by a fitted model, as Spark and Ray map over them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import cmeans

pa = pytest.importorskip("pyarrow")
pd = pytest.importorskip("pandas")

X = np.random.default_rng(0).normal(size=(60, 2)) + 9 * (np.arange(60)[:, None] % 3)
FRAME = pd.DataFrame(X, columns=["a", "b"])


@pytest.fixture(scope="module")
def model() -> cmeans.FuzzyCMeans:
    return cmeans.FuzzyCMeans(3, kernel="linear", random_state=0).fit(FRAME)


def test_a_loaded_model_labels_batches_by_its_columns(
    model: cmeans.FuzzyCMeans, tmp_path: Path
) -> None:
    cmeans.save(model, tmp_path / "model.cmeans")
    predictor = cmeans.BatchPredictor(cmeans.load(tmp_path / "model.cmeans"), label="group")
    table = pa.table({"b": X[:, 1], "id": np.arange(60), "a": X[:, 0]})
    batches = list(predictor(iter([*table.to_batches(25), table.to_batches()[0][:0]])))
    assert [batch.num_rows for batch in batches] == [25, 25, 10, 0]
    assert batches[0].schema.names == ["b", "id", "a", "group"]
    found = np.concatenate([batch["group"].to_numpy() for batch in batches])
    np.testing.assert_array_equal(found, model.labels_)
    np.testing.assert_array_equal(predictor(table)["group"].to_numpy(), model.labels_)


def test_a_column_that_is_not_there_is_named(model: cmeans.FuzzyCMeans) -> None:
    with pytest.raises(ValueError, match=r"the rows have no \['b'\]; there are \['a'\]"):
        cmeans.BatchPredictor(model)(pa.table({"a": X[:, 0]}))
