"""Pipelines in files: the same bits after reading, refusals that name the step, and nothing a file
says can act."""

from __future__ import annotations

import itertools
import warnings

import numpy as np
import pytest
from scipy import sparse
from sklearn.cluster import KMeans
from sklearn.compose import ColumnTransformer
from sklearn.decomposition import PCA
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    MaxAbsScaler,
    MinMaxScaler,
    OneHotEncoder,
    RobustScaler,
    StandardScaler,
)

from cmeans import FuzzyCMeans, KernelKMeans, LandmarkGraph, load, save
from cmeans.persistence.model_file import read_metadata
from damage import changed_by_hand, flipped, truncated
from forged import forge, parts_of

pd = pytest.importorskip("pandas")

rng = np.random.default_rng(0)
X = rng.normal(size=(60, 4)) + np.repeat([[0, 0, 0, 0], [6, 0, 0, 0], [0, 6, 0, 0]], 20, axis=0)
NEW = rng.normal(size=(25, 4)) * 4

ON_NUMBERS = {
    "standard": StandardScaler(),
    "centred": StandardScaler(with_std=False),
    "scaled": StandardScaler(with_mean=False),
    "neither": StandardScaler(with_mean=False, with_std=False),
    "unit": MinMaxScaler((1, 2), clip=True),
    "largest": MaxAbsScaler(),
    "robust": RobustScaler(quantile_range=(10.0, 90.0)),
    "no centre": RobustScaler(with_centering=False),
    "passthrough": "passthrough",
}
ON_SPARSE = ("scaled", "neither", "largest")
FORMS = {
    "float64": np.asarray,
    "float32": np.float32,
    "frame": lambda x: pd.DataFrame(x, columns=["a", "b", "c", "ü d"]),
}


@pytest.fixture
def path(tmp_path):
    return tmp_path / "model.safetensors"


def of(*steps, model=None):
    return make_pipeline(
        *steps, FuzzyCMeans(3, m=1.5, search=None, random_state=0) if model is None else model
    )


def bits(rows):
    dense = rows.toarray() if sparse.issparse(rows) else np.asarray(rows)
    return type(rows), dense.dtype, dense.tolist() if dense.dtype == object else dense.tobytes()


def same_after_reading(made, path, rows, new):
    save(made, path)
    again = load(path)
    assert [name for name, _ in again.steps] == [
        name for name, tool in made.steps if tool != "passthrough"
    ]
    for part in (new, rows[::2]):
        if len(again.steps) > 1:
            assert bits(again[:-1].transform(part)) == bits(made[:-1].transform(part))
            assert (
                again[:-1].get_feature_names_out().tolist()
                == made[:-1].get_feature_names_out().tolist()
            )
        np.testing.assert_array_equal(again.predict(part), made.predict(part))
        np.testing.assert_array_equal(again.predict_proba(part), made.predict_proba(part))
    # parameters have come back too
    np.testing.assert_array_equal(again.fit_predict(rows), made.fit_predict(rows))
    return again


# ----------------------------------------------------------------------------------- there and back


@pytest.mark.parametrize(("tool", "form"), itertools.product(ON_NUMBERS, FORMS))
def test_transformers_of_numbers(tool, form, path):
    made = of(ON_NUMBERS[tool]).fit(FORMS[form](X))
    again = same_after_reading(made, path, FORMS[form](X), FORMS[form](NEW))
    assert getattr(again, "feature_names_in_", np.array([])).tolist() == (
        ["a", "b", "c", "ü d"] if form == "frame" else []
    )


@pytest.mark.parametrize("tool", ON_SPARSE)
def test_sparse_rows(tool, path):
    rows = sparse.csr_array(X.round())
    same_after_reading(of(ON_NUMBERS[tool]).fit(rows), path, rows, sparse.csr_array(NEW.round()))


def test_frames_between_steps(path):
    made = (
        of(StandardScaler(), MinMaxScaler()).set_output(transform="pandas").fit(FORMS["frame"](X))
    )
    again = same_after_reading(made, path, FORMS["frame"](X), FORMS["frame"](NEW))
    assert again[:-1].transform(FORMS["frame"](NEW)).columns.tolist() == ["a", "b", "c", "ü d"]


def test_missing_values_are_counted_by_column(path):
    rows = X.copy()
    rows[::7, 1] = np.nan
    made = make_pipeline(
        StandardScaler(), FuzzyCMeans(3, kernel="linear", missing="partial", random_state=0)
    ).fit(rows)
    save(made, path)
    assert load(path)[0].n_samples_seen_.tolist() == made[0].n_samples_seen_.tolist()
    np.testing.assert_array_equal(load(path).predict(rows), made.predict(rows))


def test_other_models_as_last_step(path):
    for model in (
        KernelKMeans(3, kernel="landmark_graph", random_state=0),
        FuzzyCMeans(3, kernel="rbf", landmarks=9, random_state=0),
    ):
        made = of(StandardScaler(), model=model).fit(X)
        save(made, path, rows=False)
        np.testing.assert_array_equal(load(path).predict(NEW), made.predict(NEW))
        assert not hasattr(load(path)[-1], "labels_")
    graph = make_pipeline(StandardScaler(), LandmarkGraph(2, landmarks=20, random_state=0)).fit(X)
    save(graph, path)
    np.testing.assert_array_equal(load(path).transform(NEW), graph.transform(NEW))


def test_what_a_file_says_of_its_steps(path):
    save(of(StandardScaler(), MaxAbsScaler()).fit(X), path, metadata={"a": 1})
    said = read_metadata(path)
    assert said["steps"] == ["standardscaler: StandardScaler", "maxabsscaler: MaxAbsScaler"]
    assert (said["estimator"], said["metadata"]) == ("FuzzyCMeans", {"a": 1})
    save(FuzzyCMeans(3, random_state=0).fit(X), path)
    assert "steps" not in read_metadata(path)


# ----------------------------------------------------------------------------------------- refusals


class Mine(StandardScaler):
    pass


@pytest.mark.parametrize(
    ("tool", "match"),
    [
        (
            FunctionTransformer(np.abs),
            r"step 'tool', a FunctionTransformer, cannot be carried: of functions numpy's log, .* "
            r"alone; skops",
        ),
        (PCA(2), r"step 'tool' is a PCA; a model file carries"),
        (OneHotEncoder(handle_unknown="ignore"), "step 'tool' is an OneHotEncoder"),
        (Mine(), "step 'tool' is a Mine"),
        (ColumnTransformer([("in", StandardScaler(), [0])]), "step 'tool' is a ColumnTransformer"),
        (make_pipeline(StandardScaler()), "step 'tool' is a Pipeline"),
    ],
)
def test_steps_that_cannot_be_carried(tool, match, path):
    made = Pipeline([("tool", tool), ("model", FuzzyCMeans(3, random_state=0))]).fit(X.round())
    with pytest.raises(ValueError, match=match):
        save(made, path)
    assert not list(path.parent.iterdir())


def test_last_steps_and_fits(path):
    with pytest.raises(
        ValueError, match=r"the last step, 'kmeans', .*KMeans.* is not one of the library's"
    ):
        save(make_pipeline(StandardScaler(), KMeans(2, n_init=1)).fit(X), path)
    with pytest.raises(NotFittedError):
        save(of(StandardScaler()), path)
    with pytest.raises(
        ValueError, match=r"step 'standardscaler', a StandardScaler, cannot be carried"
    ):
        save(make_pipeline(StandardScaler(), FuzzyCMeans(3, random_state=0).fit(X)), path)


# ------------------------------------------------------------------------ damaged and hostile files


@pytest.fixture(scope="module")
def originals(tmp_path_factory):
    """Pipelines as bytes, and rows to ask them about."""
    path, found = tmp_path_factory.mktemp("originals") / "model", {}
    for name, made, rows in (
        ("numbers", of(StandardScaler(), MinMaxScaler((1, 2)), RobustScaler()).fit(X), X),
        (
            "frame",
            of(MaxAbsScaler()).set_output(transform="pandas").fit(FORMS["frame"](X)),
            FORMS["frame"](X),
        ),
    ):
        save(made, path)
        found[name] = (path.read_bytes(), rows)
    return found


def harmless(path, rows):
    """Loading raises ValueError, or gives a model that predicts, or says with a ValueError why not;
    True if it loads."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # scikit-learn's, of numbers that no fit gives
        try:
            model = load(path)
        except ValueError:
            return False
        try:
            answer = model.predict_proba(rows)
        except ValueError:
            return True
    assert np.isfinite(answer).all()
    return True


@pytest.mark.parametrize("damage", [truncated, flipped, changed_by_hand])
@pytest.mark.parametrize("name", ["numbers", "frame"])
def test_damaged_files(name, damage, originals, path, tmp_path):
    data, rows = originals[name]
    for _, changed in damage(data, tmp_path / "scratch"):
        path.write_bytes(changed)
        harmless(path, rows)


def rewritten(data, path, change):
    header, arrays = parts_of(data)
    change(header, arrays)
    forge(path, header, arrays)


def first(header):
    return header["steps"]["before"][0][1]


CHANGES = [
    lambda h, _: first(h).update({"class": "os.system"}),
    lambda h, _: first(h).update({"class": "FunctionTransformer"}),
    lambda h, _: first(h).update({"class": ["StandardScaler"]}),
    lambda h, _: first(h)["params"].update({"with_mean": "perhaps"}),
    lambda h, _: first(h)["params"].update({"n_jobs": 1000}),
    lambda h, _: first(h)["params"].update({"no_such": 1}),
    lambda h, _: h["steps"]["before"][1][1]["params"].update({"feature_range": "x"}),
    lambda h, _: first(h)["params"].update({"copy": {"$object": "os.system"}}),
    lambda h, _: first(h)["fitted"].update({"transform": 1}),
    lambda h, _: first(h)["fitted"].update({"__class__": 1}),
    lambda h, _: first(h)["fitted"].update({"scale_": None}),
    lambda h, _: first(h)["fitted"].update({"mean_": {"$list": [1.0, 2.0, 3.0, 4.0]}}),
    lambda h, _: first(h)["fitted"].pop("var_"),
    lambda h, _: first(h).update({"features": 3}),
    lambda h, _: first(h).update({"features": 10**15}),
    lambda h, _: first(h).update({"features": True}),
    lambda h, _: first(h).update({"names": ["a"]}),
    lambda h, _: first(h).update({"names": [1, 2, 3, 4]}),
    lambda h, _: first(h).update({"output": "excel"}),
    lambda _, a: a.update({"steps.standardscaler.scale_": np.full(4, np.nan)}),
    lambda _, a: a.update({"steps.standardscaler.scale_": np.ones(3)}),
    lambda _, a: a.update({"steps.standardscaler.scale_": np.ones(4, dtype=np.int64)}),
    lambda h, _: h["steps"]["before"][0].__setitem__(0, "a__b"),
    lambda h, _: h["steps"]["before"][0].__setitem__(0, "robustscaler"),
    lambda h, _: h["steps"]["before"].append(["passthrough", "passthrough"]),
    lambda h, _: h.pop("steps"),
    lambda h, _: h.update({"format": 1}),
    lambda h, _: h.update({"format": 3}),
]


@pytest.mark.parametrize("change", CHANGES, ids=range(len(CHANGES)))
def test_steps_that_no_save_writes(change, originals, path):
    data, rows = originals["numbers"]
    rewritten(data, path, lambda *_: None)
    assert harmless(path, rows)
    rewritten(data, path, change)
    with pytest.raises(ValueError, match=path.name):
        load(path)
