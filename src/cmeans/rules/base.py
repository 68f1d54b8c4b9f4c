"""What a rule is: how much a row belongs to each cluster, given its squared distances, and nothing else."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar, NamedTuple

from ..arrays import Array, Float64


class Twin(NamedTuple):
    """By what name and numbers compiled sweeps know a rule; a rule of your own has none.

    Attributes
    ----------
    name : of the compiled rule.
    m, power : its exponent of memberships, and that of ratios of squared distances.
    """

    name: str
    m: float = 1.0
    power: float = 1.0  # of ratios of squared distances


class Rule(ABC):
    """Memberships from distances. A frozen object of hyper-parameters; `scales` (one per cluster, or None) are passed in.

    A rule of your own has `memberships` and `weights`, and `penalty` where its objective holds more than weighted distances; it
    minimises  sum_ij w_ij d2_ij + penalty  for fixed centres.

    Attributes
    ----------
    rows_sum_to_one : True where memberships are a distribution over the clusters.
    is_soft : False for one-hot memberships.
    refills_empty_clusters : whether an empty cluster takes the row farthest from its own centre.
    needs_pilot : whether scales come from a fuzzy run that goes first.
    leaves_rows_out : whether a row may belong nowhere; its label is then -1.
    """

    rows_sum_to_one: ClassVar[bool] = True
    is_soft: ClassVar[bool] = True
    refills_empty_clusters: ClassVar[bool] = False
    needs_pilot: ClassVar[bool] = False
    leaves_rows_out: ClassVar[bool] = False

    @property
    def twin(self) -> Twin | None:
        """The rule's twin in compiled sweeps; None where only the generic sweep knows it."""
        return None

    def numbers(self, scales: Float64) -> Float64:
        """(k, c) what compiled sweeps know of each cluster beside its centre."""
        return scales[None, :]

    @abstractmethod
    def memberships(
        self,
        d2: Array,  # (b, c) squared distances, exactly 0 where a row and a centre coincide
        scales: Float64 | None,  # (c,)
    ) -> Array:
        """u (b, c)."""

    @abstractmethod
    def weights(self, u: Array) -> Array:
        """w (b, c): how strongly each row pulls each centre, before its sample weight."""

    def penalty(self, u: Array, scales: Float64 | None) -> Array | None:
        """What each row adds to the objective beyond sum_j w_ij d2_ij (b,), or None for nothing."""
        return None


def needed(scales: Float64 | None) -> Float64:
    """The clusters' scales, for rules that cannot do without."""
    if scales is None:
        raise ValueError("possibilistic rules need the clusters' scales eta; they come from a fuzzy run (Havens 2011 eq. 11).")
    return scales
