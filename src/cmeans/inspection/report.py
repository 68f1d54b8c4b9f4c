"""A report: one self-contained page of what was found, for people."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from ..runtime.checks import one_of
from ..runtime.numerals import several
from .directions import plane_of
from .page.contents import contents, short
from .page.document import check_page, document, write_page
from .page.findings import Findings
from .page.partition import ShownPartition
from .page.record import PageRows, record
from .rows import InspectedRows, inspected, named_features

CALLER = "report"
THEMES = ("auto", "light", "dark")


def report(
    model: Any,
    X: Any,
    out: str | os.PathLike[str],
    *,
    feature_names: Any = None,
    row_names: Sequence[Any] | None = None,
    sample_weight: Any = None,
    diag: Any = None,
    inverse_transform: Callable[[Any], Any] | None = None,
    title: str = "Clusters",
    theme: str = "auto",
    findings: Findings | None = None,
) -> Path:
    """Write a page that shows the clusters of a fitted model: one file, to be opened by any
    browser, without a network.

    It has the rows in a picture (hover a row, switch clusters off, hide rows of small membership),
    sizes, memberships and silhouettes of the clusters, their means over the columns, the columns
    that set them apart, rules that tell them, the rows between clusters and those of none, the
    certificate of landmarks, warnings, and how to do it again.

    Parameters
    ----------
    model : a fitted estimator of this library, or a scikit-learn pipeline that ends in one, of
        which the columns that go in are shown.
    X : rows as its `predict` takes them: those of the fit, or others; files too. Of more than
        50,000 as many, evenly spaced, are looked at.
    out : str or path, the file, .html; it is there when all of it is, or not at all.
    feature_names : d names, default=None: those of the fit, or numbers.
    row_names : (n,) names of the rows, default=None: their numbers.
    sample_weight : (n,) non-negative numbers; a weight of k counts as k copies of the row.
    diag : (n,) k(x, x), for precomputed kernels, as for `predict`.
    inverse_transform : function of rows as the model takes them, default=None
        Brings them to the units to show, such as a scaler's `inverse_transform`.
    title : str
    theme : "auto", "light" or "dark", default="auto": as the reader's system has it.
    findings : Findings, default=None
        What else is known of the fit.

    Returns
    -------
    path : of the file.

    Raises
    ------
    ValueError
        For a model or rows that are none, and where the file cannot be written.
    ImportError
        Without jinja2, which `pip install "cmeans[report]"` brings.

    Examples
    --------
    >>> import os, tempfile
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.preprocessing import scale
    >>> from cmeans import FuzzyCMeans
    >>> from cmeans.inspection import report
    >>> wine = load_wine()
    >>> model = FuzzyCMeans(3, random_state=0).fit(scale(wine.data))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = os.path.join(folder, "wine.html")
    ...     page = report(model, scale(wine.data), file, feature_names=wine.feature_names)
    ...     "proline" in page.read_text()
    True
    """
    one_of(theme, "theme", CALLER, THEMES)
    check_page(out, "out", CALLER)
    seen = inspected(
        model,
        X,
        CALLER,
        sample_weight=sample_weight,
        diag=diag,
        inverse_transform=inverse_transform,
    )
    return page_of(
        model,
        seen,
        out,
        feature_names=feature_names,
        row_names=row_names,
        title=title,
        theme=theme,
        findings=findings,
    )


def page_of(
    model: Any,
    seen: InspectedRows,
    out: str | os.PathLike[str],
    *,
    feature_names: Any = None,
    row_names: Sequence[Any] | None = None,
    title: str = "Clusters",
    theme: str = "auto",
    findings: Findings | None = None,
) -> Path:
    """Write the page of a model and rows that have been looked at."""
    if row_names is not None and len(row_names) != seen.n_rows:
        raise ValueError(f"{CALLER}(row_names=...): {len(row_names)} names for {seen.n_rows} rows.")
    findings = findings or Findings()
    names = tuple(map(str, findings.names))
    if len(names) not in (0, seen.n_clusters):
        said = f"{len(names)} names for {several(seen.n_clusters, 'cluster')}"
        raise ValueError(f"{CALLER}(findings=Findings(names=...)): {said}.")
    ids = None if row_names is None else [str(row_names[number]) for number in seen.numbers]
    own = ShownPartition("own", several(seen.n_clusters, "cluster"), seen, names=names)
    page = PageRows(
        seen,
        tuple(map(short, named_features(feature_names, seen, CALLER))),
        {"The plane of the centres": plane_of(seen)},
        [own],
        ids=ids,
    )
    return write_page(page_text(CALLER, model, page, title, theme, findings), out)


def page_text(
    kind: str, model: Any, page: PageRows, title: str, theme: str, findings: Findings, **more: Any
) -> str:
    """Return the page of some rows: `kind` is "report", which is frozen for print, or "explore";
    `more`: further words of its template."""
    numbers = map(str, page.seen.numbers.tolist())
    names = [short(name) for name in (numbers if page.ids is None else page.ids)]
    shown = contents(model, page, names, findings)
    words = {**shown, "candidates": None, "kind": kind, "caller": kind, "title": short(title)}
    return document({**words, **more}, record(page, short(title), kind), theme)
