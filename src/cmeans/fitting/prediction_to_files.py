"""Results of rows that are written to files as they are found."""

from __future__ import annotations

import os
from abc import abstractmethod
from typing import Any, Self

from ..data.arrays import IntArray, to_numpy
from ..data.blocks import spans
from ..data.outputs import RowOutputs
from ..data.precision import itemsize, numpy_dtype
from ..runtime.callbacks import with_callbacks
from ..storage.parted_results import results_file
from ..storage.row_writer import ResultsFile, Written
from ..sweeps.final_pass import RowTaker
from .prediction import Predicting


class PredictingToFiles(Predicting):
    """Mixin of the methods that write what `predict` and `memberships` say, of new rows and of
    those of a fit."""

    @abstractmethod
    def _fitted(
        self, X: Any, y: Any, sample_weight: Any, taker: RowTaker | None = None, **told: Any
    ) -> Self:
        """Find the clusters of X; `taker` is given the results of rows that are not in memory."""

    def predict_to(
        self,
        X: Any,
        out: str | os.PathLike[str],
        *,
        memberships: bool | None = None,
        top_k: int | None = None,
        threshold: float | None = None,
        diag: Any = None,
    ) -> IntArray:
        """Write the labels of rows to a file, and their memberships, as they are found: neither has
        to fit in memory.

        Parameters
        ----------
        X : rows, as `predict` takes them, files too.
        out : a .parquet, .csv or .npy (labels only) file; it is there when all of it is, or not at
            all. Where X comes from a folder of Parquet, Arrow or npy files, a path without an
            ending is a new folder: a Parquet file of results for each file of X, by the same name
            and in the same folders.
        memberships : bool, default=None
            True to write memberships too. None: where the rule is soft, and the file can hold them.
        top_k : int, default=None
            Only the k largest of each row: columns `cluster1, u1, cluster2, u2, ...`. None: all,
            `u0 ... u{c-1}`, or, of a model that has a `top_k` itself, so many.
        threshold : float, default=None
            Only those of at least this, as lists: columns `clusters` and `u` (Parquet only); of
            these at most `top_k`.
        diag : as for `predict`.

        Returns
        -------
        counts : (c,) the number of rows with each label.

        Raises
        ------
        ValueError
            For bad rows or parameters, where `out` is a file of X, and where it cannot be written
            (an OSError too, with the file's name).

        Examples
        --------
        >>> import cmeans, os, tempfile
        >>> X = [[0.0], [1.0], [9.0], [10.0]]
        >>> model = cmeans.FuzzyCMeans(2, kernel="linear", random_state=0).fit(X)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     sorted(model.predict_to(X, os.path.join(folder, "labels.npy")).tolist())
        [2, 2]
        """
        caller = f"{type(self).__name__}.predict_to"
        with results_file(out, X, f"{caller}(out={os.fspath(out)!r})") as place:
            return self._write_rows(X, place, (memberships, top_k, threshold), diag)

    @with_callbacks
    def fit_predict_to(
        self,
        X: Any,
        out: str | os.PathLike[str],
        *,
        memberships: bool | None = None,
        top_k: int | None = None,
        threshold: float | None = None,
        sample_weight: Any = None,
        known_labels: Any = None,
        label_strength: Any = None,
        must_link: Any = None,
    ) -> IntArray:
        """Find the clusters of X, and write labels and memberships of its rows to a file: `fit` and
        `predict_to` together.

        Rows that are not in memory are not read again to be written: the last pass of the fit
        writes them (of streaming estimators, and of probabilistic fits that are cut short,
        `predict_to` does).

        Parameters
        ----------
        X, sample_weight, known_labels, label_strength, must_link : as for `fit`.
        out, memberships, top_k, threshold : as for `predict_to`.

        Returns
        -------
        counts : (c,) the number of rows with each label.

        Raises
        ------
        ValueError
            As `fit` and `predict_to` raise it; of a file that cannot be written at all before the
            fit begins. Where the disk fills up in the last pass the model is fitted nevertheless.

        Examples
        --------
        >>> import cmeans, os, tempfile
        >>> X = [[0.0], [1.0], [9.0], [10.0]]
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     model = cmeans.FuzzyCMeans(2, kernel="linear", random_state=0)
        ...     sorted(model.fit_predict_to(X, os.path.join(folder, "labels.npy")).tolist())
        [2, 2]
        """
        caller = f"{type(self).__name__}.fit_predict_to"
        told = {
            "known_labels": known_labels,
            "label_strength": label_strength,
            "must_link": must_link,
        }
        with results_file(out, X, f"{caller}(out={os.fspath(out)!r})") as place:
            with ResultsFile(place, caller, memberships, top_k, threshold, late=True) as file:
                self._fitted(X, None, sample_weight, file, **told)
                if file.counts is None and "_nearest" in vars(self):
                    self._write_kept(file)
            if file.counts is not None:
                return file.counts
            top_k = top_k and min(top_k, len(self._state.centres))
            return self._write_rows(X, place, (memberships, top_k, threshold))

    def _write_rows(self, X: Any, out: Any, written: Written, diag: Any = None) -> IntArray:
        """Write labels and memberships of rows X; return the number of rows of each label (c,)."""
        table, caller = self._known_table(X, diag), f"{type(self).__name__}.predict_to"
        with ResultsFile(out, caller, *written) as file, self._engine(table.blocks) as engine:
            c, rule = len(self._state.centres), self._rule
            file.check(c, rule.is_soft, rule.most_clusters)
            n, x, said = table.n_rows, table.blocks.x, (rule.is_soft, rule.most_clusters)
            file.check_room(n, c, itemsize(x), *said)
            made, put = file.begin(n, c, numpy_dtype(x), *said)
            self._assign(table, self._pieces(table, made, put), engine)
        assert file.counts is not None
        return file.counts

    def _write_kept(self, file: ResultsFile) -> None:
        """Write the labels and memberships that the fit has kept."""
        kept, c, rule = self._kept_outputs(), len(self._state.centres), self._rule
        n, dtype = len(kept.labels), kept.memberships.dtype
        made, put = file.begin(n, c, dtype, rule.is_soft, rule.most_clusters)
        for start, stop in spans(n, self._limits.rows_at_once):
            put(made(kept.between(start, stop)))

    def _kept_outputs(self) -> RowOutputs:
        """Return the labels and memberships that a fit has kept, on the host."""
        top = vars(self).get("memberships_top_k_")
        u, clusters = (self.memberships_, None) if top is None else (top.values, top.clusters)
        return RowOutputs(to_numpy(self.labels_), to_numpy(u), self._nearest, clusters=clusters)
