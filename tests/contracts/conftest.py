"""Contracts are modules of plain asserts that others inherit; pytest explains them like any
test's."""

import pytest

pytest.register_assert_rewrite(
    "contracts.engine", "contracts.rule", "contracts.space", "contracts.sweep"
)
