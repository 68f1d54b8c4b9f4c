"""Communities of the graph of rows, whose number comes out."""

from __future__ import annotations

import os
from typing import Any, ClassVar, Literal, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ..data.arrays import Float64, IntArray
from ..data.files.discovery import files_of
from ..data.outputs import Labels
from ..engines import Engine
from ..fitting.arguments import Auto, check_engine
from ..fitting.communities import (
    CommunityRows,
    found_communities,
    given_affinities,
    given_rows,
    neighbour_rows,
)
from ..fitting.connected import warn_of_no_direction
from ..fitting.fitted_attributes import restored_on_failure
from ..fitting.validation import integer, one_of, read_rows, read_weights, real, weights_of
from ..graphs.community_levels import STABLE, CommunitySearch, StableCommunities
from ..graphs.community_number import number_of, with_number
from ..graphs.community_points import Nodes
from ..graphs.community_shares import (
    NodeCommunities,
    answers_of_rows,
    own_gains,
    own_shares,
    shares,
)
from ..runtime.checks import is_auto
from ..runtime.docstrings import describes_arguments
from ..runtime.user_warnings import naming, warn
from ..solvers.observer import FitRecord
from ..storage.overwriting import refuse_overwriting
from .graph_clustering import METRICS, GraphClustering, Written, first_rows


class ModularityClustering(GraphClustering):
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
        Neighbours of each row, by weight. An edge to one weighs exp(-d^2 / (s_i s_j)), s the
        distance to a row's seventh, and is there if either of two rows lists the other. Rows of
        more than 50 columns are compared along their first 50 principal axes.
    metric : "euclidean", "cosine" or "precomputed", default="euclidean"
        What rows are compared by. "cosine": by their directions, as rows of length one.
        "precomputed": X holds affinities (n, n), dense or sparse of any format, one way or both: an
        edge weighs as much as the larger of its two directions, and a node is not its own
        neighbour. Zeros are no edges.
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

    _taken_fields: ClassVar[dict[str, tuple[str, ...]]] = {}
    _points: Nodes
    _communities: NodeCommunities
    _point_of_row: IntArray

    def __init__(
        self,
        n_clusters: int | Auto | tuple[int, int] = "auto",
        *,
        resolution: float | Auto = "auto",
        n_neighbors: int = 15,
        metric: Literal["euclidean", "cosine", "precomputed"] = "euclidean",
        n_jobs: int | None = None,
        engine: Engine | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.resolution = resolution
        self.n_neighbors = n_neighbors
        self.metric = metric
        self.n_jobs = n_jobs
        self.engine = engine

    @describes_arguments
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Find the communities of X.

        Parameters
        ----------
        X : rows, as all estimators take them: arrays of any library, CSR, data frames, files, Dask
            collections; with metric="precomputed" affinities (n, n).
        y : not used.
        sample_weight : (n,) non-negative numbers; a weight of k counts as k copies of the row.

        Returns
        -------
        self
        """
        name = type(self).__name__
        with restored_on_failure(self, FitRecord()):
            self._checked()
            with naming(name):
                x, weight = self._read(X, sample_weight)
                with self._engine(self._blocks(x, weight, 1.0)) as engine:
                    rows = self._rows(x, weight, engine)
                    found = found_communities(
                        rows, self._choose, self._limits.community_nodes, engine
                    )
            self._points, self._communities = rows.nodes, found.communities
            self._point_of_row = rows.node_of_row
            self.n_clusters_ = found.communities.n_clusters
            self.resolution_ = found.communities.resolution
            self.modularity_ = found.modularity
            self.objective_ = -found.modularity
            self.resolutions_ = 2.0**found.search.levels.exponents
            self.stability_ = found.search.levels.stability
            self.labels_: Labels
            self.labels_, gains = self._of_the_fit("fit")
            self.probabilities_ = own_shares(gains, self.labels_)
            self.outlier_scores_ = 1.0 - self.probabilities_
            self.stop_reason_ = "no row gains by leaving its community"
            self._tell(found.search)
        return self

    @describes_arguments
    def predict(self, X: Any) -> Labels:
        """Return labels (rows,) of rows, new ones too: where their edges bring the largest gain of
        modularity. Rows of the fit have the labels that they have there."""
        return self._answers(X)[0]

    @describes_arguments
    def memberships(self, X: Any) -> Float64:
        """Return memberships (rows, c) of rows, new ones too, as `memberships_`."""
        labels, gains = self._answers(X)
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
        labels, gains = self._answers(X)
        return 1.0 - own_shares(gains, labels)

    def representatives(self, k: int = 1) -> IntArray:
        """Return row numbers (c, k) of the k rows of the fit that gain most by being in each
        community, the first of them first; -1 where a community has fewer."""
        count = integer(k, "k", f"{type(self).__name__}.representatives", 1)
        labels, gains = self._of_the_fit("representatives")
        return first_rows(labels, -own_gains(gains, labels), self.n_clusters_, count)

    def predict_to(
        self,
        X: Any,
        out: str | os.PathLike[str],
        *,
        memberships: bool | None = None,
        top_k: int | None = None,
        threshold: float | None = None,
    ) -> IntArray:
        """Write the labels of rows to a file, and their memberships.

        Parameters
        ----------
        X : rows, as `predict` takes them, files too.
        out, memberships, top_k, threshold : as of `KernelKMeans.predict_to`.

        Returns
        -------
        counts : (c,) the number of rows with each label.
        """
        refuse_overwriting({f"{type(self).__name__}.predict_to(out={out!r})": out}, files_of(X))
        return self._write(*self._answers(X), out, (memberships, top_k, threshold))

    def _write_fit(self, out: Any, written: Written) -> IntArray:
        return self._write(*self._of_the_fit("fit_predict_to"), out, written)

    def _write(self, labels: Labels, gains: Any, out: Any, written: Written) -> IntArray:
        def answers(start: int, stop: int) -> tuple[IntArray, Float64]:
            some: IntArray = labels[start:stop].astype(np.int64)
            return some, shares(gains[start:stop], some)

        return self._write_answers(answers, len(labels), self.n_clusters_, out, written)

    @property
    def memberships_(self) -> Float64:
        labels, gains = self._of_the_fit("memberships_")
        return shares(gains, labels)

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
        given = read_rows(self, X, fitting=True)
        given.name_columns(self)
        weight, unit = weights_of(given, sample_weight, name)
        return given.x, weight[:] * unit

    def _rows(self, x: Any, weight: Float64, engine: Engine) -> CommunityRows:
        """Return the graph of rows, or the one that is given."""
        name = type(self).__name__
        if self.metric == "precomputed":
            rows = given_rows(x, weight)
        else:
            rows = neighbour_rows(
                self._blocks(x, weight, 1.0),
                self.n_neighbors,
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
                f"{type(self).__name__}(n_clusters={wanted}): the graph of "
                f"{search.graph.n_nodes} different rows has no partition into so many communities; "
                f"nothing connects {parts} parts of it. Give another number, at least {parts}, or "
                "a resolution."
            )
        return found

    def _tell(self, found: StableCommunities) -> None:
        """Warn of rows in no community, and of communities that are not stable."""
        name = type(self).__name__
        alone = int(np.count_nonzero((self.labels_ < 0) & (self._point_of_row >= 0)))
        if alone:
            warn(
                f"{name}: {alone} of {len(self.labels_)} nodes of X have no edge, and are in no "
                "community, with the label -1."
            )
        if is_auto(self.n_clusters) and is_auto(self.resolution) and not found.is_stable:
            seen = f"runs agree by {found.stability:.2f} at best, where {STABLE} is stable"
            if np.isinf(found.stability):
                seen = "all have one community, or as many as rows"
            warn(
                f"{name}: there is no stable level among the resolutions: {seen}. What is found at "
                f"{self.resolution_:.3g} ({self.n_clusters_} communities) may divide one cluster; "
                "give a resolution, or n_clusters, where you know better."
            )

    def _answers(self, X: Any) -> tuple[Labels, Any]:
        """Return the labels (n,) of rows, new ones too, and their gains (n, c), CSR."""
        check_is_fitted(self)
        name = type(self).__name__
        if self.metric == "precomputed":
            x = given_affinities(X, name, self.n_features_in_)
            return self._communities.answers(self._points, x)
        x = read_rows(self, X, fitting=False).x
        blocks = self._blocks(x, np.broadcast_to(1.0, (int(x.shape[0]),)), 1.0)
        with self._engine(blocks) as engine:
            labels, gains = answers_of_rows(self._communities, self._points, blocks, engine)
        if self.metric == "cosine":
            warn_of_no_direction(int(np.count_nonzero(labels < 0)), len(labels), name)
        return labels, gains

    def _of_the_fit(self, asked: str) -> tuple[Labels, Any]:
        """Return the labels (n,) of the rows of the fit, and their gains (n, c), CSR."""
        check_is_fitted(self)
        if "_point_of_row" not in vars(self):
            raise ValueError(
                f"{type(self).__name__}.{asked}: this model was saved without its rows "
                "(rows=False); take predict, or save with them."
            )
        return self._communities.of_nodes(self._point_of_row)

    def _check_stored(self) -> None:
        """Check that a model that was read can answer."""
        if not isinstance(vars(self).get("_communities"), NodeCommunities):
            raise ValueError("the communities are missing")
