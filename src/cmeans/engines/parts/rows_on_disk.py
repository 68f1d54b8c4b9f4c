"""Rows of parts in files of the machine that works them, for all of its processes."""

from __future__ import annotations

import os
import shutil
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np


@dataclass(frozen=True)
class RowsOnDisk:
    """A folder of one file for each part, mapped into memory by whoever reads it, so that processes
    share its pages."""

    folder: str

    def found(self, number: int) -> Any:
        """Return the rows (b, d) of a part, or None."""
        with suppress(OSError):
            return np.load(self._file(number), mmap_mode="r")
        return None

    def written(self, number: int, rows: Any) -> Any:
        """Return the rows of a part, from a file where the disk has room for one."""
        part = self._file(number)
        whole = part.with_suffix(f".{os.getpid()}.npy")
        with suppress(OSError):
            whole.parent.mkdir(exist_ok=True)
            np.save(whole, rows)
            os.replace(whole, part)
            return self.found(number)
        whole.unlink(missing_ok=True)
        return rows

    def remove(self) -> None:
        """Remove the files; rows that are mapped stay where the system allows that."""
        shutil.rmtree(self.folder, ignore_errors=True)

    def _file(self, number: int) -> Path:
        return Path(self.folder) / f"{number}.npy"
