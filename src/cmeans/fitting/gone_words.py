"""Constructor words of 1.0.0 that are gone, and words of other libraries, with what stands in their
place here."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from inspect import signature
from typing import Any

# A place begins with the parameter that took the word over; one that no estimator has stands in
# every estimator's message.
GONE = {
    "n_landmarks": 'landmarks=300, "auto" or None',
    "landmark_tol": "landmarks=Landmarks(tol=0.02)",
    "landmark_solver": "landmarks=cmeans.papers.GradientLandmarks()",
    "spherical": 'metric="cosine"',
    "size_min": "sizes=Sizes(least=...)",
    "size_max": "sizes=Sizes(most=...)",
    "acceleration": "search=Search(acceleration=...)",
    "progressive": "search=Search(progressive=...)",
    "join_equal_rows": "search=Search(join_equal_rows=...)",
    "max_clusters": "n_clusters=(1, most)",
    "on_empty": 'warnings.filterwarnings("error", category=cmeans.DataWarning)',
    "degree": "kernel=Polynomial(degree=3)",
    "coef0": "kernel=Polynomial(coef0=1)",
    "kernel_params": "kernel=..., an object with these fields",
    "m": "rule=Fuzzy(m=...)",
    "T": "rule=Entropy(T=...)",
    "beta": "rule=PolynomialFuzzy(beta=...)",
    "pilot_m": "rule=Possibilistic(pilot_m=...)",
    "eta_scale": "rule=Possibilistic(eta_scale=...)",
    "memory_budget": 'engine=ThreadEngine(memory_budget="4GB")',
    "checkpoint": "engine=ThreadEngine(checkpoint=...)",
}
# Words of forms as the papers print them: a parameter of the estimators that had each, and where
# the form is now.
PRINTED = {
    "stop": ("rule", "cmeans.papers.PrintedCMeans"),
    **dict.fromkeys(
        ("adaptation", "beta", "sparsity_test"),
        ("alpha", "cmeans.papers.PrintedAdaptivePossibilisticCMeans"),
    ),
    **dict.fromkeys(
        ("method", "projection", "meta_membership", "past_weight"),
        ("warm_up", "cmeans.papers.StreamingKernelFCM"),
    ),
}
ELSEWHERE = {  # scikit-learn's
    "n_components": "n_clusters",
    "covariance_type": "covariance",
    "affinity": "kernel",
    "metric_params": "kernel=..., an object with these fields",
    "batch_size": "chunk_size",
    "means_init": "init",
    "init_params": "init",
    "weights_init": "init",
    "precisions_init": "init=(weights, means, covariances)",
    "reg_covar": "covariance=Covariance(prior=...)",
    "warm_start": "init=..., a fitted model",
    "verbose_interval": "verbose",
    "n_neighbors": 'kernel="landmark_graph"',
    "algorithm": "search",
    "eps": "tol",
}


def place_of(word: str, parameters: Any) -> str | None:
    """Return a sentence on where a word has gone in a constructor with these parameters; None where
    it has gone nowhere."""
    for places, when in ((GONE, "now"), (ELSEWHERE, "here")):
        place = places.get(word)
        if place is not None and (
            place.startswith("warnings") or place.partition("=")[0] in parameters
        ):
            return f"{word} is {place} {when}"
    of, place = PRINTED.get(word, ("", None))
    return f"{word} is a word of {place} now" if place is not None and of in parameters else None


def telling_of_gone_words(init: Callable[..., None]) -> Callable[..., None]:
    """Wrap a constructor to say of a word that it no longer takes where that has gone."""

    @wraps(init)
    def told(self: Any, *args: Any, **words: Any) -> None:
        try:
            init(self, *args, **words)
        except TypeError:
            parameters = signature(init).parameters
            for word in words:
                if word not in parameters:
                    refuse_gone_word(word, parameters, type(self).__name__)
            raise

    return told


def refuse_gone_word(word: str, parameters: Any, estimator_name: str) -> None:
    """Raise the error that names the new place of a word, if it has one."""
    sentence = place_of(word, parameters)
    if sentence is not None:
        raise TypeError(f"{estimator_name}({word}=...): {sentence}.") from None
