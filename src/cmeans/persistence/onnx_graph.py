"""An array library whose arrays stand for results of an ONNX graph: formulas that are written for
any array library write their own graph.

Rules, kernels and spaces compute by the namespace of what they are given (`data.arrays.namespace`).
Given a `Symbol` in place of rows they compute nothing: each operation joins the graph, and what
they return is the symbol of the result. What is known beforehand, such as centres, stays NumPy's
and enters the graph as a constant.

No row is there while a graph is written. So `any` of the rows is answered by True and `all` by
False, as nothing is ruled out; numbers of rows (`nonzero`, `count_nonzero`) are none, so that a few
rows are treated as all others are; and whoever asks for the numbers themselves is told that there
are none, by `NoNumbersError`.

ONNX (`pip install "cmeans[onnx]"`) enters the package in this file.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NoReturn

import numpy as np
import numpy.typing as npt

from ..runtime.version import __version__

OPSET, IR_VERSION = 17, 8  # of 2022, which every runtime in use reads
LARGEST = 2**31 - 1  # bytes of a model
Dtype = np.dtype[Any]
Shape = tuple[Any, ...]  # of numbers, and of ROWS
BOOL, INT64 = np.dtype(np.bool_), np.dtype(np.int64)
# operators that are called otherwise in Python and in the array API
ARITHMETIC = {"add": "Add", "sub": "Sub", "mul": "Mul", "truediv": "Div", "pow": "Pow"}
COMPARISONS = {"lt": "Less", "le": "LessOrEqual", "gt": "Greater", "ge": "GreaterOrEqual"}
COMPARISONS |= {"and": "And", "or": "Or"}
UNARY = {"exp": "Exp", "log": "Log", "sqrt": "Sqrt", "abs": "Abs", "tanh": "Tanh", "sign": "Sign"}
EXTREMES = {"minimum": "Min", "maximum": "Max"}
REDUCTIONS = {"max": "ReduceMax", "min": "ReduceMin", "mean": "ReduceMean"}
PLACES = {"argmin": "ArgMin", "argmax": "ArgMax"}


class NoNumbersError(TypeError):
    """A formula asks for what a graph cannot tell it."""


class Graph:
    """Operators in the order in which they were written, and the constants that they read."""

    def __init__(self) -> None:
        try:
            import onnx
        except ImportError as error:
            raise ImportError(
                'onnx.export needs ONNX: python -m pip install "cmeans[onnx]".'
            ) from error
        self._onnx, self._help = onnx, onnx.helper
        self._operators: list[Any] = []
        self._constants: dict[Any, Any] = {}
        self._inputs: list[Any] = []

    def rows(self, name: str, n_columns: int, dtype: npt.DTypeLike) -> Symbol:
        """Return the symbol of rows (b, d), an input of the graph."""
        rows = Symbol(self, name, (ROWS, n_columns), np.dtype(dtype))
        self._inputs.append(self._described(name, rows))
        return rows

    def result(
        self, operator: str, inputs: Sequence[Any], shape: Shape, dtype: Dtype, **attributes: Any
    ) -> Symbol:
        """Return the result of an operator; `inputs` are symbols or NumPy arrays."""
        name = f"v{len(self._operators)}"
        names = [one.name if isinstance(one, Symbol) else self._constant(one) for one in inputs]
        made = [name, f"{name}_places"] if operator == "TopK" else [name]
        self._operators.append(self._help.make_node(operator, names, made, **attributes))
        return Symbol(self, name, shape, dtype)

    def _constant(self, values: npt.NDArray[Any]) -> str:
        key = values.dtype.str, values.shape, values.tobytes()
        if key not in self._constants:
            name = f"c{len(self._constants)}"
            self._constants[key] = self._onnx.numpy_helper.from_array(values.copy(), name)
        return str(self._constants[key].name)

    def model(self, outputs: Mapping[str, Symbol], about: str, note: Mapping[str, str]) -> Any:
        """Return the ModelProto of what these outputs need."""
        for name, one in outputs.items():
            self._operators.append(self._help.make_node("Identity", [one.name], [name]))
        needed, kept = set(outputs), []
        for operator in reversed(self._operators):
            if operator.output[0] in needed:
                kept.append(operator)
                needed.update(operator.input)
        graph = self._help.make_graph(
            kept[::-1],
            "cmeans",
            self._inputs,
            [self._described(name, one) for name, one in outputs.items()],
            [one for one in self._constants.values() if one.name in needed],
        )
        model = self._help.make_model(
            graph,
            opset_imports=[self._help.make_opsetid("", OPSET)],
            ir_version=IR_VERSION,
            producer_name="cmeans",
            producer_version=__version__,
            doc_string=about,
        )
        self._help.set_model_props(model, dict(note))
        if model.ByteSize() > LARGEST:
            raise ValueError(
                f"onnx.export: the model has {model.ByteSize() / 1e9:.1f} GB; ONNX holds 2.1 GB. "
                'Take fewer landmarks, or dtype="float32".'
            )
        self._onnx.checker.check_model(model)
        return model

    def _described(self, name: str, one: Symbol) -> Any:
        shape = ["rows" if size is ROWS else size for size in one.shape]
        return self._help.make_tensor_value_info(name, self.number_of(one.dtype), shape)

    def number_of(self, dtype: Dtype) -> int:
        """Return ONNX's number of a type."""
        return int(self._help.np_dtype_to_tensor_dtype(dtype))


def _refuse(*_: Any, **__: Any) -> NoReturn:
    raise NoNumbersError("it asks for the numbers of the rows, of which a graph has none")


class _NumberOfRows:
    """In shapes, the number of the rows that are to come."""

    def _refuse(self, *_: Any) -> NoReturn:
        raise NoNumbersError("it asks how many rows there are, which a graph does not know")

    __index__ = __int__ = __add__ = __radd__ = __mul__ = __rmul__ = __floordiv__ = _refuse


ROWS = _NumberOfRows()


class Symbol:
    """An array whose numbers are not known yet."""

    __array_ufunc__ = None  # NumPy's operators leave it to those here
    __hash__: Any = None
    __array__ = __float__ = __int__ = __bool__ = __len__ = __iter__ = __setitem__ = _refuse
    device = None

    def __init__(self, graph: Graph, name: str, shape: Shape, dtype: Dtype) -> None:
        self.graph, self.name, self.shape, self.dtype = graph, name, shape, dtype

    def __array_namespace__(self, api_version: str | None = None) -> Namespace:
        return Namespace()

    def made(
        self,
        operator: str,
        *others: Any,
        shape: Shape | None = None,
        dtype: Dtype | None = None,
        **attributes: Any,
    ) -> Symbol:
        """Return what an operator makes of the symbol and others; of its shape and type, unless
        they are given."""
        shape, dtype = shape or self.shape, dtype or self.dtype
        return self.graph.result(operator, (self, *others), shape, dtype, **attributes)

    def joined(self, operator: str, *operands: Any, dtype: Dtype | None = None) -> Symbol:
        """Return what an operator makes of operands that are broadcast to each other, numbers in
        the type of the symbol."""
        known = [
            one if isinstance(one, Symbol) else np.asarray(one, self.dtype) for one in operands
        ]
        shape = _broadcast(*(one.shape for one in known))
        return self.graph.result(operator, known, shape, dtype or self.dtype)

    def reduced(self, operator: str, along: int, keepdims: bool = False, **words: Any) -> Symbol:
        """Return what an operator makes of the numbers along an axis."""
        kept = (1,) if keepdims else ()
        shape = (*self.shape[:along], *kept, *self.shape[along + 1 :])
        return self.made(operator, shape=shape, keepdims=int(keepdims), **words)

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def T(self) -> Symbol:
        return self.made("Transpose", shape=self.shape[::-1])

    def __matmul__(self, other: Any) -> Symbol:
        return self.made("MatMul", other, shape=(*self.shape[:-1], *other.shape[1:]))

    def __invert__(self) -> Symbol:
        return self.made("Not")

    def __neg__(self) -> Symbol:
        return self.made("Neg")

    def __eq__(self, other: object) -> Symbol:  # type: ignore[override]
        return self.joined("Equal", self, other, dtype=BOOL)

    def __ne__(self, other: object) -> Symbol:  # type: ignore[override]
        return ~(self == other)

    def __getitem__(self, key: Any) -> Symbol:
        """Part of the columns, by slices and numbers; None is a new axis."""
        found, axis = self, 0
        for one in key if isinstance(key, tuple) else (key,):
            if one is None:
                shape = (*found.shape[:axis], 1, *found.shape[axis:])
                found = found.made("Unsqueeze", np.array([axis]), shape=shape)
                axis += 1
            elif one == slice(None):
                axis += 1
            else:
                numbers = np.arange(found.shape[axis])[one]  # one number, or several
                shape = (*found.shape[:axis], *numbers.shape, *found.shape[axis + 1 :])
                found = found.made("Gather", np.asarray(numbers), shape=shape, axis=axis)
                axis += numbers.ndim
        return found


def _operator(name: str, *, swapped: bool = False, dtype: Dtype | None = None) -> Any:
    def method(self: Symbol, other: Any) -> Symbol:
        both = (other, self) if swapped else (self, other)
        return self.joined(name, *both, dtype=dtype)

    return method


for _word, _name in ARITHMETIC.items():
    setattr(Symbol, f"__{_word}__", _operator(_name))
    setattr(Symbol, f"__r{_word}__", _operator(_name, swapped=True))
for _word, _name in COMPARISONS.items():
    setattr(Symbol, f"__{_word}__", _operator(_name, dtype=BOOL))


def _broadcast(*shapes: Shape) -> Shape:
    width = max(map(len, shapes))
    columns = zip(*((1,) * (width - len(shape)) + shape for shape in shapes), strict=True)
    return tuple(next((size for size in sizes if size != 1), 1) for sizes in columns)


class Namespace:
    """The functions of the array API that formulas here are written in."""

    __name__ = "onnx"
    float32, float64, int64, inf = np.dtype(np.float32), np.dtype(np.float64), INT64, np.inf
    finfo = staticmethod(np.finfo)

    def __getattr__(self, name: str) -> Callable[..., Any]:
        if name in UNARY:
            return lambda x: x.made(UNARY[name])
        if name in EXTREMES:
            return lambda x, y: (x if isinstance(x, Symbol) else y).joined(EXTREMES[name], x, y)
        if name in REDUCTIONS:
            return lambda x, axis, keepdims=False: x.reduced(
                REDUCTIONS[name], axis, keepdims, axes=[axis]
            )
        if name in PLACES:
            return lambda x, axis: x.reduced(PLACES[name], axis, dtype=INT64, axis=axis)
        raise NoNumbersError(f"it asks an array library for {name!r}, which is not written here")

    def all(self, x: Symbol) -> bool:
        return False

    def any(self, x: Symbol, axis: int | None = None, keepdims: bool = False) -> Any:
        if axis is None:
            return True
        return self.astype(self.max(self.astype(x, INT64), axis, keepdims), BOOL)

    def count_nonzero(self, x: Symbol) -> int:
        return 0

    def nonzero(self, x: Symbol) -> tuple[npt.NDArray[np.intp], ...]:
        return (np.empty(0, np.intp),) * x.ndim

    def arange(self, n: int, device: None = None) -> npt.NDArray[Any]:
        return np.arange(n)

    def asarray(
        self, values: Any, dtype: Any = None, device: None = None, copy: bool | None = None
    ) -> Any:
        return values if isinstance(values, Symbol) else np.asarray(values, dtype)

    def astype(self, x: Any, dtype: Any, copy: bool = True) -> Any:
        if not isinstance(x, Symbol):
            return np.asarray(x, dtype)
        return x.made("Cast", dtype=np.dtype(dtype), to=x.graph.number_of(np.dtype(dtype)))

    def log1p(self, x: Symbol) -> Symbol:
        return x.joined("Add", x, 1.0).made("Log")

    def clip(self, x: Symbol, low: float, high: float) -> Symbol:
        return x.joined("Min", x.joined("Max", x, low), high)

    def sum(self, x: Symbol, axis: int, keepdims: bool = False) -> Symbol:
        shape = x.reduced("ReduceMax", axis, keepdims).shape
        return x.made("ReduceSum", np.array([axis]), shape=shape, keepdims=int(keepdims))

    def cumulative_sum(self, x: Symbol, axis: int) -> Symbol:
        return x.made("CumSum", np.array(axis))

    def sort(self, x: Symbol, axis: int) -> Symbol:
        return x.made("TopK", np.array([x.shape[axis]]), axis=axis, largest=0)

    def where(self, which: Symbol, x: Any, y: Any) -> Symbol:
        return (x if isinstance(x, Symbol) else y).joined("Where", which, x, y)

    def full_like(self, x: Symbol, value: float) -> Symbol:
        size = x.made("Shape", shape=(x.ndim,), dtype=INT64)
        return x.graph.result("Expand", (np.asarray(value, x.dtype), size), x.shape, x.dtype)

    def zeros_like(self, x: Symbol) -> Symbol:
        return self.full_like(x, 0.0)

    def ones_like(self, x: Symbol) -> Symbol:
        return self.full_like(x, 1.0)

    def concat(self, parts: Sequence[Symbol], axis: int = 0) -> Symbol:
        first, *others = parts
        width = sum(part.shape[axis] for part in parts)
        shape = (*first.shape[:axis], width, *first.shape[axis + 1 :])
        return first.made("Concat", *others, shape=shape, axis=axis)

    def stack(self, parts: Sequence[Symbol], axis: int = 0) -> Symbol:
        key = (*(slice(None),) * axis, None)
        return self.concat([part[key] for part in parts], axis)
