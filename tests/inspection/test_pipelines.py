"""Pipelines in pictures, tables and pages: clusters of the last step, columns as they go in."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.compose import ColumnTransformer, make_column_transformer
from sklearn.decomposition import PCA
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler, OneHotEncoder, StandardScaler

import cmeans
from cmeans.inspection import explain, report, summary
from cmeans.inspection.rows import inspected

rng = np.random.default_rng(0)
GROUP = np.arange(90) % 3
X = rng.normal(size=(90, 4)) * [1, 10, 100, 1] + GROUP[:, None] * [8, 0, 900, 0]
FRAME = pd.DataFrame(
    {
        "age": X[:, 0],
        "city": np.array(["Rome", "Köln", None], dtype=object)[GROUP],
        "pay": X[:, 2],
        "key": [f"k{i}" for i in range(90)],
    }
)


def fitted(*steps, rows):
    return make_pipeline(*steps, cmeans.FuzzyCMeans(3, random_state=0)).fit(rows)


def test_means_are_in_units_of_what_goes_in():
    pipeline = fitted(StandardScaler(), PCA(2), rows=X)
    model, inner = pipeline[-1], pipeline[:-1].transform(X)
    seen, plain = inspected(pipeline, X, "test"), inspected(model, inner, "test")
    assert seen.model is model
    np.testing.assert_array_equal(seen.x, X)
    for name in ("labels", "memberships", "distances", "weight", "numbers"):
        np.testing.assert_array_equal(getattr(seen, name), getattr(plain, name))
    told, table = explain(pipeline, X, feature_names=list("abcd")), summary(pipeline, X)
    share = model.memberships_[:, 0]
    at = next(
        k
        for k, place in enumerate(zip(told.columns["cluster"], told.columns["column"], strict=True))
        if place == (0, "c")
    )
    assert told.columns["inside"][at] == pytest.approx(share @ X[:, 2] / share.sum())
    np.testing.assert_array_equal(table["typical"], model.representatives(3))
    assert summary(pipeline)["weight"].tolist() == np.bincount(model.labels_).tolist()


def test_columns_of_frames():
    number = make_pipeline(SimpleImputer(), StandardScaler())
    columns = ColumnTransformer(
        [
            ("number", number, ["pay", "age"]),
            ("text", OneHotEncoder(), ["city"]),
            ("no", "drop", ["key"]),
        ]
    )
    gaps = FRAME.assign(age=np.where(np.arange(90) == 5, np.nan, FRAME["age"]))
    seen = inspected(fitted(columns, rows=gaps), gaps, "test")
    assert seen.feature_names == ("age", "city=Köln", "city=Rome", "city=missing", "pay")
    np.testing.assert_array_equal(seen.x[:, 4], FRAME["pay"])
    assert seen.x[5, 0] == pytest.approx(np.delete(FRAME["age"].to_numpy(), 5).mean())
    np.testing.assert_array_equal(seen.x[:, 3], GROUP == 2)
    between = ColumnTransformer(
        [("some", OneHotEncoder(), slice("age", "city")), ("no", "drop", "key")]
    )
    assert inspected(fitted(between, rows=gaps), gaps, "test").feature_names == (
        "age",
        "city=Köln",
        "city=Rome",
        "city=missing",
    )
    by_number = make_column_transformer(
        (StandardScaler(), slice(0, 2)), (StandardScaler(), [False, False, False, True])
    )
    assert inspected(fitted(by_number, rows=X), X, "test").feature_names == (
        "column 0",
        "column 1",
        "column 3",
    )


def test_sparse_rows_and_samples():
    rows = sparse.csr_array(np.abs(X.round()))
    pipeline = fitted(MaxAbsScaler(), rows=rows)
    seen = inspected(pipeline, rows, "test", most=40)
    assert len(seen.numbers) == 30
    np.testing.assert_array_equal(seen.x.toarray(), rows.toarray()[::3])


def test_pages(tmp_path):
    pytest.importorskip("jinja2")
    columns = make_column_transformer(
        (StandardScaler(), ["age", "pay"]), (OneHotEncoder(), ["city"])
    )
    pipeline = fitted(columns, rows=FRAME)
    text = report(pipeline, FRAME, tmp_path / "page.html", row_names=FRAME["key"]).read_text(
        encoding="utf-8"
    )
    assert "city=Köln" in text
    assert f"{FRAME['pay'][pipeline[-1].labels_ == 0].mean():.3g}"[:2] in text
    assert "from sklearn.pipeline import make_pipeline" in text
    assert "FuzzyCMeans(n_clusters=3, random_state=0)).fit(X)" in text
    with pytest.raises(ValueError, match=r"inverse_transform.*columns that go in"):
        report(pipeline, FRAME, tmp_path / "other.html", inverse_transform=abs)


@pytest.mark.parametrize(
    "name",
    ["ScatterDisplay", "MembershipDisplay", "SizesDisplay", "SilhouetteDisplay", "CentresDisplay"],
)
def test_pictures(name):
    pytest.importorskip("matplotlib").use("agg")
    display = getattr(cmeans.inspection, name).from_estimator(fitted(StandardScaler(), rows=X), X)
    assert display.ax_ is not None


def test_tendency_is_that_of_the_rows_of_the_model():
    pytest.importorskip("matplotlib").use("agg")
    pipeline = fitted(StandardScaler(), rows=X)
    one = cmeans.inspection.TendencyDisplay.from_estimator(pipeline, X)
    other = cmeans.inspection.TendencyDisplay.from_estimator(
        pipeline[-1], StandardScaler().fit_transform(X)
    )
    np.testing.assert_array_equal(one.image_.get_array(), other.image_.get_array())
    assert len(cmeans.inspection.overview(pipeline, X).axes) >= 4
