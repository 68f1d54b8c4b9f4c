"""The figures of the documentation that run in a browser: the library's C as WebAssembly clusters
as Python does."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import time
import warnings
from pathlib import Path
from typing import Any

import hatch_build
import numpy as np
import pytest
from sklearn.datasets import make_blobs, make_circles
from sklearn.exceptions import ConvergenceWarning
from tools import live

from browser import browsing, needs_browser
from cmeans import CMeans, Search
from cmeans.rules import Entropy, Fuzzy, Hard, NoiseFuzzy, Possibilistic

pytestmark = pytest.mark.slow  # a process of node

STATIC = live.LIBRARY.parent
NODE = shutil.which("node")
# Sweeps of each case from given rows, and what they end in.
SCRIPT = """
require(process.argv[1] + "/library.js"), require(process.argv[1] + "/engine.js");
(async () => {
  const found = [];
  for (const {points, seeds, sweeps, method} of JSON.parse(require("fs").readFileSync(0))) {
    const figure = await CMeansLive.load();
    figure.begin(points, seeds, method);
    if (sweeps) for (let i = 0; i < sweeps; i++) figure.sweep(); else figure.settle();
    const {memberships, labels} = figure.memberships();
    figure.sweep();
    found.push({memberships: [...memberships], labels, objective: figure.objective});
  }
  console.log(JSON.stringify(found));
})();
"""
BLOBS = make_blobs(
    [50, 40, 30], centers=[[0, 0], [2, 0.5], [1, 2]], cluster_std=0.5, random_state=0
)[0]
RINGS = make_circles(90, factor=0.3, noise=0.05, random_state=0)[0]
SWEEPS = 9
CASES: dict[str, tuple[Any, list[int], dict[str, Any], Any]] = {
    "hard": (BLOBS, [0, 60, 100], {"rule": "hard", "softness": 1}, Hard()),
    "hard, Gaussian kernel": (
        RINGS,
        [0, 1],
        {"rule": "hard", "softness": 1, "gamma": 3.0},
        Hard(),
    ),
    "fuzzy": (BLOBS, [0, 60, 100], {"rule": "fuzzy", "softness": 1.7}, Fuzzy(1.7)),
    "fuzzy, Gaussian kernel": (
        BLOBS,
        [0, 60, 100],
        {"rule": "fuzzy", "softness": 1.15, "gamma": 8.0},
        Fuzzy(1.15),
    ),
    "fuzzy, m = 2": (BLOBS, [0, 60, 100], {"rule": "fuzzy", "softness": 2}, Fuzzy(2.0)),
    "entropy": (BLOBS, [0, 60, 100], {"rule": "entropy", "softness": 0.4}, Entropy(0.4)),
    "noise": (
        BLOBS,
        [0, 60, 100],
        {"rule": "noise", "softness": 1.5, "noise": 0.8},
        NoiseFuzzy(1.5, delta=0.8),
    ),
    "possibilistic": (
        BLOBS,
        [0, 60, 100],
        {"rule": "possibilistic", "softness": 1.5, "width": 0.5, "tol": -1},
        Possibilistic(1.5, pilot_m=1.5, eta_scale=0.5),
    ),
}


@pytest.fixture(scope="module")
def found() -> dict[str, Any]:
    """What the page's code makes of each case."""
    if NODE is None:
        pytest.skip("there is no node to run WebAssembly")
    cases = [
        {
            "points": X.tolist(),
            "seeds": seeds,
            "sweeps": 0 if "tol" in method else SWEEPS,
            "method": method,
        }
        for X, seeds, method, _ in CASES.values()
    ]
    said = subprocess.run(
        [NODE, "-e", SCRIPT, str(STATIC)],
        input=json.dumps(cases),
        capture_output=True,
        text=True,
        check=True,
    )
    return dict(zip(CASES, json.loads(said.stdout), strict=True))


@pytest.mark.parametrize("case", CASES)
def test_the_page_clusters_as_python(case: str, found: dict[str, Any]) -> None:
    """After the same sweeps from the same rows; WebAssembly rounds products before it adds."""
    X, seeds, method, rule = CASES[case]
    kernel = (
        {"kernel": "rbf", "gamma": method["gamma"], "landmarks": None} if "gamma" in method else {}
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = CMeans(
            len(seeds),
            rule=rule,
            **kernel,
            init=X[seeds],
            search=Search(None, acceleration=None),
            max_iter=300 if "tol" in method else SWEEPS,
            tol=0,
        ).fit(X)
    page = found[case]
    assert page["labels"] == model.labels_.tolist()
    memberships = np.reshape(page["memberships"], (len(X), -1))
    np.testing.assert_allclose(memberships, model.memberships_, rtol=0, atol=1e-12)
    np.testing.assert_allclose(page["objective"], model.objective_, rtol=1e-12)


def test_the_library_of_the_page_is_made_of_these_c_files() -> None:
    """Where this fails, `python -m tools.live` makes it again."""
    assert live.digest() in live.LIBRARY.read_text(encoding="utf-8")


PAGE = """<!DOCTYPE html><title>A figure</title><body>
<div class="live" data-rules="fuzzy hard possibilistic noise entropy"></div>
<script>matchMedia = () => ({matches: true, addEventListener() {}});</script>
<script src="%s/library.js"></script>
<script src="%s/engine.js"></script>
<script src="%s/figure.js"></script>"""
USED = Path(__file__).with_name("used_figure.js")


@needs_browser
def test_the_figure_is_used_in_a_browser(tmp_path: Path) -> None:
    """Sliders, the pointer, the keyboard and the choice of the rule, from a file and without a
    word in the console."""
    page = tmp_path / "figure.html"
    page.write_text(PAGE % ((STATIC.as_uri(),) * 3), encoding="utf-8")
    with browsing(tmp_path) as tab:
        tab.open(page, 900)
        tab.value(USED.read_text(encoding="utf-8") + "0")
        while (seen := tab.value("window.found")) is None:
            assert not tab.wrong
            time.sleep(0.02)
        assert not tab.wrong
    calls, objectives = zip(*seen["found"], strict=True)
    assert [re.split(r"\W", call)[0] for call in calls] == [
        *["FuzzyCMeans"] * 5,
        *("KernelKMeans", "CMeans", "CMeans", "CMeans"),
    ]
    assert "m=2.5" in calls[1]
    assert len(set(objectives)) == len(objectives)  # each changed the clusters
    assert seen["label"].startswith("136 points in clusters of ")  # one was added


@pytest.mark.minutes
def test_the_library_of_the_page_is_what_the_build_gives() -> None:
    command = hatch_build.zig_compiler()
    if command is None:
        pytest.skip("ziglang is not installed")
    assert live.module_of(live.LIBRARY.read_text(encoding="utf-8")) == live.compiled(command)
