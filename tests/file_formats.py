"""The same rows in every format, for tests that must find them again bit for bit."""

from __future__ import annotations

import gzip
import struct
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq

Written = Callable[[Path, np.ndarray], object]
NAMES = "abcdefgh"


def table(x: np.ndarray) -> pa.Table:
    return pa.table(dict(zip(NAMES, np.asarray(x).T.copy(), strict=False)))


def parquet(folder: Path, x: np.ndarray, name: str = "x.parquet", group: int = 37) -> Path:
    folder.mkdir(exist_ok=True, parents=True)
    pq.write_table(table(x), folder / name, row_group_size=group)
    return folder / name


def parquet_folder(folder: Path, x: np.ndarray) -> Path:
    root = folder / "rows"
    for at, part in enumerate(np.array_split(x, 4)):
        parquet(root / f"part={at}", part, f"{at}.parquet")
    parquet(root, x[:0], "a-empty.parquet")
    (root / "_SUCCESS").write_bytes(b"")
    (root / ".hidden.parquet").write_bytes(b"not yet written")
    return root


def parquet_pattern(folder: Path, x: np.ndarray) -> str:
    for at, part in enumerate(np.array_split(x, 3)):
        parquet(folder, part, f"rows-{at}.pq")
    return str(folder / "rows-*.pq")


def other_orders(folder: Path, x: np.ndarray) -> list[Path]:
    """Files whose columns stand in another order."""
    first = parquet(folder, x[:400], "first.parquet")
    rest = table(x[400:])
    pq.write_table(rest.select(rest.schema.names[::-1]), folder / "rest.parquet")
    return [first, folder / "rest.parquet"]


def ipc(folder: Path, x: np.ndarray) -> Path:
    return _ipc(folder / "x.arrow", pa.ipc.new_file, x)


def ipc_stream(folder: Path, x: np.ndarray) -> Path:
    return _ipc(folder / "x.arrows", pa.ipc.new_stream, x)


def ipc_folder(folder: Path, x: np.ndarray) -> Path:
    (folder / "rows").mkdir()
    _ipc(folder / "rows" / "1.feather", pa.ipc.new_file, x[:300])
    _ipc(folder / "rows" / "2.arrows", pa.ipc.new_stream, x[300:])
    return folder / "rows"


def _ipc(file: Path, new: Callable, x: np.ndarray) -> Path:
    with new(file, table(x).schema) as writer:
        writer.write_table(table(x), max_chunksize=41)
    return file


def csv(folder: Path, x: np.ndarray, name: str = "x.csv") -> Path:
    folder.mkdir(exist_ok=True)
    pa.csv.write_csv(table(x), folder / name)
    return folder / name


def packed_csv(folder: Path, x: np.ndarray) -> Path:
    (folder / "x.csv.gz").write_bytes(gzip.compress(csv(folder, x).read_bytes()))
    return folder / "x.csv.gz"


def csv_folder(folder: Path, x: np.ndarray) -> Path:
    for at, part in enumerate(np.array_split(x, 3)):
        csv(folder / "rows", part, f"{at}.csv")
    return folder / "rows"


def npy(folder: Path, x: np.ndarray) -> Path:
    np.save(folder / "x.npy", x)
    return folder / "x.npy"


def npy_by_columns(folder: Path, x: np.ndarray) -> Path:
    return npy(folder, np.asfortranarray(x))


def npy_swapped(folder: Path, x: np.ndarray) -> Path:
    return npy(folder, x.astype(x.dtype.newbyteorder(">")))


def npy_list(folder: Path, x: np.ndarray) -> list[Path]:
    cuts = [0, 1, 500, 500, len(x)]
    files = [folder / f"{at}.npy" for at in range(4)]
    for file, start, stop in zip(files, cuts, cuts[1:], strict=False):
        np.save(file, np.asfortranarray(x[start:stop]) if start else x[start:stop])
    return files


def npz(folder: Path, x: np.ndarray) -> Path:
    np.savez(folder / "x.npz", y=np.arange(len(x)), X=x)
    return folder / "x.npz"


def packed_npz(folder: Path, x: np.ndarray) -> Path:
    np.savez_compressed(folder / "x.npz", y=np.arange(len(x)), X=x)
    return folder / "x.npz"


# types of the numbers of vectors, by the endings of their files
VECTORS = {
    "fvecs": "<f4",
    "ivecs": "<i4",
    "bvecs": "u1",
    "fbin": "<f4",
    "f16bin": "<f2",
    "ibin": "<i4",
    "u8bin": "u1",
    "i8bin": "i1",
}


def vector_file(folder: Path, x: np.ndarray, kind: str) -> Path:
    """Rows as vector indexes keep them: each with its length, or all behind both numbers."""
    folder.mkdir(exist_ok=True)
    file, numbers = folder / f"x.{kind}", x.astype(VECTORS[kind])
    length = struct.pack("<i", x.shape[1])
    if kind.endswith("vecs"):
        file.write_bytes(b"".join(length + row.tobytes() for row in numbers))
    else:
        file.write_bytes(struct.pack("<i", len(x)) + length + numbers.tobytes())
    return file


NAMED: list[Written] = [
    parquet, parquet_folder, parquet_pattern, other_orders,
    ipc, ipc_stream, ipc_folder, csv, packed_csv, csv_folder,
]  # fmt: skip
NUMBERED: list[Written] = [npy, npy_by_columns, npy_swapped, npy_list, npz, packed_npz]
TEXT = {csv, packed_csv, csv_folder}  # have no types, and are read as float64
EVERY = [*NAMED, *NUMBERED]


def as_lists(x: np.ndarray, kind: str = "fixed") -> pa.Array:
    """Rows as the lists of one column, as embeddings are stored: of a length that their type says,
    or not."""
    if kind == "fixed":
        return pa.FixedSizeListArray.from_arrays(
            pa.array(np.ascontiguousarray(x).ravel()), x.shape[1]
        )
    of = {"plain": pa.list_, "large": pa.large_list}[kind]
    return pa.array(list(x), type=of(pa.from_numpy_dtype(x.dtype)))


def lists(folder: Path, x: np.ndarray, kind: str, ending: str, **beside: pa.Array) -> Path:
    """A file whose column `vector` holds the rows, behind other columns."""
    made, file = pa.table({**beside, "vector": as_lists(x, kind)}), folder / f"lists.{ending}"
    if ending == "parquet":
        pq.write_table(made, file, row_group_size=37)
        return file
    with {"arrow": pa.ipc.new_file, "arrows": pa.ipc.new_stream}[ending](
        file, made.schema
    ) as writer:
        writer.write_table(made, max_chunksize=41)
    return file
