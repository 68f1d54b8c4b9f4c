"""Model files that earlier versions have written: `older` holds one of each kind of space, rule and
stream, with what it answered then.

A folder named for a version was written by it (`python -m tools.model_files`), and is whole.
"""

from __future__ import annotations

import inspect
import json
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse
from tools.model_files import answers

import cmeans
from cmeans.persistence.model_file import ESTIMATORS, FORMAT, KEY, WITH_STEPS, read_metadata
from cmeans.persistence.transformers import CARRIED
from cmeans.runtime.stored_classes import STORED
from cmeans.storage.codec import read_packed
from every_estimator import STREAMS

# in checkpoints, or in no file
ELSEWHERE = {
    "Statistics",
    "HardStatistics",
    "CallableKernel",
    "ThreadEngine",
    "DaskEngine",
    "RayEngine",
    "SparkEngine",
    "Checkpoint",
    "SecondMoments",
}
FILES = sorted((Path(__file__).parent / "older").rglob("*.safetensors"))


def asked(model, file):
    """The rows that the file was asked about, as the model takes them, and the answers."""
    stored = read_metadata(file)["metadata"]
    rows = np.array(stored["rows"], np.float32 if "float32" in file.stem else np.float64)
    if hasattr(model, "feature_names_in_"):
        rows = (
            pytest.importorskip("pandas")
            .DataFrame(rows, columns=model.feature_names_in_)
            .infer_objects()
        )
    if "graph-given" in file.stem or "csr" in file.stem:
        rows = sparse.csr_array(rows)
    return rows, np.array(stored["memberships"]), np.array(stored["labels"])


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_they_answer_as_they_did(file, tmp_path):
    model = cmeans.load(file)
    rows, memberships, labels = asked(model, file)
    said = answers(model, rows)
    np.testing.assert_allclose(
        said[0], memberships, rtol=1e-5 if "float32" in file.stem else 1e-9, atol=1e-12
    )
    np.testing.assert_array_equal(said[1], labels)
    cmeans.save(model, tmp_path / "again")
    np.testing.assert_array_equal(answers(cmeans.load(tmp_path / "again"), rows)[0], said[0])


@pytest.mark.filterwarnings("ignore:.*have come together:UserWarning")  # rows that come are noise
@pytest.mark.parametrize(
    "file",
    [file for file in FILES if read_metadata(file)["estimator"] in STREAMS],
    ids=lambda file: file.stem,
)
def test_their_streams_go_on(file):
    model = cmeans.load(file)
    if not hasattr(model, "partial_fit"):
        pytest.skip(f"{type(model).__name__} is fitted at once")
    before = model.n_samples_seen_
    model.partial_fit(np.random.default_rng(1).normal(size=(20, 3)))
    assert model.n_samples_seen_ == before + 20


def test_every_estimator_rule_space_kernel_step_and_format_is_among_them():
    headers = [read_packed(file, KEY)[0] for file in FILES]
    assert {header["estimator"] for header in headers} == set(ESTIMATORS)
    assert {header["format"] for header in headers} == {FORMAT, WITH_STEPS}
    text = json.dumps(headers)
    stored = {
        name
        for name, cls in STORED.items()
        if cls.__module__.startswith("cmeans.") and not inspect.isabstract(cls)
    }
    assert {name for name in (*stored - ELSEWHERE, *CARRIED) if f'"{name}"' not in text} == set()
