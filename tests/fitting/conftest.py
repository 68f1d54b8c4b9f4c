"""For tests of rows in files: sizes by which a few hundred rows are many."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from cmeans.data.files import group_cache
from limited import limited


@pytest.fixture(scope="module")
def nothing_is_small() -> Iterator[None]:
    """Files of any size stay where they are, and are decoded in many pieces; what is sampled of many rows is sampled here."""
    with pytest.MonkeyPatch.context() as patch:
        limited(patch, loaded_bytes=0, canonical_rows=900, exact_rows=900, fixed_rows=300, block_rows=300)
        patch.setattr(group_cache, "LEAST", 6_000)
        yield
