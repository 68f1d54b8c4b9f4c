"""Messages of the library in the words of the command."""

from __future__ import annotations

import pytest

from cmeans.cli.output.messages import in_options


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("FuzzyCMeans(m=1.0): m must be greater than 1; use KernelKMeans.", "--m 1.0: m must be "
"greater than 1; use --method hard."),
        ("FuzzyCMeans(noise=0.5, sizes=Sizes(least=[10.0, 20.0])): give noise= or sizes=, not "
"both.",
         "--noise 0.5, --size-min 10.0,20.0: give --noise or --size-min, --size-max, not both."),
        ("Landmarks(tol=-1.0): tol must be a number of at least 0.", "--landmark-tol -1.0: "
"--landmark-tol must be a number of at least 0."),
        ("KernelKMeans: known_labels[4] is 7.", "--known-labels: row 4 is 7."),
        ("FuzzyCMeans: stopped at max_iter=9; raise max_iter or loosen tol=1e-05.",
         "stopped at --max-iter 9; raise --max-iter or loosen --tol 1e-05."),
        ('CMeans(sizes=Sizes(least=2)): rule=\'polynomial_fuzzy\' does not bound the sizes of '
'clusters; rule="hard" or "entropy" does.',
         "--size-min 2: --method polynomial_fuzzy does not bound the sizes of clusters; --method "
"hard or entropy does."),
        ("CMeans(top_k=2): memberships of rule=PolynomialFuzzy(beta=0.75) cannot be truncated.",
         "--top-k 2: memberships of --method polynomial_fuzzy cannot be truncated."),
        ("ThreadEngine(memory_budget='much'): give bytes or text such as \"512MB\".",
         "--memory-budget much: give bytes or text such as 512MB."),
        ('KernelKMeans(search="breathing"): take search="auto" or None with known_labels.',
         "--search breathing: take --search auto or none with --known-labels."),
        ('KernelKMeans(metric="cosine", search=Search(progressive=False, join_equal_rows=True)): '
'no.',
         "--metric cosine, --all-rows, --join-equal-rows true: no."),
        ("FuzzyCMeans.predict_to: cannot write max_iter=3/n_init.csv: full.", "cannot write "
"max_iter=3/n_init.csv: full."),
        ('StreamingFuzzyCMeans(noise=0.1): take rule="fuzzy", or noise=None.', "--noise 0.1: take "
"--rule fuzzy, or --noise none."),
        ('KernelKMeans(search="annealing"): as CMeans(rule="entropy") has one.', "--search "
"annealing: "
"as --method entropy has one."),
        ('KernelKMeans(metric="cosine"): X holds a row of zeros; scale X.',
         "--metric cosine: the data holds a row of zeros; scale the data."),
        ("x.npz: holds 3 arrays (a, X, y); say which.", "x.npz: holds 3 arrays (a, X, y); say "
"which."),
        ("kernel=Polynomial(degree=20, gamma=1.0) gives inf for a pair of rows.", "--kernel "
"polynomial "
"gives inf for a pair of rows."),
        ("FuzzyCMeans(n_clusters=9): there are fewer rows than clusters, n_samples=5; take fewer.",
         "--clusters 9: there are fewer rows than clusters, 5 rows; take fewer."),
        ("FuzzyCMeans(landmarks=9): there are only n_samples=5 rows.", "--landmarks 9: there are "
"only 5 rows."),
        ("FuzzyCMeans.predict_to(top_k=5, threshold=0.5): give 1 ... 3.", "--top-k 5, --threshold "
"0.5: give 1 ... 3."),
        ("StreamingFuzzyCMeans(m=1.0): for m = 1, use KernelKMeans.", "--m 1.0: for m = 1, use "
"--rule hard."),
        ("all centres are nearly the same point (separation_=4e-17).", "all centres are nearly the "
"same point (separation 4e-17)."),
        ("select(n_clusters=[2, 3]): X has missing values. Impute X (scikit-learn's SimpleImputer, "
"KNNImputer).",
         "--clusters 2,3: the data has missing values. Impute the data."),
        ("x.csv: column 'n_init' holds text", "x.csv: column 'n_init' holds text"),
        ("begun with n_clusters=3; take resume=False.", "begun with --clusters 3; leave out "
"--resume."),
        ("Use StreamingFuzzyCMeans, or the number that cmeans.select gives.", "Use cmeans stream, "
"or the number that cmeans select gives."),
    ],
)  # fmt: skip
def test_options_stand_for_parameters_and_nothing_else_changes(text: str, said: str) -> None:
    assert in_options(text) == said
    assert in_options(said) == said
