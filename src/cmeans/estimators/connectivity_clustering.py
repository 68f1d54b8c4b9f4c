"""Clusters as connected pieces, for every number of them at once."""

from __future__ import annotations

import os
from typing import Any, ClassVar, Literal, Self

import numpy as np
from scipy import sparse
from sklearn.utils.validation import check_is_fitted

from ..data.arrays import Float64, IntArray
from ..data.blocks import Blocks
from ..data.files.discovery import files_of
from ..data.outputs import Labels
from ..engines import Engine
from ..fitting.arguments import Auto, check_engine
from ..fitting.connected import (
    ConnectedRows,
    connected_graph,
    connected_rows,
    given_distances,
    warn_of_no_direction,
)
from ..fitting.fitted_attributes import restored_on_failure
from ..fitting.landmark_choice import Landmarks, landmarks_from, refuse_others
from ..fitting.memory import require
from ..fitting.seen_rows import SeenRows, evenly_spaced
from ..fitting.validation import (
    checked_random_state,
    integer,
    one_of,
    read_rows,
    read_weights,
    real,
    weights_of,
)
from ..graphs.piece_choice import gaps, least_weight
from ..graphs.piece_coordinates import coordinates, depths_below_roots
from ..graphs.piece_layers import ClusterTree, cluster_tree
from ..graphs.piece_partition import LEAST_NOISE, PieceNoise, PiecePartition
from ..graphs.piece_points import Points, nearest_of_rows
from ..graphs.piece_tree import PieceTree, linkage
from ..graphs.pieces import Pieces, pieces
from ..runtime.checks import is_auto
from ..runtime.docstrings import describes_arguments
from ..runtime.numerals import parse_budget
from ..runtime.user_warnings import naming
from ..solvers.observer import FitRecord
from ..spaces.centres import Centres
from ..storage.overwriting import refuse_overwriting
from ..sweeps.state import State
from .graph_clustering import METRICS, GraphClustering, Written, first_rows

NUMBER = 64  # bytes that a coordinate takes while it is made


class ConnectivityClustering(GraphClustering):
    """Connected pieces: minimise  sum_i w_i min_j d(x_i, v_j)^z  over centres v_j among the rows,
    where d(x, y) is the least, over all paths from row to row, of the longest step.

    Use it when clusters are thin lines, rings or pieces of unequal density, or when you do not know
    how many there are: one fit finds the least cost for every number of clusters, exactly, and the
    partitions are nested. Where round clusters touch, paths lead from one to the other; take
    `KernelKMeans` or `GaussianMixture` there.

    Parameters
    ----------
    n_clusters : "auto", int or (least, most), default="auto"
        Number of clusters. "auto": as the rows say; it may be one. Of two numbers: as the rows say
        among these. Not 8 as elsewhere: one fit finds all numbers.
    min_samples : float, default=1
        How many rows, by weight and with itself, lie within a row's core distance. A step between
        two rows is as long as the distance between them and the core distances of both, whichever
        is largest, so that a few stray rows connect nothing. 1: as long as the distance.
    z : float, default=1
        Power of the distances. The larger it is, the more the far rows count.
    min_cluster_size : "auto" or float, default="auto"
        Weight of the rows where a cluster begins, at least. "auto": that of the lightest row; where
        the number of clusters is not given and a few rows far from all others would be among the
        clusters, a fiftieth of an equal share of all rows, and no single row.
    noise : None, "auto" or float between 0 and 1, default=None
        Whether rows far from all clusters belong to none, with the label -1. "auto": those that
        hang on one with fewer than 5 others (or a fiftieth of an equal share of all rows), by a
        step more than twice the median one there. A number: about this share of the rows, by
        weight. None: no row.
    metric : "euclidean", "cosine" or "precomputed", default="euclidean"
        What rows are compared by. "cosine": by their directions, as rows of length one.
        "precomputed": X holds distances (n, n), dense or sparse; a pair that a sparse matrix does
        not hold, or an infinite distance, is not connected, a stored 0 is a distance of 0, and the
        diagonal is 0 whatever it holds.
    landmarks : "auto", int, None or Landmarks, default="auto"
        How many landmarks the tree has: centres of k-means on a sample, each as heavy as the rows
        nearest to it. None: none, each row is in the tree. "auto": none up to 100,000 rows, else
        10,000.
    n_jobs : int or None, default=None
        Threads; None: every usable CPU. It never changes results. An engine counts its own.
    engine : Engine or None, default=None
        Who runs the passes; None: threads of this process, or the workers that hold the rows. The
        tree is made in this process.
    random_state : int, RandomState or None
        Seed of the choice of landmarks.

    Attributes
    ----------
    labels_ : (n,) cluster of each row, named in the order in which clusters split off, those of the
        largest gain first; -1 for noise.
    cost_curve_ : (q,) the least cost of 1, 2, ... clusters: no other centres among the rows cost
        less. Infinite for fewer clusters than parts that nothing connects, and beyond 1e308.
    objective_ : the least cost of these clusters: that of `n_clusters_`.
    n_clusters_, min_cluster_size_ : what was found, or given.
    n_connected_components_ : parts that nothing connects: 1 but for given distances.
    memberships_ : (n, c) as d^-z of the distances to the centres, as `FuzzyCMeans` has them for
        m=2 in the space of `embed`; their argmax is `labels_`.
    probabilities_ : (n,) how deep a row lies in its cluster: 1 in the half nearer to the centre,
        else the median distance over its own; 0 for noise.
    outlier_scores_ : (n,) 1 - the same, of noise too.
    exemplars_ : (c,) row numbers of the centres.
    layer_sizes_, cluster_layers_ : a few numbers of clusters that stand out, the finest first, and
        the labels (n,) of each.
    cluster_tree_ : {(layer, cluster): [(layer, cluster), ...]}, what each cluster of a layer holds
        of the finer ones; (number of layers, 0) holds all.
    split_distances_ : (c,) the longest step on the way from each cluster to the one that it splits
        off from; infinite for the first.
    n_landmarks_, step_error_ : landmarks in the tree, and by how much the longest step between two
        rows may be wrong for them (with min_samples=1): clusters that split off at far more than
        this are the same without landmarks. None where all rows are in the tree.
    linkage_ : (n - 1, 4) all joins of rows, as `scipy.cluster.hierarchy` has them.

    Notes
    -----
    d is an ultrametric, in which every power is a squared Euclidean distance: this is kernel
    k-means with the connectivity kernel, at its optimum. With `min_cluster_size` it is the optimum
    over centres in different pieces that weigh so much.

    Equal rows are one row of their summed weight, and ties are decided by the rows' values: neither
    the order of rows nor copies in place of weights change a partition. Given distances have no
    values, and nothing but their numbers tells rows apart that have the same distances, as the
    corners of a square have: there ties are decided by row numbers.

    All partitions of a fit are of one tree and one `min_cluster_size_`, and so nested. Where "auto"
    found crumbs and raised it, `partition(k)` is that of a fit to k clusters with
    `min_cluster_size=model.min_cluster_size_`; a fit with `n_clusters=k` alone takes any piece for
    a cluster, crumbs too.

    A new row belongs to the nearest row of the fit, or landmark, by plain distance; rows of the fit
    keep their labels, in every partition.

    Raises
    ------
    ValueError
        For bad parameters, rows or weights, naming the argument, what came and what to do; for more
        clusters than there are different rows, and fewer than parts that nothing connects.

    References
    ----------
    Fischer, Roth, Buhmann: Clustering with the connectivity kernel. NIPS 2003. Draganov, Beer,
    Hermes, Assent: I want 'em all (at once): ultrametric cluster hierarchies. NeurIPS 2025,
    arXiv 2502.14018. Campello, Moulavi, Zimek, Sander: Hierarchical density estimates for data
    clustering. ACM TKDD 10(1), 2015.

    Examples
    --------
    >>> from sklearn.datasets import make_circles
    >>> from cmeans import ConnectivityClustering
    >>> X, rings = make_circles(300, noise=0.03, factor=0.5, random_state=0)
    >>> model = ConnectivityClustering(n_clusters=2).fit(X)
    >>> bool((model.labels_ == rings).mean() in (0.0, 1.0))
    True
    >>> sorted(set(model.partition(5).tolist()))
    [0, 1, 2, 3, 4]
    """

    _taken_fields: ClassVar = {"landmarks": ("number",)}
    _tree: PieceTree
    _points: Points
    _point_of_row: IntArray
    _away_of_row: Float64 | None
    # as fitted, whatever is set since
    _power: float
    _noise: PieceNoise | None

    def __init__(
        self,
        n_clusters: int | Auto | tuple[int, int] = "auto",
        *,
        min_samples: float = 1,
        z: float = 1,
        min_cluster_size: float | Auto = "auto",
        noise: float | Auto | None = None,
        metric: Literal["euclidean", "cosine", "precomputed"] = "euclidean",
        landmarks: int | Auto | Landmarks | None = "auto",
        n_jobs: int | None = None,
        engine: Engine | None = None,
        random_state: Any = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.min_samples = min_samples
        self.z = z
        self.min_cluster_size = min_cluster_size
        self.noise = noise
        self.metric = metric
        self.landmarks = landmarks
        self.n_jobs = n_jobs
        self.engine = engine
        self.random_state = random_state

    @describes_arguments
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Find the tree of the pieces of X, and the clusters.

        Parameters
        ----------
        X : rows, as all estimators take them: arrays of any library, CSR, data frames, files, Dask
            collections; with metric="precomputed" distances (n, n).
        y : not used.
        sample_weight : (n,) non-negative numbers; a weight of k counts as k copies of the row.

        Returns
        -------
        self
        """
        name = type(self).__name__
        with restored_on_failure(self, FitRecord()):
            landmarks = self._checked()
            with naming(name):
                found = self._connected(X, sample_weight, landmarks)
                self._tree, self._points = found.tree, found.points
                self._point_of_row = np.where(
                    found.point_of_row < 0, -1, found.tree.point[found.point_of_row]
                )
                self._away_of_row = found.away_of_row
            self.n_connected_components_ = len(self._tree.roots)
            self._power = float(self.z)
            self._choose()
            self._noise = self._checked_noise()
            parts = self._pieces
            chosen = self._partition(self.n_clusters_)
            self.cost_curve_ = parts.cost
            self.split_distances_ = parts.birth[: self.n_clusters_]
            self.step_error_ = self._points.step_error
            self.n_landmarks_ = None if self.step_error_ is None else self._tree.n_points
            self.objective_ = float(parts.cost[self.n_clusters_ - 1])
            self._describe(chosen)
        return self

    def _describe(self, chosen: PiecePartition) -> None:
        """Keep what the partition says of rows."""
        row, away = self._rows_of_the_fit("fit")
        self.labels_: Labels = chosen.labels_of(row, away)
        depths = chosen.depths_of(row, away)
        self.outlier_scores_ = 1.0 - depths
        self.probabilities_ = np.where(self.labels_ < 0, 0.0, depths)
        there = np.flatnonzero((row >= 0) & (away == 0))[::-1]
        first = np.empty(self._tree.n_points, np.int64)
        first[row[there]] = there
        self.exemplars_ = first[chosen.centres]

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
        asked, (points, away) = self._asked(k, distance, layer), self._nearest_points(X)
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
        asked, (points, away) = self._asked(k, distance, layer), self._nearest_points(X)
        return asked.memberships(points, away, self._power)

    @describes_arguments
    def transform(self, X: Any) -> Float64:
        """Return the distances (rows, c) of rows, new ones too, to the centres; NaN for rows that
        belong to none. A new row is no nearer than to its nearest row of the fit."""
        asked = self._asked(None, None, None)
        return asked.distances_of(*self._nearest_points(X))

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
        points, _ = self._nearest_points(X)
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
        asked, (points, away) = self._asked(None, None, None), self._nearest_points(X)
        name = type(self).__name__
        weight, unit = read_weights(sample_weight, len(points), name)
        own = np.maximum(asked.distances[points], away)
        return -float(np.sum(weight * unit * np.where(points < 0, 0.0, own**self._power)))

    @describes_arguments
    def outlier_score(self, X: Any) -> Float64:
        """Return how far out each row (rows,) is, from 0 to 1: as `outlier_scores_`."""
        asked, (points, away) = self._asked(None, None, None), self._nearest_points(X)
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
        asked = self._asked(None, None, None)
        distances = np.maximum(asked.distances[points], away)
        return first_rows(asked.labels_of(points, away), distances, asked.n_clusters, count)

    def predict_to(
        self,
        X: Any,
        out: str | os.PathLike[str],
        *,
        memberships: bool | None = None,
        top_k: int | None = None,
        threshold: float | None = None,
        k: int | None = None,
        distance: float | None = None,
        layer: int | None = None,
    ) -> IntArray:
        """Write the labels of rows to a file, and their memberships.

        Parameters
        ----------
        X : rows, as `predict` takes them, files too.
        out, memberships, top_k, threshold : as of `KernelKMeans.predict_to`.
        k, distance, layer : as for `partition`.

        Returns
        -------
        counts : (c,) the number of rows with each label.
        """
        refuse_overwriting({f"{type(self).__name__}.predict_to(out={out!r})": out}, files_of(X))
        written = memberships, top_k, threshold
        asked = self._asked(k, distance, layer)
        return self._write(asked, *self._nearest_points(X), out, written)

    def _write_fit(self, out: Any, written: Written) -> IntArray:
        rows = self._rows_of_the_fit("fit_predict_to")
        return self._write(self._asked(None, None, None), *rows, out, written)

    def _write(
        self, asked: PiecePartition, points: IntArray, away: Float64, out: Any, written: Written
    ) -> IntArray:
        """Write what a partition says of rows at some points."""

        def answers(start: int, stop: int) -> tuple[IntArray, Float64]:
            some = points[start:stop], away[start:stop]
            return asked.labels_of(*some), asked.memberships(*some, self._power)

        return self._write_answers(answers, len(points), asked.n_clusters, out, written)

    @property
    def memberships_(self) -> Float64:
        row, away = self._rows_of_the_fit("memberships_")
        return self._asked(None, None, None).memberships(row, away, self._power)

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

    def _checked(self) -> Landmarks:
        """Refuse parameters that are invalid for all rows, and return the choice of landmarks."""
        name = type(self).__name__
        self._bounds()
        real(self.min_samples, "min_samples", name, least=0.0, above=True)
        real(self.z, "z", name, above=True)
        if not is_auto(self.min_cluster_size):
            real(self.min_cluster_size, "min_cluster_size", name, others='"auto" or ')
        if self.noise is not None and not is_auto(self.noise):
            share = real(self.noise, "noise", name, above=True, others='None, "auto" or ')
            if share >= 1:
                raise ValueError(f"{name}(noise={self.noise!r}): give a share below 1.")
        one_of(self.metric, "metric", name, METRICS)
        check_engine(self)
        landmarks = landmarks_from(self.landmarks, name)
        taken = () if self.metric == "precomputed" else ("number",)
        why = (
            "given distances have none" if self.metric == "precomputed" else "they are chosen here"
        )
        refuse_others(landmarks, taken, f"{name}(", why)
        return landmarks

    def _connected(self, X: Any, sample_weight: Any, landmarks: Landmarks) -> ConnectedRows:
        """Return the tree of rows, or of given distances."""
        name = type(self).__name__
        if self.metric == "precomputed":
            distances = given_distances(X, name)
            weight, unit = read_weights(sample_weight, distances.shape[0], name)
            self.__dict__.pop("feature_names_in_", None)
            self.n_features_in_ = int(distances.shape[1])
            return connected_graph(distances, weight * unit, self.min_samples)
        rng = checked_random_state(self.random_state, name)
        given = read_rows(self, X, fitting=True)
        given.name_columns(self)
        blocks = self._blocks(given.x, *weights_of(given, sample_weight, name))
        with self._engine(blocks) as engine:
            found = connected_rows(
                blocks,
                self.min_samples,
                landmarks,
                engine,
                rng,
                by_direction=self.metric == "cosine",
                estimator_name=name,
            )
        empty = int(np.count_nonzero(found.point_of_row < 0))
        warn_of_no_direction(empty, len(found.point_of_row), name)
        return found

    def _seen(self, X: Any, diag: Any, sample_weight: Any, most: int) -> SeenRows:
        """Return what the model says of at most so many rows of X, evenly spaced."""
        check_is_fitted(self)
        name, x = type(self).__name__, None
        if diag is not None:
            raise ValueError(f"{name}: diag is for kernels, of which there is none; leave it out.")
        if self._points.take_distances:
            given = given_distances(X, name, self.n_features_in_)
            weight, unit = read_weights(sample_weight, given.shape[0], name)
            numbers = evenly_spaced(len(weight), most)
            points, away = self._in_tree(*self._points.nearest(given[numbers]))
        else:
            rows = read_rows(self, X, fitting=False)
            blocks = self._blocks(rows.x, *weights_of(rows, sample_weight, name))
            weight, unit = blocks.weight, blocks.unit
            numbers = evenly_spaced(blocks.n_rows, most)
            if len(numbers) < blocks.n_rows:
                blocks = blocks.part(numbers, weight[numbers])
            blocks = blocks.in_memory()
            x, (points, away) = blocks.x, self._nearest_of(blocks)
        self._refuse_unconnected(points, name)
        asked = self._asked(None, None, None)
        labels = asked.labels_of(points, away)
        between = self._tree.distances(asked.centres)[asked.centres]
        return SeenRows(
            numbers=numbers,
            n_rows=len(weight),
            x=x,
            weight=np.array(weight[numbers]) * unit,
            labels=labels,
            memberships=(labels[:, None] == np.arange(asked.n_clusters)).astype(np.float64),
            is_soft=False,
            distances=asked.distances_of(points, away),
            state=State(Centres(np.eye(len(between)), (between.max() ** 2 - between**2) / 2)),
        )

    def _refuse_unconnected(self, points: IntArray, name: str) -> None:
        """Refuse rows at these points, or parts of X, that are at no distance from others."""
        nowhere, parts = int(np.count_nonzero(points < 0)), self.n_connected_components_
        if parts > 1 or nowhere:
            what = f"{nowhere:,} rows" if nowhere else f"{parts} parts of X"
            raise ValueError(
                f"{name}: nothing connects {what} with others, so they have no place beside them; "
                "leave them out (PieceTreeDisplay and CostCurveDisplay draw them)."
            )

    def _nearest_points(self, X: Any) -> tuple[IntArray, Float64]:
        """Return the points (n,) of the tree at which rows are, and how far away from them."""
        check_is_fitted(self)
        name = type(self).__name__
        if self._points.take_distances:
            found = self._points.nearest(given_distances(X, name, self.n_features_in_))
            return self._in_tree(*found)
        x = read_rows(self, X, fitting=False).x
        return self._nearest_of(self._blocks(x, np.broadcast_to(1.0, (int(x.shape[0]),)), 1.0))

    def _nearest_of(self, blocks: Blocks) -> tuple[IntArray, Float64]:
        """Return the same of rows by their coordinates."""
        with self._engine(blocks) as engine:
            points, away = nearest_of_rows(self._points, blocks, engine)
        empty = int(np.count_nonzero(points < 0))
        warn_of_no_direction(empty, len(points), type(self).__name__)
        return self._in_tree(points, away)

    def _in_tree(self, points: IntArray, away: Float64) -> tuple[IntArray, Float64]:
        return np.where(points < 0, -1, self._tree.point[points]), away

    def _rows_of_the_fit(self, asked: str) -> tuple[IntArray, Float64]:
        """Return the point of each row of the fit, and how far it is away from it."""
        check_is_fitted(self)
        if "_point_of_row" not in vars(self):
            raise ValueError(
                f"{type(self).__name__}.{asked}: this model was saved without its rows "
                "(rows=False); take predict, or save with them."
            )
        row, away = self._point_of_row, self._away_of_row
        return row, np.broadcast_to(0.0, (len(row),)) if away is None else away

    def _asked(self, k: Any, distance: Any, layer: Any) -> PiecePartition:
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

    def _checked_noise(self) -> PieceNoise | None:
        """Return what is noise, as the parameters have it."""
        if self.noise is None:
            return None
        if is_auto(self.noise):
            return PieceNoise(max(LEAST_NOISE, self.min_cluster_size_))
        return PieceNoise(share=float(self.noise))

    def _choose(self) -> None:
        """Choose the number of clusters where it is not given, the weight of the lightest, and the
        layers."""
        least, most = self._bounds()
        of_all = pieces(self._tree)
        of_power = of_all if self._power == 1 else pieces(self._tree, self._power)
        given = None if is_auto(self.min_cluster_size) else float(self.min_cluster_size)
        found = gaps(of_all, given)
        if is_given := least == most:
            self.n_clusters_ = least
        else:
            most = min(most, of_all.most)
            self.n_clusters_ = found.number(max(least, found.fewest), max(int(most), found.fewest))
        if given is None:
            given = least_weight(of_power, 1 if is_given else self.n_clusters_)
        self.min_cluster_size_ = given
        if given <= self._tree.weight.min():
            self._made = of_power  # which are the same
        if not is_given:
            self.n_clusters_ = min(self.n_clusters_, self._pieces.most)
        layers = found.layers(self.n_clusters_)
        self.layer_sizes_ = layers[(layers <= self._pieces.most) & (layers >= found.fewest)]

    def _check_stored(self) -> None:
        """Check that a model that was read can answer."""
        if not isinstance(vars(self).get("_tree"), PieceTree):
            raise ValueError("the tree is missing")
