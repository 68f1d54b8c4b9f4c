"""Memberships in the nearest clusters alone: the rule, its sweeps, and the fits and models that
keep so few numbers of a row."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from scipy import sparse

import naive
import naive_top_k
from cmeans import CMeans, FuzzyCMeans, KernelKMeans, Search, Sizes, load, save
from cmeans.cli.run import run
from cmeans.data.blocks import Blocks
from cmeans.papers import PrintedFuzzy
from cmeans.rules import Entropy, Fuzzy, Hard, NoiseFuzzy, Possibilistic, SizedFuzzy, Truncated
from cmeans.spaces import EuclideanSpace
from cmeans.spaces.centres import Centres
from cmeans.sweeps import generic, nearest
from cmeans.sweeps.choice import assign_for, searches_few, sweep_for
from cmeans.sweeps.represented_rows import RepresentedRows
from cmeans.sweeps.state import State
from cmeans.sweeps.top_k import NativeTopKAssign, NativeTopKSweep
from limited import limited

pytestmark = pytest.mark.slow

rng = np.random.default_rng(5)
C, K = 12, 4
MEANS = 3 * rng.normal(size=(C, 3))
X = MEANS[rng.integers(0, C, 300)] + rng.normal(size=(300, 3))
W = rng.integers(0, 3, size=300).astype(float)
START = X[:C].copy()
RULES = [
    Fuzzy(2.0),
    Fuzzy(1.3),
    PrintedFuzzy(2.0),
    Entropy(1.5),
    NoiseFuzzy(2.0, delta=3.0),
    NoiseFuzzy(1.4, delta=2.0),
]
# rows, columns, clusters, k
SIZES = [
    (200, 3, 12, 1),
    (9, 40, 300, 16),
    (9, 5, 520, 9),
    (65, 2, 9, 9),
    (1, 4, 7, 3),
    (66, 70, 100, 5),
]


def naive_memberships(rule, d2, k):
    return naive_top_k.memberships(lambda some: naive_of(rule, some), d2, k)


def naive_of(rule, d2):
    if isinstance(rule, Entropy):
        return naive.entropy_memberships(d2, rule.T)
    if isinstance(rule, NoiseFuzzy):
        return naive.noise_memberships(d2, rule.m, rule.delta)
    return naive.fuzzy_memberships(d2, rule.m, rule.power)


def fitted(top_k=K, rows=X, weights=None, n_clusters=C, **words):
    words = {"m": 1.5, "init": START, "max_iter": 1000, "random_state": 0, **words}
    return FuzzyCMeans(n_clusters, top_k=top_k, **words).fit(rows, sample_weight=weights)


# ---- the rule


@pytest.mark.parametrize("rule", RULES, ids=str)
def test_memberships_are_those_of_the_nearest_alone(rule):
    d2 = rng.exponential(size=(60, 7))
    d2[:20] = np.rint(4 * d2[:20]) / 4  # with ties, and zeros
    for k in (1, 3, 7, 9):
        expected = naive_memberships(rule, d2, k)
        np.testing.assert_allclose(
            Truncated(rule, k).memberships(d2, None), expected, rtol=1e-12, atol=1e-300
        )


@pytest.mark.parametrize("k", [1, 2, 4])
def test_no_other_k_clusters_cost_less(k):
    """The least cost of a row among some clusters is (sum d2^-p)^-(m-1) for fuzzy c-means, -T ln
    sum exp(-d2 / T) for maximum entropy."""
    m, T = 1.7, 0.8
    costs = {
        Fuzzy(m): lambda d2: (d2 ** (-1 / (m - 1))).sum() ** (1 - m),
        Entropy(T): lambda d2: -T * np.log(np.exp(-d2 / T).sum()),
    }
    for rule, cost in costs.items():
        for d2 in rng.exponential(size=(25, 6)) + 1e-3:
            truncated = Truncated(rule, k)
            u = truncated.memberships(d2[None, :], None)
            penalty = truncated.penalty(u, None)
            found = float(
                (truncated.weights(u) * d2).sum() + (0 if penalty is None else penalty[0])
            )
            assert found == pytest.approx(naive_top_k.least_cost(cost, d2, k), rel=1e-12)


# ---- the sweeps


def table(n, d, c, dtype, away=0.0):
    """Numbers are the same in both precisions."""
    made = np.random.default_rng(n + c)
    rows, centres, weight = (
        made.normal(size=(n, d)),
        made.normal(size=(c, d)),
        made.uniform(0, 2, size=n),
    )
    weight[::5] = 0
    rows[3::20] = centres[np.arange(len(rows[3::20])) % c]  # at a centre
    rows, centres = rows.astype(np.float32).astype(dtype), centres.astype(np.float32).astype(float)
    space = EuclideanSpace(np.full(d, away))
    return (
        RepresentedRows(space, Blocks(rows, weight), 0),
        State(Centres.orthonormal(centres)),
        rows,
        centres,
        weight,
    )


@cache
def naive_table(n, d, c, k):
    """Squared distances, and the memberships and sums of each rule."""
    _, _, x, centres, weight = table(n, d, c, "float64")
    d2 = naive.point_distances(x, centres)
    u = [naive_memberships(rule, d2, k) for rule in RULES]
    return d2, [
        (own, naive.sums(x, d2, own, getattr(rule, "m", 1.0), weight))
        for rule, own in zip(RULES, u, strict=True)
    ]


def total(sweep, rows, rule, state):
    parts = [sweep(rows, rule, state, task) for task in range(rows.n_tasks)]
    return sum(parts[1:], parts[0])


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("size", SIZES, ids=str)
def test_sums_and_the_last_pass(size, dtype, monkeypatch):
    """Of all sweeps there are: generic, with the distances to all centres, with a search for the
    nearest."""
    monkeypatch.setattr(nearest, "LEAST_WORK", 0)
    n, d, c, k = size
    rows, state, _, _, weight = table(n, d, c, dtype)
    d2, of_rules = naive_table(*size)
    close = 1e-9 if dtype == "float64" else 2e-3
    for inner, (u, expected) in zip(RULES, of_rules, strict=True):
        rule = Truncated(inner, k)
        compared, searched = (
            (NativeTopKSweep(rule, dtype, way), NativeTopKAssign(rule, dtype, way))
            for way in (False, True)
        )
        for sweep, assign in ((generic.sweep, generic.assign), compared, searched):
            sums = total(sweep, rows, rule, state)
            scale = np.abs(expected.moment).max()
            np.testing.assert_allclose(sums.mass, expected.mass, rtol=close, atol=close)
            np.testing.assert_allclose(sums.moment, expected.moment, rtol=close, atol=close * scale)
            np.testing.assert_allclose(sums.spread, expected.spread, rtol=close, atol=close)
            out = generic.RowOutputs.empty(n, c, np.empty(0, dtype), most=k)
            final = [
                assign(rows, rows.space, rule, state, task, out) for task in range(rows.n_tasks)
            ]
            final = sum(final[1:], final[0])
            np.testing.assert_allclose(out.dense_memberships(c), u, rtol=0, atol=close)
            assert (np.diff(out.memberships, axis=1) <= 0).all()
            assert final.objective == pytest.approx(sums.objective, rel=1e-5)
            assert final.total_distance == pytest.approx(float(weight @ d2.sum(axis=1)), rel=1e-5)
            np.testing.assert_allclose(final.mass, weight @ u, rtol=close, atol=close)
            own = out.clusters[:, 0]
            np.testing.assert_array_equal(out.labels, np.where(out.labels < 0, -1, own))
            if inner.noise_distance is None:
                assert (out.labels >= 0).all()
            np.testing.assert_allclose(out.nearest, d2[np.arange(n), own], rtol=1e-4, atol=1e-5)


def test_which_sweeps_run():
    rows, _, *_ = table(100, 5, 40, "float64")
    assert isinstance(sweep_for(rows, Truncated(Fuzzy(2.0), 3), 40), NativeTopKSweep)
    assert isinstance(assign_for(rows, rows.space, Truncated(Fuzzy(2.0), 3), 40), NativeTopKAssign)
    assert type(sweep_for(rows, Truncated(Fuzzy(2.0), 40), 40)) is type(
        sweep_for(rows, Fuzzy(2.0), 40)
    )
    wide, _, *_ = table(100, 150, 40, "float64")
    for k, found in ((5, True), (6, False)):
        assert searches_few(wide.space, wide.blocks, Truncated(Fuzzy(2.0), k), 40) is found
    assert not searches_few(rows.space, rows.blocks, Truncated(Fuzzy(2.0), 2), 40)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("noise", [0.02, 0.6, 5.0])
def test_the_nearest_are_those_of_brute_force(noise, dtype, monkeypatch):
    """Along directions that say much or little of a distance, and along none: the same clusters and
    memberships to the last bit."""
    made, n, d, c, k = np.random.default_rng(3), 700, 133, 90, 7
    means, turned = made.normal(size=(50, 12)), np.linalg.qr(made.normal(size=(d, 12)))[0]
    x = (
        (means[np.arange(n) % 50] + 0.5 * made.normal(size=(n, 12))) @ turned.T
        + noise * made.normal(size=(n, d))
    ).astype(dtype)
    v = np.array([x[made.integers(0, n, size=3)].mean(axis=0, dtype=np.float64) for _ in range(c)])
    v[c // 2 :: 7] = v[0]  # at the same place
    v[80] = x[5]
    rule, found = Truncated(Fuzzy(1.5), k), []
    for least, training in ((0, True), (0, False), (2**62, True)):
        monkeypatch.setattr(nearest, "LEAST_WORK", least)
        rows = RepresentedRows(
            EuclideanSpace(np.zeros(d)), Blocks(x, np.ones(n)), 10**9, training=training
        )
        state, sweep, assign = (
            State(Centres.orthonormal(v)),
            NativeTopKSweep(rule, dtype, True),
            NativeTopKAssign(rule, dtype, True),
        )
        for _ in range(2):  # the second time coordinates are known
            out = generic.RowOutputs.empty(n, c, np.empty(0, dtype), most=k)
            for task in range(rows.n_tasks):
                assign(rows, rows.space, rule, state, task, out)
            found.append((out.clusters, out.memberships, total(sweep, rows, rule, state).moment))
    for others in found[1:]:
        for one, other in zip(found[0], others, strict=True):
            np.testing.assert_array_equal(one, other)
    d2 = np.array([((v - row) ** 2).sum(axis=1) for row in x.astype(float)])
    own, least = (
        np.take_along_axis(d2, found[0][0].astype(np.intp), axis=1),
        np.sort(d2, axis=1)[:, :k],
    )
    np.testing.assert_allclose(
        np.sort(own, axis=1),
        least,
        atol=(1e-4 if dtype == "float32" else 1e-12) * (d2.max() + (v**2).sum(axis=1).max()),
    )
    assert all(len(set(row)) == k for row in found[0][0])


@pytest.mark.parametrize("bad", [np.nan, np.inf])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_what_is_no_number_shows(dtype, bad):
    """A row of weight 0, and one centre among many that no row is near to."""
    for inner in (Fuzzy(2.0), Entropy(1.0), NoiseFuzzy(1.5, delta=2.0)):
        rule = Truncated(inner, 2)
        for where in ("row", "centre"):
            rows, state, x, centres, _ = table(100, 5, 40, dtype)
            if where == "row":
                x[5, 1] = bad  # of weight zero
            else:
                centres[39, 1] = bad
            with np.errstate(all="ignore"):
                state = State(Centres.orthonormal(centres))
                for searched in (False, True):
                    assert not total(
                        NativeTopKSweep(rule, dtype, searched), rows, rule, state
                    ).is_finite()


# ---- fits


@pytest.mark.parametrize("weights", [None, W[:100]], ids=["plain", "weighted"])
@pytest.mark.parametrize("k", [1, 4, 12])
def test_a_fit_is_the_naive_one(k, weights):
    expected = naive_top_k.fcm_points(X[:100], START, 1.5, k, 3, weights)
    model = FuzzyCMeans(
        C, m=1.5, top_k=k, init=START, max_iter=3, tol=0.0, search=Search(acceleration=None)
    )
    with pytest.warns(UserWarning, match="max_iter"):
        model.fit(X[:100], sample_weight=weights)
    np.testing.assert_allclose(model.cluster_centers_, expected.centers, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(model.memberships_.toarray(), expected.memberships, atol=1e-9)
    np.testing.assert_allclose(model.objective_history_, expected.history, rtol=1e-9)
    assert (np.diff(model.objective_history_) <= 1e-9).all()


@pytest.mark.parametrize(
    "words",
    [{"kernel": "rbf", "landmarks": 40}, {"kernel": "rbf", "landmarks": None}, {"noise": 0.1}],
    ids=str,
)
def test_the_objective_falls_in_every_space(words):
    model = fitted(
        search=Search(acceleration=None), init="k-means++", random_state=0, n_clusters=8, **words
    )
    assert (np.diff(model.objective_history_) <= 1e-9 * model.objective_history_[0]).all()
    top = model.memberships_top_k_
    assert top.clusters.shape == top.values.shape == (300, K)
    np.testing.assert_array_equal(model.predict(X), model.labels_)


def test_entropy():
    model = CMeans(
        C, rule=Entropy(T=0.7), top_k=K, init=START, search=Search(acceleration=None)
    ).fit(X)
    d2 = naive.point_distances(X, model.cluster_centers_)
    u = naive_top_k.memberships(lambda some: naive.entropy_memberships(some, 0.7), d2, K)
    np.testing.assert_allclose(model.memberships_.toarray(), u, atol=1e-12)
    assert model.objective_ == pytest.approx(naive.entropy_objective(d2, u, 0.7), rel=1e-10)
    assert (np.diff(model.objective_history_) <= 1e-9).all()


@pytest.mark.parametrize("words", [{}, {"noise": 0.1}, {"kernel": "rbf", "landmarks": 40}], ids=str)
def test_with_all_clusters_it_is_the_plain_rule(words):
    """And with fewer clusters than top_k."""
    plain = fitted(None, **words)
    for k in (C, C + 5):
        model = fitted(k, **words)
        assert model.objective_ == pytest.approx(plain.objective_, rel=1e-12)
        np.testing.assert_allclose(model.memberships_.toarray(), plain.memberships_, atol=1e-12)
        np.testing.assert_array_equal(model.labels_, plain.labels_)
        assert model.n_iter_ == plain.n_iter_
        assert model.memberships_top_k_.values.shape == (300, C)


def test_weights_are_copies():
    copies = np.repeat(X, W.astype(int), axis=0)
    weighted, copied = fitted(weights=W), fitted(rows=copies)
    np.testing.assert_allclose(
        weighted.cluster_centers_, copied.cluster_centers_, rtol=1e-9, atol=1e-9
    )
    assert weighted.objective_ == pytest.approx(copied.objective_, rel=1e-9)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_threads_change_no_bit(dtype, monkeypatch):
    limited(monkeypatch, block_rows=64, task_values=1, tasks=7)
    models = [fitted(rows=X.astype(dtype), n_jobs=n) for n in (1, 2, 5)]
    for model in models[1:]:
        np.testing.assert_array_equal(model.cluster_centers_, models[0].cluster_centers_)
        np.testing.assert_array_equal(
            model.memberships_top_k_.values, models[0].memberships_top_k_.values
        )


def test_attributes():
    model = fitted()
    top = model.memberships_top_k_
    u = model.memberships_
    assert sparse.issparse(u)
    assert u.shape == (300, C)
    assert u.nnz == 300 * K
    assert np.shares_memory(u.data, top.values)
    assert top.clusters.dtype == np.int32
    assert "memberships_" not in vars(model)
    np.testing.assert_array_equal(u.toarray().argmax(axis=1), model.labels_)
    np.testing.assert_array_equal(top.clusters[:, 0], model.labels_)
    np.testing.assert_allclose(u.sum(axis=1), 1)
    np.testing.assert_array_equal(model.memberships(X), u.toarray())
    np.testing.assert_array_equal(model.predict_proba(X), u.toarray())
    again = model.memberships_top_k(X)
    np.testing.assert_array_equal(again.clusters, top.clusters)
    np.testing.assert_array_equal(again.values, top.values)
    assert -model.score(X) == pytest.approx(model.objective_)
    assert model.outlier_score(X).shape == (300,)
    assert model.rule_ == Truncated(Fuzzy(1.5), K)
    assert model.m_ == 1.5
    assert model.representatives(2).shape == (C, 2)
    plain = fitted(None)
    assert not hasattr(plain, "memberships_top_k")
    assert not hasattr(plain, "memberships_top_k_")
    assert not hasattr(FuzzyCMeans(), "memberships_")
    model.set_params(top_k=None).fit(X)
    assert isinstance(model.memberships_, np.ndarray)
    assert not hasattr(model, "memberships_top_k_")


def test_a_rule_object():
    """Truncated itself, and one's own rule in it."""
    model = CMeans(C, rule=Truncated(Fuzzy(1.5), K), init=START).fit(X)
    np.testing.assert_array_equal(
        model.memberships_top_k_.values, fitted().memberships_top_k_.values
    )
    assert model.memberships_top_k(X[:5]).clusters.shape == (5, K)

    class Own(Fuzzy):
        name = ""
        native_functions = None

    own = CMeans(C, rule=Own(1.5), top_k=K, init=START).fit(X)
    np.testing.assert_allclose(
        own.memberships_.toarray(), fitted().memberships_.toarray(), atol=1e-6
    )


def test_equal_rows_joined_and_linked():
    twice = np.vstack([X, X])
    joined = fitted(rows=twice, search=Search(join_equal_rows=True))
    assert joined.memberships_top_k_.values.shape == (600, K)
    np.testing.assert_allclose(
        joined.memberships_.toarray()[:300],
        fitted(weights=np.full(300, 2.0)).memberships_.toarray(),
        atol=1e-9,
    )
    linked = FuzzyCMeans(C, m=1.5, top_k=K, init=START).fit(X, must_link=[[0, 1]])
    assert linked.labels_[0] == linked.labels_[1]
    np.testing.assert_array_equal(
        linked.memberships_top_k_.clusters[0], linked.memberships_top_k_.clusters[1]
    )


def test_other_libraries_and_sparse_rows():
    torch = pytest.importorskip("torch")
    expected = fitted().memberships_.toarray()
    model = fitted(rows=torch.asarray(X))
    assert isinstance(model.memberships_top_k_.values, torch.Tensor)
    np.testing.assert_allclose(model.memberships_.toarray(), expected, atol=1e-9)
    assert isinstance(model.memberships(torch.asarray(X)), torch.Tensor)
    np.testing.assert_allclose(
        fitted(rows=sparse.csr_array(X)).memberships_.toarray(), expected, atol=1e-9
    )


# ---- files, Dask, saved models, the command


def test_files(tmp_path, monkeypatch):
    limited(monkeypatch, loaded_bytes=0, canonical_rows=100, block_rows=64)
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    file = tmp_path / "x.parquet"
    pq.write_table(pa.table({f"c{f}": column for f, column in enumerate(X.T)}), file)
    model = fitted()
    stored = fitted(rows=file)
    np.testing.assert_array_equal(stored.labels_, model.labels_)
    assert not hasattr(stored, "memberships_")
    for name, call in (
        ("a", stored.predict_to),
        ("b", FuzzyCMeans(C, m=1.5, top_k=K, init=START, max_iter=1000).fit_predict_to),
    ):
        for rows in (file, X) if name == "b" else (file,):
            call(rows, tmp_path / f"{name}.parquet")
            columns = pq.read_table(tmp_path / f"{name}.parquet")
            assert columns.column_names == [
                "label",
                *(f"{word}{rank}" for rank in range(1, K + 1) for word in ("cluster", "u")),
            ]
            np.testing.assert_array_equal(
                columns["cluster2"].to_numpy(), model.memberships_top_k_.clusters[:, 1]
            )
            np.testing.assert_allclose(
                columns["u2"].to_numpy(), model.memberships_top_k_.values[:, 1], atol=1e-9
            )
    stored.predict_to(file, tmp_path / "c.parquet", top_k=2)
    assert pq.read_table(tmp_path / "c.parquet").num_columns == 5
    stored.predict_to(file, tmp_path / "d.parquet", threshold=0.2)
    lists, u = pq.read_table(tmp_path / "d.parquet").to_pydict(), model.memberships_.toarray()
    assert lists["clusters"] == [np.flatnonzero(row >= 0.2).tolist() for row in u]
    with pytest.raises(
        ValueError, match=r"predict_to\(top_k=5\): rows have memberships in 4 clusters"
    ):
        stored.predict_to(file, tmp_path / "e.parquet", top_k=5)
    with pytest.raises(
        ValueError, match=r"fit_predict_to\(top_k=5\): rows have memberships in 4 clusters"
    ):
        FuzzyCMeans(C, top_k=K).fit_predict_to(X, tmp_path / "e.parquet", top_k=5)


def test_saved_models(tmp_path):
    for model in (
        fitted(),
        fitted(noise=0.1),
        CMeans(C, rule="entropy", top_k=K, init=START).fit(X),
    ):
        for rows in (True, False):
            save(model, tmp_path / "m.safetensors", rows=rows)
            again = load(tmp_path / "m.safetensors")
            assert again.rule_ == model.rule_
            np.testing.assert_array_equal(again.predict(X), model.predict(X))
            np.testing.assert_array_equal(
                again.memberships_top_k(X).values, model.memberships_top_k(X).values
            )
            assert hasattr(again, "memberships_top_k_") == hasattr(again, "memberships_") == rows
        if rows:
            np.testing.assert_array_equal(
                again.memberships_.toarray(), model.memberships_.toarray()
            )


def test_a_damaged_model(tmp_path):
    model = fitted()
    model.memberships_top_k_.clusters[0, 0] = C
    save(model, tmp_path / "m.safetensors")
    with pytest.raises(
        ValueError, match="memberships_top_k_ are no memberships in clusters of the model"
    ):
        load(tmp_path / "m.safetensors")


def test_the_command(tmp_path, capsys):
    pq = pytest.importorskip("pyarrow.parquet")
    np.save(tmp_path / "x.npy", X)
    words = ["fit", str(tmp_path / "x.npy"), "--out", str(tmp_path / "o"), "-c", "12", "-q"]
    assert run([*words, "--top-k", "3", "--truncated"]) == 0
    columns = pq.read_table(tmp_path / "o" / "labels.parquet")
    assert columns.column_names[-2:] == ["cluster3", "u3"]
    np.testing.assert_allclose(
        columns["u1"].to_numpy() + columns["u2"].to_numpy() + columns["u3"].to_numpy(), 1
    )
    assert load(tmp_path / "o" / "model.safetensors").top_k == 3
    assert (
        run(
            [
                "predict",
                str(tmp_path / "o" / "model.safetensors"),
                str(tmp_path / "x.npy"),
                "--out",
                str(tmp_path / "p.csv"),
                "-q",
            ]
        )
        == 0
    )
    assert (
        (tmp_path / "p.csv")
        .read_text()
        .startswith('"label","cluster1","u1","cluster2","u2","cluster3","u3"\n')
    )
    capsys.readouterr()
    for wrong, said in (
        (["--truncated"], "--truncated: needs --top-k N"),
        (["--top-k", "3", "--truncated", "--method", "hard"], "--top-k: --method hard has none"),
        (
            ["--top-k", "3", "--truncated", "--method", "possibilistic"],
            "--top-k: --method possibilistic has none",
        ),
    ):
        assert run([*words, *wrong]) == 2
        assert said in capsys.readouterr().err


# ---- what is refused


@pytest.mark.parametrize(
    "top_k", [0, -1, 2.5, True, "3", "auto", np.nan, [2], np.array([1, 2]), {}], ids=str
)
def test_no_number_of_clusters(top_k):
    for model in (FuzzyCMeans(C, top_k=top_k), CMeans(C, rule="entropy", top_k=top_k)):
        with pytest.raises(
            ValueError, match=r"\(top_k=.*\): top_k must be None or a whole number of at least 1"
        ):
            model.fit(X)


@pytest.mark.parametrize(
    ("model", "said"),
    [
        (CMeans(C, rule="hard", top_k=2), "memberships are hard"),
        (CMeans(C, rule=Hard(), top_k=2), "memberships are hard"),
        (CMeans(C, rule="possibilistic", top_k=2), "rows do not sum to one"),
        (CMeans(C, rule=SizedFuzzy(2.0), top_k=2), "scales or prices"),
        (CMeans(C, rule=Truncated(Fuzzy(2.0), 2), top_k=2), "truncated already"),
        (CMeans(C, rule="entropy", search="annealing", top_k=2), "annealing begins"),
        (CMeans(C, rule="entropy", sizes=Sizes(least=3), top_k=2), "not both"),
        (FuzzyCMeans(C, sizes=Sizes(most=30), top_k=2), "not both"),
    ],
    ids=str,
)
def test_what_does_not_go_together(model, said):
    with pytest.raises(ValueError, match=rf"\(top_k=2.*{said}"):
        model.fit(X)
    assert not hasattr(model, "labels_")


def test_known_labels_are_refused():
    for model in (FuzzyCMeans(C, top_k=2), CMeans(C, rule=Truncated(Fuzzy(2.0), 2))):
        with pytest.raises(
            ValueError, match=r"\(top_k=2\): a row's known cluster need not be one of its nearest"
        ):
            model.fit(X, known_labels=np.zeros(300, int))


def test_bad_rules():
    for k in (0, 1.5, True, None):
        with pytest.raises(ValueError, match=r"Truncated\(k="):
            Truncated(Fuzzy(2.0), k)
    for rule in (Hard(), Possibilistic(2.0), Truncated(Fuzzy(2.0), 1), "fuzzy", None):
        with pytest.raises(ValueError, match=r"Truncated\(rule="):
            Truncated(rule, 2)
    assert not hasattr(KernelKMeans(2).fit(X), "memberships_top_k")
