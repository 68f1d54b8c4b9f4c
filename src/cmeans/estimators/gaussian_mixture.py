"""Mixtures of Gaussians: clusters with covariances and weights of their own."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any, cast

import numpy as np
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from ..data.arrays import Float64
from ..data.outputs import FloatArray, Labels
from ..engines import Engine
from ..fitting.arguments import Auto, InitName, MissingName
from ..fitting.covariance import Covariance, CovarianceName, covariance_from
from ..fitting.fit import BaseCMeans
from ..fitting.geometry import Geometry
from ..fitting.incomplete import incomplete_space
from ..fitting.mixture import (
    AnyMixture,
    ImputePass,
    LikelihoodPass,
    given_mixture,
    in_shape,
    is_mixture,
    mixture_rule,
    n_parameters,
    noise_share,
    spread_over,
    with_noise,
)
from ..fitting.number_by_bic import NumberByBic, numbers_to_choose
from ..fitting.procedure import Method, Procedure
from ..fitting.rows.dask_answers import lazily
from ..fitting.search import Search, SearchName
from ..fitting.stages.powered import PoweredFeatures
from ..fitting.stages.steps import ToldInSteps
from ..fitting.stages.stretched import StretchedClusters
from ..fitting.weights import read_weights
from ..kernels import Linear
from ..rules import Hard
from ..runtime.checks import ParameterError, integer, is_auto
from ..runtime.docstrings import describes_arguments, shares_parameters
from ..solvers.stretched import SHAPES, MixtureVolumes
from ..spaces import Space
from ..spaces.metrics import Metrics
from ..sweeps.state import State
from .kernel_kmeans import KernelKMeans
from .plotting import Plotting


@shares_parameters(KernelKMeans)
class GaussianMixture(Plotting, BaseCMeans):
    """A mixture of Gaussians: minimise  -sum_i w_i ln sum_j p_j N(x_i; v_j, S_j) + (nu / 2) sum_j
    [ln |S_j| + tr(S_j^-1 T)].

    Use it when clusters are stretched, or differ in spread: k-means finds round ones of one size.
    The penalty counts as nu rows of covariance T in each cluster, where T is pooled within the
    clusters of the best hard partition: so no cluster can degenerate, whatever the units of the
    columns are.

    Parameters
    ----------
    n_clusters : int or (least, most), default=8
        Number of clusters. Of a range every number is fitted, and the one of the least `bic` kept;
        `cmeans.select` does so on a sample, with more evidence.
    covariance : "full", "diag", "tied", "spherical" or Covariance, default="full"
        What the clusters' covariances may be. `Covariance` says how, and what is known of them
        beforehand. "full" has d (d + 1) / 2 numbers for each cluster; of many columns take "diag".
        Not None as elsewhere: components are never round and of one size.
    noise : None, "auto" or float between 0 and 1, default=None
        Whether rows far from all clusters belong to none, with the label -1. Noise is one more
        component, of the same density everywhere, and of this share of the rows; "auto": as large
        a share as makes them most likely. The density is one over the product of the columns'
        ranges, stretched by a tenth, without the 1% of the rows (one row at least) at either end.
        Runs start without the rows that are more than a range farther out.
    powers : None or "auto", default=None
        Whether columns are brought to powers first. "auto": each to mean 0 and deviation 1, then to
        the power of Yeo & Johnson (2000) that makes it nearest to normal, found on a sample of at
        most 10,000 rows, then to mean 0 and deviation 1 again: for skewed columns, such as incomes.
        The model keeps them for new rows. `means_`, `covariances_` and likelihoods are of the
        powers, `cluster_centers_` in the units of X.
    init : name, array, tuple or fitted estimator, default="k-means++"
        How the first centres are drawn. A name: as in `KernelKMeans`, for hard partitions of the
        rows as they are and of the rows whitened by their total covariance, from which two runs
        start; six more, from random rows, take their place only where they gain much: 0.1 of a
        log-likelihood for each row and column (of many rows on a sample first). Else one run starts
        from what is given: as in `KernelKMeans`, or (weights, means, covariances), or a fitted
        mixture, also of scikit-learn.
    n_init : int, default=1
        Starts of the hard partitions; the lowest objective is kept.
    search : "auto", "breathing", None or Search, default="auto"
        As in `KernelKMeans`, for the hard partitions.
    tol : float, default=1e-6
        Rise of the objective in a sweep, for each row (by weight), below which the run ends. Not
        1e-4 as elsewhere: likelihoods may stand for a while before they rise.
    missing : "error" or "partial", default="error"
        What to do where X has no value (NaN, empty cells of files, nulls). "error": such rows are
        refused. "partial": a row has the density of the values that are there, and the sums of a
        sweep hold what each component expects of the others, with its covariance. T and the starts
        are of rows completed by one Gaussian. A row without any value is in no cluster, with the
        label -1; `impute` completes rows, as if they were no noise. Noise has a row's density in
        the columns that it has values in.

    Attributes
    ----------
    weights_ : (c,) the components' shares p_j.
    noise_weight_, noise_membership_ : with `noise`, its share p_0, which the others lack of one,
        and (n,) what it has of each row.
    means_, cluster_centers_ : (c, d).
    covariances_ : (c, d, d); "diag": (c, d), "tied": (d, d), "spherical": (c,). 0 in columns of one
        value, which say nothing of clusters.
    precisions_, precisions_cholesky_ : as many numbers: S_j^-1, and upper triangles P_j with P_j
        P_j^T = S_j^-1.
    memberships_ : (n, c) posterior probabilities; `labels_` is their argmax.
    objective_, objective_history_ : minus the penalised log-likelihood, a weighted sum, at the end
        and after 0, 1, ... sweeps; it falls.
    lower_bound_ : the mean log-likelihood of a row, by weight, without the penalty.
    n_parameters_ : the free numbers of shares, means and covariances, which criteria count.
    steps_ : (d,) the steps in which values of a column are told, as ages in fives: the distance to
        the next value that most rows have, where a column has two rows a value or more; else 0.
        Criteria and likelihoods see such columns spread over their steps: a component on a single
        value would have a density without bound.
    n_missing_ : (d,) missing values of each column, with missing="partial" only.
    n_starts_, start_ : the runs that were followed, and where the best of them started.
    bics_ : `bic` of every number of clusters, where `n_clusters` is a range.

    All other attributes and methods are those of `KernelKMeans`; `bic`, `aic`, `icl`,
    `score_samples` and `sample` are those of mixtures.

    Notes
    -----
    Attributes and methods are called as in scikit-learn's `GaussianMixture`, whose `n_components`
    is `n_clusters` here, `covariance_type` is `covariance`, `reg_covar` is `Covariance(prior=)`,
    and `weights_init`, `means_init`, `precisions_init` are `init=(weights, means, covariances)`.
    Unlike there, rows may have weights, fits depend on no unit, and one row far out breaks none.

    Of a row whose component k is known (`fit(known_labels=)`) the objective holds -w_i ln p_k
    N(x_i; v_k, S_k); of linked rows (`must_link=`) one term for the group, -ln sum_j p_j prod_i
    N(x_i; v_j, S_j)^w_i (Shental et al. 2004). Neither goes with missing values, tails or a range
    of `n_clusters`.

    All covariances but "spherical" ones are computed in columns divided by their deviations; a
    millionth is added to the diagonal of T there.

    Raises
    ------
    ValueError
        For bad parameters, rows or weights, naming the argument, what came and what to do; for rows
        that are all equal.

    References
    ----------
    Dempster, Laird, Rubin: Maximum likelihood from incomplete data via the EM algorithm. Journal of
    the Royal Statistical Society B 39, 1977. Fraley, Raftery: Bayesian regularization for normal
    mixture estimation and model-based clustering. Journal of Classification 24, 2007. Ghahramani,
    Jordan: Supervised learning from incomplete data via an EM approach. NIPS 6, 1994 (missing
    values). Shental, Bar-Hillel, Hertz, Weinshall: Computing Gaussian mixture models with EM using
    equivalence constraints. NIPS 16, 2004. Yeo, Johnson: A new family of power transformations to
    improve normality or symmetry. Biometrika 87, 2000.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.metrics import adjusted_rand_score
    >>> from cmeans import GaussianMixture
    >>> X, kinds = load_iris(return_X_y=True)
    >>> model = GaussianMixture(3, random_state=0).fit(X)
    >>> adjusted_rand_score(kinds, model.labels_) > 0.9
    True
    """

    _has_likelihood = True
    _taken_fields = {**KernelKMeans._taken_fields, "covariance": ("prior",)}
    _together = frozenset({"covariance", "noise", 'missing="partial"'})
    kernel = Linear()
    gamma = "scale"

    covariance: CovarianceName | Covariance
    noise: Auto | float | None
    powers: Auto | None

    def __init__(
        self,
        n_clusters: int | tuple[int, int] = 8,
        *,
        covariance: CovarianceName | Covariance = "full",
        noise: Auto | float | None = None,
        powers: Auto | None = None,
        init: InitName | Any = "k-means++",
        n_init: int = 1,
        search: SearchName | Search | None = "auto",
        max_iter: int = 300,
        tol: float = 1e-6,
        missing: MissingName = "error",
        n_jobs: int | None = None,
        engine: Engine | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self._store(locals())

    @property
    def _covariance(self) -> Covariance:
        return covariance_from(self.covariance, type(self).__name__)

    def _procedure(self) -> Procedure:
        stage = StretchedClusters(
            self._covariance,
            lambda _: MixtureVolumes(df=self._covariance.df),
            partial(mixture_rule, self._covariance.df),
            given_mixture,
        )
        self._check_tails()
        if self.noise is not None:
            stage = with_noise(stage, noise_share(self.noise, type(self).__name__))
        pairs = not SHAPES[self._covariance.shape].is_diagonal
        plain = Procedure(
            lambda _: Method(Hard()),
            stages=(*self._powered(), stage, ToldInSteps()),
            space_of_holes=partial(incomplete_space, pairs=pairs),
        )
        name = type(self).__name__
        choices = numbers_to_choose(self.n_clusters, self.init, name)
        if choices is None:
            return plain
        said = f"{name}(n_clusters={self.n_clusters!r})"
        by_bic = NumberByBic(choices, self._by_sweeps, self._n_parameters, said, self._too_few)
        return replace(plain, cluster=by_bic, most_clusters=choices[-1])

    def _n_parameters(self, metrics: Metrics) -> int:
        return n_parameters(self._covariance.shape, metrics, noise=is_auto(self.noise))

    def _check_tails(self) -> None:
        """Refuse tails and rounding beside what they do not go with."""
        own, name = self._covariance, type(self).__name__
        beside = ", ".join(
            said
            for said, there in (
                (f"noise={self.noise!r}", self.noise is not None),
                ('missing="partial"', self.missing == "partial"),
            )
            if there
        )
        if beside and (own.df is not None or own.rounding is not None):
            raise ValueError(
                f"{name}(covariance={own!r}, {beside}): tails and rounding go with neither noise "
                "nor missing values so far; leave df= and rounding= out, or the other."
            )

    def _powered(self) -> tuple[PoweredFeatures, ...]:
        """Return the stage that brings columns to powers, where there is one."""
        if self.powers is None:
            return ()
        if not is_auto(self.powers):
            wanted = '{name} must be None or "auto".'
            raise ParameterError(type(self).__name__, "powers", self.powers, wanted)
        return (PoweredFeatures(),)

    def _check_init(self) -> None:
        if not is_mixture(self.init, type(self).__name__):
            super()._check_init()

    def _model_attributes(
        self, geometry: Geometry, method: Method, space: Space, state: State
    ) -> dict[str, Any]:
        found = super()._model_attributes(geometry, method, space, state)
        assert state.metrics is not None, "a mixture has metrics"
        name, live = self._covariance.shape, state.metrics.live
        factors = state.metrics.factors
        turned = factors if state.metrics.are_diagonal else np.swapaxes(factors, 1, 2)
        rule, volumes = cast(AnyMixture, method.rule), state.metrics.log_volumes
        if self._covariance.df is None:
            volumes = volumes + state.metrics.expected_errors
        sizes = volumes, len(state.metrics.live)
        weights = rule.component_weights(state.known_scales(), *sizes)
        if found.pop("noise_distance_", None) is not None:
            found["noise_weight_"] = max(1.0 - float(weights.sum()), 0.0)
        return {
            **found,
            "n_parameters_": self._n_parameters(state.metrics),
            "weights_": weights,
            "means_": space.as_points(state.centres),
            "covariances_": in_shape(state.metrics.covariances, name, live),
            "precisions_cholesky_": in_shape(turned, name, live),
            "precisions_": in_shape(found.pop("metrics_"), name, live),
        }

    n_parameters_: int
    weights_: Float64
    noise_weight_: float
    means_: Float64
    covariances_: Float64
    precisions_: Float64
    precisions_cholesky_: Float64
    lower_bound_: float
    bics_: Float64
    steps_: Float64

    @lazily
    def score_samples(self, X: Any, *, diag: Any = None) -> Float64:
        """Log-likelihood (rows,) of each row. Where values are told in steps (`steps_`), rows are
        spread over these: the mean over a few places in them, of a mixture of spread rows."""
        table = self._known_table(X, diag)
        mixtures = spread_over(vars(self).get("steps_", np.zeros(1)), self._state)
        with self._engine(table.blocks) as engine:
            rule = cast(AnyMixture, self._rule)
            parts = list(engine.map(table, LikelihoodPass(rule, mixtures)))
        return np.concatenate(parts)

    @describes_arguments
    def score(self, X: Any, y: Any = None, sample_weight: Any = None, *, diag: Any = None) -> float:
        """Mean log-likelihood of the rows, by weight."""
        values = np.asarray(self.score_samples(X, diag=diag))
        weight = _weights(sample_weight, len(values), type(self).__name__)
        return float(weight @ values / weight.sum())

    @lazily
    def impute(self, X: Any, *, diag: Any = None) -> FloatArray:
        """Rows (rows, d) with their means under the mixture, given what is there of them, in place
        of missing values. For models with missing="partial"."""
        table = self._known_table(X, diag)
        with self._engine(table.blocks) as engine:
            return np.concatenate(list(engine.map(table, ImputePass(self._state))))

    @describes_arguments
    def bic(self, X: Any, sample_weight: Any = None) -> float:
        """Return Schwarz's criterion, the lower the better: -2 log-likelihood +
        `n_parameters_` ln n, where n is the sum of the weights."""
        return self._deviance(X, sample_weight, math.log)

    @describes_arguments
    def aic(self, X: Any, sample_weight: Any = None) -> float:
        """Return Akaike's criterion, the lower the better: -2 log-likelihood + 2
        `n_parameters_`."""
        return self._deviance(X, sample_weight, lambda _: 2.0)

    @describes_arguments
    def icl(self, X: Any, sample_weight: Any = None) -> float:
        """Return the integrated completed likelihood as `bic` has it (Biernacki, Celeux, Govaert
        2000), the lower the better: `bic` + twice the entropy of the posteriors."""
        u = np.asarray(self.predict_proba(X), np.float64)
        noise = np.maximum(1.0 - u.sum(axis=1, keepdims=True), 0.0)
        u = u if self._rule.noise_distance is None else np.hstack([u, noise])
        entropy = -np.sum(u * np.log(np.where(u > 0, u, 1.0)), axis=1)
        weight = _weights(sample_weight, len(u), type(self).__name__)
        return self.bic(X, sample_weight) + 2.0 * float(weight @ entropy)

    def _deviance(self, X: Any, sample_weight: Any, price: Callable[[float], float]) -> float:
        values = np.asarray(self.score_samples(X))
        weight = _weights(sample_weight, len(values), type(self).__name__)
        return -2.0 * float(weight @ values) + self.n_parameters_ * price(float(weight.sum()))

    def sample(self, n_samples: int = 1) -> tuple[FloatArray, Labels]:
        """Draw rows from the components of the mixture, none of noise.

        Parameters
        ----------
        n_samples : int, default=1
            Number of rows.

        Returns
        -------
        X : (n_samples, d), cluster after cluster.
        y : (n_samples,) their clusters.

        Raises
        ------
        ValueError
            If `n_samples` is no whole number of at least 1.

        Examples
        --------
        >>> from cmeans import GaussianMixture
        >>> model = GaussianMixture(1, random_state=0).fit([[0.0], [1.0], [2.0]])
        >>> model.sample(5)[0].shape
        (5, 1)
        """
        check_is_fitted(self)
        n = integer(n_samples, "n_samples", f"{type(self).__name__}.sample", 1)
        rng = check_random_state(self.random_state)
        assert self._state.metrics is not None, "a mixture has metrics"
        metrics, live = self._state.metrics, self._state.metrics.live
        counts, parts = rng.multinomial(n, self.weights_ / self.weights_.sum()), []
        for factor, mean, count in zip(metrics.factors, self.means_, counts, strict=True):
            away, normal = np.zeros((count, len(mean))), rng.standard_normal((count, len(live)))
            if metrics.are_diagonal:
                away[:, live] = normal / factor[live]
            else:
                away[:, live] = np.linalg.solve(factor[live[:, None], live], normal.T).T
            if self._covariance.df is not None:  # normal rows over the root of a mean square
                df = self._covariance.df
                away /= np.sqrt(rng.chisquare(df, count) / df)[:, None]
            parts.append(mean + away)
        rows = np.concatenate(parts)
        rows = rows if self._powers is None else self._powers.inverse(rows)
        return rows, np.repeat(np.arange(len(counts)), counts)


def _weights(sample_weight: Any, n: int, estimator_name: str) -> Float64:
    weight, unit = read_weights(sample_weight, n, estimator_name)
    return weight * unit
