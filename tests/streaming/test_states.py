"""A stream stopped and resumed is the stream that never stopped, to the last bit; a damaged one is
refused."""

from __future__ import annotations

import dataclasses
import pickle
import subprocess
import sys
import warnings
from functools import partial

import numpy as np
import pytest
from safetensors.numpy import load as from_bytes
from scipy import sparse

from cmeans import KernelPatchClustering, StreamingFuzzyCMeans, load, save
from cmeans.kernels import RBF, Polynomial
from cmeans.papers import StreamingKernelFCM
from forged import forge, parts_of
from sweep_choices import often, pairs

# The few rows here tempt centres to fall together, and short chunks lose much; that is not what
# these tests are about.
pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings(
        "ignore:.*centres coincide:UserWarning", "ignore:.*have collapsed:UserWarning"
    ),
    pytest.mark.filterwarnings("ignore:.*squared norm was lost:UserWarning"),
    pytest.mark.filterwarnings(
        "ignore:.*stopped at max_iter:sklearn.exceptions.ConvergenceWarning"
    ),
]

C, CHUNK = 3, 25
rng = np.random.default_rng(0)
X = (
    np.round(rng.normal(size=(6 * CHUNK, 3)), 3)
    + np.array([[0, 0, 0], [4, 0, 0], [0, 4, 0]])[np.arange(6 * CHUNK) % 3]
)
WEIGHT = rng.uniform(0.2, 3, size=len(X))
NEW = rng.normal(size=(9, 3)) * 3

STREAMS = {
    "growing": (StreamingFuzzyCMeans, {"kernel": "rbf", "gamma": 0.1, "landmarks": 12}),
    "growing, polynomial": (
        StreamingFuzzyCMeans,
        {"kernel": Polynomial(degree=2), "landmarks": 8, "warm_up": 0},
    ),
    "growing, laplacian, hard": (
        StreamingFuzzyCMeans,
        {"kernel": "laplacian", "gamma": 0.2, "landmarks": 12, "rule": "hard"},
    ),
    "points": (
        StreamingKernelFCM,
        {
            "kernel": RBF(0.1),
            "landmarks": X[::9],
            "m": 1.5,
            "method": "landmarks",
            "meta_membership": "update",
            "past_weight": "u",
        },
    ),
    "linear": (StreamingFuzzyCMeans, {"kernel": "linear", "decay": 0.8}),
    "projection": (
        StreamingKernelFCM,
        {"kernel": "rbf", "gamma": "median", "method": "projection", "decay": 0.8, "warm_up": 0},
    ),
    "projection, polynomial": (
        StreamingKernelFCM,
        {"kernel": Polynomial(degree=2), "method": "projection"},
    ),
    "gradient": (
        StreamingKernelFCM,
        {
            "kernel": "rbf",
            "gamma": 0.1,
            "method": "projection",
            "projection": "gradient",
            "warm_up": 40,
        },
    ),
    "l1": (
        StreamingKernelFCM,
        {
            "kernel": "rbf",
            "gamma": 0.1,
            "method": "projection",
            "projection": "l1",
            "past_weight": "u",
        },
    ),
    "patches": (KernelPatchClustering, {"kernel": "rbf", "gamma": 0.1, "n_points": 4}),
    "patches, cosine, hard": (
        KernelPatchClustering,
        {"kernel": "cosine", "n_points": 2, "rule": "hard"},
    ),
}
FORMS = {
    "dense": np.asarray,
    "fortran": np.asfortranarray,
    "float32": lambda x: x.astype(np.float32),
    "csr": lambda x: sparse.csr_matrix(x.astype(np.float32)),
}
over_streams = pytest.mark.parametrize("name", STREAMS)


def build(name, **words):
    estimator, own = STREAMS[name]
    return estimator(
        C, **{"random_state": 3, "n_init": 2, "max_iter": 40, "tol": 1e-3, **own, **words}
    )


def feed(model, chunks, form="dense", weighted=True):
    for number in chunks:
        rows = slice(number * CHUNK, (number + 1) * CHUNK)
        model.partial_fit(FORMS[form](X[rows]), sample_weight=WEIGHT[rows] if weighted else None)
    return model


def resumed(model, how, path):
    if how == "pickle":
        return pickle.loads(pickle.dumps(model))
    save(model, path, rows=how == "save")
    return load(path)


def bits(model, path):
    """All that a file holds of a model: words, attributes, the state of the stream."""
    if model is not None:
        save(model, path)
    header, arrays = parts_of(path.read_bytes())

    def resolved(value):
        if isinstance(value, dict) and "$array" in value:
            a = arrays[value["$array"]]
            return str(a.dtype), a.shape, a.tobytes()
        return {k: resolved(v) for k, v in value.items()} if isinstance(value, dict) else value

    return resolved(header)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "stream.safetensors"


# ------------------------------------------------------------------------------ stopped and resumed


def has_a_kernel_of(name, form, *_):
    return "laplacian" not in name or form != "csr"


@pytest.mark.parametrize(
    ("name", "form", "stop", "how"),
    pairs(STREAMS, FORMS, (1, 2, 4), ("save", "without rows", "pickle"), allowed=has_a_kernel_of),
)
def test_a_stream_goes_on_where_it_stopped(name, form, stop, how, path):
    """Also while its first rows are held: until there are sixty of them where nothing else is
    said."""
    model = feed(build(name, verbose=0), range(stop), form)
    other, asked, rest = resumed(model, how, path), FORMS[form](NEW), range(stop, stop + 2)
    assert hasattr(other, "labels_") is (how != "without rows")
    np.testing.assert_array_equal(other.transform(asked), model.transform(asked))
    np.testing.assert_array_equal(other.mass_, model.mass_)
    assert bits(feed(other, rest, form), path) == bits(feed(model, rest, form), path)
    np.testing.assert_array_equal(other.memberships(asked), model.memberships(asked))
    assert (model.n_chunks_, model.n_samples_seen_) == (rest.stop, rest.stop * CHUNK)


@over_streams
def test_stopping_after_every_chunk_changes_nothing(name, path):
    whole, parts = build(name), build(name)
    for number in range(6):
        feed(whole, [number])
        parts = resumed(feed(parts, [number]), "without rows", path)
    assert bits(feed(parts, [0]), path) == bits(feed(whole, [0]), path)


@over_streams
def test_nothing_hangs_on_the_random_state_of_the_day(name, path):
    """None draws a seed once; what later chunks draw hangs on that."""
    model = feed(build(name, random_state=None), range(2))
    other = resumed(model, "save", path)
    assert other.random_state is None
    assert bits(feed(other, range(2, 4)), path) == bits(feed(model, range(2, 4)), path)
    generator = build(name, random_state=np.random.RandomState(0))
    again = resumed(feed(generator, range(2)), "pickle", path)
    again.random_state.uniform(size=100)
    np.testing.assert_array_equal(
        feed(again, range(2, 4)).transform(NEW), feed(generator, range(2, 4)).transform(NEW)
    )


def test_after_a_fit_too(path):
    for name in STREAMS:
        size = {"patch_size": 50} if name.startswith("patches") else {"chunk_size": 50}
        model = build(name, **size).fit(X[: 4 * CHUNK], sample_weight=WEIGHT[: 4 * CHUNK])
        other = resumed(model, "save", path)
        assert bits(feed(other, [4, 5]), path) == bits(feed(model, [4, 5]), path)


def test_in_a_fresh_process(path):
    model = feed(build("growing"), range(2))
    save(model, path, rows=False)
    np.savez(path.parent / "rest.npz", X=X, weight=WEIGHT)
    script = (
        "import sys, warnings, numpy as np, cmeans\n"
        "warnings.simplefilter('ignore')\n"
        "rest = np.load(sys.argv[2])\n"
        "model = cmeans.load(sys.argv[1])\n"
        f"for start in range({2 * CHUNK}, {6 * CHUNK}, {CHUNK}):\n"
        f"    rows = slice(start, start + {CHUNK})\n"
        "    model.partial_fit(rest['X'][rows], sample_weight=rest['weight'][rows])\n"
        "cmeans.save(model, sys.argv[1])\n"
    )
    subprocess.run(
        [sys.executable, "-c", script, str(path), str(path.parent / "rest.npz")],
        check=True,
        timeout=120,
    )
    there = bits(None, path)
    assert there == bits(feed(model, range(2, 6)), path)


def test_frames_and_their_names(path):
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(X, columns=["a", "b", "ü c"])
    model = build("growing").partial_fit(frame[:CHUNK])
    other = resumed(model, "save", path)
    assert other.feature_names_in_.tolist() == ["a", "b", "ü c"]
    for one in (model, other):
        one.partial_fit(frame[CHUNK : 3 * CHUNK])
    assert bits(other, path.with_suffix(".other")) == bits(model, path)
    with pytest.raises(ValueError, match="feature names"):
        other.partial_fit(frame.rename(columns={"a": "z"}))


def test_merged_streams_travel(path):
    one, other = (feed(build("points"), chunks) for chunks in ([0, 1, 2], [3, 4, 5]))
    one.merge(other)
    again = resumed(one, "save", path)
    assert not hasattr(again, "labels_")
    assert bits(feed(again, [0]), path) == bits(feed(one, [0]), path)


# --------------------------------------------------------------------------------- how much is kept


def size_of(value, seen=None):
    """Bytes of all arrays that an object holds on to."""
    seen = set() if seen is None else seen
    if id(value) in seen:
        return 0
    seen.add(id(value))
    if isinstance(value, np.ndarray):
        return value.nbytes
    if sparse.issparse(value):
        return value.data.nbytes + value.indices.nbytes + value.indptr.nbytes
    if dataclasses.is_dataclass(value):
        return sum(size_of(part, seen) for part in vars(value).values())
    if isinstance(value, dict):
        return sum(size_of(part, seen) for part in value.values())
    return sum(size_of(part, seen) for part in value) if isinstance(value, (list, tuple)) else 0


@pytest.mark.parametrize("name", ["growing", "points", "linear", "projection", "patches"])
def test_memory_does_not_grow_with_the_stream(name):
    """Beyond the landmarks there may be, and points that stand for one cluster or several."""
    model, sizes = build(name, max_iter=3, tol=0.1, n_init=1), []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for number in range(50):
            feed(model, [number % 6])
            sizes.append(size_of(vars(model)) - model.objective_history_.nbytes)
    assert model.n_samples_seen_ == 50 * CHUNK
    room = {"growing": 12, "patches": C * 4}.get(name, 0)
    assert max(sizes[30:]) <= max(sizes[4:20]) + 16 * room * (room + C + 3)
    if name in ("points", "linear"):
        assert len(set(sizes[3:])) == 1


def test_held_rows_are_let_go():
    model = build("points", warm_up=2 * CHUNK + 1)
    sizes = [size_of(feed(model, [number])._stream) for number in range(5)]
    assert sizes[1] - sizes[0] == CHUNK * (3 + 1) * 8
    assert sizes[2] == sizes[3] == sizes[4] < sizes[0]


# ---------------------------------------------------------------------------------- damaged streams


@pytest.fixture(scope="module")
def originals(tmp_path_factory):
    """A few streams as bytes: held rows, a reserve, a factor; without; points with shares."""
    folder, out = tmp_path_factory.mktemp("originals"), {}
    for name in ("growing", "growing, polynomial", "linear", "projection", "patches"):
        save(feed(build(name), range(1 if name in ("growing", "linear") else 3)), folder / "model")
        out[name] = (folder / "model").read_bytes()
    return out


def rewrite(data, path, change):
    """The file again with its header (JSON) and arrays changed by hand, as someone who knows the
    format would."""
    header, arrays = parts_of(data)
    change(header, arrays)
    forge(path, header, arrays)


def at(header, *way):
    """The fields of a part of the stream: at(header, "past", "space")."""
    value = header["fitted"]["_stream"]
    for name in way:
        value = value["fields"][name]
    return value["fields"]


def put(way, field, value):
    return lambda header, _: at(header, *way).__setitem__(field, value)


def drop(way, field):
    return lambda header, _: at(header, *way).pop(field)


def spoil(way, field, change):
    """Another array in that place, and only there."""

    def apply(header, arrays):
        arrays["spoilt"] = np.ascontiguousarray(change(arrays[at(header, *way)[field]["$array"]]))
        at(header, *way)[field] = {"$array": "spoilt"}

    return apply


def in_place(array, change):
    """Another array under its name, wherever it is used."""
    return lambda _, arrays: arrays.__setitem__(array, np.ascontiguousarray(change(arrays[array])))


def first(value):
    def change(a):
        a = a.copy()
        a.flat[0] = value
        return a

    return change


EVERYBODYS = {
    "no stream": lambda header, _: header["fitted"].pop("_stream"),
    "stream is nothing": lambda header, _: header["fitted"].__setitem__("_stream", None),
    "stream is text": lambda header, _: header["fitted"].__setitem__("_stream", "x"),
    "stream is its past": lambda header, _: header["fitted"].__setitem__(
        "_stream", at(header)["past"]
    ),
    "past is missing": put((), "past", None),
    "past is a rule": put((), "past", {"$object": "Hard", "fields": {}}),
    "another rule": put((), "rule", {"$object": "Fuzzy", "fields": {"m": 1.23, "exponent": None}}),
    "a rule of another kind": put((), "rule", {"$object": "Possibilistic", "fields": {"m": 2.0}}),
    "another kernel": put(
        ("past", "space"), "kernel", {"$object": "RBF", "fields": {"kernel": "rbf", "gamma": 7.0}}
    ),
    "space is missing": put(("past",), "space", None),
    "centres are missing": put(("past",), "centres", None),
    "a cluster less": spoil(("past", "centres"), "coordinates", lambda a: a[:-1]),
    "a direction more": spoil(("past", "centres"), "duals", lambda a: np.hstack([a, a[:, :1]])),
    "centres are flat": spoil(("past", "centres"), "coordinates", np.ravel),
    "centres that are not numbers": spoil(("past", "centres"), "coordinates", first(np.nan)),
    "centres in float32": spoil(("past", "centres"), "coordinates", lambda a: a.astype(np.float32)),
    "masses of fewer clusters": spoil(("past",), "mass", lambda a: a[:-1]),
    "negative mass": spoil(("past",), "mass", first(-1.0)),
    "mass that is no number": spoil(("past",), "mass", first(np.nan)),
    "endless mass": spoil(("past",), "mass", first(np.inf)),
    "negative spread": spoil(("past",), "spread", first(-1.0)),
    "spread of more clusters": spoil(("past",), "spread", lambda a: np.append(a, 1.0)),
    "weight is text": put(("past",), "weight", "x"),
    "weight is missing": put(("past",), "weight", None),
    **{f"dtype is {value!r}": put((), "dtype", value) for value in ("int8", "", None, 5)},
    **{
        f"unit is {value!r}": put((), "unit", value)
        for value in (0.0, -1.0, float("nan"), float("inf"), None, "x")
    },
    **{f"seed is {value!r}": put((), "seed", value) for value in (-1, 2**40, 1.5, None, "x", True)},
    **{
        f"{counter} is {value!r}": put((), counter, value)
        for counter in ("n_chunks", "n_samples", "row_visits")
        for value in (-1, 1.5, None)
    },
    "reserve is a rule": put((), "reserve", {"$object": "Hard", "fields": {}}),
    "reserve of no number": put(
        (), "reserve", {"$object": "Reserve", "fields": {"limit": "x", "usual": None}}
    ),
    "held is a rule": put((), "held", {"$object": "Hard", "fields": {}}),
    "a field too many": put((), "further", 1),
}
OWN = {
    "growing": {
        "factor of fewer landmarks": spoil(("past", "space"), "whitener", lambda a: a[:-1]),
        "factor of fewer directions": spoil(("past", "space"), "whitener", lambda a: a[:, :-1]),
        "factor without its kernel": put(("past", "space"), "gram", None),
        "kernel of fewer landmarks": spoil(("past", "space"), "gram", lambda a: a[:-1, :-1]),
        "kernel that is no number": spoil(("past", "space"), "gram", first(np.nan)),
        "landmarks of fewer features": spoil(("past", "space"), "points", lambda a: a[:, :-1]),
        "a landmark less": spoil(("past", "space"), "points", lambda a: a[:-1]),
        "landmarks that are not numbers": spoil(("past", "space"), "points", first(np.inf)),
        "held rows of fewer features": spoil(("held",), "x", lambda a: a[:, :-1]),
        "held rows without weights": spoil(("held",), "weight", lambda a: a[:-1]),
        "held rows of another type": spoil(("held",), "x", lambda a: a.astype(np.float32)),
        "held rows that are not numbers": spoil(("held",), "x", first(np.nan)),
        "held rows of negative weight": spoil(("held",), "weight", first(-1.0)),
        "held weights that are not numbers": spoil(("held",), "weight", first(np.nan)),
    },
    "growing, polynomial": {
        "centring of fewer landmarks": spoil(
            ("past", "space", "centring"), "row_means", lambda a: a[:-1]
        ),
        "centring is missing": put(("past", "space"), "centring", None),
    },
    "linear": {
        "a shift of fewer features": lambda header, arrays: (
            spoil(("past", "space"), "shift", lambda a: a[:-1])(header, arrays),
            arrays.__setitem__(
                "narrow",
                np.ascontiguousarray(
                    arrays[at(header, "past", "centres")["coordinates"]["$array"]][:, :-1]
                ),
            ),
            at(header, "past", "centres").update(
                coordinates={"$array": "narrow"}, duals={"$array": "narrow"}
            ),
        ),
    },
    "projection": {},
    "patches": {"a point less": spoil(("past", "space"), "points", lambda a: a[:-1])},
}


DAMAGED = [
    *often(2, OWN, EVERYBODYS),
    *((name, damage) for name, own in OWN.items() for damage in own),
]


@pytest.mark.parametrize(("name", "damage"), DAMAGED)
def test_a_damaged_stream_is_refused(name, damage, originals, path):
    rewrite(originals[name], path, {**EVERYBODYS, **OWN[name]}[damage])
    with pytest.raises(ValueError, match=path.name):
        load(path)


def harmless(path):
    """Loading raises ValueError, or gives a model that goes on with finite numbers or says with a
    ValueError why not."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            model = load(path)
            feed(model, [4])
            answers = model.memberships(NEW), model.transform(NEW)
        except ValueError:
            return
    assert all(np.isfinite(answer).all() for answer in answers)


def ways(value, *way):
    """All fields in a stream, however deep."""
    for field, part in value["fields"].items():
        yield way, field
        if isinstance(part, dict) and "fields" in part:
            yield from ways(part, *way, field)


@pytest.mark.parametrize("name", OWN)
def test_fields_that_are_missing_or_of_another_kind_do_no_harm(name, originals, path):
    """Streams that have a field in the same place share what is no part of a stream there."""
    fields = {
        other: set(ways(parts_of(data)[0]["fitted"]["_stream"]))
        for other, data in originals.items()
    }
    parts = [{"$array": "_stream.past.mass"}, {"$object": "Hard", "fields": {}}]
    everyones, shared = (
        [partial(put, value=value) for value in values]
        for values in (parts, [None, -1, 0, 1e308, "x", [], 10**400])
    )
    shared.append(drop)
    for way, field in sorted(fields[name]):
        sharing = [other for other in originals if (way, field) in fields[other]]
        for change in (*everyones, *shared[sharing.index(name) :: len(sharing)]):
            rewrite(originals[name], path, change(way, field))
            harmless(path)


@pytest.mark.parametrize("name", OWN)
def test_arrays_of_other_shapes_and_values_do_no_harm(name, originals, path):
    changes = [
        lambda a: a[:-1],
        lambda a: a[:0],
        np.ravel,
        lambda a: a[..., None],
        lambda a: np.concatenate([a, a]),
        lambda a: a.astype(np.int64),
        lambda a: a * -1e30,
        np.zeros_like,
        first(1e308),
    ]
    for array in from_bytes(originals[name]):
        if array.startswith("_stream"):
            for change in changes:
                rewrite(originals[name], path, in_place(array, change))
                harmless(path)
