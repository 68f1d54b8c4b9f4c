"""Clusters as connected pieces, for every number of them at once."""

from __future__ import annotations

from typing import Any, ClassVar, Literal, Self

import numpy as np

from ..data.arrays import Float64
from ..data.outputs import Labels
from ..engines import Engine
from ..fitting.arguments import Auto, check_engine
from ..fitting.attribute_names import restored_on_failure
from ..fitting.connected import (
    ConnectedRows,
    connected_graph,
    connected_rows,
    given_distances,
    warn_of_no_direction,
)
from ..fitting.landmark_choice import Landmarks, landmarks_from, refuse_others
from ..fitting.validation import checked_random_state
from ..fitting.weights import read_weights
from ..graphs.piece_choice import gaps, least_weight
from ..graphs.piece_partition import LEAST_NOISE, PieceNoise, PiecePartition
from ..graphs.pieces import pieces
from ..runtime.checks import is_auto, one_of, real
from ..runtime.docstrings import describes_arguments
from ..runtime.user_warnings import naming
from ..solvers.observer import FitRecord
from .graph_clustering import METRICS
from .piece_answers import PieceAnswers


class ConnectivityClustering(PieceAnswers):
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

    _own_evidence = "split_distances_"
    _taken_fields: ClassVar = {"landmarks": ("number",)}

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
        self.probabilities_: Float64 = np.where(self.labels_ < 0, 0.0, depths)
        there = np.flatnonzero((row >= 0) & (away == 0))[::-1]
        first = np.empty(self._tree.n_points, np.int64)
        first[row[there]] = there
        self.exemplars_ = first[chosen.centres]

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
        _, blocks = self._rows_to_fit(X, sample_weight)
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
        layers = found.layers(min(self.n_clusters_, of_all.most))  # more are refused
        self.layer_sizes_ = layers[(layers <= self._pieces.most) & (layers >= found.fewest)]
