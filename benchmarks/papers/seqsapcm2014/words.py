"""What the page says that depends on no measured number."""

BEGINNING = """
# Sequential sparse adaptive possibilistic clustering (Xenaki, Koutroumbas, Rontogiannis, SETN 2014)

`python -m benchmarks.papers seqsapcm2014` measures what is shown here, draws the figures and writes this page.

## What the paper does

In possibilistic c-means each cluster looks for a dense place by itself, with a fixed scale eta_j for its reach. The adaptive form (APCM)
lets eta_j follow the rows the cluster owns, and drops clusters that own none: it starts from too many clusters and finds how many there
are. The sparse form (SAPCM) adds lambda u^p to the cost of each typicality u, so that far rows belong nowhere. The sequential form
(SeqSAPCM), the paper's own, adds one cluster at a time at the row farthest from all centres until that makes no further cluster; only
lambda is left to choose.

| paper | library |
|---|---|
| APCM | `AdaptivePossibilisticCMeans(m_ini, sparsity=0, adaptation="conference", beta=beta)` |
| SAPCM | the same with `sparsity=lam, sparsity_test="local"` |
| SeqSAPCM | `SequentialPossibilisticCMeans(sparsity=lam, sparsity_test="local", patience=1)` |
| PCM | `AdaptivePossibilisticCMeans(m_ini, sparsity=0, adaptation=None)` |

## The reading that gives the printed numbers

The paper leaves several things open, or says them in two ways. With these, the tables come out as far as they do:

* **Units.** Each feature is scaled to [0, 10] (`scaling="range"`). The adapted eta_j is the mean *unsquared* distance of a cluster's own
  rows from their mean, and stands against squared distances in exp(-d / eta): the form depends on units, and needs that scaling.
* **First eta.** Squared, as in the pseudo-code and not as in the text: half the squared distance to the nearest other start, over
  -ln(beta). SeqSAPCM: max(d_max, d_slope)^2.
* **Roots.** The largest root of f counts wherever there is one (`sparsity_test="local"`), even where u = 0 would cost less. p = 0.5.
* **Elimination and merging.** A cluster that is no row's first choice goes. One whose own rows coincide would have scale 0 and goes too,
  unless it weighs a tenth of an average cluster. Centres closer than 0.001 min_j eta_j (squared) become one.
* **Starts (footnote 8).** Max-Min among the scaled rows, begun at the row farthest from the first row of the file ("the far row"), which is
  how the approximate diameter of SeqSAPCM begins. k-means and FCM take the same rows.
* **Scoring.** The tables score typicalities *without* sparsity at the final centres and scales, u_ij = exp(-d_ij / eta_j), divided by their
  sum over clusters. A row's label is its largest u, so rows that no cluster wants are scored too.
* **GRM.** 1 - mean |E_P - E_Q| with E(i, k) = 1 - |u_i - u_k| / sqrt(2), Euclidean. `generalized_rand_measure` follows the measure's
  authors and halves the sum of absolute differences, so its values differ.
* **k-means and FCM.** On Iris standardised (zero mean, unit variance), on S2 and Wine as they are. FCM has m = 2.
* **Iris** is Fisher's, as scikit-learn has it; the UCI file differs in two rows (see below Table 3).

"=" means that clusters, RM and SR agree in all digits and GRM to 0.05; "~" the right number of clusters and SR within a point. Columns are
clusters found, RM, GRM, SR (%), and the difference is ours less the printed. "Starts" counts the first rows of Max-Min that give the
printed line: all rows on Iris and Wine, some drawn ones on S2.
"""

PCM = """* **PCM.** The paper names the 1996 form and does not give its scales; wider ones unite more clusters. The low printed GRM
  says that coincident centres were kept there. {count}"""

KMEANS = "* **k-means, and FCM from wrong numbers,** end where the start leads, and the paper's start is not known for them."

IN_PRACTICE = """
## What to use

The paper's lambda has to be chosen for each set ({lambdas}), and the
form needs features in [0, 10]. `AdaptivePossibilisticCMeans()` asks for neither: it takes the later, unit-free form
(`adaptation="journal"`) with an automatic lambda, and wants only a number of clusters to start from, about twice as many as there are.
Measured by the library's own labels, unwanted rows in the nearest cluster: clusters found (how often) and mean SR, over random states
({states}):
"""

ENDING = """
`Sequential...()` lowers its automatic lambda until every cluster reaches sqrt(3) times its deviation. `alpha="auto"` widens the clusters of
`Adaptive...()` until their number stands still: what is found then depends little on the number at the start, but clusters that touch, as
two do in Iris and in Experiment 1, may become one. Take the number of clusters from several runs, and use `FuzzyCMeans` or `KernelKMeans`
where it is known.
"""
