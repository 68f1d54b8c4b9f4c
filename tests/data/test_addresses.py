"""Files in stores: names to the letter, keys that nobody sees, servers that fail."""

from __future__ import annotations

import io
import pickle
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from urllib.parse import quote

import numpy as np
import pytest

import cmeans
from cmeans import Address, Checkpoint, FuzzyCMeans, ThreadEngine
from cmeans.data.addresses import address as addresses
from cmeans.data.addresses import place
from cmeans.data.addresses.fetched import BLOCK, Fetched, FetchedBlocks, FetchedFile
from cmeans.data.addresses.stores import FinalError, _final_errors
from cmeans.data.files import group_cache
from cmeans.data.limits import Limits
from cmeans.data.row_source import RowsError
from cmeans.runtime.shown_addresses import for_people
from cmeans.solvers.checkpoints import CheckpointLog
from object_server import ObjectServer, serving

pa = pytest.importorskip("pyarrow")
pytest.importorskip("pyarrow.parquet")

NAMES = ["a b", "a%20b", "x+y", "t=1", "10:30", "ü#1?", "[1]", "a*b"]
X = np.vstack([np.random.default_rng(part).normal(size=(50, 3)) + 10 * part for part in range(2)])


def parquet(x: np.ndarray[Any, Any], **options: Any) -> bytes:
    file, columns = io.BytesIO(), {name: x[:, at] for at, name in enumerate("abc")}
    pa.parquet.write_table(pa.table(columns), file, **options)
    return file.getvalue()


def npy(x: np.ndarray[Any, Any]) -> bytes:
    file = io.BytesIO()
    np.save(file, x)
    return file.getvalue()


@pytest.fixture
def server() -> Iterator[ObjectServer]:
    with serving() as one:
        yield one


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(addresses, "_PAUSES", (0.0,) * 9)


@pytest.fixture(params=["memory", "s3", "https"])
def put(request: pytest.FixtureRequest) -> Iterator[Callable[[str, bytes], Address]]:
    """What stores bytes by a name, and returns the address."""
    if request.param == "memory":
        store: Any = pytest.importorskip("fsspec").filesystem("memory")

        def keep(name: str, data: bytes) -> Address:
            store.pipe_file(f"/kept/{name}", data)
            return Address(f"memory://kept/{name}")

        yield keep
        store.rm("/kept", recursive=True)
        return
    with serving() as one:

        def put(name: str, data: bytes) -> Address:
            one.objects[f"bucket/{name}"] = data
            if request.param == "s3":
                return Address(f"s3://bucket/{name}", one.options)
            return Address(f"http://{one.host}/bucket/{quote(name)}")

        yield put


@pytest.mark.parametrize(
    ("address", "shown"),
    [
        ("s3://KEY:SECRET@bucket/x.parquet", "s3://bucket/x.parquet"),
        ("s3://KEY:SEC/RET@bucket/x y.csv", "s3://bucket/x y.csv"),
        ("s3://bucket/x.parquet?access_key=K&secret_key=SECRET", "s3://bucket/x.parquet"),
        ("https://user:SECRET@host:80/x?sig=SECRET%3D", "https://host:80/x"),
        ("http://localhost:80/a@b.csv", "http://localhost:80/a@b.csv"),
        ("abfs://box@account.dfs.core.windows.net/x", "abfs://box@account.dfs.core.windows.net/x"),
        ("gs://KEY:SECRET@bucket/x.parquet", "gs://bucket/x.parquet"),
        ("abfs://box/x?account_key=SECRET", "abfs://box/x"),
        ("memory://10:30.parquet", "memory://10:30.parquet"),
        ("s3://bucket/ü#1?.parquet", "s3://bucket/ü#1?.parquet"),
    ],
)
def test_what_people_see_of_an_address(address: str, shown: str) -> None:
    assert str(place(address)) == shown
    assert for_people(f"cannot read {address}.") == f"cannot read {shown}."
    assert "SECRET" not in f"{Checkpoint(address)!r} {Address(address)!r}"


@pytest.mark.parametrize(
    ("word", "options", "said"),
    [
        (
            "gs://bucket/x.npy",
            {"anonymous": "true", "scheme": "http", "endpoint_override": "127.0.0.1:9"},
            r"^gs://bucket/x.npy: cannot be read, tried 1 times \(.*Could not connect to server",
        ),
        ("abfs://box/x.npy", {}, r"no account is named: abfs://box@ACCOUNT\.dfs\.core"),
    ],
)
def test_stores_that_do_not_answer_are_one_line(
    word: str, options: dict[str, str], said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Google's store tries for a quarter of an hour unless it is told not to."""
    monkeypatch.setattr(addresses, "_PAUSES", ())
    with pytest.raises(RowsError, match=said) as refused:
        cmeans.open_blocks(Address(word, options))
    assert "\n" not in str(refused.value)


def test_paths_of_this_machine_stay_paths(tmp_path: Path) -> None:
    assert place(tmp_path) == tmp_path
    assert place("a/b") == Path("a/b")
    assert place(f"file://{tmp_path}") == tmp_path
    assert str(place(Path("s3://bucket/x"))) == "s3://bucket/x"  # of which Path drops a slash


@pytest.mark.parametrize("name", NAMES)
def test_a_name_is_taken_to_the_letter(put: Any, name: str) -> None:
    for number, other in enumerate(NAMES):
        put(f"names/{other}.parquet", parquet(X + number))
    address = put(f"names/{name}.parquet", parquet(X - 1))
    assert np.array_equal(cmeans.open_blocks(address).read(0, len(X)), X - 1)


def test_bits_of_memory_from_every_store(put: Any) -> None:
    expected = FuzzyCMeans(2, random_state=0).fit(X).objective_
    for name, data in {"x.parquet": parquet(X), "x.npy": npy(X)}.items():
        assert FuzzyCMeans(2, random_state=0).fit(put(name, data)).objective_ == expected
    text = "\n".join(["a,b,c", *(",".join(map(repr, row)) for row in X.tolist())])
    assert FuzzyCMeans(2, random_state=0).fit(put("x.csv", text.encode())).objective_ == expected


def test_a_list_and_a_file_say_the_same_of_it(server: ObjectServer) -> None:
    """The server's list has parts of seconds, which its answers about one file have not."""
    server.objects["bucket/d/x.npy"] = npy(X)
    (listed,) = Address("s3://bucket/d", server.options).iterdir()
    assert listed.stat() == Address("s3://bucket/d/x.npy", server.options).stat()


@pytest.mark.parametrize(
    "said",
    [
        "When reading: AWS Error ACCESS_DENIED during HeadObject operation",
        "GetProperties failed. Azure Error: [AuthorizationFailure] 403 Server failed",
        "UploadFrom failed. Azure Error: [ContainerNotFound] 404 The specified container",
        "St13runtime_error: Unexpected character in Base64 encoded string",
    ],
)
def test_what_a_second_try_would_not_mend(said: str) -> None:
    """Texts of PyArrow 26 before S3 and Azurite."""
    with pytest.raises(FinalError, match=re.escape(said)), _final_errors():
        raise (RuntimeError if "Base64" in said else OSError)(said)


def test_a_folder_as_spark_leaves_it(server: ObjectServer) -> None:
    for name in ("_SUCCESS", "", ".part-0.crc", "_temporary/part-9.parquet", "part-0.parquet/"):
        server.objects[f"bucket/d/{name}"] = b""
    for part in range(2):
        server.objects[f"bucket/d/t={part}/part.parquet"] = parquet(X + part)
    for word in ("d", "d/", "d/*/part.parquet", "**/part.*"):
        rows = cmeans.open_blocks(
            Address(f"s3://bucket/{word}", server.options), columns=["b", "t"]
        )
        assert rows.read(0, 200).tolist()[150] == [X[50, 1] + 1, 1]
    server.objects["bucket/d/part-2.parquet"] = b""
    with pytest.raises(RowsError, match=r"^s3://bucket/d/part-2.parquet: is empty\.$"):
        cmeans.open_blocks(Address("s3://bucket/d", server.options))
    with pytest.raises(RowsError, match=r"^s3://bucket/no.parquet: no such file\.$"):
        cmeans.open_blocks(Address("s3://bucket/no.parquet", server.options))


@pytest.mark.parametrize("seed", range(3))
def test_a_server_that_fails_loses_nothing(seed: int, impatient: None) -> None:
    expected = FuzzyCMeans(2, random_state=0).fit(X)
    with serving(faults=0.1, seed=seed) as one:
        one.objects["bucket/x.parquet"] = parquet(X)
        for address in (
            Address("s3://bucket/x.parquet", one.options),
            Address(f"http://{one.host}/bucket/x.parquet"),
        ):
            assert FuzzyCMeans(2, random_state=0).fit(address).objective_ == expected.objective_
        out = Address("s3://bucket/labels.parquet", one.options)
        expected.predict_to(address, out)
        written = pa.parquet.read_table(io.BytesIO(one.objects["bucket/labels.parquet"]))
    assert np.array_equal(written["label"], expected.labels_)


@pytest.mark.parametrize(
    "word", ["s3://KEY:SECRET@bucket/x.npy?", "http://{}/bucket/x.npy?k=SECRET&"]
)
def test_a_server_that_gives_nothing_is_one_line(word: str, impatient: None) -> None:
    with serving(faults=1.0) as one:
        one.objects["bucket/x.npy"] = npy(X)
        options = "&".join(f"{key}={one.options[key]}" for key in ("endpoint_override", "scheme"))
        with pytest.raises(RowsError, match="tried 10 times") as error:
            FuzzyCMeans(2).fit(f"{word.format(one.host)}{options}&region=us-east-1")
        assert len(one.asked) < 30
    assert str(error.value).count("\n") == 0
    assert "SECRET" not in str(error.value)


def test_bytes_are_fetched_once_and_ahead() -> None:
    data, asked = np.random.default_rng(0).bytes(9 * BLOCK + 5), list[tuple[int, int]]()

    def fetch(start: int, stop: int) -> bytes:
        asked.append((start, stop))
        return data[start:stop]

    file = FetchedFile(Fetched(fetch, len(data)))
    file.seek(-8, io.SEEK_END)
    assert file.read(16) == data[-8:]
    for _ in range(2):
        file.seek(0)
        assert b"".join(iter(lambda: file.read(100_000), b"")) == data
    assert sum(stop - start for start, stop in asked) == len(data)
    assert len(asked) < 10  # several blocks at once where one follows the other


def test_large_files_stay_in_scratch(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cmeans.data.addresses.fetched._IN_MEMORY", 1)
    data = np.random.default_rng(0).bytes(3 * BLOCK + 5)
    fetched = Fetched(lambda start, stop: data[start:stop], len(data))
    assert fetched._scratch is not None
    for _ in range(2):
        file = FetchedFile(fetched)
        file.seek(BLOCK - 5)
        assert file.readall() == data[BLOCK - 5 :]
        assert file.readall() == b""


@pytest.mark.parametrize("room", [True, False])
def test_small_files_of_a_folder_have_one_bound(
    room: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("cmeans.data.addresses.fetched._IN_MEMORY", 2000)
    monkeypatch.setattr("cmeans.data.addresses.fetched.has_room", lambda _: room)
    data, asked = np.random.default_rng(0).bytes(9000), list[int]()

    def file(start: int, blocks: FetchedBlocks) -> Fetched:
        def fetch(first: int, stop: int) -> bytes:
            asked.append(start)
            return data[start + first : start + stop]

        return Fetched(fetch, 900, blocks, start)

    blocks = FetchedBlocks(len(data))
    files = [file(start, blocks) for start in range(0, 9000, 900)]
    for _ in range(2):
        assert b"".join(FetchedFile(one).readall() for one in files) == data
    assert sum(map(len, blocks._in_memory.values())) <= 2000
    assert len({id(one._scratch) for one in files}) == 1  # no file of the system for each
    assert len(asked) == (10 if room else 20)


def test_a_fit_decodes_rows_of_a_store_once(
    server: ObjectServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Those of this machine are not copied, nor those that are read once."""
    monkeypatch.setattr(group_cache, "LEAST", 100)
    server.objects["bucket/x.parquet"] = parquet(X, row_group_size=10)
    (tmp_path / "x.parquet").write_bytes(server.objects["bucket/x.parquet"])
    far = Address("s3://bucket/x.parquet", server.options)
    decoded, make = Counter[tuple[str, int]](), group_cache._Kept._make

    def counted(kept: Any, number: int, slab: Any) -> None:
        decoded[where, number] += 1
        make(kept, number, slab)

    monkeypatch.setattr(group_cache._Kept, "_make", counted)
    model = FuzzyCMeans(2, random_state=0)
    model._limits = Limits(loaded_bytes=0, canonical_rows=0)
    objectives = set[float]()
    for where, file in (("far", far), ("here", tmp_path / "x.parquet")):  # noqa: B007
        objectives.add(model.fit(file).objective_)
    assert len(objectives) == 1
    assert [decoded["far", at] for at in range(10)] == [1] * 10
    assert min(decoded["here", at] for at in range(10)) > 1
    rows = cmeans.open_blocks(far)
    assert np.array_equal(model.predict(rows), model.labels_)
    assert rows._kept.copy is None


def test_a_file_is_asked_for_once_when_opened_and_once_a_sweep(
    server: ObjectServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = [0.0]
    monkeypatch.setattr(addresses, "time", SimpleNamespace(monotonic=lambda: clock[0]))
    every = [f"bucket/d/{part}.npy" for part in range(3)]
    server.objects.update((name, npy(X + part)) for part, name in enumerate(every))

    def questions() -> list[str]:
        heads = [asked.split("/", 1)[1] for asked in server.asked if asked.startswith("HEAD")]
        server.asked.clear()
        return heads

    rows = cmeans.open_blocks(Address("s3://bucket/d", server.options))
    assert sorted(questions()) == ["bucket/d", *every]  # by PyArrow, which asks how long it is
    for _ in range(2):
        clock[0] += 2
        assert np.array_equal(rows.read(0, 300), np.vstack([X, X + 1, X + 2]))
        assert questions() == every
    clock[0] += 2
    server.objects[every[1]] = npy(X[1:])
    with pytest.raises(RowsError, match=r"s3://bucket/d/1\.npy: changed"):
        rows.read(0, 300)


def test_an_old_list_is_not_believed(server: ObjectServer, monkeypatch: pytest.MonkeyPatch) -> None:
    clock = [0.0]
    monkeypatch.setattr(addresses, "time", SimpleNamespace(monotonic=lambda: clock[0]))
    server.objects["bucket/d/x.npy"] = npy(X)
    early, late = (next(Address("s3://bucket/d", server.options).iterdir()) for _ in range(2))
    server.objects["bucket/d/x.npy"] = npy(X[1:])
    clock[0] += 59
    assert early.stat().st_size == len(npy(X))
    clock[0] += 3
    assert early.stat().st_size == late.stat().st_size == len(npy(X[1:]))


def test_a_file_that_changes_is_told(server: ObjectServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(addresses, "_FRESH", 0.0)
    server.objects["bucket/x.npy"] = npy(X)
    rows = cmeans.open_blocks(Address("s3://bucket/x.npy", server.options))
    server.objects["bucket/x.npy"] = npy(X[1:])
    with pytest.raises(RowsError, match=r"s3://bucket/x\.npy: changed"):
        rows.read(0, 5)


def test_a_listed_file_that_changes_is_read_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    """Though it is as large as it was, and its old bytes are in memory."""
    monkeypatch.setattr(addresses, "_FRESH", 0.0)
    store = pytest.importorskip("fsspec").filesystem("memory")
    store.pipe("/changing/a.bin", b"old")
    (file,) = Address("memory://changing").iterdir()
    opened = file.open()
    assert opened.read() == b"old"
    store.pipe("/changing/a.bin", b"new")
    assert file.open().read() == b"new"
    opened.close()


@pytest.mark.parametrize("faults", [0.0, 0.1])
def test_a_killed_fit_goes_on_in_the_store(faults: float, impatient: None) -> None:
    expected = FuzzyCMeans(2, random_state=0).fit(X)
    with serving(faults) as one:
        one.objects["bucket/x.parquet"] = parquet(X)
        rows = Address("s3://bucket/x.parquet", one.options)
        kept = Checkpoint(Address("s3://bucket/runs/fit.checkpoint", one.options), sweeps=1)

        writes, write = [0], CheckpointLog.write

        def killed(log: CheckpointLog) -> None:
            write(log)
            writes[0] += 1
            if writes[0] == 2:
                raise SystemExit

        model = FuzzyCMeans(2, random_state=0, engine=ThreadEngine(checkpoint=kept))
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(CheckpointLog, "write", killed)
            with pytest.raises(SystemExit):
                model.fit(rows)
        again = model.set_params(engine__checkpoint__resume=True).fit(rows)
    assert again.objective_ == expected.objective_


def test_models_and_pages_go_to_stores(put: Any) -> None:
    model, file = FuzzyCMeans(2, random_state=0).fit(X), put("runs/x.parquet", parquet(X))
    if file.scheme == "http":
        with pytest.raises(OSError, match=r"cannot write http://\S+: nothing can be written there"):
            cmeans.save(model, file.with_name("model.safetensors"))
        return
    cmeans.save(model, file.with_name("model.safetensors"))
    assert np.array_equal(
        cmeans.load(file.with_name("model.safetensors")).predict(X), model.labels_
    )
    with pytest.raises(ValueError, match="would overwrite the input file"):
        model.predict_to(file, str(file) if file.scheme == "memory" else file)
    with pytest.raises(FileNotFoundError, match="there is no model file"):
        cmeans.load(file.with_name("none.safetensors"))


def test_an_address_is_a_value(put: Any) -> None:
    address = put("runs/x.npy", npy(X))
    again = pickle.loads(pickle.dumps(address))
    assert again == address
    assert hash(again) == hash(address)
    rows = cmeans.open_blocks(address)
    assert rows.again is not None
    assert np.array_equal(pickle.loads(pickle.dumps(rows.again))().read(0, 9), X[:9])


def test_what_is_missing_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(RowsError, match=r"^strange://x.npy: cannot be read \(Protocol not known"):
        cmeans.open_blocks("strange://x.npy")
    monkeypatch.setitem(sys.modules, "fsspec", None)
    with pytest.raises(ModuleNotFoundError, match=r"memory://x\.npy: is read through fsspec; run:"):
        cmeans.open_blocks("memory://x.npy")
