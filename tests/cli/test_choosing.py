"""`cmeans fit` without a number of clusters."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest
from sklearn.metrics import adjusted_rand_score

from cli.command import Command
from cmeans import GaussianMixture

OF_SHOP = np.resize([0, 1, 0, 2, 1, 0, 1, 0, 1, 0], 240)


@pytest.fixture
def groups(tmp_path: Path) -> Path:
    """Three groups by a column that is a hundred times as narrow as the other."""
    rng, y = np.random.default_rng(0), np.arange(150) % 3
    file = tmp_path / "groups.csv"
    rows = np.stack([rng.normal(0, 0.2, 150) + 3 * y, rng.normal(0, 300, 150)], axis=1)
    np.savetxt(file, rows, delimiter=",", header="a,b", comments="")
    return file


@pytest.mark.parametrize("words", [(), ("-c", "auto"), ("-c", "2-8")])
def test_the_rows_say_how_many(
    cmeans: Command, groups: Path, tmp_path: Path, words: tuple[str, ...]
) -> None:
    summary = cmeans("fit", groups, *words, "--out", tmp_path / "out").summary
    assert summary["n_clusters"] == summary["n_clusters_found"] == 3
    assert summary["scale"] == "unit"
    assert sorted(summary["sizes"]) == pytest.approx([50, 50, 50], abs=1)


def test_options_of_a_method_need_one(cmeans: Command, groups: Path, tmp_path: Path) -> None:
    ended = cmeans("fit", groups, "--m", 1.5, "--out", tmp_path / "out")
    assert ended.code == 2
    assert "--m: belongs to a method" in ended.err


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    """Three groups of customers, with empty cells, a category, and a long tail."""
    rng, n, y = np.random.default_rng(1), 240, OF_SHOP
    spend = np.exp(np.array([3.0, 6.0, 9.0])[y] + rng.normal(0, 0.3, n))
    age = np.array([24, 41, 60])[y] + rng.normal(0, 2, n)
    lines = [
        f"{'' if at % 9 == 0 else f'{age[at]:.1f}'.replace('.', ',')};{spend[at]:.2f}".replace(
            ".", ","
        )
        + f";{'xy'[at % 2]}"
        for at in range(n)
    ]
    file = tmp_path / "shop.csv"
    file.write_text("age;spend;plan\n" + "\n".join(lines) + "\n")
    return file


@pytest.mark.parametrize(
    ("words", "method", "scale"),
    [
        ((), None, "log"),
        (("--categorical", "plan"), "hard", "log"),
        (("--top-k", 1, "--scale", "log"), "gaussian", "log"),
    ],
)
def test_tables_with_blanks_and_categories(
    cmeans: Command,
    shop: Path,
    tmp_path: Path,
    words: tuple[object, ...],
    method: str | None,
    scale: str,
) -> None:
    out = tmp_path / "out"
    summary = cmeans("fit", shop, *words, "--out", out).summary
    assert (summary["n_clusters_found"], summary["scale"]) == (3, scale)
    assert summary["method"] == (method or summary["method"])
    labels = pq.read_table(out / "labels.parquet")["label"].to_numpy()
    assert adjusted_rand_score(OF_SHOP, labels) > 0.95
    assert "27 of 240 in 'age'" in summary["warnings"][-1]
    named = summary["next"][-2]["command"].split()
    assert named[-3 - ("--report" in named) :][:3] == ["--names", "A,B,C", "--with-rows"]
    predict = ["predict", out / "model.safetensors", shop, "--out", tmp_path / "p.csv"]
    assert cmeans(*predict).summary["sizes"] == summary["sizes"]


def test_a_scale_that_is_given_is_taken(cmeans: Command, groups: Path, tmp_path: Path) -> None:
    fit = ["fit", groups, "-c", "2-3", "--scale", "none", "--out", tmp_path / "out"]
    assert cmeans(*fit).summary["scale"] == "none"


def test_too_few_rows_without_blanks(cmeans: Command, tmp_path: Path) -> None:
    file = tmp_path / "x.csv"
    x = np.random.default_rng(0).normal(size=(120, 61))
    x[np.arange(120), np.arange(120) % 61] = np.nan
    np.savetxt(file, x, delimiter=",", header=",".join(f"c{k}" for k in range(61)), comments="")
    file.write_text(file.read_text().replace("nan", ""))
    ended = cmeans("fit", file, "--out", tmp_path / "out", "-q")
    assert ended.code == 2
    assert "such as 'c0'" in ended.err
    assert "too few rows have no empty cell to choose by them; give the number" in ended.err


def test_rows_of_which_most_have_blanks_are_judged_by_what_they_hold(
    cmeans: Command, tmp_path: Path
) -> None:
    rng, kinds = np.random.default_rng(1), np.repeat([0, 1, 2], 80)
    x = rng.normal(size=(240, 12)) + 3.0 * rng.normal(size=(3, 12))[kinds]
    x[rng.random(x.shape) < 0.15] = np.nan
    np.savetxt(file := tmp_path / "x.csv", x, delimiter=",", header=",".join("abcdefghijkl"))
    file.write_text(file.read_text().replace("nan", "").removeprefix("# "))
    fit = cmeans("fit", file, "--out", tmp_path / "out")
    assert "missing values were filled with means of the nearest 5 rows" in fit.err
    assert (fit.summary["method"], fit.summary["n_clusters_found"]) == ("consensus", 3)
    labels = pq.read_table(tmp_path / "out" / "labels.parquet").column(0)
    assert adjusted_rand_score(kinds, labels) > 0.95


def test_the_winner_of_the_choice_is_fitted_once(
    cmeans: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And all is what a command writes that is told the method and the number."""
    rng, fits, usual = np.random.default_rng(0), list[int](), GaussianMixture._fitted
    x = np.concatenate([rng.normal(0, 1, (100, 4)), rng.normal(2.2, 1, (100, 4)) * [1, 0.5, 1, 2]])
    np.savetxt(file := tmp_path / "x.csv", x, delimiter=",", header="a,b,c,d", comments="")

    def counted(self: GaussianMixture, X: Any, *given: Any, **words: Any) -> Any:
        if len(X) == 200 and self.n_clusters == 2 and self.search == "auto":
            fits.append(self.random_state)
        return usual(self, X, *given, **words)

    monkeypatch.setattr(GaussianMixture, "_fitted", counted)
    chosen = cmeans("fit", file, "-c", "2-4", "--out", tmp_path / "chosen").summary
    one, *eight = fits  # the first is the candidate of one mixture
    assert (chosen["method"], chosen["n_clusters"], len(set(eight))) == ("consensus", 2, 8)
    words = "-c", 2, "--method", "consensus", "--scale", chosen["scale"]
    cmeans("fit", file, *words, "--out", tmp_path / "told")
    assert fits == [one, *eight, *eight]
    for name in ("labels.parquet", "model.safetensors"):
        assert (tmp_path / "chosen" / name).read_bytes() == (tmp_path / "told" / name).read_bytes()


def test_tables_of_counts_are_clustered_by_a_consensus(
    cmeans: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They were cut between zero and one of a column, or into its single values."""
    rng, kinds = np.random.default_rng(3), np.resize([0, 1, 2], 300)
    counts = rng.poisson(np.array([[1, 5, 9, 2], [6, 1, 2, 8], [3, 9, 1, 1]])[kinds])
    np.savetxt(file := tmp_path / "x.csv", counts, "%d", ",", header="a,b,c,d", comments="")
    out = tmp_path / "out"
    ended = cmeans("fit", file, "--scale", "log", "--report", "--out", out)
    summary = ended.summary
    assert (summary["method"], summary["n_clusters_found"]) == ("consensus", 3)
    assert "4 columns of few values" in ended.err
    assert summary["clearness"]["measure"] == "mean largest membership"
    assert adjusted_rand_score(kinds, pq.read_table(out / "labels.parquet")["label"]) > 0.9
    predict = ["predict", out / "model.safetensors", file, "--out", tmp_path / "p.csv"]
    assert cmeans(*predict).summary["sizes"] == summary["sizes"]
    monkeypatch.setattr("cmeans.cli.fit_rows.SHARE", 10**9)  # so that the rows stay in the file
    words = "--scale", "log", "--memory-budget", "1GB", "--out", tmp_path / "stay"
    staying = cmeans("fit", file, *words)
    assert staying.summary["method"] == "gaussian"
    assert "rows stay where they are" in staying.err
    refused = cmeans("select", file, "--method", "consensus", "-c", "2-3", "-q")
    assert refused.code == 2
    assert "--method consensus: methods whose number of clusters is chosen are hard" in refused.err


def test_categories_do_not_change_the_clusters_of_the_evidence(
    cmeans: Command, tmp_path: Path
) -> None:
    """The numbers alone are judged, so that the method is one that keeps their clusters beside the
    zeros and ones; where none does, that is said."""
    rng, group = np.random.default_rng(1), np.arange(600) % 4
    table = pd.DataFrame(
        {
            "age": np.array([24, 38, 52, 67])[group] + rng.normal(0, 2.5, 600),
            "spend": np.array([3.0, 5, 7, 4.5])[group] + rng.normal(0, 0.4, 600),
            "plan": np.where(rng.random(600) < 0.8, np.array(list("abcd"))[group], "b"),
            "region": rng.choice(["north", "south", "east"], 600),
        }
    )
    table.to_csv(tmp_path / "t.csv", index=False)
    fit = ["fit", tmp_path / "t.csv", "--categorical", "plan,region", "--out", tmp_path / "o"]
    ended = cmeans(*fit, "--scale", "standard")
    assert ended.code == 0, ended.err
    labels = pd.read_parquet(tmp_path / "o" / "labels.parquet")["label"]
    assert adjusted_rand_score(group, labels) > 0.9
    if ended.summary["method"] == "hard":
        assert "with the categories it keeps most of these clusters" in ended.err
    heavy = cmeans(*fit, "--scale", "standard", "--column-weight", "region=40", "--overwrite")
    assert "clusters are others than those of the evidence" in heavy.err
