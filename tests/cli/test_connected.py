"""Connected pieces by the command."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import make_moons
from sklearn.metrics import adjusted_rand_score

from cli.command import Command
from cmeans import ConnectivityClustering, load
from cmeans.cli.output.results import read_labels


@pytest.fixture
def moons(tmp_path: Path) -> tuple[Path, np.ndarray, np.ndarray]:
    X, y = make_moons(200, noise=0.05, random_state=0)
    file = tmp_path / "moons.csv"
    np.savetxt(file, X, delimiter=",", header="a,b", comments="", fmt="%.17g")
    return file, X, y


@pytest.mark.parametrize("number", [("-c", "auto"), ("-c", 2), ()])
def test_moons_from_file_to_labels(cmeans: Command, moons, tmp_path: Path, number: tuple) -> None:
    file, X, y = moons
    out = tmp_path / "out"
    summary = cmeans("fit", file, "--method", "connected", *number, "--out", out).summary
    assert (summary["n_clusters_found"], summary["sizes"], summary["noise"]) == (2, [100, 100], 0)
    labels = read_labels(out / "labels.parquet")
    assert adjusted_rand_score(y, labels) == 1
    model = load(out / "model.safetensors")
    np.testing.assert_array_equal(model.predict(X), labels)
    assert summary["objective"] == model.cost_curve_[1]
    again = tmp_path / "again.parquet"
    predicted = cmeans("predict", out / "model.safetensors", file, "--out", again).summary
    assert predicted["sizes"] == [100, 100]
    np.testing.assert_array_equal(read_labels(again), labels)


def test_options_are_parameters(cmeans: Command, moons, tmp_path: Path) -> None:
    file, X, _ = moons
    words = ["--min-samples", 5, "--min-cluster-size", 10, "--noise", "auto", "--z", 2]
    cmeans("fit", file, "--method", "connected", "-c", 3, *words, "--out", tmp_path / "out")
    model = ConnectivityClustering(3, min_samples=5, min_cluster_size=10, noise="auto", z=2).fit(X)
    np.testing.assert_array_equal(read_labels(tmp_path / "out" / "labels.parquet"), model.labels_)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--known-labels", "a"], "--known-labels: --method connected has none"),
        (["--plan"], "--plan, --checkpoint: --method connected has neither"),
        (["-c", "many"], "many"),
        (["--m", 2], "--m: --method connected has none"),
    ],
)
def test_what_is_refused(cmeans: Command, moons, tmp_path: Path, words: list, message: str) -> None:
    out = tmp_path / "out"
    refused = cmeans("fit", moons[0], "--method", "connected", *words, "--out", out)
    assert refused.code == 2
    assert message in refused.err
    assert not (out / "summary.json").exists()


def test_a_page_says_what_pieces_are_like(cmeans: Command, moons, tmp_path: Path) -> None:
    file, out = moons[0], tmp_path / "out"
    summary = cmeans("fit", file, "--method", "connected", "--report", "--out", out).summary
    assert summary["like"] == ["low b, high a", "high b, low a"]
    page = (out / "report.html").read_text(encoding="utf-8")
    assert "ConnectivityClustering" in page
    assert "high b, low a" in page
    again = tmp_path / "again.html"
    cmeans("report", out / "model.safetensors", file, "--out", again)
    assert "high b, low a" in again.read_text(encoding="utf-8")
