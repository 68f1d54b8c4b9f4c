"""`explore`: the record of facts in a page, its partitions, its words, and what it refuses."""

import html
import re

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import cmeans
from cmeans.inspection import explore, read_state
from cmeans.inspection.page import record
from cmeans.inspection.page.packing import packed_numbers
from cmeans.inspection.page.terms import terms_of
from inspection.page_record import Record

pytest.importorskip("jinja2")

IDS = ["00123", "1610521604143693812", "1610521604143693813", "=1+1", "-2.5", "\t=1", "NA", ""]


@pytest.fixture(scope="module")
def X():
    rng = np.random.default_rng(0)
    return rng.normal(size=(90, 3)) + np.repeat([[0, 0, 0], [9, 0, 0], [0, 9, 0]], 30, axis=0)


@pytest.fixture(scope="module")
def model(X):
    return cmeans.FuzzyCMeans(3, random_state=0).fit(X)


def record_of(page):
    return Record(page._text)


def test_rows_ids_and_values_come_to_the_letter(X, model):
    ids = [*IDS, *map(str, range(82))]
    found = record_of(explore(model, X, ids=ids, n_clusters=()))
    assert found.ids() == ids
    assert found.labels().tolist() == model.labels_.tolist()
    np.testing.assert_allclose(found.memberships(), model.memberships_.max(axis=1), atol=0.002)
    for name, values in found.columns().items():
        exact = X[:, int(name.removeprefix("column "))]
        np.testing.assert_allclose(values, exact, atol=np.ptp(exact) / 65534)


def test_whole_numbers_are_exact_and_take_a_byte_where_they_can():
    few, many = np.array([5.0, 200.0, np.nan]), np.array([-3.0, 60_000.0, np.inf])
    for values, bits in ((few, 8), (many, 16)):
        packed = packed_numbers(values)
        assert (packed["bits"], packed["low"], packed["step"]) == (bits, values[0], 1.0)


def test_rows_without_a_place_stay_in_all_else(X, model):
    places = np.random.default_rng(1).normal(size=(90, 2)).astype(np.float16)
    places[[3, 4, 5], [0, 1, 0]] = np.nan, np.inf, np.nan
    holes = X.copy()
    holes[::10, 2] = np.nan
    mixed = cmeans.FuzzyCMeans(3, missing="partial", random_state=0).fit(holes)
    found = record_of(explore(mixed, holes, coordinates=places, n_clusters=()))  # JSON without NaN
    own = found.plane(1)
    assert np.flatnonzero(np.isnan(own).any(axis=1)).tolist() == [3, 4, 5]
    assert found.facts["count"] == sum(card["size"] for card in found.partition()["cards"]) == 90
    assert np.isnan(found.columns()["column 2"]).sum() == 9


def test_other_numbers_of_clusters_are_fits_with_these_numbers(X, model):
    found = explore(model, X, n_clusters=[2, 3, 4])
    assert list(found.partitions) == ["2", "own", "4"]
    for number in (2, 4):
        again = clone(model).set_params(n_clusters=number).fit(X)
        assert found.partitions[str(number)].tolist() == again.labels_.tolist()
    points = record_of(found).facts["evidence"]["points"]
    assert [point["clusters"] for point in points] == [2, 3, 4]
    assert max(points, key=lambda point: point["value"])["clusters"] == 3


def test_a_cluster_keeps_its_colour_while_others_divide(X, model):
    facts = record_of(explore(model, X, n_clusters=[2, 4])).facts
    two, own, four = (one["colours"] for one in facts["partitions"])
    assert own == [0, 1, 2]
    assert set(two) < {0, 1, 2} < set(four)


def test_mixtures_have_their_bic_and_pieces_their_costs(X):
    mixture = cmeans.GaussianMixture(3, random_state=0).fit(X)
    facts = record_of(explore(mixture, X, n_clusters=[2])).facts
    quick = clone(mixture).set_params(tol=1e-3, max_iter=50).fit(X)  # as the others are fitted
    assert facts["evidence"]["points"][1]["value"] == pytest.approx(quick.bic(X))
    pieces = cmeans.ConnectivityClustering().fit(X)
    page = explore(pieces, X, n_clusters=[2, 5])
    assert page.partitions["5"].tolist() == pieces.partition(5).tolist()
    points = record_of(page).facts["evidence"]["points"]
    costs = [pieces.cost_curve_[point["clusters"] - 1] for point in points if point["value"]]
    assert [point["value"] for point in points if point["value"]] == pytest.approx(costs)


def test_communities_have_their_layers(X):
    model = cmeans.ModularityClustering().fit(X)
    page = explore(model, X)
    layers = {tuple(labels) for labels in map(np.ndarray.tolist, model.cluster_layers_)}
    shown = {tuple(labels.tolist()) for labels in page.partitions.values()}
    assert layers <= shown


def test_a_choice_has_its_candidates_side_by_side(X):
    model = cmeans.AutoClustering(candidates=["plain", "pieces"]).fit(X)
    page = explore(model, X, n_clusters=())
    other = {"plain": "pieces", "pieces": "plain"}[model.evidence_.space]
    assert {"own", f"{other}-3-clusters"} == set(page.partitions)
    assert model.evidence_.reason in html.unescape(page._text)


def test_rows_alone_and_evidence_are_clustered_first(X):
    page = cmeans.explore(X, n_clusters=())
    model = cmeans.cluster(X)
    assert page.labels().tolist() == model.labels_.tolist()
    same = cmeans.explore(model.evidence_, X, n_clusters=())
    assert {key: labels.tolist() for key, labels in same.partitions.items()} == {
        key: labels.tolist() for key, labels in page.partitions.items()
    }
    assert cmeans.explore(model, X, n_clusters=()).partitions.keys() == page.partitions.keys()
    for alone in (model, [model], {"a": model}, model.evidence_):
        with pytest.raises(ValueError, match=r"X is None; .*cmeans.explore\(X\) makes a page"):
            cmeans.explore(alone)


def test_a_selection_stands_with_its_table(X):
    found = cmeans.select(cmeans.FuzzyCMeans(), X, range(2, 4), n_bootstrap=0, random_state=0)
    text = explore(found, X, n_clusters=())._text
    assert html.unescape(text).count(found.reason) == 1


def test_two_models_and_two_months(X, model):
    page = explore({"soft": model, "hard": cmeans.KernelKMeans(2, random_state=0).fit(X)}, X)
    names = [one["name"] for one in record_of(page).facts["partitions"]]
    assert {"soft: 3 clusters", "hard: 2 clusters"} <= set(names)
    page = explore(model, X, against=X[:60], n_clusters=())
    facts = record_of(page).facts
    assert (facts["count"], facts["sets"]) == (150, ["X", "The other rows"])
    assert sorted(card["shares"] for card in record_of(page).partition()["cards"]) == [
        "33%, then 0%",
        "33%, then 50%",
        "33%, then 50%",
    ]


def test_a_sample_without_rows_of_the_other_set(X, model):
    page = explore(model, X, against=X[:1], max_rows=5, n_clusters=())
    shares = [card["shares"] for card in record_of(page).partition()["cards"]]
    assert all(one.endswith("%, then none shown") for one in shares)


def test_sentences_say_how_many_times_and_what_share():
    rng = np.random.default_rng(0)
    group = np.repeat([0, 1], [500, 100])
    frame = pd.DataFrame(
        {
            "spend": np.where(group, 6000.0, 100.0) + rng.normal(size=600),
            "plan": np.where(rng.random(600) < np.where(group, 0.73, 0.04), "premium", "basic"),
            "age": rng.normal(40, 5, 600),
        }
    )
    from sklearn.compose import ColumnTransformer
    from sklearn.preprocessing import OneHotEncoder

    first = ColumnTransformer(
        [("spend", StandardScaler(), ["spend"]), ("plan", OneHotEncoder(), ["plan"])]
    )
    model = make_pipeline(first, cmeans.KernelKMeans(2, kernel="linear", random_state=0)).fit(frame)
    cards = record_of(explore(model, frame, n_clusters=())).partition()["cards"]
    small = min(cards, key=lambda card: card["size"])["sentences"]
    share = (frame["plan"][group == 1] == "premium").mean()
    assert f"{share:.0%} plan=premium (elsewhere" in " ".join(small)
    assert "spend 5.5 times the average (6,000, elsewhere 100)" in small


def test_terms_are_the_words_of_one_cluster():
    texts = ["the cat sat", "the cat ran", "a stock fell", "the stock rose"] * 5
    found = terms_of(texts, np.tile([0, 0, 1, 1], 5), 2)
    assert (found[0][0], found[1][0]) == ("cat", "stock")
    assert terms_of(["", "1 2"], np.array([0, 1]), 2) == [[], []]


def test_texts_stand_with_typical_rows(X, model):
    texts = [f"text number {number}" for number in range(90)]
    card = record_of(explore(model, X, texts=texts, n_clusters=())).partition()["cards"][0]
    assert card["texts"] == [texts[row] for row in card["typical"]]


def test_of_many_rows_ten_columns_are_kept_in_a_byte_each(monkeypatch):
    monkeypatch.setattr(record, "FINE", 1000)
    X = np.random.default_rng(0).normal(size=(200, 15))
    X[:100, 12] += 9
    model = cmeans.KernelKMeans(2, kernel="linear", random_state=0).fit(X)
    columns = record_of(explore(model, X, n_clusters=())).facts["columns"]
    assert (len(columns), columns[0]["name"]) == (10, "column 12")
    assert {column["values"]["bits"] for column in columns} == {8}


def test_more_rows_than_a_page_holds_are_evenly_spaced(X, model):
    page = explore(model, X, max_rows=45, n_clusters=())
    assert page.numbers.tolist() == list(range(0, 90, 2))
    assert record_of(page).facts["step"] == 2
    assert "This page looks at 45 of them" in page._text


def test_a_notebook_shows_the_page_as_one_attribute(X, model):
    shown = explore(model, X, title='a"b', n_clusters=())._repr_html_()
    inner = re.fullmatch(r'<iframe srcdoc="([^"]*)" [^<]*></iframe>', shown)[1]
    assert html.unescape(inner).startswith("<!doctype html>")
    assert "sandbox" in shown


def test_the_script_alone_may_run(X, model):
    text = explore(model, X, n_clusters=())._text
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', text)[1]
    assert "default-src 'none'" in policy
    assert re.search(r"script-src &#39;sha256-|script-src 'sha256-", policy)
    assert not re.search(r"\son\w+=", re.sub(r"<script.*?</script>", "", text, flags=re.DOTALL))


def test_the_state_of_a_page_comes_back(X, model, tmp_path):
    page = explore(model, X, tmp_path / "page.html", n_clusters=[2])
    assert page.path == tmp_path / "page.html"
    text = "file:///page.html#view=2&name.2.1=Gro%C3%9Fe+%26+%3Cb%3E&least=40&hidden=-1+0"
    state = page.state(text)
    assert state.names == {1: "Große & <b>"}
    assert (state.view, state.threshold, state.hidden) == ("2", 0.4, (-1, 0))
    assert page.labels(text).tolist() == page.partitions["2"].tolist()
    assert page.state("").view == "own"
    assert read_state("least=x&name.own.=a").names == {}
    with pytest.raises(ValueError, match=r"no view '7'; its views are '2', 'own'"):
        page.state("view=7")


def test_bad_input(X, model, tmp_path):
    for words, match in (
        ({"theme": "pink"}, "theme"),
        ({"ids": ["one"]}, r"explore\(ids=...\): 1 for 90 rows"),
        ({"texts": ["one"]}, r"explore\(texts=...\): 1 for 90 rows"),
        ({"coordinates": X}, r"has shape \(90, 3\); give \(90, 2\)"),
        ({"path": tmp_path / "page.pdf"}, "give a file that ends in .html"),
    ):
        with pytest.raises(ValueError, match=match):
            explore(model, X, n_clusters=(), **words)
    assert not list(tmp_path.iterdir())
