"""What Tables 1 to 4 of Xenaki, Koutroumbas, Rontogiannis 2014 print."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from ...template import toml

NAMES = {1: "Experiment 1", 2: "S2", 3: "Iris", 4: "Wine"}
CLASSES = {1: 3, 2: 15, 3: 3, 4: 3}
ADAPTIVE = ("APCM", "SAPCM", "SeqSAPCM")


class Line(NamedTuple):
    """What the tables print of a clustering."""

    found: int
    rand: float  # per cent, as the others
    general: float | None
    success: float

    def __str__(self) -> str:
        general = "-" if self.general is None else f"{self.general:.2f}"
        return f"{self.found} {self.rand:.2f} {general} {self.success:.2f}"


@dataclass(frozen=True)
class Row:
    """One line of a table."""

    method: str
    sparsity: float
    beta: float | None
    initial: int | None
    printed: Line | None  # None: a setting of ours

    @property
    def words(self) -> tuple[str, str, str]:
        """lambda, beta and the number of clusters at the start; empty where there is none."""
        return (
            f"{self.sparsity:g}" if self.sparsity else "",
            f"{self.beta:g}" if self.beta else "",
            str(self.initial or ""),
        )

    def __str__(self) -> str:
        return " ".join([self.method, *(word or "-" for word in self.words)])


def _rows(text: str) -> list[Row]:
    rows = []
    for line in text.strip().splitlines():
        method, sparsity, beta, initial, *measures = line.split()
        printed = None
        if measures:
            found, rand, general, success = measures
            printed = Line(
                int(found), float(rand), None if general == "-" else float(general), float(success)
            )
        number = None if initial == "-" else int(initial)
        rows.append(
            Row(
                method,
                0.0 if sparsity == "-" else float(sparsity),
                None if beta == "-" else float(beta),
                number,
                printed,
            )
        )
    return rows


TABLES = {
    int(number): _rows(text) for number, text in toml("papers/seqsapcm2014/printed.toml").items()
}
