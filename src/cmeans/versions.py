"""Versions of all that runs here, for reports of bugs."""

from __future__ import annotations

import os
import platform
import re
import sys
from importlib.metadata import PackageNotFoundError, requires, version

from . import native
from .runtime.version import __version__


def show_versions() -> None:
    """Print the versions of Python, this library and all that it can use, its native code, and the
    thread pools of the process.

    Examples
    --------
    >>> import cmeans
    >>> cmeans.show_versions()  # doctest: +ELLIPSIS
    cmeans ...
    """
    import scipy.linalg  # noqa: F401, so that its thread pool is among those that are shown
    from threadpoolctl import threadpool_info

    lines = [
        f"cmeans {__version__}, native code: {native.variant() or 'none'}",
        f"Python {platform.python_version()}, {platform.platform()}, {os.cpu_count()} CPUs, "
        f"{sys.executable}",
        *(f"  {name} {_version(name)}" for name in _packages()),
    ]
    for pool in threadpool_info():
        described = [
            str(pool.get(key))
            for key in ("user_api", "version", "architecture", "num_threads", "filepath")
            if pool.get(key)
        ]
        lines.append(f"  threads: {' '.join(described)}")
    sys.stdout.write("\n".join(lines) + "\n")


def _packages() -> list[str]:
    """Return the names of what this library needs or can use, as its metadata have them."""
    try:
        names = [re.split(r"[^\w.-]", needed)[0] for needed in requires("cmeans") or []]
    except PackageNotFoundError:  # run from a folder of sources
        names = ["numpy", "scipy", "scikit-learn"]
    return sorted({name for name in names if name != "cmeans"})


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "-"
