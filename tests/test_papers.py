"""The pages of the five papers: they are what the stored results give, reduced sizes run, and the
exact side is right."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import warnings
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from benchmarks.harness import load, quiet
from benchmarks.markdown import table
from benchmarks.papers import NAMES, paper, tiles
from benchmarks.papers.__main__ import main
from benchmarks.papers.havens2011 import fits
from benchmarks.papers.kpkm2021 import methods
from benchmarks.papers.paper import Run, minutes
from benchmarks.papers.results import Results
from benchmarks.template import environment, judged

from cmeans import KernelKMeans, Search
from cmeans.kernels import RBF, NormalizedPolynomial
from cmeans.papers import PrintedCMeans, PrintedPossibilistic
from cmeans.rules import Fuzzy, Hard, Possibilistic

ROOT = Path(__file__).resolve().parents[1]
PAGES = ROOT / "docs" / "papers"
QUICKEST = "chitta2011"


def papers(*arguments, data=None):
    """The command in a process of its own, as its users have it."""
    variables = {
        **os.environ,
        "PYTHONPATH": f"{ROOT / 'src'}{os.pathsep}{os.environ.get('PYTHONPATH', '')}",
        "MPLBACKEND": "Agg",
    }
    if data is not None:
        variables["CMEANS_DATA"] = str(data)
    command = [sys.executable, "-m", "benchmarks.papers", *map(str, arguments)]
    return subprocess.run(
        command, cwd=ROOT, env=variables, capture_output=True, text=True, check=False
    )


def pictures(text):
    return re.findall(r"!\[[^]]*\]\(([\w-]+)\.png\)", text)


def numbers_missing(text):
    return re.findall(r"\b(?:nan|inf|None)\b", re.sub(r"`[^`]*`", "", text))


def test_pages_are_what_the_stored_results_give(capsys):
    assert main(["all", "--check"]) == 0, capsys.readouterr().err


@pytest.mark.parametrize("name", NAMES)
def test_every_picture_of_a_page_is_there_in_both_forms(name):
    text = (PAGES / f"{name}.md").read_text()
    assert pictures(text)
    for picture in pictures(text):
        assert (PAGES / f"{picture}.png").exists()
        assert (PAGES / f"{picture}.svg").exists()
    assert not numbers_missing(text)


def test_a_page_that_was_changed_by_hand_is_named(tmp_path, capsys):
    for name in NAMES:
        (tmp_path / f"{name}.json").write_bytes((PAGES / f"{name}.json").read_bytes())
        (tmp_path / f"{name}.md").write_text(
            (PAGES / f"{name}.md").read_text() + ("one more line\n" if name == "kpkm2021" else "")
        )
    (tmp_path / "index.md").write_text((PAGES / "index.md").read_text())
    assert main(["all", "--check", "--out", str(tmp_path)]) == 1
    said = capsys.readouterr().err
    assert "kpkm2021.md" in said
    assert "zhang2013" not in said


def complete(done, folder, names):
    """Pages, pictures and results of these papers are there, and nothing was left out."""
    assert done.returncode == 0, done.stdout + done.stderr
    for name in names:
        text = (folder / f"{name}.md").read_text()
        assert not numbers_missing(text), name
        for picture in pictures(text):
            assert (folder / f"{picture}.svg").exists()
        reasons = [
            key for key, cell in Results(folder / f"{name}.json").read().items() if "reason" in cell
        ]
        assert not reasons
    assert "left out" not in done.stdout


class Walk(Run):
    """A run on reduced sizes in which each function works once: the other cells that it would fill
    have what it found then."""

    def __init__(self, results):
        super().__init__(results, quick=True)
        self.found = {}

    def trials(self, key, count, trial):
        return super().trials(key, 1, lambda number: self.of(trial, number))

    def once(self, key, work):
        return super().once(key, lambda: self.of(work))

    def side_by_side(self, work, jobs):
        for key, arguments in jobs.items():
            self.once(key, partial(work, *arguments))

    def of(self, work, *arguments):
        inner = work
        while isinstance(inner, partial):
            inner = inner.func
        code = getattr(inner, "__code__", inner)
        if code not in self.found:
            self.found[code] = work(*arguments)
        return self.found[code]


@pytest.mark.minutes  # .ci/run asks for it
@pytest.mark.parametrize("name", NAMES)
def test_everything_that_is_measured_runs(name, tmp_path, data_folder, monkeypatch):
    monkeypatch.setenv("CMEANS_DATA", str(data_folder))
    walk = Walk(Results(tmp_path / "cells.json"))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        paper(name).measure(walk)
    assert walk.found
    assert not [key for key, cell in walk.results.read().items() if "reason" in cell]


@pytest.mark.minutes
def test_all_papers_on_reduced_sizes(tmp_path, data_folder):
    complete(papers("all", "--quick", "--out", tmp_path, data=data_folder), tmp_path, NAMES)
    assert "| [havens2011](havens2011.md) |" in (tmp_path / "index.md").read_text()


@pytest.mark.minutes
def test_one_paper_on_reduced_sizes_and_not_a_second_time(tmp_path, data_folder):
    """The quickest of them."""
    complete(papers(QUICKEST, "--quick", "--out", tmp_path, data=data_folder), tmp_path, [QUICKEST])
    before = (tmp_path / f"{QUICKEST}.json").read_text()
    again = papers(QUICKEST, "--quick", "--out", tmp_path, data=data_folder)
    assert again.returncode == 0, again.stderr
    assert (tmp_path / f"{QUICKEST}.json").read_text() == before


def test_what_is_measured_is_not_measured_again(tmp_path, capsys):
    run, calls = Run(Results(tmp_path / "some.json")), []

    def trial(number):
        calls.append(number)
        return {"ari": number / 2}

    for wanted in (2, 3, 3):
        run.stage("some table", lambda wanted=wanted: run.trials("cell", wanted, trial))
    run.stage("another", lambda: run.once("whole", lambda: {"x": len(calls)}))
    run.stage("another", lambda: run.once("whole", lambda: {"x": -1}))
    cells = run.results.read()
    assert calls == [0, 1, 2]
    assert cells["cell"] == {"ari": [0.0, 0.5, 1.0]}
    assert cells["whole"] == {"x": 3}
    assert cells["stage | some table"]["seconds"] > 0
    assert minutes(cells) == pytest.approx(
        sum(cells[f"stage | {name}"]["seconds"] for name in ("some table", "another")) / 60
    )
    assert "cell [3/3] ari 1" in capsys.readouterr().out


def test_cells_that_only_exact_measures_are_forgotten_only_with_it(tmp_path):
    keys = [
        "MNIST 20,000 | 20 | FCM | m 2",
        "MNIST 70,000 | exact | FCM | m 2",
        "stage | A3",
        "stage | MNIST, exact on 70,000 rows",
    ]
    for exact, left in ((False, [keys[1], keys[3]]), (True, [])):
        results = Results(tmp_path / "some.json")
        for key in keys:
            results.add(key, seconds=1.0)
        paper("havens2011").forget(results, "MNIST 20", exact=False)
        assert sorted(results.read()) == sorted(keys[1:])
        paper("havens2011").forget(results, "", exact=exact)
        assert sorted(results.read()) == left


@pytest.mark.parametrize("name", NAMES)
def test_of_what_is_stored_a_run_without_exact_keeps_the_exact_runs(tmp_path, name):
    results = Results(tmp_path / "some.json")
    results.path.write_bytes((PAGES / f"{name}.json").read_bytes())
    paper(name).forget(results, "", exact=False)
    assert bool(results.read()) == (name in ("havens2011", "chitta2011", "zhang2013"))


def test_absent_data_are_a_reason_and_no_failure(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("CMEANS_DATA", str(tmp_path / "nowhere"))
    run = Run(Results(tmp_path / "some.json"))
    run.stage("Table 2: S2", lambda: run.once("S2", lambda: {"n": len(load("s2"))}))
    run.stage("Table 3: Iris", lambda: run.once("Iris", lambda: {"n": len(load("iris"))}))
    cells = run.results.read()
    assert cells["stage | Table 2: S2"]["reason"].startswith("no data: s2: set CMEANS_DATA")
    assert "S2" not in cells
    assert cells["Iris"] == {"n": 150}  # scikit-learn brings it
    assert "Table 2: S2: left out" in capsys.readouterr().out


def test_an_unknown_paper_is_refused(capsys):
    with pytest.raises(SystemExit) as ended:
        main(["havens2012"])
    assert ended.value.code == 2
    assert "havens2012: no such paper" in capsys.readouterr().err


# ---------------------------------------------------------------------------------------- templates


def test_a_table_has_a_line_for_each_row_that_says_something():
    lines = {"a": "1", "b": "", "c": r"\|x\|"}
    shown = table("name | value", lines, labels=1, caller=lambda name: f"{name} |\n {lines[name]}")
    assert shown.splitlines() == ["| name | value |", "|---|---|", "| a | 1 |", r"| c | \|x\| |"]
    assert table("name", (), "*nothing*", caller=str) == "*nothing*"
    assert table(" | b", (), caller=str).splitlines() == ["|  | b |", "|---|---|"]


def test_claims_are_judged_by_their_numbers(tmp_path, monkeypatch):
    rows = """
    [[claims]]
    each = "[('a', 1), ('b', 2), ('c', 3), ('d', 0)]"
    as = ["name", "wanted"]
    text = "{{ name }} is at least {{ wanted }}"
    where = "Table {{ wanted }}"
    cells = "given(found=values.get(name))"
    better = "found|min > 2 * wanted"
    holds = "found|min >= wanted"
    why = "least\\n of {{ found|length }}: {{ found|min }}"
    """
    (tmp_path / "claims.toml").write_text(rows)
    environment()  # is made once, for the folder of all pages
    monkeypatch.setattr("benchmarks.template.ROOT", tmp_path)
    found = judged("claims.toml", {"values": {"a": [4, 3], "b": [2], "c": [1]}})
    assert found[0] == ("a is at least 1", "Table 1", "better", "least of 2: 3")
    assert [claim.verdict for claim in found] == [
        "better",
        "reproduced",
        "not reproduced",
        "not measured",
    ]
    assert found[3].why == ""


@pytest.mark.parametrize("name", NAMES)
def test_a_page_says_what_is_not_measured(name):
    text = paper(name).page({})
    assert "*(not measured)*" in text
    assert "not measured" in {claim.verdict for claim in paper(name).claims({})} | {
        claim.why for claim in paper(name).claims({})
    }


# ------------------------------------------------------------------------------------------ results


def test_a_page_says_which_stages_another_version_measured():
    def measured_by(version):
        return {"seconds": 1.0, "machine": f"a machine\ncmeans {version}, numpy 2\nblas"}

    cells = {f"stage | {title}": measured_by("1.0") for title in ("rows", "chunks")}
    assert paper("beyond").reading(cells).machine() == "a machine\ncmeans 1.0, numpy 2\nblas"
    cells["stage | lambda"] = measured_by("1.1")
    assert paper("beyond").reading(cells).machine().splitlines()[3:] == [
        "cmeans 1.0: rows; chunks",
        "cmeans 1.1: lambda",
    ]


def test_results_keep_six_digits_a_cell_a_line(tmp_path):
    results = Results(tmp_path / "some.json")
    results.add("b", ari=[1 / 3], size=3)
    results.add("b", ari=[np.float64(2 / 3)], size=np.int64(4))
    results.add("a", name="x")
    assert results.read() == {"a": {"name": "x"}, "b": {"ari": [0.333333, 0.666667], "size": 4}}
    assert len(results.path.read_text().splitlines()) == 4
    results.forget(lambda key: key == "b")
    assert set(results.read()) == {"a"}


# -------------------------------------------------------------------------------------------- tiles


@pytest.fixture(scope="module")
def X():
    rng = np.random.default_rng(0)
    return np.vstack([rng.normal(centre, 0.7, (130, 3)) for centre in (-2.0, 0.0, 2.5)])


def test_tiles_are_the_kernel_matrix(X):
    kernel = NormalizedPolynomial(degree=3)
    blocks, k = tiles.Tiles(X, kernel, side=70), kernel(X, X)
    w = np.random.default_rng(1).random((len(X), 4))
    np.testing.assert_allclose(blocks.times(w), k @ w, rtol=2e-6)
    rows = np.array([0, 69, 70, 389])
    np.testing.assert_allclose(blocks.columns(rows), k[:, rows], rtol=1e-5, atol=1e-6)


def test_hard_runs_together_are_kernel_k_means_one_by_one(X, tmp_path):
    kernel = RBF(gamma=0.3)
    blocks, starts = (
        tiles.Tiles(X, kernel, side=100),
        np.random.default_rng(2).integers(0, 4, (3, len(X))),
    )
    found = tiles.solve(
        blocks,
        Hard(),
        (starts[:, :, None] == np.arange(4)).astype(float),
        tol=0,
        max_sweeps=200,
        standing=tmp_path / "standing.npz",
    )
    for run in range(3):
        model = KernelKMeans(
            4,
            kernel=kernel,
            landmarks=None,
            init=starts[run],
            tol=0,
            search=Search(progressive=False),
        ).fit(X)
        np.testing.assert_array_equal(found.labels[run], model.labels_)
        np.testing.assert_allclose(found.objective[run], model.objective_, rtol=1e-5)
    np.testing.assert_allclose(
        [_naive_cost(kernel(X, X), labels) for labels in found.labels], found.objective, rtol=1e-5
    )


def test_fuzzy_and_possibilistic_runs_are_the_papers_algorithms(X, tmp_path):
    kernel, rule = RBF(gamma=0.3), Fuzzy(1.6)
    blocks, rows = tiles.Tiles(X, kernel, side=100), np.array([5, 140, 300])
    u = tiles.first_memberships(blocks, rule, rows)
    found = tiles.solve(
        blocks, rule, u[None], tol=1e-4, max_sweeps=300, standing=tmp_path / "standing.npz"
    )
    words = {"kernel": kernel, "landmarks": None, "tol": 1e-4, "search": Search(progressive=False)}
    model = PrintedCMeans(3, rule=rule, init=u, **words).fit(X)
    np.testing.assert_allclose(found.u[0], model.memberships_, atol=2e-4)
    np.testing.assert_allclose(found.objective[0], model.objective_, rtol=1e-5)
    typical = tiles.solve(
        blocks,
        Possibilistic(2.0),
        found.u,
        tol=1e-4,
        max_sweeps=300,
        standing=tmp_path / "standing.npz",
        scales=found.scales,
    )
    k = kernel(X, X)
    d2 = _naive_distances(k, typical.u[0])
    np.testing.assert_allclose(typical.u[0], 1 / (1 + d2 / found.scales[0]), atol=5e-4)


def test_the_printed_possibilistic_rule_is_swept_as_printed(X):
    """Where it ends its centres are the means by its own exponent, 2 / (m - 1) on squared
    distances, in native sweeps too."""
    model = PrintedCMeans(
        3, rule=PrintedPossibilistic(2.0), tol=1e-9, max_iter=1000, random_state=0
    ).fit(X)
    d2 = ((X[:, None, :] - model.cluster_centers_[None, :, :]) ** 2).sum(axis=2)
    weights = (1.0 / (1.0 + (d2 / model.eta_) ** 2.0)) ** 2
    np.testing.assert_allclose(
        model.cluster_centers_, weights.T @ X / weights.sum(axis=0)[:, None], atol=1e-6
    )


@pytest.mark.parametrize("variant", fits.VARIANTS)
@pytest.mark.parametrize("algorithm", fits.ALGORITHMS)
def test_every_run_of_havens_2011_is_of_its_rule(algorithm, variant, X):
    words = {} if algorithm == fits.FCM else {"rule__eta_scale": 0.1}
    model = (
        fits.estimator(algorithm, variant, 3, 1.8, random_state=0)
        .set_params(**words)
        .fit(RBF(gamma=0.3)(X, X))
    )
    if algorithm == fits.FCM:
        assert model.rule == fits.fuzzy_rule(variant, 1.8)
    else:
        assert isinstance(
            model.rule, PrintedPossibilistic if variant == fits.PRINTED else Possibilistic
        )
        assert model.pilot_m_ == (1.8 if variant == fits.AUTO else 2.0)


@pytest.mark.parametrize("method", methods.OF_UCI)
def test_every_method_of_liu_2021_has_the_kernel_that_its_cell_names(method, X):
    with warnings.catch_warnings():
        quiet()
        model = methods.estimator(
            method, 3, 0, **({} if method in methods.PLAIN else {"gamma": 0.3})
        ).fit(X[:60])
    assert model.kernel == ("linear" if method in methods.PLAIN else "rbf")


def _naive_cost(k, labels):
    """tr K - sum_j u_j' K u_j / n_j."""
    total = sum(k[i, i] for i in range(len(k)))
    for j in set(labels.tolist()):
        members = [i for i in range(len(k)) if labels[i] == j]
        total -= sum(k[a, b] for a in members for b in members) / len(members)
    return total


def _naive_distances(k, u):
    n, c = u.shape
    d2 = np.empty((n, c))
    for j in range(c):
        w = u[:, j] ** 2 / (u[:, j] ** 2).sum()
        for i in range(n):
            d2[i, j] = k[i, i] - 2 * (k[i] @ w) + w @ k @ w
    return d2


def test_an_interrupted_run_goes_on_to_the_same_end(X, tmp_path):
    blocks, rule = tiles.Tiles(X, RBF(gamma=0.3), side=100), Fuzzy(1.6)
    u = np.stack(
        [
            tiles.first_memberships(blocks, rule, np.array(rows))
            for rows in ([5, 140, 300], [1, 2, 3])
        ]
    )
    path = tmp_path / "standing.npz"
    whole = tiles.solve(blocks, rule, u, tol=1e-4, max_sweeps=300, standing=path)
    assert not path.exists()
    calls, times = [], blocks.times

    def interrupted(w):
        calls.append(1)
        if len(calls) == 4:
            raise KeyboardInterrupt
        return times(w)

    blocks.times = interrupted
    with pytest.raises(KeyboardInterrupt):
        tiles.solve(blocks, rule, u, tol=1e-4, max_sweeps=300, standing=path)
    assert path.exists()
    again = tiles.solve(blocks, rule, u, tol=1e-4, max_sweeps=300, standing=path)
    np.testing.assert_array_equal(again.u, whole.u)
    np.testing.assert_array_equal(again.sweeps, whole.sweeps)
