"""Pipelines in files: the same bits after reading, refusals that name the step, and nothing a file says can act."""

from __future__ import annotations

import itertools
import json
import warnings

import numpy as np
import pytest
from safetensors.numpy import load as from_bytes
from safetensors.numpy import save_file
from scipy import sparse
from sklearn.cluster import KMeans
from sklearn.compose import ColumnTransformer, make_column_selector, make_column_transformer
from sklearn.decomposition import PCA, TruncatedSVD
from sklearn.exceptions import NotFittedError
from sklearn.feature_selection import VarianceThreshold
from sklearn.impute import SimpleImputer
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    MaxAbsScaler,
    MinMaxScaler,
    Normalizer,
    OneHotEncoder,
    OrdinalEncoder,
    PowerTransformer,
    QuantileTransformer,
    RobustScaler,
    StandardScaler,
)
from sklearn.utils import check_random_state

from cmeans import FuzzyCMeans, KernelKMeans, LandmarkGraph, load, save
from cmeans.persistence.model_file import read_metadata
from damage import changed_by_hand, flipped, truncated

pd = pytest.importorskip("pandas")

rng = np.random.default_rng(0)
X = rng.normal(size=(60, 4)) + np.repeat([[0, 0, 0, 0], [6, 0, 0, 0], [0, 6, 0, 0]], 20, axis=0)
NEW = rng.normal(size=(25, 4)) * 4
FRAME = pd.DataFrame(
    {
        "age": np.where(np.arange(60) % 11 == 3, np.nan, 40 + 10 * X[:, 0]),
        "city": pd.Series(np.array(["Köln", "a b", "", None], dtype=object)[np.arange(60) % 4], dtype=object),
        "rooms": np.arange(60) // 20,
        "flag": np.arange(60) % 3 > 0,
        "note": ["left out"] * 60,
    }
)

ON_NUMBERS = {
    "standard": StandardScaler(),
    "centred": StandardScaler(with_std=False),
    "scaled": StandardScaler(with_mean=False),
    "neither": StandardScaler(with_mean=False, with_std=False),
    "unit": MinMaxScaler((1, 2), clip=True),
    "largest": MaxAbsScaler(),
    "robust": RobustScaler(quantile_range=(10.0, 90.0)),
    "no centre": RobustScaler(with_centering=False),
    "norm": Normalizer("l1"),
    "quantiles": QuantileTransformer(n_quantiles=50, output_distribution="normal", random_state=0),
    "components": PCA(2, whiten=True),
    "share of the variance": PCA(0.9, svd_solver="full"),
    "all components": PCA(),
    "random components": PCA(2, svd_solver="randomized", random_state=0),
    "svd": TruncatedSVD(2, random_state=0),
    "mean": SimpleImputer(),
    "median": SimpleImputer(strategy="median", missing_values=0.0),
    "passthrough": "passthrough",
    "nested": make_pipeline(StandardScaler(), PCA(3)),
    "by column": ColumnTransformer([("a", StandardScaler(), [2, 0]), ("b", "passthrough", slice(1, 2))], remainder=MinMaxScaler()),
    "by mask": ColumnTransformer(
        [("a", StandardScaler(), [True, False, True, False]), ("none", PCA(1), [])], transformer_weights={"a": 2.0}
    ),
}
ON_SPARSE = ("scaled", "neither", "largest", "norm", "svd")
FORMS = {"float64": np.asarray, "float32": np.float32, "frame": lambda x: pd.DataFrame(x, columns=["a", "b", "c", "ü d"])}

CATEGORIES = {
    "one-hot": OneHotEncoder(handle_unknown="ignore"),
    "dense": OneHotEncoder(sparse_output=False, dtype=np.float32),
    "first dropped": OneHotEncoder(drop="first"),
    "of two dropped": OneHotEncoder(drop="if_binary"),
    "ordinal": OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1, encoded_missing_value=-2),
    "given": OrdinalEncoder(categories=[["", "a b", "Köln", None], [0, 1, 2], [False, True]]),
}


@pytest.fixture
def path(tmp_path):
    return tmp_path / "model.safetensors"


def of(*steps, model=None):
    return make_pipeline(*steps, FuzzyCMeans(3, m=1.5, search=None, random_state=0) if model is None else model)


def bits(rows):
    dense = rows.toarray() if sparse.issparse(rows) else np.asarray(rows)
    return type(rows), dense.dtype, dense.tolist() if dense.dtype == object else dense.tobytes()


def same_after_reading(made, path, rows, new):
    save(made, path)
    again = load(path)
    assert [name for name, _ in again.steps] == [name for name, tool in made.steps if tool != "passthrough"]
    for part in (new, rows[::2]):
        if len(again.steps) > 1:
            assert bits(again[:-1].transform(part)) == bits(made[:-1].transform(part))
            assert again[:-1].get_feature_names_out().tolist() == made[:-1].get_feature_names_out().tolist()
        np.testing.assert_array_equal(again.predict(part), made.predict(part))
        np.testing.assert_array_equal(again.predict_proba(part), made.predict_proba(part))
    np.testing.assert_array_equal(again.fit_predict(rows), made.fit_predict(rows))  # parameters have come back too
    return again


# --------------------------------------------------------------------------------------------------------------- there and back


@pytest.mark.parametrize(("tool", "form"), itertools.product(ON_NUMBERS, FORMS))
def test_transformers_of_numbers(tool, form, path):
    made = of(ON_NUMBERS[tool]).fit(FORMS[form](X))
    again = same_after_reading(made, path, FORMS[form](X), FORMS[form](NEW))
    assert getattr(again, "feature_names_in_", np.array([])).tolist() == (["a", "b", "c", "ü d"] if form == "frame" else [])


@pytest.mark.parametrize("tool", ON_SPARSE)
def test_sparse_rows(tool, path):
    rows = sparse.csr_array(X.round())
    same_after_reading(of(ON_NUMBERS[tool]).fit(rows), path, rows, sparse.csr_array(NEW.round()))


@pytest.mark.parametrize("encoder", CATEGORIES)
def test_encoders(encoder, path):
    frame = FRAME[["city", "rooms", "flag"]]
    same_after_reading(of(CATEGORIES[encoder]).fit(frame), path, frame, frame[::-1])
    text = np.array([["x", "yy"], ["zzz", "yy"], ["x", "y"]] * 5)
    if encoder != "given":
        same_after_reading(of(CATEGORIES[encoder], model=KernelKMeans(2, random_state=0)).fit(text), path, text, text[::-1])


def mixed(**words):
    numbers = make_pipeline(SimpleImputer(strategy="median"), StandardScaler())
    filled = make_pipeline(
        SimpleImputer(strategy="constant", fill_value="none", missing_values=None), OneHotEncoder(handle_unknown="ignore")
    )
    return ColumnTransformer([("numbers", numbers, ["age"]), ("city", filled, ["city"]), ("rooms", "passthrough", ["rooms"])], **words)


@pytest.mark.parametrize(
    "columns",
    [
        mixed(),
        mixed(sparse_threshold=1.0, verbose_feature_names_out=False),
        mixed(remainder=OneHotEncoder()),
        make_column_transformer((SimpleImputer(), make_column_selector("age")), (OrdinalEncoder(), make_column_selector("flag|note"))),
        ColumnTransformer([("age", SimpleImputer(), ["age"]), ("out", "drop", ["city", "note"])], remainder="passthrough"),
        ColumnTransformer(
            [("age", SimpleImputer(), ["age"]), ("out", "drop", "note"), ("codes", OrdinalEncoder(), slice("rooms", "flag"))]
        ),
    ],
    ids=["dense", "sparse", "rest encoded", "selectors", "rest as it is", "names alone"],
)
def test_columns_of_a_frame(columns, path):
    made = of(columns).fit(FRAME)
    again = same_after_reading(made, path, FRAME, FRAME[::-1][["note", "flag", "rooms", "city", "age"]])
    assert sparse.issparse(again[:-1].transform(FRAME[:3])) == sparse.issparse(made[:-1].transform(FRAME[:3]))
    assert again[:-1].get_feature_names_out().tolist() == made[:-1].get_feature_names_out().tolist()
    with pytest.raises(ValueError, match=r"age|missing"):
        again.predict(FRAME.drop(columns="age"))


def test_frames_between_steps(path):
    made = of(mixed(sparse_threshold=0).set_params(city__onehotencoder__sparse_output=False), MinMaxScaler()).set_output(transform="pandas")
    made.fit(FRAME)
    again = same_after_reading(made, path, FRAME, FRAME[:7])
    assert again[:-1].transform(FRAME[:2]).columns.tolist() == made[:-1].transform(FRAME[:2]).columns.tolist()


def test_seeds_come_back_and_none_is_drawn(path):
    save(of(PCA(2, svd_solver="randomized", random_state=7), QuantileTransformer(n_quantiles=9)).fit(X), path)
    everybodys = check_random_state(None)
    before = everybodys.get_state()[1:3]
    again = load(path)
    for was, now in zip(before, everybodys.get_state()[1:3], strict=True):
        np.testing.assert_array_equal(was, now)
    assert (again[0].random_state, again[1].random_state) == (7, None)


def test_statistics_of_empty_columns(path):
    rows = np.where([False, True, False, False], np.nan, X)
    for words in ({}, {"keep_empty_features": True}):
        made = of(SimpleImputer(**words))
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message="Skipping features")
            same_after_reading(made.fit(rows), path, rows, rows[:5])


def test_other_models_as_last_step(path):
    for model in (KernelKMeans(3, kernel="landmark_graph", random_state=0), FuzzyCMeans(3, kernel="rbf", landmarks=9, random_state=0)):
        made = of(StandardScaler(), model=model).fit(X)
        save(made, path, rows=False)
        np.testing.assert_array_equal(load(path).predict(NEW), made.predict(NEW))
        assert not hasattr(load(path)[-1], "labels_")
    graph = make_pipeline(StandardScaler(), LandmarkGraph(2, landmarks=20, random_state=0)).fit(X)
    save(graph, path)
    np.testing.assert_array_equal(load(path).transform(NEW), graph.transform(NEW))


def test_what_a_file_says_of_its_steps(path):
    save(of(mixed(), PCA(2)).fit(FRAME), path, metadata={"a": 1})
    said = read_metadata(path)
    inside = "Pipeline(SimpleImputer, StandardScaler), Pipeline(SimpleImputer, OneHotEncoder), passthrough"
    assert said["steps"] == [f"columntransformer: ColumnTransformer({inside})", "pca: PCA"]
    assert (said["estimator"], said["metadata"]) == ("FuzzyCMeans", {"a": 1})
    save(FuzzyCMeans(3, random_state=0).fit(X), path)
    assert "steps" not in read_metadata(path)


# ------------------------------------------------------------------------------------------------------------------- refusals


class Mine(StandardScaler):
    pass


@pytest.mark.parametrize(
    ("tool", "match"),
    [
        (FunctionTransformer(np.abs), r"step 'tool' is a FunctionTransformer, which calls a function.*nothing .* is executed.*pickle"),
        (PowerTransformer(), r"step 'tool' is a PowerTransformer, which a model file cannot carry; it carries .*StandardScaler"),
        (VarianceThreshold(), "step 'tool' is a VarianceThreshold"),
        (Mine(), "step 'tool' is a Mine"),
        (SimpleImputer(add_indicator=True), r"step 'tool', a SimpleImputer, cannot be carried: add_indicator=True"),
        (OneHotEncoder(min_frequency=2, handle_unknown="ignore"), r"step 'tool', an OneHotEncoder.*min_frequency=2"),
        (ColumnTransformer([("in", FunctionTransformer(), [0])]), r"step 'tool\.in' is a FunctionTransformer"),
        (make_pipeline(StandardScaler(), PowerTransformer()), r"step 'tool\.powertransformer' is"),
        (OneHotEncoder(feature_name_combiner=lambda name, _: name), "feature_name_combiner=.*neither numbers nor text"),
        (OneHotEncoder(handle_unknown="ignore"), "Timestamp"),
    ],
)
def test_steps_that_cannot_be_carried(tool, match, path):
    rows = X.round()
    if match == "Timestamp":
        rows = pd.DataFrame({"day": pd.date_range("2020-01-01", periods=60).astype(object)})
    made = Pipeline([("tool", tool), ("model", FuzzyCMeans(3, random_state=0))]).fit(rows)
    with pytest.raises(ValueError, match=match):
        save(made, path)
    assert not list(path.parent.iterdir())


def test_last_steps_and_fits(path):
    with pytest.raises(ValueError, match=r"the last step, 'kmeans', .*KMeans.* is not one of the library's"):
        save(make_pipeline(StandardScaler(), KMeans(2, n_init=1)).fit(X), path)
    with pytest.raises(NotFittedError):
        save(of(StandardScaler()), path)
    with pytest.raises(ValueError, match=r"step 'standardscaler', a StandardScaler, cannot be carried"):
        save(make_pipeline(StandardScaler(), FuzzyCMeans(3, random_state=0).fit(X)), path)


# --------------------------------------------------------------------------------------------------- damaged and hostile files


@pytest.fixture(scope="module")
def originals(tmp_path_factory):
    """Pipelines as bytes, and rows to ask them about."""
    path, found = tmp_path_factory.mktemp("originals") / "model", {}
    for name, made, rows in (
        ("numbers", of(StandardScaler(), QuantileTransformer(n_quantiles=9), PCA(3)).fit(X), X),
        ("frame", of(mixed()).fit(FRAME), FRAME),
        (
            "encoded",
            of(OneHotEncoder(drop="first"), model=KernelKMeans(2, random_state=0)).fit(FRAME[["rooms", "flag"]]),
            FRAME[["rooms", "flag"]],
        ),
    ):
        save(made, path)
        found[name] = (path.read_bytes(), rows)
    return found


def harmless(path, rows):
    """Loading raises ValueError, or gives a model that predicts, or says with a ValueError why not; True if it loads."""
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
@pytest.mark.parametrize("name", ["numbers", "frame", "encoded"])
def test_damaged_files(name, damage, originals, path, tmp_path):
    data, rows = originals[name]
    for _, changed in damage(data, tmp_path / "scratch"):
        path.write_bytes(changed)
        harmless(path, rows)


def rewritten(data, path, change):
    header = json.loads(json.loads(data[8 : 8 + int.from_bytes(data[:8], "little")])["__metadata__"]["cmeans"])
    arrays = from_bytes(data)
    change(header, arrays)
    save_file(arrays, path, {"cmeans": json.dumps(header)})


def first(header):
    return header["steps"]["before"][0][1]


CHANGES = [
    lambda h, _: first(h).update({"class": "os.system"}),
    lambda h, _: first(h).update({"class": "FunctionTransformer"}),
    lambda h, _: first(h).update({"class": ["StandardScaler"]}),
    lambda h, _: first(h)["params"].update({"with_mean": "perhaps"}),
    lambda h, _: first(h)["params"].update({"n_jobs": 1000}),
    lambda h, _: first(h)["params"].update({"no_such": 1}),
    lambda h, _: h["steps"]["before"][2][1]["params"].update({"random_state": "x"}),
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
    lambda _, a: a.update({"steps.quantiletransformer.quantiles_": np.ones((8, 4))}),
    lambda h, _: h["steps"]["before"].pop(),
    lambda h, _: h["steps"]["before"].reverse(),
    lambda h, _: h["steps"]["before"][0].__setitem__(0, "a__b"),
    lambda h, _: h["steps"]["before"][0].__setitem__(0, "pca"),
    lambda h, _: h["steps"]["before"][2][1]["params"].update({"iterated_power": 10**9}),
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


COLUMNS = [
    lambda p: p["parts"][0].__setitem__(2, {"$list": ["no such"]}),
    lambda p: p["parts"][0].__setitem__(2, {"$list": ["age", "rooms"]}),
    lambda p: p["parts"][0].__setitem__(2, "age"),
    lambda p: p["parts"][0].__setitem__(1, "nothing"),
    lambda p: p["parts"][1].__setitem__(0, "numbers"),
    lambda p: p.update({"sparse": "yes"}),
    lambda p: p.update({"remainder": 5}),
    lambda p: p["params"].update({"transformers": {"$list": []}}),
    lambda p: p["parts"][1][1]["steps"][1][1]["fitted"].update({"categories_": {"$list": []}}),
    lambda p: p["parts"][1][1]["steps"][1][1]["fitted"].update({"categories_": {"$list": [{"$values": ["a", "a"], "kind": "O"}]}}),
    lambda p: p["parts"][1][1]["steps"][1][1]["fitted"].update({"drop_idx_": {"$values": [1], "kind": "O"}}),
    lambda p: p["parts"][1][1]["steps"][0][1]["fitted"].update({"statistics_": {"$values": [1], "kind": "O"}}),
    lambda p: p["parts"][1][1]["steps"][0][1]["fitted"].update({"indicator_": True}),
]


@pytest.mark.parametrize("change", COLUMNS, ids=range(len(COLUMNS)))
def test_columns_that_no_save_writes(change, originals, path):
    data, _ = originals["frame"]
    rewritten(data, path, lambda header, _: change(first(header)))
    with pytest.raises(ValueError, match=path.name):
        load(path)
