"""The leading eigenvectors of the landmark graph of rows, as a transformer."""

from __future__ import annotations

from typing import Any, Literal, Self, cast

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from ..data.arrays import Array, namespace
from ..data.blocks import Blocks
from ..engines import Engine
from ..fitting.arguments import Auto, check_engine, check_landmarks
from ..fitting.attribute_names import restored_on_failure
from ..fitting.landmark_choice import Landmarks, check_graph_landmarks, landmarks_from
from ..fitting.named_parameters import NamedParameters
from ..fitting.runs_passes import RunsPasses
from ..fitting.space import graph_geometry
from ..fitting.validation import checked_random_state, read_rows
from ..graphs.landmark_graph import FeaturesPass, Sought
from ..kernels import LandmarkGraphKernel
from ..runtime.checks import integer, parameters_of
from ..runtime.docstrings import describes_arguments
from ..solvers.observer import FitRecord
from ..spaces import FeatureSpace
from ..sweeps.represented_rows import RepresentedRows


class LandmarkGraph(RunsPasses, ClassNamePrefixFeaturesOutMixin, TransformerMixin, NamedParameters):
    """Embedding of rows in the leading eigenvectors of their landmark graph, in which k-means is a
    relaxed normalised cut.

    Every row is joined to its nearest landmarks, and by them to rows that share them. Use it to
    look at clusters of any shape, or before another estimator in a pipeline;
    `KernelKMeans(kernel="landmark_graph")` clusters in the same features. These are orthonormal
    over the rows (their weighted mean of squares is 1); in a graph of one part the first is the
    same number for all rows.

    Parameters
    ----------
    n_components : int, default=8
        Number of features at most: as many as clusters are sought. Eigenvectors of eigenvalue 0 are
        left out.
    landmarks : "auto", int, points, row numbers or Landmarks, default="auto"
        The landmarks, as in `KernelKMeans`. "auto": centres of k-means over a sample of the rows,
        30 for each component, from 1,000 to 4,000, and at most half as many as there are rows.
    n_neighbors : int, default=5
        Landmarks that a row is joined to.
    width : "local mean" or float, default="local mean"
        sigma of the weights exp(-d2 / (2 sigma^2)) of these; "local mean": the mean distance of
        each row to them.
    normalized : bool, default=False
        Whether features of a row are divided by their length.
    falloff : float, default=6
        How fast rows farther than usual from their landmarks lose weight in the graph, so that
        stray rows do not join clusters: a row whose mean distance t to its landmarks is above the
        median of all rows counts (median / t)^falloff. 0: all rows count alike.
    metric : "euclidean" or "precomputed", default="euclidean"
        "precomputed": X holds the distances of rows to landmarks (n, s), by any measure; of a
        kernel, the roots of k(x, x) + k(l, l) - 2 k(x, l).
    n_jobs : int or None, default=None
        Threads; None: every usable CPU. It never changes results. An engine counts its own.
    engine : Engine or None, default=None
        Who runs the passes; None: threads of this process, or the workers that hold the rows.
    random_state : int, RandomState or None
        Seed of the choice of landmarks.

    Attributes
    ----------
    eigenvalues_ : leading eigenvalues of the graph, the largest (1) first; more of them than
        components.
    n_clusters_suggested_ : the number of clusters before their largest gap (of the roots of 1 -
        eigenvalue).
    landmarks_, landmark_indices_ : points (s, d) (None where X holds distances), and their row
        numbers where they are rows.
    kernel_ : inner products of the features; `KernelKMeans(kernel=kernel_)` clusters in them.

    Raises
    ------
    ValueError
        For bad parameters, rows or weights, naming the argument, what came and what to do.

    References
    ----------
    Cai, Chen: Large scale spectral clustering via landmark-based sparse representation. IEEE Trans.
    Cybernetics 45, 2015. Ng, Jordan, Weiss: On spectral clustering: analysis and an algorithm. NIPS
    2001.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from cmeans import LandmarkGraph
    >>> X, moons = make_moons(400, noise=0.05, random_state=0)
    >>> embedding = LandmarkGraph(n_components=2, random_state=0).fit(X)
    >>> embedding.transform(X[:3]).shape
    (3, 2)
    """

    def __init__(
        self,
        n_components: int = 8,
        *,
        landmarks: int | Auto | Landmarks | Any = "auto",
        n_neighbors: int = 5,
        width: float | Literal["local mean"] = "local mean",
        normalized: bool = False,
        falloff: float = 6.0,
        metric: Literal["euclidean", "precomputed"] = "euclidean",
        n_jobs: int | None = None,
        engine: Engine | None = None,
        random_state: Any = None,
    ) -> None:
        self.n_components = n_components
        self.landmarks = landmarks
        self.n_neighbors = n_neighbors
        self.width = width
        self.normalized = normalized
        self.falloff = falloff
        self.metric = metric
        self.n_jobs = n_jobs
        self.engine = engine
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Make the graph of X.

        Parameters
        ----------
        X : rows, as all estimators take them: arrays of any library, CSR, data frames, files, Dask
            collections.
        y : not used.
        sample_weight : (n,) non-negative numbers; a weight of k counts as k copies of the row.

        Returns
        -------
        self
        """
        self._made(X, sample_weight)
        return self

    @describes_arguments
    def fit_transform(self, X: Any, y: Any = None, sample_weight: Any = None) -> Array:
        """Make the graph of X and return the features (n, k) of its rows: `fit(X).transform(X)`."""
        blocks, known = self._made(X, sample_weight)
        return self._features(blocks) if known is None else known

    @describes_arguments
    def transform(self, X: Any) -> Array:
        """Features (rows, k) of rows, new ones too, in their dtype and library."""
        check_is_fitted(self)
        x = read_rows(self, X, fitting=False).x
        return self._features(self._blocks(x, np.broadcast_to(1.0, (int(x.shape[0]),))))

    def _made(self, X: Any, sample_weight: Any) -> tuple[Blocks, Array | None]:
        """Make the graph; return the rows, and their features where these were found with it."""
        name = type(self).__name__
        with restored_on_failure(self, FitRecord()):
            words, landmarks = self._checked()
            rng = checked_random_state(self.random_state, name)
            _, blocks = self._rows_to_fit(X, sample_weight)
            sought = Sought(
                self.n_components, "components", f"{name}(n_components={self.n_components})"
            )
            with self._engine(blocks) as engine:
                geometry = graph_geometry(words, sought, blocks, landmarks, name, rng, engine)
        kernel = self.kernel_ = cast(LandmarkGraphKernel, geometry.kernel)
        self.eigenvalues_ = kernel.eigenvalues
        self.n_clusters_suggested_: int = kernel.attributes["n_clusters_suggested_"]
        self.landmarks_, self.landmark_indices_ = kernel.points, geometry.landmark_rows
        return blocks, cast(FeatureSpace, geometry.space).known

    def _checked(self) -> tuple[LandmarkGraphKernel, Landmarks]:
        """Return the checked parameters of the graph and the choice of landmarks."""
        name = type(self).__name__
        integer(self.n_components, "n_components", name, 1)
        check_engine(self)
        landmarks = landmarks_from(self.landmarks, name)
        check_graph_landmarks(landmarks, f"{name}(")
        if landmarks.points is not None:
            check_landmarks(landmarks.points, name, rows_only=False)
        with parameters_of(name):
            words = LandmarkGraphKernel(
                n_neighbors=self.n_neighbors,
                width=self.width,
                normalized=self.normalized,
                n_components=self.n_components,
                falloff=self.falloff,
                metric=self.metric,
            )
        return words, landmarks

    def _features(self, blocks: Blocks) -> Array:
        with self._engine(blocks) as engine:
            parts = list(
                engine.map(
                    RepresentedRows(FeatureSpace(self.kernel_), blocks, 0, training=False),
                    FeaturesPass(),
                )
            )
        return namespace(parts[0]).concat(parts)

    @property
    def _n_features_out(self) -> int:
        return int(self.kernel_.n_components)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags
