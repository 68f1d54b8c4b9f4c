"""What must not matter to a stream (threads, forms of rows, copies, order within a chunk), and what
must: drift; and who listens."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from scipy import sparse

from blob_streams import BLOBS, CHUNK, CHUNKS, MORE_STREAMS, PROBE, C, X, blobs, build, feed
from cmeans import FuzzyCMeans, StreamingFuzzyCMeans, save
from cmeans.papers import StreamingKernelFCM
from contracts.arrays import strict_array, torch_tensor
from notebook import Notebook, with_callbacks
from sweep_choices import often, once

over_streams = pytest.mark.parametrize("name", MORE_STREAMS)
pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore:.*squared norm was lost:UserWarning"),
]


@cache
def plain(name, **words):
    """The stream of all chunks as they are, which many tests compare with and none may feed
    further."""
    return feed(build(name, **words), CHUNKS)


def assert_agree(model, other, atol, rows=np.asarray):
    """The same centres, whatever their numbers: starts that end alike may be told apart by
    rounding."""
    blobs, probe = rows(BLOBS), rows(PROBE)
    order, expected = np.asarray(model.predict(blobs)), np.asarray(other.predict(BLOBS))
    assert sorted(order) == sorted(expected) == [0, 1, 2]
    np.testing.assert_allclose(
        np.asarray(model.transform(probe))[:, order], other.transform(PROBE)[:, expected], atol=atol
    )
    np.testing.assert_allclose(
        np.asarray(model.memberships(probe))[:, order],
        other.memberships(PROBE)[:, expected],
        atol=5 * atol,
    )
    np.testing.assert_allclose(model.mass_[order], other.mass_[expected], rtol=5 * atol)
    assert model.objective_ == pytest.approx(other.objective_, rel=5 * atol)


# ----------------------------------------------------------------------------- what must not matter


@over_streams
def test_threads_change_no_bit(name):
    models = [feed(build(name, n_jobs=n_jobs), CHUNKS) for n_jobs in (1, 2, 3)]
    for model in models[1:]:
        np.testing.assert_array_equal(model.transform(PROBE), models[0].transform(PROBE))
        np.testing.assert_array_equal(model.memberships_, models[0].memberships_)
        np.testing.assert_array_equal(model.mass_, models[0].mass_)
        assert model.objective_history_.tolist() == models[0].objective_history_.tolist()


@over_streams
def test_a_weight_of_k_is_k_copies(name):
    counts = np.random.default_rng(3).integers(1, 4, size=len(X))
    split = np.split(counts, 4)
    once = feed(build(name, warm_up=0) if name != "patches" else build(name), CHUNKS, split)
    copies = [np.repeat(chunk, count, axis=0) for chunk, count in zip(CHUNKS, split, strict=True)]
    many = feed(build(name, warm_up=0) if name != "patches" else build(name), copies)
    assert_agree(once, many, 1e-4 if name == "l1" else 1e-6)
    assert (once.n_samples_seen_, many.n_samples_seen_) == (len(X), counts.sum())


@over_streams
def test_the_order_of_a_chunks_rows_does_not_matter(name):
    rng = np.random.default_rng(4)
    orders = [rng.permutation(CHUNK) for _ in CHUNKS]
    model, other = (
        plain(name),
        feed(build(name), [chunk[order] for chunk, order in zip(CHUNKS, orders, strict=True)]),
    )
    assert_agree(model, other, 1e-4 if name == "l1" else 1e-6)
    renamed = np.empty(C, dtype=int)
    renamed[model.predict(BLOBS)] = other.predict(BLOBS)
    np.testing.assert_array_equal(renamed[model.labels_[orders[3]]], other.labels_)


@over_streams
def test_the_unit_of_weights_does_not_matter(name):
    """Powers of two round nothing, those far from 1 neither."""
    expected = plain(name)
    for factor in (2.0**-3, 2.0**60, 2.0**-70):
        model = feed(build(name), CHUNKS, [np.full(CHUNK, factor)] * 4)
        np.testing.assert_array_equal(model.transform(PROBE), expected.transform(PROBE))
        np.testing.assert_array_equal(model.mass_, expected.mass_ * factor)
        assert model.objective_ == expected.objective_ * factor


def test_weights_of_other_sizes_add():
    """Of a light chunk and one a million million times heavier, and back."""
    words = {"kernel": "linear", "rule": "hard", "init": BLOBS}
    for first, second in ((1.0, 2.0**45), (2.0**45, 1.0)):
        model = feed(
            StreamingFuzzyCMeans(C, **words),
            CHUNKS[:2],
            [np.full(CHUNK, first), np.full(CHUNK, second)],
        )
        heavy = CHUNKS[0] if first > second else CHUNKS[1]
        alone = FuzzyCMeans(C, **{k: v for k, v in words.items() if k != "rule"}, m=1.01).fit(heavy)
        assert model.mass_.sum() == pytest.approx(CHUNK * (first + second), rel=1e-12)
        np.testing.assert_allclose(model.cluster_centers_, alone.cluster_centers_, atol=0.05)


# ------------------------------------------------------------------------------------ forms of rows


@pytest.mark.parametrize(
    ("name", "form"),
    often(2, MORE_STREAMS, [sparse.csr_array, sparse.csr_matrix, np.asfortranarray]),
)
def test_chunks_of_every_form_give_the_stream_of_dense_ones(name, form):
    model = feed(build(name), [form(chunk) for chunk in CHUNKS])
    assert_agree(model, plain(name), 1e-5 if name == "l1" else 1e-7, form)
    assert model.memberships_.dtype == np.float64
    if hasattr(model, "landmarks_") and name != "points":
        assert sparse.issparse(model.landmarks_) == sparse.issparse(form(X))


@over_streams
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_float32_stays_float32(name, form):
    model = feed(build(name), [form(chunk.astype(np.float32)) for chunk in CHUNKS])
    asked = form(PROBE.astype(np.float32))
    assert (
        model.memberships_.dtype
        == model.transform(asked).dtype
        == model.outlier_score(asked).dtype
        == np.float32
    )
    assert (model.cluster_centers_ if name == "linear" else model.landmarks_).dtype == np.float32
    assert model.mass_.dtype == np.float64
    assert_agree(model, plain(name), 5e-3, lambda x: form(x.astype(np.float32)))


@over_streams
def test_chunks_of_other_forms_join(name):
    """A stream keeps the form and the type that it began with."""
    mixed = feed(
        build(name),
        [CHUNKS[0], sparse.csr_array(CHUNKS[1]), CHUNKS[2].tolist(), np.asfortranarray(CHUNKS[3])],
    )
    assert_agree(mixed, plain(name), 1e-5 if name == "l1" else 1e-7)
    back = feed(
        build(name),
        [sparse.csr_array(CHUNKS[0]), CHUNKS[1], sparse.csr_array(CHUNKS[2]), CHUNKS[3]],
    )
    assert_agree(back, plain(name), 1e-5 if name == "l1" else 1e-7)
    narrow = build(name, warm_up=0) if name != "patches" else build(name)
    narrow.partial_fit(CHUNKS[0].astype(np.float32)).partial_fit(CHUNKS[1])
    assert narrow.memberships_.dtype == np.float32
    whole = build(name).partial_fit(CHUNKS[0]).partial_fit(CHUNKS[1].astype(np.float32))
    assert whole.memberships_.dtype == np.float64


@pytest.mark.parametrize(("name", "array"), once(MORE_STREAMS, [torch_tensor, strict_array]))
def test_arrays_of_other_libraries(name, array, tmp_path):
    model = feed(build(name), [array(chunk) for chunk in CHUNKS])
    for values in (model.memberships_, model.labels_, model.transform(array(PROBE))):
        assert type(values) is type(array(PROBE))
    own = plain(name)
    assert_agree(model, own, 1e-5 if name == "l1" else 1e-7, array)
    # rows of the host may be asked about too
    assert_agree(model, own, 1e-5 if name == "l1" else 1e-7)
    save(model, tmp_path / "model")


@pytest.mark.parametrize(("name", "first"), once(MORE_STREAMS, [0, 2]))
def test_chunks_of_other_libraries_join(name, first):
    """Tensors after arrays of the host, and the other way round."""
    own = plain(name)
    for forms in ((np.asarray, torch_tensor), (torch_tensor, np.asarray)):
        model = feed(
            build(name), [forms[number > first](chunk) for number, chunk in enumerate(CHUNKS)]
        )
        assert_agree(model, own, 1e-5 if name == "l1" else 1e-7)


# --------------------------------------------------------------------------------- what must matter


@pytest.mark.parametrize("name", ["landmarks", "linear", "projection"])
def test_decay_follows_a_drift(name):
    chunks = [blobs(60, seed=step) + 0.15 * step for step in range(14)]
    keeping, forgetting, by_heart = (
        feed(build(name, decay=decay, landmarks="auto"), chunks) for decay in (1.0, 0.5, 0.1)
    )
    nearest = [
        model.transform(chunks[-1]).min(axis=1).mean() for model in (by_heart, forgetting, keeping)
    ]
    assert nearest[0] < nearest[1] < nearest[2] * 0.9
    assert by_heart.mass_.sum() < forgetting.mass_.sum() < keeping.mass_.sum()


def test_a_steady_stream_finds_what_all_rows_at_once_show():
    chunks = [blobs(60, seed=step) for step in range(10)]
    rows = np.vstack(chunks)
    best = FuzzyCMeans(C, kernel="rbf", gamma=0.2, m=1.3, landmarks=None, random_state=0).fit(rows)
    for name in ("landmarks", "update", "projection", "gradient", "l1"):
        model = feed(build(name, landmarks="auto"), chunks)
        assert -model.score(rows) < 1.02 * best.objective_
        assert (
            np.mean(
                model.predict(rows)[:, None] == model.predict(BLOBS)[None, np.arange(600) % C].T
            )
            > 0.95
        )


@pytest.mark.filterwarnings("ignore:.*nearly the identity:UserWarning")
def test_memberships_of_a_chunk_are_those_that_it_was_clustered_with():
    """Not those of the past alone: a chunk takes part in its own centres."""
    words = {"kernel": "linear", "rule": "hard", "init": BLOBS}
    model = StreamingFuzzyCMeans(C, **words).partial_fit(np.tile(BLOBS, (2, 1)))
    model.partial_fit(np.tile(BLOBS + 1.0, (10, 1)))
    np.testing.assert_allclose(model.cluster_centers_, BLOBS + 10 / 12, atol=1e-12)
    np.testing.assert_array_equal(model.labels_, np.tile(np.arange(C), 10))


def test_gamma_and_m_are_those_of_the_first_rows():
    words = {"kernel": "rbf", "gamma": "median", "m": "auto", "warm_up": 0, "random_state": 0}
    for model in (
        StreamingKernelFCM(C, method="projection", **words),
        StreamingKernelFCM(C, **words),
    ):
        model.partial_fit(CHUNKS[0])
        alone = FuzzyCMeans(C, kernel="rbf", gamma="median", random_state=0).fit(CHUNKS[0])
        assert (model.gamma_, model.m_, model.kernel_) == (alone.gamma_, alone.m_, alone.kernel_)
        feed(model, [1.3 * chunk for chunk in CHUNKS[1:]])
        assert (model.gamma_, model.m_, model.kernel_) == (alone.gamma_, alone.m_, alone.kernel_)


# -------------------------------------------------------------------- other sweeps, and who listens


@over_streams
def test_generic_sweeps_agree(name, monkeypatch):
    native = plain(name)
    again = feed(build(name, n_jobs=2), CHUNKS)
    np.testing.assert_array_equal(again.transform(PROBE), native.transform(PROBE))
    monkeypatch.setattr("cmeans.native.is_available", lambda: False)
    assert_agree(feed(build(name), CHUNKS), native, 1e-5 if name == "l1" else 1e-8)


@with_callbacks
@pytest.mark.parametrize("name", ["landmarks", "linear", "projection"])
def test_callbacks_hear_of_every_chunks_sweeps_and_may_end_a_fit(name):
    notebook = Notebook()
    plain = build(name, chunk_size=CHUNK, n_init=1).fit(X)
    model = build(name, chunk_size=CHUNK, n_init=1).set_callbacks(notebook).fit(X)
    np.testing.assert_array_equal(model.memberships_, plain.memberships_)
    assert len(notebook.sweeps) > model.n_iter_  # those of all chunks
    assert notebook.begun == notebook.ended == len(notebook.sweeps) + 1
    np.testing.assert_array_equal(notebook.sweeps[-1].predict(X), model.labels_)
    impatient = (
        build(name, chunk_size=CHUNK, n_init=1, tol=0.0, m=1.5).set_callbacks(Notebook(2)).fit(X)
    )
    assert not impatient.converged_
    assert "callback" in impatient.stop_reason_
    np.testing.assert_array_equal(impatient.predict(X), impatient.labels_)
