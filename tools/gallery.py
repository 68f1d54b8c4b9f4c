"""The page of pictures, docs/pictures.md: every display on real data, with the lines that made it.
`python -m tools.gallery`."""

from __future__ import annotations

import textwrap
from pathlib import Path
from typing import Any

import matplotlib as mpl

DOCS = Path(__file__).parent.parent / "docs"
FOLDER = "pictures"

HEAD = """# Pictures

What `cmeans.inspection` draws, on data that come with scikit-learn. Written by `python -m tools.gallery`. Every display also takes results
of other clusterings (`from_predictions`), and axes of your own (`ax=`). `cmeans report` puts most of it on one page for a browser.
"""

WINE = """
from sklearn.datasets import load_wine
from sklearn.preprocessing import StandardScaler
from cmeans import FuzzyCMeans

wine = load_wine(as_frame=True)
X = StandardScaler().set_output(transform="pandas").fit_transform(wine.data)
model = FuzzyCMeans(3, random_state=0).fit(X)
"""
DIGITS = """
from sklearn.datasets import load_digits
from cmeans import KernelKMeans

digits = load_digits().data
kernel = KernelKMeans(10, gamma="median", landmarks=100, random_state=0).fit(digits)
"""
FLOWER = """
from sklearn.datasets import load_sample_image

image = load_sample_image("flower.jpg")[::3, ::3]
colours = FuzzyCMeans(4, random_state=0).fit(image.reshape(-1, 3) / 255)
"""
PIECES = """
import numpy as np
from sklearn.datasets import make_circles, make_moons
from cmeans import ConnectivityClustering

rings = make_circles(600, noise=0.03, factor=0.4, random_state=0)[0]
moons = make_moons(600, noise=0.05, random_state=0)[0] + [3, 0]
pieces = ConnectivityClustering().fit(np.concatenate([rings, moons]))
"""
PICTURES = [  # title, what it is for, the lines that set up, the lines of the display
    ("Four at once", "What to look at first.", WINE, "model.plot(X)"),
    (
        "Rows",
        "In the plane in which the centres lie apart most, of any space; or over two columns. Pale "
        "rows belong to their cluster less; a "
        "cross marks the row nearest to each centre.",
        "from cmeans.inspection import ScatterDisplay",
        'ScatterDisplay.from_estimator(model, X, columns=("alcohol", "flavanoids"))',
    ),
    (
        "Ellipses",
        "One and two deviations away from the centres, of clusters with covariances; of a mixture "
        'also contours of its density (`outline="density"`).',
        "from cmeans import GaussianMixture\n\nmixture = GaussianMixture(3, random_state=0).fit(X)",
        'ScatterDisplay.from_estimator(mixture, X, columns=("alcohol", "flavanoids"))',
    ),
    (
        "Memberships",
        "A steep fall is a clear cluster, a slope one that overlaps others.",
        "from cmeans.inspection import MembershipDisplay",
        'MembershipDisplay.from_estimator(model, X, kind="heatmap")',
    ),
    (
        "Sizes",
        "Noise is grey.",
        "from cmeans.inspection import SizesDisplay",
        "SizesDisplay.from_estimator(model, X)",
    ),
    (
        "Silhouettes",
        "By centres, in the space of the model: rows at the left are as near to another cluster.",
        DIGITS + "\nfrom cmeans.inspection import SilhouetteDisplay",
        "SilhouetteDisplay.from_estimator(kernel, digits)",
    ),
    (
        "Centres",
        "Means over the columns, in deviations from the mean of all rows.",
        "from cmeans.inspection import CentresDisplay",
        'CentresDisplay.from_estimator(model, X, kind="lines")',
    ),
    (
        "How many clusters",
        "The evidence of `cmeans.select`, and its choice.",
        "from cmeans import select\nfrom cmeans.inspection import SelectionDisplay\n\n"
        "chosen = select(FuzzyCMeans(), X, range(2, 9), random_state=0)",
        "SelectionDisplay.from_selection(chosen)",
    ),
    (
        "How stable they are",
        "Agreement with refits to bootstrap samples: clusters that are there come again.",
        "from cmeans import stability\nfrom cmeans.inspection import StabilityDisplay\n\ndoubtful "
        "= FuzzyCMeans(4, random_state=0).fit(X)",
        "StabilityDisplay.from_stability(stability(doubtful, X))",
    ),
    (
        "Are there clusters at all",
        "Distances between rows, in the order of a minimum spanning tree: dark squares are "
        "clusters.",
        "from cmeans.inspection import TendencyDisplay",
        "TendencyDisplay.from_estimator(model, X)",
    ),
    (
        "Certificate",
        "Bounds of the true cost, and what landmarks leave out of the kernel, over their number.",
        "from cmeans.inspection import CertificateDisplay",
        "CertificateDisplay.from_estimator(kernel, digits, n_landmarks=(50, 200, 400))",
    ),
    (
        "Convergence",
        "The objective after each sweep.",
        "from cmeans.inspection import ConvergenceDisplay",
        "ConvergenceDisplay.from_estimator(model)",
    ),
    (
        "The tree of connected pieces",
        "Pieces grow, as wide as their rows weigh, and join as steps may be longer (upwards). "
        "Branches of one cluster have its colour, those of several are grey.",
        PIECES + "\nfrom cmeans.inspection import PieceTreeDisplay",
        "PieceTreeDisplay.from_estimator(pieces)",
    ),
    (
        "What every number of pieces costs",
        "The least cost for each number of clusters, the number chosen, and the layers.",
        "from cmeans.inspection import CostCurveDisplay",
        "CostCurveDisplay.from_estimator(pieces)",
    ),
    (
        "How stable communities are",
        "The agreement of runs at every resolution, the layers with their numbers of communities, and "
        "the resolution chosen.",
        "from cmeans import ModularityClustering\nfrom cmeans.inspection import ResolutionDisplay",
        "ResolutionDisplay.from_estimator(ModularityClustering().fit(digits))",
    ),
    (
        "Why this space and number",
        "The evidence of `cmeans.cluster`: how well each space keeps near rows together, the chosen one "
        "first.",
        "import cmeans\nfrom cmeans.inspection import EvidenceDisplay",
        "EvidenceDisplay.from_estimator(cmeans.cluster(X))",
    ),
    (
        "Images",
        "Labels, each cluster in the mean colour of its pixels, and memberships.",
        FLOWER + "\nfrom cmeans.inspection import ImageDisplay",
        "ImageDisplay.from_estimator(colours, image, features=lambda image: image.reshape(-1, 3) / "
        "255, own_colours=True)",
    ),
]


def figure_of(drawn: Any) -> Any:
    """Return the figure that a line made."""
    return getattr(drawn, "figure_", drawn)


def main() -> None:
    mpl.use("Agg")
    (DOCS / FOLDER).mkdir(exist_ok=True)
    known: dict[str, Any] = {}
    parts = [HEAD]
    for title, text, before, line in PICTURES:
        exec(before, known)
        place = f"{FOLDER}/{title.lower().replace(' ', '-')}.png"
        figure_of(eval(line, known)).savefig(DOCS / place, dpi=80, metadata={"Software": None})
        code = f"{before.strip()}\n\n{line}"
        sentences = "\n".join(textwrap.wrap(text, 138))
        parts.append(
            f"## {title}\n\n{sentences}\n\n```python\n{code}\n```\n\n![{title}]({place})\n"
        )
    (DOCS / "pictures.md").write_text("\n".join(parts), encoding="utf-8")


if __name__ == "__main__":
    main()
