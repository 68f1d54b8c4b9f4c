"""What fuzzers have found, each as the smallest thing that showed it."""

from __future__ import annotations

import ctypes
import gzip
import io
import shutil
import struct
import tracemalloc
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.ipc
import pyarrow.parquet as pq
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.metrics import adjusted_rand_score

import cmeans
from cmeans import Sizes
from cmeans.cli import main
from cmeans.data.chosen_scaling import chosen_scaling
from cmeans.data.files import claims
from cmeans.data.files.notation import Notation, notations_of
from cmeans.data.row_source import RowsError
from cmeans.persistence.model_file import read_metadata
from cmeans.runtime.numerals import in_bytes, several
from forged import forge, key_of, parts_of

X = np.random.default_rng(0).normal(size=(60, 3)) + np.repeat(
    [[0, 0, 0], [9, 0, 0], [0, 9, 0]], 20, axis=0
)


def change_by_hand(file: Path, change: Any) -> None:
    """Change the header and the arrays of a model or a checkpoint, with the digest that they have
    then."""
    data = file.read_bytes()
    header, arrays = parts_of(data)
    change(header, arrays)
    forge(file, header, arrays, key_of(data))


def refused(file: Path, match: str, **words: Any) -> None:
    with pytest.raises(RowsError, match=match) as caught:
        cmeans.open_blocks(file, **words)
    assert str(caught.value).isprintable()
    assert len(str(caught.value)) < 1000


@pytest.fixture(scope="module")
def answers(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Models whose answers come from graphs."""
    folder, made = tmp_path_factory.mktemp("graphs"), dict[str, Path]()
    for name, model in (
        ("connectivity", cmeans.ConnectivityClustering(2)),
        ("modularity", cmeans.ModularityClustering()),
    ):
        made[name] = folder / name
        cmeans.save(model.fit(X), made[name])
    return made


class TestModelFiles:
    def saved(self, model: Any, folder: Path) -> bytes:
        cmeans.save(model, folder / "model")
        return (folder / "model").read_bytes()

    def rewritten(self, folder: Path, change: Any) -> Path:
        change_by_hand(folder / "model", change)
        return folder / "model"

    @pytest.mark.parametrize("bit", [0, 3, 51, 62])
    def test_one_bit_of_a_centre(self, bit: int, tmp_path: Path) -> None:
        """It was another model, which said nothing."""
        data = bytearray(
            self.saved(cmeans.KernelKMeans(3, kernel="linear", random_state=0).fit(X), tmp_path)
        )
        _, arrays = parts_of(bytes(data))
        centres = next(values for name, values in arrays.items() if "coordinates" in name)
        data[data.index(centres.tobytes()) + bit // 8] ^= 1 << bit % 8
        (tmp_path / "model").write_bytes(data)
        for read in (cmeans.load, read_metadata):
            with pytest.raises(
                ValueError,
                match="model is not a readable model file: it holds something else than was "
                "written",
            ):
                read(tmp_path / "model")

    def test_a_word_in_the_header(self, tmp_path: Path) -> None:
        data = self.saved(cmeans.FuzzyCMeans(3, m=1.5, random_state=0).fit(X), tmp_path)
        (tmp_path / "model").write_bytes(data.replace(b'\\"m\\": 1.5', b'\\"m\\": 2.5'))
        with pytest.raises(ValueError, match="it holds something else than was written"):
            cmeans.load(tmp_path / "model")

    def test_the_word_for_the_digest(self, tmp_path: Path) -> None:
        """It was read as a file without one."""
        data = self.saved(cmeans.FuzzyCMeans(3, m=1.5, random_state=0).fit(X), tmp_path)
        (tmp_path / "model").write_bytes(data.replace(b'\\"digest\\"', b'\\"dagest\\"'))
        with pytest.raises(ValueError, match="it holds something else than was written"):
            cmeans.load(tmp_path / "model")

    def test_a_message_does_not_hold_a_whole_array(self, tmp_path: Path) -> None:
        data = self.saved(cmeans.FuzzyCMeans(3, kernel="rbf", random_state=0).fit(X), tmp_path)
        name = max(parts_of(data)[1].items(), key=lambda item: item[1].size)[0]
        file = self.rewritten(
            tmp_path, lambda header, _: header["params"].__setitem__("kernel", {"$array": name})
        )
        with pytest.raises(ValueError, match=r"a kernel is a name") as caught:
            cmeans.load(file)
        assert len(str(caught.value)) < 700
        assert "\n" not in str(caught.value)

    def test_a_budget_of_more_than_all_memory(self, tmp_path: Path) -> None:
        """It could not be written in a message, as no float is so large."""
        for budget in (10**400, "9" * 300 + "GB"):
            engine = cmeans.ThreadEngine(memory_budget=budget)
            assert (
                cmeans.StreamingFuzzyCMeans(3, engine=engine, random_state=0)
                .partial_fit(X)
                .n_samples_seen_
                == 60
            )
            assert cmeans.KernelKMeans(3, engine=engine, random_state=0).fit(X).converged_

    @pytest.mark.parametrize("name", ["_power", "n_connected_components_", "_points"])
    def test_pieces_without_what_answers_need(self, name: str, tmp_path: Path) -> None:
        self.saved(cmeans.ConnectivityClustering(2).fit(X), tmp_path)
        file = self.rewritten(tmp_path, lambda header, _: header["fitted"].pop(name))
        with pytest.raises(ValueError, match="missing"):
            cmeans.load(file)

    @pytest.mark.parametrize(("part", "value"), [("columns", 99), ("labels", 99), ("starts", 9)])
    def test_communities_whose_parts_do_not_belong_together(
        self, part: str, value: int, answers: dict[str, Path], tmp_path: Path
    ) -> None:
        """Columns beyond the last one were written to memory of others, which ended the process."""
        file = tmp_path / "model"
        file.write_bytes(answers["modularity"].read_bytes())

        def change(_: Any, arrays: Any) -> None:
            name = next(name for name in arrays if name.endswith(f"_communities.{part}"))
            arrays[name][0] = value

        change_by_hand(file, change)
        with pytest.raises(ValueError, match="is damaged, or no model"):
            cmeans.load(file)

    @pytest.mark.parametrize("value", ["x", -1.5, True, {"$list": []}])
    @pytest.mark.parametrize(
        ("method", "name"),
        [("connectivity", "_noise"), ("connectivity", "_points"), ("modularity", "_points")],
    )
    def test_attributes_of_another_type(
        self, method: str, name: str, value: Any, answers: dict[str, Path], tmp_path: Path
    ) -> None:
        """They came to light as an AttributeError of `predict`."""
        file = Path(shutil.copy(answers[method], tmp_path / "model"))
        change_by_hand(file, lambda header, _: header["fitted"].__setitem__(name, value))
        with pytest.raises(ValueError, match=f"{name} is .* where .* belongs"):
            cmeans.load(file)

    @pytest.mark.parametrize(
        ("method", "part", "change"),
        [
            ("connectivity", "_tree.point", lambda a: a[:, None]),
            ("connectivity", "_tree.height", lambda a: a[:, None]),
            ("connectivity", "_tree.start", lambda a: np.minimum(a, 2)),
            ("connectivity", "_points.points", lambda a: a[:, 0]),
            *(
                ("modularity", f"_points.{part}", change)
                for part in ("rows", "weights", "keys", "edges.widths")
                for change in (lambda a: a[None], lambda a: a[:0], lambda a: a[:-1])
            ),
        ],
    )
    def test_arrays_of_another_shape(
        self, method: str, part: str, change: Any, answers: dict[str, Path], tmp_path: Path
    ) -> None:
        """They came to light as an IndexError of `predict`, or as memberships that were NaN."""
        file = Path(shutil.copy(answers[method], tmp_path / "model"))

        def rewritten(_: Any, arrays: Any) -> None:
            arrays[part] = np.ascontiguousarray(change(arrays[part]))

        change_by_hand(file, rewritten)
        with pytest.raises(
            ValueError,
            match=r"pieces fit into no tree|not those of the tree|not of one number of no",
        ):
            cmeans.load(file)

    @pytest.mark.parametrize(
        ("method", "part"), [("connectivity", "_points.points"), ("modularity", "_points.rows")]
    )
    def test_points_of_fewer_columns_than_rows(
        self, method: str, part: str, answers: dict[str, Path], tmp_path: Path
    ) -> None:
        """Compiled code read beyond them."""
        file = Path(shutil.copy(answers[method], tmp_path / "model"))

        def narrowed(_: Any, arrays: Any) -> None:
            arrays[part] = np.ascontiguousarray(arrays[part][:, :1])

        change_by_hand(file, narrowed)
        with pytest.raises(ValueError, match=r"not those of the (tree|rows)"):
            cmeans.load(file)

    @pytest.mark.parametrize("share", [-1.0, 1e200])
    def test_shares_that_are_none(self, share: float, tmp_path: Path) -> None:
        """They were read, and distances were infinite."""
        members = [cmeans.KernelKMeans(k, kernel="linear", random_state=0) for k in (2, 3)]
        model = cmeans.ConsensusClustering(3, members=members, random_state=0).fit(X)
        cmeans.save(model, tmp_path / "model")

        def change(_: Any, arrays: Any) -> None:
            arrays["_co_association.shares"][0, 0] = share

        change_by_hand(tmp_path / "model", change)
        with pytest.raises(ValueError, match="shares of a weight lie between 0 and 1"):
            cmeans.load(tmp_path / "model")

    @pytest.mark.parametrize("count", [0, -7])
    def test_fewer_neighbours_than_one(
        self, count: int, answers: dict[str, Path], tmp_path: Path
    ) -> None:
        """Compiled code wrote before the first, which ended the process."""
        file = Path(shutil.copy(answers["modularity"], tmp_path / "model"))
        change_by_hand(
            file,
            lambda header, _: header["fitted"]["_points"]["fields"].update(n_neighbors=count),
        )
        with pytest.raises(ValueError, match="neighbours, where one is the least"):
            cmeans.load(file)

    @pytest.mark.parametrize("more", [1, 2**40])
    def test_communities_without_nodes(
        self, more: int, answers: dict[str, Path], tmp_path: Path
    ) -> None:
        """A product of sparse matrices counted up to the number that was claimed."""
        file = Path(shutil.copy(answers["modularity"], tmp_path / "model"))

        def changed(header: Any, _: Any) -> None:
            fields = header["fitted"]["_communities"]["fields"]
            fields.update(n_clusters=fields["n_clusters"] + more)

        change_by_hand(file, changed)
        with pytest.raises(ValueError, match="the communities of nodes do not belong together"):
            cmeans.load(file)

    @pytest.mark.parametrize(
        ("method", "place"),
        [
            ("connectivity", ("fitted", "_power")),
            ("connectivity", ("params", "min_samples")),
            ("modularity", ("params", "n_jobs")),
            ("modularity", ("fitted", "_points", "fields", "n_neighbors")),
        ],
    )
    def test_numbers_that_no_array_holds(
        self, method: str, place: tuple[str, ...], answers: dict[str, Path], tmp_path: Path
    ) -> None:
        """Some are made floats, which came to light as an OverflowError of `predict`."""
        file = Path(shutil.copy(answers[method], tmp_path / "model"))

        def change(header: Any, _: Any) -> None:
            *path, last = place
            for word in path:
                header = header[word]
            header[last] = 10**400

        change_by_hand(file, change)
        with pytest.raises(ValueError, match="a whole number of more than 64 bits"):
            cmeans.load(file)

    def test_a_sparse_matrix_whose_last_row_ends_at_its_first_entry(self, tmp_path: Path) -> None:
        """SciPy takes it for an empty one, and read memory that was not its own."""
        csr = sparse.csr_array(np.abs(X))
        self.saved(
            cmeans.KernelKMeans(3, landmarks=9, gamma=0.1, random_state=0).fit(csr), tmp_path
        )

        def change(_: Any, arrays: Any) -> None:
            (pointers,) = (a for a in arrays.values() if a.shape == (10,) and a.dtype == np.int32)
            pointers[-1] = 0

        file = self.rewritten(tmp_path, change)
        with pytest.raises(
            ValueError, match="a CSR matrix is damaged: its indptr falls after number 8"
        ):
            cmeans.load(file)

    def test_a_stream_that_chooses_landmarks_without_a_factor(self, tmp_path: Path) -> None:
        stream = cmeans.StreamingFuzzyCMeans(
            3, kernel="rbf", gamma=0.1, warm_up=0, random_state=0
        ).partial_fit(X)

        def change(header: Any, _: Any) -> None:
            fields = header["fitted"]["_stream"]["fields"]
            assert fields["reserve"] is not None
            fields["past"]["fields"]["space"]["fields"]["whitener"] = None

        self.saved(stream, tmp_path)
        file = self.rewritten(tmp_path, change)
        with pytest.raises(ValueError, match=r"goes on choosing landmarks|damaged"):
            cmeans.load(file)

    def test_a_header_of_too_much_text(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        self.saved(cmeans.KernelKMeans(3, kernel="linear", random_state=0).fit(X), tmp_path)
        monkeypatch.setattr("cmeans.storage.codec.MOST_TEXT", 500)
        with pytest.raises(ValueError, match=r"a header of .* characters, where 500 are the most"):
            cmeans.load(tmp_path / "model")


class TestRows:
    def test_a_mark_in_the_first_line(self, tmp_path: Path) -> None:
        (tmp_path / "x.csv").write_text("1,2\ufeffx\n3,4\n")
        refused(tmp_path / "x.csv", r"the first line \(1,2\\ufeffx\) may be names or data")

    def test_a_terminals_commands_in_a_column(self, tmp_path: Path) -> None:
        (tmp_path / "x.csv").write_text("\x1b[31ma,b\n1,2\n")
        refused(
            tmp_path / "x.csv",
            r"there is no column 'c'; it has '\\x1b\[31ma', 'b'|c",
            columns=["c"],
        )

    @pytest.mark.parametrize("shape", [(3, 2**40), (3, 2**62 - 1), (2**40, 3)])
    def test_a_sparse_matrix_as_wide_or_long_as_it_likes(
        self, shape: tuple[int, int], tmp_path: Path
    ) -> None:
        """Names of 2^40 columns took all memory."""
        parts = {
            "row": np.array([0]),
            "col": np.array([0]),
            "data": np.array([1.0]),
            "shape": np.array(shape),
            "format": b"coo",
        }
        np.savez(tmp_path / "x.npz", **parts)
        refused(
            tmp_path / "x.npz", "columns, and 1,048,576 are the most|unpacks to .* bytes or more"
        )

    def test_many_columns_of_one_name(self, tmp_path: Path) -> None:
        """They were counted once for each, for hours."""
        (tmp_path / "x.csv").write_text(",".join(["a"] * 50_000) + "\n")
        refused(tmp_path / "x.csv", "column 'a' occurs 50000 times")

    def test_more_columns_than_there_can_be(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(claims, "MOST_COLUMNS", 50)
        (tmp_path / "x.csv").write_text("," * 60 + "\n")
        refused(tmp_path / "x.csv", "has 61 columns, and 50 are the most")
        np.save(tmp_path / "x.npy", np.zeros((2, 51), np.int8))
        refused(tmp_path / "x.npy", "has 51 columns")

    @pytest.mark.parametrize("kind", ["csv", "npz", "sparse"])
    def test_a_few_bytes_that_unpack_to_many(
        self, kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(claims, "UNPACKED", 2**16)
        match, file = (
            r"unpacks to .* bytes or more from .*; where that is meant, unpack it first",
            tmp_path / "x.npz",
        )
        if kind == "csv":
            (tmp_path / "x.csv.gz").write_bytes(gzip.compress(b"0,0\n" * 2**20))
            refused(tmp_path / "x.csv.gz", match, header=False)
            return
        if kind == "npz":
            np.savez_compressed(file, X=np.zeros((2**19, 2)))
        else:
            sparse.save_npz(
                file,
                sparse.csr_array((np.ones(2**20), np.zeros(2**20, int), [0, 2**20]), shape=(1, 1)),
            )
        refused(file, match)

    def test_archives_that_are_not_what_they_say(self, tmp_path: Path) -> None:
        """Offsets that lie before the file, and members that are encrypted, as they say."""
        file = io.BytesIO()
        sparse.save_npz(file, sparse.csr_array(X))
        data = bytearray(file.getvalue())
        entry = data.index(b"PK\1\2")
        for at, number in ((42, b"\xff\xff\xff\x7f"), (8, b"\1\0")):
            changed = bytearray(data)
            changed[entry + at : entry + at + len(number)] = number
            (tmp_path / "x.npz").write_bytes(changed)
            refused(tmp_path / "x.npz", r"x\.npz: cannot be read as npz")

    @pytest.mark.parametrize(
        ("part", "value"),
        [
            ("shape", [6.5, 3.0]),
            ("shape", 3),
            ("shape", [2**63, 3]),
            ("format", 3),
            ("data", ["x"] * 60),
        ],
    )
    @pytest.mark.parametrize("form", ["csr", "csc", "coo"])
    # of SciPy, where 2^63 is no integer of its
    @pytest.mark.filterwarnings("ignore:invalid value:RuntimeWarning")
    def test_parts_of_a_sparse_matrix_of_other_kinds(
        self, form: str, part: str, value: Any, tmp_path: Path
    ) -> None:
        x = sparse.coo_array(np.eye(60, 3)).asformat(form)
        names = ("data", "row", "col") if form == "coo" else ("data", "indices", "indptr")
        parts = {
            **{name: getattr(x, name) for name in names},
            "shape": x.shape,
            "format": form.encode(),
        }
        np.savez(tmp_path / "x.npz", **{**parts, part: np.array(value)})
        refused(tmp_path / "x.npz", r"x\.npz: ")

    def test_a_name_in_an_archive_that_is_a_page_long(self, tmp_path: Path) -> None:
        with zipfile.ZipFile(tmp_path / "x.npz", "w") as archive:
            archive.writestr("X.npy", b"x" * 100)
        data = bytearray((tmp_path / "x.npz").read_bytes())
        data[26:28] = (5000).to_bytes(2, "little")  # the length of the name
        (tmp_path / "x.npz").write_bytes(data + bytes(6000))
        refused(tmp_path / "x.npz", r"x\.npz: ")

    @pytest.mark.parametrize("kind", ["arrow", "arrows"])
    @pytest.mark.parametrize("rows", [9, 7000, 2**40, -1])
    @pytest.mark.parametrize("column", ["numbers", "lists", "truths"])
    def test_more_rows_than_a_batch_has_bytes(
        self, kind: str, rows: int, column: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        """They were read from the memory behind them."""
        values = {
            "numbers": pa.array(np.ones(7)),
            "lists": pa.array([[1.0, 2.0]] * 7, pa.list_(pa.float64(), 2)),
            "truths": pa.array([True] * 7),
        }[column]
        sink, file = io.BytesIO(), tmp_path / f"x.{kind}"
        with (pa.ipc.new_file if kind == "arrow" else pa.ipc.new_stream)(
            sink, pa.schema([("a", values.type)])
        ) as writer:
            writer.write_batch(pa.record_batch({"a": values}))
        file.write_bytes(sink.getvalue().replace(struct.pack("<q", 7), struct.pack("<q", rows)))
        refused(file, r"cannot be read as Arrow; it is damaged")
        assert main(["stream", str(file), "-c", "2", "-q"]) == 2
        assert f"x.{kind}: cannot be read as Arrow; it is damaged" in capsys.readouterr().err

    @pytest.mark.parametrize("kind", ["arrow", "parquet"])
    def test_numbers_and_lists_of_one_name(self, kind: str, tmp_path: Path) -> None:
        schema, file = (
            pa.schema([("a", pa.float16()), ("a", pa.list_(pa.float64()))]),
            tmp_path / f"x.{kind}",
        )
        table = pa.Table.from_arrays(
            [pa.array(np.ones(2, np.float16)), pa.array([[1.0, 2.0]] * 2)], schema=schema
        )
        with (
            pq.ParquetWriter(file, schema)
            if kind == "parquet"
            else pa.ipc.new_file(file, schema) as writer
        ):
            writer.write_table(table)
        refused(file, "column 'a' occurs 2 times")

    @pytest.mark.parametrize("kind", ["arrow", "parquet"])
    @pytest.mark.parametrize(
        "said",
        [b"{", b"3", b'{"index_columns": 5}', b'{"index_columns": "a"}', b"\xff", b"[" * 100_000],
    )
    def test_what_pandas_did_not_write(self, kind: str, said: bytes, tmp_path: Path) -> None:
        """Errors of Python came of it, or a column was left out."""
        table, file = (
            pa.table({"a": [1.0, 2.0]}).replace_schema_metadata({b"pandas": said}),
            tmp_path / f"x.{kind}",
        )
        if kind == "parquet":
            pq.write_table(table, file)
        else:
            with pa.ipc.new_file(file, table.schema) as writer:
                writer.write_table(table)
        refused(file, rf"x\.{kind}: what pandas wrote of its columns is damaged")

    def test_a_page_of_two_gigabytes_in_a_file_of_a_few_bytes(self, tmp_path: Path) -> None:
        file = tmp_path / "x.parquet"
        pq.write_table(
            pa.table({"a": np.arange(90.0)}), file, use_dictionary=False, compression="none"
        )
        written = file.read_bytes()
        # the page's 727 bytes, unpacked and packed, in Thrift's numbers
        assert written[6:9] == written[9:12] == b"\x15\xae\x0b"
        file.write_bytes(written[:9] + b"\x15\xe0\xff\xff\xff\x0f" + written[12:])
        before = pa.default_memory_pool().max_memory()
        with pytest.raises(RowsError, match=r"x\.parquet: cannot be read as Parquet"):
            cmeans.open_blocks(file).read(0, 90)
        assert pa.default_memory_pool().max_memory() < before + 2**20

    def test_quotes_take_no_more_memory_than_the_line(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """A quoted name took 160 bytes a letter, and one quote too many 100 bytes for each letter
        after it."""
        (tmp_path / "x.csv").write_text('"' + "x" * 10**6 + '",b\n1,2\n')
        tracemalloc.start()
        assert cmeans.open_blocks(tmp_path / "x.csv").shape == (1, 2)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert peak < 30e6
        (tmp_path / "x.csv").write_text('a,b\n1,"2\n' + "1,2\n" * 1000)
        refused(tmp_path / "x.csv", "line 2: has a quote that is not closed")
        monkeypatch.setattr("cmeans.data.files.csv._SWALLOWED", 100)
        refused(tmp_path / "x.csv", "line 2: has a quote that is not closed")

    def test_a_name_of_a_million_letters(self, tmp_path: Path) -> None:
        (tmp_path / "x.csv").write_text("A" * 10**6 + ",b\n1,2\n")
        with pytest.raises(
            RowsError, match=r"there is no column 'c'; it has columns 'AAA.* \.\.\. .*AAA', 'b'\."
        ) as caught:
            cmeans.open_blocks(tmp_path / "x.csv", columns="c")
        assert len(str(caught.value)) < 2000

    def test_columns_without_names_that_the_first_file_has_not(self, tmp_path: Path) -> None:
        """They were left out without a word."""
        (tmp_path / "1.csv").write_text("1,2\n3,4\n")
        (tmp_path / "2.csv").write_text("5,6,7\n8,9,10\n")
        refused(tmp_path, "2.csv: has 3 columns, but .*1.csv has 2")

    def test_numbers_that_only_python_reads_are_names(self, tmp_path: Path) -> None:
        (tmp_path / "month=2024_01").mkdir()
        (tmp_path / "month=2024_01" / "x.csv").write_text("1_1,1_2\n1,2\n")
        assert cmeans.open_blocks(tmp_path).columns == ("1_1", "1_2")
        refused(
            tmp_path,
            r"column 'month' \(key of a folder, '2024_01'\) holds no numbers",
            columns=["1_1", "month"],
        )


FAR = 2**62
STORED = {  # columns that PyArrow stores, and Python has no values for
    "after Python's last year": pa.array([FAR] * 6, pa.timestamp("us")),
    "before its first": pa.array([-(2**31)] * 6, pa.date32()),
    "a zone that nobody knows": pa.array([0] * 6, pa.timestamp("us", "Nowhere/Nothing")),
    "longer than it counts": pa.array([FAR] * 6, pa.duration("s")),
    "nanoseconds of a day": pa.array([5] * 6, pa.time64("ns")),
    "within a column": pa.array([{"at": FAR}] * 6, pa.struct([("at", pa.timestamp("us"))])),
}


class TestStoredColumns:
    """Files as projects of Arrow and Parquet keep them for trying readers."""

    @pytest.mark.parametrize("ending", ["parquet", "arrow"])
    @pytest.mark.parametrize("kind", STORED)
    def test_columns_beside_the_rows(self, kind: str, ending: str, tmp_path: Path) -> None:
        file, table = tmp_path / f"x.{ending}", pa.table({"x": X[:6, 0], "odd": STORED[kind]})
        if ending == "parquet":
            pq.write_table(table, file)
        else:
            with pa.ipc.new_file(file, table.schema) as out:
                out.write_table(table)
        with pytest.warns(cmeans.DataWarning, match="left out: 'odd'"):
            rows = cmeans.read_table(file)
        np.testing.assert_array_equal(rows.read(0, 6)[:, 0], X[:6, 0])

    def test_a_column_that_pyarrow_has_no_class_for(self, tmp_path: Path) -> None:
        """Intervals of months, here those of a column of whole numbers: a KeyError."""
        numbers = pa.record_batch({"x": X[:6, 0], "odd": np.arange(6, dtype=np.int32)})
        schema, batch = ctypes.create_string_buffer(72), ctypes.create_string_buffer(80)
        numbers._export_to_c(ctypes.addressof(batch), ctypes.addressof(schema))
        months = ctypes.create_string_buffer(b"tiM")
        children = ctypes.c_void_p.from_buffer(schema, 40).value  # of the C data interface
        odd = ctypes.cast(children, ctypes.POINTER(ctypes.c_void_p))[1]
        ctypes.c_void_p.from_address(odd).value = ctypes.addressof(months)
        places = ctypes.addressof(batch), ctypes.addressof(schema)
        with pa.ipc.new_file(
            tmp_path / "x.arrow", (stored := pa.RecordBatch._import_from_c(*places)).schema
        ) as out:
            out.write_batch(stored)
        with pytest.warns(cmeans.DataWarning, match=r"left out: 'odd' \(month_interval\)"):
            rows = cmeans.read_table(tmp_path / "x.arrow")
        np.testing.assert_array_equal(rows.read(0, 6)[:, 0], X[:6, 0])
        with pytest.raises(RowsError, match=r"'odd' .* cannot give to Python \(month_interval\)"):
            cmeans.read_table(tmp_path / "x.arrow", categorical=["odd"])

    def test_dates_beyond_all_that_are_counted(self, tmp_path: Path) -> None:
        """They came round, as other dates."""
        dates = pa.array([0, FAR], pa.timestamp("s"))
        with pa.ipc.new_file(tmp_path / "x.arrow", pa.schema([("day", dates.type)])) as out:
            out.write_table(pa.table({"day": dates}))
        with pytest.raises(RowsError, match="a date after the year 294,000 in row 1"):
            cmeans.read_table(tmp_path / "x.arrow", dates=["day=iso"])

    def test_a_page_that_is_not_what_its_checksum_says(self, tmp_path: Path) -> None:
        words = {"compression": "none", "use_dictionary": False, "write_statistics": False}
        for checked in (True, False):
            file = tmp_path / f"{checked}.parquet"
            pq.write_table(pa.table({"x": X[:, 0]}), file, write_page_checksum=checked, **words)
            written = file.read_bytes()
            file.write_bytes(written.replace(X[9].tobytes()[:8], X[8].tobytes()[:8]))
            assert file.read_bytes() != written
        with pytest.raises(RowsError, match=r"damaged.*CRC checksum verification failed"):
            cmeans.open_blocks(tmp_path / "True.parquet").read(0, 60)
        cmeans.open_blocks(tmp_path / "False.parquet").read(0, 60)  # has nothing that tells it

    def test_text_that_is_none(self, tmp_path: Path) -> None:
        places = pa.array(np.arange(7, dtype=np.int32) * 2).buffers()[1]
        text = pa.Array.from_buffers(pa.string(), 6, [None, places, pa.py_buffer(b"\xff\xfe" * 6)])
        pq.write_table(pa.table({"x": X[:6, 0], "odd": text}), tmp_path / "x.parquet")
        with pytest.raises(RowsError, match=r"x.parquet: cannot be read.*Invalid UTF8"):
            cmeans.read_table(tmp_path / "x.parquet")

    def test_bytes_that_are_no_letters_where_a_date_might_be(self, tmp_path: Path) -> None:
        lines = [b"when;x;y"] + [b"\x8f\xe4;%d.5;2" % (at % 7) for at in range(40)]
        (tmp_path / "x.csv").write_bytes(b"\n".join(lines))
        with pytest.warns(cmeans.DataWarning, match="left out: 'when'"):
            cmeans.read_table(tmp_path / "x.csv", encoding="utf-8")

    @pytest.mark.parametrize(
        ("words", "match"),
        [
            ({"categorical": ["many"]}, "the column holds columns or lists"),
            ({"cyclic": {"day": 24.0}}, r"the column holds timestamp\[s\], no numbers"),
            ({"latlon": [("x", "text")]}, "the column holds text, no numbers"),
            ({"cyclic": {"far": 1e-300}}, "holds 1e\\+300, too far for an angle in row 0"),
            ({"column_weight": {"x": 1e300}, "dtype": "float32"}, "take smaller weights"),
        ],
    )
    @pytest.mark.filterwarnings("ignore::cmeans.DataWarning")
    def test_columns_that_nothing_is_made_of(
        self, words: dict[str, Any], match: str, tmp_path: Path
    ) -> None:
        day = pa.array([0] * 6, pa.timestamp("s"))
        columns = {"x": X[:6, 0], "far": [1e300] * 6, "day": day, "many": [["a"]] * 6}
        table = pa.table({**columns, "text": ["a"] * 6})
        with pa.ipc.new_file(tmp_path / "x.arrow", table.schema) as out:
            out.write_table(table)
        picked = {"columns": ["x"]} if "dtype" in words else {}
        with pytest.raises(RowsError, match=match):
            cmeans.read_table(tmp_path / "x.arrow", **words, **picked).read(0, 6)

    def test_numbers_too_close_for_their_scale(self, tmp_path: Path) -> None:
        """One over their spread was infinite, with a RuntimeWarning."""
        pq.write_table(pa.table({"x": [0.0, 1e-310, 2e-310]}), tmp_path / "x.parquet")
        with pytest.raises(RowsError, match=r"apart are too close to scale\."):
            cmeans.read_table(tmp_path / "x.parquet", scale="unit")

    @pytest.mark.parametrize("scale", ["log", "auto"])
    def test_numbers_whose_cubes_are_infinite(self, scale: str, tmp_path: Path) -> None:
        """Their skewness was infinite too, with a RuntimeWarning."""
        pq.write_table(pa.table({"x": [0.0, 1.0, 2.0, 1e150]}), tmp_path / "x.parquet")
        x = cmeans.read_table(tmp_path / "x.parquet", scale=scale).read(0, 4)
        assert x.min() == pytest.approx({"log": -(3**-0.5), "auto": 0.0}[scale])
        assert x.max() == pytest.approx({"log": 3**0.5, "auto": 1e150}[scale])

    def test_days_are_the_same_categories_in_every_unit(self, tmp_path: Path) -> None:
        for unit in ("s", "ms", "us"):
            days = pa.array([0, 86_400, 0, 86_400], pa.timestamp("s")).cast(pa.timestamp(unit))
            table = pa.table({"day": days, "x": [1.0, 2.0, 3.0, 5.0]})
            pq.write_table(table, tmp_path / f"{unit}.parquet")
            with pa.ipc.new_file(tmp_path / f"{unit}.arrow", table.schema) as out:
                out.write_table(table)
        rows = cmeans.read_table(tmp_path / "s.arrow", categorical=["day"])
        for file in sorted(tmp_path.iterdir()):
            again = cmeans.read_table(file, recipe=rows.recipe)
            np.testing.assert_array_equal(again.read(0, 4), rows.read(0, 4))

    def test_a_list_without_a_name(self, tmp_path: Path) -> None:
        pq.write_table(pa.table({"": [[1.0, 2.0]] * 6}), tmp_path / "x.parquet")
        assert cmeans.open_blocks(tmp_path / "x.parquet").shape == (6, 2)

    def test_encrypted(self, tmp_path: Path) -> None:
        pq.write_table(pa.table({"x": X[:6, 0]}), tmp_path / "x.parquet")
        whole = (tmp_path / "x.parquet").read_bytes()
        sealed = b"PARE" + whole[4:-4] + b"PARE"  # the marks of a file whose footer is encrypted
        (tmp_path / "x.parquet").write_bytes(sealed)
        refused(tmp_path / "x.parquet", "x.parquet: is encrypted, and no keys are taken")

    def test_lists_that_name_the_rows(
        self, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        names = [["a"], ["b"], ["a"]] * 20
        table = pa.table({"id": names, **dict(zip("xyz", X.T, strict=True))})
        pq.write_table(table, tmp_path / "x.parquet")
        words = ["fit", str(tmp_path / "x.parquet"), "--id", "id", "--columns", "x,y,z"]
        assert main([*words, "-c", "3", "--out", str(tmp_path / "o"), "-q"]) == 0
        assert "58 of 60 rows have a name" in capsys.readouterr().err
        assert pq.read_table(tmp_path / "o" / "labels.parquet")["id"].to_pylist() == names


class TestNames:
    """Names of rows come out as they went in."""

    def labels(self, place: Path, ids: dict[str, list[Any]]) -> pa.Array:
        (place / "rows").mkdir()
        for file, names in ids.items():
            lines = [f"{name},{at % 3 * 9 + at / 100},{at % 3}" for at, name in enumerate(names)]
            (place / "rows" / file).write_text("\n".join(["id,x,y", *lines, ""]))
        assert (
            main(
                [
                    "fit",
                    str(place / "rows"),
                    "--id",
                    "id",
                    "-c",
                    "3",
                    "--out",
                    str(place / "o"),
                    "-q",
                ]
            )
            == 0
        )
        return pq.read_table(place / "o" / "labels.parquet")["id"].combine_chunks()

    @pytest.mark.parametrize(
        "names",
        [
            [f"{at:03d}" for at in range(9)],
            ["1.10", "1.1", "1.2"] * 3,
            [str(2**70 + at) for at in range(9)],
            [f"+{at}" for at in range(9)],
            [*map(str, range(1500)), "A7"],  # the fit was lost
        ],
    )
    def test_text_that_looks_like_numbers(self, names: list[str], tmp_path: Path) -> None:
        assert self.labels(tmp_path, {"1.csv": names}).to_pylist() == names

    def test_numbers_stay_numbers(self, tmp_path: Path) -> None:
        found = self.labels(tmp_path, {"1.csv": [*range(8), ""], "2.csv": [-5, 10**18, 3]})
        assert found == pa.array([*range(8), None, -5, 10**18, 3])

    def test_files_that_do_not_agree(self, tmp_path: Path) -> None:
        assert self.labels(
            tmp_path, {"1.csv": [0, 1, 2], "2.csv": ["a", "b", "c"]}
        ).to_pylist() == ["0", "1", "2", "a", "b", "c"]

    def test_what_a_csv_cannot_hold(
        self, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        pq.write_table(
            pa.table({"id": [{"a": 1}] * 60, **dict(zip("xyz", X.T, strict=True))}),
            tmp_path / "x.parquet",
        )
        cmeans.save(
            cmeans.KernelKMeans(3, kernel="linear", random_state=0).fit(X), tmp_path / "model"
        )
        words = [
            "predict",
            str(tmp_path / "model"),
            str(tmp_path / "x.parquet"),
            "--id",
            "id",
            "--columns",
            "x,y,z",
        ]
        assert main([*words, "--out", str(tmp_path / "labels.csv"), "-q"]) == 2
        assert (
            "--id id: cannot be written to .csv (Unsupported Type:struct" in capsys.readouterr().err
        )


class TestCheckpoints:
    @pytest.mark.parametrize("drawn", [-1, 625, 10**6])
    def test_more_random_numbers_than_there_are(self, drawn: int, tmp_path: Path) -> None:
        """NumPy read memory behind them."""
        file, fit = tmp_path / "fit", {"n_clusters": 3, "random_state": 0, "n_init": 3}
        cmeans.ProbabilisticKMeans(**fit, engine=cmeans.ThreadEngine(checkpoint=file)).fit(X)
        change_by_hand(file, lambda header, _: header["random"].__setitem__("pos", drawn))
        with pytest.raises(
            ValueError,
            match=rf"fit is damaged, or no checkpoint .*{drawn} of 624 random numbers are drawn",
        ):
            cmeans.ProbabilisticKMeans(
                **fit, engine=cmeans.ThreadEngine(checkpoint=cmeans.Checkpoint(file, resume=True))
            ).fit(X)

    def test_steps_that_are_words(self, tmp_path: Path) -> None:
        """The next checkpoint could not be written."""
        file, fit = tmp_path / "fit", {"n_clusters": 3, "random_state": 0, "solver": "fagp"}
        cmeans.ProbabilisticKMeans(**fit, engine=cmeans.ThreadEngine(checkpoint=file)).fit(X)
        change_by_hand(
            file,
            lambda header, _: header["sections"]["start 0/path/fit 0"]["$dict"].__setitem__(
                "steps", {"$strings": ["x"]}
            ),
        )
        with pytest.raises(ValueError, match="fit is damaged, or no checkpoint"):
            cmeans.ProbabilisticKMeans(
                **fit, engine=cmeans.ThreadEngine(checkpoint=cmeans.Checkpoint(file, resume=True))
            ).fit(X)

    @pytest.mark.parametrize("identity", [3, "words", None, [1]])
    def test_an_identity_that_is_none(self, identity: object, tmp_path: Path) -> None:
        file = tmp_path / "fit"
        cmeans.KernelKMeans(
            3, kernel="linear", random_state=0, engine=cmeans.ThreadEngine(checkpoint=file)
        ).fit(X)
        change_by_hand(file, lambda header, _: header.__setitem__("identity", identity))
        with pytest.raises(ValueError, match=r"checkpoint: .*fit is damaged, or no checkpoint"):
            cmeans.KernelKMeans(
                3,
                kernel="linear",
                random_state=0,
                engine=cmeans.ThreadEngine(checkpoint=cmeans.Checkpoint(file, resume=True)),
            ).fit(X)

    def test_centres_of_another_space(self, tmp_path: Path) -> None:
        """Compiled code would read beyond them."""
        file, fit = tmp_path / "fit", {"n_clusters": 3, "kernel": "linear", "random_state": 0}
        cmeans.KernelKMeans(**fit, engine=cmeans.ThreadEngine(checkpoint=file)).fit(X)

        def change(_: Any, arrays: Any) -> None:
            for name in [name for name in arrays if "coordinates" in name]:
                arrays[name] = np.ascontiguousarray(arrays[name][:, :1])

        change_by_hand(file, change)
        with pytest.raises(ValueError, match=r"checkpoint: "):
            cmeans.KernelKMeans(
                **fit, engine=cmeans.ThreadEngine(checkpoint=cmeans.Checkpoint(file, resume=True))
            ).fit(X)

    @pytest.mark.parametrize("name", ["last", "before", "history", "at"])
    def test_a_part_that_is_a_number(self, name: str, tmp_path: Path) -> None:
        file, fit = tmp_path / "fit", {"n_clusters": 3, "kernel": "linear", "random_state": 0}
        cmeans.KernelKMeans(**fit, engine=cmeans.ThreadEngine(checkpoint=file)).fit(X)

        def change(header: Any, _: Any) -> None:
            parts = [one["$dict"] for one in header["sections"].values() if "$dict" in one]
            changed = [one.__setitem__(name, 0.5) for one in parts if "history" in one]
            assert changed

        change_by_hand(file, change)
        with pytest.raises(ValueError, match=f"checkpoint: it holds no {name} of a fit"):
            cmeans.KernelKMeans(
                **fit, engine=cmeans.ThreadEngine(checkpoint=cmeans.Checkpoint(file, resume=True))
            ).fit(X)

    @pytest.mark.parametrize(
        ("part", "name", "value"),
        [
            ("stream", "clustered", float("inf")),
            ("written", "bytes", 1e300),
            ("written", "bytes", -1),
            ("stream", "rows", -5),
            ("stream", "said", 5),
            ("stream", "said", ["decimal"]),
            ("stream", "source", ["x.csv"]),
            ("metadata", "weight", ["a"]),
        ],
    )
    def test_words_of_a_stream_that_are_none(
        self, part: str, name: str, value: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        np.savetxt(tmp_path / "x.csv", X, delimiter=",", header="a,b,c", comments="")
        words = [
            "stream",
            str(tmp_path / "x.csv"),
            "-q",
            "--out",
            str(tmp_path / "l.csv"),
            "--checkpoint",
            str(tmp_path / "state"),
        ]
        assert main([*words, "-c", "3"]) == 0

        def change(header: Any, _: Any) -> None:
            metadata = header["metadata"]
            parts = {"metadata": metadata, "stream": metadata["stream"], **metadata["stream"]}
            parts[part][name] = value

        change_by_hand(tmp_path / "state", change)
        assert main([*words, "--resume"]) == 2
        assert capsys.readouterr().err.startswith(("cmeans: --resume: ", "cmeans: --out "))


class TestFits:
    def test_a_tolerance_whose_square_is_too_large(self) -> None:
        assert cmeans.KernelKMeans(3, kernel="linear", tol=1e300, random_state=0).fit(X).converged_

    @pytest.mark.filterwarnings("ignore::UserWarning")
    def test_sizes_of_rows_that_are_all_one_point(self) -> None:
        model = cmeans.FuzzyCMeans(
            3, m=2.0, init=[0, 0, 0], sizes=Sizes(least=[1, 2, 3]), random_state=0
        ).fit(np.zeros((9, 3)))
        assert np.isfinite(model.memberships_).all()

    @pytest.mark.filterwarnings("ignore::UserWarning")
    def test_distributions_that_are_cut_short_sum_to_one(self) -> None:
        """Where all rows lie at one point, but for rounding, steps are long and their rounding is
        not small."""
        x = np.random.default_rng(0).uniform(0.1, 11, size=(30, 1)).astype(np.float16)
        model = cmeans.ProbabilisticKMeans(3, kernel="cosine", max_iter=30, random_state=0).fit(x)
        np.testing.assert_allclose(model.memberships_.sum(axis=1), 1.0, rtol=1e-6)

    @pytest.mark.parametrize("weight", [None, [0, 0, 1, 0, 3, 2, 0]])
    def test_a_number_to_find_among_rows_at_one_place(self, weight: list[int] | None) -> None:
        model = cmeans.AutoClustering((1, 4)).fit(np.ones((7, 2)), sample_weight=weight)
        assert model.n_clusters_ == 1
        assert model.labels_.tolist() == [0] * 7

    def test_possibilistic_clusters_of_rows_that_are_all_known(self) -> None:
        known = np.repeat([0, 1, 2], 20)
        model = cmeans.PossibilisticCMeans(3, kernel="rbf", gamma="median", random_state=0)
        assert np.isfinite(model.fit(X, known_labels=known).objective_)

    @pytest.mark.filterwarnings("ignore::UserWarning")
    def test_rows_that_a_kernel_does_not_tell_apart(self) -> None:
        x = 1e9 + np.random.default_rng(2).normal(scale=10, size=(15, 1)).round()
        model = cmeans.CMeans(3, landmarks=[0, 1, 2], random_state=0).fit(x)
        assert np.array_equal(model.predict(x), model.labels_)

    @pytest.mark.parametrize(
        ("model", "weight"),
        [
            (cmeans.ModularityClustering(3), 1e-161),
            (cmeans.ConsensusClustering(3, members=[cmeans.CMeans(3), cmeans.CMeans(3)]), 1e245),
        ],
    )
    def test_weights_whose_products_are_no_numbers(self, model: Any, weight: float) -> None:
        model = clone(model).fit(X, sample_weight=np.full(len(X), weight))
        assert adjusted_rand_score(np.repeat([0, 1, 2], 20), model.labels_) > 0.9

    def test_rows_whose_distances_have_no_squares(self) -> None:
        far = np.where(np.random.default_rng(0).uniform(size=X.shape) < 0.05, 1e308, X)
        model = cmeans.ConnectivityClustering(3).fit(far, sample_weight=np.arange(60) % 4)
        np.testing.assert_allclose(model.memberships_.sum(axis=1), 1.0)

    def test_candidates_that_are_a_number(self) -> None:
        with pytest.raises(ValueError, match=r'candidates=0.5\): "auto", or a list of names'):
            cmeans.AutoClustering(candidates=0.5).fit(X)

    def test_ranges_that_differ_beyond_all_numbers(self) -> None:
        x = np.array([[0.0, 0.0], [1e-200, 1e200], [5e-201, 3e199]])
        assert chosen_scaling(x).name == "unit"
        assert chosen_scaling(x).reason.endswith("their ranges differ over a million times")


def test_a_tab_stands_between_no_thousands() -> None:
    assert Notation(thousands=" ").number("1\t704") is None
    assert Notation(thousands=" ").number("1\u202f704") == 1704.0


def test_no_thousands_stand_behind_a_nought() -> None:
    """A minus behind one number had made 92 and 10.677 numbers with points between thousands."""
    cells = ["0.291", "92", "10.677", "11.161-"]
    (found,) = notations_of(cells, separator=",", decimal=None, thousands=None)
    assert [found.number(cell) for cell in cells] == [0.291, 92.0, 10.677, -11.161]


def test_amounts_beyond_all_floats_have_words() -> None:
    """Of a model file whose stream was to take 10^400 rows at a time."""
    assert in_bytes(10**400) == "over a billion TB"
    assert several(10**30, "row").endswith("000,000 rows")
