"""Models of tables that `read_table` has prepared, and new rows as they stand in a file."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import adjusted_rand_score

import cmeans
from cmeans import DataWarning, FuzzyCMeans, KernelKMeans

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, np.ndarray]:
    """Three kinds of customers, of whom spending in cents and the plan tell, and the kinds."""
    rng, folder = np.random.default_rng(0), tmp_path_factory.mktemp("shop")
    kinds = rng.integers(0, 3, 300)
    spend = 100_000.0 * kinds + rng.normal(0, 10_000, 300)
    visits = 10.0 * (kinds == 1) + rng.normal(size=300)
    plan = np.array(["a", "b", "b"])[kinds]
    table = pd.DataFrame({"spend": spend, "visits": visits, "plan": plan})
    table.to_csv(folder / "shop.csv", index=False)
    return folder / "shop.csv", kinds


@pytest.mark.parametrize("categorical", [(), ("plan",)])
@pytest.mark.parametrize("scale", ["none", "standard", "log"])
@pytest.mark.filterwarnings("ignore:.*left out:cmeans.DataWarning")
def test_a_file_is_read_as_that_of_the_fit(
    scale: str, categorical: tuple[str, ...], shop: tuple[Path, np.ndarray], tmp_path: Path
) -> None:
    rows = cmeans.read_table(shop[0], scale=scale, categorical=categorical)
    model = FuzzyCMeans(3, random_state=0).fit(rows)
    assert (adjusted_rand_score(shop[1], model.labels_) > 0.9) or scale == "none"
    cmeans.save(model, tmp_path / "m.safetensors")
    for same in (model, cmeans.load(tmp_path / "m.safetensors")):
        np.testing.assert_array_equal(same.predict(str(shop[0])), model.labels_)
        np.testing.assert_array_equal(same.memberships(shop[0]), same.memberships(rows))
        same.predict_to(shop[0], tmp_path / "l.parquet")
        labels = pd.read_parquet(tmp_path / "l.parquet")["label"]
        np.testing.assert_array_equal(labels, model.labels_)


def test_a_frame_of_columns_that_were_made_is_taken_as_prepared_which_is_said(
    shop: tuple[Path, np.ndarray],
) -> None:
    rows = cmeans.read_table(shop[0], categorical=["plan"], scale="standard")
    model = KernelKMeans(3, kernel="linear", random_state=0).fit(rows)
    prepared = pd.DataFrame(np.asarray(rows), columns=list(rows.columns))
    said = r"was scaled as it was read \(standard\), and X, a DataFrame, is taken as scaled already"
    with pytest.warns(DataWarning, match=said):
        labels = model.predict(prepared)
    np.testing.assert_array_equal(labels, model.labels_)


@pytest.mark.filterwarnings("ignore:.*left out:cmeans.DataWarning")
@pytest.mark.parametrize("scale", ["none", "standard"])
def test_a_frame_of_the_table_itself_is_read_as_its_file(
    scale: str, shop: tuple[Path, np.ndarray]
) -> None:
    columns, frame = ["spend", "visits"], pd.read_csv(shop[0])
    rows = cmeans.read_table(shop[0], columns=columns, scale=scale)
    model = KernelKMeans(3, kernel="linear", random_state=0).fit(rows)
    for same in (frame[columns], frame, frame[frame.columns[::-1]]):
        np.testing.assert_array_equal(model.predict(same), model.labels_)
