"""Cells that lie far from all others of their column, in what describes clusters."""

import numpy as np
import pytest

from browser import browsing, needs_browser
from cmeans import FuzzyCMeans, KernelKMeans
from cmeans.inspection import CentresDisplay, explain, explore, summary
from cmeans.inspection.contrast import contrast_of
from cmeans.inspection.far_cells import far_cells
from cmeans.inspection.report import report
from cmeans.inspection.rows import inspected
from inspection.page_record import Record

SLIP = 9_999_999.0


@pytest.fixture(scope="module")
def groups():
    return np.arange(600) % 3


@pytest.fixture(scope="module")
def x(groups):
    """Rows of three groups: ages, and amounts of which a few are slips."""
    rng = np.random.default_rng(0)
    age = np.array([25.0, 45.0, 65.0])[groups] + rng.normal(0, 4, 600)
    amount = np.array([300.0, 300.0, 900.0])[groups] + rng.normal(0, 50, 600)
    amount[[4, 10, 301, 7]] = SLIP  # of the second group
    return np.c_[age, amount]


@pytest.fixture(scope="module")
def model(x):
    return FuzzyCMeans(3, m=1.2, random_state=0).fit(x[:, :1])


def test_means_leave_slips_out(x, model, groups):
    told = explain(model, x[:, :1], values=x, feature_names=["age", "amount"])
    u, slips = model.memberships_, x[:, 1] == SLIP
    for cluster in range(3):
        at = np.flatnonzero(told.columns["cluster"] == cluster)
        at = at[told.columns["column"][at] == "amount"][0]
        w = u[~slips, cluster]
        mean = (w * x[~slips, 1]).sum() / w.sum()
        rest = ((1 - w) * x[~slips, 1]).sum() / (1 - w).sum()
        assert told.columns["inside"][at] == pytest.approx(mean)
        assert told.columns["outside"][at] == pytest.approx(rest)
        deviation = x[~slips, 1].std()
        assert told.columns["difference"][at] == pytest.approx((mean - rest) / deviation)
    oldest = int(model.labels_[groups == 2][0])
    middle = int(model.labels_[groups == 1][0])
    names = contrast_of(inspected(model, x[:, :1], "test", values=x), ("age", "amount")).names
    assert "high amount" in names[oldest]
    assert "amount" not in names[middle].replace("low amount", "")
    assert "10,000,000" not in str(told)


@pytest.mark.parametrize("rest", [2, 1], ids=["three clusters", "two"])
def test_a_cluster_of_slips_is_told_by_them(x, rest):
    slips = x[:, 1] == SLIP
    start = np.array([[45.0, SLIP], [25.0, 300.0], [65.0, 900.0]])[: rest + 1]
    model = KernelKMeans(rest + 1, kernel="linear", init=start).fit(x)
    assert (model.labels_ == 0).tolist() == slips.tolist()
    told = explain(model, x, feature_names=["age", "amount"])
    at = np.flatnonzero(told.columns["column"] == "amount")
    usual = x[~slips, 1].mean()
    assert told.columns["inside"][at[0]] == SLIP
    assert told.columns["outside"][at[0]] == pytest.approx(usual)
    if rest == 1:  # all that is not in the second is the first
        assert told.columns["inside"][at[1]] == pytest.approx(usual)
        assert told.columns["outside"][at[1]] == SLIP
    assert "high amount" in summary(model, x, feature_names=["age", "amount"])["name"][0]


def test_colours_end_at_three_deviations(x):
    pytest.importorskip("matplotlib")
    start = np.array([[45.0, SLIP], [25.0, 300.0], [65.0, 900.0]])
    model = KernelKMeans(3, kernel="linear", init=start).fit(x)
    display = CentresDisplay.from_estimator(model, x)
    assert display.values.max() > 1_000
    assert display.image_.get_clim() == (-3.0, 3.0)


def test_usual_columns_have_none():
    rng = np.random.default_rng(1)
    n = 3_000
    amounts = np.exp(rng.normal(5, 1.2, n))
    columns = [
        rng.normal(size=n),
        amounts,
        np.where(rng.random(n) < 0.02, amounts, 0.0),  # rare amounts
        (rng.random(n) < 0.01).astype(float),  # rare ones
        np.where(rng.random(n) < 0.1, rng.integers(1, 6, n), 0).astype(float),
        np.where(np.arange(n) < 30, 20.0, 0.0) + rng.normal(size=n),  # a small group, not so far
        np.full(n, 7.0),
        np.full(n, np.nan),
    ]
    assert far_cells(np.stack(columns, axis=1), np.ones(n)) == {}


def test_slips_among_zeros_holes_and_rows_without_weight():
    rng = np.random.default_rng(2)
    counts = np.where(rng.random(500) < 0.2, rng.integers(1, 6, 500), 0).astype(float)
    counts[[3, 490]], counts[100:120] = [SLIP, -999.0], np.nan
    weight = np.ones(500)
    found = far_cells(counts[:, None], weight)
    assert np.flatnonzero(found[0]).tolist() == [3, 490]
    counts[3] = 1e200
    assert np.flatnonzero(far_cells(counts[:, None], weight)[0]).tolist() == [3, 490]
    weight[[3, 490]] = 0  # rows that are not there
    assert far_cells(counts[:, None], weight) == {}


def test_the_page_says_so_and_keeps_its_scale(x, tmp_path):
    pytest.importorskip("jinja2")
    model = KernelKMeans(3, kernel="linear", random_state=0).fit(x[:, :1])
    seen = np.c_[x[:, :1], x]
    model = KernelKMeans(3, kernel="linear", init=model.cluster_centers_ @ np.ones((1, 3)))
    model.fit(np.clip(seen, 0, 2_000))
    text = report(model, seen, tmp_path / "page.html").read_text()
    record = Record(text)
    assert (
        "column 2: 4 cells (9,999,999) lie far from all others; means are those of the others, but "
        "for clusters most of whose cells are so far."
    ) in text
    (column,) = (one for one in record.facts["columns"] if one["name"] == "column 2")
    assert column["far"] == [[4, SLIP], [7, SLIP], [10, SLIP], [301, SLIP]]
    drawn = record.columns()["column 2"]
    assert np.isnan(drawn[[4, 7, 10, 301]]).all()
    np.testing.assert_allclose(drawn[:4], seen[:4, 2], atol=0.02)
    plane = record.facts["planes"][0]
    assert plane["far"] == 4
    assert np.ptp(plane["window"][0]) < 5_000


@pytest.mark.slow
@needs_browser
def test_pictures_and_histograms_end_where_usual_cells_do(x, tmp_path):
    pytest.importorskip("jinja2")
    model = KernelKMeans(2, kernel="linear", random_state=0).fit(np.clip(x, 0, 900))
    labels, usual = model.predict(x), x[:, 1] != SLIP
    explore(model, x, tmp_path / "page.html", n_clusters=[2])
    with browsing(tmp_path) as page:
        page.open(tmp_path / "page.html", 1000)
        while page.value("document.documentElement.dataset.ready") != "yes":
            pass
        note = "document.getElementById('picture-note').textContent"
        assert "4 rows lie outside this picture, far from all others." in page.value(note)
        select = "(s => { s.value = %r; s.dispatchEvent(new Event('change')); })"
        page.value(f"{select % '1'}(document.getElementById('plane'))")
        assert "4 rows lie outside this picture" in page.value(note)
        ends = "[...document.querySelectorAll('.histogram')].map(one => one.innerText)"
        told = [text for text in page.value(ends) if text.startswith("column 1")]
        assert len(told) == 2
        assert all("few to 10,000,000" in text for text in told)
        means = [x[usual & (labels == j), 1].mean() for j in range(2)]
        shown = [float(text.split()[2].replace(",", "")) for text in told]
        np.testing.assert_allclose(shown, means, rtol=0.01)
        assert not page.wrong


@pytest.mark.parametrize("count", [20, 40])
def test_a_picture_leaves_few_rows_outside(count, tmp_path):
    pytest.importorskip("jinja2")
    rows = np.random.default_rng(0).normal(size=(3_000, 2))
    rows[:count] += 1_000
    text = report(KernelKMeans(2, kernel="linear").fit(rows), rows, tmp_path / "page.html")
    plane = Record(text.read_text()).facts["planes"][0]
    assert plane["far"] == (count if count == 20 else 0)
    assert (plane["window"] is None) == (count == 40)
