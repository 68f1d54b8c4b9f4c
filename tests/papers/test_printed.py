"""The forms that Havens 2011 prints: exponents of its rules, and the end of sweeps where
memberships stand still."""

from __future__ import annotations

import numpy as np
import pytest

import cmeans
import cmeans.data.blocks
import naive
from cmeans.engines import ThreadEngine
from cmeans.papers import PrintedCMeans, PrintedFuzzy, PrintedPossibilistic, printed_cmeans
from cmeans.papers.printed_cmeans import ChangePass
from cmeans.rules import Fuzzy, Hard, Possibilistic
from cmeans.sweeps.choice import assign_for
from cmeans.sweeps.represented_rows import RepresentedRows
from cmeans.sweeps.state import State
from limited import limited

X = np.random.default_rng(0).normal(size=(90, 3)) + 4 * np.eye(3)[np.arange(90) % 3]


def fitted(**words):
    return cmeans.FuzzyCMeans(
        3, m=1.2, kernel="rbf", gamma=0.1, init=X[:3], search=None, **words
    ).fit(X)


@pytest.mark.parametrize("n_landmarks", [None, 20])
@pytest.mark.parametrize("rule", [Fuzzy(2.0), PrintedFuzzy(2.0), Hard(), PrintedPossibilistic(2.0)])
def test_the_largest_change_of_a_membership_over_many_blocks(rule, n_landmarks, monkeypatch):
    limited(monkeypatch, block_rows=16, tasks=4)
    scales = np.array([1.0, 2.0, 0.5]) if rule.needs_pilot else None
    model = fitted(landmarks=n_landmarks)
    space, blocks = (
        model._space,
        cmeans.data.blocks.Blocks(X, np.ones(len(X)), limits=model._limits),
    )
    states = [State(model._state.centres[order], scales) for order in ([0, 1, 2], [0, 0, 1])]
    then, now = (rule.memberships(rows_distances(space, state), scales) for state in states)
    largest = (
        ThreadEngine(1)
        .fold(RepresentedRows(space, blocks, 0, training=False), ChangePass(rule, *states))
        .value
    )
    assert largest == pytest.approx(np.abs(now - then).max(), rel=1e-9)


@pytest.mark.parametrize(
    ("room", "expected"), [(10**6, [0, 1, 2, 1, 2, 0]), (0, [0, 1, 1, 2, 1, 2, 2, 0])]
)
def test_memberships_of_the_sweep_before_are_not_made_again(room, expected, monkeypatch):
    """Of two passes that follow each other, where rows stay in memory; another rule makes its
    own."""
    model, made = fitted(landmarks=20), []

    def counting(*words, **more):
        assign = assign_for(*words, **more)

        def counted(rows, space, rule, state, *rest):
            made.append(state)
            return assign(rows, space, rule, state, *rest)

        return counted

    monkeypatch.setattr(printed_cmeans, "assign_for", counting)
    blocks = cmeans.data.blocks.Blocks(X, np.ones(len(X)), limits=model._limits)
    rows = RepresentedRows(model._space, blocks, room, training=False)
    orders = [0, 1, 2], [0, 0, 1], [2, 2, 0]
    states = [State(model._state.centres[order], None) for order in orders]
    first, second = Fuzzy(2.0), Fuzzy(1.5)
    passes = [(first, 0, 1), (first, 1, 2), (second, 1, 2), (second, 2, 0)]
    for rule, before, at in passes:
        found = ThreadEngine(1).fold(rows, ChangePass(rule, states[before], states[at])).value
        then, now = (
            rule.memberships(rows_distances(model._space, states[which]), None)
            for which in (before, at)
        )
        assert found == pytest.approx(np.abs(now - then).max(), rel=1e-9)
    assert [next(n for n in range(3) if states[n] is state) for state in made] == expected


@pytest.mark.parametrize("share", [0.0, 0.5, 1.0])
def test_the_largest_change_in_any_task(share, monkeypatch):
    """In the first one, the last, or between."""
    limited(monkeypatch, block_rows=16, least_task_rows=16, task_values=100, tasks=4)
    model, rule = fitted(landmarks=20), Fuzzy(2.0)
    states = [State(model._state.centres[order], None) for order in ([0, 1, 2], [0, 0, 1])]
    then, now = (rule.memberships(rows_distances(model._space, state), None) for state in states)
    changes = np.abs(now - then).max(axis=1)
    x = np.roll(X, round(share * (len(X) - 1)) - int(changes.argmax()), axis=0)
    blocks = cmeans.data.blocks.Blocks(x, np.ones(len(x)), limits=model._limits)
    rows = RepresentedRows(model._space, blocks, 0, training=False)
    assert rows.n_tasks >= 3
    largest = ThreadEngine(1).fold(rows, ChangePass(rule, *states)).value
    assert largest == pytest.approx(changes.max(), rel=1e-9)


def rows_distances(space, state):
    (rows,) = (
        space.rows(block)
        for block in cmeans.data.blocks.Blocks(X, np.ones(len(X))).task(0, space.size)
    )
    return rows.squared_distances(space.view(state.centres, rows.kxx))


@pytest.mark.parametrize("rule", [Fuzzy(2.0), PrintedFuzzy(2.0)])
def test_sweeps_end_where_memberships_stand_still(rule):
    """Not one sweep before, and not one after: by loops over the rows."""
    tol, V = 1e-3, X[:3]
    model = PrintedCMeans(3, rule=rule, kernel="linear", init=V, search=None, tol=tol).fit(X)
    u, sweeps = None, 0
    while True:
        before, u = (
            u,
            naive.fuzzy_memberships(
                ((X[:, None] - V[None]) ** 2).sum(axis=2), 2.0, exponent=rule.power
            ),
        )
        V, sweeps = (u**2).T @ X / (u**2).sum(axis=0)[:, None], sweeps + 1
        if before is not None and np.abs(u - before).max() <= tol:
            break
    assert (model.n_iter_, model.converged_) == (sweeps, True)
    assert (
        model.stop_reason_
        == f"converged: memberships stand still to tol=0.001 after {sweeps} sweeps"
    )
    np.testing.assert_allclose(model.cluster_centers_, V, atol=1e-9)


def test_the_fuzzy_run_of_the_printed_typicalities_has_their_exponent():
    model = PrintedCMeans(
        3, rule=PrintedPossibilistic(2.0, eta_scale=0.5), kernel="linear", random_state=0
    ).fit(X)
    assert model.pilot_m_ == 2.0
    d2 = ((X[:, None] - model.cluster_centers_[None]) ** 2).sum(axis=2)
    np.testing.assert_allclose(model.memberships_, 1 / (1 + (d2 / model.eta_) ** 2), atol=1e-9)
    other = PrintedCMeans(
        3, rule=Possibilistic(2.0, eta_scale=0.5), kernel="linear", random_state=0
    ).fit(X)
    assert np.abs(other.eta_ - model.eta_).max() > 1e-3


def test_printed_forms_are_saved(tmp_path):
    model = PrintedCMeans(
        3, rule=PrintedFuzzy(1.5, exponent=3.0), kernel="linear", random_state=0
    ).fit(X)
    cmeans.save(model, tmp_path / "model.safetensors")
    again = cmeans.load(tmp_path / "model.safetensors")
    assert again.rule == model.rule
    np.testing.assert_array_equal(again.memberships(X), model.memberships(X))


@pytest.mark.parametrize("words", [{"m": 1.0}, {"m": 2.0, "exponent": 0.0}])
def test_bad_exponents_are_refused(words):
    with pytest.raises(ValueError, match=r"PrintedFuzzy\((m|exponent)=.*must be greater than"):
        PrintedFuzzy(**words)
