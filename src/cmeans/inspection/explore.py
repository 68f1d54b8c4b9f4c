"""A page to explore clusters with: one file for any browser, without a network."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from scipy import sparse

from ..data.arrays import Float64, IntArray, is_sparse
from ..fitting.seen_rows import KnowsOthers
from ..runtime.checks import integer, one_of
from ..runtime.numerals import several
from .directions import Plane, plane_of
from .exploration import CALLER, Exploration
from .page.contents import short
from .page.document import check_page
from .page.findings import Findings
from .page.others import Others, candidates_of, numbers_around, others_of, rows_of_page
from .page.partition import ShownPartition
from .page.record import PageRows
from .report import THEMES, page_text
from .rows import InspectedRows, inspected, named_features
from .steps import last_step

MOST_ROWS = 500_000  # of a page


def explore(
    model: Any,
    X: Any = None,
    path: str | os.PathLike[str] | None = None,
    *,
    feature_names: Any = None,
    ids: Sequence[Any] | None = None,
    texts: Sequence[str] | None = None,
    coordinates: Any = None,
    against: Any = None,
    n_clusters: Sequence[int] | None = None,
    sample_weight: Any = None,
    diag: Any = None,
    inverse_transform: Callable[[Any], Any] | None = None,
    title: str = "Clusters",
    theme: str = "auto",
    findings: Findings | None = None,
    max_rows: int = MOST_ROWS,
) -> Exploration:
    """Make a page to explore the clusters of a model with: one file for any browser, without a
    network. A notebook shows it in its cell. `cmeans.explore` makes one of rows alone, too.

    It has the rows in a picture to zoom, to move and to draw around; cards of the clusters, whose
    names can be written; other numbers of clusters beside their evidence; a search for rows, and
    files to hand on.

    Parameters
    ----------
    model : a fitted estimator of this library, `AutoClustering` too, a pipeline that ends in one,
        what `select` returned, or a list or a dict by name of several, which stand side by side.
    X : rows as its `predict` takes them: those of the fit, or others; files too.
    path : str or path, default=None
        The file to write, .html. None: none.
    feature_names : d names, default=None: those of the fit, or numbers.
    ids : (n,) of the rows, default=None: their numbers. They are texts on the page, to the letter.
    texts : (n,) default=None
        What the rows say, if they are texts: cards then show terms and typical texts.
    coordinates : (n, 2), or a dict of such by name, default=None
        Further planes to draw the rows in, such as those of UMAP. Rows without a place hold NaN.
    against : rows as X, default=None
        Others to show beside, such as those of the month after.
    n_clusters : numbers, default=None: some around the model's
        Numbers of clusters to show besides: the model is fitted again for each, to at most 4,000
        of the rows. Connected pieces know theirs without, communities have their layers. (): none.
    sample_weight, diag, inverse_transform, title, theme, findings : as for `report`.
    max_rows : int, default=500,000
        Rows of the page; of more as many, evenly spaced. Of more than 100,000 as many are drawn
        one by one, over a shading that counts all.

    Returns
    -------
    Exploration

    Raises
    ------
    ValueError
        For a model or rows that are none, and for names or coordinates of other rows.
    ImportError
        Without jinja2, which `pip install "cmeans[report]"` brings.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from cmeans import KernelKMeans
    >>> from cmeans.inspection import explore
    >>> X = load_iris().data
    >>> page = explore(KernelKMeans(3, kernel="linear", random_state=0).fit(X), X)
    >>> page
    Exploration(150 rows, 5 partitions, not saved; .save(path) writes it)
    >>> page.state("view=own&name.own.0=Small").names
    {0: 'Small'}
    """
    one_of(theme, "theme", CALLER, THEMES)
    if path is not None:
        check_page(path, "path", CALLER)
    (name, first), *more = _models(model)
    if hasattr(first, "estimator") and hasattr(first, "table"):  # what select returned
        findings = replace(findings or Findings(), selection=first)
        first = first.estimator
    if X is None:
        raise ValueError(
            f"{CALLER}: X is None; pass a model and the rows to look at, {CALLER}(model, X). Of "
            "rows alone cmeans.explore(X) makes a page."
        )
    rows, sets = (X, None) if against is None else _together(X, against)
    words = {
        "sample_weight": sample_weight,
        "diag": diag,
        "most": integer(max_rows, "max_rows", CALLER, 1),
        "inverse_transform": inverse_transform,
    }
    last = best_of(first)
    seen = inspected(last, rows, CALLER, **words)
    made = exploration_of(
        last,
        seen,
        feature_names=feature_names,
        ids=ids,
        texts=texts,
        coordinates=coordinates,
        sets=sets,
        n_clusters=n_clusters,
        choice=first,
        name=name if more else "",
        more=_of_models(more, rows, seen, words),
        title=title,
        theme=theme,
        findings=findings,
    )
    if path is not None:
        made.save(path)
    return made


def best_of(model: Any) -> Any:
    """Return the estimator that a choice by evidence ended in; any other model as it is."""
    return vars(model).get("best_estimator_", model)


def exploration_of(
    model: Any,
    seen: InspectedRows,
    *,
    feature_names: Any = None,
    ids: Sequence[Any] | None = None,
    texts: Sequence[str] | None = None,
    coordinates: Any = None,
    sets: IntArray | None = None,
    set_names: Sequence[str] = ("X", "The other rows"),
    n_clusters: Sequence[int] | None = None,
    choice: Any = None,
    name: str = "",
    names: tuple[str, ...] = (),
    more: Sequence[ShownPartition] = (),
    title: str = "Clusters",
    theme: str = "auto",
    findings: Findings | None = None,
) -> Exploration:
    """Return the page of a model and rows that have been looked at.

    `choice`: the choice by evidence that ended in the model, with its candidates; `name` of the
    model, where there are `more` beside it; `names` of its clusters, none: by what they are like;
    `sets`: (n,) which of two sets, named `set_names`, each row is of.
    """
    others = _others(model, choice, seen, n_clusters)
    own = ShownPartition("own", _called(seen, name), seen, others.own, names=names)
    found = sorted(
        [own, *others.partitions], key=lambda one: (not one.in_series, one.seen.n_clusters)
    )
    found += more
    page = PageRows(
        seen,
        tuple(map(short, named_features(feature_names, seen, CALLER))),
        {"The plane of the centres": plane_of(seen), **_planes(coordinates, seen)},
        found,
        next(at for at, one in enumerate(found) if one is own),
        ids=_of_rows(ids, "ids", seen),
        texts=_of_rows(texts, "texts", seen),
        sets=None if sets is None else sets[seen.numbers],
        set_names=[short(name, 40) for name in set_names],
        evidence=others.evidence,
    )
    words = {"candidates": _candidates(choice)}
    text = page_text(CALLER, model, page, title, theme, findings or Findings(), **words)
    return Exploration(text, {one.key: one.seen.labels for one in found}, seen.numbers, own.key)


def _models(model: Any) -> list[tuple[str, Any]]:
    """Return models by name, of one or several."""
    if isinstance(model, Mapping):
        return [(str(name), one) for name, one in model.items()]
    if isinstance(model, list | tuple):
        return [(f"{type(one).__name__} {k}", one) for k, one in enumerate(model, 1)]
    return [("", model)]


def _called(seen: InspectedRows, name: str) -> str:
    number = several(seen.n_clusters, "cluster")
    return f"{short(name, 40)}: {number}" if name else number


def _of_models(
    more: Sequence[tuple[str, Any]], rows: Any, seen: InspectedRows, words: Mapping[str, Any]
) -> list[ShownPartition]:
    """Return the partitions of further models, of the same rows."""
    found = []
    for number, (name, model) in enumerate(more, 2):
        other = inspected(best_of(model), rows, CALLER, **words)
        shown = rows_of_page(other, seen)
        found.append(ShownPartition(f"model{number}", _called(other, name), shown, in_series=False))
    return found


def _others(
    model: Any, choice: Any, seen: InspectedRows, n_clusters: Sequence[int] | None
) -> Others:
    """Return the partitions beside the model's own."""
    numbers = numbers_around(seen.n_clusters) if n_clusters is None else list(n_clusters)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of numbers that nobody has chosen
        step, _ = last_step(model, None)
        others = others_of(step, seen, numbers, CALLER) if numbers else Others([], "")
        if choice is model or not isinstance(choice, KnowsOthers) or seen.taken is None:
            return others
        beside = candidates_of(choice, seen)
    return replace(others, partitions=[*others.partitions, *beside])


def _together(X: Any, against: Any) -> tuple[Any, IntArray]:
    """Return two sets of rows as one, and of which set each is."""
    if is_sparse(X):
        rows: Any = sparse.vstack([X, against]).tocsr()
    else:
        rows = np.concatenate([np.asarray(X), np.asarray(against)])
    if rows.shape[0] == X.shape[0]:
        raise ValueError(f"{CALLER}(against=...): has no rows to show beside the others.")
    return rows, np.repeat([0, 1], [X.shape[0], rows.shape[0] - X.shape[0]])


def _of_rows(values: Sequence[Any] | None, argument: str, seen: InspectedRows) -> list[str] | None:
    """Return what belongs to the rows of the page, as texts."""
    if values is None:
        return None
    if len(values) != seen.n_rows:
        raise ValueError(
            f"{CALLER}({argument}=...): {len(values)} for {seen.n_rows} rows; give one for each."
        )
    listed = list(values)
    return [str(listed[number]) for number in seen.numbers]


def _planes(coordinates: Any, seen: InspectedRows) -> dict[str, Plane]:
    """Return planes of coordinates that are given."""
    if coordinates is None:
        return {}
    given = coordinates if isinstance(coordinates, Mapping) else {"Own coordinates": coordinates}
    return {short(name): _plane(name, values, seen) for name, values in given.items()}


def _plane(name: Any, values: Any, seen: InspectedRows) -> Plane:
    places: Float64 = np.asarray(values, dtype=np.float64)
    if places.shape != (seen.n_rows, 2):
        raise ValueError(
            f"{CALLER}(coordinates=...): {name!r} has shape {places.shape}; give "
            f"({seen.n_rows}, 2), a place for each row."
        )
    places = places[seen.numbers]
    places[~np.isfinite(places).all(axis=1)] = np.nan
    axes = (f"{short(name)}, first axis", f"{short(name)}, second axis")
    return Plane(places, np.empty((0, 2)), axes)


def _candidates(choice: Any) -> dict[str, Any] | None:
    """Return the table of the candidates of a choice by evidence, and what is said of it."""
    evidence = getattr(choice, "evidence_", None)
    if evidence is None:
        return None
    return {
        "head": ["space", "clusters", "score", "agreement", "stability", "row visits", "verdict"],
        "rows": [one.cells for one in evidence.candidates],
        "sentences": evidence.sentences,
    }
