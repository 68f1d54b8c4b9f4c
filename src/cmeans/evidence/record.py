"""The evidence that a choice of the space and the number of clusters rests on, as a table."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from html import escape

from ..data.arrays import IntArray
from ..runtime.numerals import several

HEADER = ("space", "clusters", "score", "agreement", "stability", "row visits", "")


@dataclass(frozen=True)
class Candidate:
    """One partition that was judged.

    Attributes
    ----------
    space, n_clusters : where clusters were sought, and how many.
    score : neighbour score, 1 where no near rows are divided; 0 by chance.
    agreement : mean adjusted Rand index with the other candidates of as many clusters.
    stability : adjusted Rand index with a fit to half of the rows; NaN where that costs too much.
    row_visits : the work that it took, by the table of costs.
    verdict : why it won, or lost, in a sentence.
    """

    space: str
    n_clusters: int
    score: float
    agreement: float
    stability: float
    row_visits: float
    verdict: str

    @property
    def cells(self) -> tuple[str, ...]:
        """Return what a line of the table says of it."""
        measured = self.score, self.agreement, self.stability
        numbers = ("-" if math.isnan(value) else f"{value:.3f}" for value in measured)
        return (
            self.space,
            f"{self.n_clusters:,}",
            *numbers,
            f"{self.row_visits:,.0f}",
            self.verdict,
        )


@dataclass(frozen=True)
class LeftOut:
    """A space that the budget had no room for, and the least budget that includes it."""

    what: str
    budget: float


@dataclass(frozen=True)
class Evidence:
    """The reasons of a choice of `AutoClustering`; `print` shows it as a table.

    Attributes
    ----------
    n_clusters, space : what was chosen.
    candidates : list of `Candidate`, the best first.
    reason : why this number, in a sentence.
    drop_ratio : how many times the gains of connected pieces drop after `drop_number`; below 3 it
        says nothing. 1 where the number was given.
    drop_number : the number before the largest drop.
    rules_agree : whether the drop and the consensus say the same number; None where one of them
        alone was asked.
    second : (number, distance) the next best number, and how much less speaks for it: the quotient
        of the drops, or the difference of the scores of the consensus; None where there is none.
    stable_numbers : all numbers of clusters that stand out, coarse to fine.
    scaling, scaling_name : what was done to the columns, in a sentence and by its name.
    stepped_columns : numbers of the columns of few values, such as counts and grades: these were
        spread over the steps between values before rows were judged, and spaces that go by the
        nearest rows (pieces, graph) left out, as they would find the values themselves.
    kind : what the rows were taken for: "plane", "table" or "many columns".
    judged_rows, far_rows : how many rows were judged, and the numbers of rows that are far from all
        others, whether they were among these or not.
    left_out : list of `LeftOut`.
    partition : (n,) where no clusters were found: the labels of the clusters that there would be.
    notes : further sentences: what one should know.
    """

    n_clusters: int
    space: str
    candidates: list[Candidate]
    reason: str
    drop_ratio: float = 1.0
    drop_number: int = 1
    rules_agree: bool | None = None
    second: tuple[int, float] | None = None
    stable_numbers: list[int] = field(default_factory=list)
    scaling: str = "columns as they are"
    scaling_name: str = "none"
    stepped_columns: tuple[int, ...] = ()
    kind: str = "plane"
    judged_rows: int = 0
    far_rows: IntArray | None = None
    left_out: list[LeftOut] = field(default_factory=list)
    partition: IntArray | None = None
    notes: list[str] = field(default_factory=list)

    @property
    def sentences(self) -> list[str]:
        """Return what stands below the table."""
        found = [self.reason]
        if len(self.stable_numbers) > 1:
            said = ", ".join(f"{number}" for number in self.stable_numbers)
            found.append(f"Numbers of clusters that stand out, coarse to fine: {said}.")
        if self.second is not None:
            found.append(
                f"The next best number is {self.second[0]}, behind by {self.second[1]:.2g}."
            )
        spread = ""
        if count := len(self.stepped_columns):
            spread = (
                f"; {several(count, 'column')} of few values spread over the steps between these"
            )
        found.append(
            f"Taken for a {self.kind}; {self.scaling}{spread}; {self.judged_rows:,} rows judged."
        )
        for left in self.left_out:
            found.append(f"Left out: {left.what}; budget={left.budget:.1e} includes it.")
        return found + self.notes

    def __str__(self) -> str:
        rows = [HEADER, *(candidate.cells for candidate in self.candidates)]
        widths = [max(len(row[column]) for row in rows) for column in range(len(HEADER) - 1)]
        lines = [
            "  ".join(
                [row[0].ljust(widths[0])]
                + [cell.rjust(width) for cell, width in zip(row[1:-1], widths[1:], strict=True)]
                + [row[-1]]
            ).rstrip()
            for row in rows
        ]
        return "\n".join([*lines, *self.sentences])

    def _repr_html_(self) -> str:
        head = "".join(f"<th>{escape(cell)}</th>" for cell in HEADER)
        body = "".join(
            "<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in candidate.cells) + "</tr>"
            for candidate in self.candidates
        )
        said = "".join(f"<p>{escape(sentence)}</p>" for sentence in self.sentences)
        return f"<table><tr>{head}</tr>{body}</table>{said}"
