"""Answers of a fitted model for Arrow batches, as Spark and Ray map over them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ...engines.parts.arrow_rows import rows_of_batch
from ...runtime.user_warnings import collected
from .dask_answers import portable


class BatchPredictor:
    """A fitted or loaded model as a map over Arrow batches: each batch comes back with a column of
    labels.

    No fit is needed where it runs: the model goes there without its rows, once.

    Parameters
    ----------
    model : a fitted estimator, or one that `cmeans.load` has read
    columns : list of str or None, default=None
        The features, in the order of the fit; None: the columns of the fit by their names, or,
        where it had none, all columns.
    label : str, default="label"
        The name of the new column.

    Raises
    ------
    ValueError
        Where the batches lack a feature.

    Examples
    --------
    >>> import cmeans, numpy as np, pyarrow as pa
    >>> X = np.array([[0.0, 0], [0, 1], [9, 9], [9, 8]])
    >>> model = cmeans.KernelKMeans(2, kernel="linear", random_state=0).fit(X)
    >>> batch = pa.RecordBatch.from_arrays(list(X.T.copy()), ["a", "b"])
    >>> labels = cmeans.BatchPredictor(model)(batch)["label"].to_pylist()
    >>> labels[0] == labels[1] != labels[2] == labels[3]
    True

    On Spark and on Ray it is `BatchPredictor(model).over(frame_or_dataset)`.
    """

    def __init__(self, model: Any, columns: list[str] | None = None, label: str = "label") -> None:
        check_is_fitted(model)
        known = getattr(model, "feature_names_in_", None)
        self.columns = known.tolist() if columns is None and known is not None else columns
        self.label, self.model = label, portable(model)

    def __call__(self, batches: Any) -> Any:
        """Return one batch or table with its labels, or an iterator over those of many."""
        if hasattr(batches, "schema"):
            return self._answered(batches)
        return map(self._answered, batches)

    def over(self, rows: Any) -> Any:
        """Return a data frame of Spark, or a dataset of Ray, with the labels as another column;
        computed when it is asked for."""
        if hasattr(rows, "map_batches"):
            return rows.map_batches(self, batch_format="pyarrow")
        kinds = ", ".join(f"`{one.name}` {one.dataType.simpleString()}" for one in rows.schema)
        return rows.mapInArrow(_Iterated(self), f"{kinds}, `{self.label}` int")

    def _answered(self, batch: Any) -> Any:
        from ...data.arrow_library import pa

        names = tuple(batch.schema.names if self.columns is None else self.columns)
        lacking = [name for name in names if name not in batch.schema.names]
        if lacking:
            raise ValueError(
                f"BatchPredictor(columns={list(names)}): the rows have no {lacking}; there are "
                f"{batch.schema.names}."
            )
        x = rows_of_batch(batch, names, np.float64)
        with collected():  # one warning for each batch would be many
            labels = self.model.predict(x) if len(x) else np.empty(0, np.int32)
        return batch.append_column(self.label, pa.array(np.asarray(labels, np.int32)))


class _Iterated:
    """The same as Spark calls it, which looks at what a function is."""

    def __init__(self, predictor: BatchPredictor) -> None:
        self._predictor = predictor

    def __call__(self, batches: Iterator[Any]) -> Iterator[Any]:
        return iter(self._predictor(batches))
