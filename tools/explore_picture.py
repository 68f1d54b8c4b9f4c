"""The picture of docs/explore.md: the page of `explore` as a browser shows it.
`python -m tools.explore_picture`."""

from __future__ import annotations

import base64
import tempfile
import time
from pathlib import Path

from sklearn.datasets import load_wine
from sklearn.preprocessing import StandardScaler
from tests.browser import browsing

from cmeans import FuzzyCMeans
from cmeans.inspection import explore

PICTURE = Path(__file__).parent.parent / "docs" / "pictures" / "explore.png"


def main() -> None:
    wine = load_wine(as_frame=True)
    scaler = StandardScaler().set_output(transform="pandas")
    X = scaler.fit_transform(wine.data)
    model = FuzzyCMeans(3, random_state=0).fit(X)
    page = explore(model, X, inverse_transform=scaler.inverse_transform, title="178 Italian wines")
    with tempfile.TemporaryDirectory() as folder, browsing(Path(folder)) as tab:
        tab.open(page.save(Path(folder) / "page.html"), 1280)
        while tab.value("document.documentElement.dataset.ready") != "yes":
            time.sleep(0.05)
        shot = tab.ask("Page.captureScreenshot")
    PICTURE.write_bytes(base64.b64decode(shot["data"]))


if __name__ == "__main__":
    main()
