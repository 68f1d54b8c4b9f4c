"""What every rule promises, over every kind of dense array. A new rule passes with a class of ten
lines: see test_rules.py."""

from __future__ import annotations

import pickle
from abc import ABC
from dataclasses import FrozenInstanceError, fields
from typing import Any, ClassVar

import numpy as np
import pytest
from scipy.optimize import minimize

from cmeans.rules import Rule
from contracts.arrays import DENSE, DTYPES, as_form, on_host
from sweep_choices import once

B, C = 40, 4
# NumPy's arrays in both precisions, those of other libraries in one of them
FORMS = (*(("numpy", dtype) for dtype in DTYPES), *once(DENSE[1:], DTYPES))
ROUNDING = {"float64": 1e-12, "float32": 2e-6}


class RuleContract(ABC):
    """A rule on rows at distances between 1e-3 and 1e3, a hundredth of them zero."""

    rule: ClassVar[Rule]
    scales: ClassVar[np.ndarray | None] = None  # (C,) where the rule needs them
    minimises: ClassVar[bool] = True  # False for a rule that is known to minimise nothing
    # False for a rule that holds back even from a row at its very centre
    sure_at_centres: ClassVar[bool] = True
    # False for a rule whose penalty is a reward, never above zero
    penalty_costs: ClassVar[bool] = True

    # True for a rule of clusters with metrics, with which its scales come, and in which distances
    # have no unit
    is_of_metrics: ClassVar[bool] = False

    def in_units(self, factor: float) -> Rule:
        """The rule for squared distances that are `factor` times as large; another one where it has
        a parameter in their units."""
        return self.rule

    @pytest.fixture(params=FORMS, ids="-".join)
    def d2(self, request: pytest.FixtureRequest) -> Any:
        form, dtype = request.param
        return as_form(distances(), form, dtype)

    def test_shape_dtype_and_range(self, d2: Any) -> None:
        u = self.rule.memberships(d2, self.scales)
        assert type(u) is type(d2)
        assert u.shape == (B, C)
        assert u.dtype == d2.dtype
        assert (on_host(u) >= 0).all()
        assert (on_host(u) <= 1).all()
        w = self.rule.weights(u)
        assert type(w) is type(d2)
        assert w.shape == (B, C)
        assert w.dtype == d2.dtype
        assert (on_host(w) >= 0).all()
        penalty = self.rule.penalty(u, self.scales)
        if penalty is not None:
            assert penalty.shape == (B,)
            assert penalty.dtype == d2.dtype
            assert ((on_host(penalty) if self.penalty_costs else -on_host(penalty)) >= 0).all()

    def test_rows_sum_to_one_where_promised(self, d2: Any) -> None:
        sums = on_host(self.rule.memberships(d2, self.scales)).sum(axis=1)
        if self.rule.noise_distance is not None:
            assert (sums <= 1 + ROUNDING[str(on_host(d2).dtype)]).all()
            assert sums.min() < 0.9
        elif self.rule.rows_sum_to_one:
            np.testing.assert_allclose(sums, 1, atol=ROUNDING[str(on_host(d2).dtype)])
        else:
            assert np.abs(sums - 1).max() > 0.01

    def test_ratios_of_distances_are_all_that_counts_where_promised(self) -> None:
        if self.rule.is_scale_free:
            u = self.rule.memberships(distances(), self.scales)
            np.testing.assert_allclose(
                self.rule.memberships(distances() * np.linspace(0.1, 9, B)[:, None], self.scales),
                u,
                atol=1e-12,
            )

    def test_what_is_given_is_left_as_it_was(self, d2: Any) -> None:
        before = on_host(d2).copy()
        u = self.rule.memberships(d2, self.scales)
        np.testing.assert_array_equal(on_host(d2), before)
        kept = on_host(u).copy()
        self.rule.weights(u)
        self.rule.penalty(u, self.scales)
        np.testing.assert_array_equal(on_host(u), kept)

    def test_every_library_says_the_same(self, d2: Any) -> None:
        rounding = ROUNDING[str(on_host(d2).dtype)]
        expected = self.rule.memberships(distances(), self.scales)
        u = self.rule.memberships(d2, self.scales)
        np.testing.assert_allclose(on_host(u), expected, rtol=0, atol=50 * rounding)
        u = as_form(expected, "numpy", str(on_host(d2).dtype))
        np.testing.assert_allclose(
            on_host(self.rule.weights(u)), self.rule.weights(expected), rtol=0, atol=50 * rounding
        )

    def test_rows_do_not_know_each_other(self, d2: Any) -> None:
        u = on_host(self.rule.memberships(d2, self.scales))
        alone = [on_host(self.rule.memberships(d2[i : i + 1, :], self.scales)) for i in range(B)]
        np.testing.assert_allclose(np.concatenate(alone), u, rtol=0, atol=ROUNDING[str(u.dtype)])

    def test_a_row_at_one_centre_belongs_there(self, d2: Any) -> None:
        rows = on_host(d2).copy()
        rows[:, 2] = 0
        rows[rows[:, 0] == 0, 0] = 1
        rows[:, [1, 3]] += 1
        u = on_host(self.rule.memberships(like(d2, rows), self.scales))
        if self.sure_at_centres:
            np.testing.assert_array_equal(u[:, 2], 1)
        assert (u[:, 2] > 0).all()
        if self.rule.rows_sum_to_one and self.sure_at_centres:
            np.testing.assert_array_equal(u[:, [0, 1, 3]], 0)
        assert (u[:, 2:3] > u[:, [0, 1, 3]]).all() or not self.rule.rows_sum_to_one

    def test_a_row_at_several_centres(self, d2: Any) -> None:
        """Shared equally where memberships are shared out at all and soft; the lowest number where
        they are not."""
        rows = on_host(d2).copy() + 1
        rows[:, [1, 3]] = 0
        u = on_host(self.rule.memberships(like(d2, rows), self.scales))
        if not self.rule.rows_sum_to_one:
            np.testing.assert_array_equal(
                u[:, [1, 3]], 1 if self.sure_at_centres else u[:1, [1, 3]].repeat(B, axis=0)
            )
        elif self.rule.is_soft and self.sure_at_centres:
            np.testing.assert_array_equal(u, np.tile([0, 0.5, 0, 0.5], (B, 1)))
        elif self.rule.is_soft:
            np.testing.assert_array_equal(u[:, 1], u[:, 3])
            assert (u[:, 1:2] > u[:, [0, 2]]).all()
        else:
            np.testing.assert_array_equal(u, np.tile([0, 1, 0, 0], (B, 1)))

    def test_extreme_distances_give_numbers(self, d2: Any) -> None:
        tiny = 1e-30
        rows = np.array(
            [
                [tiny, 1, 1 / tiny, 1],
                [tiny, 2 * tiny, tiny, tiny],
                [1 / tiny, 1 / tiny, 2 / tiny, 1 / tiny],
                [0, tiny, 1, 0],
            ]
        )
        with np.errstate(over="raise", invalid="raise", divide="raise"):
            u = on_host(self.rule.memberships(like(d2, rows), self.scales))
        assert np.isfinite(u).all()
        assert (u >= 0).all()
        assert (u <= 1).all()

    @pytest.mark.parametrize("factor", [1e-6, 0.5, 1e6])
    def test_units_do_not_matter(self, factor: float) -> None:
        if self.is_of_metrics:
            return
        scales = None if self.scales is None else factor * self.scales
        u = self.rule.memberships(distances(), self.scales)
        np.testing.assert_allclose(
            self.in_units(factor).memberships(factor * distances(), scales), u, rtol=0, atol=1e-10
        )

    def test_the_order_of_clusters_does_not_matter(self) -> None:
        d2 = distances()
        d2[d2 == 0] = 1
        order = np.array([2, 0, 3, 1])
        scales = None if self.scales is None else self.scales[order]
        expected = self.rule.memberships(d2, self.scales)[:, order]
        np.testing.assert_allclose(
            self.rule.memberships(d2[:, order], scales), expected, rtol=0, atol=1e-12
        )

    def test_nearer_is_never_less(self) -> None:
        """Within a row where clusters have equal scales; and weights grow with memberships."""
        d2 = distances()
        scales = None if self.scales is None else np.full(C, 2.0)
        u = self.rule.memberships(d2, scales)
        order = np.argsort(d2, axis=1, kind="stable")
        falling = -np.diff(np.take_along_axis(u, order, axis=1), axis=1)
        assert (falling >= -1e-15).all()
        ladder = np.linspace(0, 1, 11)[:, None]
        assert (np.diff(self.rule.weights(ladder), axis=0) > 0).all()
        assert self.rule.weights(np.array([[0.0, 1.0]])).tolist() == [[0, 1]]

    def test_memberships_minimise_the_objective_row_by_row(self) -> None:
        """Against a numeric search from several starts: the simplex where rows sum to one (or, with
        noise, to less), else the unit box."""
        gains = []
        for row in distances()[:6]:
            found = self._objective(self.rule.memberships(row[None, :], self.scales)[0], row)
            gains.append((found - self._lowest(row)) / max(abs(found), 1e-300))
        if self.minimises:
            assert max(gains) < 1e-6
        else:
            assert max(gains) > 1e-3

    def test_it_is_a_value(self) -> None:
        assert pickle.loads(pickle.dumps(self.rule)) == self.rule
        assert hash(self.rule) == hash(pickle.loads(pickle.dumps(self.rule)))
        name = next((field.name for field in fields(self.rule)), "anything")
        with pytest.raises(FrozenInstanceError):
            setattr(self.rule, name, 3)
        takes_scales = self.rule.needs_pilot or self.rule.has_prices or self.is_of_metrics
        assert takes_scales == (self.scales is not None)

    def _objective(self, u: np.ndarray, d2: np.ndarray) -> float:
        u = np.clip(u, 0, 1)[None, :]
        penalty = self.rule.penalty(u, self.scales)
        prices = self.scales if self.rule.has_prices and self.scales is not None else np.zeros(C)
        return float(
            (self.rule.weights(u) * d2 - prices * u).sum()
            + (0 if penalty is None else penalty.sum())
        )

    def _lowest(self, d2: np.ndarray) -> float:
        rng = np.random.default_rng(0)
        shared = self.rule.rows_sum_to_one
        kind = "eq" if self.rule.noise_distance is None else "ineq"  # noise has the rest
        constraints = [{"type": kind, "fun": lambda u: 1 - u.sum()}] if shared else []
        unit = abs(self._objective(np.full(C, 1 / C), d2)) or 1.0
        lowest = min(
            self._objective(corner, d2)
            for corner in (np.eye(C) if shared else np.vstack([np.eye(C), np.zeros(C), np.ones(C)]))
        )
        for _ in range(3):
            start = rng.dirichlet(np.ones(C)) if shared else rng.uniform(size=C)
            search = minimize(
                lambda u: self._objective(u, d2) / unit,
                start,
                method="SLSQP",
                bounds=[(0, 1)] * C,
                constraints=constraints,
                options={"ftol": 1e-13, "maxiter": 300},
            )
            u = np.clip(search.x, 0, 1)
            total = u.sum() if kind == "eq" else max(u.sum(), 1.0)
            lowest = min(lowest, self._objective(u / total if shared else u, d2))
        return lowest


def distances() -> np.ndarray:
    """(B, C) squared distances over six orders of magnitude, with a few zeros (two in one row)."""
    rng = np.random.default_rng(6)
    d2 = 10 ** rng.uniform(-3, 3, size=(B, C))
    d2[:6] = rng.uniform(0.5, 2, size=(6, C))  # soft rules are soft here
    d2[7, 1] = d2[15, 3] = d2[15, 0] = 0
    return d2.astype(np.float32).astype(np.float64)


def like(x: Any, values: np.ndarray) -> Any:
    """Values in x's library and dtype."""
    form = (
        "torch"
        if hasattr(x, "numpy")
        else "numpy"
        if isinstance(x, np.ndarray)
        else "array_api_strict"
    )
    return as_form(values, form, str(on_host(x).dtype))
