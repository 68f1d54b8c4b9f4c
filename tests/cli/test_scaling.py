from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse
from sklearn.preprocessing import MinMaxScaler, StandardScaler

from cli.command import Command
from cmeans.cli.option_names import as_option
from cmeans.data.long_tails import skewness
from cmeans.data.recipe.scaling import Scaling, learn_scaling
from cmeans.data.row_source import RowsError


@pytest.fixture
def x() -> np.ndarray:
    rng = np.random.default_rng(1)
    # more rows than are scaled at a time
    return rng.normal(size=(300_000, 5)) * [1, 1e-3, 1e5, 10, 1] + [0, 5, 1e6, -3, 0]


@pytest.mark.parametrize(
    ("kind", "reference"), [("standard", StandardScaler()), ("unit", MinMaxScaler())]
)
def test_as_scikit_learn_scales(
    kind: str, reference: StandardScaler | MinMaxScaler, x: np.ndarray
) -> None:
    expected = reference.fit_transform(x)
    np.testing.assert_allclose(
        learn_scaling(kind, x).apply(x.copy()), expected, rtol=1e-9, atol=1e-10
    )


@pytest.mark.parametrize("kind", ["standard", "unit", "robust", "log"])
def test_constant_columns_become_zero(kind: str) -> None:
    x = np.full((1001, 3), [0.1, 1e8 + 0.1, 0])  # 0.1: its mean is not exactly 0.1
    assert not learn_scaling(kind, x).apply(x).any()


@pytest.mark.parametrize("kind", ["standard", "unit", "robust", "log"])
def test_a_weight_counts_as_copies(kind: str, x: np.ndarray) -> None:
    x = x[:300]
    weight = np.random.default_rng(2).integers(0, 4, 300)
    copies, weighted = (
        learn_scaling(kind, np.repeat(x, weight, axis=0)),
        learn_scaling(kind, x, weight.astype(float)),
    )
    np.testing.assert_allclose(weighted.shift, copies.shift, rtol=1e-12)
    np.testing.assert_allclose(weighted.factor, copies.factor, rtol=1e-9)


def test_json_brings_back_the_same_bits(x: np.ndarray) -> None:
    scaling = learn_scaling("standard", x)
    again = Scaling.from_json(json.loads(json.dumps(scaling.to_json())), 5)
    assert again == scaling
    assert np.array_equal(again.apply(x.copy()), scaling.apply(x.copy()))


def test_in_place_where_allowed_and_type_kept(x: np.ndarray, tmp_path: Path) -> None:
    single = x.astype(np.float32)
    scaling = learn_scaling("unit", single)
    np.save(tmp_path / "x.npy", single)
    mapped = np.load(tmp_path / "x.npy", mmap_mode="r")
    copy = scaling.apply(mapped)
    assert scaling.apply(single) is single
    assert copy.dtype == single.dtype == np.float32
    assert np.array_equal(copy, single)
    assert not isinstance(copy, np.memmap)


def test_none_leaves_rows_alone(x: np.ndarray) -> None:
    assert Scaling.from_json(learn_scaling("none", x).to_json(), 5).apply(x) is x


def test_what_cannot_be_scaled_is_refused() -> None:
    with pytest.raises(RowsError, match="--scale unit: sparse rows would lose their zeros"):
        learn_scaling("unit", scipy.sparse.csr_array(np.eye(3)), spell=as_option)
    with pytest.raises(
        RowsError, match=r"--scale unit: values up to 1.5e\+308 are too large to scale"
    ):
        learn_scaling("unit", np.array([[1.5e308], [-1.5e308]]), spell=as_option)
    with pytest.raises(RowsError, match="no row has a positive weight"):
        learn_scaling("unit", np.eye(3), np.zeros(3))


def test_logarithms_of_long_tails_alone() -> None:
    rng = np.random.default_rng(0)
    x = np.exp(rng.normal(size=(4_000, 4)) * [1.5, 0.01, 1.5, 1.5]) * [1, 1, -1, 1]
    x[::7, 3] = 0.0
    scaling = learn_scaling("log", x)
    assert [offset is not None for offset in scaling.offset] == [True, False, False, True]
    assert scaling.offset[0] == 0.0
    assert scaling.offset[3] == x[x[:, 3] > 0, 3].min()
    z = scaling.apply(x.copy())
    np.testing.assert_allclose(z.mean(axis=0), 0.0, atol=1e-9)
    np.testing.assert_allclose(z.std(axis=0), 1.0, rtol=1e-9)
    assert abs(skewness(z)[0]) < 0.2 < 5 < skewness(x)[0]
    back = scaling.undone(z)
    np.testing.assert_allclose(back, x, rtol=1e-9, atol=1e-9)
    assert (back[np.asarray(x) == 0] == 0).all()
    again = Scaling.from_json(json.loads(json.dumps(scaling.to_json())), 4)
    assert again == scaling
    assert np.isfinite(again.apply(np.array([[-3.0, 1, 1, 0]]))).all()  # what has no logarithm


def test_beside_zeros_and_ones_deviations_are_comparable() -> None:
    """In ranges of 1 amounts vary by less than the zeros and ones of categories."""
    rng = np.random.default_rng(0)
    x = np.stack([rng.normal(40, 10, 500), rng.normal(0, 5000, 500), np.arange(500) % 2], axis=1)
    left = np.array([False, False, True])
    assert learn_scaling("auto", x[:, :2]).kind == "unit"
    scaling = learn_scaling("auto", x, left=left)
    assert scaling.kind == "standard"
    np.testing.assert_allclose(scaling.apply(x.copy()).std(axis=0), [1.0, 1.0, 0.5])
    assert learn_scaling("auto", x[:, ::2], left=left[::2]).kind == "standard"


def test_robust_forgives_far_rows(x: np.ndarray) -> None:
    x = x[:1001].copy()
    z = learn_scaling("robust", x).apply(x.copy())
    far = x.copy()
    far[0] = 1e12
    np.testing.assert_allclose(learn_scaling("robust", far).apply(x.copy()), z, atol=0.05)
    np.testing.assert_allclose(np.median(z, axis=0), 0.0, atol=1e-9)


def test_a_column_of_weight_four_counts_as_four(x: np.ndarray) -> None:
    x = x[:50].copy()
    scaling = learn_scaling("standard", x).weighted(np.array([4.0, 1, 1, 1, 1]))
    plain, heavy = learn_scaling("standard", x).apply(x.copy()), scaling.apply(x.copy())
    np.testing.assert_allclose(heavy, plain * [2, 1, 1, 1, 1])
    unscaled = Scaling().weighted(np.array([4.0, 1, 1, 1, 1]))
    np.testing.assert_allclose(unscaled.apply(x.copy()), x * [2, 1, 1, 1, 1])
    assert Scaling.from_json(unscaled.to_json(), 5) == unscaled


@pytest.mark.parametrize(
    "stored",
    [
        {},
        {"kind": "standard"},
        {"kind": "unit", "shift": [0, 0], "factor": [1]},
        {"kind": "cube", "shift": [0, 0], "factor": [1, 1]},
        {"kind": "unit", "shift": [0, "?"], "factor": [1, 1]},
        {"kind": "unit", "shift": [0, float("nan")], "factor": [1, 1]},
        {"kind": "none", "shift": [0], "factor": [1]},
    ],
)
def test_a_damaged_scaling_is_refused(stored: dict[str, object]) -> None:
    with pytest.raises(RowsError, match="the model's scaling"):
        Scaling.from_json(stored, 2)


def test_a_column_that_outweighs_others_is_said(cmeans: Command, tmp_path: Path) -> None:
    """Where the number is given, columns stay as they are, which a line tells unless it was
    asked."""
    rng = np.random.default_rng(0)
    rows = np.column_stack([rng.normal(0, 1, 60), rng.normal(0, 500, 60)])
    np.savetxt(tmp_path / "x.csv", rows, delimiter=",", header="age,spend", comments="")
    fit = ["fit", tmp_path / "x.csv", "-c", 2, "--out", tmp_path / "o", "--overwrite"]
    said = "columns are not scaled: 'spend' varies "
    assert said in cmeans(*fit).err
    for words in (["--scale", "none"], ["--scale", "auto"], ["--method", "gaussian"]):
        assert said not in cmeans(*fit, *words).err
