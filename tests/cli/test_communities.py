"""Communities by the command."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from sklearn.datasets import make_blobs

from cli.command import Command
from cmeans import ModularityClustering, load
from cmeans.cli.output.results import read_labels


def test_blobs_from_file_to_labels(cmeans: Command, tmp_path: Path) -> None:
    X, _ = make_blobs(400, centers=4, n_features=5, cluster_std=0.5, random_state=3)
    file, out = tmp_path / "blobs.csv", tmp_path / "out"
    np.savetxt(file, X, delimiter=",", header="a,b,c,d,e", comments="", fmt="%.17g")
    words = ["--method", "communities", "--resolution", 0.1, "--n-neighbors", 10]
    summary = cmeans("fit", file, *words, "--out", out).summary
    model = ModularityClustering(resolution=0.1, n_neighbors=10).fit(X)
    assert (summary["n_clusters_found"], summary["sizes"]) == (4, [100] * 4)
    assert summary["objective"] == model.objective_ == -model.modularity_
    np.testing.assert_array_equal(read_labels(out / "labels.parquet"), model.labels_)
    np.testing.assert_array_equal(load(out / "model.safetensors").predict(X), model.labels_)
    assert cmeans("fit", file, *words[:2], "-c", 7, "--out", out).summary["n_clusters_found"] == 7
    refused = cmeans("fit", file, *words[:2], "--resolution", 0, "--out", out)
    assert refused.code == 2
    assert "resolution" in refused.err
    refused = cmeans("fit", file, *words, "--must-link", "a", "--out", out)
    assert (refused.code, refused.err) == (
        2,
        "cmeans: --must-link: --method communities has none; leave it out.\n",
    )
    shown = tmp_path / "shown"
    assert cmeans("fit", file, *words, "--report", "--out", shown).code == 0
    assert "ModularityClustering" in (shown / "report.html").read_text()
