from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest
import scipy.sparse
from sklearn.datasets import make_moons
from sklearn.metrics import adjusted_rand_score

from cli.command import Command
from cmeans import CMeans, FuzzyCMeans, Landmarks, load
from cmeans.cli.output.results import read_labels
from cmeans.kernels import Polynomial
from cmeans.rules import Entropy, NoiseFuzzy, PolynomialFuzzy, Rule

Blobs = tuple[np.ndarray, np.ndarray]

SUMMARY = {
    "command", "config", "version", "file", "rows", "columns", "dtype", "scale", "weight", "method", "n_clusters",
    "n_clusters_found", "m", "pilot_m", "eta", "noise_distance", "method_options", "kernel", "gamma", "n_landmarks",
    "approximation", "seed", "objective",
    "n_iter", "converged", "clearness", "column_names", "left_out", "id", "categories", "reason", "next", "sizes", "noise", "seconds",
    "warnings", "outputs", "like", "prices", "size_gap", "known_labels", "must_link", "metric", "missing",
    "covariance", "log_likelihood", "missing_by_column",
}  # fmt: skip


@pytest.mark.parametrize("method", ["hard", "two-step", "fuzzy", "possibilistic"])
def test_every_method_from_file_to_files(
    cmeans: Command, table: Path, blobs: Blobs, tmp_path: Path, method: str
) -> None:
    out = tmp_path / "new" / "out"
    words = [
        "--clusters",
        3,
        "--columns",
        "a,b,c,d",
        "--scale",
        "unit",
        "--method",
        method,
        "--landmarks",
        60,
        "--n-init",
        5,
    ]
    summary = cmeans("fit", table, *words, "--out", out).summary
    assert set(summary) == SUMMARY
    assert sorted(path.name for path in out.iterdir()) == [
        "labels.parquet",
        "model.safetensors",
        "run.toml",
        "summary.json",
    ]
    assert json.loads((out / "summary.json").read_text()) == summary
    assert (summary["rows"], summary["columns"], summary["n_clusters"], summary["method"]) == (
        150,
        4,
        3,
        method,
    )
    assert sum(summary["sizes"]) + summary["noise"] == 150
    assert set(summary["seconds"]) == {"read", "fit", "write"}
    written = pq.read_table(out / "labels.parquet")
    soft = method in ("fuzzy", "possibilistic")
    assert written.schema.names == (["label", "u0", "u1", "u2"] if soft else ["label"])
    assert str(written.schema.types[0]) == "int32"
    labels = written["label"].to_numpy()
    assert np.bincount(labels, minlength=3).tolist() == summary["sizes"]
    if soft:
        assert np.array_equal(
            np.column_stack([written[f"u{j}"] for j in range(3)]).argmax(1), labels
        )
    assert len(summary["eta"] or []) == (3 if method == "possibilistic" else 0)
    assert set(summary["method_options"]) == {
        "fuzzy": {"m", "noise", "top_k"},
        "possibilistic": {"m", "pilot_m", "eta_scale"},
    }.get(method, set())
    if method != "possibilistic":
        assert adjusted_rand_score(blobs[1], labels) > 0.95


@pytest.mark.parametrize(
    ("rule", "option", "name"),
    [
        (Entropy(T=0.75), "--temperature", "T"),
        (PolynomialFuzzy(beta=0.75), "--beta", "beta"),
        (NoiseFuzzy(share=0.75), "--share", "share"),
    ],
)
def test_a_rule_without_an_estimator_of_its_own(
    cmeans: Command, table: Path, tmp_path: Path, rule: Rule, option: str, name: str
) -> None:
    method = rule.name
    words = [
        "-c",
        3,
        "--columns",
        "a,b,c,d",
        "--method",
        method,
        option,
        0.75,
        "--kernel",
        "linear",
    ]
    summary = cmeans("fit", table, *words, "--out", tmp_path).summary
    assert (summary["method"], summary["method_options"][name]) == (method, 0.75)
    model = load(tmp_path / "model.safetensors")
    rows = np.column_stack([pq.read_table(table)[name].to_numpy() for name in "abcd"])
    own = CMeans(3, rule=rule, kernel="linear", random_state=0).fit(rows)
    assert model.objective_ == own.objective_
    assert np.array_equal(
        pq.read_table(tmp_path / "labels.parquet")["label"].to_numpy(), own.labels_
    )


def test_rows_that_are_noise(cmeans: Command, table: Path, tmp_path: Path) -> None:
    words = ["-c", 3, "--columns", "a,b,c,d", "--method", "fuzzy"]
    summary = cmeans("fit", table, *words, "--noise", 0.1, "--out", tmp_path).summary
    assert 10 <= summary["noise"] <= 20
    assert summary["method_options"]["noise"] == 0.1
    written = pq.read_table(tmp_path / "labels.parquet")
    assert (written["label"].to_numpy() < 0).sum() == summary["noise"]
    assert load(tmp_path / "model.safetensors").noise_distance_ == summary["noise_distance"] > 0
    assert (
        cmeans("fit", table, *words, "--noise", "auto", "--out", tmp_path).summary[
            "method_options"
        ]["noise"]
        == "auto"
    )
    assert cmeans("fit", table, *words, "--noise", "none", "--out", tmp_path).summary["noise"] == 0
    bad = {
        "1.5": "less than 1",
        "1": "less than 1",
        "0": "greater than 0",
        "-0.1": "greater than 0",
    }
    for given, told in (
        bad
        | dict.fromkeys(("some", "nan", "inf", "0,1", "10%", ""), "give a number or auto or none")
    ).items():
        ended = cmeans("fit", table, *words, "--noise", given, "--out", tmp_path)
        assert ended.code == 2
        assert "--noise " in ended.err
        assert told in ended.err
    ended = cmeans(
        "fit",
        table,
        "-c",
        3,
        "--columns",
        "a,b",
        "--method",
        "hard",
        "--noise",
        0.1,
        "--out",
        tmp_path,
    )
    assert "--noise: --method hard has none; it belongs to fuzzy" in ended.err


def test_only_the_summary_goes_to_stdout(cmeans: Command, table: Path, tmp_path: Path) -> None:
    loud = cmeans("fit", table, "--clusters", 3, "--columns", "a,b", "--out", tmp_path / "o")
    assert json.loads(loud.out)["rows"] == 150
    assert "reading" in loud.err
    assert all(line.startswith("cmeans: ") for line in loud.err.splitlines())
    quiet = cmeans(
        "fit", table, "--clusters", 3, "--columns", "a,b", "--out", tmp_path / "o", "--quiet"
    )
    assert quiet.code == 0
    assert [
        line for line in quiet.err.splitlines() if not line.startswith("cmeans: warning: ")
    ] == []


def test_the_same_seed_gives_the_same_files(cmeans: Command, table: Path, tmp_path: Path) -> None:
    for name in "pq":
        assert (
            cmeans(
                "fit",
                table,
                "--clusters",
                4,
                "--columns",
                "a,b",
                "--seed",
                7,
                "--out",
                tmp_path / name,
            ).code
            == 0
        )
    for file in ("labels.parquet", "model.safetensors"):
        assert (tmp_path / "p" / file).read_bytes() == (tmp_path / "q" / file).read_bytes()


def test_a_second_run_replaces_the_results_and_leaves_other_files(
    cmeans: Command, table: Path, tmp_path: Path
) -> None:
    cmeans("fit", table, "--clusters", 3, "--columns", "a,b", "--out", tmp_path / "o")
    (tmp_path / "o" / "notes.txt").write_text("mine")
    cmeans("fit", table, "--clusters", 2, "--columns", "a,b", "--out", tmp_path / "o")
    assert sorted(path.name for path in (tmp_path / "o").iterdir()) == [
        "labels.parquet",
        "model.safetensors",
        "notes.txt",
        "run.toml",
        "summary.json",
    ]
    assert json.loads((tmp_path / "o" / "summary.json").read_text())["n_clusters"] == 2
    assert set(read_labels(tmp_path / "o" / "labels.parquet").tolist()) == {0, 1}


def test_a_failed_run_leaves_the_former_results(
    cmeans: Command, table: Path, tmp_path: Path
) -> None:
    cmeans("fit", table, "--clusters", 3, "--columns", "a,b", "--out", tmp_path / "o")
    before = {path.name: path.read_bytes() for path in (tmp_path / "o").iterdir()}
    assert (
        cmeans("fit", table, "--clusters", 3, "--columns", "a,text", "--out", tmp_path / "o").code
        == 2
    )
    assert (
        cmeans("fit", table, "--clusters", 1000, "--columns", "a,b", "--out", tmp_path / "o").code
        == 2
    )
    assert {path.name: path.read_bytes() for path in (tmp_path / "o").iterdir()} == before


def test_single_precision_stays_single(cmeans: Command, blobs: Blobs, tmp_path: Path) -> None:
    np.save(tmp_path / "x.npy", blobs[0].astype(np.float32))
    summary = cmeans(
        "fit", tmp_path / "x.npy", "--clusters", 3, "--scale", "standard", "--out", tmp_path / "o"
    ).summary
    assert summary["dtype"] == "float32"
    assert str(pq.read_schema(tmp_path / "o" / "labels.parquet").field("u0").type) == "float"
    assert (
        cmeans(
            "fit",
            tmp_path / "x.npy",
            "--clusters",
            3,
            "--dtype",
            "float64",
            "--out",
            tmp_path / "o",
        ).summary["dtype"]
        == "float64"
    )


def test_the_weight_column_weighs(cmeans: Command, tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    x, w = rng.normal(size=(60, 2)), rng.integers(1, 4, 60)
    np.savez(tmp_path / "weighted.npz", X=x, w=w)
    np.save(tmp_path / "copies.npy", np.repeat(x, w, axis=0))
    words = [
        "--clusters",
        3,
        "--landmarks",
        "none",
        "--scale",
        "standard",
        "--tol",
        0,
        "--max-iter",
        40,
    ]
    weighted = cmeans(
        "fit", tmp_path / "weighted.npz", "--weight", "w", *words, "--out", tmp_path / "p"
    ).summary
    copies = cmeans("fit", tmp_path / "copies.npy", *words, "--out", tmp_path / "q").summary
    assert weighted["weight"] == "w"
    assert weighted["objective"] == pytest.approx(copies["objective"], rel=1e-6)


def test_words_reach_the_estimator(cmeans: Command, table: Path, tmp_path: Path) -> None:
    words = (
        "--kernel polynomial --gamma 0.25 --degree 2 --coef0 0.5 --landmarks 40 "
        "--landmark-choice k-means++ --method possibilistic"
    )
    more = (
        "--m 1.2 --pilot-m 1.3 --eta-scale 0.5 --init random --n-init 2 --max-iter 9 --tol 0.01 "
        "--seed 5 --memory-budget 1GB --jobs 1"
    )
    ended = cmeans(
        "fit",
        table,
        "-c",
        2,
        "--columns",
        "a,b",
        *words.split(),
        *more.split(),
        "--out",
        tmp_path / "o",
    )
    assert ended.summary["gamma"] == 0.25
    kernel = {
        "kernel": Polynomial(degree=2, gamma=0.25, coef0=0.5),
        "landmarks": Landmarks(40, method="k-means++"),
    }
    method = {"n_clusters": 2, "m": 1.2, "pilot_m": 1.3, "eta_scale": 0.5}
    run = {"init": "random", "n_init": 2, "max_iter": 9, "tol": 0.01, "random_state": 5}
    params = load(tmp_path / "o" / "model.safetensors").get_params()
    expected = kernel | method | run
    assert {name: params[name] for name in expected} == expected


def test_a_width_judged_by_the_rows(
    cmeans: Command, table: Path, blobs: tuple[np.ndarray, np.ndarray], tmp_path: Path
) -> None:
    words = ["fit", table, "-c", 3, "--columns", "a,b,c", "--seed", 1, "--out", tmp_path / "o"]
    gamma = cmeans(*words, "--kernel", "rbf", "--gamma", "median").summary["gamma"]
    assert gamma == FuzzyCMeans(3, kernel="rbf", gamma="median").fit(blobs[0][:, :3]).gamma_
    assert load(tmp_path / "o" / "model.safetensors").gamma == "median"


def test_shapes(cmeans: Command, tmp_path: Path) -> None:
    x, moons = make_moons(600, noise=0.05, random_state=0)
    np.save(tmp_path / "x.npy", x)
    words = ["--clusters", 2, "--method", "hard", "--kernel", "landmark_graph", "--seed", 0]
    summary = cmeans("fit", tmp_path / "x.npy", *words, "--out", tmp_path / "o").summary
    assert (summary["kernel"], summary["n_landmarks"]) == ("landmark_graph", 300)
    model = load(tmp_path / "o" / "model.safetensors")
    assert adjusted_rand_score(moons, model.predict(x)) == 1.0


@pytest.mark.parametrize("landmarks", ["none", "auto", "30"])
def test_landmarks_are_counted(
    cmeans: Command, table: Path, tmp_path: Path, landmarks: str
) -> None:
    words = ["--clusters", 2, "--columns", "a,b", "--kernel", "rbf", "--landmarks", landmarks]
    summary = cmeans("fit", table, *words, "--out", tmp_path / "o").summary
    assert summary["n_landmarks"] == (30 if landmarks == "30" else None)


def test_sparse_rows(cmeans: Command, tmp_path: Path) -> None:
    x = scipy.sparse.random(300, 40, density=0.1, format="csr", random_state=0)
    scipy.sparse.save_npz(tmp_path / "x.npz", x)
    summary = cmeans("fit", tmp_path / "x.npz", "--clusters", 3, "--out", tmp_path / "o").summary
    assert (summary["rows"], summary["columns"]) == (300, 40)
    predicted = cmeans(
        "predict",
        tmp_path / "o" / "model.safetensors",
        tmp_path / "x.npz",
        "--out",
        tmp_path / "p.parquet",
    )
    assert predicted.summary["sizes"] == summary["sizes"]


def test_warnings_are_in_the_summary_and_on_stderr(
    cmeans: Command, table: Path, tmp_path: Path
) -> None:
    ended = cmeans(
        "fit", table, "--clusters", 8, "--columns", "a,b", "--max-iter", 1, "--out", tmp_path / "o"
    )
    assert not ended.summary["converged"]
    assert ended.summary["warnings"]
    for text in ended.summary["warnings"]:
        assert f"cmeans: warning: {text}\n" in ended.err
