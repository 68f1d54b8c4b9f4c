"""Files of rows that are damaged, or that somebody made who means no good: each is refused in a
line that names it, or holds finite rows.

Parquet, Arrow and CSV keep no digest, so that other numbers may come where bytes were changed; but
never others than the file has, nor more of them than it says, nor any that are missing.
"""

from __future__ import annotations

import io
import random
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.ipc
import pyarrow.parquet as pq
from scipy import sparse

import cmeans
import file_formats as formats
from cmeans.data.row_source import RowsError, StoredRows
from fuzz.mutations import NUMBERS, changed_array, changed_bytes, changed_text
from fuzz.runner import Case, FoundError

X = np.random.default_rng(0).normal(size=(90, 4))
WORDS = (
    ",",
    ";",
    "\t",
    '"',
    '""',
    "\n",
    "\r\n",
    "\r",
    "\n\n",
    "nan",
    "NA",
    "inf",
    "-",
    "1e999",
    "1e-999",
    "0x10",
    "1_000",
    "٣",
    "true",
    "",
)
WORDS += (
    " ",
    "1.234,5",
    "€",
    "%",
    "'",
    "\u00a0",
    "\ufeff",
    "\0",
    "\x1b[31m",
    "a,b,c,d\n",
    "1,2,3,4\n",
    "=cmd()",
    "é",
    "\U0001f600",
    "9" * 400,
    "," * 50,
    "'",
    "#",
    "\\",
    " kg",
    "5-",
    "(7)",
    "1,23,456",
    "CHF 3",
    "\u22124",
    "Total,",
)
SHAPES = (
    "({n}, 4)",
    "(4, {n})",
    "({n},)",
    "()",
    "({n}, {n})",
    "(90, 4.0)",
    "(True, 4)",
    "[90, 4]",
    "((90, 4),)",
    "(90,4,{n})",
)
DTYPES = (
    "<f8",
    ">f4",
    "|O",
    "<U{n}",
    "|S{n}",
    "<i{n}",
    "|V{n}",
    "<M8[s]",
    "|b1",
    "<c16",
    "<f16",
    "f8, f8",
    "{n}f8",
    "('<f8', ({n},))",
)


def with_nulls(folder: Path) -> Path:
    columns: dict[str, Any] = {
        "a": [1.0, 2.0] * 45,
        "b": list(range(90)),
        "t": ["x", "y", "z"] * 30,
        "f": [True, False] * 45,
    }
    pq.write_table(
        pa.table(columns),
        folder / "x.parquet",
        row_group_size=20,
        compression="zstd",
        data_page_size=64,
    )
    return folder / "x.parquet"


def with_dictionaries(folder: Path) -> Path:
    table = pa.table(
        {
            "a": X[:, 0],
            "t": pa.array(["x", "y", "z"] * 30).dictionary_encode(),
            "d": pa.array([1, 2, 3] * 30).dictionary_encode(),
        }
    )
    with pa.ipc.new_file(
        folder / "x.arrow", table.schema, options=pa.ipc.IpcWriteOptions(compression="lz4")
    ) as writer:
        writer.write_table(table, max_chunksize=30)
    return folder / "x.arrow"


def lists(folder: Path, kind: str, ending: str) -> Path:
    return formats.lists(folder, X, kind, ending, a=pa.array(X[:, 0]))


def sparse_rows(folder: Path) -> Path:
    sparse.save_npz(folder / "x.npz", sparse.csr_array(np.where(X > 0.3, X, 0.0)))
    return folder / "x.npz"


FILES: dict[str, Callable[[Path], Any]] = {
    **{
        make.__name__: lambda folder, make=make: make(folder, X)
        for make in (*formats.NUMBERED, *formats.NAMED)
        if "list" not in make.__name__
    },
    **{
        kind: lambda folder, kind=kind: formats.vector_file(folder, X, kind)
        for kind in formats.VECTORS
    },
    **{make.__name__: make for make in (with_nulls, with_dictionaries, sparse_rows)},
    **{
        f"{kind} lists in {ending}": lambda folder, kind=kind, ending=ending: lists(
            folder, kind, ending
        )
        for kind in ("fixed", "plain")
        for ending in ("arrow", "arrows", "parquet")
    },
}


MESSY = (  # as people write tables
    "id;Datum;Land;Umsatz;Anteil\n"
    + "".join(
        f"K{at};{1 + at % 28:02}.03.2024;{'äöü'[at % 3]};{at % 9}.{at * 7 % 1000:03},50 €;{at} %\n"
        for at in range(60)
    ),
    "lat lon  hour\n" + "".join(f" {at} {2 * at}   {at % 24} \n" for at in range(30)),
    "a,b\n" + "".join(f"{at % 7},{'?' if at % 9 == 0 else at * 0.5}\n" for at in range(60)),
    "a,b\n" + "".join(f"{-9999 if at % 9 == 0 else at % 7},{at * 0.5}\n" for at in range(60)),
    "a,b\n" + "".join(f'{at % 7},"${at},{at * 37 % 1000:03}"\n' for at in range(60)),
    "a\tb\n" + "".join(f"{at % 7} kg\t{at % 9},2{'-' * (at % 2)}\n" for at in range(60)),
    "a,b\nkg,m/s\n" + "".join(f'({at % 7}.5),"{at},23,{at % 10}56"\n' for at in range(60)),
    '"a","b"\n' + "".join(f'"{at + 1}",{at % 7},{at * 0.5}\n' for at in range(60)),
    "a;b\n" + "".join(f"{at % 7};{at}-\n" for at in range(60)) + "Total;180\n",
)
SAID: dict[str, Any] = {  # what a user may say of a table
    "categorical": (["a"], ["Land"], ["id"], ["nobody"]),
    "dates": (["Datum"], ["Datum=%d.%m.%Y"], ["a=%Y"], ["a"]),
    "cyclic": ({"hour": 24}, {"a": 0}, {"b": float("inf")}),
    "latlon": ([("lat", "lon")], [("a", "b")]),
    "column_weight": ({"a": 2.0}, {"a": -1.0}, {"nobody": 2.0}),
    "scale": ("standard", "unit", "robust", "log"),
    "missing_values": (["?"], ["-9999"], ["none"], ["", "1"]),
    "decimal": (",", "."),
    "thousands": (".", ",", " "),
    "encoding": ("utf-16", "cp1252", "nonsense", "hex"),
}


def prepared(folder: Path) -> Case:
    seeds: dict[str, tuple[str, bytes]] = {}
    for name, make in FILES.items():
        (folder / name.strip("_")).mkdir()
        made = Path(str(make(folder / name)))
        if made.is_file():
            seeds[name] = made.name, made.read_bytes()

    def case(dice: random.Random) -> str:
        kind = dice.choice(("bytes", "bytes", "csv", "messy", "npy", "vectors", "sparse"))
        ending, data = dice.choice(list(seeds.values()))
        if kind == "bytes":
            data = changed_bytes(data, dice, [other for _, other in seeds.values()])
        elif kind == "messy":
            ending, data = (
                "x.csv",
                changed_text(dice.choice(MESSY), dice, WORDS).encode(
                    dice.choice(("utf-8", "utf-16", "cp1252", "utf-8-sig")), errors="ignore"
                ),
            )
        elif kind == "csv":
            ending, text = dice.choice(
                (seeds["csv"], ("x.txt", b"1;2\n3;4\n5;6\n"), ("x.tsv", b'a\t"b c"\n1\t2\n3\t4\n'))
            )
            data = changed_text(text.decode(), dice, WORDS).encode(errors="surrogateescape")
        elif kind == "npy":
            ending, data = "x.npy", npy_of(dice)
        elif kind == "vectors":
            ending, data = f"x.{dice.choice(list(formats.VECTORS))}", vectors_of(dice)
        else:
            ending, data = "x.npz", sparse_of(dice)
        file = (
            folder / f"hostile{Path(ending).suffix if Path(ending).suffix != '.gz' else '.csv.gz'}"
        )
        file.write_bytes(data)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            return read(file, dice)

    return case


def read(file: Path, dice: random.Random) -> str:
    """Open a file as dice have it, and read it all."""
    words: dict[str, Any] = {}
    if dice.random() < 0.2:
        words["columns"] = dice.choice(
            (0, [1, 0], ["a"], "0-1", -1, [10**9], "b", "0-999999999999", "vector", ["a", "vector"])
        )
    if dice.random() < 0.1:
        words["weight"] = dice.choice(("a", 0, "w", 10**6))
    opens: Callable[..., Any] = cmeans.open_blocks
    if dice.random() < 0.3:
        opens, more = (
            cmeans.read_table,
            {name: dice.choice(values) for name, values in SAID.items()},
        )
        words |= dict(dice.sample(list(more.items()), dice.randrange(3)))
    try:
        rows = opens(file, **words)
        if not isinstance(rows, StoredRows):
            if not np.isfinite(rows.data).all():
                raise FoundError("numbers that are not finite")
            return "read"
        n, d = rows.shape
        read = [rows.read(start, min(start + 37, n)) for start in range(0, n, 37)]
        some = rows.take(np.array([n - 1, 0, n // 2]))
    except RowsError as error:
        if "\n" in str(error) or not str(error).isprintable() or len(str(error)) > 2000:
            raise FoundError(
                f"a message of {len(str(error))} characters, or not in a line: {str(error)[:300]!r}"
            ) from error
        return "refused"
    whole = np.concatenate(read)
    if file.suffix.startswith(".arrow") and n > 8 * file.stat().st_size:
        raise FoundError(f"{n} rows of {file.stat().st_size} bytes")
    if (
        whole.shape != (n, d)
        or not np.isfinite(whole).all()
        or not np.array_equal(some, whole[[n - 1, 0, n // 2]])
    ):
        raise FoundError(
            f"{whole.shape} of {(n, d)} rows, or not the same each time, or not finite"
        )
    return "read"


def npy_of(dice: random.Random) -> bytes:
    """Return an array whose header says what it likes."""
    n = str(dice.choice((*NUMBERS, 3, 4, 90, 10**7, 10**10, 10**30)))
    descr, shape = dice.choice(DTYPES).replace("{n}", n), dice.choice(SHAPES).replace("{n}", n)
    header = (
        f"{{'descr': {descr!r}, 'fortran_order': {dice.choice(('True', 'False', '1'))}, "
        f"'shape': {shape}, }}"
    )
    header = changed_text(header, dice, WORDS) if dice.random() < 0.2 else header
    text = header.encode() + b"\n"
    version = dice.choice((1, 1, 2, 3, 9))
    size = len(text) if dice.random() < 0.9 else dice.choice((0, 2**16 - 1))
    return (
        b"\x93NUMPY"
        + bytes((version, 0))
        + size.to_bytes(2 if version == 1 else 4, "little")
        + text
        + X.tobytes()[: dice.choice((0, 96, 2880))]
    )


def vectors_of(dice: random.Random) -> bytes:
    """Return numbers of rows and columns that say what they like, before those of some rows."""
    sizes = (*NUMBERS, 0, 1, 3, 4, 90, 720, 10**7, 2**24, -1)
    head = np.array([dice.choice(sizes) % 2**32 for _ in range(dice.choice((1, 2)))], np.uint32)
    return head.tobytes() + X.tobytes()[: dice.choice((0, 8, 96, 2880))]


def sparse_of(dice: random.Random) -> bytes:
    """Return a sparse matrix whose parts may not fit together."""
    x = sparse.csr_array(np.where(X > 0.3, X, 0.0))
    parts: dict[str, Any] = {
        "data": x.data,
        "indices": x.indices,
        "indptr": x.indptr,
        "shape": np.array(x.shape),
    }
    parts["format"] = dice.choice(("csr", "csc", "coo", "bsr", "dia", "lil", "x")).encode()
    name = dice.choice(("data", "indices", "indptr", "shape"))
    changed = parts[name].copy()
    changed[dice.randrange(len(changed))] = (
        dice.choice(NUMBERS) % 2**31
        if name != "shape"
        else dice.choice((0, 3, -1, 10**7, 2**31 - 1, 2**40, 2**62))
    )
    parts[name] = (
        changed[: dice.choice((None, None, -1))]
        if dice.random() < 0.7
        else changed_array(parts[name], dice)
    )
    file = io.BytesIO()
    (np.savez if dice.random() < 0.5 else np.savez_compressed)(file, **parts)
    return file.getvalue()
