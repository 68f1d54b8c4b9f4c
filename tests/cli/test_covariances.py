"""Clusters with covariances by the command: mixtures, and --covariance of the other methods."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest
from sklearn.metrics import adjusted_rand_score

from cli.command import Command
from cmeans import Covariance, GaussianMixture, load


@pytest.fixture
def cigars(tmp_path: Path) -> tuple[Path, np.ndarray, np.ndarray]:
    """Three long parallel clusters as CSV, and their rows and numbers."""
    rng, kinds = np.random.default_rng(0), np.repeat(np.arange(3), 100)
    x = np.c_[rng.normal(scale=10.0, size=300), 2.0 * kinds + rng.normal(scale=0.2, size=300)]
    file = tmp_path / "cigars.csv"
    np.savetxt(file, x, delimiter=",", header="length,width", comments="", fmt="%.17g")
    return file, x, kinds


def test_a_mixture_from_file_to_files(cmeans: Command, cigars, tmp_path: Path) -> None:
    file, x, kinds = cigars
    out = tmp_path / "out"
    ended = cmeans("fit", file, "-c", 3, "--method", "gaussian", "--out", out)
    own = GaussianMixture(3, random_state=0).fit(x)
    summary = ended.summary
    assert (summary["method"], summary["covariance"]) == ("gaussian", "full")
    assert summary["log_likelihood"] == own.lower_bound_
    assert f"after {own.n_iter_} sweeps" in summary["reason"]
    written = pq.read_table(out / "labels.parquet")
    assert adjusted_rand_score(kinds, written["label"].to_numpy()) == 1.0
    memberships = np.column_stack([written[f"u{j}"].to_numpy() for j in range(3)])
    np.testing.assert_array_equal(memberships, own.memberships_)
    model = load(out / "model.safetensors")
    np.testing.assert_array_equal(model.covariances_, own.covariances_)
    new = tmp_path / "new.csv"
    cmeans("predict", out / "model.safetensors", file, "--out", new)
    labels = np.loadtxt(new, delimiter=",", skiprows=1, usecols=0)
    np.testing.assert_array_equal(labels, own.labels_)
    assert cmeans("info", out / "model.safetensors").summary["estimator"] == "GaussianMixture"
    page = tmp_path / "page.html"
    cmeans("report", out / "model.safetensors", file, "--out", page)
    assert "GaussianMixture" in page.read_text()


@pytest.mark.parametrize("method", ["hard", "fuzzy", "entropy", "polynomial_fuzzy"])
def test_covariances_of_other_methods(cmeans: Command, cigars, tmp_path: Path, method: str) -> None:
    file, _, kinds = cigars
    words = ["-c", 3, "--method", method, "--kernel", "linear", "--out", tmp_path / "out"]
    labels = {}
    for covariance in ("none", "full"):
        summary = cmeans("fit", file, *words, "--covariance", covariance).summary
        assert summary["covariance"] == (None if covariance == "none" else covariance)
        labels[covariance] = pq.read_table(tmp_path / "out" / "labels.parquet")["label"].to_numpy()
    assert adjusted_rand_score(kinds, labels["none"]) < 0.5
    assert adjusted_rand_score(kinds, labels["full"]) == 1.0


def test_what_is_known_of_covariances_beforehand(cmeans: Command, cigars, tmp_path: Path) -> None:
    file, x, _ = cigars
    out = tmp_path / "out"
    words = ["-c", 3, "--covariance-prior", 60, "--out", out]
    ended = cmeans("fit", file, *words, "--method", "gaussian", "--covariance", "diag")
    own = GaussianMixture(3, covariance=Covariance("diag", prior=60.0), random_state=0).fit(x)
    assert ended.summary["covariance"] == "diag"
    assert ended.summary["method_options"]["covariance_prior"] == 60.0
    assert ended.summary["log_likelihood"] == own.lower_bound_
    words += ["--method", "hard", "--kernel", "linear", "--covariance-volume", "free"]
    ended = cmeans("fit", file, *words, "--covariance", "full", "--overwrite")
    assert ended.summary["method_options"] == {
        "covariance_prior": 60.0,
        "covariance_volume": "free",
    }
    model = load(out / "model.safetensors")
    assert model.covariance == Covariance("full", prior=60.0, volume="free")


def test_a_stream(cmeans: Command, cigars, tmp_path: Path) -> None:
    _, x, kinds = cigars
    shuffled = np.random.default_rng(0).permutation(300)
    file, state = tmp_path / "rows.csv", tmp_path / "stream.safetensors"
    np.savetxt(file, x[shuffled], delimiter=",", header="length,width", comments="", fmt="%.17g")
    words = ["-c", 3, "--kernel", "linear", "--covariance", "full", "--covariance-prior", 9]
    files = ["--checkpoint", state, "--out", tmp_path / "labels.csv"]
    assert cmeans("stream", file, *words, *files).summary["covariance"] == "full"
    model = load(state)
    assert model.covariance == Covariance("full", prior=9.0)
    assert adjusted_rand_score(kinds, model.predict(x)) == 1.0


def test_rows_of_noise(cmeans: Command, cigars, tmp_path: Path) -> None:
    file, x, _ = cigars
    out = tmp_path / "out"
    words = ["-c", 3, "--method", "gaussian", "--noise", 0.05, "--out", out]
    assert cmeans("fit", file, *words).code == 0
    own = GaussianMixture(3, noise=0.05, random_state=0).fit(x)
    labels = pq.read_table(out / "labels.parquet")["label"].to_numpy()
    np.testing.assert_array_equal(labels, own.labels_)
    assert (labels == -1).any()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (
            ["--method", "gaussian", "--covariance-prior", "-1"],
            "--covariance-prior must be auto or",
        ),
        (["--method", "hard", "--covariance-prior", "3"], "there is no --covariance-prior; give"),
        (["--method", "gaussian", "--covariance-volume", "free"], "--method gaussian has none"),
        (
            ["--method", "fuzzy", "--covariance", "full", "--covariance-volume", "free"],
            "hard and entropy rules alone allow; take --covariance-volume equal",
        ),
        (["--method", "gaussian", "--kernel", "rbf"], "--method gaussian has none"),
        (["--method", "hard", "--covariance", "full"], "--kernel linear"),
        (["--method", "gaussian", "--covariance", "none"], "--covariance none"),
        (["--method", "gaussian", "--known-labels", "width"], "--known-labels width"),
        (["--method", "two-step", "--covariance", "full"], "--method two-step has none"),
    ],
)
def test_what_a_command_refuses(cmeans: Command, cigars, tmp_path: Path, words, said) -> None:
    ended = cmeans("fit", cigars[0], "-c", 3, *words, "--out", tmp_path / "out")
    assert ended.code == 2
    assert said in ended.err.splitlines()[-1]
    assert not (tmp_path / "out").exists()
