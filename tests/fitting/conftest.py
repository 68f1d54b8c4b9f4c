"""For tests of rows in files: sizes by which a few hundred rows are many."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from cmeans.data.files import group_cache
from limited import limited
from stored_rows import FEW


@pytest.fixture(scope="module")
def nothing_is_small() -> Iterator[None]:
    """Files of any size stay where they are, and are decoded in many pieces; what is sampled of
    many rows is sampled here."""
    with pytest.MonkeyPatch.context() as patch:
        limited(patch, **FEW)
        patch.setattr(group_cache, "LEAST", 6_000)
        yield
