"""What streams take and refuse, how they begin, and what they say."""

from __future__ import annotations

import pickle
import re
import warnings
from functools import cache

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.metrics import adjusted_rand_score

from blob_streams import (
    BLOBS,
    CHUNK,
    CHUNKS,
    OF_PAPERS,
    PROBE,
    STREAMS,
    C,
    D,
    X,
    build,
    feed,
    in_order,
    stream,
)
from cmeans import FuzzyCMeans, KernelPatchClustering, Landmarks, StreamingFuzzyCMeans, ThreadEngine
from cmeans.data.blocks import Blocks
from cmeans.fitting.procedure import FitSettings
from cmeans.kernels import RBF, Polynomial, Precomputed
from cmeans.sampling.sampled_rows import GramRows
from cmeans.tuning.softness import fuzzifier
from sweep_choices import pairs

ROWS = Blocks(X, np.ones(len(X)))
over_streams = pytest.mark.parametrize("name", STREAMS)
# Short chunks lose much; that is not what most of these tests are about.
pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore:.*squared norm was lost:UserWarning"),
]


@cache
def _begun(name, chunks):
    return pickle.dumps(feed(build(name), CHUNKS[:chunks]))


def begun(name, chunks):
    """A stream that has seen that many chunks."""
    return pickle.loads(_begun(name, chunks))


@cache
def mass_after(name, chunks):
    """What the last chunk makes of such a stream."""
    return begun(name, chunks).partial_fit(CHUNKS[3]).mass_


def of_size(words, size):
    return {"patch_size" if words[0] is KernelPatchClustering else "chunk_size": size}


# -------------------------------------------------------------------------------- chunk after chunk


@over_streams
def test_a_fit_is_its_chunks_one_by_one(name):
    w = np.split(np.random.default_rng(2).uniform(0.2, 3, size=len(X)), 4)
    parts = feed(build(name), CHUNKS, w)
    whole = build(name, **of_size(STREAMS[name], CHUNK)).fit(X, sample_weight=np.concatenate(w))
    for attribute in ("mass_", "n_samples_seen_", "n_chunks_", "m_", "gamma_"):
        np.testing.assert_array_equal(getattr(whole, attribute), getattr(parts, attribute))
    centres = "cluster_centers_" if name == "linear" else "dual_coef_"
    np.testing.assert_array_equal(getattr(whole, centres), getattr(parts, centres))
    np.testing.assert_array_equal(whole.transform(PROBE), parts.transform(PROBE))
    np.testing.assert_array_equal(whole.labels_, parts.predict(X))
    np.testing.assert_array_equal(whole.labels_, whole.predict(X))
    np.testing.assert_array_equal(whole.memberships_, whole.memberships(X))
    assert whole.objective_ == pytest.approx(-whole.score(X, sample_weight=np.concatenate(w)))
    # the largest of all chunks
    assert (whole.projection_loss_ >= parts.projection_loss_ - 1e-15).all()
    assert whole.converged_ is True
    assert "each of 4 chunks" in whole.stop_reason_


@over_streams
def test_questions_between_chunks(name):
    model = build(name)
    with pytest.raises(NotFittedError):
        model.predict(X)
    for number, chunk in enumerate(CHUNKS, 1):
        assert model.partial_fit(chunk) is model
        assert (model.n_chunks_, model.n_samples_seen_) == (number, number * CHUNK)
        np.testing.assert_array_equal(model.labels_, model.predict(chunk))
        np.testing.assert_array_equal(model.memberships_, model.predict_proba(chunk))
        np.testing.assert_array_equal(model.transform(chunk).argmin(axis=1), model.labels_)
        assert model.objective_ == pytest.approx(-model.score(chunk))
        assert model.outlier_score(PROBE).shape == (30,)
        assert model.representatives(2).max() < CHUNK
        assert (model.mass_ > 0).all()
        assert model.mass_.sum() <= number * CHUNK * (1 + 1e-12)
        assert model.row_visits_ >= number * CHUNK
        assert model.n_clusters_ == C
        assert model.converged_
        truth = (np.arange(4 * CHUNK) % C)[(number - 1) * CHUNK : number * CHUNK]
        assert np.mean(model.predict(BLOBS)[truth] == model.labels_) > 0.95


@over_streams
def test_a_fit_starts_anew_and_a_stream_goes_on_after_it(name):
    model = feed(build(name), CHUNKS[:2])
    model.fit(X)
    np.testing.assert_array_equal(model.transform(PROBE), build(name).fit(X).transform(PROBE))
    assert (model.n_chunks_, model.n_samples_seen_) == (1, len(X))
    model.partial_fit(CHUNKS[0])
    assert (model.n_chunks_, model.n_samples_seen_) == (2, len(X) + CHUNK)
    if name == "points":
        return  # which have four features
    other = model.set_params(kernel=Polynomial(degree=2, gamma=0.1), gamma="scale").fit(X[:, :2])
    fresh = clone(model).fit(X[:, :2])
    assert set(vars(other)) == set(vars(fresh))
    np.testing.assert_array_equal(other.transform(X[:9, :2]), fresh.transform(X[:9, :2]))


@pytest.mark.filterwarnings(
    "ignore:.*centres coincide:UserWarning", "ignore:.*have collapsed:UserWarning"
)
@over_streams
@pytest.mark.parametrize("size", [1, 2, 7])
def test_later_chunks_may_be_of_any_size(name, size):
    model = build(name).partial_fit(X[:80])
    for start in range(80, 80 + 5 * size, size):
        model.partial_fit(X[start : start + size])
        assert model.labels_.shape == (size,)
        assert np.isfinite(model.transform(PROBE)).all()
    assert model.n_samples_seen_ == 80 + 5 * size


@over_streams
def test_no_rows_have_no_labels_and_change_no_cluster(name):
    for empty in (
        np.empty((0, D)),
        [],
        sparse.csr_array((0, D)),
        np.empty((0, D), dtype=np.float32),
    ):
        model = build(name).partial_fit(empty)
        assert (model.labels_.shape, model.memberships_.shape) == ((0,), (0, C))
        with pytest.raises(NotFittedError):
            model.predict(X)
        model, untouched = begun(name, 2), begun(name, 2)
        assert model.partial_fit(empty).partial_fit(empty, sample_weight=[]) is model
        assert (model.labels_.dtype, model.labels_.shape, model.memberships_.shape) == (
            np.int64,
            (0,),
            (0, C),
        )
        assert model.memberships_.dtype == untouched.memberships_.dtype
        assert (model.objective_, model.n_chunks_, model.n_samples_seen_) == (
            0.0,
            untouched.n_chunks_,
            untouched.n_samples_seen_,
        )
        np.testing.assert_array_equal(model.mass_, untouched.mass_)
        np.testing.assert_array_equal(
            model.partial_fit(CHUNKS[3]).labels_, untouched.partial_fit(CHUNKS[3]).labels_
        )


@over_streams
def test_answers_about_no_rows_are_empty(name):
    model = begun(name, 2)
    for empty in (np.empty((0, D)), [], np.empty((0, D), dtype=np.float32)):
        labels, u = model.predict(empty), model.memberships(empty)
        assert (labels.dtype, labels.shape, u.shape, model.transform(empty).shape) == (
            np.int64,
            (0,),
            (0, C),
            (0, C),
        )
    for ask in (model.predict, model.partial_fit):
        with pytest.raises(ValueError, match=r"X has 5 features, but .* is expecting 4 features"):
            ask(np.empty((0, 5)))


@pytest.mark.parametrize("name", [name for name, (cls, *_) in STREAMS.items()])
def test_labels_of_chunks_join_to_those_of_all_rows(name):
    model, labels, u = build(name), [], []
    for start, stop in ((0, 50), (50, 50), (50, 120)):
        model.partial_fit(X[start:stop])
        labels.append(model.labels_)
        u.append(model.memberships_)
    assert np.concatenate(labels).shape == (120,)
    assert np.concatenate(u).shape == (120, C)


# ----------------------------------------------------------------------------------- the first rows


@pytest.mark.parametrize("method", ["landmarks", "projection"])
def test_first_rows_are_held_and_clustered_together(method):
    """Until there are twenty a cluster every chunk is a fit of all rows so far; then the first of
    them are let go."""
    model = stream(C, method=method, kernel="rbf", gamma=0.2, m=1.3, tol=1e-7, random_state=0)
    for start in range(0, 63, 9):  # the seventh chunk makes sixty of them
        model.partial_fit(X[start : start + 9])
        alone = FuzzyCMeans(
            C, kernel="rbf", gamma=0.2, m=1.3, landmarks=None, tol=1e-7, random_state=0
        ).fit(X[: start + 9])
        expected = alone.memberships(PROBE)[:, in_order(alone)]
        np.testing.assert_allclose(
            model.memberships(PROBE)[:, in_order(model)],
            expected,
            atol=1e-3 if method == "landmarks" else 1e-5,
        )
        np.testing.assert_array_equal(model.projection_loss_, np.zeros(C))
        assert (model.n_samples_seen_, model.n_chunks_) == (start + 9, start // 9 + 1)
        assert model.labels_.shape == (9,)
    model.partial_fit(X[63:72])
    assert model.n_samples_seen_ == 72
    if method == "projection":
        assert model.projection_loss_.max() > 1e-3


@over_streams
def test_clusters_keep_their_numbers_while_rows_are_held(name):
    model, numbers = build(name), set()
    for start in range(0, 90, 9):
        model.partial_fit(X[start : start + 9])
        numbers.add(tuple(model.predict(BLOBS)))
    assert len(numbers) == 1


@pytest.mark.parametrize(
    ("warm_up", "expected"), [(0, 4), (1, 4), (40, 4), (41, 3), (81, 2), ("auto", 3)]
)
def test_how_many_rows_are_held(warm_up, expected):
    """Chunks of forty rows; decay leaves alone what is held, which is clustered as if it had come
    at once."""
    words = {
        "rule": "hard",
        "kernel": "rbf",
        "landmarks": X[::7],
        "gamma": 0.2,
        "random_state": 0,
        "decay": 0.5,
    }
    model = feed(StreamingFuzzyCMeans(C, warm_up=warm_up, **words), CHUNKS)
    together = (5 - expected) * CHUNK
    kept = [together, *([CHUNK] * (expected - 1))]
    assert model.mass_.sum() == pytest.approx(
        sum(rows * 0.5**age for age, rows in enumerate(reversed(kept)))
    )


def test_rows_without_weight_do_not_count_among_the_held():
    words = {
        "rule": "hard",
        "kernel": "rbf",
        "landmarks": X[::7],
        "gamma": 0.2,
        "random_state": 0,
        "decay": 0.5,
        "warm_up": 41,
    }
    model, half = StreamingFuzzyCMeans(C, **words), np.repeat([1.0, 0.0], CHUNK // 2)
    feed(model, CHUNKS, [half] * 4)
    assert model.mass_.sum() == pytest.approx(60 * 0.5 + 20)


def test_given_starts_need_no_further_rows():
    words = {"rule": "hard", "kernel": "rbf", "landmarks": X[::7], "gamma": 0.2, "decay": 0.5}
    model = feed(StreamingFuzzyCMeans(C, init=X[:C], **words), CHUNKS[:2])
    assert model.mass_.sum() == pytest.approx(CHUNK * 1.5)
    np.testing.assert_array_equal(model.predict(X[:C]), np.arange(C))


@pytest.mark.filterwarnings("ignore:.*only 2 distinct rows:UserWarning")
def test_clusters_missing_at_first_come_while_rows_are_held():
    model = build("landmarks").partial_fit(np.repeat(X[:2], 3, axis=0))
    before = model.predict(X[:2])
    assert len(model.mass_) == 2
    model.partial_fit(X[:30])
    assert len(model.mass_) == C
    np.testing.assert_array_equal(model.predict(X[:2]), before)
    assert model.get_feature_names_out().shape == (C,)


def test_held_rows_stay_when_streams_merge():
    """What has come from the other stream is not forgotten when this one's first rows are clustered
    anew."""
    words = {"rule": "hard", "kernel": "rbf", "landmarks": X[::7], "gamma": 0.2, "random_state": 0}
    short, long = (
        StreamingFuzzyCMeans(C, **words).partial_fit(X[:30]),
        StreamingFuzzyCMeans(C, **words).fit(X[30:150]),
    )
    short.merge(long)
    assert short.mass_.sum() == pytest.approx(150)
    short.partial_fit(X[150:])
    assert short.mass_.sum() == pytest.approx(160)


@pytest.mark.parametrize("name", ["landmarks", "projection", "patches"])
def test_enough_rows_to_start_with_are_in_the_first_chunk(name):
    """Chunks are as even as can be, but the first needs a row for every cluster: nothing to warn
    of."""
    for count, n in ((8, 10), (3, 160)):
        rows = np.arange(float(n))[:, None]
        model = build(name).set_params(
            n_clusters=count, gamma=0.5, rule="hard", **of_size(STREAMS[name], count)
        )
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", ".*stopped at max_iter", ConvergenceWarning)
            assert len(model.fit(rows).mass_) == count


@over_streams
def test_rows_wait_until_there_is_one_for_every_cluster(name):
    if (
        STREAMS[name][0] is KernelPatchClustering
        or build(name)._rows_to_begin_with(FitSettings(C, 1, *[None] * 6), ROWS) < C
    ):
        return  # which hold no rows
    model, weight = build(name), np.linspace(0.5, 2.0, 120)
    for start, stop in ((0, 1), (1, 2)):
        model.partial_fit(X[start:stop], sample_weight=weight[start:stop])
        assert model.labels_.tolist() == [-1]
        assert model.memberships_.tolist() == [[0.0] * C]
        with pytest.raises(NotFittedError):
            model.predict(X)
    with pytest.raises(ValueError, match="X has 5 features"):
        model.partial_fit(np.ones((1, 5)))
    model.partial_fit(X[2:60].astype(np.float32), sample_weight=weight[2:60])
    assert (model.labels_.shape, model.n_samples_seen_, model.n_chunks_) == ((58,), 60, 3)
    assert model.mass_.sum() > 0
    assert (model.labels_ >= 0).all()
    at_once = build(name).partial_fit(
        X[:60].astype(np.float32).astype(np.float64), sample_weight=weight[:60]
    )
    assert adjusted_rand_score(model.predict(X), at_once.predict(X)) == 1.0
    assert "_early" not in vars(model)


@over_streams
def test_the_first_chunk_needs_a_row_for_every_cluster(name):
    model = build(name)
    if "warm_up" in model.get_params():
        model.set_params(warm_up=0)
    with pytest.raises(
        ValueError, match=rf"{type(model).__name__}\(n_clusters=3\).*n_samples=2.*larger chunk"
    ):
        model.partial_fit(X[:2])
    with pytest.raises(NotFittedError):
        model.predict(X)
    if name != "points":  # which have four features
        assert model.partial_fit(X[:30, :2]).n_features_in_ == 2


# ---------------------------------------------------------------------------------- what is refused


BAD_CHUNKS = {
    "nan": (
        lambda x: np.where(np.arange(len(x))[:, None] == 5, np.nan, x),
        "NaN, first at row 5, column 0",
    ),
    "infinity": (
        lambda x: np.where(np.arange(len(x))[:, None] == 6, np.inf, x),
        "infinity, first at row 6, column 0",
    ),
    "too few columns": (lambda x: x[:, :3], "3 features.*expecting 4 features"),
    "too many columns": (lambda x: np.hstack([x, x]), "8 features.*expecting 4 features"),
    "one row": (lambda x: x[0], "expected a 2-D array"),
    "text": (lambda x: x.astype(str), "could not convert|numeric|string"),
    "no columns": (lambda x: x[:0, :0].reshape(3, 0), "0 feature|minimum of 1"),
}


@pytest.mark.parametrize(("name", "bad", "chunks"), pairs(STREAMS, BAD_CHUNKS, [1, 3]))
def test_a_chunk_that_is_refused_leaves_everything_as_it_was(name, bad, chunks):
    spoil, named = BAD_CHUNKS[bad]
    model = begun(name, chunks)
    before = pickle.dumps(model)
    rows = spoil(CHUNKS[3])
    rows = np.where(rows == "0.0", "no number", rows) if rows.dtype.kind == "U" else rows
    with pytest.raises(ValueError, match=named):
        model.partial_fit(rows)
    assert pickle.dumps(model) == before
    np.testing.assert_array_equal(model.partial_fit(CHUNKS[3]).mass_, mass_after(name, chunks))


@over_streams
@pytest.mark.parametrize(
    ("weight", "named"),
    [
        (np.ones(3), r"sample_weight has shape \(3,\)"),
        (np.full(CHUNK, -1.0), "must not be negative"),
        (np.full(CHUNK, np.nan), "must be finite"),
        (np.zeros(CHUNK), "every sample weight is zero"),
        (["x"] * CHUNK, "must be numbers"),
    ],
)
def test_bad_weights_are_refused(name, weight, named):
    model = begun(name, 2)
    before = pickle.dumps(model)
    with pytest.raises(ValueError, match=rf"{type(model).__name__}: .*{named}"):
        model.partial_fit(CHUNKS[2], sample_weight=weight)
    assert pickle.dumps(model) == before
    with pytest.raises(ValueError, match=named):
        build(name).partial_fit(CHUNKS[2], sample_weight=weight)


BAD_WORDS = [
    ({"method": "dictionary"}, "method='dictionary'.*landmarks.*projection"),
    ({"projection": "qr"}, "projection='qr'.*cholesky.*gradient.*l1"),
    ({"meta_membership": "fixed"}, "meta_membership='fixed'.*auto.*update.*frozen"),
    ({"past_weight": "|q|"}, r"past_weight='\|q\|'.*u\^m.*'u'"),
    ({"rule": "possibilistic"}, "rule='possibilistic'.*fuzzy.*hard"),
    ({"kernel": "rbf", "landmarks": Landmarks(method="uniform")}, "method='uniform'.*rpcholesky"),
    *(({"decay": value}, "decay") for value in (0, -0.5, 1.1, 2, np.nan, None, "x")),
    *(
        ({"kernel": "rbf", "landmarks": value}, 'landmarks=.*"auto".*number')
        for value in (0, -3, 1.5, "all")
    ),
    ({"kernel": "rbf", "landmarks": None}, 'landmarks=None.*give a number, or "auto"'),
    *(
        ({"warm_up": value}, 'warm_up.*"auto" or a whole number of at least 0')
        for value in (-1, 2.5, "long", None)
    ),
    ({"warm_up": "long", "init": X[:C]}, "warm_up"),
    (
        {"method": "projection", "kernel": "rbf", "landmarks": X[:5]},
        r'landmarks=\.\.\..*method="landmarks"',
    ),
    ({"kernel": "rbf", "landmarks": X[:5, :2]}, r"landmarks=\.\.\..*shape \(count, 4\)"),
    ({"kernel": "rbf", "landmarks": np.array([0, 999])}, "row number 999 does not exist"),
    ({"init": "none such"}, r"init='none such'.*k-means\+\+"),
    ({"init": X[:2]}, "init"),
    ({"kernel": "precomputed"}, r'kernel="precomputed".*pass rows and a kernel'),
    ({"kernel": Precomputed(), "gamma": "scale"}, r'kernel="precomputed".*pass rows and a kernel'),
    ({"kernel": "no kernel"}, "kernel='no kernel'"),
    ({"m": 1.0}, "m=1.0"),
    ({"n_clusters": 0}, "n_clusters=0"),
    ({"max_iter": 0}, "max_iter=0"),
    ({"tol": -1.0}, "tol=-1.0"),
    ({"n_init": 0}, "n_init=0"),
    ({"engine": "much"}, "engine"),
]


@pytest.mark.parametrize(("words", "named"), BAD_WORDS)
@pytest.mark.parametrize("later", [False, True])
def test_bad_words_are_refused_and_those_that_are_known_named(words, named, later):
    """At whatever chunk, and in fit."""
    name = "published" if OF_PAPERS & set(words) else "plain"
    model = begun(name, 3) if later else build(name)
    of_the_first_rows = {"init", "rule", "m", "landmarks", "kernel"} & set(words) and set(
        words
    ) != {"landmarks", "method"}
    if later and of_the_first_rows and "precomputed" not in named:
        pytest.skip("settled by the first rows")
    model.set_params(**words)
    before = pickle.dumps(vars(model).get("_stream"))
    with pytest.raises(ValueError, match=rf"(?s)Streaming\w+.*{named}"):
        model.partial_fit(CHUNKS[3])
    assert pickle.dumps(vars(model).get("_stream")) == before
    if not later:
        with pytest.raises(ValueError, match=rf"(?s)Streaming\w+.*{named}"):
            clone(model).fit(X)


@pytest.mark.parametrize(
    ("size", "named"),
    [
        (2, r"chunk_size=2.*n_clusters=3"),
        (0, "chunk_size=0"),
        (2.5, "chunk_size"),
        (None, "chunk_size"),
    ],
)
def test_chunks_of_a_fit_have_a_row_for_every_cluster(size, named):
    with pytest.raises(ValueError, match=rf"StreamingFuzzyCMeans.*{named}"):
        StreamingFuzzyCMeans(C, chunk_size=size).fit(X)


@pytest.mark.parametrize("name", ["projection", "gradient", "l1", "patches"])
def test_a_chunk_whose_kernel_matrix_does_not_fit_in_memory(name):
    """It says which word to make smaller, and leaves a stream that can go on with a smaller
    chunk."""
    words = of_size(STREAMS[name], CHUNK)
    big = np.tile(X, (30, 1)) + np.arange(30 * len(X))[:, None] / 1e5
    model = (
        build(name, engine=ThreadEngine(memory_budget="100MB"))
        .partial_fit(CHUNKS[0])
        .partial_fit(CHUNKS[1])
    )
    before = pickle.dumps(model)
    with pytest.raises(
        ValueError,
        match=rf"{type(model).__name__}: \d+ rows at once need .*memory_budget=100000000.*smaller "
        rf"{next(iter(words))}",
    ):
        model.partial_fit(big)
    assert pickle.dumps(model) == before
    assert model.partial_fit(CHUNKS[2]).n_samples_seen_ == 3 * CHUNK
    with pytest.raises(ValueError, match=next(iter(words))):
        build(name, engine=ThreadEngine(memory_budget="100MB"), **dict.fromkeys(words, 5000)).fit(
            big
        )


# ------------------------------------------------------------------------------------- what it says


def test_names_of_features():
    pd = pytest.importorskip("pandas")
    frames = [pd.DataFrame(chunk, columns=list("abcd")) for chunk in CHUNKS]
    for name in STREAMS:
        model = feed(build(name), frames[:2])
        assert model.feature_names_in_.tolist() == list("abcd")
        before = pickle.dumps(model)
        for other in ("abce", "dcba"):
            with pytest.raises(ValueError, match="feature names"):
                model.partial_fit(frames[2].set_axis(list(other), axis=1))
        assert pickle.dumps(model) == before
        np.testing.assert_allclose(
            np.sort(model.mass_), np.sort(feed(build(name), CHUNKS[:2]).mass_), rtol=1e-5
        )
        with pytest.warns(UserWarning, match="valid feature names"):
            model.partial_fit(CHUNKS[2])


@over_streams
def test_verbose_logs_chunks_and_sweeps(name, logged):
    model = build(name, verbose=1)
    sweeps = [model.partial_fit(chunk).n_iter_ for chunk in CHUNKS]
    assert [message.split(": ")[1] for message in logged.messages] == [
        f"chunk {number}" for number in (1, 2, 3, 4)
    ]
    assert all(message.startswith(type(model).__name__) for message in logged.messages)
    logged.records.clear()
    model = build(name, verbose=2, n_init=1)
    if "search" in model.get_params():
        model.set_params(search=None)  # whose sweeps are told too
    sweeps = [model.partial_fit(chunk).n_iter_ for chunk in CHUNKS]
    lines = [message for message in logged.messages if " sweep " in message]
    assert len(lines) == sum(sweeps)
    pattern = re.compile(
        rf"{type(model).__name__} [\w ]+ run (\d+)/(\d+) sweep (\d+): objective [\d.e+-]+, "
        r"movement [\d.e+-]+"
    )
    found = [tuple(map(int, pattern.fullmatch(line).groups())) for line in lines]
    assert [sweep for _, _, sweep in found] == [
        sweep for count in sweeps for sweep in range(1, count + 1)
    ]
    assert all(run <= runs for run, runs, _ in found)


@over_streams
def test_a_run_cut_short_is_warned_of(name):
    with pytest.warns(
        ConvergenceWarning,
        match=rf"{STREAMS[name][0].__name__}: stopped at max_iter=1\b.*raise max_iter or loosen "
        r"tol",
    ):
        model = build(name, max_iter=1, tol=0.0).partial_fit(CHUNKS[0])
    assert model.converged_ is False
    with pytest.warns(
        ConvergenceWarning,
        match=r"stopped at max_iter=1 in \d of 4 chunks; raise max_iter or loosen tol",
    ):
        model = build(name, max_iter=1, tol=0.0, **of_size(STREAMS[name], CHUNK)).fit(X)
    assert model.converged_ is False


@over_streams
def test_the_history_is_that_of_the_sweeps_over_the_last_chunk(name):
    """The past included, so that nothing in it compares with `objective_`, which is of the chunk's
    rows alone; it never rises."""
    model = build(name, tol=1e-6, n_init=1)
    for number, chunk in enumerate(CHUNKS):
        model.partial_fit(chunk)
        history = model.objective_history_
        assert history.shape == (model.n_iter_,)
        assert (np.diff(history) <= 1e-9 * history[0]).all()
        if number > 1:
            assert history[-1] > model.objective_
        assert "%" not in model.stop_reason_


def test_what_is_lost_is_warned_of():
    """A tenth of a centre's squared norm, with what to do; at the caller's own line."""
    model = build("projection", warm_up=0, gamma=1.0).partial_fit(X[:80])
    with pytest.warns(
        UserWarning,
        match=r"StreamingKernelFCM: .*up to \d\d% of a centre's squared norm.*larger "
        r"chunks.*random order",
    ) as caught:
        model.partial_fit(X[80:83])
    assert caught[0].filename == __file__
    assert model.projection_loss_.max() > 0.1
    percent = int(re.search(r"(\d\d)%", str(caught[0].message))[1])
    assert percent == round(100 * model.projection_loss_.max())
    with pytest.warns(UserWarning, match="squared norm"):
        build("projection", warm_up=0, gamma=1.0, chunk_size=CHUNK).fit(X)
    quiet = build("projection", warm_up=0, gamma=0.02).partial_fit(X[:80])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert quiet.partial_fit(X[80:]).projection_loss_.max() <= 0.1


@over_streams
@pytest.mark.parametrize("fitted", [False, True])
def test_fallen_centres_are_complained_of(name, fitted):
    """Once, and with the m* of rows that were seen together."""
    if name in ("hard", "linear"):
        pytest.skip("hard clusters do not fall together, nor any here in so few dimensions")
    at_once = {} if name == "patches" else {"warm_up": 0}
    model = build(name, m=30.0, init="random-partition", **at_once, **of_size(STREAMS[name], CHUNK))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        if fitted:
            model.fit(X)
        else:
            feed(model, CHUNKS)
    said = [str(one.message) for one in caught if "squared norm" not in str(one.message)]
    assert len(said) == 1
    assert f"{type(model).__name__}: the clusters have collapsed" in said[0]
    rows = X if fitted else CHUNKS[0]
    expected = fuzzifier(GramRows(RBF(0.2)(rows, rows)), np.ones(len(rows)), 1).critical
    critical = float(re.search(r"beyond m\*=([\d.]+)", said[0])[1])
    assert critical == pytest.approx(expected, rel=1e-3)
    assert model.separation_ < 0.01


@pytest.mark.parametrize("size", [100, 1000])
def test_rows_in_the_order_of_their_clusters(size):
    """One warning, which is true, or none where the clusters are found."""
    rng = np.random.default_rng(0)
    rows = np.concatenate([rng.normal(at, 0.1, (1000, 2)) for at in ([0, 0], [20, 0], [0, 20])])
    model = StreamingFuzzyCMeans(3, kernel="linear", random_state=0)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        feed(model, np.split(rows, len(rows) // size))
    right = adjusted_rand_score(np.arange(3000) // 1000, model.predict(rows))
    if size == 1000:
        assert (right, len(caught)) == (1, 0)
    else:
        assert right < 0.9
        [only] = caught
        assert "rows in random order" in str(only.message)
        shuffled = StreamingFuzzyCMeans(3, kernel="linear", random_state=0)
        order = rng.permutation(3000)
        feed(shuffled, np.split(rows[order], 30))
        assert adjusted_rand_score(order // 1000, shuffled.predict(rows[order])) == 1
