"""The answers of connected pieces about rows, in every partition of their tree."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils.validation import check_is_fitted

from ..data.arrays import Float64, IntArray
from ..data.blocks import Blocks
from ..data.outputs import Labels
from ..fitting.arguments import check_engine
from ..fitting.connected import given_distances, warn_of_no_direction
from ..fitting.memory import require
from ..fitting.seen_rows import OtherPartition, first_rows
from ..fitting.weights import read_weights
from ..graphs.piece_coordinates import coordinates, depths_below_roots
from ..graphs.piece_layers import ClusterTree, cluster_tree
from ..graphs.piece_partition import PieceNoise, PiecePartition
from ..graphs.piece_points import GivenPoints, Points, nearest_of_rows
from ..graphs.piece_tree import PieceTree, linkage
from ..graphs.pieces import Pieces, pieces
from ..runtime.checks import integer, real
from ..runtime.docstrings import describes_arguments
from ..runtime.numerals import parse_budget
from ..spaces.centres import Centres
from ..storage.row_writer import Written
from .graph_clustering import GraphClustering
from .placed_clustering import ClusterView

NUMBER = 64  # bytes that a coordinate takes while it is made
Places = tuple[IntArray, Float64]  # points (n,) of the tree, -1 for none, and how far from them


class PieceAnswers(GraphClustering[Places]):
    """Answers of a fitted tree of connected pieces."""

    _tree: PieceTree
    _points: Points
    _point_of_row: IntArray
    _away_of_row: Float64 | None
    # as fitted, whatever is set since
    _power: float
    _noise: PieceNoise | None
    n_features_in_: int
    n_connected_components_: int
    min_cluster_size_: float
    layer_sizes_: IntArray

    def partition(
        self, k: int | None = None, *, distance: float | None = None, layer: int | None = None
    ) -> Labels:
        """Return the labels (n,) of the rows of the fit in another partition.

        Parameters
        ----------
        k : int, the number of clusters, each of weight `min_cluster_size_` or more; cluster j is
            the same path of the tree for every k > j.
        distance : float, the longest step within a cluster.
        layer : int, a layer of `cluster_layers_`.

        Returns
        -------
        labels : (n,) of `n_clusters_` clusters where nothing is given.
        """
        return self._asked(k, distance, layer).labels_of(*self._rows_of_the_fit("partition"))

    @describes_arguments
    def predict(
        self,
        X: Any,
        *,
        k: int | None = None,
        distance: float | None = None,
        layer: int | None = None,
    ) -> Labels:
        """Return labels (rows,) of rows, new ones too: those of the nearest row of the fit, or
        landmark. Rows of the fit have the labels that they have there.

        Parameters
        ----------
        k, distance, layer : as for `partition`.
        """
        asked, (points, away) = self._asked(k, distance, layer), self._find(X)
        return asked.labels_of(points, away)

    @describes_arguments
    def memberships(
        self,
        X: Any,
        *,
        k: int | None = None,
        distance: float | None = None,
        layer: int | None = None,
    ) -> Float64:
        """Return memberships (rows, c) of rows, new ones too, as `memberships_`.

        Parameters
        ----------
        k, distance, layer : as for `partition`.
        """
        asked, (points, away) = self._asked(k, distance, layer), self._find(X)
        return asked.memberships(points, away, self._power)

    @describes_arguments
    def transform(self, X: Any) -> Float64:
        """Return the distances (rows, c) of rows, new ones too, to the centres; NaN for rows that
        belong to none. A new row is no nearer than to its nearest row of the fit."""
        asked = self._asked()
        return asked.distances_of(*self._find(X))

    @describes_arguments
    def embed(self, X: Any) -> sparse.csr_array:
        """Return exact coordinates (rows, r) of rows in which their squared distances are d^z, new
        rows at their nearest row of the fit, or landmark.

        Soft rules, weights and searches for a number work in this space by a plain fit to them:
        `FuzzyCMeans(5).fit(model.embed(X))`. A row has as many numbers as there are pieces around
        it: n rows have some 0.03 n^2 in all in 2 columns, 0.08 n^2 in 10; take landmarks of many.

        Raises
        ------
        ValueError
            Where parts of given distances, or rows without a direction, are at no distance from
            others, and where there is no memory for as many numbers.
        """
        name = f"{type(self).__name__}.embed"
        points, _ = self._find(X)
        self._refuse_unconnected(points, name)
        engine = check_engine(self)
        budget = None if engine is None else parse_budget(engine.memory_budget, name)
        needed = NUMBER * int(depths_below_roots(self._tree)[points].sum())
        require(budget, name, needed, "coordinates of rows", "give fewer rows, or take landmarks")
        return coordinates(self._tree, points, self._power)

    @describes_arguments
    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """Return minus the cost of rows, sum_i w_i d(x_i, v)^z to their own centres: larger is
        better, among fits of as many clusters."""
        asked, (points, away) = self._asked(), self._find(X)
        name = type(self).__name__
        weight, unit = read_weights(sample_weight, len(points), name)
        own = np.maximum(asked.distances[points], away)
        return -float(np.sum(weight * unit * np.where(points < 0, 0.0, own**self._power)))

    @describes_arguments
    def outlier_score(self, X: Any) -> Float64:
        """Return how far out each row (rows,) is, from 0 to 1: as `outlier_scores_`."""
        asked, (points, away) = self._asked(), self._find(X)
        return 1.0 - asked.depths_of(points, away)

    @describes_arguments
    def plot(self, X: Any) -> Any:
        """Draw four pictures of the clusters of rows X, of the fit or others: rows, sizes, the tree
        and the cost curve. `cmeans.inspection` has more.

        Returns
        -------
        figure : of matplotlib.

        Raises
        ------
        ImportError
            Without matplotlib, which `pip install "cmeans[plot]"` brings.
        ValueError
            Where nothing connects some rows with others.
        """
        from ..inspection.overview import overview_of_pieces

        return overview_of_pieces(self, X)

    def representatives(self, k: int = 1) -> IntArray:
        """Return row numbers (c, k) of the k rows of the fit nearest to each centre, itself first;
        -1 where a cluster has fewer."""
        count = integer(k, "k", f"{type(self).__name__}.representatives", 1)
        points, away = self._rows_of_the_fit("representatives")
        asked = self._asked()
        distances = np.maximum(asked.distances[points], away)
        return first_rows(asked.labels_of(points, away), distances, asked.n_clusters, count)

    def _write_rows(self, X: Any, out: Any, written: Written, **asked: Any) -> IntArray:
        return self._write(self._asked(**asked), *self._find(X), out, written)

    def _write_fit(self, X: Any, out: Any, written: Written) -> IntArray:
        rows = self._rows_of_the_fit("fit_predict_to")
        return self._write(self._asked(), *rows, out, written)

    def _write(
        self, asked: PiecePartition, points: IntArray, away: Float64, out: Any, written: Written
    ) -> IntArray:
        """Write what a partition says of rows at some points."""

        def answers(start: int, stop: int) -> tuple[IntArray, Float64]:
            some = points[start:stop], away[start:stop]
            return asked.labels_of(*some), asked.memberships(*some, self._power)

        return self._write_answers(answers, len(points), asked.n_clusters, out, written)

    _other_evidence = "The least cost for each number of clusters: look for the bend."

    def _other_partitions(self, X: Any, numbers: Sequence[int]) -> Iterator[OtherPartition]:
        """Yield the partitions of rows X into these numbers of clusters."""
        places, cost = self._find(X), self._pieces.cost
        for k in numbers:
            if self.n_connected_components_ <= k <= self._pieces.most:
                yield OtherPartition(self._partition(k).labels_of(*places), k, float(cost[k - 1]))

    @property
    def memberships_(self) -> Float64:
        row, away = self._rows_of_the_fit("memberships_")
        return self._asked().memberships(row, away, self._power)

    @property
    def cluster_layers_(self) -> list[Labels]:
        return [self.partition(int(k)) for k in self.layer_sizes_]

    @property
    def cluster_tree_(self) -> ClusterTree:
        return cluster_tree(self.cluster_layers_)

    @property
    def linkage_(self) -> Float64:
        return linkage(self._tree, self._rows_of_the_fit("linkage_")[0])

    @property
    def _pieces(self) -> Pieces:
        """The paths of the tree, which are made again where a model is read."""
        made: Pieces | None = vars(self).get("_made")
        if made is None or made.tree is not self._tree:
            made = self._made = pieces(self._tree, self._power, self.min_cluster_size_)
        return made

    def _refuse_unconnected(self, points: IntArray, name: str) -> None:
        """Refuse rows at these points, or parts of X, that are at no distance from others."""
        nowhere, parts = int(np.count_nonzero(points < 0)), self.n_connected_components_
        if parts > 1 or nowhere:
            what = f"{nowhere:,} rows" if nowhere else f"{parts} parts of X"
            raise ValueError(
                f"{name}: nothing connects {what} with others, so they have no place beside them; "
                "leave them out (PieceTreeDisplay and CostCurveDisplay draw them)."
            )

    @property
    def _is_given(self) -> bool:
        return self._points.take_distances

    def _given_rows(self, X: Any) -> Any:
        return given_distances(X, type(self).__name__, self.n_features_in_)

    def _find_given(self, x: Any) -> Places:
        return self._in_tree(*self._points.nearest(x))

    def _find_rows(self, blocks: Blocks) -> Places:
        with self._engine(blocks) as engine:
            points, away = nearest_of_rows(self._points, blocks, engine)
        empty = int(np.count_nonzero(points < 0))
        warn_of_no_direction(empty, len(points), type(self).__name__)
        return self._in_tree(points, away)

    def _view(self, found: Places) -> ClusterView:
        self._refuse_unconnected(found[0], type(self).__name__)
        asked = self._asked()
        labels = asked.labels_of(*found)
        between = self._tree.distances(asked.centres)[asked.centres]
        inner = (between.max() ** 2 - between**2) / 2
        return ClusterView(
            labels=labels,
            memberships=(labels[:, None] == np.arange(asked.n_clusters)).astype(np.float64),
            is_soft=False,
            distances=asked.distances_of(*found),
            centres=Centres(np.eye(len(between)), inner),
        )

    def _in_tree(self, points: IntArray, away: Float64) -> Places:
        return np.where(points < 0, -1, self._tree.point[points]), away

    def _rows_of_the_fit(self, asked: str) -> Places:
        """Return the point of each row of the fit, and how far it is away from it."""
        self._refuse_without_rows(asked)
        row, away = self._point_of_row, self._away_of_row
        return row, np.broadcast_to(0.0, (len(row),)) if away is None else away

    def _asked(self, k: Any = None, distance: Any = None, layer: Any = None) -> PiecePartition:
        """Return the partition that one of three arguments asks for."""
        check_is_fitted(self)
        name = type(self).__name__
        if sum(value is not None for value in (k, distance, layer)) > 1:
            raise ValueError(f"{name}: give k, distance or layer, one of them.")
        if distance is not None:
            step = real(distance, "distance", name)
            return PiecePartition(self._pieces, self._pieces.apart(step), self._noise)
        if layer is not None:
            number = integer(layer, "layer", name, 0)
            if number >= len(self.layer_sizes_):
                raise ValueError(
                    f"{name}(layer={layer}): there are {len(self.layer_sizes_)} layers, from 0."
                )
            return self._partition(int(self.layer_sizes_[number]))
        return self._partition(self.n_clusters_ if k is None else integer(k, "k", name, 1))

    def _partition(self, k: int) -> PiecePartition:
        """Return the partition into k clusters."""
        name, parts, most = type(self).__name__, self.n_connected_components_, self._pieces.most
        if k < parts:
            raise ValueError(
                f"{name}: {k} clusters are fewer than the {parts} parts of X, which nothing "
                f"connects; take at least {parts}."
            )
        if k > most:
            raise ValueError(
                f"{name}: {k} clusters are more than there can be: X has {self._tree.n_points} "
                f"different rows, in {most} pieces of weight {self.min_cluster_size_:g} or more; "
                f"take at most {most}, or a smaller min_cluster_size."
            )
        return PiecePartition(self._pieces, self._pieces.first(k), self._noise)

    def _check_stored(self) -> None:
        """Check that a model that was read can answer."""
        self._require_stored(
            *("_tree", "_points", "_power", "_noise", "n_features_in_", "n_clusters_"),
            *("n_connected_components_", "min_cluster_size_"),
        )
        power = self._power
        if not (isinstance(power, float) and 0 < power < np.inf):
            raise ValueError("the power of steps is none")
        if self.n_connected_components_ != len(self._tree.roots):
            raise ValueError("the tree is not that of the model")
        points, shape = self._points, (self._tree.n_points, self.n_features_in_)
        if isinstance(points, GivenPoints) and points.points.shape != shape:
            raise ValueError("the points are not those of the tree")
