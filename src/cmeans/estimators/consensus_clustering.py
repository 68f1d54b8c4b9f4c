"""A consensus of any clusterings: what many partitions have in common."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import Any, ClassVar, Self, get_args

import numpy as np
from sklearn.base import ClusterMixin, clone
from sklearn.exceptions import NotFittedError
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted, has_fit_parameter

from ..data.arrays import Float64, IntArray, is_foreign, to_numpy
from ..data.blocks import Blocks
from ..data.outputs import Labels
from ..engines import Engine, brought
from ..fitting.arguments import MissingName, check_engine
from ..fitting.attribute_names import restored_on_failure
from ..fitting.consensus import CoAssociation, LabelPatterns
from ..fitting.covariance import Covariance
from ..fitting.seen_rows import first_rows
from ..fitting.validation import checked_random_state
from ..fitting.weights import read_weights
from ..metrics.matching import adjusted_rand, shared_weights
from ..rules import Fuzzy
from ..runtime.checks import integer, one_of
from ..runtime.docstrings import describes_arguments
from ..runtime.user_warnings import collected, naming, warn
from ..solvers.observer import FitRecord
from ..spaces.centres import Centres
from ..storage.row_writer import Written
from .gaussian_mixture import GaussianMixture
from .kernel_kmeans import KernelKMeans
from .placed_clustering import ClusterView, PlacedClustering

STARTS = 10  # of the k-means that finds the consensus
TAILS = 5.0  # degrees of freedom of the members of Student's t


class ConsensusClustering(PlacedClustering[IntArray]):
    """A consensus of partitions: kernel k-means, minimise  sum_i w_i |phi(x_i) - v_j(i)|^2,  with
    the kernel  k(x, y) = the share of the members that keep x and y together.

    Use it for tables of mixed columns, where no one kind of cluster is a safe choice: the members
    that nothing is said of are eight mixtures, whose consensus is nearer to the truth than each of
    them. Or for partitions of your own, of any estimators.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters. Members may have others.
    members : None or list of estimators, default=None
        Clusterings, of this library or others, that have `fit` and `predict`. One that is fitted is
        taken as it is, others are fitted to X with its weights. None: eight `GaussianMixture` of
        `n_clusters`, with covariances "full" and "tied", of normal components and those with the
        tails of Student's t (5 degrees of freedom), on the columns as they are and on these made
        near to normal (`powers="auto"`), all with `Covariance(rounding="auto")`. Their starts
        see the columns' units: bring columns of different ones to one range first.
    missing : "error" or "partial", default="error"
        "partial": values of X may be NaN. The members made here are then four mixtures of what is
        there, without tails and rounding, which do not go with missing values; members of your own
        take such rows as they can.
    n_jobs : int or None, default=None
        Threads; None: every usable CPU. It never changes results. An engine counts its own.
    engine : Engine or None, default=None
        Who runs the passes of the members that are made here; None: threads of this process, or the
        workers that hold the rows.
    random_state : int, RandomState or None
        Seed of the members that are made here, and of the consensus.

    Attributes
    ----------
    labels_ : (n,) clusters; -1 for rows that are in no cluster of any member.
    n_clusters_ : how many there are: `n_clusters`, or fewer where the members tell fewer apart.
    members_ : the fitted members.
    member_labels_ : (n, r) their labels of the rows.
    agreement_ : mean adjusted Rand index between two members: how sure the consensus is.
    memberships_ : (n, c) as `FuzzyCMeans` has them for m=2 in the space of the kernel; their argmax
        is `labels_`.
    objective_ : the sum that is minimised.
    n_missing_ : (d,) missing values of each column; with missing="partial" and members made here
        only.
    stop_reason_ : why the fit ended.

    Notes
    -----
    The kernel's space has a coordinate for each cluster of each member, so that this is plain
    k-means of at most n different rows of zeros and ones, and nothing of size n^2 is made. Rows
    that all members label alike are one row of their weight. A new row is where its members' labels
    put it.

    Raises
    ------
    ValueError
        For bad parameters, members, rows or weights, naming the argument, what came and what to do.

    References
    ----------
    Fred, Jain: Combining multiple clusterings using evidence accumulation. IEEE TPAMI 27(6), 2005.
    Strehl, Ghosh: Cluster ensembles: a knowledge reuse framework for combining multiple partitions.
    JMLR 3, 2002.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.metrics import adjusted_rand_score
    >>> from cmeans import ConsensusClustering, GaussianMixture, KernelKMeans
    >>> X, kinds = load_iris(return_X_y=True)
    >>> words = {"random_state": 0}
    >>> members = [GaussianMixture(3, **words), GaussianMixture(3, covariance="tied", **words)]
    >>> members.append(KernelKMeans(3, kernel="linear", **words))
    >>> model = ConsensusClustering(3, members=members, random_state=0).fit(X)
    >>> adjusted_rand_score(kinds, model.labels_) > 0.9
    True
    >>> bool((model.predict(X) == model.labels_).all())
    True
    """

    _own_evidence = "agreement_"
    _taken_fields: ClassVar[dict[str, tuple[str, ...]]] = {}
    _of_rows = "member_labels_"
    _co_association: CoAssociation

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        members: Sequence[Any] | None = None,
        missing: MissingName = "error",
        n_jobs: int | None = None,
        engine: Engine | None = None,
        random_state: Any = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.members = members
        self.missing = missing
        self.n_jobs = n_jobs
        self.engine = engine
        self.random_state = random_state

    @describes_arguments
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Fit the members to X, and find their consensus.

        Parameters
        ----------
        X : rows, as the members take them.
        y : not used.
        sample_weight : (n,) non-negative numbers; a weight of k counts as k copies of the row.

        Returns
        -------
        self
        """
        name = type(self).__name__
        with restored_on_failure(self, FitRecord()):
            self._checked()
            rng = checked_random_state(self.random_state, name)
            with naming(name):
                _, rows = self._rows_to_fit(X, sample_weight)
            if self.n_clusters > rows.n_rows:
                raise ValueError(
                    f"{name}(n_clusters={self.n_clusters}): there are fewer rows than clusters, "
                    f"n_samples={rows.n_rows}; take fewer clusters."
                )
            seed = int(rng.randint(2**31))
            self.members_ = self._fitted_members(X, sample_weight, seed)
            self.member_labels_ = self._labels_of_members(X)
            if self.missing == "partial" and self.members is None:
                self.n_missing_ = self.members_[0].n_missing_
            patterns = LabelPatterns.among(self.member_labels_, rows.weight[:] * rows.unit)
            with naming(name):
                self._co_association = self._consensus(patterns, seed)
            self.n_clusters_ = self._co_association.n_clusters
            self.agreement_ = agreement(patterns)
            self.labels_: Labels = self._co_association.labels(self.member_labels_)
            self.objective_ = -self._score(patterns.labels, patterns.weight)
        return self

    @describes_arguments
    def predict(self, X: Any) -> Labels:
        """Return labels (rows,) of rows, new ones too: the cluster whose rows the members keep most
        together with them."""
        labels = self._labels_of_members(X)
        return self._co_association.labels(labels)

    @describes_arguments
    def memberships(self, X: Any) -> Float64:
        """Return memberships (rows, c) of rows, new ones too, as `memberships_`."""
        return self._memberships(self._labels_of_members(X))

    @describes_arguments
    def transform(self, X: Any) -> Float64:
        """Return the distances (rows, c) of rows, new ones too, to the centres in the space of the
        kernel, at most root 2."""
        labels = self._labels_of_members(X)
        distances: Float64 = np.sqrt(self._co_association.squared_distances(labels))
        return distances

    @describes_arguments
    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """Return minus the sum that is minimised, of rows: larger is better, among fits of as many
        clusters and the same members."""
        labels = self._labels_of_members(X)
        weight, unit = read_weights(sample_weight, len(labels), type(self).__name__)
        return self._score(labels, weight * unit)

    @describes_arguments
    def outlier_score(self, X: Any) -> Float64:
        """Return how little the members agree on each row (rows,), from 0 to 1: 1 - the share of
        them, in the mean, that keep it together with a row of the cluster where that is most."""
        labels = self._labels_of_members(X)
        scores: Float64 = 1.0 - self._co_association.similarities(labels).max(axis=1)
        return scores

    def representatives(self, k: int = 1) -> IntArray:
        """Return row numbers (c, k) of the k rows of the fit nearest to each centre; -1 where a
        cluster has fewer."""
        count = integer(k, "k", f"{type(self).__name__}.representatives", 1)
        rows = self._rows_of_the_fit("representatives")
        nearest = self._co_association.squared_distances(rows).min(axis=1)
        return first_rows(self.labels_, nearest, self.n_clusters_, count)

    def _write_rows(self, X: Any, out: Any, written: Written, **asked: Any) -> IntArray:
        return self._write(self._labels_of_members(X, **asked), out, written)

    @property
    def memberships_(self) -> Float64:
        return self._memberships(self._rows_of_the_fit("memberships_"))

    @property
    def stop_reason_(self) -> str:
        check_is_fitted(self)
        return (
            f"no row gains by leaving its cluster; {len(self.members_)} members agree by "
            f"{self.agreement_:.2f}"
        )

    def _write_fit(self, X: Any, out: Any, written: Written) -> IntArray:
        return self._write(self._rows_of_the_fit("fit_predict_to"), out, written)

    def _write(self, labels: IntArray, out: Any, written: Written) -> IntArray:
        def answers(start: int, stop: int) -> tuple[IntArray, Float64]:
            some = labels[start:stop]
            return self._co_association.labels(some), self._memberships(some)

        return self._write_answers(answers, len(labels), self.n_clusters_, out, written)

    def _find_rows(self, blocks: Blocks) -> IntArray:
        return self._labels_of_members(blocks.x)

    def _view(self, found: IntArray) -> ClusterView:
        own = self._co_association
        return ClusterView(
            labels=own.labels(found),
            memberships=self._memberships(found),
            is_soft=True,
            distances=np.sqrt(own.squared_distances(found)),
            centres=Centres.orthonormal(own.shares / np.sqrt(own.n_members)),
        )

    def _checked(self) -> None:
        """Refuse parameters that are invalid for all rows."""
        name = type(self).__name__
        integer(self.n_clusters, "n_clusters", name, 1)
        one_of(self.missing, "missing", name, get_args(MissingName))
        check_engine(self)
        members = self.members
        if members is None:
            return
        if not isinstance(members, list | tuple) or not members:
            raise ValueError(
                f"{name}(members={members!r}): give a list of estimators, fitted or not, such as "
                "[GaussianMixture(3), KernelKMeans(3)], or None for eight mixtures."
            )
        for member in members:
            if isinstance(member, type) or not all(
                hasattr(member, method) for method in ("fit", "predict", "get_params")
            ):
                raise ValueError(
                    f"{name}(members=[..., {member!r}, ...]): members are estimators with fit and "
                    "predict."
                )

    def _fitted_members(self, X: Any, sample_weight: Any, seed: int) -> list[Any]:
        """Return the members, those fitted that are not. What several of them warn of is said
        once."""
        name = type(self).__name__
        members = self._mixtures(seed) if self.members is None else self.members
        weighted = {} if sample_weight is None else {"sample_weight": sample_weight}
        fitted = []
        with collected() as told:
            for member in members:
                if _is_fitted(member):
                    fitted.append(member)
                    continue
                if weighted and not has_fit_parameter(member, "sample_weight"):
                    raise ValueError(
                        f"{name}: {type(member).__name__} takes no sample_weight; leave the "
                        "weights out, or that member."
                    )
                fitted.append(clone(member).fit(X, **weighted))
        for message, category in dict.fromkeys(told):
            warn(message, category)
        return fitted

    def _mixtures(self, seed: int) -> list[GaussianMixture]:
        """Return the members that nothing is said of."""
        # of one start each: what all find from one may be a poor optimum of all
        seeds = iter(np.random.RandomState(seed).randint(2**31, size=8, dtype=np.int64).tolist())
        is_whole = self.missing == "error"  # tails and rounding do not go with missing values
        return [
            GaussianMixture(
                self.n_clusters,
                covariance=Covariance(shape, df=df, rounding="auto" if is_whole else None),
                powers=powers,
                missing=self.missing,
                n_jobs=self.n_jobs,
                engine=self.engine,
                random_state=next(seeds),
            )
            for powers in (None, "auto")
            for shape in ("full", "tied")
            for df in ((None, TAILS) if is_whole else (None,))
        ]

    def _labels_of_members(self, X: Any) -> IntArray:
        """Return the members' labels (n, r) of rows."""
        check_is_fitted(self)
        found = [brought(member.predict(X)) for member in self.members_]
        columns = [to_numpy(one) if is_foreign(one) else np.asarray(one) for one in found]
        return np.stack(columns, axis=1).astype(np.int64)

    def _consensus(self, patterns: LabelPatterns, seed: int) -> CoAssociation:
        """Return the clusters of the rows that members label alike."""
        name, count = type(self).__name__, len(patterns.weight)
        if count <= self.n_clusters:
            if count < self.n_clusters:
                warn(
                    f"{name}(n_clusters={self.n_clusters}): the members tell only {count} groups "
                    "of rows apart, which are the clusters; take members with more clusters."
                )
            return patterns.each_alone()
        model = KernelKMeans(
            self.n_clusters, kernel="linear", n_init=STARTS, random_state=seed, n_jobs=1
        )
        model.fit(patterns.rows(), sample_weight=patterns.weight)
        return CoAssociation(patterns.first, np.asarray(model.cluster_centers_, np.float64))

    def _memberships(self, labels: IntArray) -> Float64:
        squares = self._co_association.squared_distances(labels)
        found: Float64 = np.asarray(Fuzzy(2.0).memberships(squares, None))
        found[self._co_association.labels(labels) < 0] = 0.0
        return found

    def _score(self, labels: IntArray, weight: Float64) -> float:
        nearest = self._co_association.squared_distances(labels).min(axis=1)
        return -float(weight @ nearest)

    def _rows_of_the_fit(self, asked: str) -> IntArray:
        self._refuse_without_rows(asked)
        return self.member_labels_

    def _check_stored(self) -> None:
        """Check that a model that was read can answer."""
        found = vars(self).get("_co_association")
        if not isinstance(found, CoAssociation) or len(self.members_) != found.n_members:
            raise ValueError("the co-association is missing, or not of these members")
        if not all(isinstance(member, ClusterMixin) for member in self.members_):
            raise ValueError("the members are no clusterings")

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = self.members is not None
        return tags


def _is_fitted(member: Any) -> bool:
    try:
        check_is_fitted(member)
    except NotFittedError:
        return False
    return True


def agreement(patterns: LabelPatterns) -> float:
    """Return the mean adjusted Rand index between two members; 1 of a single one."""
    found = [
        adjusted_rand(
            shared_weights(one, other, patterns.weight, int(one.max()) + 1, int(other.max()) + 1)
        )
        for one, other in combinations(patterns.labels.T, 2)
    ]
    return float(np.mean(found)) if found else 1.0
