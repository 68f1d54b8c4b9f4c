"""Bits of an npz that have changed: one line about the file, whatever its members are packed by."""

from __future__ import annotations

import io
import random
import zipfile
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse

import cmeans
from cmeans.data.row_source import RowsError

X = np.random.default_rng(0).normal(size=(200, 4)) * (np.arange(200)[:, None] % 3 > 0)
PACKERS = {
    "stored": zipfile.ZIP_STORED,
    "deflate": zipfile.ZIP_DEFLATED,
    "bzip2": zipfile.ZIP_BZIP2,
    "lzma": zipfile.ZIP_LZMA,
}


def members(kind: str) -> dict[str, bytes]:
    arrays = {"X": X}
    if kind == "weights":
        arrays["w"] = np.ones(200)
    if kind == "sparse":
        x = scipy.sparse.csr_array(X)
        arrays = {"data": x.data, "indices": x.indices, "indptr": x.indptr}
        arrays |= {"shape": np.array(x.shape), "format": np.array("csr")}
    found = {}
    for name, array in arrays.items():
        np.save(file := io.BytesIO(), array)
        found[f"{name}.npy"] = file.getvalue()
    return found


def read(file: Path, kind: str) -> list[np.ndarray]:
    rows = cmeans.open_blocks(file, weight="w" if kind == "weights" else None)
    if kind == "sparse":
        return [rows.toarray()]
    return [rows.read(0, 200), *([] if rows.weight is None else [rows.weight])]


@pytest.mark.parametrize("packer", PACKERS)
@pytest.mark.parametrize("kind", ["dense", "weights", "sparse"])
def test_a_bit(packer: str, kind: str, tmp_path: Path) -> None:
    file = tmp_path / "x.npz"
    with zipfile.ZipFile(file, "w", PACKERS[packer]) as archive:
        for name, data in members(kind).items():
            archive.writestr(name, data)
    whole, right = file.read_bytes(), read(file, kind)
    np.testing.assert_array_equal(right[0], X)
    with zipfile.ZipFile(file) as archive:
        end = archive.start_dir
    dice, said = random.Random(0), list[str]()
    for _ in range(40):
        changed, at = bytearray(whole), dice.randrange(end)
        changed[at] ^= 1 << dice.randrange(8)
        file.write_bytes(changed)
        try:
            found = read(file, kind)
        except RowsError as error:
            said.append(str(error))
        else:  # a date, or the like
            for one, other in zip(found, right, strict=True):
                np.testing.assert_array_equal(one, other)
    assert len(said) > 30
    assert all(line.startswith(f"{file}: ") and "\n" not in line for line in said)
