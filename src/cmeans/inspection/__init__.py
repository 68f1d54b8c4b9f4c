"""Pictures, summaries and explanations of a clustering.

Displays follow scikit-learn's: `SomeDisplay.from_estimator(model, X)` draws and returns a display
with `ax_` and `figure_`, `from_predictions` draws what any clustering found, `ax=` draws into a
figure of your own. They need matplotlib (`pip install "cmeans[plot]"`). `model.plot(X)` draws four
of them.
"""

from .displays.centres import CentresDisplay
from .displays.certificate import CertificateDisplay
from .displays.convergence import ConvergenceDisplay
from .displays.evidence import EvidenceDisplay
from .displays.image import ImageDisplay
from .displays.memberships import MembershipDisplay
from .displays.pieces import CostCurveDisplay, PieceTreeDisplay
from .displays.resolutions import ResolutionDisplay
from .displays.scatter import ScatterDisplay
from .displays.selection import SelectionDisplay
from .displays.silhouette import SilhouetteDisplay
from .displays.sizes import SizesDisplay
from .displays.stability import StabilityDisplay
from .displays.tendency import TendencyDisplay
from .explain import Explanation, explain
from .exploration import Exploration, PageState, read_state
from .explore import explore
from .overview import overview
from .page.findings import Again, Findings
from .report import report
from .representatives import representatives
from .summary import summary
from .tables import Table

__all__ = [
    "Again",
    "CentresDisplay",
    "CertificateDisplay",
    "ConvergenceDisplay",
    "CostCurveDisplay",
    "EvidenceDisplay",
    "Explanation",
    "Exploration",
    "Findings",
    "ImageDisplay",
    "MembershipDisplay",
    "PageState",
    "PieceTreeDisplay",
    "ResolutionDisplay",
    "ScatterDisplay",
    "SelectionDisplay",
    "SilhouetteDisplay",
    "SizesDisplay",
    "StabilityDisplay",
    "Table",
    "TendencyDisplay",
    "explain",
    "explore",
    "overview",
    "read_state",
    "report",
    "representatives",
    "summary",
]
