"""ONNX graphs say of rows what the models say that they were written from."""

from __future__ import annotations

import json
import sys

import numpy as np
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    MaxAbsScaler,
    MinMaxScaler,
    QuantileTransformer,
    RobustScaler,
    StandardScaler,
)

import cmeans
from cmeans import rules
from cmeans.kernels import Gower

pytest.importorskip("onnx")
ort = pytest.importorskip("onnxruntime")

AT = ((0.0, 0.0, 0.0), (5.0, 0.0, 1.0), (0.0, 6.0, 2.0))
X = np.concatenate([np.random.default_rng(0).normal(size=(30, 3)) + centre for centre in AT])
NEW = np.concatenate([np.random.default_rng(1).normal(1.0, 3.0, (50, 3)), X[:5]])
LANDMARKS = {"landmarks": 20, "random_state": 0}


def answers(model, x, dtype="float64"):
    graph = cmeans.onnx.export(model, dtype=dtype)
    session = ort.InferenceSession(graph.SerializeToString())
    return session.run(["label", "memberships", "distances"], {"X": np.asarray(x, dtype)})


def check(model, x=NEW, *, known=None, last=None, dtype="float64", tol=1e-9):
    """`known`: the rows that the model, or the `last` of a pipeline, is given in place of x."""
    known = np.asarray(x, dtype) if known is None else known
    last = model if last is None else last
    label, u, distances = answers(model, x, dtype)
    assert label.dtype == np.int64
    assert u.dtype == distances.dtype == dtype
    np.testing.assert_array_equal(label, last.predict(known))
    np.testing.assert_allclose(u, last.memberships(known), rtol=0, atol=tol)
    np.testing.assert_allclose(distances, last.transform(known), rtol=tol, atol=tol)


RULES = {
    "hard": cmeans.KernelKMeans(3, kernel="linear", random_state=0),
    "fuzzy": cmeans.FuzzyCMeans(3, m=2.0, random_state=0),
    "fuzzy, m = 1.3": cmeans.FuzzyCMeans(3, m=1.3, random_state=0),
    "noise": cmeans.FuzzyCMeans(3, noise=0.1, random_state=0),
    "top_k": cmeans.FuzzyCMeans(3, top_k=2, random_state=0),
    "possibilistic": cmeans.PossibilisticCMeans(3, m=2.0, random_state=0),
    "possibilistic, m = 1.5": cmeans.PossibilisticCMeans(3, m=1.5, random_state=0),
    "sparse": cmeans.AdaptivePossibilisticCMeans(6, random_state=0),
    "entropy": cmeans.CMeans(3, rule="entropy", random_state=0),
    "polynomial": cmeans.CMeans(3, rule="polynomial_fuzzy", random_state=0),
    "bounds, hard": cmeans.KernelKMeans(
        3, kernel="linear", sizes=cmeans.Sizes(29, 31), random_state=0
    ),
    "cosine": cmeans.FuzzyCMeans(3, metric="cosine", random_state=0),
    "stream": cmeans.StreamingFuzzyCMeans(3, kernel="linear", chunk_size=50, random_state=0),
}


@pytest.mark.filterwarnings("ignore::cmeans.ParameterWarning", "ignore::cmeans.DataWarning")
@pytest.mark.parametrize(
    "name",  # the last, whose steps are 3,000 operators, takes a second
    [*RULES, pytest.param("bounds, fuzzy", marks=pytest.mark.slow)],
)
def test_rules(name):
    """Rows at centres and, on a sphere, without a direction among them."""
    bounded = cmeans.FuzzyCMeans(3, sizes=cmeans.Sizes(20, 40), random_state=0)
    model = RULES.get(name, bounded).fit(X)
    check(model, np.concatenate([NEW, model.cluster_centers_, np.zeros((1, 3))]))


KERNELS = ("rbf", "laplacian", "polynomial", "normalized_polynomial", "sigmoid", "cosine")


@pytest.mark.filterwarnings("ignore::cmeans.ParameterWarning", "ignore::cmeans.DataWarning")
@pytest.mark.parametrize("kernel", [*KERNELS, Gower.of(X)], ids=[*KERNELS, "gower"])
def test_kernels_over_landmarks(kernel):
    check(cmeans.FuzzyCMeans(3, kernel=kernel, **LANDMARKS).fit(X))


def test_an_exact_kernel_holds_its_rows_and_far_rows_are_as_near():
    check(cmeans.PossibilisticCMeans(3, kernel="rbf", random_state=0).fit(X + 1e4), NEW + 1e4)


@pytest.mark.parametrize("shape", ["full", "tied", "diag", "spherical"])
def test_covariances(shape):
    check(cmeans.GaussianMixture(3, covariance=shape, random_state=0).fit(X))


def test_metrics_of_other_rules():
    check(cmeans.FuzzyCMeans(3, covariance="full", max_iter=1000, random_state=0).fit(X))


def test_mixtures_of_noise_and_of_heavy_tails():
    check(cmeans.GaussianMixture(3, noise=0.1, random_state=0).fit(X))
    tails = cmeans.Covariance(df=5.0)
    check(cmeans.GaussianMixture(3, covariance=tails, random_state=0).fit(X))


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_single_precision(kernel):
    rows = X.astype(np.float32)
    model = cmeans.FuzzyCMeans(3, kernel=kernel, random_state=0).fit(rows)
    check(model, dtype="float32", tol=1e-5)


@pytest.mark.parametrize(
    "scaler",
    [
        StandardScaler(),
        StandardScaler(with_mean=False),
        StandardScaler(with_std=False),
        MinMaxScaler((1, 3), clip=True),
        MaxAbsScaler(),
        RobustScaler(with_centering=False),
        FunctionTransformer(np.log1p),
        FunctionTransformer(),
    ],
    ids=repr,
)
def test_scalers_of_a_pipeline(scaler):
    model = make_pipeline(scaler, cmeans.FuzzyCMeans(3, random_state=0)).fit(abs(X))
    check(model, abs(NEW), known=model[0].transform(abs(NEW)), last=model[-1])


@pytest.mark.parametrize("scale", ["standard", "log"])
def test_the_scale_of_a_table(tmp_path, scale):
    pytest.importorskip("pyarrow")
    for name, rows in (("rows.csv", X), ("new.csv", NEW)):
        np.savetxt(
            tmp_path / name, np.exp(rows), delimiter=",", header="a,b,c", comments="", fmt="%.17g"
        )
    model = cmeans.FuzzyCMeans(3, random_state=0)
    model.fit(cmeans.read_table(tmp_path / "rows.csv", scale=scale))
    cmeans.save(model, tmp_path / "model.safetensors")
    again = cmeans.load(tmp_path / "model.safetensors")
    check(again, np.exp(NEW), known=cmeans.read_table(tmp_path / "new.csv", recipe=again))


@pytest.mark.filterwarnings("ignore::cmeans.ParameterWarning", "ignore::cmeans.DataWarning")
def test_the_winner_of_a_choice():
    model = cmeans.AutoClustering(3, candidates=["plain"], random_state=0).fit(X)
    check(model)


class Squares(rules.Rule):
    """A rule of one's own, as CONTRIBUTING asks for it."""

    rows_sum_to_one = False

    def memberships(self, d2, scales):
        return 1.0 / (1.0 + d2 * d2)

    def weights(self, u):
        return u


def test_a_rule_of_ones_own_writes_itself():
    check(cmeans.CMeans(3, rule=Squares(), kernel="linear", random_state=0).fit(X))


def test_the_file(tmp_path):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(X, columns=["a", "b", "c"])
    model = cmeans.FuzzyCMeans(3, random_state=0).fit(frame)
    path = tmp_path / "model.onnx"
    graph = cmeans.onnx.export(model, path)
    assert path.read_bytes() == graph.SerializeToString()
    session = ort.InferenceSession(path)
    assert [one.name for one in session.get_inputs()] == ["X"]
    assert session.get_inputs()[0].shape == ["rows", 3]
    assert [one.name for one in session.get_outputs()] == ["label", "memberships", "distances"]
    note = session.get_modelmeta().custom_metadata_map
    assert note == {"estimator": "FuzzyCMeans", "columns": json.dumps(["a", "b", "c"])}
    assert len(session.run(["label"], {"X": np.empty((0, 3))})[0]) == 0
    assert cmeans.onnx.export(model).SerializeToString() == path.read_bytes()


def table_of_categories(tmp_path):
    pytest.importorskip("pyarrow")
    lines = "".join(f"{x},{'ab'[int(x > 5)]}\n" for x in range(40))
    (tmp_path / "rows.csv").write_text(f"size,kind\n{lines}")
    rows = cmeans.read_table(tmp_path / "rows.csv", categorical=["kind"])
    return cmeans.FuzzyCMeans(2, random_state=0).fit(rows)


def fitted(estimator, rows=X):
    return lambda _: estimator.fit(rows)


with_holes = np.where(np.random.default_rng(0).random(X.shape) < 0.1, np.nan, X)


@pytest.mark.filterwarnings("ignore::cmeans.ParameterWarning", "ignore::cmeans.DataWarning")
@pytest.mark.parametrize(
    ("make", "told"),
    [
        (fitted(cmeans.ConnectivityClustering()), "ConnectivityClustering says"),
        (fitted(cmeans.KernelKMeans(3, kernel="precomputed"), X @ X.T), "values for other rows"),
        (fitted(cmeans.KernelKMeans(3, kernel="landmark_graph")), "kernel LandmarkGraphKernel"),
        (
            fitted(cmeans.KernelKMeans(3, kernel=lambda x, y: x @ y.T + np.ones(len(x))[:, None])),
            "kernel CallableKernel",
        ),
        (fitted(cmeans.FuzzyCMeans(3, missing="partial"), with_holes), "missing values"),
        (
            fitted(make_pipeline(QuantileTransformer(n_quantiles=5), cmeans.FuzzyCMeans(3))),
            "step 'quantiletransformer'",
        ),
        (table_of_categories, "made of others (kind)"),
    ],
)
def test_what_is_no_graph_is_one_line(make, told, tmp_path):
    with pytest.raises(ValueError, match=r"onnx\.export: ") as raised:
        cmeans.onnx.export(make(tmp_path), tmp_path / "model.onnx")
    assert told in str(raised.value)
    assert "\n" not in str(raised.value)
    assert not (tmp_path / "model.onnx").exists()


def test_other_types_too_large_models_and_no_library_are_told(monkeypatch):
    model = cmeans.FuzzyCMeans(3, random_state=0).fit(X)
    with pytest.raises(ValueError, match="dtype='float16'"):
        cmeans.onnx.export(model, dtype="float16")
    monkeypatch.setattr("cmeans.persistence.onnx_graph.LARGEST", 1000)
    with pytest.raises(ValueError, match="Take fewer landmarks"):
        cmeans.onnx.export(model)
    monkeypatch.setitem(sys.modules, "onnx", None)
    with pytest.raises(ImportError, match=r"cmeans\[onnx\]"):
        cmeans.onnx.export(model)


def test_nobody_gets_numbers_of_rows_that_are_to_come():
    from cmeans.persistence.onnx_graph import Graph, Namespace, NoNumbersError

    rows = Graph().rows("X", 3, "float64")
    for question in (bool, float, len, np.asarray, iter):
        with pytest.raises(NoNumbersError, match="numbers of the rows"):
            question(rows)
    with pytest.raises(NoNumbersError, match="how many rows"):
        range(rows.shape[0])
    with pytest.raises(NoNumbersError, match="'linalg'"):
        getattr(Namespace(), "linalg")  # noqa: B009
