"""Model files that an earlier version has written: `older` holds one of each kind of space, rule and stream, with what it answered then."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import cmeans
from cmeans.persistence.model_file import read_metadata
from every_estimator import NAMES, STREAMS

FILES = sorted((Path(__file__).parent / "older").glob("*.safetensors"))


def asked(model, file):
    """The rows that the file was asked about, as the model takes them, and the answers."""
    stored = read_metadata(file)["metadata"]
    rows = np.array(stored["rows"], np.float32 if "float32" in file.stem else np.float64)
    if hasattr(model, "feature_names_in_"):
        rows = pytest.importorskip("pandas").DataFrame(rows, columns=model.feature_names_in_)
    return rows, np.array(stored["memberships"]), np.array(stored["labels"])


@pytest.mark.filterwarnings("ignore:.*before 1.0 and will go:FutureWarning")  # of the parameters that they hold
@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_they_answer_as_they_did(file, tmp_path):
    model = cmeans.load(file)
    rows, memberships, labels = asked(model, file)
    np.testing.assert_allclose(model.memberships(rows), memberships, rtol=1e-5 if "float32" in file.stem else 1e-9, atol=1e-12)
    np.testing.assert_array_equal(model.predict(rows), labels)
    cmeans.save(model, tmp_path / "again")
    np.testing.assert_array_equal(cmeans.load(tmp_path / "again").memberships(rows), model.memberships(rows))


@pytest.mark.filterwarnings("ignore:.*before 1.0 and will go:FutureWarning")
@pytest.mark.filterwarnings("ignore:.*centres coincide:UserWarning")  # the rows that come are noise
@pytest.mark.parametrize("file", [file for file in FILES if read_metadata(file)["estimator"] in STREAMS], ids=lambda file: file.stem)
def test_their_streams_go_on(file):
    model = cmeans.load(file)
    if not hasattr(model, "partial_fit"):
        pytest.skip(f"{type(model).__name__} is fitted at once")
    before = model.n_samples_seen_
    model.partial_fit(np.random.default_rng(1).normal(size=(20, 3)))
    assert model.n_samples_seen_ == before + 20


def test_all_estimators_are_among_them():
    assert {read_metadata(file)["estimator"] for file in FILES} == set(NAMES)
