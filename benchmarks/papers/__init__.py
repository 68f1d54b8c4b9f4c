"""The five papers, reproduced: every table and figure that the data allow, the printed number
beside ours.

    python -m benchmarks.papers all             what is not measured yet, then pages and figures in
                                                docs/papers
    python -m benchmarks.papers havens2011      one paper
    python -m benchmarks.papers all --quick     reduced sizes, in under two minutes: it all works
    python -m benchmarks.papers all --pages     pages and figures from the stored results, nothing
                                                measured
    python -m benchmarks.papers all --check     are the pages what the stored results give?
"""

from importlib import import_module

from .paper import Paper

NAMES = ("havens2011", "chitta2011", "zhang2013", "kpkm2021", "seqsapcm2014", "beyond")


def paper(name: str) -> Paper:
    """A paper by name; its code is loaded when it is asked for."""
    return import_module(f"{__name__}.{name}").PAPER
