"""The methods that find the number of clusters: their options, what is written, and rows that
belong nowhere."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pyarrow.csv
import pyarrow.parquet as pq
import pytest
from sklearn.metrics import adjusted_rand_score

from cli.command import Command
from cmeans import AdaptivePossibilisticCMeans, SequentialPossibilisticCMeans, load
from cmeans.cli import registration
from cmeans.datasets import make_s_set

pytestmark = pytest.mark.slow

ESTIMATORS = {"adaptive": AdaptivePossibilisticCMeans, "sequential": SequentialPossibilisticCMeans}
METHODS = list(ESTIMATORS)
SHARED = {"sparsity", "p", "scaling"}
OWN = {
    "adaptive": SHARED | {"alpha", "pilot_m"},
    "sequential": SHARED
    | {"sparsity_test", "adaptation", "n_neighbors", "n_new", "seed_quantile", "patience"},
}


@pytest.fixture
def spots(tmp_path: Path) -> tuple[Path, np.ndarray]:
    """600 rows in five spots and noise, as an npy file, and their spots; -1 is noise."""
    x, y = make_s_set(5, 600, overlap=0.001, noise=0.05, random_state=2)
    np.save(tmp_path / "spots.npy", x)
    return tmp_path / "spots.npy", y


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("asked", [None, 12])
def test_the_number_is_found(
    cmeans: Command, spots: tuple[Path, np.ndarray], tmp_path: Path, method: str, asked: int | None
) -> None:
    file, y = spots
    bound = {} if asked is None else {"n_clusters": (1, asked)}
    expected = ESTIMATORS[method](random_state=0, **bound).fit(np.load(file))
    found = expected.n_clusters_
    ended = cmeans(
        "fit",
        file,
        "--method",
        method,
        *([] if asked is None else ["-c", asked]),
        "--out",
        tmp_path / "o",
    )
    summary = ended.summary
    assert json.loads((tmp_path / "o" / "summary.json").read_text()) == summary
    assert (summary["n_clusters"], summary["n_clusters_found"], summary["kernel"]) == (
        asked,
        found,
        "linear",
    )
    assert 5 <= found < 12
    assert summary["method_options"] == {word: expected.get_params()[word] for word in OWN[method]}
    assert summary["eta"] == pytest.approx(expected.eta_)
    assert (summary["m"], summary["pilot_m"]) == (None, 2.0 if method == "adaptive" else None)
    written = pq.read_table(tmp_path / "o" / "labels.parquet")
    assert written.schema.names == ["label", *(f"u{j}" for j in range(found))]
    labels = written["label"].to_numpy()
    assert np.array_equal(labels, expected.labels_)
    assert np.array_equal(
        labels == -1, np.column_stack([written[f"u{j}"] for j in range(found)]).max(axis=1) == 0
    )
    assert summary["noise"] == (labels == -1).sum() > 0
    assert summary["sizes"] == np.bincount(labels[labels >= 0]).tolist()
    both = (labels >= 0) & (y >= 0)
    assert adjusted_rand_score(y[both], labels[both]) > 0.9
    assert (
        f"cmeans: clusters found: {found}; rows that belong to none: {summary['noise']}\n"
        in ended.err
    )


def test_the_number_asked_is_a_bound_for_sequential(
    cmeans: Command, spots: tuple[Path, np.ndarray], tmp_path: Path
) -> None:
    summary = cmeans(
        "fit", spots[0], "--method", "sequential", "-c", 3, "--out", tmp_path / "o"
    ).summary
    assert (summary["n_clusters"], summary["n_clusters_found"]) == (3, 3)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("ending", ["parquet", "csv", "npy"])
def test_rows_that_belong_nowhere_come_out_of_predict(
    cmeans: Command, spots: tuple[Path, np.ndarray], tmp_path: Path, method: str, ending: str
) -> None:
    model, out = tmp_path / "o" / "model.safetensors", tmp_path / f"again.{ending}"
    fitted = cmeans(
        "fit", spots[0], "--method", method, "--scale", "standard", "--out", tmp_path / "o"
    ).summary
    again = cmeans("predict", model, spots[0], "--out", out).summary
    assert {name: again[name] for name in ("sizes", "noise", "rows")} == {
        name: fitted[name] for name in ("sizes", "noise", "rows")
    }
    assert (again["n_clusters"], again["memberships"]) == (
        fitted["n_clusters_found"],
        ending != "npy",
    )
    read = {"parquet": pq.read_table, "csv": pyarrow.csv.read_csv}
    labels = np.load(out) if ending == "npy" else read[ending](out)["label"].to_numpy()
    assert np.array_equal(labels, pq.read_table(tmp_path / "o" / "labels.parquet")["label"])
    np.save(tmp_path / "far.npy", np.full((4, 2), 1e3))
    far = cmeans("predict", model, tmp_path / "far.npy", "--out", out).summary
    assert (far["sizes"], far["noise"]) == ([0] * fitted["n_clusters_found"], 4)


@pytest.mark.parametrize("method", METHODS)
def test_info_shows_the_number(
    cmeans: Command,
    spots: tuple[Path, np.ndarray],
    tmp_path: Path,
    method: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    found = cmeans("fit", spots[0], "--method", method, "-c", 12, "--out", tmp_path / "o").summary[
        "n_clusters_found"
    ]
    facts = cmeans("info", tmp_path / "o" / "model.safetensors").summary
    assert facts["fitted"]["n_clusters_"] == found
    assert facts["metadata"]["method"] == method
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.setattr(registration, "_at_terminal", lambda: True)
    shown = cmeans("info", tmp_path / "o" / "model.safetensors").out
    assert any(
        {"fitted.n_clusters_", str(found)} <= set(line.split()) for line in shown.splitlines()
    )


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (
            "--method adaptive -c 9 --sparsity 1e-4 --p 0.4 --alpha 2 --pilot-m 1.5 "
            "--inner-scaling none --kernel rbf --gamma 0.5 --landmarks 80 --init max-min --n-init "
            "2 --max-iter 9 --tol 0.01 --seed 5",
            {"n_clusters": (1, 9), "sparsity": 1e-4, "p": 0.4, "alpha": 2.0}
            | {
                "pilot_m": 1.5,
                "scaling": None,
                "kernel": "rbf",
                "gamma": 0.5,
                "landmarks__number": 80,
            }
            | {"init": "max-min", "n_init": 2, "max_iter": 9, "tol": 0.01, "random_state": 5},
        ),
        (
            "--method sequential -c 7 --sparsity auto --sparsity-test local --adaptation squared "
            "--n-neighbors 12 --n-new 2 "
            "--seed-quantile 0.9 --patience 2",
            {
                "n_clusters": (1, 7),
                "sparsity": "auto",
                "sparsity_test": "local",
                "adaptation": "squared",
                "n_neighbors": 12,
            }
            | {
                "n_new": 2,
                "seed_quantile": 0.9,
                "patience": 2,
                "scaling": "range",
                "kernel": "linear",
            },
        ),
        (
            "--method adaptive --sparsity 0 --pilot-m auto",
            {"n_clusters": "auto", "sparsity": 0.0, "pilot_m": "auto"},
        ),
    ],
)
def test_words_reach_the_estimator(
    cmeans: Command,
    spots: tuple[Path, np.ndarray],
    tmp_path: Path,
    words: str,
    expected: dict[str, object],
) -> None:
    summary = cmeans("fit", spots[0], *words.split(), "--out", tmp_path / "o").summary
    params = load(tmp_path / "o" / "model.safetensors").get_params()
    assert {name: params[name] for name in expected} == expected
    assert summary["method_options"].items() <= params.items()
    assert summary["kernel"] == params["kernel"]


def test_the_kernel_is_each_methods_own_unless_given(
    cmeans: Command, spots: tuple[Path, np.ndarray], tmp_path: Path
) -> None:
    for words, kernel in (
        ("--method fuzzy", "linear"),
        ("--method hard", "rbf"),
        ("--method fuzzy --kernel rbf", "rbf"),
    ):
        assert (
            cmeans("fit", spots[0], "-c", 3, *words.split(), "--out", tmp_path / "o").summary[
                "kernel"
            ]
            == kernel
        )


def test_max_min_starts_any_method(
    cmeans: Command, spots: tuple[Path, np.ndarray], tmp_path: Path
) -> None:
    cmeans(
        "fit", spots[0], "-c", 5, "--method", "hard", "--init", "max-min", "--out", tmp_path / "o"
    )
    assert load(tmp_path / "o" / "model.safetensors").init == "max-min"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (
            "--method fuzzy",
            "--clusters: --method fuzzy needs the number of clusters, e.g. -c 3; adaptive, "
            "sequential, connected and communities find it themselves.",
        ),
        (
            "--method two-step",
            "--clusters: --method two-step needs the number of clusters, e.g. -c 3;",
        ),
        (
            "-c 3 --sparsity 0",
            "--sparsity: --method fuzzy has none; it belongs to adaptive and sequential.",
        ),
        (
            "-c 3 --inner-scaling none",
            "--inner-scaling: --method fuzzy has none; it belongs to adaptive and sequential.",
        ),
        (
            "-c 3 --method hard --adaptation squared",
            "--adaptation: --method hard has none; it belongs to sequential.",
        ),
        (
            "--method adaptive --m 2",
            "--m: --method adaptive has none; it belongs to fuzzy, possibilistic and noise_fuzzy.",
        ),
        (
            "--method adaptive --patience 2",
            "--patience: --method adaptive has none; it belongs to sequential.",
        ),
        (
            "--method sequential --alpha 2",
            "--alpha: --method sequential has none; it belongs to adaptive.",
        ),
        (
            "--method sequential --pilot-m 2",
            "--pilot-m: --method sequential has none; it belongs to possibilistic and adaptive.",
        ),
        (
            "--method sequential --init random",
            "--init: --method sequential has none; it belongs to hard, two-step, probabilistic, "
            "fuzzy, possibilistic, gaussian, adaptive, "
            "entropy, noise_fuzzy and polynomial_fuzzy.",
        ),
        ("--method adaptive --sparsity much", "--sparsity much: give a number or auto."),
        ("--method adaptive --sparsity 1e9", "no cluster wants any row"),
        ("--method adaptive --p 1", "--p 1.0: p must lie between 0 and 1"),
        ("--method sequential --seed-quantile 2", "--seed-quantile 2.0: it must lie above 0"),
    ],
)
def test_wrong_words(
    cmeans: Command, spots: tuple[Path, np.ndarray], tmp_path: Path, words: str, message: str
) -> None:
    ended = cmeans("fit", spots[0], *words.split(), "--out", tmp_path / "o", "--quiet")
    assert (ended.code, ended.out) == (2, "")
    (line,) = ended.err.splitlines()
    assert message in line
    assert not (tmp_path / "o").exists()


def test_the_help_says_what_the_number_means(
    cmeans: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "300")
    monkeypatch.setenv("TERMINAL_WIDTH", "300")
    shown = cmeans("fit", "--help").out
    for text in (
        "adaptive: How many clusters there may be",
        "20 for adaptive",
        "linear; rbf for hard and two-step",
        "--seed-quantile",
    ):
        assert text in shown
