"""Clusters of a stream that come and go, their number unknown."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt
from scipy.special import logsumexp, ndtr, softmax
from sklearn.base import ClassNamePrefixFeaturesOutMixin, ClusterMixin, TransformerMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from ..data.arrays import Float64, IntArray, host_float64, is_sparse
from ..data.blocks import Blocks, spans
from ..data.limits import Limits
from ..data.outputs import Labels
from ..engines import ThreadEngine
from ..fitting.attribute_names import restored_on_failure
from ..fitting.named_parameters import NamedParameters
from ..fitting.rows.out_of_range import refuse_overflow
from ..fitting.streams.no_rows import has_no_rows, refuse_other_width
from ..fitting.validation import read_rows
from ..runtime.checks import integer
from ..runtime.docstrings import describes_arguments
from ..runtime.user_warnings import naming
from ..solvers.observer import FitRecord
from ..streaming.living_rows import with_rows
from ..streaming.living_stream import Event, LivingStream
from ..streaming.living_union import united


class StreamingGaussianMixture(
    ClassNamePrefixFeaturesOutMixin, TransformerMixin, ClusterMixin, NamedParameters
):
    """A mixture of Gaussians that come and go: maximise the likelihood of late rows, each Gaussian
    forgetting by rows of its own.

    Use it for a stream whose clusters you cannot count: sensors, machines, customers, over months.
    There is nothing to set. Clusters open, split, merge, fall asleep when their rows no longer
    come, and wake with their numbers; a number is never given to another cluster. Where you know
    how many there are, and they stay, take `StreamingFuzzyCMeans`.

    Parameters
    ----------
    chunk_size : int, default=10000
        Rows that `fit` reads at a time. `partial_fit` takes chunks of any size, of one row too; the
        state is that of the rows, whatever chunks they came in.

    Attributes
    ----------
    labels_ : (n,) numbers of clusters: after `partial_fit` of the last chunk's rows, each as the
        rows before it say; where a cluster opens in a chunk of many rows, its rows in the same
        chunk have its number already. After `fit` as `predict` gives them.
    n_clusters_ : how many clusters are awake.
    cluster_numbers_, cluster_centers_, weights_ : (c,), (c, d), (c,) of all clusters, the sleeping
        ones too: their numbers, means, and shares of late rows. Columns of memberships are in this
        order.
    covariances_ : (c, d, d), or (c, d) of more than 64 columns: of the clusters in this order, each
        shrunk towards that of all.
    awake_ : (c,) which of them are awake.
    events_ : the last 1,000 events, each a tuple (row, kind, cluster, other): before that row of
        the stream the cluster "opens", "splits" off the other, "merges" into the other, "sleeps",
        "wakes" or "ends": of more than 256 clusters the one is forgotten that was silent longest.
    n_samples_seen_ : rows so far.

    Notes
    -----
    A cluster is cut in two where a valley between its rows is deeper than chance makes them, and
    two become one where there has long been none between them; how fast a cluster forgets is read
    off its own rows. That is looked at every 32 rows at first, at every 1,024 later. Memory is
    constant: seven means, a covariance and 48 weighted points a cluster. More than 64 columns have
    diagonal covariances.

    Exact copies of a row count as evidence like other rows. Curved shapes are cut into pieces. If
    all rows jump at once, the clusters get new numbers. Rows have no weights here.

    Raises
    ------
    ValueError
        For bad parameters or rows, naming the argument, what came and what to do. A chunk that is
        refused changes nothing.

    References
    ----------
    Stauffer, Grimson: Adaptive background mixture models for real-time tracking. CVPR 1999. Ward:
    Hierarchical grouping to optimize an objective function. JASA 58, 1963.

    Examples
    --------
    >>> import numpy as np
    >>> from cmeans import StreamingGaussianMixture
    >>> rng = np.random.default_rng(0)
    >>> stream = StreamingGaussianMixture()
    >>> for chunk in range(10):
    ...     centre = 0 if chunk < 5 else 9
    ...     stream = stream.partial_fit(rng.normal(centre, 1, (100, 2)))
    >>> stream.cluster_numbers_.tolist(), stream.awake_.tolist()
    ([0, 1], [False, True])
    """

    _limits = Limits()  # no parameter
    _taken_fields: ClassVar[dict[str, tuple[str, ...]]] = {}
    _stream: LivingStream
    labels_: Labels

    def __init__(self, *, chunk_size: int = 10000) -> None:
        self.chunk_size = chunk_size

    def fit(self, X: Any, y: Any = None) -> Self:
        """Cluster rows in the order in which they stand, as if they came one after the other.

        Parameters
        ----------
        X : (n, d) rows, as all estimators take them; sparse ones are made dense, chunk by chunk.
        y : not used.

        Returns
        -------
        self
        """
        with restored_on_failure(self, FitRecord()):
            self.__dict__.pop("_stream", None)
            self._take(X)
            self.labels_ = self.predict(X)
        return self

    def partial_fit(self, X: Any, y: Any = None) -> Self:
        """Cluster the next rows of the stream.

        Parameters
        ----------
        X : (n, d) rows, as `fit` takes them; none are fine.
        y : not used.

        Returns
        -------
        self
        """
        with restored_on_failure(self, FitRecord()):
            self._checked()
            if has_no_rows(X):
                refuse_other_width(self, X)
                self.labels_ = np.empty(0, np.intp)
            else:
                self.labels_ = self._take(X)
        return self

    def fit_predict(self, X: Any, y: Any = None) -> Labels:
        """Cluster rows and return their labels: `fit(X).labels_`.

        Parameters
        ----------
        X : as for `fit`.
        y : not used.
        """
        return self.fit(X).labels_

    @describes_arguments
    def predict(self, X: Any) -> Labels:
        """Return the numbers (rows,) of the clusters of rows, as the stream is now; nothing
        changes."""
        return np.concatenate(list(self._answers(X, self._labels)))

    @describes_arguments
    def memberships(self, X: Any) -> Float64:
        """Return memberships (rows, c): the posterior probability of each cluster, in the order of
        `cluster_numbers_`."""
        return np.concatenate(list(self._answers(X, self._memberships)))

    @describes_arguments
    def predict_proba(self, X: Any) -> Float64:
        """Return the memberships (rows, c), as `memberships` does."""
        return self.memberships(X)

    @describes_arguments
    def transform(self, X: Any) -> Float64:
        """Return distances (rows, c) of rows from the clusters, each in the metric of its
        covariance."""
        distances: Float64 = np.sqrt(np.concatenate(list(self._answers(X, self._distances))))
        return distances

    @describes_arguments
    def outlier_score(self, X: Any) -> Float64:
        """Return how far each row (rows,) lies from its cluster, from 0 to 1: the share of the
        cluster's late rows that lie nearer to it."""
        return np.concatenate(list(self._answers(X, self._outlier_scores)))

    @describes_arguments
    def score(self, X: Any, y: Any = None) -> float:
        """Return the mean logarithm of the density of rows; larger is better."""
        return float(np.mean(np.concatenate(list(self._answers(X, self._log_densities)))))

    def merge(self, other: StreamingGaussianMixture) -> Self:
        """Merge another stream into this one: its clusters are those of this one that lie where
        they do, and others get new numbers.

        Raises
        ------
        ValueError
            If the other is no fitted stream of the same columns.
        """
        name = type(self).__name__
        check_is_fitted(self)
        if not isinstance(other, StreamingGaussianMixture):
            raise ValueError(f"{name}.merge({other!r}): give another fitted {name}.")
        check_is_fitted(other)
        names = [vars(model).get("feature_names_in_") for model in (self, other)]
        unlike = self.n_features_in_ != other.n_features_in_
        if unlike or _lists(names[0]) != _lists(names[1]):
            raise ValueError(
                f"{name}.merge: the other stream has {other.n_features_in_} columns "
                f"{_lists(names[1])}, this one {self.n_features_in_} {_lists(names[0])}; only like "
                "streams add."
            )
        with restored_on_failure(self, FitRecord()):
            self._keep(united(self._stream, other._stream))
            self.n_samples_seen_ += other.n_samples_seen_
            self.__dict__.pop("labels_", None)
        return self

    @property
    def events_(self) -> list[Event]:
        check_is_fitted(self)
        return self._stream.events_since(0)

    @property
    def covariances_(self) -> Float64:
        check_is_fitted(self)
        return self._stream.covariances

    @property
    def awake_(self) -> npt.NDArray[np.bool_]:
        check_is_fitted(self)
        c = self._stream.clusters
        return c.awake > 0 if len(c) else np.ones(1, bool)

    def _checked(self) -> None:
        """Refuse parameters that are invalid for all rows."""
        integer(self.chunk_size, "chunk_size", type(self).__name__, 1)

    def _take(self, X: Any) -> IntArray:
        """Take the next rows; return their labels."""
        self._checked()
        stream = vars(self).get("_stream")
        given = read_rows(self, X, fitting=stream is None)
        if stream is None:
            given.name_columns(self)
            stream, self.n_samples_seen_ = LivingStream.begun(int(given.x.shape[1])), 0
        labels = []
        for x in self._parts(given.x):
            stream, found = with_rows(stream, x)
            labels.append(found)
            self.n_samples_seen_ += len(x)
        self._keep(stream)
        return np.concatenate(labels)

    def _keep(self, stream: LivingStream) -> None:
        """Keep the state, and the attributes that tell of it."""
        self._stream = stream
        c = stream.clusters
        self.n_clusters_ = max(int(np.count_nonzero(c.awake)), 1)
        if len(c):
            self.cluster_numbers_ = c.number.copy()
            self.cluster_centers_, self.weights_ = c.mean / stream.unit, c.share.copy()
        else:  # until there are as many rows as a step has, they are one cluster
            self.cluster_numbers_ = np.zeros(1, np.intp)
            self.cluster_centers_ = stream.waiting.mean(axis=0, keepdims=True)
            self.weights_ = np.ones(1)

    def _parts(self, x: Any) -> Iterator[Float64]:
        """Yield rows as arrays of numbers, some at a time."""
        n = int(x.shape[0])
        blocks = Blocks(x, np.broadcast_to(1.0, (n,)), unit=1.0, limits=self._limits)
        with naming(type(self).__name__), ThreadEngine(n_jobs=1).opened(x) as engine:
            refuse_overflow(blocks, engine)
            for start, stop in spans(n, self.chunk_size):
                part = blocks.between(start, stop).in_memory().x
                part = part.toarray() if is_sparse(part) else part
                yield np.ascontiguousarray(host_float64(part))

    def _answers(self, X: Any, answer: Any) -> Iterator[Any]:
        """Yield answers for rows, some at a time."""
        check_is_fitted(self)
        for x in self._parts(read_rows(self, X, fitting=False).x):
            yield answer(self._stream, x)

    @staticmethod
    def _labels(stream: LivingStream, x: Float64) -> IntArray:
        return stream.labels(x)

    @staticmethod
    def _distances(stream: LivingStream, x: Float64) -> Float64:
        if len(stream.clusters):
            return stream.shapes.distances(x * stream.unit)
        d2: Float64 = ((x - stream.waiting.mean(axis=0)) ** 2).sum(axis=1, keepdims=True)
        return d2

    @classmethod
    def _log_shares(cls, stream: LivingStream, x: Float64) -> Float64:
        d2 = cls._distances(stream, x)
        return stream.shapes.log_shares(d2) if len(stream.clusters) else -d2 / 2

    @classmethod
    def _memberships(cls, stream: LivingStream, x: Float64) -> Float64:
        shares: Float64 = softmax(cls._log_shares(stream, x), axis=1)
        return shares

    @classmethod
    def _log_densities(cls, stream: LivingStream, x: Float64) -> Float64:
        whole = logsumexp(cls._log_shares(stream, x), axis=1)
        result: Float64 = whole + np.log(stream.unit).sum() - x.shape[1] / 2 * np.log(2 * np.pi)
        return result

    @classmethod
    def _outlier_scores(cls, stream: LivingStream, x: Float64) -> Float64:
        if not len(stream.clusters):
            return np.zeros(len(x))
        d2, c = cls._distances(stream, x), stream.clusters
        nearest = stream.shapes.log_shares(d2).argmax(axis=1)
        root = np.cbrt(d2[np.arange(len(x)), nearest])
        scores: Float64 = ndtr((root - c.median[nearest]) / c.deviation[nearest])
        return scores

    def _check_stored(self) -> None:
        """Check that a model that was read can answer."""
        if not isinstance(vars(self).get("_stream"), LivingStream):
            raise ValueError("the stream is missing")
        if self._stream.n_columns != vars(self).get("n_features_in_"):
            raise ValueError("the columns are not those of the stream")

    @property
    def _n_features_out(self) -> int:
        return len(self.cluster_numbers_)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


def _lists(names: Any) -> Any:
    return "" if names is None else names.tolist()
