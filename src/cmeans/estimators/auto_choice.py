"""The choice of a space and a number of clusters for a sample of rows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from sklearn.metrics import adjusted_rand_score

from ..data.arrays import IntArray
from ..evidence.consensus import Consensus, consensus
from ..evidence.discriminant_lines import COST, parted_along_lines
from ..evidence.gain_drops import CLEAR, GainDrops, gain_drops
from ..evidence.kind import PLANE, TABLE
from ..evidence.near_rows import NearRows
from ..evidence.neighbour_score import neighbour_score
from ..evidence.number_choice import NumberChoice, along_lines, by_communities, chosen_number
from ..evidence.record import Candidate, Evidence, LeftOut
from ..evidence.space_choice import best_partition, judged_partitions
from ..runtime.numerals import several
from .auto_spaces import OutOfTimeError, SamplePartitions, cost

MOST = 60  # clusters of over-segmentations
GRID = (*range(2, 11), 12, 14, 16, 20, 24, 28, 32, 36, 40, 44, 48, 52, 56, MOST)
MOST_OF = {"covariances": 20}  # clusters at most of over-segmentations that cost much
SHARE = 50  # times lighter than an equal share are crumbs
LONE = 2.0  # rows of median weight, than which crumbs are lighter at most
APART = 2.0  # drop after a number of clusters from which their pieces stand apart
APART_IN_TABLES = 5.0
CLEAR_IN_TABLES = 10.0  # drop from which pieces say how many clusters a table has
INTACT = 0.999  # score of pieces that divide no near rows
LEVEL = 0.002  # of the score, within which a clear cut into pieces loses to none
# different rows of each community that says there are clusters, at least, and in the mean
FEWEST_ROWS, ROWS_EACH = 5, 20
# whose over-segmentations vote
VOTERS = ("pieces", "dense pieces", "plain", "graph", "covariances")
COSTLY = ("consensus",)  # spaces that are not tried twice, nor where they cannot win
# what a table gets where no cut is clear: of several, the first that is a candidate
OF_TABLES = ("consensus", "covariances")


@dataclass
class AutoChoice:
    """The evidence of a sample of rows, gathered within a budget of row visits."""

    near: NearRows
    partitions: SamplePartitions
    wider: SamplePartitions  # of a larger sample, for its tree of pieces
    candidates: tuple[str, ...]
    kind: str
    budget: float
    least: int = 1  # clusters
    most: float = np.inf
    left_out: list[LeftOut] = field(default_factory=list)
    drops: GainDrops = field(default_factory=lambda: gain_drops(np.zeros(0)))
    choice: NumberChoice | None = None
    stop_reason: str = "the evidence is complete"
    spent: float = 0.0
    counted: dict[tuple[str, bool], list[int]] = field(default_factory=dict)

    def _clear(self, drops: GainDrops) -> float:
        """Return how many times gains of pieces drop where their number is clear: fewer where the
        pieces are heavy and divide no near rows, which those of one heap always do."""
        if drops.ratio >= APART:
            labels = self.partitions("pieces", drops.number)
            if labels is not None and neighbour_score(labels, self.near) >= INTACT:
                return APART
        return CLEAR_IN_TABLES if self.kind == TABLE else CLEAR

    @property
    def most_trials(self) -> int:
        """The largest number of partitions that are made."""
        return len(self.candidates) if self.least == self.most else len(VOTERS) * len(GRID)

    @property
    def least_piece(self) -> Any:
        """The weight that connected pieces have at least, where their number was not given."""
        if self.choice is None:
            return "auto"
        return self.partitions.tree("pieces").min_cluster_size_

    def choose(self) -> Evidence:
        """Return the evidence: of a number that is given, or of all."""
        number, names = self.least, self.candidates
        try:
            if self.least == self.most:
                self.drops = gain_drops(self.wider.tree("pieces").cost_curve_)
            else:
                self.drops = self._drops()
                number = self._number()
            found = self._partitions(number)
            if (finer := self._along_lines(number, found)) is not None:
                found = self._partitions(finer.number)
                self.choice, number = finer, finer.number
        except OutOfTimeError:
            self.stop_reason = "time_limit: the best until then is kept"
            number, found = self._known(number)
        except KeyboardInterrupt:
            number, found = self._known(number)
            self.stop_reason = "interrupted: the best until then is kept"
        return self._evidence(number, found, names)

    def _drops(self) -> GainDrops:
        """Return where gains of pieces drop, once crumbs are no pieces: those lighter than a
        fiftieth of an equal share among as many as stand apart."""
        weights, least = self.wider.weights, 0.0
        while True:
            tree = self.wider.tree("pieces")
            drops = gain_drops(tree.cost_curve_)
            number = drops.number
            if drops.ratio < CLEAR:
                return drops
            lightest = np.bincount(tree.partition(number), weights).min()
            crumb = max(weights.sum() / (SHARE * number), LONE * float(np.median(weights)))
            if lightest >= crumb or crumb <= least:
                return drops
            least = float(crumb)
            self.wider.without_crumbs(least)
            self.partitions.without_crumbs(least)

    def _number(self) -> int:
        within = self.drops.within(max(self.least, 2), int(min(self.most, len(self.near.x))))
        self.choice = chosen_number(within, self._consensus, self._clear(within))
        if self.choice.none:
            self.choice = self._by_communities() or self.choice
        number = self.choice.number
        return int(min(max(number, self.least), self.most))

    def _along_lines(self, number: int, found: dict[str, IntArray]) -> NumberChoice | None:
        """Return the choice for a table once clusters of the best partition are parted along lines
        through certain valleys inside them; None where none is."""
        rows, choice = len(self.near.x), self.choice
        if self.kind != TABLE or choice is None or not found:
            return None
        visits = COST * rows
        if self.spent + visits > self.budget:
            self._leave_out("lines through clusters", visits)
            return None
        self.spent += visits
        labels = np.zeros(rows, np.intp)
        if not choice.none:
            labels = found[self.order(number, judged_partitions(found, self.near))[0]]
        seed = self.partitions.words.random_state
        parted = parted_along_lines(labels, self.near.x, self.near.weights, seed, self.most)
        coarser = int(labels.max()) + 1
        return along_lines(parted, coarser) if parted.max() >= coarser else None

    def _by_communities(self) -> NumberChoice | None:
        """Return the number of communities where no boundary between them is doubtful, as those of
        rows without clusters are; None else, and of points of a plane, whose valleys are seen."""
        rows = len(self.near.x)
        if self.kind == PLANE or rows < 2 or not self._afford("communities", 1, rows):
            return None
        try:
            found = self.partitions.communities()
        except ValueError:  # of rows that are all equal, or the like
            return None
        number, members = found.n_clusters_, np.bincount(found.labels_[found.labels_ >= 0])
        few = number < 2 or members.min() < FEWEST_ROWS or rows < ROWS_EACH * number
        if few or not self.least <= number <= self.most or found.doubtful_pairs_:
            return None
        return by_communities(number, found.labels_)

    def _consensus(self) -> Consensus | None:
        """Return the consensus of as many over-segmentations as the budget has room for; None of
        rows that all lie at one place."""
        rows = len(self.near.x)
        if rows < 2:
            return None
        most = int(min(max(self.most, 12), MOST, rows // 4))
        numbers = tuple(number for number in GRID if number <= most)
        spaces = [space for space in VOTERS if space == "dense pieces" or space in self.candidates]
        taken: dict[str, list[int]] = {space: [] for space in spaces}
        for number in numbers:
            for space in spaces:
                most = MOST_OF.get(space, MOST)
                if number <= most and self._afford(space, number, rows, quick=True):
                    taken[space].append(number)
        for space in spaces:
            left = [n for n in numbers if n <= MOST_OF.get(space, MOST) and n not in taken[space]]
            if left:
                what = f"{space} with {left[0]} to {left[-1]} clusters in the consensus"
                self._leave_out(what, cost(space, left, rows, quick=True))
        voting = self.partitions.that_vote()
        most_of = {space: max(found) for space, found in taken.items() if found}

        def partition(space: str, number: int) -> IntArray | None:
            return voting(space, number) if number <= most_of[space] else None

        return consensus(self.near, tuple(most_of), numbers, partition, self.least, self.most)

    def _partitions(self, number: int) -> dict[str, IntArray]:
        """Return the partitions of the candidates into a number of clusters."""
        found: dict[str, IntArray] = {}
        rows = len(self.near.x)
        for space in self.candidates:
            if found and space in COSTLY and self._is_settled(number, found):
                continue
            if found and not self._afford(space, number, rows):
                what = f"{space} with {several(number, 'cluster')}"
                self._leave_out(what, cost(space, [number], rows))
                continue
            labels = self.partitions(space, number)
            if labels is not None:
                found[space] = labels
        return found

    def _is_settled(self, number: int, found: Mapping[str, IntArray]) -> bool:
        """Return whether no further space can win: there are no clusters, or pieces stand apart and
        divide no near rows."""
        if self.choice is not None and self.choice.none:
            return True
        apart = "pieces" in found and self.drops.ratio_at(number) >= self._apart
        return apart and neighbour_score(found["pieces"], self.near) >= 1.0 - LEVEL

    @property
    def _apart(self) -> float:
        """The drop after a number of clusters from which their pieces stand apart."""
        return APART_IN_TABLES if self.kind == TABLE else APART

    def _afford(self, space: str, number: int, rows: int, *, quick: bool = False) -> bool:
        """Return whether the budget has room for one more partition, and put it down."""
        known = self.counted.setdefault((space, quick), [])
        if number in known:
            return True
        visits = cost(space, [*known, number], rows, quick=quick)
        visits -= cost(space, known, rows, quick=quick) if known else 0.0
        if self.spent + visits > self.budget:
            return False
        self.spent += visits
        known.append(number)
        return True

    def _leave_out(self, what: str, visits: float) -> None:
        self.left_out.append(LeftOut(what, self.spent + visits))

    def _known(self, number: int) -> tuple[int, dict[str, IntArray]]:
        """Return what there is where no time is left."""
        if self.least != self.most:
            within = self.drops.within(max(self.least, 2), int(min(self.most, len(self.near.x))))
            number = max(within.number, self.least)
        known = self.partitions.known
        found = {
            space: labels
            for space in self.candidates
            if (labels := known.get((space, number))) is not None
        }
        return number, found

    def order(self, number: int, judged: Mapping[str, tuple[float, float]]) -> list[str]:
        """Return the candidates, the best first."""
        order, drop = best_partition(judged), self.drops.ratio_at(number)
        first = self._agreed_on(number, judged)
        clear = drop >= self._apart
        if first is None and clear and "pieces" in judged:
            top = max(score for score, _ in judged.values())
            first = "pieces" if judged["pieces"][0] >= top - LEVEL else None
        if first is None and self.kind == TABLE:
            first = next((space for space in OF_TABLES if space in judged), None)
        return order if first is None else [first, *(s for s in order if s != first)]

    def _agreed_on(self, number: int, found: Mapping[str, Any]) -> str | None:
        """Return the space whose partition is the most like the one that the number rests on; None
        where it rests on none, and of tables, which have a rule of their own."""
        choice = self.choice
        if choice is None or choice.labels is None or number != choice.number:
            return None
        if self.kind == TABLE and not (choice.none or choice.by_communities):
            return None
        return max(
            found,
            key=lambda space: adjusted_rand_score(choice.labels, self.partitions(space, number)),
            default=None,
        )

    def _evidence(
        self, number: int, found: dict[str, IntArray], names: tuple[str, ...]
    ) -> Evidence:
        judged = judged_partitions(found, self.near)
        order = self.order(number, judged)
        rows = len(self.near.x)
        candidates = [
            Candidate(
                space,
                number,
                *judged[space],
                self._stability(space, number, found[space]),
                cost(space, [number], rows),
                self._verdict(space, order, judged, number),
            )
            for space in order
        ]
        space = order[0] if order else names[0]
        choice = self.choice
        if choice is None:
            reason = f"{several(number, 'cluster')}, as given"
            reason += f": {space} by the table above." if order else "."
            return Evidence(
                number,
                space,
                candidates,
                reason,
                self.drops.ratio_at(number),
                number,
                stable_numbers=self.drops.stable,
                kind=self.kind,
                judged_rows=rows,
                left_out=self.left_out,
            )
        stable = sorted({*self.drops.stable, *choice.stable})
        return Evidence(
            1 if choice.none and self.least == 1 else number,
            space,
            candidates,
            choice.reason,
            self.drops.ratio,
            self.drops.number,
            choice.rules_agree,
            choice.second,
            stable,
            kind=self.kind,
            judged_rows=rows,
            left_out=self.left_out,
        )

    def _stability(self, space: str, number: int, labels: IntArray) -> float:
        """Return the index of a partition with that of a fit to every other row."""
        if space in COSTLY:
            return float("nan")
        half = slice(0, None, 2)
        some = SamplePartitions(
            self.near.x[half], self.near.weights[half], self.partitions.words, number
        )
        again = some(space, number)
        return float("nan") if again is None else float(adjusted_rand_score(labels[half], again))

    def _verdict(
        self, space: str, order: list[str], judged: Mapping[str, tuple[float, float]], number: int
    ) -> str:
        """Say why a candidate won or lost."""
        best = order[0]
        if space == best:
            if best_partition(judged)[0] == best:
                return "chosen: near rows stay together, and the others agree most"
            if best == self._agreed_on(number, judged):
                return "chosen: the most like the partition that the number rests on"
            if best == "pieces":
                drop = self.drops.ratio_at(number)
                return f"chosen: a clear cut (gains drop {drop:.1f} times) that divides no more"
            return "chosen: what is best on most tables"
        (score, agreed), (top, most) = judged[space], judged[best]
        if score < top - 0.005:
            return f"divides more near rows than {best}"
        if agreed < most:
            return f"others agree less with it than with {best}"
        return f"no better than {best}, which goes first here"
