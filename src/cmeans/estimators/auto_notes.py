"""What the evidence for a choice says of all rows, with the notes that its reader should see."""

from __future__ import annotations

from dataclasses import replace

from ..data.arrays import IntArray
from ..evidence.gain_drops import CLEAR
from ..evidence.record import Evidence
from ..runtime.user_warnings import warn
from .auto_choice import MOST, AutoChoice
from .auto_rows import JudgedRows
from .fits_to_all import FitsToAll

FEWEST = 5  # far rows that are a group to tell of


def completed(
    evidence: Evidence,
    judged: JudgedRows,
    choice: AutoChoice,
    most: float,
    fits: FitsToAll,
    name: str,
) -> Evidence:
    """Return the evidence with what all rows say, and warn of what one should know."""
    notes = [judged.note] if judged.note else []
    partition: IntArray | None = None
    there = choice.choice.number if choice.choice else evidence.n_clusters
    if evidence.n_clusters == 1 and choice.choice is not None and there > 1:
        notes.append(
            f"The answer is one cluster; evidence_.partition has the {there} that there would "
            f"be, and n_clusters={there} finds them."
        )
        partition = fits.labels(slice(None), evidence.space, there)
    elif choice.choice is not None:
        notes += _at_the_end(choice, there, most)
    if judged.far is not None and len(judged.far) >= FEWEST:
        count = len(judged.far)
        notes.append(
            f"{count:,} rows lie far from all others, such as row {int(judged.far[0])}: a "
            "cluster of their own, or errors; evidence_.far_rows has their numbers."
        )
    for note in notes:
        warn(f"{name}: {note}")
    return replace(
        evidence,
        scaling=judged.scaling,
        scaling_name=judged.scaling_name,
        stepped_columns=judged.stepped,
        far_rows=judged.far,
        partition=partition,
        notes=notes,
    )


def _at_the_end(choice: AutoChoice, number: int, most: float) -> list[str]:
    """Say where there may be more clusters than were looked for."""
    larger = "Give n_clusters=(least, most) with a larger most."
    drops = choice.drops
    if drops.ratio >= CLEAR and drops.number > most:
        return [f"{drops.number} clusters stand out, more than the {most:g} allowed. {larger}"]
    by_consensus = choice.choice is not None and choice.choice.labels is not None
    if number >= most or (by_consensus and number >= MOST):
        return [f"{number} clusters are the most that were looked for; there may be more. {larger}"]
    return []
