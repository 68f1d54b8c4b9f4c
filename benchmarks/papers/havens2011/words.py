"""Words of the page that no number changes."""

from __future__ import annotations

from .fits import AUTO, CORRECTED, PRINTED
from .settings import RUNS

ABSENT = "*(not measured)*"
WORDS = {CORRECTED: "m = 2", PRINTED: "as printed", AUTO: "m auto"}


def head() -> str:
    return """
# Havens, Chitta, Jain, Jin 2011: akFCM and akPCM

*Speedup of Fuzzy and Possibilistic Kernel c-Means for Large-Scale Clustering*, FUZZ-IEEE 2011.
Centres of kernel fuzzy and possibilistic c-means are restricted to the span of s rows drawn at random, so that a sweep reads s columns
of the kernel matrix in place of all n. The paper measures what that gains in time and loses in quality (figures 2 to 5),
and runs it on data whose kernel matrix does not fit in memory (Table II).

| the paper | the library |
|---|---|
| Algorithm 2, FCM with all of K | `CMeans(c, rule=Fuzzy(2.0), n_landmarks=None, stop="memberships", tol=1e-3)` |
| Algorithm 3, PCM | `CMeans(c, rule="possibilistic", pilot_m=2.0, ...)`: the fuzzy run first, then eta by eq. 11 with Theta = 1 |
| Algorithms 4 and 5, akFCM and akPCM | the same with `landmarks=` the rows drawn |
| eq. 6 as printed | `Fuzzy(2.0, exponent=2.0)`: its exponent 2/(m-1) belongs to distances, and eq. 8 has squared them already |
| eq. 19 as printed | its minus sign is a slip, without which the centres of eq. 18 come out |
| purity (21), E (22) | `cmeans.metrics.purity`; `objective_`, for PCM less the penalty |
"""


def rest() -> str:
    return f"""
## What is not here, and why

- Figure 1 is a plot of A3 and measures nothing.
- GARDEN_HD's purities (.65 with 84 clusters on covertype, .76 with 1,250 and 1 with 6,314 on the mammals) are not beside ours: the paper
  itself advises against it, since purity grows with the number of clusters.
- CLUTO's purities are the paper's quotation of another paper; CLUTO is not run here.
- That memory is O(s n) in place of O(n^2) is not measured but made so: the sampled side of every run holds s columns and the diagonal.
- The caption counts 21 runs and the text 20; here there are {RUNS}, fewer where the tables say so.
"""
