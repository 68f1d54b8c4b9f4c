"""The page that a notebook shows of an estimator: scikit-learn's, and what comes below it."""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from importlib.metadata import PackageNotFoundError, metadata
from inspect import getattr_static
from typing import Any

from .attribute_names import MADE_WHEN_ASKED


class NotMade:
    """Stands for an attribute that is made when it is asked for, as scikit-learn's page lists the
    values of all."""

    def __repr__(self) -> str:
        return "not made yet"


class NotebookPage:
    """Mixin: scikit-learn's diagram with parameters, fitted attributes and links to their
    documentation, and what an estimator shows below it."""

    _doc_link_module = "cmeans"

    @property
    def _doc_link_template(self) -> str:
        """The address of the estimator's page, where the package says that there is a
        documentation; "": no links."""
        address = _documentation()
        return f"{address}/api/generated/cmeans.{{estimator_name}}.html" if address else ""

    @property
    def _repr_html_(self) -> Callable[[], str]:
        """Return the function of the page; AttributeError where scikit-learn is to show text."""
        shown = copy(self)
        for name in MADE_WHEN_ASKED:
            if getattr_static(type(self), name, None) is not None:
                vars(shown).setdefault(name, NotMade())
        diagram: Callable[[], str] = super(NotebookPage, shown)._repr_html_  # type: ignore[misc]
        return lambda: f"{diagram()}{self._shown_below()}"

    def _shown_below(self) -> str:
        """Return HTML below the diagram."""
        return ""

    def _repr_mimebundle_(self, **_: Any) -> dict[str, str]:
        """Return what Jupyter shows, which asks for this first."""
        text, page = {"text/plain": repr(self)}, getattr(self, "_repr_html_", None)
        return text if page is None else {**text, "text/html": page()}


def _documentation() -> str:
    """Return the address that the installed package names as its documentation; "" for none."""
    try:
        named = metadata("cmeans").get_all("Project-URL") or []
    except PackageNotFoundError:
        return ""
    addresses: dict[str, str] = dict(line.split(", ", 1) for line in named)
    return addresses.get("Documentation", "").rstrip("/")
