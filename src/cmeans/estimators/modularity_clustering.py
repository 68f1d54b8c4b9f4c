"""Communities of the graph of rows, whose number comes out."""

from __future__ import annotations

from typing import Any, ClassVar, Literal, Self

import numpy as np

from ..data.arrays import Float64
from ..data.outputs import Labels
from ..engines import Engine
from ..fitting.arguments import Auto, check_engine
from ..fitting.attribute_names import restored_on_failure
from ..fitting.communities import (
    CommunityRows,
    found_communities,
    given_affinities,
    given_rows,
    known_nodes,
    neighbour_rows,
)
from ..fitting.connected import warn_of_no_direction
from ..fitting.weights import read_weights
from ..graphs.community_levels import STABLE, CommunitySearch, StableCommunities
from ..graphs.community_number import number_of, with_number
from ..graphs.community_shares import own_shares
from ..graphs.edges import EDGE_NAMES, EdgeName
from ..runtime.checks import integer, is_auto, one_of, real
from ..runtime.docstrings import describes_arguments
from ..runtime.user_warnings import naming, warn
from ..solvers.observer import FitRecord
from .community_answers import CommunityAnswers
from .graph_clustering import METRICS

NAMED = 5  # pairs of communities in a warning
MANY_VALUES = 10  # communities of equal rows, which are seldom what is sought


class ModularityClustering(CommunityAnswers):
    """Communities: maximise  sum_j [A(j, j) - r d(j)^2 / 2m] / 2m  over partitions of the rows,
    A the affinities in the graph of nearest neighbours, A(j, j) their sum within community j, d(j)
    the sum of its rows' degrees, 2m that of all, and r the resolution.

    Use it when you do not know how many clusters there are, and rows near each other belong
    together: images, embeddings, single cells. Thin lines and rings are divided; take
    `ConnectivityClustering` there.

    Parameters
    ----------
    n_clusters : "auto", int or (least, most), default="auto"
        Number of clusters. "auto": as the graph says at the resolution. A number: at a
        resolution that has as many, found by a search. Of two numbers: as the graph says, or that
        of the two which is nearer. Not 8 as elsewhere: the number is a result.
    resolution : "auto" or float, default="auto"
        The larger it is, the more communities there are. "auto": the power of the root of two from
        1/32 to 2.8 at which runs agree best with each other and with those within a factor of two,
        less .04 for each factor of two from 1. 1: modularity as Newman defined it.
    n_neighbors : int, default=15
        Neighbours of a row, by weight. An edge is there if either of two rows lists the other.
        Rows of more than 50 columns are compared along their first 50 principal axes.
    edges : "scaling", "equal" or "shared", default="scaling"
        What an edge weighs. "scaling": exp(-d^2 / (s_i s_j)), s the distance to a row's seventh
        neighbour. "equal": 1. "shared": of the neighbours of either end, itself among them, the
        share that both have. Given affinities are taken as they are.
    metric : "euclidean", "cosine" or "precomputed", default="euclidean"
        What rows are compared by. "cosine": by their directions, as rows of length one.
        "precomputed": X holds affinities (n, n), dense or sparse of any format, one way or both: an
        edge weighs as much as the larger of its two directions, and a node is not its own
        neighbour. Zeros are no edges. Graphs of networkx and igraph are taken with the weights that
        they call "weight", or 1 for each edge.
    n_jobs : int or None, default=None
        Threads; None: every usable CPU. It never changes results. An engine counts its own.
    engine : Engine or None, default=None
        Who runs the passes; None: threads of this process.

    Attributes
    ----------
    labels_ : (n,) communities, the heaviest first, of equally heavy ones the first to come; -1 for
        nodes without edges, and rows of length 0 with metric="cosine".
    n_clusters_, resolution_ : how many there are, and the resolution.
    modularity_, objective_ : the modularity, and minus it: what is least is best, as elsewhere.
    resolutions_, stability_ : (q,) resolutions that were compared, and the mean adjusted Rand index
        of the runs at each with those within a factor of two; -inf where nearly all rows are in one
        community, or each in its own. Of one that is given, and its neighbours, where nothing was
        compared.
    layer_sizes_, layer_resolutions_, cluster_layers_ : with resolution="auto", numbers of
        communities, resolutions and labels (n,) where stability is larger than at the resolutions
        beside it, and at least .8, the finest first; `labels_` are always one of them.
    cluster_tree_ : {(layer, cluster): [(layer, cluster), ...]}, of which cluster of a layer each of
        the finer ones is; (number of layers, 0) holds all. Layers need not be nested: the cluster
        is the one that holds most rows.
    seams_ : {(a, b): ratio} of all pairs that edges connect, the weight of the boundary over the
        mean weight of cuts that halve either.
    doubtful_pairs_ : the pairs (a, b) that may be one cluster, those of the largest ratios first;
        empty where there are clusters.
    memberships_ : (n, c) shares of the gains of modularity for which a row's edges would bring it
        into each community; their argmax is `labels_`.
    probabilities_, outlier_scores_ : (n,) the membership of each row in its own community, 0 where
        it is in none, and 1 less it.
    stop_reason_ : why the fit ended.

    Notes
    -----
    The solver is that of Leiden: nodes move, communities are refined into connected parts, and
    these are the nodes of the next graph. Three runs at each resolution, in orders of the nodes
    that are always the same, give the edges of a last one the share of runs that kept their ends
    together. There is no seed. More than 20,000 rows are compared in small groups, which are
    dissolved at the end.

    Neither the order of rows of different distances nor changes of weights by 1e-12 change
    anything. Equal rows are together, and a weight of k is k copies of a row; of given affinities,
    a weight multiplies those of the node.

    A new row belongs where its edges to its nearest neighbours bring the largest gain, so that it
    can join a community of fewer rows than these; rows of the fit keep their labels.

    Raises
    ------
    ValueError
        For bad parameters, rows, affinities or weights, naming the argument, what came and what to
        do; for a number of clusters that cannot be had.

    References
    ----------
    Newman: Modularity and community structure in networks. PNAS 103, 2006. Traag, Waltman, van Eck:
    From Louvain to Leiden. Scientific Reports 9, 2019. Zelnik-Manor, Perona: Self-tuning spectral
    clustering. NIPS 2004.

    Examples
    --------
    >>> from sklearn.datasets import make_blobs
    >>> from cmeans import ModularityClustering
    >>> X, y = make_blobs(300, centers=[[0, 0], [9, 0], [0, 9]], random_state=0)
    >>> model = ModularityClustering(resolution=0.1).fit(X)
    >>> model.n_clusters_
    3
    >>> bool((model.predict(X) == model.labels_).all())
    True
    """

    _own_evidence = "stability_"
    _taken_fields: ClassVar[dict[str, tuple[str, ...]]] = {}

    def __init__(
        self,
        n_clusters: int | Auto | tuple[int, int] = "auto",
        *,
        resolution: float | Auto = "auto",
        n_neighbors: int = 15,
        edges: EdgeName = "scaling",
        metric: Literal["euclidean", "cosine", "precomputed"] = "euclidean",
        n_jobs: int | None = None,
        engine: Engine | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.resolution = resolution
        self.n_neighbors = n_neighbors
        self.edges = edges
        self.metric = metric
        self.n_jobs = n_jobs
        self.engine = engine

    @describes_arguments
    def fit(
        self, X: Any, y: Any = None, sample_weight: Any = None, *, known_labels: Any = None
    ) -> Self:
        """Find the communities of X.

        Parameters
        ----------
        X : rows, as all estimators take them: arrays of any library, CSR, data frames, files, Dask
            collections; with metric="precomputed" affinities (n, n), or a graph.
        y : not used.
        sample_weight : (n,) non-negative numbers; a weight of k counts as k copies of the row.
        known_labels : (n,) whole numbers, default=None
            Communities that rows are known to belong to, 0, 1, ..., which keep these numbers; -1:
            not known. Rows of one label are together and those of two apart, whatever their edges.
            There may be more communities.

        Returns
        -------
        self
        """
        name = type(self).__name__
        with restored_on_failure(self, FitRecord()):
            self._checked()
            with naming(name):
                x, weight = self._read(X, sample_weight)
                with self._engine(self._blocks(x, weight)) as engine:
                    rows = self._rows(x, weight, engine)
                    known = known_nodes(known_labels, rows, name)
                    most_cells = self._limits.community_nodes
                    found = found_communities(rows, known, self._choose, most_cells, engine)
            self._points, self._communities = rows.nodes, found.communities
            self._others, self._seams = found.others, found.seams
            self._point_of_row = rows.node_of_row
            self.n_clusters_ = found.communities.n_clusters
            self.resolution_ = found.communities.resolution
            self.modularity_ = found.modularity
            self.objective_ = -found.modularity
            self.resolutions_ = 2.0**found.search.levels.exponents
            self.stability_ = found.search.levels.stability
            self.layer_sizes_ = np.array([layer.n_clusters for layer in self._layers])
            self.layer_resolutions_ = np.array([layer.resolution for layer in self._layers])
            self.labels_: Labels
            self.labels_, gains = self._of_the_fit("fit")
            self.probabilities_ = own_shares(gains, self.labels_)
            self.outlier_scores_ = 1.0 - self.probabilities_
            self.stop_reason_ = "no row gains by leaving its community"
            self._tell_alone()
            if known_labels is None and is_auto(self.n_clusters) and is_auto(self.resolution):
                self._tell_doubts(found.search)
        return self

    def _checked(self) -> None:
        """Refuse parameters that are invalid for all rows."""
        name = type(self).__name__
        least, most = self._bounds()
        if not is_auto(self.resolution):
            real(self.resolution, "resolution", name, above=True, others='"auto" or ')
            if least == most:
                raise ValueError(
                    f"{name}(n_clusters={least}, resolution={self.resolution!r}): each decides the "
                    "other; give one of them."
                )
        integer(self.n_neighbors, "n_neighbors", name, 1)
        one_of(self.edges, "edges", name, EDGE_NAMES)
        one_of(self.metric, "metric", name, METRICS)
        check_engine(self)

    def _read(self, X: Any, sample_weight: Any) -> tuple[Any, Float64]:
        """Return checked rows, or affinities, and their weights (n,)."""
        name = type(self).__name__
        if self.metric == "precomputed":
            x = given_affinities(X, name)
            self.__dict__.pop("feature_names_in_", None)
            self.n_features_in_ = int(x.shape[1])
            weight, unit = read_weights(sample_weight, x.shape[0], name)
            return x, weight * unit
        _, blocks = self._rows_to_fit(X, sample_weight)
        return blocks.x, blocks.weight[:] * blocks.unit

    def _rows(self, x: Any, weight: Float64, engine: Engine) -> CommunityRows:
        """Return the graph of rows, or the one that is given."""
        name = type(self).__name__
        if self.metric == "precomputed":
            rows = given_rows(x, weight)
        else:
            rows = neighbour_rows(
                self._blocks(x, weight),
                self.n_neighbors,
                self.edges,
                engine,
                by_direction=self.metric == "cosine",
                estimator_name=name,
            )
            empty = int(np.count_nonzero(rows.node_of_row < 0))
            warn_of_no_direction(empty, len(rows.node_of_row), name)
        if not rows.affinities.nnz:
            raise ValueError(
                f"{name}: n_samples={len(rows.node_of_row)}: no two rows of positive weight are "
                "neighbours; a graph of 1 sample has no edges, and no communities."
            )
        return rows

    def _choose(self, search: CommunitySearch) -> StableCommunities:
        """Return the communities that the parameters ask for."""
        least, most = self._bounds()
        if least == most:
            return self._of_number(search, least)
        auto = is_auto(self.resolution)
        found = search.most_stable() if auto else search.at(float(self.resolution))
        number = number_of(found.labels)
        nearest = int(min(max(number, least), most))
        return found if nearest == number else self._of_number(search, nearest)

    def _of_number(self, search: CommunitySearch, wanted: int) -> StableCommunities:
        found = None if wanted > search.graph.n_nodes else with_number(search, wanted)
        if found is None:
            parts = number_of(search.graph.connected_parts(np.zeros(search.graph.n_nodes, int)))
            raise ValueError(
                f"{type(self).__name__}(n_clusters={wanted}): the graph of {search.graph.n_nodes} "
                "different rows has no partition into so many communities; nothing connects "
                f"{parts} parts of it, and {int(search.graph.held.sum())} communities are known. "
                "Give another number, at least the larger of these, or a resolution."
            )
        return found

    def _tell_alone(self) -> None:
        """Warn of rows in no community."""
        alone = int(np.count_nonzero((self.labels_ < 0) & (self._point_of_row >= 0)))
        if alone:
            warn(
                f"{type(self).__name__}: {alone} of {len(self.labels_)} nodes of X have no edge, "
                "and are in no community, with the label -1."
            )

    def _tell_doubts(self, found: StableCommunities) -> None:
        """Warn of communities that are not stable, and of those that may be no clusters."""
        name = type(self).__name__
        nodes = np.unique(np.stack([self._point_of_row, self.labels_]), axis=1)
        values = np.bincount(nodes[1, nodes[1] >= 0], minlength=1)
        single = int((values == 1).sum())
        if single >= MANY_VALUES and 2 * single > len(values) and len(values) < values.sum():
            warn(
                f"{name}: {single} of {len(values)} communities are equal rows, as of columns of "
                "counts or grades, whose nearest neighbours are each other. Give n_clusters, or "
                "take cmeans.cluster(X), which judges such columns by the steps between values."
            )
        if not found.is_stable:
            seen = f"runs agree by {found.stability:.2f} at best, where {STABLE} is stable"
            if np.isinf(found.stability):
                seen = "all have one community, or as many as rows"
            warn(
                f"{name}: there is no stable level among the resolutions: {seen}. What is found at "
                f"{self.resolution_:.3g} ({self.n_clusters_} communities) may divide one cluster; "
                "give a resolution, or n_clusters, where you know better."
            )
        if pairs := self.doubtful_pairs_:
            named = ", ".join(
                f"{one} and {other} ({self.seams_[one, other]:.2f})" for one, other in pairs[:NAMED]
            )
            more = f", and {len(pairs) - NAMED} more pairs" if len(pairs) > NAMED else ""
            warn(
                f"{name}: it is doubtful whether there are clusters: there may be one, or "
                f"boundaries lead through clusters, between communities {named}{more} "
                "(doubtful_pairs_). In brackets what a boundary cuts, as a share of what halving a "
                "community would. Nothing was joined."
            )
