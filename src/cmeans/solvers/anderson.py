"""Anderson mixing: from the last few sweeps, centres that a plain sweep would reach only much
later."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from ..data.arrays import Float64
from ..spaces.centres import Centres
from ..sweeps.state import State
from ..sweeps.statistics import Statistics

MEMORY = 5  # differences of sweeps that are mixed
RIDGE = 1e-10  # of their Gram matrix, against differences that are nearly the same
# of the typical distance: from where a centre moves further in a sweep, mixtures may end in another
# basin
SETTLED = 0.03
# growth of a difference in a sweep up to which the objective is taken for convex there: centres
# that merge come close to it
FLAT = 1e-3
LONGEST_PAUSE = 16  # plain sweeps after refused mixtures that follow each other


@dataclass(frozen=True)
class Mixing:
    """The memory of mixing: differences of the last sweeps."""

    residuals: tuple[Centres, ...] = ()  # differences of residuals
    images: tuple[Centres, ...] = ()  # differences of images
    last: tuple[Centres, State] | None = None  # the residual and the image of the last sweep
    objective: float = np.inf  # where the last accepted sweep started
    mixed: bool = False  # whether the sweep under way started from mixed centres
    pause: int = 0  # plain sweeps until the next mixture
    next_pause: int = 0

    def forgotten(self) -> Mixing:
        """The same without the sweeps before."""
        return replace(self, residuals=(), images=(), last=None, mixed=False)


@dataclass(frozen=True)
class Anderson:
    """Type-II Anderson mixing of the map from centres to the next centres, safeguarded by the
    objective.

    With residuals f = G(v) - v of the last sweeps, gamma minimises |f_k - dF gamma|^2 and the next
    centres are G_k - dG gamma (Anderson 1965; Walker & Ni 2011). Whether they serve shows in the
    sweep that starts from them, which returns their objective: where it has risen, the run goes on
    from the last plain centres, and mixing pauses for twice as many sweeps as after the refusal
    before.

    A mixture must also end where plain sweeps would, every cluster keeping its number. The
    objective does not show that, as it may fall into another basin: sweeps stay plain while centres
    move much, or near a saddle, which mixing would lead to and leave on either side.

    Residuals are paired in the feature space itself, each cluster weighted by its mass, which is
    how the objective sees them.
    """

    slack: float  # relative rise of the objective that rounding alone can make

    def judge(self, mixing: Mixing, sums: Statistics) -> tuple[bool, Mixing]:
        """False where the objective at mixed centres has risen, so that the run must go back to the
        last plain ones."""
        if mixing.mixed and not sums.objective <= mixing.objective + self.slack * abs(
            mixing.objective
        ):
            pause = min(max(2 * mixing.next_pause, 1), LONGEST_PAUSE)
            return False, replace(mixing.forgotten(), pause=pause, next_pause=pause)
        next_pause = mixing.next_pause // 2 if mixing.mixed else mixing.next_pause
        return True, replace(mixing, objective=sums.objective, next_pause=next_pause)

    def next(
        self, mixing: Mixing, state: State, image: State, sums: Statistics
    ) -> tuple[State, Mixing]:
        """The state to sweep from, after a sweep from `state` that made `image`."""
        residual = image.centres - state.centres
        residuals, images = mixing.residuals, mixing.images
        if mixing.last is not None:
            residuals = (*residuals, residual - mixing.last[0])[-MEMORY:]
            images = (*images, image.centres - mixing.last[1].centres)[-MEMORY:]
        mixing = replace(
            mixing, residuals=residuals, images=images, last=(residual, image), mixed=False
        )
        if mixing.pause:
            return image, replace(mixing, pause=mixing.pause - 1)
        if (
            not residuals
            or not _has_settled(residual, sums)
            or not _is_convex(residuals, images, sums.mass)
        ):
            return image, mixing
        factors = _least_squares(residuals, residual, sums.mass)
        if factors is None:
            return image, mixing.forgotten()
        mixture = Centres.combined([image.centres, *images], [1.0, *(-factors)])
        return State(mixture, image.scales), replace(mixing, mixed=True)


def _has_settled(residual: Centres, sums: Statistics) -> bool:
    return bool(residual.squared_norms().max() * sums.weight <= SETTLED**2 * sums.scale)


def _is_convex(residuals: Sequence[Centres], images: Sequence[Centres], mass: Float64) -> bool:
    """True where the objective is convex along the last sweeps' differences of centres, dv = dG -
    df, or nearly so.

    Weighted by mass, f is half its steepest descent, so that -<dv_k, df_l> are half its second
    derivatives.
    """
    steps = [image - residual for image, residual in zip(images, residuals, strict=True)]
    lengths = np.sqrt([max(step.pairing(step, mass), np.finfo(float).tiny) for step in steps])
    curvature = -np.array(
        [[step.pairing(residual, mass) for residual in residuals] for step in steps]
    )
    curvature /= lengths[:, None] * lengths
    return bool(
        np.isfinite(curvature).all()
        and np.linalg.eigvalsh(curvature + curvature.T)[0] >= -2.0 * FLAT
    )


def _least_squares(
    differences: Sequence[Centres], residual: Centres, mass: Float64
) -> Float64 | None:
    """gamma minimising |residual - sum_l gamma_l difference_l|^2; None where the differences are
    nothing, or nothing but rounding."""
    count = len(differences)
    gram = np.empty((count, count))
    for i, one in enumerate(differences):
        for j in range(i + 1):
            gram[i, j] = gram[j, i] = one.pairing(differences[j], mass)
    trace = float(np.trace(gram))
    if not 0 < trace < np.inf:
        return None
    right = np.array([one.pairing(residual, mass) for one in differences])
    ridge = RIDGE * trace
    factors: Float64 = np.linalg.solve(gram + ridge * np.eye(count), right)
    # They minimise |f - dF gamma|^2 + ridge |gamma|^2, which is |f|^2 at gamma = 0. Pairs (a, G a)
    # at rest differ by rounding alone, which pairs to no Gram matrix; what solves that may be any
    # number, with which a and G a would part.
    size = float(factors @ factors)
    return (
        factors if np.isfinite(size) and ridge * size <= residual.pairing(residual, mass) else None
    )
