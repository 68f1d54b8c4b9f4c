"""The methods of the command: their parameters are those of the estimators' constructors."""

from __future__ import annotations

import inspect
import re
from collections.abc import Mapping, Sequence
from typing import Any, get_args

from .. import (
    AdaptivePossibilisticCMeans,
    CMeans,
    ConnectivityClustering,
    ConsensusClustering,
    DaskEngine,
    FuzzyCMeans,
    GaussianMixture,
    KernelKMeans,
    ModularityClustering,
    PossibilisticCMeans,
    ProbabilisticKMeans,
    SequentialPossibilisticCMeans,
    StreamingFuzzyCMeans,
    ThreadEngine,
    TwoStepKernelKMeans,
)
from ..fitting.covariance import Covariance
from ..fitting.named_parameters import OBJECTS
from ..fitting.seen_rows import Inspectable
from ..kernels import KERNELS, Kernel
from ..persistence.model_checks import check_parameters
from ..rules import RULES
from ..runtime.checks import integer, parameters_of
from .errors import InputError
from .option_names import listed, option_of

OF_ENGINE = ("n_jobs", "memory_budget")  # options that are parameters of the engine
BLANKS = "partial where the first rows of a table have empty cells and the fit can, else error"


class MethodSpec:
    """One clustering method: its estimator, the parameters that it has, and what its docstring says
    of them."""

    def __init__(
        self,
        estimator: type[Any],
        soft: bool = False,
        fixed: Mapping[str, Any] | None = None,
        uncounted: str = "as the rows speak for, or required with --method",
    ) -> None:
        self.estimator = estimator
        self.soft = soft  # memberships are worth writing
        self.fixed = dict(fixed or {})  # parameters that define the method
        words = dict(inspect.signature(estimator, eval_str=True).parameters)
        words["memory_budget"] = inspect.signature(ThreadEngine, eval_str=True).parameters[
            "memory_budget"
        ]
        # the number of clusters is a result; that given is only a bound
        self.finds_number = words["n_clusters"].default == "auto"
        self.bounds_number = hasattr(estimator, "_usual_most")
        # what rows are known to be, and what a fit would take
        self.known = {"known_labels", "must_link"} & set(
            inspect.signature(estimator.fit).parameters
        )
        self.has_plans = hasattr(estimator, "plan")
        self.is_shown = issubclass(estimator, Inspectable)
        if self.bounds_number:
            words["n_clusters"] = words["n_clusters"].replace(
                annotation=int, default=estimator._usual_most
            )
        own = {
            name: word
            for name, word in words.items()
            if name not in self.fixed and name not in OBJECTS
        }
        self.kernel_fields = {
            name: word
            for name, word in KERNEL_FIELDS.items()
            if "kernel" in own and name not in own
        }
        self.rule_fields: dict[str, inspect.Parameter] = {}
        self.parameters = own | self.kernel_fields
        self.said = SAID_OF_KERNELS | _first_sentences(estimator)
        self.said["memory_budget"] = _first_sentences(ThreadEngine)["memory_budget"]
        for name in OBJECTS:
            if name in words:
                usual = OBJECTS[name](words[name].default, estimator.__name__)
                self._add_fields(name, usual)
        if "covariance" in words:  # an option itself too, of the shape or none
            self._add_fields("covariance", Covariance(), ("prior", "volume"))
        # parameters without a default here
        self.needed: tuple[str, ...] = () if self.finds_number else ("n_clusters",)
        # what a command does where they are not told, which is not what a constructor would do
        self.untold = dict.fromkeys(self.needed, uncounted) | {"missing": BLANKS}

    @classmethod
    def of_rule(cls, name: str) -> MethodSpec:
        """Return the method of a rule that has no estimator of its own, whose parameters are
        options too."""
        rule = RULES[name]
        method = cls(CMeans, rule.is_soft, {"rule": name})
        method.rule_fields = _fields(rule)
        method.parameters = method.rule_fields | method.parameters
        method.said |= _first_sentences(rule)
        return method

    def _add_fields(self, name: str, usual: Any, fields: Sequence[str] | None = None) -> None:
        """Add the fields of a parameter that is an object, all or some, with the values of the
        usual one."""
        cls = type(usual)
        said = _first_sentences(cls)
        taken = getattr(self.estimator, "_taken_fields", {}).get(name, fields)
        for field, word in inspect.signature(cls, eval_str=True).parameters.items():
            if taken is None or field in taken:
                nested = f"{name}__{field}"
                self.parameters[nested] = word.replace(name=nested, default=getattr(usual, field))
                self.said[nested] = said[field]

    def made(self, words: Mapping[str, Any]) -> Any:
        """Return an estimator with these parameters; those that no rows would suit are refused."""
        model = self.estimator().set_params(**with_engine(self.in_objects(words)))
        check_parameters(model)
        return model

    def in_objects(self, words: Mapping[str, Any]) -> dict[str, Any]:
        """Return the parameters of the estimator: those of its kernel and its rule in objects."""
        own = {
            word: value
            for word, value in words.items()
            if word not in self.kernel_fields and word not in self.rule_fields
        }
        if self.bounds_number and "n_clusters" in own:
            own["n_clusters"] = (
                1,
                integer(own["n_clusters"], "n_clusters", self.estimator.__name__, 1),
            )
        parameters = self.fixed | own
        of_kernel = {word: value for word, value in words.items() if word in self.kernel_fields}
        of_rule = {word: value for word, value in words.items() if word in self.rule_fields}
        with parameters_of(self.estimator.__name__):
            if of_rule:
                parameters["rule"] = RULES[self.fixed["rule"]](**of_rule)
            if of_kernel:
                parameters["kernel"] = _kernel(
                    parameters.get("kernel", self.parameters["kernel"].default),
                    of_kernel,
                    parameters,
                )
        return parameters


def _kernel(name: str, of_kernel: Mapping[str, Any], parameters: dict[str, Any]) -> Kernel:
    """Return a kernel with parameters of its own, among them the gamma of an estimator's, from
    which that is taken."""
    known = _fields(KERNELS[name])
    for word in of_kernel:
        if word not in known:
            able = listed(
                other for other, cls in kernels_of_tables().items() if word in _fields(cls)
            )
            raise InputError(f"{option_of(word)}: --kernel {name} has none; it belongs to {able}.")
    gamma = {"gamma": parameters.pop("gamma")} if "gamma" in known and "gamma" in parameters else {}
    return KERNELS[name](**of_kernel, **gamma)


def kernels_of_tables() -> dict[str, type[Kernel]]:
    """Return the kernels of rows of a table, by name."""
    return {name: cls for name, cls in KERNELS.items() if cls.is_for_tables and name == cls.name}


def _fields(cls: type[Any]) -> dict[str, inspect.Parameter]:
    """Return the parameters of a rule or a kernel that an option can give: numbers, and names in
    place of them."""
    found = inspect.signature(cls, eval_str=True).parameters
    return {
        name: word
        for name, word in found.items()
        if {bool, int, float} & {word.annotation, *get_args(word.annotation)}
    }


def with_engine(words: Mapping[str, Any], **more: Any) -> dict[str, Any]:
    """Return parameters of an estimator, those of its engine as one; `more`: others of the engine,
    None where not given.

    With a `client` it is that of the client's workers.
    """
    given = {
        name: value
        for name, value in {**words, **more}.items()
        if name in (*OF_ENGINE, *more) and value is not None
    }
    own = {name: value for name, value in words.items() if name not in OF_ENGINE}
    if "client" in given and "n_jobs" in given:
        raise InputError(
            "--jobs: counts threads of this machine; the workers of --engine dask have their own. "
            "Leave it out."
        )
    if given:
        own["engine"] = (DaskEngine if "client" in given else ThreadEngine)(**given)
    return own


def _first_sentences(estimator: type[Any]) -> dict[str, str]:
    """Return the first sentence on each parameter in a docstring."""
    text = (inspect.getdoc(estimator) or "").partition("Parameters\n----------\n")[2]
    entries = re.findall(
        r"^([\w, ]+) : .*\n((?:    .*\n)+)", re.split(r"\n\w+\n---", text)[0] + "\n", flags=re.M
    )
    first = {
        names: re.split(r"(?<=\.) (?=[A-Z0-9(\"`])", " ".join(body.split()))[0]
        for names, body in entries
    }
    return {name: sentence for names, sentence in first.items() for name in names.split(", ")}


KERNEL_FIELDS = {
    name: word
    for cls in kernels_of_tables().values()
    for name, word in _fields(cls).items()
    if name != "gamma"
}
SAID_OF_KERNELS = {
    field: f"{listed(name for name, cls in kernels_of_tables().items() if field in _fields(cls))}: "
    f"{_first_sentences(cls)[field]}"
    for cls in reversed(kernels_of_tables().values())
    for field in _fields(cls)
    if field in KERNEL_FIELDS
}
METHODS = {
    "hard": MethodSpec(KernelKMeans),
    "two-step": MethodSpec(TwoStepKernelKMeans),
    "probabilistic": MethodSpec(ProbabilisticKMeans),
    "fuzzy": MethodSpec(FuzzyCMeans, True),
    "possibilistic": MethodSpec(PossibilisticCMeans, True),
    "gaussian": MethodSpec(GaussianMixture, True),
    "adaptive": MethodSpec(AdaptivePossibilisticCMeans, True),
    "sequential": MethodSpec(SequentialPossibilisticCMeans, True),
    "connected": MethodSpec(ConnectivityClustering),
    "communities": MethodSpec(ModularityClustering),
    "consensus": MethodSpec(ConsensusClustering, True, {"members": None}),
}
METHODS |= {name: MethodSpec.of_rule(name) for name in RULES if name not in METHODS}
STREAM = MethodSpec(StreamingFuzzyCMeans, uncounted="as the rows speak for")
