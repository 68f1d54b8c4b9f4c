"""What a report of a bug begins with."""

from __future__ import annotations

import platform

import numpy as np
import pytest

import cmeans


def test_versions_are_those_that_run(capsys: pytest.CaptureFixture[str]) -> None:
    cmeans.show_versions()
    printed = capsys.readouterr().out
    assert printed.startswith(
        f"cmeans {cmeans.__version__}, native code: {cmeans.native.variant() or 'none'}\n"
    )
    assert f"Python {platform.python_version()}" in printed
    assert f"  numpy {np.__version__}\n" in printed
    assert "  threads: blas" in printed
    assert "  torch" not in printed
