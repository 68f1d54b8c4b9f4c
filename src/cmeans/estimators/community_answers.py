"""The answers of communities about rows, in every layer."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ..data.arrays import Float64, IntArray
from ..data.blocks import Blocks
from ..data.outputs import Labels
from ..fitting.communities import given_affinities
from ..fitting.connected import warn_of_no_direction
from ..fitting.seen_rows import OtherPartition, first_rows
from ..fitting.weights import read_weights
from ..graphs.community_points import NeighbourNodes, NodePlaces, Nodes, places_of, places_of_rows
from ..graphs.community_seams import Seams
from ..graphs.community_shares import NodeCommunities, own_gains, own_shares, shares
from ..graphs.piece_layers import ClusterTree, cluster_tree
from ..runtime.checks import integer
from ..runtime.docstrings import describes_arguments
from ..spaces.centres import Centres
from ..storage.row_writer import Written
from .graph_clustering import GraphClustering
from .placed_clustering import ClusterView


class CommunityAnswers(GraphClustering[NodePlaces]):
    """Answers of fitted communities."""

    _points: Nodes
    _communities: NodeCommunities
    _others: tuple[NodeCommunities, ...]  # of other layers
    _seams: Seams
    _point_of_row: IntArray
    n_features_in_: int
    layer_sizes_: IntArray
    resolutions_: Float64
    stability_: Float64

    def partition(self, *, layer: int | None = None) -> Labels:
        """Return the labels (n,) of the rows of the fit in a layer of `cluster_layers_`; None:
        `labels_`."""
        self._refuse_without_rows("partition")
        return self._asked(layer).labels_of(self._point_of_row)

    @describes_arguments
    def predict(self, X: Any, *, layer: int | None = None) -> Labels:
        """Return labels (rows,) of rows, new ones too: where their edges bring the largest gain of
        modularity. Rows of the fit have the labels that they have there.

        Parameters
        ----------
        layer : as for `partition`.
        """
        return self._asked(layer).answers(self._find(X))[0]

    @describes_arguments
    def memberships(self, X: Any, *, layer: int | None = None) -> Float64:
        """Return memberships (rows, c) of rows, new ones too, as `memberships_`.

        Parameters
        ----------
        layer : as for `partition`.
        """
        labels, gains = self._asked(layer).answers(self._find(X))
        return shares(gains, labels)

    @describes_arguments
    def transform(self, X: Any) -> Float64:
        """Return the memberships (rows, c) of rows: communities have no centres."""
        return self.memberships(X)

    @describes_arguments
    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """Return the mean membership of rows in their own communities; larger is better, among fits
        of as many communities."""
        own = 1.0 - self.outlier_score(X)
        weight, _ = read_weights(sample_weight, len(own), type(self).__name__)
        return float(np.average(own, weights=weight))

    @describes_arguments
    def outlier_score(self, X: Any) -> Float64:
        """Return how little each row (rows,) belongs to its community, from 0 to 1: 1 - the
        membership there, 1 for rows that are in none."""
        labels, gains = self._asked().answers(self._find(X))
        return 1.0 - own_shares(gains, labels)

    @describes_arguments
    def plot(self, X: Any) -> Any:
        """Draw four pictures of the communities of rows X, of the fit or others: rows, sizes,
        memberships and the stability of resolutions. `cmeans.inspection` has more.

        Returns
        -------
        figure : of matplotlib.

        Raises
        ------
        ImportError
            Without matplotlib, which `pip install "cmeans[plot]"` brings.
        """
        from ..inspection.overview import overview_of_communities

        return overview_of_communities(self, X)

    def representatives(self, k: int = 1) -> IntArray:
        """Return row numbers (c, k) of the k rows of the fit that gain most by being in each
        community, the first of them first; -1 where a community has fewer."""
        count = integer(k, "k", f"{type(self).__name__}.representatives", 1)
        labels, gains = self._of_the_fit("representatives")
        return first_rows(labels, -own_gains(gains, labels), self.n_clusters_, count)

    def _write_rows(self, X: Any, out: Any, written: Written, **asked: Any) -> IntArray:
        return self._write(*self._asked(**asked).answers(self._find(X)), out, written)

    def _write_fit(self, X: Any, out: Any, written: Written) -> IntArray:
        return self._write(*self._of_the_fit("fit_predict_to"), out, written)

    def _write(self, labels: Labels, gains: Any, out: Any, written: Written) -> IntArray:
        def answers(start: int, stop: int) -> tuple[IntArray, Float64]:
            some: IntArray = labels[start:stop].astype(np.int64)
            return some, shares(gains[start:stop], some)

        return self._write_answers(answers, len(labels), int(gains.shape[1]), out, written)

    _other_evidence = "How well runs at a resolution agree: look for the peaks."

    def _other_partitions(self, X: Any, numbers: Sequence[int]) -> Iterator[OtherPartition]:
        """Yield the partitions of rows X in the layers."""
        places, resolutions = self._find(X), self.resolutions_
        for layer in self._layers:
            nearest = int(np.abs(np.log(resolutions / layer.resolution)).argmin())
            stable = float(self.stability_[nearest])
            labels = layer.answers(places)[0]
            yield OtherPartition(labels, layer.n_clusters, stable)

    @property
    def memberships_(self) -> Float64:
        labels, gains = self._of_the_fit("memberships_")
        return shares(gains, labels)

    @property
    def cluster_layers_(self) -> list[Labels]:
        return [self.partition(layer=layer) for layer in range(len(self.layer_sizes_))]

    @property
    def cluster_tree_(self) -> ClusterTree:
        return cluster_tree(self.cluster_layers_)

    @property
    def seams_(self) -> dict[tuple[int, int], float]:
        pairs = zip(*self._seams.pairs.T.tolist(), strict=True)
        return dict(zip(pairs, self._seams.ratios.tolist(), strict=True))

    @property
    def doubtful_pairs_(self) -> list[tuple[int, int]]:
        return [(one, other) for one, other in self._seams.doubtful.tolist()]

    @property
    def _is_given(self) -> bool:
        return self._points.are_given

    def _given_rows(self, X: Any) -> Any:
        return given_affinities(X, type(self).__name__, self.n_features_in_)

    def _find_given(self, x: Any) -> NodePlaces:
        return places_of(self._points, x)

    def _find_rows(self, blocks: Blocks) -> NodePlaces:
        with self._engine(blocks) as engine:
            found = places_of_rows(self._points, blocks, engine)
        if self.metric == "cosine":
            nowhere = (found.known < 0) & (np.diff(found.arcs.indptr) == 0)
            warn_of_no_direction(int(nowhere.sum()), len(nowhere), type(self).__name__)
        return found

    def _view(self, found: NodePlaces) -> ClusterView:
        """Rows are seen as their memberships, communities as the means of those of their rows."""
        labels, gains = self._communities.answers(found)
        memberships, centres = shares(gains, labels), self._communities.profiles
        squares = (memberships**2).sum(axis=1)[:, None] + (centres**2).sum(axis=1)
        squares -= 2 * memberships @ centres.T
        return ClusterView(
            labels=labels,
            memberships=memberships,
            is_soft=True,
            distances=np.sqrt(np.maximum(squares, 0.0)),
            centres=Centres.orthonormal(centres),
        )

    @property
    def _layers(self) -> list[NodeCommunities]:
        """The communities of each layer, the finest first."""
        return sorted([self._communities, *self._others], key=lambda layer: -layer.resolution)

    def _asked(self, layer: int | None = None) -> NodeCommunities:
        """Return the communities of a layer."""
        check_is_fitted(self)
        if layer is None:
            return self._communities
        name, layers = type(self).__name__, self._layers
        if integer(layer, "layer", name, 0) >= len(layers):
            raise ValueError(f"{name}(layer={layer}): there are {len(layers)} layers, from 0.")
        return layers[layer]

    def _of_the_fit(self, asked: str) -> tuple[Labels, Any]:
        """Return the labels (n,) of the rows of the fit, and their gains (n, c), CSR."""
        self._refuse_without_rows(asked)
        return self._communities.of_nodes(self._point_of_row)

    def _check_stored(self) -> None:
        """Check that a model that was read can answer."""
        self._require_stored(
            *("_points", "_communities", "_others", "_seams", "n_features_in_", "n_clusters_"),
            "layer_sizes_",
        )
        nodes = self._points
        if isinstance(nodes, NeighbourNodes) and nodes.n_columns != self.n_features_in_:
            raise ValueError("the nodes are not those of the rows")
        for layer in self._layers:
            layer.check()
