"""Compiled sweeps as a whole: their arithmetic, when they are chosen, and how they come to be compiled and kept."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import threading
from functools import cache, partial
from pathlib import Path
from typing import Any

import numba
import numpy as np
import pytest
from scipy import sparse

import cmeans
from cmeans import CMeans, FuzzyCMeans, KernelKMeans, PossibilisticCMeans
from cmeans.data.arrays import resolution
from cmeans.data.blocks import Blocks
from cmeans.data.limits import DEFAULT, Limits
from cmeans.kernels import RBF
from cmeans.rules import Fuzzy, Hard, Possibilistic, Rule
from cmeans.spaces import EuclideanSpace, ExactSpace, landmark_space
from cmeans.sweeps import choice, compiled
from cmeans.sweeps.compiled import bounds, door, passes
from cmeans.sweeps.compiled.elementary import TileScratch, exp_row, format_of, integers_of, log_row, power_row
from cmeans.sweeps.compiled.rules import RULES
from contracts.arrays import DTYPES, as_form
from limited import limited

# ------------------------------------------------------------------------------------------------------------- the elementary functions

ULPS = 2  # units of the dtype's resolution that a logarithm or an exponential may be off by, as measured: 1.9 and 1.6
EXACT = np.longdouble


@cache
def machine_code(function: Any) -> Any:
    compile_it = numba.njit(fastmath=door.FREE_ORDER, error_model="numpy")
    if function is power_row:
        return compile_it(lambda x, bits, form, exponent: power_row(x, exponent, TileScratch(bits, np.empty_like(x)), form))
    return compile_it(lambda x, bits, form: function(x, TileScratch(bits, np.empty_like(x)), form))


def run(function: Any, x: np.ndarray, *words: float) -> np.ndarray:
    x = x.copy()
    machine_code(function)(x, np.empty(len(x), integers_of(x.dtype)), format_of(x.dtype), *words)
    return x


@pytest.mark.parametrize("dtype", DTYPES)
def test_logarithms(dtype):
    """Of everything, and of numbers near one, where the result is small."""
    rng, kind = np.random.default_rng(0), np.finfo(dtype)
    x = np.exp(rng.uniform(np.log(float(kind.tiny)) + 1, np.log(float(kind.max)) - 1, 50_000))
    x = np.concatenate([x, rng.uniform(0.5, 2, 50_000), 1 + rng.uniform(-1e-3, 1e-3, 10_000)]).astype(dtype)
    expected = np.log(x.astype(EXACT))
    assert (np.abs(run(log_row, x) - expected) <= ULPS * resolution(dtype) * np.abs(expected)).all()
    special = run(log_row, np.array([0, kind.tiny / 2, 1, np.nan], dtype=dtype))
    np.testing.assert_array_equal(special, [-np.inf, -np.inf, 0, np.nan])


@pytest.mark.parametrize("dtype", DTYPES)
def test_exponentials(dtype):
    lowest = format_of(np.dtype(dtype)).lowest
    x = np.random.default_rng(0).uniform(lowest, 0, 100_000).astype(dtype)
    expected = np.exp(x.astype(EXACT))
    assert (np.abs(run(exp_row, x) - expected) <= ULPS * resolution(dtype) * expected).all()
    special = run(exp_row, np.array([0, 1.001 * lowest, -np.inf, np.nan], dtype=dtype))
    np.testing.assert_array_equal(special, [1, 0, 0, np.nan])


@pytest.mark.parametrize("exponent", [0.05, 0.5, 1, 2, 20, 250])
@pytest.mark.parametrize("dtype", DTYPES)
def test_powers(dtype, exponent):
    """By logarithms, so that a result e^-t is off by t times what the logarithm was; below the lowest exponential it is zero."""
    x = np.random.default_rng(0).uniform(0, 1, 100_000).astype(dtype)
    t = -EXACT(np.dtype(dtype).type(exponent)) * np.log(x.astype(EXACT))
    y, lowest = run(power_row, x, exponent), -format_of(np.dtype(dtype)).lowest
    there = t < 0.999 * lowest
    assert (np.abs(y - np.exp(-t)) <= ULPS * resolution(dtype) * (1 + t) * np.exp(-t))[there].all()
    assert (y[t > 1.001 * lowest] == 0).all()
    np.testing.assert_array_equal(run(power_row, np.array([0, 1, np.nan], dtype=dtype), exponent), [0, 1, np.nan])


# ------------------------------------------------------------------------------------------------------------------------- the choice


class Own(Rule):
    """Anybody's rule: nobody has compiled it."""

    def memberships(self, d2, scales):
        return Fuzzy(2.0).memberships(d2, scales)

    def weights(self, u):
        return u * u


LARGE = np.broadcast_to(np.zeros(1), (60_000, 2))
PLANE = EuclideanSpace(np.zeros(2))
HARD = Hard()


def shape(rule: Rule = HARD, x: Any = LARGE, space: Any = PLANE, c: int = 8, limits: Limits = DEFAULT) -> str | None:
    layout = choice.layout_for(space, Blocks(x, np.ones(x.shape[0]), limits=limits), rule, c)
    return None if layout is None else layout.shape


def test_large_inputs_are_for_compiled_sweeps_and_small_ones_are_not():
    assert shape() == shape(Fuzzy(2.0)) == shape(Fuzzy(1.3)) == shape(Possibilistic(2.0)) == "narrow"
    assert shape(x=LARGE[:20_000]) is None
    assert shape(x=LARGE[:20_000], c=100) == "narrow"


def test_the_shape_follows_the_columns():
    def shape_of(columns: int, clusters: int) -> str | None:
        x = np.broadcast_to(np.zeros(1), (60_000, columns))
        shapes = {shape(rule, x, EuclideanSpace(np.zeros(columns)), clusters) for rule in (Hard(), Fuzzy(2.0))}
        assert len(shapes) == 1
        return shapes.pop()

    assert shape_of(100, 3) == "narrow"
    assert shape_of(200, 3) == "wide"
    assert shape_of(6000, 100) is None  # for matrix products


def test_what_has_no_compiled_twin():
    always = partial(shape, limits=Limits(compiled_saving=float("-inf")))
    x = np.random.default_rng(0).normal(size=(20, 2))
    landmarks = landmark_space(RBF(1.0), x[:5], None, x.dtype)
    assert always(x=x) == always(x=x, space=landmarks) == always(x=sparse.csr_array(x), space=landmarks) == "narrow"
    assert always(Own(), x) is None
    assert always(x=sparse.csr_array(x)) is None
    assert always(x=as_form(x, "array_api_strict")) is None
    assert always(x=as_form(x, "torch")) is None
    assert always(x=x, space=ExactSpace(RBF(1.0), Blocks(x, np.ones(20)))) is None


def test_the_generic_sweeps_are_not_touched_where_the_compiled_ones_run(monkeypatch):
    """And the other way round; the two agree."""

    def refuse(*words):
        raise AssertionError("this sweep was not to run")

    rng = np.random.default_rng(0)
    X = rng.normal(size=(60_000, 2)) + 4 * rng.integers(0, 3, size=(60_000, 2))
    words = {"kernel": "linear", "random_state": 0, "tol": 1e-2}
    for model in (KernelKMeans(8, **words), FuzzyCMeans(8, m=1.5, **words)):
        with monkeypatch.context() as patch:
            for name in ("sweep", "assign", "distances"):
                patch.setattr(choice.generic, name, refuse)
            compiled_fit = dict(vars(model.fit(X)), distances=model.transform(X))
        with monkeypatch.context() as patch:
            limited(patch, compiled_saving=float("inf"))
            for name in ("CompiledSweep", "BoundedSweep", "CompiledAssign", "CompiledMeasure"):
                patch.setattr(compiled, name, refuse)
            generic_fit = dict(vars(model.fit(X)), distances=model.transform(X))
        assert compiled_fit["n_iter_"] == generic_fit["n_iter_"]
        assert compiled_fit["objective_"] == pytest.approx(generic_fit["objective_"], rel=1e-9)
        np.testing.assert_array_equal(compiled_fit["labels_"], generic_fit["labels_"])
        np.testing.assert_allclose(compiled_fit["distances"], generic_fit["distances"], rtol=1e-6)


@pytest.mark.parametrize("model", [CMeans(3, rule=Own()), CMeans(3, rule="hard", stop="memberships")], ids=["own", "memberships"])
def test_a_fit_with_anything_else_ends_well(model, monkeypatch):
    """Rules that only the generic sweep knows, and the papers' stopping rule."""
    X = np.eye(3)[np.arange(90) % 3] * 5 + np.random.default_rng(0).normal(size=(90, 3))
    expected = model.set_params(random_state=0).fit(X).labels_
    limited(monkeypatch, compiled_saving=float("-inf"))
    np.testing.assert_array_equal(model.fit(X).labels_, expected)


# ------------------------------------------------------------------------------------------------------------------------- compiling


def signatures() -> list[int]:
    """For how many kinds of arguments each pass has been compiled or read from the disk."""
    shapes_and_rules = [(shape, rule) for shape in passes.SHAPES for rule in RULES]
    made = [passes.sweep_pass(*both) for both in shapes_and_rules if both != ("wide", "hard")]
    made += [passes.assign_pass(*both) for both in shapes_and_rules]
    made += [passes.measure_pass(shape) for shape in passes.SHAPES] + [bounds.bounded_pass()]
    return [len(one.signatures) for one in made]


@pytest.mark.filterwarnings("ignore:.*the clusters have collapsed:UserWarning")
@pytest.mark.parametrize("dtype", DTYPES)
def test_every_kind_of_rows_runs_what_was_compiled_for_all(dtype, monkeypatch, tmp_path):
    """Nothing compiles unannounced in the middle of a fit: read-only rows, memory maps, rows in any order, kernel values as given."""
    limited(monkeypatch, compiled_saving=float("-inf"))
    X = (4 * np.eye(3)[np.arange(150) % 2] + np.random.default_rng(0).normal(size=(150, 3))).astype(dtype)
    K, ones = np.exp(-((X[:, None] - X[:60]) ** 2).sum(axis=2) / 8), np.ones(150, dtype=dtype)
    for values in (X, K, ones):
        values.setflags(write=False)
    np.save(tmp_path / "K.npy", K)
    columns = {"kernel": "precomputed", "landmarks": np.arange(60), "kernel_params": {"diag": ones}}
    for estimator in (KernelKMeans, FuzzyCMeans, PossibilisticCMeans):
        for x in (X, np.asfortranarray(X), np.repeat(X, 2, axis=0)[::2], sparse.csr_array(X)):
            estimator(2, gamma=0.1, n_landmarks=9, random_state=0).fit(x, sample_weight=ones).transform(x)
            estimator(2, kernel="linear", random_state=0).fit(x).transform(x[:1])
        for values in (K, np.load(tmp_path / "K.npy", mmap_mode="r")):
            estimator(2, random_state=0, **columns).fit(values).transform(values, diag=ones)
    assert max(signatures()) <= len(DTYPES)


def test_a_change_of_any_source_is_another_version(monkeypatch, tmp_path):
    """Numba keeps machine code by the date of one file; what is inlined stands in others."""
    for path in Path(compiled.__file__).parent.glob("*.py"):
        shutil.copy(path, tmp_path)
    fingerprint = door.sources.__wrapped__
    monkeypatch.setattr(door, "__file__", str(tmp_path / "door.py"))
    assert fingerprint() == door.sources()
    seen = {fingerprint()}
    for path in tmp_path.glob("*.py"):
        path.write_text(path.read_text(encoding="utf-8") + "# changed\n", encoding="utf-8")
        seen.add(fingerprint())
    assert len(seen) == 1 + len(list(tmp_path.glob("*.py")))


def test_every_pass_closes_over_the_version():
    for made in (
        passes.sweep_pass("narrow", "hard"),
        passes.assign_pass("wide", "fuzzy"),
        passes.measure_pass("wide"),
        bounds.bounded_pass(),
    ):
        assert door.sources() in [cell.cell_contents for cell in made.py_func.__closure__]


def test_where_nothing_can_be_cached_it_compiles_all_the_same():
    """Numba's own refusal: it knows no place for what comes from no file."""
    names: dict[str, Any] = {}
    exec(compile("def double(x):\n    return 2 * x", "<nowhere>", "exec"), names)
    with pytest.raises(RuntimeError, match="no locator"):
        numba.njit(cache=True)(names["double"])
    assert door.compiled(names["double"])(21) == 42


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM], ids=lambda number: number.name)
def test_signals_wait_until_the_compiler_is_done(number):
    """Whether it ends well or not; then they are heard by whoever listened before, who goes on listening."""
    events: list[str] = []

    def compile_in_vain(number: int) -> None:
        with door.compiling("nothing"):
            os.kill(os.getpid(), number)
            raise ZeroDivisionError

    def listener(*_: object) -> None:
        events.append("heard")

    former = signal.signal(number, listener)
    try:
        with door.compiling("nothing"):
            os.kill(os.getpid(), number)
            events.append("compiled")
        assert signal.getsignal(number) is listener
        with pytest.raises(ZeroDivisionError):
            compile_in_vain(number)
        assert signal.getsignal(number) is listener
        os.kill(os.getpid(), number)
    finally:
        signal.signal(number, former)
    assert events == ["compiled", "heard", "heard", "heard"]


def test_ctrl_c_interrupts_after_compiling():
    done = []

    def compile_and_interrupt() -> None:
        with door.compiling("nothing"):
            os.kill(os.getpid(), signal.SIGINT)
            done.append("compiled")
        done.append("went on")

    former = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt):
            compile_and_interrupt()
    finally:
        signal.signal(signal.SIGINT, former)
    assert done == ["compiled"]


def test_other_threads_leave_signals_alone():
    """Only the main one may set handlers."""
    done = []

    def work() -> None:
        before = signal.getsignal(signal.SIGINT)
        with door.compiling("nothing"):
            done.append(signal.getsignal(signal.SIGINT) is before)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert done == [True]


# ----------------------------------------------------------------------------------------------------------------- in other processes

LISTENING = """
import logging, sys
import numpy as np
logging.basicConfig(stream=sys.stdout, format="%(levelname)s %(name)s %(message)s")
"""
FITS = """
import cmeans, cmeans.sweeps.choice
X = np.random.default_rng(0).normal(size=(70_000, 2)) + 6 * (np.arange(70_000) % 3)[:, None]
for number in (1, 2):
    model = cmeans.KernelKMeans(8, kernel="linear", init=np.arange(8), tol=10.0).fit(X)
    distance = model.transform(X)[:, 0].sum()
    print("fit", number, "numba" in sys.modules, f"{model.objective_:.6g}", f"{distance:.6g}", cmeans.__file__)
"""
# Kernel values: what compiles fastest.
VALUES = """
from cmeans.kernels import Polynomial
from cmeans.sweeps.compiled import kernel_blocks
x = np.arange(6.0)[:, None]
for number in (1, 2):
    print("values", number, kernel_blocks.quick(Polynomial(2).prepare(x))(x).sum(), kernel_blocks.__file__)
"""


def said(program: str, **environment: str) -> list[str]:
    """What a process says that runs a program."""
    variables = {**os.environ, "PYTHONPATH": str(Path(cmeans.__file__).parents[1]), "PYTHONDONTWRITEBYTECODE": "1"}
    variables |= {"NUMBA_OPT": "0", **environment}  # what is compiled runs for a moment only
    ended = subprocess.run([sys.executable, "-c", LISTENING + program], env=variables, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr
    return ended.stdout.splitlines()


def copied(folder: Path) -> Path:
    """The package, somewhere else and without anything compiled."""
    shutil.copytree(Path(cmeans.__file__).parent, folder / "cmeans", ignore=shutil.ignore_patterns("__pycache__"))
    return folder / "cmeans"


def test_compiling_is_announced_once_for_all_processes(tmp_path):
    """Until a source changes, also one that Numba does not look at."""
    package = copied(tmp_path / "site")
    where = {"PYTHONPATH": str(package.parent), "NUMBA_CACHE_DIR": str(tmp_path / "cache")}
    first, second = said(VALUES, **where), said(VALUES, **where)
    assert first[0].startswith("WARNING cmeans cmeans compiles kernel values")
    assert [line.split()[:2] for line in first[1:]] == [["values", "1"], ["values", "2"]]
    assert second == first[1:]
    assert str(package) in second[0]
    with (package / "sweeps" / "compiled" / "tiles.py").open("a", encoding="utf-8") as file:
        file.write("# changed\n")
    assert said(VALUES, **where) == first


def test_numba_may_be_turned_off():
    """Nothing is compiled then, and nothing takes the hours that the same loops would take in Python."""
    lines = said(FITS, NUMBA_DISABLE_JIT="1")
    assert [line.split()[0] for line in lines] == ["fit", "fit"]


def test_a_package_where_nothing_can_be_written(tmp_path):
    """Files stand where caches would be made, which stops a superuser too; the process compiles for itself, and says so before it fits."""
    package, nowhere = copied(tmp_path / "site"), tmp_path / "file"
    nowhere.touch()
    (package / "sweeps" / "compiled" / "__pycache__").touch()
    where = {"PYTHONPATH": str(package.parent), "HOME": str(nowhere), "XDG_CACHE_HOME": str(nowhere / "cache"), "NUMBA_CACHE_DIR": ""}
    lines = said(FITS, **where)
    assert [line.split()[:3] for line in lines[3:]] == [["fit", "1", "True"], ["fit", "2", "True"]]
    assert all(line.startswith("WARNING cmeans cmeans compiles the hard") for line in lines[:2])  # the sweep and the last pass
    assert lines[2].startswith("WARNING cmeans cmeans compiles distances")
    assert str(package) in lines[-1]
