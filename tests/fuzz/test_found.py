"""What fuzzers have found, each as the smallest thing that showed it."""

from __future__ import annotations

import gzip
import io
import json
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import save_file
from scipy import sparse

import cmeans
from cmeans.data.files import claims
from cmeans.data.row_source import RowsError
from cmeans.persistence.model_file import read_metadata
from cmeans.storage.codec import digest_of
from fuzz.mutations import parts_of

X = np.random.default_rng(0).normal(size=(60, 3)) + np.repeat([[0, 0, 0], [9, 0, 0], [0, 9, 0]], 20, axis=0)


def refused(file: Path, match: str, **words: Any) -> None:
    with pytest.raises(RowsError, match=match) as caught:
        cmeans.open_blocks(file, **words)
    assert str(caught.value).isprintable()
    assert len(str(caught.value)) < 1000


class TestModelFiles:
    def saved(self, model: Any, folder: Path) -> bytes:
        cmeans.save(model, folder / "model")
        return (folder / "model").read_bytes()

    def rewritten(self, folder: Path, data: bytes, change: Any) -> Path:
        key, header, arrays = parts_of(data)
        del header["digest"]
        change(header, arrays)
        save_file(arrays, folder / "model", {key: json.dumps(header)})
        return folder / "model"

    @pytest.mark.parametrize("bit", [0, 3, 51, 62])
    def test_one_bit_of_a_centre(self, bit: int, tmp_path: Path) -> None:
        """It was another model, which said nothing."""
        data = bytearray(self.saved(cmeans.KernelKMeans(3, kernel="linear", random_state=0).fit(X), tmp_path))
        _, _, arrays = parts_of(bytes(data))
        centres = next(values for name, values in arrays.items() if "coordinates" in name)
        data[data.index(centres.tobytes()) + bit // 8] ^= 1 << bit % 8
        (tmp_path / "model").write_bytes(data)
        for read in (cmeans.load, read_metadata):
            with pytest.raises(ValueError, match="model is not a readable model file: it holds something else than was written"):
                read(tmp_path / "model")

    def test_a_word_in_the_header(self, tmp_path: Path) -> None:
        data = self.saved(cmeans.FuzzyCMeans(3, m=1.5, random_state=0).fit(X), tmp_path)
        (tmp_path / "model").write_bytes(data.replace(b'\\"m\\": 1.5', b'\\"m\\": 2.5'))
        with pytest.raises(ValueError, match="it holds something else than was written"):
            cmeans.load(tmp_path / "model")

    def test_a_message_does_not_hold_a_whole_array(self, tmp_path: Path) -> None:
        data = self.saved(cmeans.FuzzyCMeans(3, kernel="rbf", random_state=0).fit(X), tmp_path)
        name = max(parts_of(data)[2].items(), key=lambda item: item[1].size)[0]
        file = self.rewritten(tmp_path, data, lambda header, _: header["params"].__setitem__("kernel_params", {"$array": name}))
        with pytest.raises(ValueError, match=r"give a mapping|kernel_params") as caught:
            cmeans.load(file)
        assert len(str(caught.value)) < 700
        assert "\n" not in str(caught.value)

    def test_a_budget_of_more_than_all_memory(self, tmp_path: Path) -> None:
        """It could not be written in a message, as no float is so large."""
        data = self.saved(cmeans.StreamingFuzzyCMeans(3, random_state=0).partial_fit(X), tmp_path)
        file = self.rewritten(tmp_path, data, lambda header, _: header["params"].__setitem__("memory_budget", 10**400))
        model = cmeans.load(file).partial_fit(X)
        assert model.n_samples_seen_ == 120
        assert cmeans.KernelKMeans(3, memory_budget="9" * 300 + "GB", random_state=0).fit(X).converged_

    def test_a_stream_that_chooses_landmarks_without_a_factor(self, tmp_path: Path) -> None:
        stream = cmeans.StreamingFuzzyCMeans(3, kernel="rbf", gamma=0.1, warm_up=0, random_state=0).partial_fit(X)

        def change(header: Any, _: Any) -> None:
            fields = header["fitted"]["_stream"]["fields"]
            assert fields["reserve"] is not None
            fields["past"]["fields"]["space"]["fields"]["whitener"] = None

        file = self.rewritten(tmp_path, self.saved(stream, tmp_path), change)
        with pytest.raises(ValueError, match=r"goes on choosing landmarks|damaged"):
            cmeans.load(file)

    def test_a_header_of_too_much_text(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
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
        refused(tmp_path / "x.csv", r"there is no column 'c'; it has '\\x1b\[31ma', 'b'|c", columns=["c"])

    @pytest.mark.parametrize("shape", [(3, 2**40), (3, 2**62 - 1), (2**40, 3)])
    def test_a_sparse_matrix_as_wide_or_long_as_it_likes(self, shape: tuple[int, int], tmp_path: Path) -> None:
        """Names of 2^40 columns took all memory."""
        parts = {"row": np.array([0]), "col": np.array([0]), "data": np.array([1.0]), "shape": np.array(shape), "format": b"coo"}
        np.savez(tmp_path / "x.npz", **parts)
        refused(tmp_path / "x.npz", "columns, and 2,097,152 are the most|unpacks to .* bytes or more")

    def test_many_columns_of_one_name(self, tmp_path: Path) -> None:
        """They were counted once for each, for hours."""
        (tmp_path / "x.csv").write_text(",".join(["a"] * 200_000) + "\n")
        refused(tmp_path / "x.csv", "column 'a' occurs 200000 times")

    def test_more_columns_than_there_can_be(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(claims, "MOST_COLUMNS", 50)
        (tmp_path / "x.csv").write_text("," * 60 + "\n")
        refused(tmp_path / "x.csv", "has 61 columns, and 50 are the most")
        np.save(tmp_path / "x.npy", np.zeros((2, 51), np.int8))
        refused(tmp_path / "x.npy", "has 51 columns")

    @pytest.mark.parametrize("kind", ["csv", "npz", "sparse"])
    def test_a_few_bytes_that_unpack_to_many(self, kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(claims, "UNPACKED", 2**16)
        match, file = r"unpacks to .* bytes or more from .*; where that is meant, unpack it first", tmp_path / "x.npz"
        if kind == "csv":
            (tmp_path / "x.csv.gz").write_bytes(gzip.compress(b"0,0\n" * 2**20))
            refused(tmp_path / "x.csv.gz", match, header=False)
            return
        if kind == "npz":
            np.savez_compressed(file, X=np.zeros((2**19, 2)))
        else:
            sparse.save_npz(file, sparse.csr_array((np.ones(2**20), np.zeros(2**20, int), [0, 2**20]), shape=(1, 1)))
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

    def test_a_name_in_an_archive_that_is_a_page_long(self, tmp_path: Path) -> None:
        with zipfile.ZipFile(tmp_path / "x.npz", "w") as archive:
            archive.writestr("X.npy", b"x" * 100)
        data = bytearray((tmp_path / "x.npz").read_bytes())
        data[26:28] = (5000).to_bytes(2, "little")  # the length of the name
        (tmp_path / "x.npz").write_bytes(data + bytes(6000))
        refused(tmp_path / "x.npz", r"x\.npz: ")


class TestCheckpoints:
    @pytest.mark.parametrize("identity", [3, "words", None, [1]])
    def test_an_identity_that_is_none(self, identity: object, tmp_path: Path) -> None:
        file = tmp_path / "fit"
        cmeans.KernelKMeans(3, kernel="linear", random_state=0, checkpoint=file).fit(X)
        key, header, arrays = parts_of(file.read_bytes())
        header["identity"] = identity
        del header["digest"]
        save_file(arrays, file, {key: json.dumps({**header, "digest": digest_of(json.dumps(header), arrays)})})
        with pytest.raises(ValueError, match=r"checkpoint: .*fit is damaged, or no checkpoint"):
            cmeans.KernelKMeans(3, kernel="linear", random_state=0, checkpoint=cmeans.Checkpoint(file, resume=True)).fit(X)

    def test_centres_of_another_space(self, tmp_path: Path) -> None:
        """Compiled code would read beyond them."""
        file, fit = tmp_path / "fit", {"n_clusters": 3, "kernel": "linear", "random_state": 0}
        cmeans.KernelKMeans(**fit, checkpoint=file).fit(X)
        key, header, arrays = parts_of(file.read_bytes())
        del header["digest"]
        for name in [name for name in arrays if "coordinates" in name]:
            arrays[name] = np.ascontiguousarray(arrays[name][:, :1])
        save_file(arrays, file, {key: json.dumps({**header, "digest": digest_of(json.dumps(header), arrays)})})
        with pytest.raises(ValueError, match=r"checkpoint: "):
            cmeans.KernelKMeans(**fit, checkpoint=cmeans.Checkpoint(file, resume=True)).fit(X)


class TestFits:
    def test_a_tolerance_whose_square_is_too_large(self) -> None:
        assert cmeans.KernelKMeans(3, kernel="linear", tol=1e300, random_state=0).fit(X).converged_

    @pytest.mark.filterwarnings("ignore::UserWarning")
    def test_sizes_of_rows_that_are_all_one_point(self) -> None:
        model = cmeans.FuzzyCMeans(3, m=2.0, init=[0, 0, 0], size_min=[1, 2, 3], random_state=0).fit(np.zeros((9, 3)))
        assert np.isfinite(model.memberships_).all()

    @pytest.mark.filterwarnings("ignore::UserWarning")
    def test_distributions_that_are_cut_short_sum_to_one(self) -> None:
        """Where all rows lie at one point, but for rounding, steps are long and their rounding is not small."""
        x = np.random.default_rng(0).uniform(0.1, 11, size=(30, 1)).astype(np.float16)
        model = cmeans.ProbabilisticKMeans(3, kernel="cosine", max_iter=30, random_state=0).fit(x)
        np.testing.assert_allclose(model.memberships_.sum(axis=1), 1.0, rtol=1e-6)
