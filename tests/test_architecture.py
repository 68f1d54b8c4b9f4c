"""The structure of the source: the order of folders, where heavy imports may be, names, sizes, what
no code may do, documentation."""

from __future__ import annotations

import ast
import importlib
import inspect
import json
import pkgutil
import re
import subprocess
import sys

import numpy as np
import pytest

import cmeans
import cmeans.rules
import every_estimator
from cmeans import Sizes
from sources import FILES, SOURCE, imported, nodes, room, tree


def over_files(test):
    """A test of one file, as a test of all: one a file would be two thousand."""

    def of_all_files():
        for path in FILES:
            try:
                test(path)
            except AssertionError as error:
                error.add_note(f"in {path.relative_to(SOURCE)}")
                raise

    of_all_files.__doc__ = test.__doc__
    return of_all_files


# From the ground up: a folder imports from itself and from those before it only.
# "" holds the public names.
ORDER = (
    *(
        "runtime",
        "data",
        "native",
        "storage",
        "engines",
        "kernels",
        "rules",
        "spaces",
        "sweeps",
        "sampling",
        "landmarks",
        "graphs",
        "solvers",
        "tuning",
    ),
    *(
        "streaming",
        "fitting",
        "metrics",
        "evidence",
        "inspection",
        "estimators",
        "papers",
        "selection",
        "persistence",
        "datasets",
        "",
        "cli",
    ),
)
LEVEL = {name: number for number, name in enumerate(ORDER)}
HEAVY = {
    "anndata",
    "onnx",
    "pyarrow",
    "typer",
    "rich",
    "matplotlib",
    "dask",
    "distributed",
    "pyspark",
    "ray",
    "torch",
    "cupy",
    "jinja2",
    "plotly",
    "pandas",
    "polars",
}


def at_module_level(path):
    """Import statements that run when the file is imported (also inside try and if, but not for
    type checkers)."""
    waiting = list(tree(path).body)
    while waiting:
        node = waiting.pop()
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            yield node
        elif isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            waiting += node.orelse
        elif not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            waiting += [
                child
                for child in ast.iter_child_nodes(node)
                if isinstance(child, ast.stmt | ast.ExceptHandler)
            ]


@over_files
def test_imports_run_downhill(path):
    own = room(path)
    assert own in LEVEL, f"{path.name} is a new room: say where it stands"
    for name in imported(path):
        if name.split(".")[0] == "cmeans":
            other = name.split(".")[1] if len(name.split(".")) > 1 else ""
            other = other if (SOURCE / other).is_dir() else ""  # a public name
            assert other == own or LEVEL[other] < LEVEL[own], f"{own} imports {name}"


def test_no_files_import_each_other_round_about():
    """Also not for type checkers: of two files in a circle neither can be read first."""
    names = {
        ".".join(("cmeans", *path.relative_to(SOURCE).with_suffix("").parts)).removesuffix(
            ".__init__"
        ): path
        for path in FILES
    }

    def files(path):
        """Return the files of the package that a file imports."""
        found = (names.get(name) or names.get(name.rpartition(".")[0]) for name in imported(path))
        return {other for other in found if other not in (None, path)}

    after = {path: files(path) for path in FILES}
    reached = {path: set(others) for path, others in after.items()}
    for middle in FILES:
        for others in reached.values():
            if middle in others:
                others |= reached[middle]
    circles = [
        {other for other in reached[path] if path in reached[other]}
        for path in FILES
        if path in reached[path]
    ]
    found = {
        frozenset(str(path.relative_to(SOURCE).with_suffix("")) for path in circle)
        for circle in circles
    }
    assert not found


def test_rules_and_spaces_do_not_know_each_other():
    """The border between them is one array, d2."""
    for path in FILES:
        if room(path) in ("rules", "spaces"):
            others = {name.split(".")[1] for name in imported(path) if name.startswith("cmeans.")}
            assert not others & ({"rules", "spaces"} - {room(path)})


def test_the_mathematics_does_not_know_who_runs_it():
    for path in FILES:
        if room(path) in ("rules", "spaces", "kernels"):
            names = {name.split(".")[0] for name in imported(path)}
            assert not names & {
                "threading",
                "concurrent",
                "multiprocessing",
                "joblib",
                "threadpoolctl",
            }, path


def test_heavy_libraries_enter_through_one_file_each():
    doors = {}
    for path in FILES:
        for name in {name.split(".")[0] for name in imported(path)} & HEAVY:
            doors.setdefault(name, []).append(str(path.relative_to(SOURCE)))
    assert all(len(files) == 1 for files in doors.values()), doors


@over_files
def test_heavy_imports_wait_until_they_are_needed(path):
    heavy = {name.split(".")[0] for name in imported(path, at_module_level(path))} & HEAVY
    # The command's folder loads with the command only, what reads through pyarrow where a file is
    # opened that needs it, and what draws bars where one is drawn.
    late = {
        SOURCE / "data" / "arrow_library.py": {"pyarrow"},
        SOURCE / "runtime" / "progress_bar.py": {"rich"},
    }
    assert not heavy or room(path) == "cli" or heavy == late.get(path), (
        f"{path.name} imports {heavy}"
    )


REPORT = (
    "import sys, json; print(json.dumps([name for name in "
    f"{sorted(HEAVY | {'cmeans.cli'})} if name in sys.modules]))"
)
BESIDE_SCIKIT_LEARN = f"""
import logging, os, threading, warnings
import numpy as np, scipy.sparse, threadpoolctl
import sklearn.base, sklearn.cluster, sklearn.utils.validation
try:
    import sklearn.callback
except ImportError:
    pass
X = np.random.default_rng(0).normal(size=(50, 2))
def now():
    return [dict(os.environ), threading.active_count(), list(warnings.filters),
            logging.getLogger().handlers[:], np.random.get_state()[1].tolist()]
{REPORT}
before = now()
import cmeans
print(json.dumps([one == other for one, other in zip(before, now())]))
{REPORT}
sklearn.cluster.KMeans(2, n_init=1).fit(X).predict(X)
{REPORT}
cmeans.FuzzyCMeans(2, random_state=0).fit(X).predict(X)
{REPORT}
"""


@pytest.mark.slow
def test_the_import_has_no_effects_and_nothing_heavy_is_loaded():
    """On variables, threads, filters of warnings, logging and NumPy's generator; and nothing that
    scikit-learn does not load, by the import and by a fit."""
    run = subprocess.run(
        [sys.executable, "-W", "error", "-c", BESIDE_SCIKIT_LEARN],
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    )
    theirs, unchanged, ours, *fitted = map(json.loads, run.stdout.splitlines())
    assert unchanged == [True] * 5
    assert ours == theirs
    assert fitted[1] == fitted[0]


# --------------------------------------------------------------------------------- nothing executes

FORBIDDEN_MODULES = {
    "pickle",
    "cPickle",
    "dill",
    "cloudpickle",
    "joblib",
    "marshal",
    "shelve",
    "subprocess",
    "ctypes",
    "code",
    "runpy",
}
FORBIDDEN_CALLS = {"eval", "exec", "compile", "__import__", "input", "breakpoint"}
FORBIDDEN_METHODS = {("os", "system"), ("os", "popen"), ("importlib", "import_module")}
# imports the modules of its own folder, which fill the table of rules
FINDS_ITS_OWN_FILES = SOURCE / "rules" / "__init__.py"
GENERATORS = {"RandomState", "Generator", "default_rng", "PCG64", "Philox"}


@over_files
def test_nothing_executes_and_nothing_prints(path):
    forbidden = FORBIDDEN_MODULES - {"ctypes"} if room(path) == "native" else FORBIDDEN_MODULES
    assert not {name.split(".")[0] for name in imported(path)} & forbidden
    for node in nodes(path):
        where = f"{path.name}:{getattr(node, 'lineno', 0)}"
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            assert node.func.id not in FORBIDDEN_CALLS, f"{where} calls {node.func.id}"
            if node.func.id == "print":  # the command's business, which always says where to
                assert room(path) == "cli", f"{where} prints"
                assert "file" in {keyword.arg for keyword in node.keywords}, where
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            looked_up = path == FINDS_ITS_OWN_FILES and (node.value.id, node.attr) == (
                "importlib",
                "import_module",
            )
            assert looked_up or (node.value.id, node.attr) not in FORBIDDEN_METHODS, where
        if isinstance(node, ast.keyword) and node.arg == "allow_pickle":
            assert ast.unparse(node.value) == "False", where


@over_files
def test_chance_is_always_passed_in(path):
    """np.random.<function> would draw from the state that everybody shares."""
    for node in nodes(path):
        if isinstance(node, ast.Attribute) and ast.unparse(node.value) in (
            "np.random",
            "numpy.random",
        ):
            assert node.attr in GENERATORS, f"{path.name}:{node.lineno} draws from the global state"


@over_files
def test_only_sklearns_public_names(path):
    for name in imported(path):
        parts = name.split(".")
        if parts[0] in ("sklearn", "scipy", "numpy"):
            assert not any(part.startswith("_") and part != "__future__" for part in parts), (
                f"{path.name} imports {name}"
            )


@over_files
def test_no_error_is_swallowed_unseen(path):
    handlers = [node for node in nodes(path) if isinstance(node, ast.ExceptHandler)]
    assert all(node.type is not None for node in handlers), f"{path.name}: a bare except"


# scikit-learn's documentation gives them to authors of estimators
FOR_ESTIMATORS = {"_init_callback_context", "_n_features_out"}


def private_names(path):
    """Private names that a file defines: functions, classes, variables, attributes."""
    for node in nodes(path):
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            yield node.name
        elif isinstance(node, ast.Name | ast.Attribute) and isinstance(node.ctx, ast.Store):
            yield node.id if isinstance(node, ast.Name) else node.attr


def test_private_attributes_are_our_own():
    """What another package calls private may change with its next release."""
    own = {name for path in FILES for name in private_names(path)} | FOR_ESTIMATORS
    for path in FILES:
        for node in nodes(path):
            if (
                isinstance(node, ast.Attribute)
                and node.attr.startswith("_")
                and not node.attr.endswith("__")
            ):
                assert node.attr in own, f"{path.name}:{node.lineno} uses {node.attr}"
            if isinstance(node, ast.Call) and ast.unparse(node.func) in (
                "getattr",
                "hasattr",
                "setattr",
            ):
                name = node.args[1]
                hidden = (
                    isinstance(name, ast.Constant)
                    and str(name.value).startswith("_")
                    and not str(name.value).endswith("__")
                )
                assert not hidden or name.value in own, (
                    f"{path.name}:{node.lineno} asks for {name.value}"
                )


def test_no_two_classes_share_a_name():
    places = {}
    for path in FILES:
        for node in nodes(path):
            if isinstance(node, ast.ClassDef):
                places.setdefault(node.name, set()).add(path.name)
    assert not {name: files for name, files in places.items() if len(files) > 1}


@over_files
def test_functions_are_short(path):
    """A function fits on a screen."""
    for node in nodes(path):
        if isinstance(node, ast.FunctionDef):
            body = [
                part
                for part in node.body
                if not (isinstance(part, ast.Expr) and isinstance(part.value, ast.Constant))
            ]
            lines = (
                max(part.end_lineno for part in body) - min(part.lineno for part in body) + 1
                if body
                else 0
            )
            assert lines <= 80, f"{path.name}: {node.name} has {lines} lines"


# ------------------------------------------------------------------------------------- public names


def test_public_names():
    assert cmeans.__all__ == sorted(cmeans.__all__)
    assert {"__version__", "load", "read_metadata", "save"} <= set(cmeans.__all__)
    assert all(hasattr(cmeans, name) for name in cmeans.__all__)
    visible = {
        name
        for name, value in vars(cmeans).items()
        if not name.startswith("_") and not inspect.ismodule(value)
    }
    assert visible <= set(cmeans.__all__)


def packages():
    return [
        "cmeans",
        *(
            info.name
            for info in pkgutil.walk_packages(cmeans.__path__, "cmeans.")
            if ".cli" not in info.name
        ),
    ]


def test_every_module_says_what_it_is():
    for name in packages():
        module = importlib.import_module(name)
        assert module.__doc__, name
        assert module.__doc__.strip(), name
        if hasattr(module, "__all__"):
            assert len(set(module.__all__)) == len(module.__all__), name
            assert all(hasattr(module, public) for public in module.__all__), name


@pytest.mark.parametrize("name", every_estimator.EVERY_NAME)
def test_docstrings_of_estimators(name):
    text = inspect.getdoc(getattr(cmeans, name))
    first = text.partition("Parameters\n")[0]
    # which lower no one objective
    if name not in (*every_estimator.STREAMS, *every_estimator.FINDING, "AutoClustering"):
        # the objective comes first, then when to use it
        assert any(word in first for word in ("minimise", "maximise", "baseline"))
        assert "Use it" in first
    for section in ("Parameters", "Raises", "References", "Examples"):
        assert f"\n{section}\n{'-' * len(section)}\n" in text, section
    assert ">>>" in text
    section = text.partition("\nParameters\n")[2].partition("\nRaises\n")[0]
    for word, parameter in inspect.signature(getattr(cmeans, name)).parameters.items():
        head = re.search(rf"^(?:\w+, )*{word}(?:, \w+)* : (.*)$", section, flags=re.M)
        assert head, f"{word} is not described"
        default = parameter.default
        if isinstance(default, str | bool | int):
            assert (f'"{default}"' if isinstance(default, str) else str(default)) in head[1], head[
                0
            ]


@pytest.mark.parametrize("name", every_estimator.EVERY_NAME)
def test_attributes_that_docstrings_promise(name):
    """Every name with a trailing underscore in the text is there after some fit."""
    X = np.random.default_rng(0).normal(size=(60, 2)) + 9 * np.arange(60)[:, None] // 20
    estimator, seen = every_estimator.CLASSES[name], set()
    promised = set(re.findall(r"`?\b([a-z][a-z_]*[a-z]_)\b`?", inspect.getdoc(estimator)))
    others = (
        {"kernel": "landmark_graph"},
        {"kernel": "linear", "sizes": Sizes(least=2)},
        {"kernel": "linear", "missing": "partial"},
        {"kernel": "linear", "covariance": "full"},
    )
    chosen = {"n_clusters": (1, 3)}, {"missing": "partial"}
    stretched = {"kernel": "linear", "covariance": "full", "rule": "gaussian"}
    several = {"KernelKMeans": others, "GaussianMixture": chosen}
    others = {**several, "StreamingFuzzyCMeans": (stretched,)}.get(name, ())
    for words in (
        {"kernel": "linear"},
        {"kernel": "rbf", "gamma": "median"},
        {"kernel": "linear", "noise": 0.2},
        {"top_k": 2},
        *others,
    ):
        if promised <= seen:
            break
        words = every_estimator.known(name, {**words, "sparsity": 0})
        model = every_estimator.build(name, **words).fit(X)
        seen |= {one for one in promised if hasattr(model, one)}
    assert promised <= seen, promised - seen


@pytest.mark.parametrize("name", every_estimator.EVERY_NAME)
def test_public_methods_are_documented_and_words_keyword_only(name):
    estimator = getattr(cmeans, name)
    for method in (
        "fit",
        "fit_predict",
        "predict",
        "transform",
        "score",
        "memberships",
        "outlier_score",
        "representatives",
    ):
        assert inspect.getdoc(getattr(estimator, method)), method
    parameters = list(inspect.signature(estimator).parameters.values())
    finds = name in (
        *every_estimator.FINDING,
        "AutoClustering",
        "ConnectivityClustering",
        "ModularityClustering",
    )
    assert (parameters[0].name, parameters[0].default) == ("n_clusters", "auto" if finds else 8)
    assert all(p.kind is p.KEYWORD_ONLY for p in parameters[1:])


def test_save_and_load_are_documented():
    for function in (cmeans.save, cmeans.load):
        text = inspect.getdoc(function)
        assert "ValueError" in text
    assert all(word in inspect.getdoc(cmeans.save) for word in ("Parameters", "Raises", "Examples"))


def test_kernels_and_rules_are_public_by_their_modules():
    for module, names in (
        (cmeans.rules, ("Rule", "Hard", "Fuzzy", "Possibilistic")),
        (importlib.import_module("cmeans.kernels"), ("RBF", "Kernel")),
    ):
        for name in names:
            assert name in module.__all__
            assert inspect.getdoc(getattr(module, name))


def test_version_and_typing():
    assert cmeans.__version__.count(".") >= 2
    assert (SOURCE / "py.typed").exists()
