"""Base of what reads rows and runs passes over them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, ClassVar

from ..data.arrays import Array
from ..data.blocks import Blocks
from ..data.limits import Limits
from ..engines import Engine, engine_of_rows
from ..runtime.user_warnings import naming
from .arguments import check_engine
from .rows.finite import names_of
from .rows.out_of_range import naming_the_row
from .validation import CheckedRows, read_rows
from .weights import weights_of


class RunsPasses:
    """Mixin of the parameters that say who runs passes, and how many threads do."""

    n_jobs: int | None
    engine: Engine | None
    _limits = Limits()  # no parameter, and not saved
    # the fitted attribute by which clusters are judged that have no centres in a space; None: they
    # are judged by `select` and `stability`
    _own_evidence: ClassVar[str | None] = None

    def _engine_of(self, x: Array) -> Engine:
        """Return the parameter `engine`, checked; where there is none, the workers that hold the
        rows `x`, or threads."""
        if (given := check_engine(self)) is not None:
            return given
        return engine_of_rows(x, self.n_jobs)

    @contextmanager
    def _engine(self, blocks: Blocks) -> Iterator[Engine]:
        """Provide the engine that runs passes over these rows."""
        with (
            self._engine_of(blocks.x).opened(blocks.x) as engine,
            naming(type(self).__name__),
            naming_the_row(blocks, engine, names_of(self)),
        ):
            yield engine

    def _rows_to_fit(
        self, X: Any, sample_weight: Any, *, sparse: bool = True
    ) -> tuple[CheckedRows, Blocks]:
        """Read the rows of a fit and their weights, and note the names of their columns."""
        given = read_rows(self, X, fitting=True, sparse=sparse)
        given.name_columns(self)
        return given, self._blocks(given.x, *weights_of(given, sample_weight, type(self).__name__))

    def _blocks(self, x: Any, weight: Any, unit: float = 1.0) -> Blocks:
        """Return checked rows and weights as passes take them."""
        n_threads = self._engine_of(x).n_threads
        return Blocks(x, weight, unit=unit, limits=self._limits, n_threads=n_threads)
