"""`cmeans stream`: what comes in, what goes out, what is refused."""

from __future__ import annotations

import bz2
import errno
import gzip
import io
import json
import lzma
import os
import sys
import threading
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest
from sklearn.datasets import make_moons
from sklearn.metrics import adjusted_rand_score

import cmeans as library
from cli.command import Command
from cli.streams import LINEAR, answers, arrow, by_hand, csv, groups, refused, table
from cmeans.cli.stream.sources import Source
from cmeans.persistence.model_file import read_metadata

pytestmark = pytest.mark.slow

Feed = Callable[[bytes], None]


def test_rows_that_are_noise_are_labelled_so(cmeans: Command, tmp_path: Path) -> None:
    x, truth = groups(600)
    x[50::60] = np.random.default_rng(1).uniform(-900, 900, (10, 3)).round(3)
    (tmp_path / "rows.csv").write_bytes(csv(x))
    words = [
        "stream",
        tmp_path / "rows.csv",
        *LINEAR,
        "--noise",
        "auto",
        "--seed",
        0,
        "--chunk-size",
        200,
    ]
    labels = np.array(answers(cmeans(*words))["label"])
    assert (labels[50::60] == -1).all()
    others = labels >= 0
    assert adjusted_rand_score(truth[others], labels[others]) == 1.0
    for name in ("labels.csv",):
        state = ["--checkpoint", tmp_path / f"{name}.state", "--summary", tmp_path / "summary.json"]
        assert cmeans(*words, "--out", tmp_path / name, *state).code == 0
        summary = json.loads((tmp_path / "summary.json").read_text())
        assert (summary["noise"], sum(summary["sizes"])) == (
            int((~others).sum()),
            int(others.sum()),
        )
        assert (
            cmeans(
                "stream", tmp_path / "rows.csv", "--resume", *state, "--out", tmp_path / name
            ).code
            == 0
        )
        assert json.loads((tmp_path / "summary.json").read_text())["noise"] == summary["noise"]
    np.testing.assert_array_equal(pyarrow.csv.read_csv(tmp_path / "labels.csv")["label"], labels)


@pytest.fixture
def feed(monkeypatch: pytest.MonkeyPatch) -> Iterator[Feed]:
    """What the next command finds on its standard input, a pipe."""
    opened: list[tuple[io.TextIOBase, threading.Thread]] = []

    def pour(descriptor: int, data: bytes) -> None:
        try:
            with open(descriptor, "wb", buffering=0) as pipe:
                pipe.write(data)
        except BrokenPipeError:
            pass

    def give(data: bytes) -> None:
        end, start = os.pipe()
        thread = threading.Thread(target=pour, args=(start, data), daemon=True)
        opened.append((open(end), thread))  # noqa: SIM115
        monkeypatch.setattr(sys, "stdin", opened[-1][0])
        thread.start()

    yield give
    for stdin, thread in opened:
        stdin.close()
        thread.join(60)


class TestRows:
    def test_a_pipe_in_labels_out(self, cmeans: Command, feed: Feed, tmp_path: Path) -> None:
        x, truth = groups(1000)
        feed(csv(x))
        ended = cmeans(
            "stream", *LINEAR, "--chunk-size", 150, "--checkpoint", tmp_path / "s.safetensors"
        )
        found = answers(ended)
        model, labels = by_hand(x, 150)
        assert found.schema.names == ["row", "label"]
        assert found["row"].to_pylist() == list(range(1000))
        assert found["label"].to_pylist() == labels
        assert adjusted_rand_score(truth, labels) > 0.95
        again = library.load(tmp_path / "s.safetensors")
        assert np.array_equal(again.predict(x), model.predict(x))
        assert (again.n_samples_seen_, again.n_chunks_) == (1000, 7)
        assert ended.err.splitlines()[-1] == "cmeans: 1,000 rows clustered"

    def test_shapes(self, cmeans: Command, feed: Feed, tmp_path: Path) -> None:
        """By the graph of the first rows, in which later ones are embedded; the state in the file
        goes on with more of them."""
        x, moons = make_moons(1200, noise=0.05, random_state=0)
        words = [
            "--clusters",
            2,
            "--kernel",
            "landmark_graph",
            "--landmarks",
            100,
            "--rule",
            "hard",
            "--seed",
            0,
            "--chunk-size",
            100,
        ]
        feed(csv(x[:800], "a,b"))
        answers(cmeans("stream", *words, "--checkpoint", tmp_path / "s.safetensors"))
        feed(csv(x[800:], "a,b"))
        found = answers(
            cmeans("stream", *words, "--checkpoint", tmp_path / "s.safetensors", "--resume")
        )
        assert adjusted_rand_score(moons[800:], found["label"].to_pylist()) > 0.97
        again = library.load(tmp_path / "s.safetensors")
        assert (again.n_samples_seen_, again.n_landmarks_) == (1200, 100)
        assert adjusted_rand_score(moons, again.predict(x)) > 0.97

    @pytest.mark.parametrize("rule", ["fuzzy", "hard"])
    def test_memberships_sum_to_one(self, cmeans: Command, feed: Feed, rule: str) -> None:
        feed(csv(groups(200)[0]))
        found = answers(
            cmeans("stream", "-c", 3, "--rule", rule, "--chunk-size", 60, "--memberships", "-q")
        )
        u = np.column_stack([found[f"u{j}"] for j in range(3)])
        assert found.schema.names == ["row", "label", "u0", "u1", "u2"]
        np.testing.assert_allclose(u.sum(1), 1, atol=1e-12)
        assert np.array_equal(u.argmax(1), found["label"])

    @pytest.mark.parametrize(
        ("write", "words", "columns", "places"),
        [
            (lambda x: csv(x), [], ["a", "b", "c"], [0, 1, 2]),
            (lambda x: csv(x, None), [], [0, 1, 2], [0, 1, 2]),
            (lambda x: csv(x, sep=";"), ["--columns", "c,b"], ["c", "b"], [2, 1]),
            (lambda x: csv(x, None, "\t"), ["--columns", "2,0"], [2, 0], [2, 0]),
            (lambda x: csv(x).replace(b"\n", b"\r\n"), [], ["a", "b", "c"], [0, 1, 2]),
            (
                lambda x: b"\xef\xbb\xbf\n\r\n" + csv(x).replace(b"\n", b"\n\n"),
                [],
                ["a", "b", "c"],
                [0, 1, 2],
            ),
            (lambda x: csv(x, '"a",b,"c, d"'), [], ["a", "b", "c, d"], [0, 1, 2]),
            (lambda x: csv(x, "0,1,2"), ["--header"], ["0", "1", "2"], [0, 1, 2]),
            (lambda x: csv(x).rstrip(b"\n"), [], ["a", "b", "c"], [0, 1, 2]),
            (lambda x: csv(x).replace(b"\n", b"\r"), [], ["a", "b", "c"], [0, 1, 2]),
            (lambda x: csv(x).replace(b"\n", b"\r").rstrip(b"\r"), [], ["a", "b", "c"], [0, 1, 2]),
            (lambda x: csv(x).replace(b"\n", b"\r", 60), [], ["a", "b", "c"], [0, 1, 2]),
            (lambda x: csv(x).replace(b"\n", b"\r\n", 60), [], ["a", "b", "c"], [0, 1, 2]),
            (
                lambda x: csv(x, sep=";").replace(b"a;b;c", b'"a, b";"c, d";e', 1),
                [],
                ["a, b", "c, d", "e"],
                [0, 1, 2],
            ),
            (
                lambda x: csv(x, '"' + "a" * 140_000 + '",b,c'),
                ["--columns", "1-2"],
                ["b", "c"],
                [1, 2],
            ),
            (
                lambda x: b"t,a\n" + b"".join(b"gr\xf6\xdfe,%d\n" % a for a in x[:, 0]),
                ["--columns", "a"],
                ["a"],
                [0],
            ),
            (
                lambda x: b"t,a\n" + b"".join(b'"%s",%d\n' % (b"t" * 140_000, a) for a in x[:, 0]),
                ["--columns", "a"],
                ["a"],
                [0],
            ),
            (
                lambda x: b't,a\n"",1\n' + b"".join(b'"t, ""u""",%d\n' % a for a in x[1:, 0]),
                ["--columns", "a"],
                ["a"],
                [0],
            ),
        ],
    )
    def test_whatever_rows_look_like(
        self,
        cmeans: Command,
        feed: Feed,
        tmp_path: Path,
        write: Callable[[np.ndarray], bytes],
        words: list[str],
        columns: list[str | int],
        places: list[int],
    ) -> None:
        x = groups(120)[0].round()
        x[0, 0] = 1
        feed(write(x))
        found = answers(
            cmeans(
                "stream",
                *LINEAR,
                "--chunk-size",
                50,
                *words,
                "--checkpoint",
                tmp_path / "s.safetensors",
            )
        )
        assert found["row"].to_pylist() == list(range(120))
        assert found["label"].to_pylist() == by_hand(x[:, places], 50)[1]
        assert read_metadata(tmp_path / "s.safetensors")["metadata"]["columns"] == columns

    def test_a_single_column(self, cmeans: Command, feed: Feed) -> None:
        feed(b"a\n0\n\n5\n9\n")
        ended = cmeans("stream", *LINEAR)
        # an empty line is a missing value where there is nothing else
        assert answers(ended)["row"].to_pylist() == [0, 2, 3]
        assert "line 3: column 'a' is empty or not a number (NaN)" in ended.err

    @pytest.mark.parametrize(
        "name", ["x.csv", "x.csv.gz", "stream.arrow", "file.arrow", "x.parquet"]
    )
    def test_files(self, cmeans: Command, tmp_path: Path, name: str) -> None:
        x, _ = groups(120)
        (tmp_path / "x.csv").write_bytes(csv(x))
        (tmp_path / "x.csv.gz").write_bytes(gzip.compress(csv(x)))
        (tmp_path / "stream.arrow").write_bytes(arrow(table(x)))
        (tmp_path / "file.arrow").write_bytes(arrow(table(x), file=True))
        pq.write_table(table(x), tmp_path / "x.parquet", row_group_size=33)
        assert (
            answers(cmeans("stream", tmp_path / name, *LINEAR, "--chunk-size", 50))[
                "label"
            ].to_pylist()
            == by_hand(x, 50)[1]
        )

    @pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes here")
    def test_a_named_pipe(self, cmeans: Command, tmp_path: Path) -> None:
        x, _ = groups(120)
        os.mkfifo(tmp_path / "pipe")
        thread = threading.Thread(
            target=(tmp_path / "pipe").write_bytes, args=(csv(x),), daemon=True
        )
        thread.start()
        found = answers(cmeans("stream", tmp_path / "pipe", *LINEAR, "--chunk-size", 50))
        thread.join(60)
        assert found["label"].to_pylist() == by_hand(x, 50)[1]

    @pytest.mark.parametrize("name", ["x.arrow", "x.csv"])
    def test_weights(self, cmeans: Command, tmp_path: Path, name: str) -> None:
        x, _ = groups(150)
        weight = np.random.default_rng(1).random(150).round(2)
        weight[100:150] = 0  # a whole chunk teaches nothing, and still gets labels
        text = csv(np.column_stack([x, weight]), "a,b,c,w")
        (tmp_path / name).write_bytes(text if name == "x.csv" else arrow(table(x, w=weight)))
        found = answers(
            cmeans(
                "stream",
                tmp_path / name,
                *LINEAR,
                "--weight",
                "w",
                "--chunk-size",
                50,
                "--checkpoint",
                tmp_path / "s.safetensors",
            )
        )
        model, labels = by_hand(x[:100], 50, weight)
        assert found["label"].to_pylist() == [*labels, *model.predict(x[100:])]
        again = library.load(tmp_path / "s.safetensors")
        assert np.array_equal(again.mass_, model.mass_)
        assert read_metadata(tmp_path / "s.safetensors")["metadata"]["weight"] == "w"

    @pytest.mark.parametrize("dtype", ["keep", "float32", "float64"])
    def test_single_precision(self, cmeans: Command, tmp_path: Path, dtype: str) -> None:
        x = groups(60)[0].astype(np.float32)
        (tmp_path / "x.arrow").write_bytes(arrow(table(x)))
        assert (
            cmeans(
                "stream",
                tmp_path / "x.arrow",
                *LINEAR,
                "--dtype",
                dtype,
                "--checkpoint",
                tmp_path / "s.safetensors",
            ).code
            == 0
        )
        assert read_metadata(tmp_path / "s.safetensors")["metadata"]["dtype"] == (
            "float64" if dtype == "float64" else "float32"
        )

    @pytest.mark.parametrize("kind", ["standard", "unit"])
    def test_the_scale_of_the_first_chunk_is_kept(
        self, cmeans: Command, feed: Feed, tmp_path: Path, kind: str
    ) -> None:
        x, _ = groups(150)
        feed(csv(x))
        found = answers(
            cmeans(
                "stream",
                *LINEAR,
                "--scale",
                kind,
                "--chunk-size",
                60,
                "--checkpoint",
                tmp_path / "s.safetensors",
            )
        )
        shift, spread = (
            (x[:60].mean(0), x[:60].std(0))
            if kind == "standard"
            else (x[:60].min(0), np.ptp(x[:60], axis=0))
        )
        model, labels = by_hand((x - shift) / spread, 60)
        assert found["label"].to_pylist() == labels
        pq.write_table(table(x), tmp_path / "x.parquet")
        assert (
            cmeans(
                "predict",
                tmp_path / "s.safetensors",
                tmp_path / "x.parquet",
                "--out",
                tmp_path / "p.npy",
            ).code
            == 0
        )
        assert np.array_equal(np.load(tmp_path / "p.npy"), model.predict((x - shift) / spread))
        facts = json.loads(cmeans("info", tmp_path / "s.safetensors").out)
        assert (facts["estimator"], facts["metadata"]["stream"]["clustered"]) == (
            "StreamingFuzzyCMeans",
            150,
        )

    def test_words_reach_the_estimator(self, cmeans: Command, feed: Feed, tmp_path: Path) -> None:
        feed(csv(groups(90)[0]))
        words = [
            "--m",
            "1.5",
            "--decay",
            "0.5",
            "--gamma",
            "0.25",
            "--landmarks",
            "40",
            "--n-init",
            "2",
            "--max-iter",
            "50",
            "--tol",
            "0.01",
        ]
        words += [
            "--seed",
            "7",
            "--jobs",
            "1",
            "--memory-budget",
            "1GB",
            "--chunk-size",
            "30",
            "--kernel",
            "laplacian",
        ]
        assert (
            cmeans("stream", "-c", 3, *words, "--checkpoint", tmp_path / "s.safetensors").code == 0
        )
        params = library.load(tmp_path / "s.safetensors").get_params()
        expected = {
            "m": 1.5,
            "tol": 0.01,
        }
        expected |= {
            "decay": 0.5,
            "gamma": 0.25,
            "landmarks__number": 40,
            "n_init": 2,
            "max_iter": 50,
            "random_state": 7,
        }
        expected |= {"chunk_size": 30, "kernel": "laplacian", "n_clusters": 3}
        assert {word: params[word] for word in expected} == expected


class TestMalformedRows:
    BAD = (b"1,2", b"1,2,3,4", b"x,2,3", b"1,,3", b"1,nan,3", b"1,2,-inf", b"\xff,2,3", b'1,"2,3')

    def test_they_are_skipped_counted_and_the_first_are_told(
        self, cmeans: Command, feed: Feed, tmp_path: Path
    ) -> None:
        x, _ = groups(100)
        lines = csv(x).splitlines()
        for at, bad in enumerate(self.BAD):
            lines.insert(3 + 10 * at, bad)
        feed(b"\n".join(lines))
        ended = cmeans(
            "stream",
            *LINEAR,
            "--chunk-size",
            40,
            "--checkpoint",
            tmp_path / "s.safetensors",
            "--summary",
            tmp_path / "s.json",
        )
        rows = answers(ended)["row"].to_pylist()
        assert rows == [row for row in range(108) if row not in range(2, 82, 10)]
        assert answers(ended)["label"].to_pylist() == by_hand(x, 40)[1]
        assert [line for line in ended.err.splitlines() if "warning" in line] == [
            "cmeans: warning: line 4: has 2 fields where 3 belong",
            "cmeans: warning: line 14: has 4 fields where 3 belong",
            "cmeans: warning: line 24: column 'a' holds 'x', no number",
            "cmeans: warning: line 34: column 'b' is empty or not a number (NaN)",
            "cmeans: warning: line 44: column 'b' is empty or not a number (NaN)",
            "cmeans: warning: further malformed rows are skipped and only counted.",
        ]
        assert ended.err.splitlines()[-1] == "cmeans: 100 rows clustered, 8 malformed skipped"
        summary = json.loads((tmp_path / "s.json").read_text())
        assert (summary["rows"], summary["rows_clustered"], summary["rows_malformed"]) == (
            108,
            100,
            8,
        )

    def test_first_lines_may_be_malformed_too(self, cmeans: Command, feed: Feed) -> None:
        x, _ = groups(50)
        head, *rest = csv(x).splitlines()
        feed(b"\n".join([head, b"?,?,?", b"1", b"nan,?,0", *rest]))
        assert answers(cmeans("stream", *LINEAR))["row"].to_pylist() == list(range(3, 53))

    def test_nulls_and_infinities_of_arrow(self, cmeans: Command, tmp_path: Path) -> None:
        x, _ = groups(100)
        a, w = x[:, 0].tolist(), [1.0] * 100
        a[5], a[50], a[60], w[70], w[80] = None, np.nan, np.inf, -1.0, None
        (tmp_path / "x.arrow").write_bytes(arrow(table(x, w=w).set_column(0, "a", pa.array(a))))
        ended = cmeans("stream", tmp_path / "x.arrow", *LINEAR, "--weight", "w", "--chunk-size", 30)
        assert answers(ended)["row"].to_pylist() == [
            row for row in range(100) if row not in (5, 50, 60, 70, 80)
        ]
        assert [line for line in ended.err.splitlines() if "warning" in line] == [
            "cmeans: warning: x.arrow, row 5 (counted from 0): column 'a' is empty or not a number "
            "(NaN)",
            "cmeans: warning: x.arrow, row 50 (counted from 0): column 'a' is empty or not a "
            "number (NaN)",
            "cmeans: warning: x.arrow, row 60 (counted from 0): column 'a' is infinite or too "
            "large for float64",
            "cmeans: warning: x.arrow, row 70 (counted from 0): weight column 'w' is -1",
            "cmeans: warning: x.arrow, row 80 (counted from 0): weight column 'w' is empty or not "
            "a number (NaN)",
        ]

    @pytest.mark.parametrize(("forgiven", "row"), [(0, 20), (2, 60)])
    def test_too_many_end_the_run_and_it_can_be_resumed(
        self, cmeans: Command, tmp_path: Path, forgiven: int, row: int
    ) -> None:
        x, _ = groups(100)
        lines = csv(x).splitlines()
        for at in (20, 40, 60, 80):
            lines.insert(at + 1, b"bad")
        file, state, out = tmp_path / "x.csv", tmp_path / "s.safetensors", tmp_path / "l.csv"
        file.write_bytes(b"\n".join(lines))
        words = [
            "stream",
            file,
            "-c",
            3,
            "--kernel",
            "linear",
            "--chunk-size",
            7,
            "--checkpoint",
            state,
            "--out",
            out,
        ]
        line = refused(cmeans(*words, "--max-errors", forgiven))
        which = (
            f"more malformed rows than --max-errors {forgiven} forgives"
            if forgiven
            else "a malformed row"
        )
        assert line == f"cmeans: {which}; line {row + 2}: has 1 field where 3 belong."
        tally = read_metadata(state)["metadata"]["stream"]
        # those before the last chunk
        assert tally["rows"] - tally["clustered"] in (forgiven, forgiven - 1)
        assert tally["clustered"] == (row - forgiven) // 7 * 7
        assert out.stat().st_size == tally["written"]["bytes"]
        summary = cmeans(*words, "--resume", "--max-errors", 4).summary
        assert (summary["rows_clustered"], summary["rows_malformed"], summary["resumed"]) == (
            100,
            4,
            True,
        )
        assert pa.csv.read_csv(out)["label"].to_pylist() == by_hand(x, 7)[1]

    def test_a_first_line_without_an_end(
        self, cmeans: Command, feed: Feed, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("cmeans.data.files.csv.LONGEST", 1 << 20)
        feed(b"\n" + b"7" * (3 << 20))
        assert (
            refused(cmeans("stream", *LINEAR))
            == "cmeans: standard input: the first line is longer than 1 MiB; it is no CSV."
        )

    def test_what_a_file_brings_does_not_steer_the_terminal(
        self, cmeans: Command, feed: Feed
    ) -> None:
        feed(b"\x1b[31ma\x00,1\n1,2\n")
        assert "\x1b" not in refused(cmeans("stream", *LINEAR))
        feed(b"\x1b[31ma,1\n1,2\n")
        assert refused(cmeans("stream", *LINEAR)).startswith(
            r"cmeans: standard input: the first line (\x1b[31ma,1) may be"
        )

    def test_a_stream_of_nothing_else(self, cmeans: Command, feed: Feed) -> None:
        feed(b"a,b,c\n1,2,3\n" + b"?\n" * 40)
        assert (
            refused(cmeans("stream", *LINEAR))
            == "cmeans: standard input: 1 row came, too few for --clusters 3."
        )


class TestResults:
    @pytest.mark.parametrize("memberships", [False, True])
    def test_files_of_labels(self, cmeans: Command, tmp_path: Path, memberships: bool) -> None:
        x, _ = groups(100)
        (tmp_path / "x.csv").write_bytes(csv(x))
        words = [
            "stream",
            tmp_path / "x.csv",
            *LINEAR,
            "--chunk-size",
            30,
            *(["--memberships"] if memberships else []),
        ]
        (tmp_path / "l.csv").write_text("of an earlier run")
        summary = cmeans(
            *words, "--out", tmp_path / "l.csv", "--summary", tmp_path / "s.json"
        ).summary
        assert summary == json.loads((tmp_path / "s.json").read_text())
        assert summary["outputs"] == {
            "labels": str(tmp_path / "l.csv"),
            "summary": str(tmp_path / "s.json"),
        }
        stored = pa.csv.read_csv(tmp_path / "l.csv")
        assert stored.schema.names == ["row", "label", *(["u0", "u1", "u2"] if memberships else [])]
        assert stored.schema.types[:2] == [pa.int64(), pa.int64()]
        assert summary["sizes"] == np.bincount(stored["label"]).tolist()
        assert (summary["rows"], summary["chunks"], summary["n_clusters"], summary["kernel"]) == (
            100,
            4,
            3,
            "linear",
        )

    def test_a_file_of_labels_stays_where_nothing_comes(
        self, cmeans: Command, feed: Feed, tmp_path: Path
    ) -> None:
        out = tmp_path / "l.csv"
        for content in (None, "of an earlier run"):
            if content is not None:
                out.write_text(content)
            feed(b"a,b\n1,x\n")
            refused(cmeans("stream", *LINEAR, "--out", out))
            assert (out.read_text() if out.exists() else None) == content

    def test_stdout_takes_labels_or_the_summary(
        self, cmeans: Command, feed: Feed, tmp_path: Path
    ) -> None:
        feed(csv(groups(30)[0]))
        ended = cmeans("stream", *LINEAR, "--summary", tmp_path / "s.json")
        assert ended.out.startswith("row,label\n0,")
        assert json.loads((tmp_path / "s.json").read_text())["rows"] == 30

    def test_warnings_are_told_once(
        self, cmeans: Command, feed: Feed, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        learn = library.StreamingFuzzyCMeans.partial_fit

        def worried(
            self: library.StreamingFuzzyCMeans, x: np.ndarray, **words: object
        ) -> library.StreamingFuzzyCMeans:
            warnings.warn("careful", stacklevel=1)
            warnings.warn(f"after {vars(self).get('n_chunks_', 0)} chunks", stacklevel=1)
            return learn(self, x, **words)

        monkeypatch.setattr(library.StreamingFuzzyCMeans, "partial_fit", worried)
        feed(csv(groups(100)[0]))
        ended = cmeans("stream", *LINEAR, "--chunk-size", 10, "-q", "--out", tmp_path / "l.csv")
        told = [
            "careful",
            *(f"after {chunks} chunks" for chunks in range(4)),
            "further warnings are not shown.",
        ]
        assert ended.err.splitlines() == [f"cmeans: warning: {text}" for text in told]
        assert ended.summary["warnings"] == told

    def test_progress_is_drawn_on_a_terminal_alone(
        self, cmeans: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        (tmp_path / "x.csv").write_bytes(csv(groups(3000)[0]))
        words = [
            "stream",
            tmp_path / "x.csv",
            *LINEAR,
            "--chunk-size",
            100,
            "--out",
            tmp_path / "l.csv",
        ]
        assert "rows/s" not in cmeans(*words).err
        monkeypatch.setenv("TERM", "xterm")  # a dumb one shows no bars
        monkeypatch.setenv("FORCE_COLOR", "1")
        monkeypatch.setenv("COLUMNS", "120")
        assert "3,000 rows in 3 clusters" in cmeans(*words).err
        assert "rows/s" not in cmeans(*words, "--quiet").err


class TestRefusals:
    @pytest.mark.parametrize(
        ("words", "message"),
        [
            (["--memberships"], "--memberships: their columns are clusters, whose number is not"),
            (["--weight", "c"], "--weight: a stream whose number of clusters is not told"),
            (["--m", "2"], "--m: is of streams whose number of clusters is told"),
            (["--id", "z"], "there is no column 'z'"),
            (["-c", 60], "standard input: 30 rows came, too few for --clusters 60."),
            (
                ["-c", 3, "--chunk-size", 2],
                "--chunk-size 2: a chunk must hold at least --clusters 3 rows.",
            ),
            (["-c", 3, "--columns", "a,z"], "standard input: there is no column 'z'"),
            (
                ["-c", 3, "--columns", "a", "--weight", "z"],
                "--weight z: standard input: there is no column 'z'",
            ),
            (
                ["-c", 3, "--columns", "a,b", "--weight", "b"],
                "--weight: column 'b' is also in --columns",
            ),
            (["-c", 3, "--gamma", "wide"], "--gamma wide: give a number or scale or median."),
            (["-c", 3, "--m", "1"], "m must be"),
            (["-c", 3, "--decay", "2"], "decay must lie above 0 and at most be 1"),
            (["-c", 3, "--landmarks", "some"], "--landmarks some: give a whole number"),
            (["-c", 3, "--resume"], "--resume: needs --checkpoint FILE"),
            (
                ["-c", 3, "--follow"],
                "--follow: only a folder can be followed, and standard input is none.",
            ),
        ],
    )
    def test_wrong_words(
        self, cmeans: Command, feed: Feed, words: list[object], message: str
    ) -> None:
        feed(csv(groups(30)[0]))
        ended = cmeans("stream", *words)
        assert message in refused(ended)
        assert ended.out == ""

    @pytest.mark.parametrize(
        "words",
        [
            ["--clusters", "0"],
            ["--clusters", "two"],
            ["-c", "3", "--method", "soft"],
            ["-c", "3", "--chunk-size", "0"],
            ["-c", "3", "--max-errors", "-1"],
            ["-c", "3", "--wait", "0"],
            ["-c", "3", "--wait", "1e9"],
            ["-c", "3", "a.csv", "b.csv"],
        ],
    )
    def test_misuse_exits_2(self, cmeans: Command, words: list[str]) -> None:
        ended = cmeans("stream", *words)
        assert (ended.code, ended.out) == (2, "")
        assert "Traceback" not in ended.err

    @pytest.mark.parametrize(
        ("name", "content", "message"),
        [
            ("no.csv", None, "no.csv: no such file."),
            ("e.csv", b"", "e.csv: is empty."),
            ("h.csv", b"a,b\n", "h.csv: no rows came."),
            ("n.csv", b"\n\n", "n.csv: no rows came."),
            (
                "i.csv",
                b"5.1,3.5,setosa\n",
                "i.csv: the first line (5.1,3.5,setosa) may be names or data; add --header or "
                "--no-header.",
            ),
            ("w.csv", b"a,a\n1,2\n", "w.csv: column 'a' occurs 2 times"),
            (
                "u.csv",
                "\ngröße,b\n1,2\n".encode("latin1"),
                "u.csv: is not text in UTF-8 (byte 0xF6 at place 3 of line 2); --encoding says in "
                "what it is.",
            ),
            (
                "q.csv",
                b'a,"b\nc",d\n1,2,3\n',
                "q.csv: the first line has a quote that is not closed.",
            ),
            ("m.csv", b"a,b\n1\n2\n", "m.csv: no rows came but 2 malformed ones."),
            (
                "x.gz",
                gzip.compress(b"a\n1\n", mtime=0),
                "x.gz: unknown kind of file; known are Parquet, CSV (.csv",
            ),
            (
                "x.bz2",
                bz2.compress(b"a\n1\n"),
                "x.bz2: unknown kind of file; known are Parquet, CSV (.csv",
            ),
            (
                "x.csv",
                lzma.compress(b"a\n1\n"),
                "x.csv: is packed by xz; unpack it first (xzcat FILE > NEW).",
            ),
            (
                "h.arrow",
                arrow(pa.table({"a": [1.0]})),
                "--header, --no-header: only CSV files need to be told, and ",
            ),
            (
                "x.parquet",
                b"PAR1 and then nothing",
                "x.parquet: cannot be read as Parquet; it is damaged",
            ),
            (
                "x.arrow",
                b"ARROW1 and then nothing",
                "x.arrow: cannot be read as Arrow; it is damaged",
            ),
            (
                "s.arrow",
                arrow(pa.table({"a": range(100)}))[:-300],
                "s.arrow: cannot be read as Arrow; it is damaged",
            ),
            (
                "t.arrow",
                arrow(pa.table({"a": ["x"]})),
                "t.arrow: no numeric columns; left out: 'a' (1) (categories; --categorical a).",
            ),
        ],
    )
    def test_wrong_files(
        self, cmeans: Command, tmp_path: Path, name: str, content: bytes | None, message: str
    ) -> None:
        if content is not None:
            (tmp_path / name).write_bytes(content)
        words = ["--header"] if name == "h.arrow" else []
        assert message in refused(
            cmeans("stream", tmp_path / name, "--clusters", 2, "--out", tmp_path / "l.csv", *words)
        )
        assert not (tmp_path / "l.csv").exists()

    def test_an_array(self, cmeans: Command, tmp_path: Path) -> None:
        np.save(tmp_path / "x.npy", groups(9)[0])
        line = refused(cmeans("stream", tmp_path / "x.npy", *LINEAR))
        assert (
            "x.npy: is no CSV, Arrow or Parquet, which cmeans stream reads; cmeans fit reads it."
            in line
        )

    @pytest.mark.parametrize(
        ("content", "message"),
        [
            (
                arrow(pa.table({"a": [1.0]}), file=True),
                "standard input: is arrow, which cannot be read from a pipe; give the name of a "
                "file.",
            ),
            (
                arrow(pa.table({"a": [1.0]})),
                "standard input: is arrow, which cannot be read from a pipe; give the name of a "
                "file.",
            ),
            (
                b"PAR1",
                "standard input: is parquet, which cannot be read from a pipe; give the name of a "
                "file.",
            ),
            (
                gzip.compress(b"a\n1\n", mtime=0),
                "standard input: is packed by gzip; unpack it on the way: zcat FILE | cmeans "
                "stream.",
            ),
        ],
    )
    def test_what_no_pipe_can_bring(
        self, cmeans: Command, feed: Feed, content: bytes, message: str
    ) -> None:
        feed(content)
        assert message in refused(cmeans("stream", *LINEAR))

    def test_wrong_places(self, cmeans: Command, tmp_path: Path) -> None:
        file, same, away = tmp_path / "x.csv", tmp_path / "same", tmp_path / "no" / "f.csv"
        file.write_bytes(csv(groups(9)[0]))
        for words, message in (
            (
                ["--out", tmp_path / "l.txt"],
                "l.txt: unknown ending; give a .csv file, or - for standard output.",
            ),
            (["--out", away], "cannot be written (no such folder)"),
            (["--checkpoint", away], "cannot be written (no such folder)"),
            (["--summary", tmp_path], "is a folder; give a file."),
            (
                ["--out", file],
                f"--out {file} would overwrite the input file {file}; choose another name.",
            ),
            (
                ["--checkpoint", file],
                f"--checkpoint {file} would overwrite the input file {file}; choose another name.",
            ),
            (
                ["--checkpoint", same, "--summary", same],
                f"--summary {same} is --checkpoint {same} too; they must be different files.",
            ),
        ):
            assert message in refused(cmeans("stream", file, *LINEAR, *words))
        assert list(tmp_path.iterdir()) == [file]

    @pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes here")
    def test_a_named_pipe_takes_no_labels(self, cmeans: Command, tmp_path: Path) -> None:
        os.mkfifo(tmp_path / "pipe.csv")
        line = refused(
            cmeans("stream", tmp_path / "x.csv", *LINEAR, "--out", tmp_path / "pipe.csv")
        )
        assert "pipe.csv: is no plain file; use - and let the shell send that there." in line

    def test_errors_of_reading_name_the_source(
        self, cmeans: Command, feed: Feed, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def broken(self: Source, pipe: int) -> Iterator[bytes]:
            yield b"a,b\n1,2\n"
            raise OSError(errno.EIO, os.strerror(errno.EIO))

        feed(b"")
        monkeypatch.setattr(Source, "_pieces", broken)
        assert refused(cmeans("stream", *LINEAR)) == "cmeans: standard input: Input/output error"

    def test_a_closed_stdin(self, cmeans: Command, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(sys, "stdin", None)
        assert "standard input: is closed." in refused(cmeans("stream", *LINEAR))


def test_numbers_as_people_write_them(cmeans: Command, tmp_path: Path) -> None:
    lines = [f"K{at};{at % 2 * 9},{at % 7};{1 + at % 2 * 3}.00{at % 9},50 €" for at in range(60)]
    content = "\n".join(["wer;größe;preis", *lines, ""]).encode("cp1252")
    (tmp_path / "x.csv").write_bytes(content)
    state, out = tmp_path / "s.safetensors", tmp_path / "l.csv"
    words = ["stream", tmp_path / "x.csv", "-c", 2, "--encoding", "cp1252", "--id", "wer"]
    ended = cmeans(*words, "--checkpoint", state, "--out", out)
    assert ended.summary["sizes"] == [30, 30]
    assert "column 'preis': 60 of 60 values look like numbers with decimal commas" in ended.err
    predicted = cmeans("predict", state, tmp_path / "x.csv", "--out", tmp_path / "p.csv")
    assert predicted.summary["sizes"] == [30, 30]
    with out.open("rb") as first:
        before = first.read()
    more = cmeans(*words, "--checkpoint", state, "--resume", "--out", out)
    assert (more.code, more.summary["rows"], out.read_bytes()) == (0, 60, before)


def test_numbers_that_have_two_meanings(cmeans: Command, tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_text("a;b\n" + "100,000;1\n200,000;2\n" * 9)
    ended = cmeans("stream", tmp_path / "x.csv", "-c", 2, "-q")
    assert ended.code == 2
    assert "say which with --decimal , or --thousands ,." in ended.err
    words = ["stream", tmp_path / "x.csv", "-c", 2, "--summary", tmp_path / "s.json"]
    assert cmeans(*words, "--thousands", ",", "-q").code == 0


def test_columns_made_of_others(cmeans: Command, tmp_path: Path, feed: Feed) -> None:
    rng = np.random.default_rng(0)
    rows = [
        f"{1 + at % 28:02d}.03.2024;{at % 24};{'abc'[at % 3]};{at % 3 * 30};{at % 5};{v:.3f};01234"
        for at, v in enumerate(rng.normal(9 * (np.arange(90) % 3)))
    ]
    faulty = [row.replace(".03.", ".13.") if at == 40 else row for at, row in enumerate(rows)]
    faulty[50] = ";".join([*rows[50].split(";")[:5], "-9999", "01234"])
    names, first, second = "day;hour;plan;lat;lon;v;zip", tmp_path / "x.csv", tmp_path / "y.csv"
    first.write_text("\n".join([names, *faulty, ""]))
    second.write_text("\n".join([names, rows[0].replace("a;", "d;"), rows[1], ""]))
    made = "--dates day=%d.%m.%Y --cyclic hour=24 --categorical plan --latlon lat,lon"
    table = made.split()
    words = ["--missing-values", "-9999", "--column-weight", "v=4", "--chunk-size", 30, *LINEAR]
    state = tmp_path / "s.safetensors"
    kept = ["--checkpoint", state, "--summary", tmp_path / "summary.json"]
    ended = cmeans("stream", first, *table, *words, *kept)
    left = "left out: 'zip' (codes with leading zeros; --categorical zip)"
    assert left in ended.err
    assert left in json.loads((tmp_path / "summary.json").read_text())["warnings"][0]
    assert "line 42: column 'day' holds '13.13.2024', no date as %d.%m.%Y" in ended.err
    assert "line 52: column 'v' is empty" in ended.err
    feed(first.read_bytes())
    assert answers(cmeans("stream", *table, *words)).equals(answers(ended))
    first.write_text("\n".join([names, *np.delete(rows, [40, 50]).tolist(), ""]))
    words = {"dates": ["day"], "cyclic": {"hour": 24}, "latlon": [("lat", "lon")]}
    with pytest.warns(library.DataWarning, match="'zip'"):
        known = library.read_table(first, categorical=["plan"], column_weight={"v": 4}, **words)
    x = np.array(known.read(0, len(known)))
    assert answers(ended)["label"].to_pylist() == by_hand(x, 30)[1]
    assert library.load(state).recipe_.columns == known.columns
    more = cmeans("stream", second, *table, "--resume", "--checkpoint", state)
    assert (more.code, "not seen in 1 row, such as 'd'" in more.err) == (0, True)
    again = "stream", second, "--resume", "--checkpoint", state
    for given in (
        ("--cyclic", "v=7"),
        ("--cyclic", "hour=12"),
        ("--column-weight", "v=2"),
        ("--missing-values", "?"),
        ("--decimal", ","),
    ):
        assert f"{' '.join(given)}: {state} was begun" in refused(cmeans(*again, *given))
    same = cmeans(*again, "--cyclic", "hour=24.0", "--column-weight", "v=4")
    assert same.code == 0, same.err
