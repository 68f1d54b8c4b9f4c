"""What the page says that depends on no measured number."""

BEGINNING = """
# Kernel probabilistic k-means (Liu, Zhang, Chen and others, Sensors 21, 2021, 1892)

`python -m benchmarks.papers kpkm2021` measures what is shown here, draws the figures and writes this page.

## What the paper does

Kernel fuzzy c-means (KFCM) has no rule for its memberships at m = 1. The paper takes that case as a problem with constraints: give each row
l a distribution p_l over the clusters, put the best centres v_k in, and minimise

    f(P) = sum_lk p_lk |phi(x_l) - v_k|^2 = sum_l K_ll - sum_k p_k' K p_k / s_k,     s_k = sum_l p_lk.

It walks down the gradient projected on the constraints that hold with equality (Rosen's method). Active gradient projection (AGP) takes
small steps and inverts a matrix for each projector. The paper's fast form (FAGP) goes as far as all constraints allow in each step, which
adds one constraint, and updates the projector by a matrix of rank one. Where every row belongs to one cluster, a constraint with a negative
multiplier is freed, until none is left.

| paper | library |
|---|---|
| KPKM by FAGP | `ProbabilisticKMeans(c, solver="fagp", polish=None, n_landmarks=None)` |
| KPKM by AGP | the same with `solver="agp", step=...` |
| KFCM, m = 2 | `FuzzyCMeans(c, m=2, n_landmarks=None, acceleration=None)`: plain sweeps |
| KKM | `KernelKMeans(c, init="random", n_landmarks=None)` |
| FCM, m = 1.3, and KM | `FuzzyCMeans(c, m=1.3, kernel="linear")`, `KernelKMeans(c, kernel="linear")` |
"""

CLOSED_FORM = """
## The closed form

The paper's projector is a matrix of nc x nc. But the constraints of one row do not touch another, so it falls into blocks that can be
written down. Let g_lk be the squared distance of row l from centre k, which is also the derivative of f, and F_l the clusters that row l
has not ruled out. Then row l moves by g's mean over F_l minus g_lk in the clusters of F_l and stays at 0 elsewhere, and where one cluster
is left, the multiplier of another is g_lk minus the distance from the own centre. No matrix larger than K is needed, and a step changes KP
by one product with K over the rows that still move, or by one column of K where one row moves. The steps are the paper's: the table of
dense projectors below says how often both forms take the same number of them, and how far apart their P end.

f is concave for a positive definite kernel, and three things follow that the paper does not say. Any direction in which f falls at first is
one in which it falls all the way, so the longest step is the best and no step can overshoot. Minima are partitions: P is soft along the way
only. And the walk ends where k-means would stop, with every row at its nearest centre: KPKM minimises what kernel k-means minimises. What
it brings is another way there, from rows that are undecided to those that are settled, the most decided first. The library adds two things:
`solver="batched"`, in which a tenth of the rows fix a cluster in each sweep (in place of n (c - 1) steps, any number of rows), and
`polish="hartigan"`, which moves single rows at the end while that lowers f.
"""

DIFFERENCES = """
## What differs, and why

* **Which method is best on the ten sets.** The sets, their scaling, the widths and starts of the paper are not in the text at hand. KPKM
  and kernel k-means minimise the same objective and end in the same kind of partition, so differences between the two by NMI can only come
  from widths and starts, and here each method gets the same scan of widths.
* **KFCM.** For m above a bound that depends on the data and the width, memberships of 1/c attract every start, and little of a partition is
  left: labels then hang on remainders, which depend on where a run stops. Compare m = 2 with m = "auto", which stays below that bound, in
  the tables.
* **A step the paper leaves open.** Where the projected gradient vanishes before a vertex, as at P = 1/c everywhere, the longest step is
  undefined. Here one row goes to a vertex, which concavity allows.
"""

IN_PRACTICE = """
## What to use

`ProbabilisticKMeans(c, n_init=10)` is for objectives where kernel k-means from random rows gets stuck: see disc and ring, and the table of
objectives. Its solver is FAGP in closed form up to n (c - 1) = 3,000 steps and batched above; leave the polish on. AGP has no use beyond
comparison. Take several starts: single ones vary. `KernelKMeans` with several starts is the quicker alternative. Where clusters overlap,
try `FuzzyCMeans` with m = "auto", which stands beside the paper's five in the tables. Look at the kernel and its width first.
"""
