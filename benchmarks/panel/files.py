"""Rows that stay where they are - memory maps, files, workers of Dask - and answers that are
written to files."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import clone

import cmeans
from cmeans import (
    AdaptivePossibilisticCMeans,
    DaskEngine,
    FuzzyCMeans,
    KernelKMeans,
    PossibilisticCMeans,
    ProbabilisticKMeans,
    StreamingFuzzyCMeans,
)

from .cases import Words, case, fitted
from .rows import SOME, STORED, weights

Stored = Callable[[np.ndarray, Path], Any]  # writes rows into a folder, and gives what a fit takes


def as_npy(x: np.ndarray, folder: Path) -> Any:
    np.save(folder / "rows.npy", x)
    return folder / "rows.npy"


def as_map(x: np.ndarray, folder: Path) -> Any:
    return np.load(as_npy(x, folder), mmap_mode="r")


def as_npz(x: np.ndarray, folder: Path) -> Any:
    np.savez(folder / "rows.npz", X=x, weight=weights(len(x)))
    return cmeans.open_blocks(folder / "rows.npz", weight="weight")


def as_table(x: np.ndarray) -> Any:
    import pyarrow as pa

    return pa.table({f"x{j}": column for j, column in enumerate(x.T)})


def as_parquet(x: np.ndarray, folder: Path) -> Any:
    import pyarrow.parquet as pq

    pq.write_table(as_table(x), folder / "rows.parquet", row_group_size=-(-len(x) // 5))
    return str(folder / "rows.parquet")


def as_picked(x: np.ndarray, folder: Path) -> Any:
    return cmeans.open_blocks(
        as_parquet(np.abs(x), folder), columns=[2, 0, 3], weight="x1", dtype="float32"
    )


def as_csv(x: np.ndarray, folder: Path) -> Any:
    import pyarrow.csv as pc

    pc.write_csv(as_table(x.round(3)), folder / "rows.csv")
    return folder / "rows.csv"


def as_folder(x: np.ndarray, folder: Path) -> Any:
    for number, part in enumerate(np.array_split(x, [len(x) // 3, len(x) // 2])):
        (folder / f"part{number}").mkdir()
        as_parquet(part, folder / f"part{number}")
    return folder


def as_arrow(x: np.ndarray, folder: Path) -> Any:
    import pyarrow as pa

    with pa.ipc.new_file(folder / "rows.arrow", as_table(x).schema) as file:
        file.write_table(as_table(x), max_chunksize=4000)
    return folder / "rows.arrow"


FORMS: dict[str, Stored] = {
    "npy": as_npy,
    "memory map": as_map,
    "npz with weights": as_npz,
    "Parquet": as_parquet,
    "Parquet, columns and a weight": as_picked,
    "CSV": as_csv,
    "folder of Parquet": as_folder,
    "Arrow": as_arrow,
}
MODELS = {
    "hard": KernelKMeans(8, landmarks=30, max_iter=8),
    "fuzzy": FuzzyCMeans(5, m=1.2, kernel="linear", max_iter=8),
}


def from_file(store: Stored, rows: Callable[[], np.ndarray]) -> Words:
    said = {}
    with tempfile.TemporaryDirectory() as folder:
        x = store(rows(), Path(folder))
        for name, model in MODELS.items():
            model = clone(model).set_params(random_state=2).fit(x)
            said[name] = fitted(model) | {
                question: getattr(model, question)(x) for question in ("predict", "score")
            }
    return said


for name, store in FORMS.items():
    case(f"few rows as {name}", "pyarrow")(partial(from_file, store, SOME))
    case(f"many rows as {name}", "pyarrow")(partial(from_file, store, STORED))

READ_AGAIN = {
    "possibilistic": PossibilisticCMeans(5, eta_scale=0.05, kernel="rbf", landmarks=30, max_iter=6),
    "wide": KernelKMeans(8, landmarks=140, init="k-means||", max_iter=6),
    "little memory": FuzzyCMeans(
        5,
        m=1.2,
        kernel="rbf",
        landmarks=40,
        engine=cmeans.ThreadEngine(memory_budget="280MB"),
        max_iter=6,
    ),
    "adaptive": AdaptivePossibilisticCMeans((1, 8), max_iter=10),
    "probabilistic": ProbabilisticKMeans(4, kernel="linear", quantile=0.5, max_iter=10),
    "stream": StreamingFuzzyCMeans(4, m=1.2, chunk_size=15_000, max_iter=10),
}


def read_again(model: Any) -> Words:
    x = STORED()
    with tempfile.TemporaryDirectory() as folder:
        path = as_parquet(x, Path(folder))
        model = clone(model).set_params(random_state=2).fit(path)
        return fitted(model) | {
            "predict": model.predict(path),
            "transform": model.transform(path)[::50],
        }


for name, model in READ_AGAIN.items():
    case(f"rows read in every sweep, {name}", "pyarrow")(partial(read_again, model))


@case("answers in files", "pyarrow")
def _predict_to() -> Words:
    import pyarrow.parquet as pq

    x, said = SOME(), {}
    wanted: dict[str, Words] = {
        "all.parquet": {},
        "top.parquet": {"top_k": 2},
        "most.parquet": {"threshold": 0.3},
        "labels.npy": {},
    }
    wanted |= {"all.csv": {}, "top.csv": {"top_k": 1}, "labels.csv": {"memberships": False}}
    models = {
        "fuzzy": FuzzyCMeans(4, m=1.3, kernel="rbf", landmarks=30),
        "hard": KernelKMeans(4, kernel="linear"),
    }
    with tempfile.TemporaryDirectory() as folder:
        for name, model in models.items():
            model.set_params(random_state=0).fit(x[::2])
            for file, words in wanted.items():
                path = Path(folder) / file
                counts = model.predict_to(x, path, **words)
                written = (
                    columns(pq.read_table(path))
                    if path.suffix == ".parquet"
                    else np.frombuffer(path.read_bytes(), np.uint8)
                )
                said[f"{name}, {file}"] = {"counts": counts, "written": written}
    return said


def columns(table: Any) -> Words:
    """The columns of an Arrow table; of lists, their lengths and all that they hold."""
    said: Words = {}
    for name, column in zip(table.column_names, table.columns, strict=True):
        nested = column.type.num_fields > 0
        parts = (
            [
                np.array([len(part) for part in column.to_pylist()]),
                column.combine_chunks().flatten().to_numpy(),
            ]
            if nested
            else None
        )
        said[name] = parts or column.to_numpy()
    return said


DASK = {
    "hard": KernelKMeans(8, landmarks=30, init="k-means||", max_iter=8),
    "fuzzy": FuzzyCMeans(5, m=1.2, kernel="linear", max_iter=8),
    "fuzzy, wide": FuzzyCMeans(5, m=1.2, kernel="rbf", landmarks=140, max_iter=8),
    "possibilistic": PossibilisticCMeans(5, eta_scale=0.05, kernel="rbf", landmarks=30, max_iter=6),
    "adaptive": AdaptivePossibilisticCMeans((1, 8), max_iter=10),
}


def on_workers(model: Any, rows: Callable[[], np.ndarray]) -> Words:
    """A fit and its answers where two workers, threads of this process, hold the rows."""
    import dask.array as da
    from distributed import Client, LocalCluster

    x = rows()
    with (
        LocalCluster(
            n_workers=2, threads_per_worker=1, processes=False, dashboard_address=None
        ) as cluster,
        Client(cluster) as client,
    ):
        held = da.from_array(x, chunks=(len(x) // 5, -1))
        model = clone(model).set_params(random_state=2, engine=DaskEngine(client)).fit(held)
        said = fitted(model) | {
            "predict": model.predict(held),
            "score": model.score(held),
            "transform": model.transform(held)[::50],
        }
        return {
            name: value.compute() if hasattr(value, "compute") else value
            for name, value in said.items()
        }


for name, model in DASK.items():
    case(f"on Dask, {name}", "dask.array", "distributed")(partial(on_workers, model, STORED))
case("on Dask, few rows", "dask.array", "distributed")(
    partial(on_workers, FuzzyCMeans(5, m=1.2, kernel="rbf", landmarks=30), SOME)
)
