"""The method and the number of clusters of `cmeans fit` where neither is given: by evidence."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import scipy.sparse
from sklearn.metrics import adjusted_rand_score

from ..data.recipe.scaling import some_rows
from ..data.recipe.table_recipe import TableRecipe
from ..estimators.auto_clustering import AutoClustering
from ..estimators.auto_holes import TooFewWholeRowsError
from ..evidence.record import Evidence
from ..fitting.rows.finite import without_partial
from .errors import InputError
from .fit_request import FitRequest, check_request
from .fit_rows import PARTIAL, prepared_rows, with_front
from .fitting import model_of
from .methods import METHODS
from .option_names import option_of
from .output.terminal import Screen
from .rows import InputRows

CHOSEN = "auto"  # where no method is given
# spaces that win, as methods and parameters of the command
AS_METHODS: dict[str, tuple[str, dict[str, Any]]] = {
    "plain": ("hard", {"kernel": "linear"}),
    "graph": ("hard", {"kernel": "landmark_graph"}),
    "covariances": ("gaussian", {}),
    "pieces": ("connected", {}),
    "communities": ("communities", {}),
    "consensus": ("consensus", {}),
}
OF_MIXTURES = ("covariances", "consensus")
KEPT = 0.5  # adjusted Rand index from which on clusters are those of the evidence
TAKEN = ("n_clusters", "random_state", "n_jobs", "memory_budget", "missing")


def with_choice(request: FitRequest, screen: Screen) -> FitRequest:
    """Return the request with the method and the number of clusters that the rows speak for."""
    return choice_of(request, screen)[0]


def choice_of(request: FitRequest, screen: Screen) -> tuple[FitRequest, Evidence]:
    """Return the request with the method and the number of clusters that the rows speak for, and
    the evidence that says so."""
    for word in request.words:
        if word not in TAKEN:
            raise InputError(
                f"{option_of(word)}: belongs to a method; give one by --method, and the number of "
                "clusters by -c."
            )
    if request.plan or request.scheduler is not None:
        raise InputError("--plan, --engine dask: give the number of clusters, e.g. -c 3.")
    able = _able(request, AS_METHODS)
    plain = _as_method(request, "plain" if "plain" in able else able[0], 1)
    with warnings.catch_warnings(), without_partial("missing" in METHODS[plain.method].parameters):
        warnings.simplefilter("ignore")  # what is told of the table is told by the fit
        reading, front = with_front(plain, METHODS)
        rows, recipe = prepared_rows(reading, front, screen, stays=False)
    whole = not rows.stay and (scipy.sparse.issparse(rows.x) or not np.isnan(rows.x).any())
    holes = reading.words.get("missing") == PARTIAL and not whole
    if holes:
        able = _able(replace(request, words=request.words | {"missing": PARTIAL}), AS_METHODS)
    if rows.stay:  # which eight mixtures would read hundreds of times
        able = [space for space in able if space != "consensus"] or able
    x, weight, beside = _judged(rows, recipe)
    known = (request.checkpoint, request.known_labels, request.must_link)
    is_fit = x is rows.x and not rows.stay and known == (None, None, None)
    model = AutoClustering(
        request.words.get("n_clusters", "auto"),
        candidates=[f"not {space}" for space in AS_METHODS if space not in able] or "auto",
        missing="partial" if holes else "error",
        scaling="none",  # they are scaled by the recipe of their table
        random_state=request.words.get("random_state", 0),
    )
    with warnings.catch_warnings(), screen.progress(0.0):
        warnings.simplefilter("ignore")  # the evidence says it
        # trials that see the rows as the fit does are fits of the command, and the winner is kept
        try:
            evidence, fits = model._choose(
                x, weight, (lambda *one: model_of(_as_method(request, *one))) if is_fit else None
            )
        except TooFewWholeRowsError as error:
            columns = [str(name) for name in rows.columns if str(name) not in recipe.indicators]
            raise InputError(
                "--clusters: too few rows have no empty cell to choose by them; give the number "
                "and the method, e.g. -c 3 --method gaussian, or --columns without those that are "
                f"mostly empty, such as {columns[error.column]!r}."
            ) from error
    scaled = f"columns scaled by --scale {recipe.scaling.kind}"
    evidence = replace(evidence, scaling=scaled)
    for line in str(evidence).splitlines():
        screen.say(line)
    number, space = evidence.n_clusters, evidence.space
    if number == 1 and "plain" in able:
        space = "plain"
    elif beside is not None and space != "plain":
        taken = [each for each in (space, "plain") if each in able and each not in OF_MIXTURES]
        trials = {each: model_of(_as_method(request, each, number)) for each in taken}
        if trials:
            judged = fits.labels(slice(None), space, number)
            space = _beside_categories(trials, beside, weight, judged, space, screen)
    fitted = fits.made.get((space, number)) if is_fit else None
    return _as_method(replace(request, front=front, fitted=fitted), space, number), evidence


def _as_method(request: FitRequest, space: str, number: int) -> FitRequest:
    method, own = AS_METHODS[space]
    return replace(request, method=method, words=request.words | own | {"n_clusters": number})


def _able(request: FitRequest, spaces: Mapping[str, Any]) -> list[str]:
    """Return the spaces whose method takes all options that are given."""
    able, wrong = list[str](), list[ValueError]()
    for space in spaces:
        asked = replace(_as_method(request, space, 1), names=())  # whose number is not known yet
        try:
            check_request(asked, METHODS[asked.method])
            able.append(space)
        except ValueError as error:  # of the command, or of the method's estimator
            wrong.append(error)
    if not able:
        raise wrong[0]
    return able


def _judged(rows: InputRows, recipe: TableRecipe) -> tuple[Any, Any, Any]:
    """Return rows that speak for all, and their weights: without the zeros and ones of categories,
    which look like clusters by themselves; and the same rows with these, if there are any."""
    weight = rows.weight
    numeric = ~np.isin(list(map(str, rows.columns)), list(recipe.indicators))
    if scipy.sparse.issparse(rows.x) or numeric.all() or not numeric.any():
        return rows.x, None if rows.stay else weight, None
    x, numbers = some_rows(rows.x)
    return x[:, numeric], None if weight is None else weight[numbers], x


def _beside_categories(
    trials: Mapping[str, Any], x: Any, weight: Any, known: Any, space: str, screen: Screen
) -> str:
    """Return the space in which a fit of rows with their categories keeps most of the clusters that
    were found without these; `known`: their labels. Tell where it is another, or keeps little."""
    kept = dict[str, float]()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the fit to all rows says it
        for each, model in trials.items():
            labels = model.fit(x, sample_weight=weight).labels_
            kept[each] = float(adjusted_rand_score(known, labels))
    best = max(kept, key=lambda each: kept[each])  # of equal ones, that of the evidence
    if best != space:
        screen.say(
            f"fitted by --method {AS_METHODS[best][0]}: with the categories it keeps most of these "
            f"clusters (adjusted Rand index {kept[best]:.2f})"
        )
    if kept[best] < KEPT:
        screen.say(
            "with the categories, clusters are others than those of the evidence, which judges "
            f"numbers alone (adjusted Rand index {kept[best]:.2f}); --column-weight gives columns "
            "less weight"
        )
    return best
