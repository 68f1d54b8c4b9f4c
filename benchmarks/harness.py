"""What benchmarks share: where data are, how rows are scaled, and on what machine it all runs."""

from __future__ import annotations

import json
import os
import platform
import re
import warnings
from collections.abc import Iterable
from functools import lru_cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np
import threadpoolctl

import cmeans

# of cmeans.datasets, by scikit-learn's fetchers
FETCHED = {"covtype": "load_covtype", "mnist": "load_mnist"}


class DataError(Exception):
    """A data set that is neither in the folder nor to be had otherwise."""


def load(name: str, part: str = "X") -> np.ndarray:
    """The rows of one data set, as stored, or its classes ("y"): from a folder of files, else
    through scikit-learn."""
    path = data_file(name)
    if not path.exists():
        return _elsewhere(name)[0 if part == "X" else 1]
    with np.load(path) as file:
        return file[part]


def data_file(name: str) -> Path:
    """Where the file of a data set is to be."""
    folder = (
        os.environ.get("CMEANS_DATA") or Path(__file__).resolve().parents[2] / "shared" / "data"
    )
    return Path(folder) / f"{name}.npz"


@lru_cache(maxsize=1)
def _elsewhere(name: str) -> tuple[np.ndarray, np.ndarray]:
    import sklearn.datasets

    import cmeans.datasets

    built_in = {
        "iris": "load_iris",
        "wine": "load_wine",
        "wdbc": "load_breast_cancer",
        "digits": "load_digits",
    }
    try:
        if name in FETCHED:
            return getattr(cmeans.datasets, FETCHED[name])()
        return getattr(sklearn.datasets, built_in[name])(return_X_y=True)
    except (KeyError, OSError) as error:
        raise DataError(f"{name}: set CMEANS_DATA to the folder that holds {name}.npz") from error


def quiet() -> None:
    """Ignore warnings but for one: a parameter that a kernel has no use for is a mistake of the
    benchmark."""
    warnings.simplefilter("ignore")
    warnings.filterwarnings("error", message=".* needs no gamma")


def unit_interval(x: np.ndarray, dtype: type) -> np.ndarray:
    """Every feature to [0, 1]; constant ones to 0."""
    x = np.ascontiguousarray(x, dtype=dtype)
    low, high = x.min(axis=0), x.max(axis=0)
    x -= low
    x /= np.where(high > low, high - low, 1)
    return x


def header() -> str:
    """Machine, versions and BLAS threads: what a timing means nothing without."""
    lines = [
        f"{platform.processor() or platform.machine()}, {os.cpu_count()} CPUs, Python "
        f"{platform.python_version()}"
    ]
    if Path("/proc/cpuinfo").exists():
        model = re.search(r"model name\s*:\s*(.+)", Path("/proc/cpuinfo").read_text())
        lines[0] = f"{model[1] if model else '?'}, " + lines[0]
    names = ("numpy", "scipy", "scikit-learn", "scikit-fuzzy")
    others = (f"{name} {_version(name)}" for name in names)
    lines.append(", ".join((f"cmeans {cmeans.__version__}", *others)))
    for pool in threadpoolctl.threadpool_info():
        lines.append(
            f"{pool['user_api']}: {pool['internal_api']} {pool.get('version')} "
            f"{pool.get('architecture', '')} x{pool['num_threads']}"
        )
    return "\n".join(lines)


def machine(threads: int) -> dict[str, Any]:
    """The machine as results keep it, and how busy it was."""
    cpu, system = platform.processor() or platform.machine(), platform.platform()
    if Path("/proc/cpuinfo").exists():
        said = dict(re.findall(r"(.+?)\s*: (.+)", Path("/proc/cpuinfo").read_text()))
        cpu = said.get("model name", cpu)
        # machines that are rented may not say more of their model than its maker
        if "cpu family" in said:
            cpu += f" (family {said['cpu family']}, model {said['model']})"
    memory = (
        os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") / 2**30
        if hasattr(os, "sysconf")
        else 0.0
    )
    load = os.getloadavg()[0] if hasattr(os, "getloadavg") else 0.0
    return {
        "cpu": cpu,
        "cpus": os.cpu_count(),
        "threads": threads,
        "memory_gb": memory,
        "system": system,
        "load": load,
    }


def grow(lines: list[str], rows: Iterable[str], path: Path | None) -> None:
    """Print the beginning of a page, and its rows as they are measured; keep what is there, where
    that is asked for."""
    print("\n".join(lines), flush=True)
    for row in rows:
        lines.append(row)
        print(row, flush=True)
        if path is not None:
            path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def finish(result: dict[str, Any], path: str | None) -> None:
    """Print the tables of a script that measures cmeans alone; keep the result, where it is asked
    for."""
    for table in result["tables"]:
        print(
            f"\n   {table['caption']}\n   "
            + "".join(f"{column[-18:]:>19s}" for column in table["columns"])
        )
        for row in table["rows"]:
            print(
                "   "
                + "".join(
                    f"{cell:19.3f}" if isinstance(cell, float) else f"{cell!s:>19s}" for cell in row
                )
            )
    if path is not None:
        Path(path).write_text(json.dumps(result))


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "absent"
