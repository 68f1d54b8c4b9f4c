"""Summaries and explanations against loops."""

import re
from dataclasses import replace
from email.message import Message

import numpy as np
import pytest
import scipy.sparse as sp
import sklearn
from sklearn.compose import make_column_transformer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import cmeans
import every_estimator
from cmeans.inspection import Table, explain, representatives, summary
from cmeans.inspection.contrast import Contrast


@pytest.fixture(scope="module")
def X():
    rng = np.random.default_rng(0)
    return rng.normal(size=(100, 3)) + np.repeat(
        [[0, 0, 0], [8, 0, 0], [0, 9, 0]], (60, 30, 10), axis=0
    )


@pytest.fixture(scope="module")
def model(X):
    return cmeans.FuzzyCMeans(3, random_state=0).fit(X)


def test_summary(X, model):
    weight = np.random.default_rng(1).integers(1, 4, size=100)
    table = summary(model, X, feature_names=["length", "width", "noise"], sample_weight=weight)
    distances, labels = model.transform(X), model.labels_
    for j in range(3):
        own = labels == j
        assert table["weight"][j] == weight[own].sum()
        assert table["membership"][j] == pytest.approx(
            np.average(model.memberships_[own, j], weights=weight[own])
        )
        assert table["spread"][j] == pytest.approx(
            np.sqrt(np.average(distances[own, j] ** 2, weights=weight[own]))
        )
        apart = [
            np.linalg.norm(model.cluster_centers_[j] - other)
            for k, other in enumerate(model.cluster_centers_)
            if k != j
        ]
        assert table["separation"][j] == pytest.approx(min(apart))
        nearest = np.sort(distances[own], axis=1)
        assert table["silhouette"][j] == pytest.approx(
            np.average(1 - nearest[:, 0] / nearest[:, 1], weights=weight[own])
        )
        assert table["typical"][j].tolist() == model.representatives(3)[j].tolist()
    assert table["share"].sum() == pytest.approx(1)
    named = dict(zip(labels[[0, 60, 90]], ("low", "high length", "high width"), strict=True))
    for j, words in named.items():
        assert table["name"][j].startswith(words)


def named(means):
    """Names of clusters of equal mass with these means in columns a, b, ..., whose deviation is
    1."""
    means = np.array(means, dtype=float)
    rest = (means.sum(axis=0) - means) / (len(means) - 1)
    return Contrast(
        means, rest, means.mean(axis=0), np.ones(means.shape[1]), tuple("abcdef"[: means.shape[1]])
    ).names


def test_clusters_that_would_have_the_same_name():
    assert named([[1, 1, 1, -0.4], [1, 1, 1, 0.4], [-2, -2, -2, 0]]) == [
        "high a, high b, lower d",
        "high a, high b, higher d",
        "low a, low b, low c",
    ]
    assert named([[1], [3], [-4]]) == ["high a", "higher a", "low a"]
    # nothing tells the first two
    assert named([[0.6], [0.6], [-1.2]]) == ["high a", "high a", "low a"]
    assert named([[0.3, 0], [-0.3, 0]]) == ["high a", "low a"]
    assert named([[0.2, 0], [0.2, 0]]) == ["average", "average"]


def test_what_a_model_keeps_of_its_rows(X, model):
    own, told = summary(model), summary(model, X)
    for name in ("weight", "share", "membership", "spread", "separation"):
        np.testing.assert_allclose(own[name], told[name], err_msg=name)
    assert own["typical"].tolist() == told["typical"].tolist()
    with pytest.raises(ValueError, match="keeps no labels"):
        summary(cmeans.FuzzyCMeans(3))


def test_notebooks_show_the_clusters(X, model):
    page = model._repr_html_()
    assert f"<td>{summary(model)['weight'][0]:.0f}</td>" in page
    assert "cmeans-table" not in cmeans.FuzzyCMeans(3)._repr_html_()
    with sklearn.config_context(display="text"), pytest.raises(AttributeError):
        model._repr_html_  # noqa: B018


def test_jupyter_asks_for_the_same_page(model):
    without_numbers = re.compile(r"sk-[\w-]+-id-\d+")
    pages = (model._repr_mimebundle_()["text/html"], model._repr_html_())
    assert len({without_numbers.sub("", page) for page in pages}) == 1
    with sklearn.config_context(display="text"):
        assert model._repr_mimebundle_() == {"text/plain": repr(model)}


@pytest.mark.parametrize("name", every_estimator.EVERY_NAME)
def test_the_page_makes_nothing_and_links_where_there_is_a_documentation(name, X, monkeypatch):
    """scikit-learn lists fitted attributes from 1.9 on, and links them from 1.8 on."""
    model = every_estimator.build(name).fit(X)
    before = set(vars(model))
    assert "documentation.org" not in model._repr_html_()
    project = Message()
    project["Project-URL"] = "Documentation, https://documentation.org/cmeans/"
    monkeypatch.setattr("cmeans.fitting.notebook_page.metadata", lambda _: project)
    page = model._repr_html_()
    assert f"https://documentation.org/cmeans/api/generated/cmeans.{name}.html" in page
    assert vars(model).keys() == before
    if hasattr(model, "_get_fitted_attr_html"):
        fitted = {key for key in before if key[0] != "_" and key.endswith("_")}
        assert fitted <= set(re.findall(r"\w+_\b", page))


def test_weights_are_copies(X, model):
    weight = np.random.default_rng(1).integers(1, 4, size=100)
    one, other = (
        summary(model, X, sample_weight=weight),
        summary(model, np.repeat(X, weight, axis=0)),
    )
    for name in ("weight", "membership", "spread", "silhouette"):
        np.testing.assert_allclose(one[name], other[name])
    assert one["name"].tolist() == other["name"].tolist()


def test_sparse_rows_and_precomputed_kernels(X):
    model = cmeans.KernelKMeans(3, gamma="median", random_state=0).fit(sp.csr_matrix(X))
    dense, sparse = summary(model, X), summary(model, sp.csr_matrix(X))
    np.testing.assert_allclose(dense["spread"], sparse["spread"])
    assert dense["name"].tolist() == sparse["name"].tolist()
    kernel = np.exp(-((X[:, None] - X[None]) ** 2).sum(axis=2))
    known = cmeans.KernelKMeans(3, kernel="precomputed", random_state=0).fit(kernel)
    assert "name" not in summary(known, kernel)
    with pytest.raises(ValueError, match="no columns"):
        explain(known, kernel)


def test_files_and_more_rows_than_are_read(tmp_path, monkeypatch):
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(5000, 2)) + 9 * (np.arange(5000)[:, None] % 2)
    np.save(tmp_path / "rows.npy", rows)
    model = cmeans.KernelKMeans(2, kernel="linear", random_state=0).fit(rows)
    np.testing.assert_allclose(
        summary(model, tmp_path / "rows.npy")["spread"], summary(model, rows)["spread"]
    )
    from cmeans.inspection.rows import inspected

    seen = inspected(model, tmp_path / "rows.npy", "test", most=700)
    assert len(seen.numbers) == 625
    np.testing.assert_array_equal(seen.x, rows[seen.numbers])
    np.testing.assert_array_equal(seen.labels, model.labels_[seen.numbers])


@pytest.mark.parametrize("form", ["array", "csc", "frame"])
def test_clusters_are_explained_by_other_columns_of_the_same_rows(X, model, form):
    counts = np.random.default_rng(2).poisson(1.0 + 9.0 * (model.labels_[:, None] == np.arange(2)))
    names = ["one", "two"]
    if form == "frame":
        values, given = pytest.importorskip("pandas").DataFrame(counts, columns=names), None
    else:
        values, given = (counts if form == "array" else sp.csc_array(counts)), names
    told = explain(model, X, values=values, feature_names=given)
    u = model.memberships_
    for at, (cluster, column) in enumerate(
        zip(told.columns["cluster"], told.columns["column"], strict=True)
    ):
        values_of = counts[:, names.index(column)]
        inside = np.average(values_of, weights=u[:, cluster])
        assert told.columns["inside"][at] == pytest.approx(inside)
        assert told.columns["lift"][at] == pytest.approx(inside / values_of.mean())
    assert told.columns["column"][told.columns["cluster"] == 1][0] == "two"
    assert "two" in told.rules
    assert told.fidelity > 0.9


def test_other_columns_of_a_pipeline_and_of_a_precomputed_kernel(X, model):
    names = ["length", "width", "noise"]
    pipeline = make_pipeline(StandardScaler(), cmeans.KernelKMeans(3)).fit(X)
    told = explain(pipeline, X, values=X[:, ::-1], feature_names=names[::-1])
    same = explain(pipeline, X, feature_names=names)
    assert set(told.columns["column"][:2]) == set(same.columns["column"][:2])
    assert told.fidelity == same.fidelity
    known = cmeans.KernelKMeans(3, kernel="precomputed", random_state=0).fit(X @ X.T)
    assert explain(known, X @ X.T, values=X, feature_names=names).fidelity > 0.9
    with pytest.raises(ValueError, match=r"no columns to explain .* give some as values="):
        explain(known, X @ X.T)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ({"values": np.ones((99, 2))}, r"values=\.\.\.\): its shape is \(99, 2\), and X has 100"),
        ({"values": np.ones(100)}, r"values=\.\.\.\): expected a 2-D array"),
        ({"values": np.ones((100, 2)), "feature_names": ["a"]}, "1 names for 2 columns"),
        ({"values": np.ones((100, 2)), "inverse_transform": abs}, "leave one of them out"),
        ({"values": "counts.npy"}, r"values=\.\.\.\): its shape is \(\)"),
    ],
)
def test_other_columns_that_do_not_fit(X, model, words, message):
    with pytest.raises(ValueError, match=message):
        explain(model, X, **words)


def test_explanation(X, model):
    told = explain(model, X, feature_names=["length", "width", "noise"])
    u = model.memberships_
    for row in range(len(told.columns["cluster"])):
        j, k = (
            told.columns["cluster"][row],
            ["length", "width", "noise"].index(told.columns["column"][row]),
        )
        inside, outside = (
            np.average(X[:, k], weights=u[:, j]),
            np.average(X[:, k], weights=1 - u[:, j]),
        )
        assert told.columns["inside"][row] == pytest.approx(inside)
        assert told.columns["outside"][row] == pytest.approx(outside)
        assert told.columns["difference"][row] == pytest.approx((inside - outside) / X[:, k].std())
    right = told.tree.predict(X) == model.labels_
    assert told.fidelity == pytest.approx(right.mean())
    assert told.fidelity > 0.95
    assert "length" in told.rules
    assert told.between.tolist() == np.flatnonzero(u.max(axis=1) < 0.5).tolist()
    assert "rules that tell" in str(told)


def test_lift_of_counts():
    rng = np.random.default_rng(0)
    counts = rng.poisson([[5, 0.1, 1]] * 50 + [[0.1, 5, 1]] * 50)
    model = cmeans.KernelKMeans(2, kernel="cosine", random_state=0).fit(
        sp.csr_matrix(counts.astype(float))
    )
    told = explain(
        model,
        sp.csr_matrix(counts.astype(float)),
        feature_names=["ball", "vote", "the"],
        n_columns=1,
    )
    for j in range(2):
        own = told.columns["cluster"] == j
        (column,) = [["ball", "vote", "the"].index(name) for name in told.columns["column"][own]]
        expected = counts[model.labels_ == j, column].mean() / counts[:, column].mean()
        assert told.columns["lift"][own][0] == pytest.approx(expected)
    assert set(told.columns["column"]) <= {"ball", "vote"}


def test_noise_is_told():
    rng = np.random.default_rng(0)
    X = np.concatenate(
        [rng.normal(size=(100, 2)), rng.normal(size=(100, 2)) + 30, [[200.0, -200.0]]]
    )
    model = cmeans.AdaptivePossibilisticCMeans((1, 5), random_state=0).fit(X)
    told = explain(model, X)
    assert told.noise.tolist() == np.flatnonzero(model.labels_ < 0).tolist()
    assert 200 in told.noise


HOSTILE = ["<script>alert(1)</script>", "quote\"'&", "line\nbreak \U0001f600", "x" * 10_000]


def test_hostile_names_stay_text():
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(size=(50, 4)), rng.normal(size=(50, 4)) + 5])
    model = cmeans.KernelKMeans(2, kernel="linear", random_state=0).fit(X)
    table = summary(model, X, feature_names=HOSTILE)
    page = table._repr_html_()
    assert "<script>" not in page
    assert "&lt;script&gt;" in page
    assert len(str(table).splitlines()) == 3
    told = explain(model, X, feature_names=HOSTILE)
    assert told.rules
    assert "<script>" not in told._repr_html_()
    assert "&lt;script&gt;" in told._repr_html_()


def test_table():
    table = Table({"a": [1, 2], "b": [0.12345, np.nan]})
    assert str(table).splitlines() == ["a      b", "1  0.123", "2      -"]
    assert dict(table)["a"].tolist() == [1, 2]
    pytest.importorskip("pandas")
    assert table.to_frame()["a"].tolist() == [1, 2]


def test_representatives_as_a_table(X, model):
    table = representatives(
        model,
        X,
        k=2,
        row_names=[f"r{row}" for row in range(len(X))],
        feature_names=["a", "rank", "c"],
    )
    rows = model.representatives(2)
    assert list(table)[:6] == ["cluster", "rank", "row", "name", "membership", "distance"]
    assert table["cluster"].tolist() == [0, 0, 1, 1, 2, 2]
    assert table["rank"].tolist() == [1, 2] * 3
    np.testing.assert_array_equal(table["row"], rows.ravel())
    assert table["name"].tolist() == [f"r{row}" for row in rows.ravel()]
    np.testing.assert_array_equal(
        table["membership"], model.memberships_[table["row"], table["cluster"]]
    )
    np.testing.assert_allclose(
        table["distance"], model.transform(X)[table["row"], table["cluster"]]
    )
    np.testing.assert_array_equal(table["X.rank"], X[table["row"], 1])
    assert list(representatives(model, X)) == ["cluster", "rank", "row", "membership", "distance"]
    frame = table.to_frame()
    assert frame.shape == (6, 9)
    with pytest.raises(ValueError, match="1 names for"):
        representatives(model, X, row_names=["one"])


def test_representatives_of_frames_and_of_small_clusters():
    pd = pytest.importorskip("pandas")
    rows = pd.DataFrame(
        {"size": [0.0, 0.1, 9.0, 9.1, 9.2], "cluster": ["p", "q", "r", "s", None]},
        index=list("vwxyz"),
    )
    codes = make_pipeline(
        make_column_transformer(("passthrough", ["size"])),
        cmeans.KernelKMeans(2, kernel="linear", random_state=0),
    )
    table = representatives(codes.fit(rows), rows, k=4)
    assert table["row"].tolist() == [3, 2, 4, 0, 1]
    assert table["X.cluster"][[0, 1, 3, 4]].tolist() == ["s", "r", "p", "q"]
    assert pd.isna(table["X.cluster"][2])
    assert table["size"].tolist() == [9.1, 9.0, 9.2, 0.0, 0.1]
    assert table["membership"].tolist() == [1.0] * 5
    kernel = np.exp(-((np.arange(6.0)[:, None] - np.arange(6.0)) ** 2))
    made = cmeans.KernelKMeans(2, kernel="precomputed", random_state=0).fit(kernel)
    assert list(representatives(made, kernel, k=1)) == [
        "cluster",
        "rank",
        "row",
        "membership",
        "distance",
    ]


def holds(condition, value):
    """Whether a number is as a condition says, by its words."""
    if np.isnan(value):
        return condition.endswith("(or missing)")
    words = condition.replace(",", "").removesuffix(" (or missing)").split()[1:]
    numbers = [float(word) for word in words if word[-1].isdigit()]
    match [word for word in words if not word[-1].isdigit()]:
        case ["between", "and"]:
            return numbers[0] < value < numbers[1]
        case ["from", "to"]:
            return numbers[0] <= value <= numbers[1]
        case ["is"]:
            return value == numbers[0]
        case other:
            known = {"below": "<", "above": ">", "at most": "<=", "at least": ">="}
            signs = [known[word] for word in " ".join(other).split(" and ")]
            compare = {"<": np.less, ">": np.greater, "<=": np.less_equal, ">=": np.greater_equal}
            return all(compare[sign](value, n) for sign, n in zip(signs, numbers, strict=True))


def labels_by(told, X, names):
    """The cluster of each row, by the rules as they are printed."""
    ends = []
    for row in X:
        [rule] = [
            rule
            for rule in told.short_rules
            if all(holds(one, row[names.index(one.split()[0])]) for one in rule.conditions)
        ]
        ends.append(rule.cluster)
    return np.array(ends)


def test_rules_lead_where_the_tree_does(X):
    model = cmeans.AdaptivePossibilisticCMeans((1, 6), random_state=0).fit(X)
    for fitted in (
        model,
        cmeans.KernelKMeans(4, random_state=0).fit(X),
        cmeans.KernelKMeans(1, kernel="linear").fit(X),
    ):
        told = explain(fitted, X, feature_names=["a", "b", "c"])
        np.testing.assert_array_equal(labels_by(told, X, ["a", "b", "c"]), told.tree.predict(X))
        assert sum(rule.weight for rule in told.short_rules) == len(X)
        right = sum(rule.right * rule.weight for rule in told.short_rules) / len(X)
        assert right == pytest.approx(told.fidelity)
        assert all(str(rule) in told.rules for rule in told.short_rules)


@pytest.mark.parametrize(
    ("values", "threshold"),
    [
        (lambda side: 2005 + side, "at most 2005"),  # years
        # amounts, alike in their first four digits
        (lambda side: 5_432_100 + 20 * side, "below 5,432,110"),
        (lambda side: 1.6e9 + 3600 * side, "below 1,600,002,000"),  # seconds
        (lambda side: 3e-5 + 2e-5 * side, "below 0.00004"),
        # numbers next to each other, nearly
        (lambda side: 1 + 3 * side * np.finfo(np.float32).eps, None),
    ],
)
def test_the_printed_rule_is_the_rule(values, threshold):
    side = np.random.default_rng(0).permutation(np.repeat([0.0, 1.0], [180, 120]))
    X = np.column_stack([values(side), np.zeros(300)])
    fitted = cmeans.KernelKMeans(
        2, kernel="linear", init=np.array([[X[:, 0].min(), 0], [X[:, 0].max(), 0]])
    ).fit(X)
    told = explain(fitted, X, feature_names=["year", "nothing"])
    assert told.fidelity == 1
    assert "rules that tell 100% of the rows rightly" in str(told)
    np.testing.assert_array_equal(labels_by(told, X, ["year", "nothing"]), fitted.labels_)
    np.testing.assert_array_equal(
        labels_by(told, X.astype(np.float32), ["year", "nothing"])[side == 0],
        fitted.labels_[side == 0],
    )
    assert threshold is None or f"year {threshold}" in told.rules


def test_rules_say_where_missing_values_go():
    X = np.random.default_rng(0).normal(size=(90, 2)) + np.repeat(
        [[0, 0], [9, 0], [9, 9]], 30, axis=0
    )
    X[::7, 1] = np.nan
    fitted = cmeans.FuzzyCMeans(3, missing="partial", random_state=0).fit(X)
    told = explain(fitted, X, feature_names=["a", "b"])
    assert "or missing" in told.rules
    np.testing.assert_array_equal(labels_by(told, X, ["a", "b"]), told.tree.predict(X))


def test_all_of_the_rows_are_none_fewer():
    X = (
        np.repeat([[0.0], [9.0]], 1250, axis=0)
        + np.random.default_rng(0).normal(size=(2500, 1)) / 10
    )
    fitted = cmeans.KernelKMeans(2, kernel="linear", random_state=0).fit(X)
    told = explain(fitted, X)
    assert "100% of the rows" in str(told)
    assert "99.96% of the rows" in str(replace(told, fidelity=2499 / 2500))


def test_a_tree_of_rules_is_deep_enough_for_its_clusters():
    """One question tells two clusters apart; for six there are three, whatever is asked for."""
    rng = np.random.default_rng(0)
    # of sizes that differ so much that the best question splits off the largest
    places = np.repeat(np.arange(6.0), [96, 48, 24, 12, 6, 3])
    rows = places[:, None] * 50 + rng.normal(size=(len(places), 1))
    init = 50 * np.arange(6.0)[:, None]
    model = cmeans.KernelKMeans(6, kernel="linear", init=init).fit(rows)
    depths = [explain(model, rows, max_depth=most).tree.get_depth() for most in (1, 3, 5)]
    assert depths == [3, 3, 5]
