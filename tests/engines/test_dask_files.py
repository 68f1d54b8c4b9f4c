"""Files that Dask's workers read themselves, and the command that has them do it."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import cmeans
from cmeans.cli import main
from limited import limited

pytest.importorskip("dask", reason="Dask is not installed: pip install cmeans[dask]")
distributed = pytest.importorskip(
    "distributed", reason="Dask's workers are not installed: pip install cmeans[dask]"
)
pytest.importorskip("dask.array")
pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")

pytestmark = pytest.mark.slow

rng = np.random.default_rng(0)
X = rng.normal(size=(5000, 3)) + 6.0 * rng.normal(size=(4, 3))[rng.integers(4, size=5000)]
WEIGHT = rng.integers(1, 4, len(X)).astype(float)


@pytest.fixture(autouse=True)
def small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    limited(monkeypatch, loaded_bytes=0, partition_rows=700)


@pytest.fixture(scope="module")
def client() -> object:
    words = {"n_workers": 2, "threads_per_worker": 1, "processes": False, "dashboard_address": ":0"}
    with (
        distributed.LocalCluster(**words) as cluster,
        distributed.Client(cluster, set_as_default=False) as client,
    ):
        yield client


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("rows")
    for number, part in enumerate(np.array_split(np.arange(len(X)), 3)):
        columns = {name: X[part, at] for at, name in enumerate("abc")}
        pq.write_table(
            pa.table({**columns, "w": WEIGHT[part]}),
            folder / f"part{number}.parquet",
            row_group_size=500,
        )
    return folder


@pytest.mark.parametrize(
    "words",
    [{"kernel": "linear"}, {"kernel": "rbf", "landmarks": 20, "m": 1.5}],
    ids=["linear", "landmarks"],
)
def test_the_same_as_here(words: dict[str, object], client: object, folder: Path) -> None:
    here = cmeans.FuzzyCMeans(4, **words, random_state=0).fit(X, sample_weight=WEIGHT)
    rows = cmeans.open_blocks(folder, columns=["a", "b", "c"], weight="w")
    there = cmeans.FuzzyCMeans(4, **words, random_state=0, engine=cmeans.DaskEngine(client)).fit(
        rows
    )
    assert there.objective_ == pytest.approx(here.objective_, rel=1e-9)
    assert np.array_equal(there.labels_, here.labels_)
    assert there.feature_names_in_.tolist() == ["a", "b", "c"]
    assert np.array_equal(there.predict(folder), here.predict(X))  # its columns, found by name


def test_views_open_again(client: object, folder: Path) -> None:
    rows = (
        cmeans.open_blocks(folder, columns=["c", "a"], dtype="float32")
        .part(100, 4900)
        .mapped(np.negative)
    )
    model = cmeans.KernelKMeans(
        4, kernel="linear", random_state=0, engine=cmeans.DaskEngine(client)
    ).fit(rows)
    wanted = cmeans.KernelKMeans(4, kernel="linear", random_state=0).fit(
        -X[100:4900, [2, 0]].astype(np.float32)
    )
    assert np.array_equal(model.labels_, wanted.labels_)


def test_without_a_client(folder: Path) -> None:
    with pytest.raises(
        ValueError,
        match="FuzzyCMeans: engine is a DaskEngine and no Dask client is there; start one",
    ):
        cmeans.FuzzyCMeans(4, engine=cmeans.DaskEngine()).fit(folder)


def test_a_file_that_goes(client: object, tmp_path: Path) -> None:
    np.save(tmp_path / "rows.npy", X)
    rows = cmeans.open_blocks(tmp_path / "rows.npy")
    (tmp_path / "rows.npy").unlink()
    with pytest.raises(ValueError, match=r"rows\.npy"):
        cmeans.FuzzyCMeans(4, kernel="linear", engine=cmeans.DaskEngine(client)).fit(rows)


def command(capsys: pytest.CaptureFixture[str], *words: object) -> tuple[int, str, str]:
    code = main([str(word) for word in words])
    told = capsys.readouterr()
    return code, told.out, told.err


def test_the_command(
    client: object, folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("typer")
    words = [
        "fit",
        folder,
        "--weight",
        "w",
        "-c",
        4,
        "--method",
        "fuzzy",
        "--scale",
        "standard",
        "--top-k",
        2,
        "--seed",
        1,
        "--landmarks",
        20,
    ]
    assert command(capsys, *words, "--out", tmp_path / "here")[0] == 0
    address = client.scheduler.address  # type: ignore[attr-defined]
    code, out, err = command(
        capsys, *words, "--out", tmp_path / "there", "--engine", "dask", "--scheduler", address
    )
    assert code == 0, err
    assert json.loads(out)["objective"] == pytest.approx(
        json.loads((tmp_path / "here" / "summary.json").read_text())["objective"], rel=1e-9
    )
    tables = [pq.read_table(tmp_path / name / "labels.parquet") for name in ("here", "there")]
    assert (
        tables[0].column_names
        == tables[1].column_names
        == ["label", "cluster1", "u1", "cluster2", "u2"]
    )
    assert tables[0]["label"] == tables[1]["label"]


def test_wrong_words(folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("typer")
    words = ["fit", folder, "-c", 4, "--out", tmp_path / "o"]
    for more, said in (
        (["--engine", "dask"], "--engine dask and --scheduler ADDRESS go together"),
        (["--scheduler", "tcp://127.0.0.1:1"], "go together"),
    ):
        code, _, err = command(capsys, *words, *more)
        assert code == 2
        assert said in err


@pytest.mark.parametrize("name", ["StreamingFuzzyCMeans", "KernelPatchClustering"])
def test_streams_of_files_are_the_same_as_here(name: str, client: object, folder: Path) -> None:
    size = {"chunk_size" if name == "StreamingFuzzyCMeans" else "patch_size": 300}
    here, there = (
        getattr(cmeans, name)(4, **size, random_state=0, engine=engine).fit(
            cmeans.open_blocks(folder, columns=["a", "b", "c"], weight="w")
        )
        for engine in (None, cmeans.DaskEngine(client))
    )
    assert np.array_equal(there._state.centres.coordinates, here._state.centres.coordinates)
    assert np.array_equal(there.labels_, here.labels_)
    assert there.predict(folder).dtype == np.int8
