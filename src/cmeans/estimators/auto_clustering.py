"""Clusters by one call: the space and the number of clusters are chosen by evidence."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, ClassVar, Literal, Self, get_args

import numpy as np
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from ..data.arrays import IntArray
from ..data.blocks import mapped
from ..data.outputs import FloatArray, Labels
from ..engines import Engine
from ..evidence.kind import kind_of
from ..evidence.near_rows import NearRows
from ..evidence.record import Evidence
from ..fitting.arguments import Auto, MissingName, check_engine
from ..fitting.attribute_names import restored_on_failure
from ..fitting.seen_rows import OtherPartition
from ..fitting.validation import checked_random_state, read_rows
from ..runtime.checks import number_bounds, one_of, real
from ..runtime.docstrings import describes_arguments
from ..runtime.progress import trials
from ..runtime.user_warnings import naming
from ..solvers.observer import FitRecord
from ..storage.row_writer import Written
from .auto_candidates import CandidatePartitions
from .auto_choice import MOST, AutoChoice
from .auto_holes import filled_rows
from .auto_notes import completed
from .auto_rows import SCALERS, JudgedRows, in_their_span, judged_rows
from .auto_spaces import SamplePartitions, SpaceWords, check_candidates, spaces_that_may_win
from .fits_to_all import FitsToAll
from .placed_clustering import WholeClustering

BUDGET = 1e8  # row visits: some ten seconds of one processor


class AutoClustering(WholeClustering):
    """Clusters whose space and number are chosen by evidence, and an ordinary estimator of them.

    Use it when you do not know what your clusters are like, or how many there are: it looks for
    round clusters, stretched ones, cuts of a graph, connected pieces and communities, tells which
    of them the rows speak for, and fits that. `evidence_` says why; `best_estimator_` is what you
    go on with.

    Parameters
    ----------
    n_clusters : "auto", int or (least, most), default="auto"
        Number of clusters. "auto": as the rows say; it may be one. Of two numbers: as the rows say
        among these. Not 8 as elsewhere: the number is a result.
    candidates : "auto" or list of str, default="auto"
        The spaces that may win: "plain" (`KernelKMeans(kernel="linear")`), "covariances"
        (`GaussianMixture`), "graph" (`KernelKMeans(kernel="landmark_graph")`), "pieces"
        (`ConnectivityClustering`), "communities" (`ModularityClustering`), "consensus"
        (`ConsensusClustering`). A name after "not " is left out of those of "auto": the first four
        of up to 3 columns; of up to 60, which are taken for a table, the consensus of eight
        mixtures too; of more communities in place of covariances.
    budget : float, default=1e8
        Row visits that the choice may take, by a table of costs: what it has no room for is left
        out before anything starts, so that results are the same on every machine. `evidence_` says
        what that is.
    scaling : "auto", "none", "unit", "standard", "robust" or "log", default="auto"
        What is done to the columns first. Not "range" as elsewhere: units are part of the evidence.
        "auto": ranges of 1 where those of columns differ more than ten times (quartiles where a few
        rows are far out), "log" where a quarter have long tails that it levels, else nothing.
        "log": logarithms of columns with long tails alone (`LogTransformer`), then "standard".
    missing : "error" or "partial", default="error"
        "partial": values of X may be NaN. Rows without are judged, or, where a quarter has some,
        all, filled with means of their nearest rows; the fit takes all as they are. Pieces, graphs
        and communities are no candidates then.
    time_limit : float or None, default=None
        Seconds after which the choice ends with the best until then. Results then depend on the
        machine; None: they never do.
    n_jobs : int or None, default=None
        Threads; None: every usable CPU. It never changes results. An engine counts its own.
    engine : Engine or None, default=None
        Who runs the passes over all rows; None: threads of this process.
    random_state : int, RandomState or None, default=0
        Seed of the sample and of the fits. Not None as elsewhere: one call, one answer.

    Attributes
    ----------
    best_estimator_ : the fitted estimator; where columns were scaled, a `Pipeline` with the scaler.
    evidence_ : `Evidence` of the choice: prints as a table.
    n_clusters_, labels_ : of `best_estimator_`, and so are all other fitted attributes.
    stop_reason_ : why the choice ended.

    Notes
    -----
    Up to 3,000 rows are judged, of more a sample of 3,000 by weight, and rows that are far from it.
    Columns of few values, such as counts, are spread over the steps between these to be judged, and
    pieces and graphs, which would find the values themselves, left out where another space is a
    candidate; the fit sees the rows as they are.

    Number given: the partition that divides the fewest near rows wins, with a tenth for agreement
    with the others; of tables the consensus of mixtures, or covariances where the budget has no
    room for it, unless connected pieces stand apart. Number unknown: the gains of
    connected pieces drop after the number of clusters that stand apart; where they drop less than
    three times, partitions into too many clusters are joined across shallow valleys, and what most
    of them end in is the answer; outside tables the space whose partition is most like it wins.

    `cmeans.save` writes `best_estimator_`, and the evidence as text among the file's metadata.

    Where no clusters are found, `n_clusters_` is 1, and `evidence_.partition` holds those that
    there would be.

    Raises
    ------
    ValueError
        For bad parameters, rows or weights, naming the argument, what came and what to do.

    References
    ----------
    Draganov, Beer, Hermes, Assent: I want 'em all (at once): ultrametric cluster hierarchies.
    NeurIPS 2025, arXiv 2502.14018. Levina, Bickel: Maximum likelihood estimation of intrinsic
    dimension. NIPS 2004.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from cmeans import AutoClustering
    >>> X, moons = make_moons(400, noise=0.05, random_state=0)
    >>> model = AutoClustering().fit(X)
    >>> model.n_clusters_
    2
    >>> bool((model.labels_ == moons).mean() in (0.0, 1.0))
    True
    """

    _own_evidence = "evidence_"
    _taken_fields: ClassVar[dict[str, tuple[str, ...]]] = {}
    best_estimator_: Any
    evidence_: Evidence
    memberships_: FloatArray  # of `best_estimator_`

    def __init__(
        self,
        n_clusters: int | Auto | tuple[int, int] = "auto",
        *,
        candidates: Auto | list[str] = "auto",
        budget: float = BUDGET,
        scaling: Literal["auto", "none", "unit", "standard", "robust", "log"] = "auto",
        missing: MissingName = "error",
        time_limit: float | None = None,
        n_jobs: int | None = None,
        engine: Engine | None = None,
        random_state: Any = 0,
    ) -> None:
        self.n_clusters = n_clusters
        self.candidates = candidates
        self.budget = budget
        self.scaling = scaling
        self.missing = missing
        self.time_limit = time_limit
        self.n_jobs = n_jobs
        self.engine = engine
        self.random_state = random_state

    @describes_arguments
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Choose, and find the clusters of X.

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
        with restored_on_failure(self, FitRecord()), naming(type(self).__name__):
            evidence, fits, reason = self._chosen(X, sample_weight)
            self.evidence_, self.stop_reason_ = evidence, reason
            space = "plain" if evidence.n_clusters == 1 else evidence.space
            self._scalers, self._last = fits.scalers, fits.last(space, evidence.n_clusters)
            self.best_estimator_ = self._pipeline()
        return self

    @describes_arguments
    def choose(self, X: Any, sample_weight: Any = None) -> Evidence:
        """Choose, without the fit to all rows that comes after it.

        Parameters
        ----------
        X, sample_weight : as for `fit`.

        Returns
        -------
        evidence : what `evidence_` is after a fit.
        """
        return self._choose(X, sample_weight)[0]

    def _choose(
        self, X: Any, sample_weight: Any, estimator: Callable[[str, int], Any] | None = None
    ) -> tuple[Evidence, FitsToAll]:
        """Return the evidence, and the fits to all rows that it needed, which are those of other
        estimators where `estimator` makes them."""
        with naming(type(self).__name__):
            return self._chosen(X, sample_weight, estimator)[:2]

    def _chosen(
        self, X: Any, sample_weight: Any, estimator: Callable[[str, int], Any] | None = None
    ) -> tuple[Evidence, FitsToAll, str]:
        """Return the evidence, the fits to all rows that it may need, and why the choice ended."""
        started, name = time.monotonic(), type(self).__name__
        least, most = number_bounds(self.n_clusters, name)
        self._check()
        given, blocks = self._rows_to_fit(X, sample_weight)
        seed = checked_random_state(self.random_state, name).randint(2**31 - 1)
        filled = filled_rows(blocks, given.names, name) if given.holes else None
        some = blocks if filled is None else self._blocks(filled.x, filled.weights)
        with self._engine(some) as engine:
            judged = judged_rows(some, self.scaling, engine, seed)
        if filled is not None:  # whose numbers are not those of all rows
            judged = replace(judged, numbers=None, far=None, holes=True, note=filled.said)
        rows = X if not judged.scalers else mapped(given.x, judged.scaled)
        words = SpaceWords(self.n_jobs, seed)

        def own(space: str, number: int) -> Any:
            found = words.estimator(space, number, blocks.n_rows).set_params(engine=self.engine)
            return found.set_params(missing=self.missing) if judged.holes else found

        fits = FitsToAll(rows, sample_weight, estimator or own, judged.scalers)
        choice = self._choice(judged, least, most, seed, started)
        if judged.numbers is not None:
            choice.partitions.whole = partial(fits.labels, judged.numbers)
        with warnings.catch_warnings(), trials(choice.most_trials) as ended:
            warnings.simplefilter("ignore")  # of trials; the last fit warns for itself
            choice.partitions.ended = ended
            evidence = choice.choose()
        words = replace(words, least_piece=choice.least_piece)
        evidence = completed(evidence, judged, choice, most, fits, name)
        return evidence, fits, choice.stop_reason

    @describes_arguments
    def predict(self, X: Any) -> Labels:
        """Return labels (rows,) of rows, new ones too: those of `best_estimator_`."""
        found: Labels = self._answer("predict", X)
        return found

    @describes_arguments
    def memberships(self, X: Any) -> FloatArray:
        """Return memberships (rows, c) of rows, new ones too: those of `best_estimator_`."""
        found: FloatArray = self._answer("memberships", X)
        return found

    @describes_arguments
    def transform(self, X: Any) -> FloatArray:
        """Return distances (rows, c) of rows, new ones too, to the clusters."""
        found: FloatArray = self._answer("transform", X)
        return found

    @describes_arguments
    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """Return the score of rows: that of `best_estimator_`, which no other space compares
        with."""
        return float(self._answer("score", X, sample_weight=sample_weight))

    @describes_arguments
    def outlier_score(self, X: Any) -> FloatArray:
        """Return how far rows (rows,) are from all clusters, as `best_estimator_` says it."""
        found: FloatArray = self._answer("outlier_score", X)
        return found

    def representatives(self, k: int = 1) -> IntArray:
        """Return row numbers (c, k) of the rows of the fit that stand for each cluster."""
        check_is_fitted(self, "best_estimator_")
        found: IntArray = self._last.representatives(k)
        return found

    def _write_rows(self, X: Any, out: Any, written: Written, **asked: Any) -> IntArray:
        words = dict(zip(("memberships", "top_k", "threshold"), written, strict=True))
        counts: IntArray = self._answer("predict_to", X, out, **words, **asked)
        return counts

    def __getattr__(self, name: str) -> Any:
        """Return a fitted attribute of `best_estimator_`."""
        last = vars(self).get("_last")
        if last is None or name.startswith("_") or not name.endswith("_"):
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        return getattr(last, name)

    @property
    def _saved(self) -> Any:
        """The model that a model file holds in its place."""
        return self.best_estimator_

    @property
    def _noted(self) -> dict[str, list[str]]:
        """Facts that stand beside that, for readers."""
        return {"evidence": str(self.evidence_).splitlines()}

    def _answer(self, method: str, X: Any, *given: Any, **words: Any) -> Any:
        check_is_fitted(self, "best_estimator_")
        if self._scalers:
            X = mapped(read_rows(self, X, fitting=False).x, self._scaled)
        return getattr(self._last, method)(X, *given, **words)

    def _scaled(self, x: Any) -> Any:
        for scaler in self._scalers:
            x = scaler.transform(x)
        return x

    _other_evidence = CandidatePartitions._other_evidence

    def _other_partitions(self, X: Any, numbers: Sequence[int]) -> Iterator[OtherPartition]:
        """Yield the candidates' partitions of rows X, as the last step of `best_estimator_` takes
        them."""
        jobs = self.n_jobs if self.engine is None else None
        return CandidatePartitions(self.evidence_, jobs)._other_partitions(X, numbers)

    def _pipeline(self) -> Any:
        """Return the estimator behind the scalers, if there are any."""
        if not self._scalers:
            return self._last
        steps = [(type(scaler).__name__.lower(), scaler) for scaler in self._scalers]
        return Pipeline([*steps, ("clusters", self._last)])

    def _choice(
        self, judged: JudgedRows, least: int, most: float, seed: int, started: float
    ) -> AutoChoice:
        """Return the choice that is to be made."""
        kind = kind_of(judged.x.shape[1])
        deadline = np.inf if self.time_limit is None else started + float(self.time_limit)
        words = SpaceWords(self.n_jobs if self.engine is None else None, seed)
        over = MOST if least != most else least
        x = in_their_span(judged.x)
        partitions = SamplePartitions(x, judged.weights, words, over, deadline)
        wider = partitions
        if judged.more[0] is not judged.x:
            wider = SamplePartitions(*judged.more, words, over, deadline)
        near = NearRows.of(x, judged.weights)
        kinds = kind, bool(judged.stepped), judged.holes
        candidates = spaces_that_may_win(self.candidates, *kinds, type(self).__name__)
        return AutoChoice(
            near, partitions, wider, candidates, kind, float(self.budget), least, most
        )

    def _check(self) -> None:
        """Refuse parameters that are invalid for all rows."""
        name = type(self).__name__
        check_engine(self)
        real(self.budget, "budget", name, above=True)
        one_of(self.scaling, "scaling", name, ("auto", *SCALERS))
        one_of(self.missing, "missing", name, get_args(MissingName))
        if self.time_limit is not None:
            real(self.time_limit, "time_limit", name, above=True, others="None or ")
        check_candidates(self.candidates, name)


@describes_arguments
def cluster(
    X: Any,
    n_clusters: int | Auto | tuple[int, int] = "auto",
    *,
    candidates: Auto | list[str] = "auto",
    budget: float = BUDGET,
    sample_weight: Any = None,
    **words: Any,
) -> AutoClustering:
    """Find the clusters of X, and say why these: `AutoClustering(...).fit(X)`.

    Parameters
    ----------
    X, sample_weight : as `AutoClustering.fit` takes them.
    n_clusters, candidates, budget : as of `AutoClustering`.
    **words : its other parameters.

    Returns
    -------
    model : `AutoClustering`, fitted.

    Examples
    --------
    >>> import cmeans
    >>> from sklearn.datasets import make_blobs
    >>> X, y = make_blobs(300, centers=[[0, 0], [9, 0], [0, 9]], random_state=0)
    >>> model = cmeans.cluster(X)
    >>> model.n_clusters_
    3
    >>> print(model.evidence_)  # doctest: +ELLIPSIS
    space...
    """
    model = AutoClustering(n_clusters, candidates=candidates, budget=budget, **words)
    return model.fit(X, sample_weight=sample_weight)
