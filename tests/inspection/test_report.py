"""The report: what stands on the page, that nothing on it is markup of the data, and what a browser makes of it."""

import html
import json
import re
import shutil
import subprocess
from html.parser import HTMLParser

import numpy as np
import pytest

import cmeans
from cmeans.inspection import Again, Findings, report

pytest.importorskip("jinja2")

HOSTILE = ["</script><script>document.title='owned'</script>", "\"quoted' & <b>bold</b>", "\U0001f600\nnew line", "x" * 10_000]


@pytest.fixture(scope="module")
def X():
    rng = np.random.default_rng(0)
    return rng.normal(size=(100, 4)) + np.repeat([[0, 0, 0, 0], [8, 0, 0, 0], [0, 9, 0, 0]], (60, 30, 10), axis=0)


@pytest.fixture(scope="module")
def model(X):
    return cmeans.FuzzyCMeans(3, random_state=0).fit(X)


class Page(HTMLParser):
    """Elements of a page, its headings, the text of its cells, and the rows of its picture."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.ids, self.headings, self.images, self.cells, self._open = [], [], [], [], [], []
        self.feed(text)
        self.rows = json.loads(re.search(r'<script id="rows" type="application/json">(.*?)</script>', text, re.DOTALL)[1])

    def handle_starttag(self, tag, attrs):
        attrs = dict(attrs)
        self.tags.append((tag, attrs))
        self.ids += [attrs["id"]] if "id" in attrs else []
        if tag in ("img", "canvas", "svg"):
            self.images.append(attrs)
        self._open.append(tag)

    def handle_data(self, data):
        if self._open and self._open[-1] in ("h1", "h2", "h3"):
            self.headings.append((self._open[-1], data.strip()))
        if self._open and self._open[-1] in ("td", "th", "dd", "p", "pre", "li"):
            self.cells.append(" ".join(data.split()))

    def handle_endtag(self, tag):
        while self._open and self._open.pop() != tag:
            pass


def page_of(model, X, folder, **more):
    return report(model, X, folder / "page.html", **more).read_text(encoding="utf-8")


def test_contents(X, model, tmp_path):
    findings = Findings(
        selection=cmeans.select(cmeans.FuzzyCMeans(), X, range(2, 5), random_state=0),
        warnings=["look <here>"],
        facts={"file": "rows.csv"},
        again=Again("model = ...", ("cmeans fit rows.csv -c 3",)),
    )
    names = [f"r{number}" for number in range(100)]
    text = page_of(model, X, tmp_path, feature_names=["length", "width", "c", "d"], row_names=names, title="My rows", findings=findings)
    page = Page(text)
    assert page.headings[0] == ("h1", "My rows")
    assert [heading for level, heading in page.headings if level == "h2"] == [
        "Warnings",
        "Clusters",
        "The rows",
        "Memberships",
        "Means over the columns",
        "What sets clusters apart",
        "Rows between clusters, and of none",
        "Number of clusters",
        "What was done",
    ]
    assert all(attrs.get("aria-label") for attrs in page.images)
    assert len(page.ids) == len(set(page.ids))
    assert all(link["href"].removeprefix("#") in page.ids for tag, link in page.tags if tag == "a")
    assert {"look <here>", "rows.csv", "cmeans fit rows.csv -c 3", "length"} <= set(page.cells)
    for j in range(3):
        assert ", ".join(names[row] for row in model.representatives(3)[j]) in page.cells
    assert page.rows["cluster"] == model.labels_.tolist()
    assert page.rows["u"] == np.rint(100 * model.memberships_.max(axis=1)).astype(int).tolist()
    assert page.rows["name"] == names
    assert str(findings.selection.reason) in html.unescape(text)


def test_nothing_is_fetched_and_nothing_is_markup_of_the_data(X, model, tmp_path):
    findings = Findings(warnings=HOSTILE, facts={HOSTILE[0]: HOSTILE[1]}, again=Again(HOSTILE[0]))
    text = page_of(model, X, tmp_path, feature_names=HOSTILE, row_names=HOSTILE * 25, title=HOSTILE[0], findings=findings)
    page = Page(text)
    assert [tag for tag, _ in page.tags].count("script") == 2
    assert not any(tag in ("b", "link", "img", "iframe") or "src" in attrs for tag, attrs in page.tags)
    assert not re.search(r"https?://", text)
    assert len(text) < 300_000  # a name of 10,000 characters is shortened


def test_values_are_shown_in_units_of_the_user(X, tmp_path):
    from sklearn.preprocessing import StandardScaler

    scaler = StandardScaler().fit(1000 + 50 * X)
    model = cmeans.KernelKMeans(3, kernel="linear", random_state=0).fit(scaler.transform(1000 + 50 * X))
    text = page_of(model, scaler.transform(1000 + 50 * X), tmp_path, inverse_transform=scaler.inverse_transform)
    means = {f"{1000 + 50 * X[model.labels_ == j, 0].mean():.4g}" for j in range(3)}
    assert means <= set(Page(text).cells)
    with pytest.raises(ValueError, match="inverse_transform"):
        page_of(model, X, tmp_path, inverse_transform=lambda x: x[:3])


@pytest.mark.parametrize(
    "made",
    [
        cmeans.KernelKMeans(3, gamma="median", n_landmarks=20, random_state=0),
        cmeans.KernelKMeans(3, kernel="landmark_graph", random_state=0),
        cmeans.StreamingFuzzyCMeans(3, random_state=0),
        cmeans.AdaptivePossibilisticCMeans(6, random_state=0),
        cmeans.KernelKMeans(1, kernel="linear"),
    ],
    ids=repr,
)
def test_every_kind_of_model(X, made, tmp_path):
    page = Page(page_of(made.fit(X), X, tmp_path))
    assert ("h2", "Means over the columns") in page.headings


def test_what_cannot_be_said_is_said(X, tmp_path):
    kernel = np.exp(-((X[:, None] - X[None]) ** 2).sum(axis=2) / 20)
    page = Page(page_of(cmeans.KernelKMeans(3, kernel="precomputed", random_state=0).fit(kernel), kernel, tmp_path))
    assert ("h2", "Means over the columns") not in page.headings
    assert any("precomputed kernel or graph" in text for text in page.cells)


def test_files_and_saved_models(X, model, tmp_path):
    np.save(tmp_path / "rows.npy", X)
    cmeans.save(model, tmp_path / "model.safetensors", rows=False)
    text = page_of(cmeans.load(tmp_path / "model.safetensors"), tmp_path / "rows.npy", tmp_path)
    assert Page(text).rows == Page(page_of(model, X, tmp_path)).rows


def test_bad_input(X, model, tmp_path):
    for words, match in (
        ({"theme": "pink"}, "theme"),
        ({"row_names": ["one"]}, "1 names for 100 rows"),
        ({"feature_names": ["one"]}, "1 names for 4 columns"),
    ):
        with pytest.raises(ValueError, match=match):
            report(model, X, tmp_path / "page.html", **words)
    with pytest.raises(ValueError, match="pass a fitted estimator"):
        report("model", X, tmp_path / "page.html")
    with pytest.raises(OSError, match="nowhere"):
        report(model, X, tmp_path / "nowhere" / "page.html")
    assert not list(tmp_path.iterdir())


BROWSER = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
QUIET = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update", "--disable-sync"]
QUIET += ["--no-first-run", "--disable-quic", "--enable-logging=stderr", "--virtual-time-budget=2000", "--hide-scrollbars"]
PROBE = """<script>(function () {
const canvas = document.getElementById("plot"), pen = canvas.getContext("2d"), said = {};
function inked() {
  const data = pen.getImageData(0, 0, canvas.width, canvas.height).data;
  let n = 0;
  for (let i = 3; i < data.length; i += 4) n += data[i] > 0;
  return n;
}
said.all = inked();
document.querySelector("#switches input").click(); said.one_off = inked();
document.querySelector("#switches input").click(); said.on_again = inked();
const slider = document.getElementById("threshold"); slider.value = 99; slider.dispatchEvent(new Event("input")); said.strict = inked();
said.told = document.getElementById("threshold-value").textContent; slider.value = 0; slider.dispatchEvent(new Event("input"));
const rows = JSON.parse(document.getElementById("rows").textContent), box = canvas.getBoundingClientRect();
const x = box.left + 14 + rows.x[0] / 1000 * (box.width - 28), y = box.top + box.height - 14 - rows.y[0] / 1000 * (box.height - 28);
canvas.dispatchEvent(new PointerEvent("pointermove", {clientX: x, clientY: y}));
said.tip = document.getElementById("tip").textContent;
said.overflow = document.documentElement.scrollWidth - window.innerWidth; said.title = document.title;
const told = document.createElement("pre"); told.id = "said"; told.textContent = JSON.stringify(said); document.body.append(told);
})();</script></body>"""


@pytest.mark.skipif(BROWSER is None, reason="no Chromium on this machine")
@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", [500, 1400])
def test_in_a_browser(X, model, tmp_path, theme, width):
    names = [HOSTILE[0], *map(str, range(1, 100))]
    text = page_of(model, X, tmp_path, feature_names=HOSTILE, row_names=names, title="Rows", theme=theme)
    page = tmp_path / "probed.html"
    page.write_text(text.replace("</body>", PROBE), encoding="utf-8")
    words = [BROWSER, *QUIET, f"--user-data-dir={tmp_path / 'profile'}", f"--window-size={width},1000", "--dump-dom", page.as_uri()]
    ran = subprocess.run(words, capture_output=True, text=True, timeout=120, check=True)
    assert not [line for line in ran.stderr.splitlines() if "CONSOLE" in line and "willReadFrequently" not in line]  # of the probe
    said = json.loads(html.unescape(re.search(r'<pre id="said">(.*?)</pre>', ran.stdout, re.DOTALL)[1]))
    assert 0 < said["one_off"] < said["all"] == said["on_again"]
    assert 0 <= said["strict"] < said["all"]
    assert (said["told"], said["title"]) == ("99%", "Rows")
    assert said["tip"].startswith("row </script><script>")
    assert said["overflow"] <= 0
