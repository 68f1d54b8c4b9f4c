"""What bad input gets: an error that names the argument, says what came and what to do, or a
warning at the caller's own line."""

from __future__ import annotations

import re
import warnings
from functools import cache, partial

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.pipeline import make_pipeline

import every_estimator
from cmeans import (
    CMeans,
    DaskEngine,
    FuzzyCMeans,
    KernelKMeans,
    Landmarks,
    PossibilisticCMeans,
    ThreadEngine,
    TwoStepKernelKMeans,
)
from cmeans.kernels import RBF, Cosine, Laplacian, Polynomial, Precomputed
from cmeans.rules import Fuzzy, Possibilistic
from every_estimator import CLASSES, OF_KERNEL_VALUES
from sweep_choices import pairs

pytestmark = pytest.mark.slow

ESTIMATORS = (KernelKMeans, TwoStepKernelKMeans, FuzzyCMeans, PossibilisticCMeans, CMeans)
KERNEL_NAMES = (
    "cosine",
    "laplacian",
    "linear",
    "normalized_polynomial",
    "polynomial",
    "precomputed",
    "rbf",
    "sigmoid",
)
LANDMARKS = np.arange(0, 40, 5)
FINDING = tuple(CLASSES[name] for name in every_estimator.FINDING)
over_estimators = pytest.mark.parametrize("estimator", ESTIMATORS)
EVERYBODY = tuple(CLASSES[name] for name in OF_KERNEL_VALUES)  # streams: streaming/test_input.py
PATHS = (FuzzyCMeans, TwoStepKernelKMeans)
over_everybody = pytest.mark.parametrize("estimator", EVERYBODY)
# two ways of reading the words, of all five
over_paths = pytest.mark.parametrize("estimator", PATHS)
KERNELS = ("rbf", "linear")
QUESTIONS = ("predict", "transform", "memberships", "outlier_score", "score")
X = np.random.default_rng(0).normal(size=(40, 3)) + np.where(np.arange(40) < 20, 0, 4)[:, None]
K = rbf_kernel(X, gamma=0.1)


def spoilt(value, rows=X, row=5, column=2):
    out = rows.copy()
    out[row, column] = value
    return out


def build(estimator, **words):
    if estimator in FINDING:
        return estimator(
            **{
                "n_clusters": (1, words.pop("n_clusters", 2)),
                "kernel": "rbf",
                "sparsity": 0,
                "scaling": None,
                "random_state": 0,
                **words,
            }
        )
    words = {"kernel": "rbf", **words} if every_estimator.OF_KERNELS & set(words) else words
    # else two clusters of so few rows may become one
    narrow = {"eta_scale": 0.1} if estimator is PossibilisticCMeans else {}
    return estimator(**{"n_clusters": 2, "random_state": 0, **narrow, **words})


@cache
def good(estimator, kernel="rbf"):
    """A fit with nothing wrong, to be asked wrong things."""
    return build(estimator, kernel=kernel).fit(X)


def refused(pattern, estimator, rows=X, sample_weight=None, **words):
    """The message, once it matches; nothing is left behind."""
    model = build(estimator, **words)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # what was said on the way
        with pytest.raises(ValueError, match=pattern) as caught:
            model.fit(rows, sample_weight=sample_weight)
    assert not hasattr(model, "labels_")
    return str(caught.value)


# --------------------------------------------------------------------------------------------- rows


@pytest.mark.parametrize(
    ("estimator", "kernel", "form", "value"),
    pairs(
        EVERYBODY,
        KERNELS,
        [np.asarray, sparse.csr_array, pd.DataFrame, np.float32, np.ndarray.tolist],
        [np.nan, np.inf, -np.inf],
    ),
)
def test_nan_and_infinity_are_shown(estimator, kernel, form, value):
    word = "NaN" if np.isnan(value) else "infinity"
    rows = form(spoilt(value))
    message = refused(
        rf"{estimator.__name__}: Input X contains {word}, first at row 5, column 2",
        estimator,
        rows,
        kernel=kernel,
    )
    assert "Remove or impute" in message
    for method in QUESTIONS:
        with pytest.raises(ValueError, match=rf"{word}, first at row 5, column 2"):
            getattr(good(estimator, kernel), method)(
                np.asarray(form(spoilt(value))) if isinstance(rows, pd.DataFrame) else rows
            )


def test_the_first_bad_entry_is_far_down():
    rows = np.zeros((300_000, 4), dtype=np.float32)
    rows[271_828, 3] = np.nan
    rows[271_829, 0] = np.inf
    refused(r"NaN, first at row 271828, column 3", FuzzyCMeans, rows)


@over_everybody
def test_no_rows_no_columns_no_table(estimator):
    refused(r"0 sample\(s\).*minimum of 1", estimator, np.empty((0, 3)))
    refused(r"0 feature\(s\).*minimum of 1", estimator, np.empty((5, 0)))
    refused(
        r"expected a 2-D array .* got one of shape \(5,\)\. Reshape your data: ",
        estimator,
        np.arange(5.0),
    )
    refused(r"got one of shape \(5, 2, 2\)", estimator, np.zeros((5, 2, 2)))
    refused(r"[Cc]omplex data not supported", estimator, X + 1j)
    refused(
        r"X holds text \(could not convert string.*TfidfVectorizer",
        estimator,
        np.array([["a", "b"], ["c", "d"]]),
    )
    refused(r"X holds text .*TfidfVectorizer", estimator, ["one document", "and another"])
    refused(
        r"column 'b' of X holds text or dates, no numbers",
        estimator,
        pd.DataFrame({"a": [1.0, 2.0], "b": ["x", "y"]}),
    )


@pytest.mark.filterwarnings("ignore:.*distinct row:UserWarning")
def test_distances_in_place_of_a_kernel():
    distances = np.linalg.norm(X[:, None] - X[None], axis=2)
    with pytest.warns(UserWarning, match="the kernel is 0 of a row with itself, as a distance is"):
        KernelKMeans(2, kernel="precomputed").fit(distances)


@pytest.mark.parametrize(
    ("estimator", "kernel", "size"),
    pairs(EVERYBODY, ["rbf", "linear", "polynomial"], [1e160, 1e300]),
)
def test_rows_too_large_to_square(estimator, kernel, size):
    refused(rf"{estimator.__name__}.*([Ss]cale|finite)", estimator, X * size, kernel=kernel)


@over_everybody
@pytest.mark.parametrize("kernel", ["linear", "polynomial"])
def test_new_rows_too_large_to_square(estimator, kernel):
    """Infinitely far is not the same place."""
    for method in QUESTIONS:
        with pytest.raises(ValueError, match=rf"{estimator.__name__}.*(scale|finite)"):
            getattr(good(estimator, kernel), method)(np.vstack([X[:3], [[1e300, 0, 0]]]))


@over_everybody
def test_rows_too_large_for_float32(estimator):
    refused(
        rf"{estimator.__name__}.*([Ss]cale|float64)",
        estimator,
        (X * 1e30).astype(np.float32),
        kernel="linear",
    )


def test_frames_that_are_not_there_yet():
    pl = pytest.importorskip("polars")
    refused(r"LazyFrame.*collect", FuzzyCMeans, pl.DataFrame(X).lazy())


@over_everybody
def test_other_features_when_asked(estimator):
    for method in QUESTIONS:
        ask = getattr(good(estimator), method)
        with pytest.raises(
            ValueError, match=rf"X has 2 features, but {estimator.__name__} is expecting 3 features"
        ):
            ask(X[:, :2])
        with pytest.raises(ValueError, match="minimum of 1"):
            ask(X[:0])
        with pytest.raises(ValueError, match=r"diag is for kernel=.precomputed. only"):
            ask(X, diag=1.0)


# ------------------------------------------------------------------------------------------ numbers


@over_estimators
@pytest.mark.parametrize("value", [0, -1, 2.0, True, "3", None, np.nan])
def test_n_clusters(estimator, value):
    refused(
        rf"{estimator.__name__}\(n_clusters={re.escape(repr(value))}\): .*whole number of at least "
        r"1",
        estimator,
        n_clusters=value,
    )


@over_estimators
def test_fewer_rows_than_clusters(estimator):
    message = refused(
        rf"{estimator.__name__}\(n_clusters=41\): .*fewer rows than clusters.*40",
        estimator,
        n_clusters=41,
    )
    assert "fewer clusters" in message.partition("than clusters")[2]  # what to do


WITH_M = [(FuzzyCMeans, "m"), (PossibilisticCMeans, "m"), (PossibilisticCMeans, "pilot_m")]


@pytest.mark.parametrize(("estimator", "word"), WITH_M)
def test_an_m_that_cannot_be_is_refused(estimator, word):
    for value in (1, 1.0, np.float32(1)):
        refused(
            rf"{estimator.__name__}\({word}=.*\): {word} must be greater than 1.*KernelKMeans",
            estimator,
            **{word: value},
        )
    for value in (0.5, 0, -1, np.nan, np.inf, None, [2]):
        refused(rf"{estimator.__name__}\({word}=.*\): .*greater than 1", estimator, **{word: value})
    for value in ("AUTO", "2"):
        refused(
            rf"{estimator.__name__}\({word}='{value}'\): .*\"auto\"", estimator, **{word: value}
        )


@pytest.mark.parametrize("rule", [Fuzzy, Possibilistic])
@pytest.mark.parametrize("m", [1, 0.5, np.nan])
def test_m_of_a_rule(rule, m):
    with pytest.raises(ValueError, match=rf"{rule.__name__}\(m={m}\): m must be .*greater than 1"):
        rule(m)


@over_paths
@pytest.mark.parametrize(
    ("word", "values", "advice"),
    [
        ("max_iter", [0, -1, 2.5, None, "a", True], "whole number of at least 1"),
        ("n_init", [0, -1, 2.5, None, "a", True], "whole number of at least 1"),
        ("tol", [-1e-9, -1, np.nan, np.inf, None, "a", True], "at least 0"),
        ("n_jobs", [0, 2.5, "all", True], "threads"),
        ("verbose", ["a", None, -1], "whole number of at least 0"),
    ],
)
def test_numbers_that_cannot_be_are_refused(estimator, word, values, advice):
    for value in values:
        message = refused(
            rf"{estimator.__name__}\({word}={re.escape(repr(value))}\): .*({advice})",
            estimator,
            **{word: value},
        )
        assert "-inf." not in message


@pytest.mark.parametrize("value", [0, -1, np.nan, np.inf, "x", None])
def test_eta_scale(value):
    refused(
        rf"PossibilisticCMeans\(eta_scale={re.escape(repr(value))}\): .*greater than 0",
        PossibilisticCMeans,
        eta_scale=value,
    )


@over_estimators
def test_numbers_of_numpy_are_numbers(estimator):
    words = {
        "max_iter": np.int32(300),
        "tol": np.float32(1e-3),
        "n_init": np.int8(1),
        "gamma": np.float64(0.1),
        "n_jobs": np.int64(1),
    }
    model = build(estimator, n_clusters=np.int64(2), **words)
    assert model.fit(X).converged_


# ------------------------------------------------------------------------------------------ weights


def weights(**changes):
    out = np.ones(40)
    for row, value in changes.items():
        out[int(row[1:])] = value
    return out


@over_everybody
@pytest.mark.parametrize(
    ("weight", "message"),
    [
        (weights(r7=np.nan), r"sample_weight\[7\] is nan; weights must be finite"),
        (weights(r9=np.inf), r"sample_weight\[9\] is inf; weights must be finite"),
        (weights(r3=-1), r"sample_weight\[3\] is -1; weights must not be negative"),
        (np.zeros(40), r"every sample weight is zero.*positive"),
        (np.ones(9), r"sample_weight has shape \(9,\).*40 rows.*\(40,\)"),
        (np.ones((40, 1)), r"sample_weight has shape \(40, 1\).*40 rows"),
        (["a"] * 40, r"sample_weight must be numbers"),
        (np.ones(40) + 1j, r"sample_weight must be (real )?numbers"),
        (np.full(40, 1e308), r"sample.weights? add up to more than"),
    ],
    ids=["nan", "inf", "negative", "zero", "short", "column", "text", "complex", "overflow"],
)
def test_weights_that_cannot_be_are_refused(estimator, weight, message):
    refused(rf"{estimator.__name__}.*{message}", estimator, sample_weight=weight)
    with pytest.raises(ValueError, match=message):
        good(estimator).score(X, sample_weight=weight)


@cache
def weighed(estimator, kernel, dtype, scale=1.0):
    weight = np.random.default_rng(1).uniform(1, 2, 40)
    return build(estimator, kernel=kernel).fit(X.astype(dtype), sample_weight=weight * scale)


@pytest.mark.usefixtures("plain_loop")  # mixtures enlarge rounding
@pytest.mark.parametrize(
    ("estimator", "kernel", "scale"), pairs(EVERYBODY, KERNELS, [1e-50, 1e50, 1e-250, 1e250])
)
def test_only_the_ratios_of_weights_matter(estimator, kernel, scale):
    dtype = np.float32 if 1e-99 < scale < 1e99 else np.float64
    model, other = weighed(estimator, kernel, dtype), weighed(estimator, kernel, dtype, scale)
    assert other.n_iter_ == model.n_iter_
    np.testing.assert_allclose(other.memberships_, model.memberships_, rtol=1e-3)
    assert other.objective_ / scale == pytest.approx(model.objective_, rel=1e-4)


# ------------------------------------------------------------------------------------ unknown names


WORDS = {"exact": {}, "linear": {"kernel": "linear"}, "landmarks": {"landmarks": 10}}
KNOWN = {
    "kernel": KERNEL_NAMES,
    "gamma": ("scale", "median"),
    "landmarks": ("auto", "points", "row numbers", "Landmarks"),
    "init": ("k-means++", "k-means||", "random", "random-partition"),
}


@pytest.mark.parametrize(("estimator", "word", "space"), pairs(PATHS, KNOWN, WORDS))
def test_unknown_words_list_the_known(estimator, word, space):
    """Also where the fit at hand would not use the word: it would once it is larger."""
    message = refused(
        rf"{estimator.__name__}\({word}='foo'\)", estimator, **{**WORDS[space], word: "foo"}
    )
    assert all(name in message for name in KNOWN[word])


@pytest.mark.parametrize("value", ["foo", None, 3])
def test_unknown_rules(value):
    message = refused(r"CMeans\(rule=.*\): unknown rule", CMeans, rule=value)
    assert all(name in message for name in ("hard", "fuzzy", "possibilistic"))


def test_words_that_do_not_exist():
    with pytest.raises(TypeError, match="n_cluster"):
        FuzzyCMeans(n_cluster=3)
    with pytest.raises(TypeError, match="positional"):
        FuzzyCMeans(3, 1.5)


# ------------------------------------------------------------------------------------------ kernels


@over_everybody
@pytest.mark.parametrize("value", [0, -1.0, np.nan, np.inf, None, True])
def test_a_gamma_that_cannot_be_is_refused(estimator, value):
    refused(
        rf"{estimator.__name__}\(gamma={re.escape(repr(value))}\): .*greater than 0",
        estimator,
        gamma=value,
    )


@pytest.mark.parametrize("value", [None, 3, RBF, Polynomial, object])
def test_what_is_no_kernel(value):
    message = refused(r"FuzzyCMeans\(kernel=.*\)", FuzzyCMeans, kernel=value)
    assert "kernel object" in message


@pytest.mark.parametrize(
    ("kernel", "message"),
    [
        (
            RBF(1.0),
            r"FuzzyCMeans\(gamma=0.1\): kernel=RBF\(gamma=1.0\) is an object that holds its own .* "
            r"as RBF\(gamma=...\)",
        ),
        (Cosine(), r"FuzzyCMeans\(gamma=0.1\): kernel=Cosine\(\) has no gamma"),
        (
            rbf_kernel,
            r"FuzzyCMeans\(gamma=0.1\): .*has no gamma; give a function its parameters by "
            r"functools.partial",
        ),
    ],
)
def test_gamma_belongs_to_a_kernel_that_is_no_name(kernel, message):
    refused(message, FuzzyCMeans, kernel=kernel, gamma=0.1)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: RBF(-1.0), r"RBF\(gamma=-1.0\)"),
        (
            lambda: RBF("wide"),
            r'RBF\(gamma=.wide.\): gamma is "scale", "median" or a positive number',
        ),
        (lambda: RBF(np.nan), r"RBF\(gamma=nan\)"),
        (lambda: Laplacian(0), r"Laplacian\(gamma=0\)"),
        (lambda: Polynomial(degree=0), r"Polynomial\(degree=0\)"),
        (lambda: Polynomial(degree=2.5), r"Polynomial\(degree=2.5\)"),
    ],
)
def test_kernel_objects_check_themselves(make, message):
    with pytest.raises(ValueError, match=message):
        make()


BAD_KERNELS = {
    "nan": (lambda x, y: np.full((len(x), len(y)), np.nan), r"kernel.*(NaN|nan|finite)"),
    "infinite": (lambda x, y: np.full((len(x), len(y)), np.inf), r"kernel.*(inf|finite)"),
    "one bad pair": (
        lambda x, y: np.where((x[:, :1] == X[3, 0]) & (y[:, 0] == X[32, 0]), np.nan, K[:1, :1]),
        r"kernel.*(nan|finite)",
    ),
    "asymmetric": (lambda x, y: x[:, :1] - y[:, 0], r"not symmetric"),
    "slightly asymmetric": (
        lambda x, y: rbf_kernel(x, y) + 1e-2 * (x[:, :1] > y[:, 0]),
        r"not symmetric",
    ),
    "flat": (lambda *_: np.zeros(3), r"shape \(3,\) where \(\d+, \d+\) was expected"),
    "turned": (
        lambda x, y: rbf_kernel(y, x)[:, :-1],
        r"shape \(\d+, \d+\) where \(\d+, \d+\) was expected",
    ),
    "one number": (lambda *_: 1.0, r"shape \(\) where"),
    "nothing": (lambda *_: None, r"shape \(\) where"),
    "row by row": (
        lambda x, y: float(np.exp(-((x - y[:1]) ** 2).sum())),
        r"takes two blocks of rows",
    ),
    "complex": (lambda x, y: rbf_kernel(x, y) + 1j, r"kernel.*(complex|real)"),
}


@pytest.mark.parametrize(
    ("estimator", "space", "name"), pairs(PATHS, ["exact", "landmarks"], BAD_KERNELS)
)
def test_callables_that_are_no_kernels(estimator, space, name):
    kernel, message = BAD_KERNELS[name]
    words = {"landmarks": LANDMARKS} if space == "landmarks" else {}
    if name == "one bad pair" and words:
        kernel = BAD_KERNELS["nan"][0]  # neither row is a landmark
    refused(message, estimator, kernel=kernel, **words)


def test_a_users_own_error_comes_through():
    def broken(*_):
        raise ZeroDivisionError("mine")

    with pytest.raises(ZeroDivisionError, match="mine"):
        FuzzyCMeans(2, kernel=broken).fit(X)
    with pytest.raises(TypeError, match="foo"):
        FuzzyCMeans(2, kernel=partial(rbf_kernel, foo=1)).fit(X)


def test_a_kernel_that_breaks_on_new_rows():
    model = KernelKMeans(
        2, kernel=lambda x, y: np.where(x[:, :1] > 99, np.nan, rbf_kernel(x, y)), random_state=0
    ).fit(X)
    with pytest.raises(ValueError, match=r"finite|NaN"):
        model.transform(np.full((1, 3), 100.0))
    with pytest.raises(ValueError, match=r"finite|NaN"):
        model.predict(np.full((1, 3), 100.0))


# ------------------------------------------------------------------------------ precomputed kernels

PRECOMPUTED = {"kernel": "precomputed"}
COLUMNS = {**PRECOMPUTED, "landmarks": LANDMARKS}


@over_everybody
def test_precomputed_kernels(estimator):
    refused(r"precomputed.*shape \(40, 9\).*square", estimator, K[:, :9], **PRECOMPUTED)
    refused(
        r"not symmetric.*up to 0\.01\b",
        estimator,
        K + 0.01 * np.triu(np.ones_like(K), 1) * (K > 0.3),
        **PRECOMPUTED,
    )
    refused(r"sparse kernel matrix is not supported", estimator, sparse.csr_array(K), **PRECOMPUTED)
    refused(r"NaN, first at row 5, column 2", estimator, spoilt(np.nan, K), **PRECOMPUTED)
    refused(r"diagonal", estimator, K, kernel=Precomputed(diagonal=1.0))


@pytest.mark.parametrize("estimator", [KernelKMeans, FuzzyCMeans, PossibilisticCMeans, CMeans])
def test_landmark_columns(estimator):
    rows = K[:, LANDMARKS]
    good = {**COLUMNS, "kernel": Precomputed(diagonal=1.0)}
    build(estimator, **good).fit(rows)
    refused(r"landmarks=their row numbers.*diag", estimator, rows, **COLUMNS)
    refused(
        r"shape \(40, 8\).*row numbers", estimator, rows, **{**good, "landmarks": LANDMARKS[:-1]}
    )
    refused(
        r"diag.*40 rows.*shape \(8,\)",
        estimator,
        rows,
        **{**good, "kernel": Precomputed(diagonal=np.ones(8))},
    )
    refused(
        r"diag.*finite",
        estimator,
        rows,
        **{**good, "kernel": Precomputed(diagonal=np.full(40, np.nan))},
    )
    refused(r"diag.*number", estimator, rows, **{**good, "kernel": Precomputed(diagonal="a")})
    refused(r"not symmetric", estimator, rows, **{**good, "landmarks": LANDMARKS[::-1]})
    refused(
        r"row number 40 does not exist", estimator, rows, **{**good, "landmarks": LANDMARKS + 5}
    )


def test_rounding_of_single_precision_is_no_asymmetry():
    rows = K[:, LANDMARKS].astype(np.float32)
    good = {**COLUMNS, "kernel": Precomputed(diagonal=1.0), "random_state": 0}
    other = rows.copy()
    # as when k(x, y) and k(y, x) come out of two blocks of a product
    other[LANDMARKS[0], 1:] += np.float32(3e-6)
    labels = [build(KernelKMeans, **good).fit(given).labels_ for given in (rows, other)]
    np.testing.assert_array_equal(*labels)
    square = K.astype(np.float32)
    square[0, 1:] += np.float32(3e-6)
    build(KernelKMeans, **PRECOMPUTED).fit(square)
    other[LANDMARKS[0], 1:] += np.float32(1e-3)
    refused(r"not symmetric", KernelKMeans, other, **good)


def test_two_steps_need_the_kernel_among_their_sample():
    words = {**COLUMNS, "kernel": Precomputed(diagonal=1.0)}
    refused(
        r"TwoStepKernelKMeans\(kernel=.precomputed.\).*shape \(40, 8\).*square",
        TwoStepKernelKMeans,
        K[:, LANDMARKS],
        **words,
    )


@over_paths
def test_precomputed_rows_when_asked(estimator):
    scaled = K * np.linspace(1, 2, 40)[:, None] * np.linspace(1, 2, 40)
    model = build(estimator, **PRECOMPUTED).fit(scaled)
    with pytest.raises(ValueError, match=r"k\(x, x\).*diag="):
        model.transform(scaled[:3])
    with pytest.raises(ValueError, match=r"diag.*3 rows.*shape \(4,\)"):
        model.transform(scaled[:3], diag=np.ones(4))
    with pytest.raises(ValueError, match=r"diag.*number"):
        model.transform(scaled[:3], diag="a")
    with pytest.raises(ValueError, match="9 features"):
        model.predict(scaled[:, :9])


# ---------------------------------------------------------------------------------------- landmarks


@over_everybody
@pytest.mark.parametrize("value", [41, 10_000])
def test_more_landmarks_than_rows(estimator, value):
    refused(rf"{estimator.__name__}\(landmarks={value}\): .*40", estimator, landmarks=value)


@over_everybody
@pytest.mark.parametrize("value", [0, -2, 2.5, True])
def test_numbers_of_landmarks(estimator, value):
    refused(
        rf"{estimator.__name__}\(landmarks={value}\): .*whole number of at least 1",
        estimator,
        landmarks=value,
    )


@over_everybody
@pytest.mark.parametrize(
    ("value", "message"),
    [
        ([40], "row number 40 does not exist; there are 40 rows"),
        ([-1], "row number -1 does not exist"),
        ([1.5], "row numbers"),
        ([], "row numbers"),
        ([True] * 40, "row numbers"),
        (["a"], "row numbers"),
        (np.zeros((2, 2, 2)), "row numbers"),
    ],
)
def test_landmarks_by_number(estimator, value, message):
    refused(rf"{estimator.__name__}\(landmarks=.*\): .*{message}", estimator, landmarks=value)


@pytest.mark.parametrize("estimator", [KernelKMeans, FuzzyCMeans])
@pytest.mark.parametrize(
    ("value", "message"),
    [
        (np.zeros((4, 2)), r"shape \(count, 3\).*\(4, 2\)"),
        (np.zeros((0, 3)), r"shape \(count, 3\).*\(0, 3\)"),
        (np.full((4, 3), np.nan), "finite"),
        (np.full((4, 3), "a"), "numbers"),
        (sparse.csr_array(np.eye(4)), r"shape \(count, 3\).*\(4, 4\)"),
    ],
)
def test_landmarks_as_points(estimator, value, message):
    refused(rf"{estimator.__name__}\(landmarks=.*\): .*{message}", estimator, landmarks=value)


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        (
            {"number": 5, "points": [1, 2, 3]},
            "points are landmarks as they are; leave number and method out",
        ),
        ({"method": "uniform", "points": [1, 2, 3]}, "points are landmarks as they are"),
        ({"number": 0}, r'number=0\): number must be "auto", None or a whole number of at least 1'),
        ({"method": "best"}, "method='best'\\): unknown method; known are .*rpcholesky.*uniform"),
        ({"tol": -0.1}, r"tol=-0.1\): tol must be a number of at least 0"),
    ],
)
def test_landmarks_that_cannot_be(fields, message):
    with pytest.raises(ValueError, match=rf"^Landmarks\(.*{message}"):
        Landmarks(**fields)


def test_a_sample_without_weight():
    weight = np.r_[0, 0, 0, np.ones(37)]
    refused(
        r"TwoStepKernelKMeans\(landmarks=.*weight",
        TwoStepKernelKMeans,
        sample_weight=weight,
        landmarks=[0, 1, 2],
    )


# ------------------------------------------------------------------------------------------- starts

BAD_STARTS = {
    "nothing": (None, r"k-means\+\+"),
    "a number": (5, "row numbers"),
    "too few rows": ([0], r"shape \(1,\).*2 row numbers"),
    "too many rows": ([0, 1, 2], r"shape \(3,\).*2 row numbers"),
    "no such row": ([0, 99], "row number 99 does not exist; there are 40 rows"),
    "a negative row": ([-1, 0], "row number -1 does not exist"),
    "rows as floats": ([0.0, 1.0], "float64.*integers"),
    "truth values": ([True, False], "bool.*integers"),
    "points of another width": (np.zeros((2, 2)), r"shape \(2, 2\).*points \(2, 3\)"),
    "points too many": (np.zeros((3, 3)), r"shape \(3, 3\).*points \(2, 3\)"),
    "infinite points": (np.full((2, 3), np.inf), "finite"),
    "labels too large": ([2] * 40, r"0 \.\.\. 1, got 2 \.\.\. 2"),
    "labels too small": ([-1] * 40, r"0 \.\.\. 1, got -1 \.\.\. -1"),
    "sums of 1.2": (np.full((40, 2), 0.6), "sum to one; row 0 sums to 1.2"),
    "negative memberships": (np.tile([1.5, -0.5], (40, 1)), "non-negative"),
    "memberships of nan": (np.full((40, 2), np.nan), "sum to one"),
    "words": (np.full((40, 2), "a"), "memberships"),
}


@pytest.mark.parametrize(("estimator", "name", "space"), pairs(PATHS, BAD_STARTS, WORDS))
def test_starts_that_cannot_be_are_refused(estimator, name, space):
    value, message = BAD_STARTS[name]
    refused(rf"{estimator.__name__}\(init=.*{message}", estimator, init=value, **WORDS[space])


@over_estimators
def test_starts_from_models(estimator):
    with pytest.raises(NotFittedError, match="not fitted"):
        estimator(2, init=FuzzyCMeans(2)).fit(X)
    plain = {"kernel": "linear"}
    refused(r"n_clusters=2.*3 centres", estimator, init=FuzzyCMeans(3, **plain).fit(X), **plain)
    refused(
        r"2 features.*3|3 features.*2",
        estimator,
        init=FuzzyCMeans(2, **plain).fit(X[:, :2]),
        **plain,
    )
    refused(
        r"2 features.*3|3 features.*2",
        estimator,
        init=FuzzyCMeans(2, kernel="rbf", gamma=0.1).fit(X[:, :2]),
        gamma=0.1,
    )
    refused(
        r"RBF\(gamma=0.1\).*RBF\(gamma=0.2\).*same gamma",
        estimator,
        init=FuzzyCMeans(2, kernel="rbf", gamma=0.1).fit(X),
        gamma=0.2,
    )


# ------------------------------------------------------------------------------------------- memory


@pytest.mark.parametrize("engine", [ThreadEngine, DaskEngine])
@pytest.mark.parametrize(
    "value", [0, -5, "lots", "4 parsecs", "", "-1GB", "1e9GB5", np.nan, np.inf, True, [1], "1,5GB"]
)
def test_memory_budgets_that_are_none(engine, value):
    with pytest.raises(
        ValueError, match=rf"{engine.__name__}\(memory_budget={re.escape(repr(value))}\): .*\"4GB\""
    ):
        engine(memory_budget=value)


@over_everybody
def test_threads_are_counted_once(estimator):
    refused(
        r"\(n_jobs=2, engine=ThreadEngine\(.*leave n_jobs out",
        estimator,
        n_jobs=2,
        engine=ThreadEngine(3),
    )
    refused(r"\(engine=3\): give an engine, such as cmeans.ThreadEngine", estimator, engine=3)


@pytest.mark.parametrize(
    "value", ["1GB", "1.5 gb", "1024MiB", "4000000000", 10**9, 1e9, np.int64(10**9), None]
)
def test_memory_budgets(value):
    assert FuzzyCMeans(2, engine=ThreadEngine(memory_budget=value)).fit(X).converged_


@pytest.mark.parametrize(
    ("estimator", "words", "budget"),
    pairs(EVERYBODY, [{"kernel": "linear"}, {"landmarks": None}, {"landmarks": 50}], [1000, "1MB"]),
)
def test_the_least_budget_is_named_and_does(estimator, words, budget):
    rows = np.random.default_rng(0).normal(size=(600 if words == {"landmarks": None} else 1500, 4))
    given = {"max_iter": 3, **words}
    message = refused(
        rf"{estimator.__name__}: .*at least \d+ bytes .*more than memory_budget=\d+",
        estimator,
        rows,
        engine=ThreadEngine(1, memory_budget=budget),
        **given,
    )
    least = int(re.search(r"at least (\d+) bytes", message)[1])
    assert int(re.search(r"memory_budget=(\d+)", message)[1]) < least < 4e9
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        model, free = (
            build(estimator, engine=ThreadEngine(1, memory_budget=budget), **given).fit(rows)
            for budget in (least, None)
        )
    np.testing.assert_array_equal(model.memberships_, free.memberships_)
    refused(
        rf"at least {least} bytes",
        estimator,
        rows,
        engine=ThreadEngine(1, memory_budget=least - 1),
        **given,
    )


# ----------------------------------------------------------------------------------------- warnings


def complaints(fit, category=UserWarning):
    """The messages of all warnings of a fit, each of which points here."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model = fit()
    assert all(w.filename == __file__ for w in caught), [w.filename for w in caught]
    assert all(issubclass(w.category, UserWarning) for w in caught)
    return model, [str(w.message) for w in caught if issubclass(w.category, category)]


def only(pattern, fit, category=UserWarning):
    model, messages = complaints(fit, category)
    assert len(messages) == 1, messages
    assert re.search(pattern, messages[0]), messages[0]
    return model


BLOBS = np.repeat([[0.0, 0.0], [5.0, 0.0], [0.0, 5.0]], 30, axis=0) + np.random.default_rng(
    1
).normal(scale=0.4, size=(90, 2))


@over_everybody
@pytest.mark.parametrize(
    "words", [{"gamma": "median"}, {}, {"kernel": "linear"}, {"gamma": "median", "landmarks": 10}]
)
def test_nothing_is_said_of_a_good_fit(estimator, words):
    assert complaints(lambda: build(estimator, n_clusters=3, **words).fit(BLOBS))[1] == []


@over_estimators
def test_fewer_distinct_rows_than_clusters(estimator):
    rows = np.repeat([[0.0, 0.0], [1.0, 1.0]], 5, axis=0)
    pattern = rf"{estimator.__name__}\(n_clusters=3\).*only 2 distinct rows.*2 clusters are made"
    model = only(pattern, lambda: build(estimator, n_clusters=3, kernel="linear").fit(rows))
    assert model.n_clusters_ == 2


@over_estimators
@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_not_converged(estimator, kernel):
    rows = np.random.default_rng(0).normal(size=(300, 2))
    words = (
        {"n_clusters": 5, "kernel": kernel, "eta_scale": 0.05}
        if estimator is PossibilisticCMeans
        else {"n_clusters": 5, "kernel": kernel}
    )
    model = only(
        rf"{estimator.__name__}: .*max_iter=2 .*raise max_iter or loosen tol=1e-12",
        lambda: build(estimator, max_iter=2, tol=1e-12, **words).fit(rows),
        ConvergenceWarning,
    )
    assert not model.converged_
    assert model.n_iter_ == 2
    assert model.stop_reason_.startswith("stopped at max_iter=2")


def test_what_is_said_of_the_fall_is_true():
    rows = np.random.default_rng(0).normal(size=(300, 2))
    for max_iter in (1, 2, 5):
        model = KernelKMeans(5, kernel="linear", max_iter=max_iter, tol=0.0, random_state=0)
        with pytest.warns(ConvergenceWarning) as caught:
            model.fit(rows)
        said = float(re.search(r"still falling ([\d.e+-]+)%", str(caught[0].message))[1])
        fall = -np.diff(model.objective_history_) / model.objective_history_[:-1]
        assert said == pytest.approx(100 * fall[-1], rel=0.1)


def test_no_sweep_wanted_beyond_max_iter_is_a_choice():
    """tol=0 runs all sweeps unless nothing moves."""
    model = KernelKMeans(3, kernel="linear", tol=0.0, random_state=0).fit(BLOBS)
    assert model.converged_
    assert model.n_iter_ < 300


@pytest.mark.parametrize("estimator", [KernelKMeans, CMeans])
def test_clusters_that_died(estimator):
    rows = np.repeat([[0.0, 0.0], [1.0, 1.0]], 5, axis=0)
    words = {"rule": "hard"} if estimator is CMeans else {}
    model = only(
        rf"{estimator.__name__}: 2 of 4 clusters hold no row \(numbers \[1, 3\]\).*[Ff]ewer "
        r"clusters",
        lambda: estimator(4, kernel="linear", init=np.array([0, 1, 5, 6]), **words).fit(rows),
    )
    assert model.n_clusters_ == 2


@pytest.mark.parametrize("words", [{"kernel": "linear"}, {"kernel": "rbf", "gamma": 0.1}])
def test_fuzzy_clusters_that_coincide(words):
    pattern = r"FuzzyCMeans: \d+ pairs? of centres coincide.*fewer clusters"
    model = only(
        pattern, lambda: FuzzyCMeans(4, init=np.array([0, 0, 30, 60]), m=1.5, **words).fit(BLOBS)
    )
    np.testing.assert_allclose(model.memberships_[:, 0], model.memberships_[:, 1], rtol=1e-6)


@pytest.mark.parametrize("words", [{"kernel": "linear"}, {"kernel": "rbf", "gamma": 0.02}])
def test_possibilistic_clusters_that_coincide(words):
    pattern = r"PossibilisticCMeans: \d+ pairs? of centres coincide.*(fewer clusters|eta_scale)"
    only(pattern, lambda: PossibilisticCMeans(6, eta_scale=2.0, random_state=0, **words).fit(BLOBS))


@pytest.mark.parametrize(
    "make",
    [
        lambda m, **words: FuzzyCMeans(3, m=m, **words),
        lambda m, **words: CMeans(3, rule=Fuzzy(m), **words),
    ],
)
@pytest.mark.parametrize("words", [{"landmarks": None}, {"landmarks": 20}])
def test_collapse_names_the_critical_m(make, words):
    rows = np.random.default_rng(0).normal(size=(200, 6))
    words = {"kernel": "rbf", "gamma": 0.2, "random_state": 0, **words}
    model = make(4.0, init="random-partition", **words)
    model = only(
        rf"{type(model).__name__}: the clusters have collapsed.*m=4 is beyond "
        r"m\*=1\.\d+.*m=\"auto\" \(at most 1\.\d+ here\)",
        lambda: model.fit(rows),
    )
    assert model.separation_ < 1e-2
    said, advised = (
        float(x)
        for x in re.findall(
            r"(?:m\*=|at most )(1\.\d+)", complaints(lambda: clone(model).fit(rows))[1][0]
        )
    )
    assert advised == pytest.approx(1 + (said - 1) / 2, abs=2e-3)
    assert make("auto", max_iter=1000, **words).fit(rows).m_ == pytest.approx(advised, abs=1e-3)


def test_a_collapse_is_not_laid_to_m_where_m_is_right():
    """All centres start at the mean, where no m moves them: "auto" was taken, so it cannot be the
    advice."""
    model, messages = complaints(
        lambda: FuzzyCMeans(2, kernel="linear", init=np.full((90, 2), 0.5)).fit(BLOBS)
    )
    assert model.separation_ < 1e-2
    assert len(messages) == 1
    assert "collapsed" in messages[0]
    assert "m*=inf" not in messages[0]
    assert 'take m="auto"' not in messages[0]
    assert "init" in messages[0]


def test_a_possibilistic_collapse():
    pattern = (
        r"PossibilisticCMeans: the clusters have collapsed.*smaller eta_scale or fewer clusters"
    )
    only(
        pattern,
        lambda: PossibilisticCMeans(3, eta_scale=100.0, kernel="linear", random_state=0).fit(BLOBS),
    )


@pytest.mark.parametrize(
    ("estimator", "words", "space"),
    pairs(
        EVERYBODY,
        [
            {"kernel": "sigmoid"},
            {"kernel": Polynomial(coef0=-3)},
            {"kernel": lambda x, y: np.tanh(x @ y.T - 1)},
        ],
        [{}, {"landmarks": 20}],
    ),
)
def test_indefinite_kernels(estimator, words, space):
    """How negative: the share of the spectrum, told right."""
    rows = X / 4
    model, messages = complaints(lambda: build(estimator, **words, **space).fit(rows))
    found = [
        re.search(r"indefinite.*?(\d[\d.]*)% of its spectrum", message) for message in messages
    ]
    shares = [float(match[1]) for match in found if match]
    assert len(shares) == 1
    if not (space and estimator is TwoStepKernelKMeans):  # which looks at its sample
        values = np.linalg.eigvalsh(model.kernel_(rows, rows))
        assert shares[0] == pytest.approx(
            -100 * values[values < 0].sum() / np.abs(values).sum(), rel=0.06
        )
    assert np.isfinite(model.objective_)


@over_paths
def test_a_negative_kernel(estimator):
    messages = complaints(lambda: build(estimator, kernel="precomputed").fit(-K))[1]
    assert any("100% of its spectrum" in message for message in messages), messages


@over_everybody
def test_a_kernel_that_is_nearly_the_identity(estimator):
    messages = complaints(lambda: build(estimator, gamma=1e6).fit(X))[1]
    assert re.search(
        rf"{estimator.__name__}: the kernel is nearly the identity.*smaller gamma.*\"median\"",
        messages[0],
    )


@over_everybody
def test_a_kernel_that_is_nearly_constant(estimator):
    messages = complaints(lambda: build(estimator, gamma=1e-12).fit(X))[1]
    assert re.search(
        rf"{estimator.__name__}: the kernel is nearly constant.*larger gamma.*\"median\"",
        messages[0],
    )


def test_warnings_point_here_whoever_calls_fit():
    rows = np.repeat([[0.0, 0.0], [1.0, 1.0]], 5, axis=0)
    model = KernelKMeans(3, kernel="linear", random_state=0)
    ways = [
        lambda: model.fit(rows),
        lambda: model.fit_predict(rows),
        lambda: model.fit_transform(rows),
        lambda: model.set_output(transform="pandas").fit_transform(rows),
        lambda: make_pipeline(model).fit(rows),
        lambda: make_pipeline(model).fit_predict(rows),
    ]
    for way in ways:
        _, messages = complaints(way)
        assert len(messages) == 1
