"""The evidence of a choice of the space and the number of clusters."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np

from ...evidence.record import Candidate, Evidence
from ..figure import colour, name_groups
from .base import Display

MARKS = {"agreement": "o", "stability": "D"}  # of a candidate, beside the bar of its score


class EvidenceDisplay(Display):
    """Scores of each space's partition by how well it keeps near rows together, the chosen one
    first, with how far others agree with it and how stable it is; the title says why so many
    clusters.

    Parameters
    ----------
    candidates : list of `Candidate`, the best first.
    reason : str

    Attributes
    ----------
    ax_, figure_ : of matplotlib, once plotted.
    bars_ : of the scores, the chosen one coloured.
    marks_ : dict of "agreement" and "stability": their points.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from cmeans import AutoClustering
    >>> from cmeans.inspection import EvidenceDisplay
    >>> X, _ = make_moons(200, noise=0.05, random_state=0)
    >>> model = AutoClustering(candidates=["plain", "pieces"]).fit(X)
    >>> EvidenceDisplay.from_estimator(model).candidates[0].space
    'pieces'
    """

    def __init__(self, candidates: Sequence[Candidate], *, reason: str = "") -> None:
        self.candidates, self.reason = candidates, reason

    @classmethod
    def from_estimator(cls, model: Any, *, ax: Any = None) -> Self:
        """Draw the evidence of a fitted `AutoClustering`.

        Parameters
        ----------
        model : the model.
        """
        evidence = getattr(model, "__dict__", {}).get("evidence_")
        if not isinstance(evidence, Evidence):
            raise ValueError(
                f"{cls.__name__}.from_estimator: the model is {model!r}; pass a fitted "
                "AutoClustering."
            )
        return cls(evidence.candidates, reason=evidence.reason).plot(ax=ax)

    def _draw(self) -> None:
        names = [f"{one.space}, {one.n_clusters}" for one in self.candidates]
        places = np.arange(len(names))
        colours = [colour(0), *["0.75"] * (len(names) - 1)][: len(names)]
        scores = [one.score for one in self.candidates]
        self.bars_ = self.ax_.barh(places, scores, color=colours, label="near rows together")
        self.marks_ = {}
        for number, (name, mark) in enumerate(MARKS.items(), start=1):
            values = [getattr(one, name) for one in self.candidates]
            (self.marks_[name],) = self.ax_.plot(
                values, places, mark, color=colour(number), ms=5, label=name
            )
        self.ax_.set_yticks(places, names)
        self.ax_.invert_yaxis()
        self.ax_.set(xlabel="1: near rows together, all agree; 0: by chance", xlim=(None, 1.05))
        shown = [self.bars_, *self.marks_.values()]
        name_groups(self.ax_, shown, [str(one.get_label()) for one in shown], "")
        self._say(self.reason)
