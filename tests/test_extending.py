"""The files that the documentation shows to whoever extends the library do what the page says, as
they stand."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

import cmeans
from cmeans.data.files import discovery, opening

PAGE = Path(__file__).resolve().parents[1] / "docs" / "extending.md"
FOLDER = PAGE.with_name("extending")
X = np.random.default_rng(0).normal(size=(9_000, 3)) + 6 * (np.arange(9_000)[:, None] % 3)


def load(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"extending_{name}", FOLDER / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_every_file_is_shown_whole() -> None:
    shown = re.findall(
        r"^```\{literalinclude\} extending/(\w+)\.py$", PAGE.read_text(encoding="utf-8"), flags=re.M
    )
    assert sorted(shown) == sorted(path.stem for path in FOLDER.glob("*.py"))


class TestFormat:
    @pytest.fixture
    def written(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
        """A file of several stripes; its format is known until the end of the test."""
        pa, orc = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.orc")
        for module, name in ((discovery, "_ENDINGS"), (discovery, "_MAGIC"), (opening, "_ADDED")):
            monkeypatch.setattr(module, name, dict(getattr(module, name)))
        load("format")
        file, columns = tmp_path / "rows.orc", dict(zip("abc", X.T.copy(), strict=True))
        table = pa.table({"name": [f"row {number}" for number in range(len(X))], **columns})
        orc.write_table(table, file, stripe_size=65_536, batch_size=1_000)
        assert orc.ORCFile(file).nstripes > 2
        return file

    def test_rows_are_those_that_were_written(self, written: Path) -> None:
        rows = cmeans.open_blocks(written, columns=["c", "a"])
        np.testing.assert_array_equal(rows.read(0, len(X)), X[:, [2, 0]])
        np.testing.assert_array_equal(rows.take(np.array([8_999, 17])), X[[8_999, 17]][:, [2, 0]])

    def test_fits_are_those_in_memory(self, written: Path) -> None:
        words = {"n_clusters": 3, "kernel": "linear", "random_state": 0}
        here, there = (
            cmeans.FuzzyCMeans(**words).fit(X),
            cmeans.FuzzyCMeans(**words).fit(cmeans.open_blocks(written, columns=list("abc"))),
        )
        np.testing.assert_array_equal(there.cluster_centers_, here.cluster_centers_)
        np.testing.assert_array_equal(there.labels_, here.labels_)

    def test_folders_and_first_bytes_know_it(self, written: Path) -> None:
        assert cmeans.open_blocks(written.parent, columns="a").shape == (len(X), 1)
        plain = written.rename(written.with_name("rows"))
        assert cmeans.open_blocks(plain, columns="a").shape == (len(X), 1)

    def test_damage_is_one_line_that_names_the_file(self, written: Path) -> None:
        written.write_bytes(written.read_bytes()[:-40])
        with pytest.raises(
            ValueError, match=r"rows\.orc: cannot be read as ORC; it is damaged or not such a file"
        ):
            cmeans.open_blocks(written)


def test_a_display_is_drawn_from_a_model(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MPLBACKEND", "Agg")
    plt = pytest.importorskip("matplotlib.pyplot")
    model = cmeans.FuzzyCMeans(3, kernel="linear", random_state=0).fit(X)
    drawn = load("display").CertaintyDisplay.from_estimator(model, X)
    assert len(drawn.lines_) == 3
    at, share = drawn.lines_[1].get_data()
    own = model.memberships_[model.labels_ == 1, 1]
    assert share[0] == 1
    assert at[0] == own.min()
    np.testing.assert_allclose(share[1000], np.mean(own >= at[1000]))
    assert [text.get_text() for text in drawn.ax_.get_legend().get_texts()] == [
        "cluster 0",
        "cluster 1",
        "cluster 2",
    ]
    other = plt.figure().subplots()
    assert drawn.plot(ax=other).ax_ is other
    plt.close("all")
