"""Parameters that are objects: nested names, copies, what is shown of them, and words that are
gone."""

from __future__ import annotations

import inspect
import re
from pathlib import Path

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import cmeans
from cmeans import (
    AdaptivePossibilisticCMeans,
    Checkpoint,
    CMeans,
    FuzzyCMeans,
    KernelKMeans,
    LandmarkGraph,
    Landmarks,
    Search,
    Sizes,
    StreamingFuzzyCMeans,
    ThreadEngine,
)
from cmeans.fitting.gone_words import ELSEWHERE, GONE, PRINTED, place_of
from cmeans.kernels import RBF
from cmeans.rules import Fuzzy
from every_estimator import CLASSES, EVERY_NAME, PARAMETERS

X = np.random.default_rng(0).normal(size=(60, 3)) + 6 * (np.arange(60) % 3)[:, None]
MOST_WORDS = 20
OF_PAPERS = {
    "ProbabilisticKMeans",
    "TwoStepKernelKMeans",
    "KernelPatchClustering",
    "SequentialPossibilisticCMeans",
}
ALL_WORDS = 38
OF_A_CHOICE = {"AutoClustering"}  # which is told how to choose, and nothing of how to cluster
OF_ONE = {  # words whose meaning is the estimator's own
    *("rule", "beta", "adaptation", "n_neighbors", "pilot_m", "eta_scale"),
}


# ------------------------------------------------------------------------------------- nested names


def test_names_become_objects_before_their_fields_are_set():
    model = FuzzyCMeans().set_params(kernel="rbf", kernel__gamma=0.1)
    assert model.kernel == RBF(0.1)
    model = FuzzyCMeans(landmarks=300).set_params(landmarks__tol=0.01)
    assert model.landmarks == Landmarks(300, tol=0.01)
    model = FuzzyCMeans(search=None).set_params(search__progressive=False)
    assert model.search == Search(None, progressive=False)
    assert FuzzyCMeans().set_params(sizes__least=5).sizes == Sizes(least=5)
    assert CMeans().set_params(rule__m=2.0).rule == Fuzzy(2.0)
    assert FuzzyCMeans().set_params(engine__n_jobs=2).engine == ThreadEngine(2)
    assert LandmarkGraph().set_params(landmarks__method="uniform").landmarks == Landmarks(
        method="uniform"
    )


def test_a_plain_value_and_a_field_of_it_in_any_order():
    for words in (
        {"landmarks": 50, "landmarks__tol": 0.1},
        {"landmarks__tol": 0.1, "landmarks": 50},
    ):
        assert FuzzyCMeans().set_params(**words).landmarks == Landmarks(50, tol=0.1)


def test_an_object_that_two_share_is_replaced_not_changed():
    shared = Landmarks(30)
    first, second = FuzzyCMeans(landmarks=shared), KernelKMeans(landmarks=shared)
    first.set_params(landmarks__number=40)
    assert (first.landmarks.number, second.landmarks) == (40, shared)
    assert shared == Landmarks(30)


def test_fields_of_an_engine_reach_it(tmp_path: Path):
    """Of a copy, as of all objects: also through two names."""
    shared = ThreadEngine(1, checkpoint=Checkpoint(tmp_path / "fit"))
    model = FuzzyCMeans(engine=shared).set_params(
        engine__memory_budget="1GB", engine__checkpoint__resume=True
    )
    assert (model.engine.memory_budget, model.engine.checkpoint.resume) == ("1GB", True)
    assert (shared.memory_budget, shared.checkpoint.resume) == (None, False)
    with pytest.raises(ValueError, match="memory_budget"):
        model.set_params(engine__memory_budget="much")


def test_get_params_gives_back_what_was_given():
    plain = FuzzyCMeans(landmarks=30).get_params()
    assert plain["landmarks"] == 30
    assert not [name for name in plain if "__" in name]
    sizes = Sizes(least=[1, 2, 3])
    model = FuzzyCMeans(landmarks=Landmarks(30), sizes=sizes)
    assert model.get_params()["sizes"] is sizes
    assert model.get_params()["sizes__least"] is sizes.least
    assert model.get_params()["landmarks__number"] == 30
    assert set(model.get_params(deep=False)) == set(PARAMETERS["FuzzyCMeans"])


def test_clones_are_equal_and_their_own():
    model = FuzzyCMeans(
        3,
        landmarks=Landmarks(points=X[:5]),
        search=Search(None),
        sizes=Sizes(least=3),
        kernel=RBF(0.5),
    )
    again = clone(model)
    assert (again.search, again.sizes, again.kernel) == (model.search, model.sizes, model.kernel)
    np.testing.assert_array_equal(again.landmarks.points, X[:5])
    assert again.landmarks.points is not model.landmarks.points


@pytest.mark.parametrize("name", ["landmarks__foo", "search__foo", "sizes__foo", "foo__tol", "foo"])
def test_parameters_that_do_not_exist(name):
    with pytest.raises(ValueError, match="foo"):
        FuzzyCMeans().set_params(**{name: 1})


def test_a_bad_field_changes_nothing():
    model = FuzzyCMeans(landmarks=30)
    with pytest.raises(ValueError, match="tol must be"):
        model.set_params(m=1.5, landmarks__tol=-1)
    assert (model.m, model.landmarks) == ("auto", 30)


def test_grids_pipelines_and_selections():
    grid = {"landmarks__number": [5, 10], "kernel__gamma": [0.1, 1.0]}
    found = GridSearchCV(KernelKMeans(3, random_state=0, kernel="rbf"), grid, cv=2).fit(X)
    assert found.best_estimator_.landmarks.number in (5, 10)
    assert found.best_estimator_.kernel_.gamma in (0.1, 1.0)
    steps = make_pipeline(StandardScaler(), FuzzyCMeans(3, random_state=0)).set_params(
        fuzzycmeans__search__acceleration=None
    )
    assert steps[-1].search == Search(acceleration=None)
    chosen = cmeans.select(
        KernelKMeans(kernel="rbf", random_state=0),
        X,
        [2, 3],
        param_grid={"kernel__gamma": [0.01, 0.1]},
        n_bootstrap=0,
        random_state=0,
    )
    assert chosen.params["kernel__gamma"] == chosen.estimator.kernel_.gamma


def test_what_is_shown_is_what_differs():
    model = FuzzyCMeans(
        3, landmarks=Landmarks(50, tol=0.1), search=Search(progressive=False), sizes=Sizes(least=5)
    )
    shown = " ".join(repr(model).split())
    assert "landmarks=Landmarks(number=50, tol=0.1)" in shown
    assert "search=Search(progressive=False)" in shown
    assert "sizes=Sizes(least=5)" in shown
    page = model._repr_html_()
    assert "Landmarks(number=50, tol=0.1)" in page
    assert "Search(progressive=False)" in page


def test_objects_are_saved_with_the_model(tmp_path: Path):
    model = FuzzyCMeans(
        3,
        kernel="rbf",
        landmarks=Landmarks(12, method="uniform"),
        search=Search(acceleration=None),
        sizes=Sizes(least=(10, 12, 14), most=40),
        random_state=0,
    ).fit(X)
    cmeans.save(model, tmp_path / "model")
    again = cmeans.load(tmp_path / "model")
    assert (again.landmarks, again.search, again.sizes) == (
        model.landmarks,
        model.search,
        model.sizes,
    )
    np.testing.assert_array_equal(again.predict(X), model.predict(X))
    points = KernelKMeans(
        3, landmarks=Landmarks(points=X[:9]), sizes=Sizes(np.array([5, 6, 7])), random_state=0
    ).fit(X)
    cmeans.save(points, tmp_path / "points")
    again = cmeans.load(tmp_path / "points")
    np.testing.assert_array_equal(again.landmarks.points, X[:9])
    assert list(again.sizes.least) == [5, 6, 7]


# --------------------------------------------------------------------------------------- gone words


@pytest.mark.parametrize("name", EVERY_NAME)
def test_a_gone_word_names_its_new_place(name):
    words = PARAMETERS[name]
    told = 0
    for word in {*GONE, *ELSEWHERE, *PRINTED} - set(words):
        place = place_of(word, words)
        if place is None:
            continue
        told += 1
        message = re.escape(f"{name}({word}=...): {place}.")
        with pytest.raises(TypeError, match=message):
            CLASSES[name](**{word: 1})
        with pytest.raises(TypeError, match=message):
            CLASSES[name]().set_params(**{word: 1})
    assert told >= 4


def test_examples_of_gone_words():
    with pytest.raises(TypeError, match='n_landmarks is landmarks=300, "auto" or None now'):
        FuzzyCMeans(n_landmarks=300)
    with pytest.raises(TypeError, match="n_components is n_clusters here"):
        FuzzyCMeans(n_components=3)
    with pytest.raises(TypeError, match=r"stop is a word of cmeans.papers.PrintedCMeans now"):
        CMeans(stop="memberships")
    with pytest.raises(TypeError, match=r"method is a word of .*StreamingKernelFCM now"):
        StreamingFuzzyCMeans(method="projection")
    with pytest.raises(TypeError, match=r"beta is a word of .*PrintedAdaptivePossibilisticCMeans"):
        AdaptivePossibilisticCMeans(beta=0.1)
    with pytest.raises(TypeError, match="unexpected keyword argument 'nothing'"):
        FuzzyCMeans(nothing=3)


def test_constructors_look_like_what_they_are():
    assert list(inspect.signature(FuzzyCMeans).parameters)[:2] == ["n_clusters", "m"]
    assert FuzzyCMeans.__init__.__qualname__ == "FuzzyCMeans.__init__"


# ---------------------------------------------------------------------------------- number of words


@pytest.mark.parametrize("name", [name for name in EVERY_NAME if name not in OF_PAPERS])
def test_no_constructor_has_too_many_words(name):
    assert len(PARAMETERS[name]) <= MOST_WORDS


def test_all_words_are_few():
    words = {
        word for name in set(EVERY_NAME) - OF_PAPERS - OF_A_CHOICE for word in PARAMETERS[name]
    }
    assert len(words) <= ALL_WORDS


@pytest.mark.parametrize(
    "word", sorted({word for words in PARAMETERS.values() for word in words} - OF_ONE)
)
def test_one_word_has_one_default(word):
    """Where an estimator needs another, its docstring says so in the entry of the word: "Not ... as
    elsewhere"."""
    defaults = {
        name: inspect.signature(CLASSES[name]).parameters[word].default
        for name in EVERY_NAME
        if word in PARAMETERS[name]
    }
    usual = max(defaults.values(), key=list(defaults.values()).count)
    for name, default in defaults.items():
        if default != usual:
            entry = re.search(
                rf"^{word} : .*\n((?:    .*\n)+)", inspect.getdoc(CLASSES[name]) + "\n", flags=re.M
            )
            said = " ".join(entry[1].split())
            assert re.search(r"\b[Nn]ot .* as elsewhere", said), (name, default, usual, said)
