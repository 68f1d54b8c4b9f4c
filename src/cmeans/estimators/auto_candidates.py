"""The partitions of the candidates of a choice by evidence, for who wants to see them."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from ..evidence.record import Evidence
from ..fitting.seen_rows import OtherPartition
from .auto_spaces import SpaceWords

SHOWN = 5_000  # rows at most of which partitions are made anew


@dataclass(frozen=True)
class CandidatePartitions:
    """Partitions that were judged, each made anew of some of the rows that are to be seen; but for
    the one that was chosen, which is the model's own."""

    evidence_: Evidence
    n_jobs: int | None = None
    _other_evidence = "How few near rows a partition divides: 1 is none."

    def _other_partitions(self, X: Any, numbers: Sequence[int]) -> Iterator[OtherPartition]:
        """Yield the partitions of rows X by the other candidates."""
        n, words = int(X.shape[0]), SpaceWords(self.n_jobs, 0)
        some = X[:: -(-n // SHOWN)]
        chosen = self.evidence_.space, self.evidence_.n_clusters
        for one in self.evidence_.candidates:
            if (one.space, one.n_clusters) == chosen:
                continue
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # of what nobody has chosen
                try:
                    model = words.estimator(one.space, one.n_clusters, n).fit(some)
                except ValueError:  # of rows that it does not take, such as those with holes
                    continue
                labels = model.predict(X)
            name = f"{one.space}, {one.n_clusters:,} clusters"
            yield OtherPartition(labels, one.n_clusters, one.score, name, one.verdict)
