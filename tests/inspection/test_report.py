"""The report: what stands on the page, that nothing on it is markup of the data, and what a browser
makes of it."""

import html
import itertools
import re
from html.parser import HTMLParser

import numpy as np
import pytest
from scipy import sparse

import cmeans
from cmeans.inspection import Again, Findings, report
from cmeans.inspection.page.document import FOLDER
from cmeans.kernels import Precomputed
from cmeans.runtime.numerals import in_digits
from inspection.page_record import Record

pytest.importorskip("jinja2")

pytestmark = pytest.mark.slow

HOSTILE = [
    "</script><script>document.title='owned'</script>",
    "\"quoted' & <b>bold</b>",
    "\U0001f600\nnew line",
    "x" * 10_000,
]


@pytest.fixture(scope="module")
def X():
    rng = np.random.default_rng(0)
    return rng.normal(size=(100, 4)) + np.repeat(
        [[0, 0, 0, 0], [8, 0, 0, 0], [0, 9, 0, 0]], (60, 30, 10), axis=0
    )


@pytest.fixture(scope="module")
def model(X):
    return cmeans.FuzzyCMeans(3, random_state=0).fit(X)


class Page(HTMLParser):
    """Elements of a page, its headings, the text of its cells, and the rows of its picture."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.ids, self.headings, self.images, self.cells, self._open = (
            [],
            [],
            [],
            [],
            [],
            [],
        )
        self.feed(text)
        self.rows = Record(text)

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
    text = page_of(
        model,
        X,
        tmp_path,
        feature_names=["length", "width", "c", "d"],
        row_names=names,
        title="My rows",
        findings=findings,
    )
    page = Page(text)
    assert page.headings[0] == ("h1", "My rows")
    assert [heading for level, heading in page.headings if level == "h2"] == [
        "Warnings",
        "The rows",
        "Clusters",
        "Memberships",
        "Means over the columns",
        "What sets clusters apart",
        "Rows between clusters, and of none",
        "Number of clusters",
        "What was done",
    ]
    assert all(attrs.get("aria-label") for attrs in page.images)
    assert dict(page.tags)["html"]["lang"] == "en"
    levels = [int(level[1]) for level, _ in page.headings]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(after <= before + 1 for before, after in itertools.pairwise(levels))
    assert all(cell.get("scope") in ("col", "row") for tag, cell in page.tags if tag == "th")
    assert len(page.ids) == len(set(page.ids))
    assert all(link["href"].removeprefix("#") in page.ids for tag, link in page.tags if tag == "a")
    assert {"look <here>", "rows.csv", "cmeans fit rows.csv -c 3", "length"} <= set(page.cells)
    for j in range(3):
        assert ", ".join(names[row] for row in model.representatives(3)[j]) in page.cells
    assert page.rows.labels().tolist() == model.labels_.tolist()
    np.testing.assert_allclose(page.rows.memberships(), model.memberships_.max(axis=1), atol=0.002)
    assert page.rows.ids() == names
    assert page.rows.columns()["length"] == pytest.approx(X[:, 0], abs=np.ptp(X[:, 0]) / 65534)
    assert str(findings.selection.reason) in html.unescape(text)


def contrast(one, other):
    """The contrast of two colours in sRGB, by WCAG 2.1: (L1 + .05) / (L2 + .05)."""

    def luminance(colour):
        part = np.array(colour) / 255
        return np.array([0.2126, 0.7152, 0.0722]) @ np.where(
            part <= 0.04045, part / 12.92, ((part + 0.055) / 1.055) ** 2.4
        )

    dark, bright = sorted((luminance(one), luminance(other)))
    return (bright + 0.05) / (dark + 0.05)


def test_colours_are_apart_enough_to_be_read():
    style = (FOLDER / "page.css").read_text(encoding="utf-8")
    palettes = re.findall(r":root[^{]*\{ (--back.*?) \}", style)
    assert len(palettes) == 3
    for palette in palettes:
        named = dict(re.findall(r"--(\w+): ([^;]+);", palette))
        colours = {
            name: [int(value[at : at + 2], 16) for at in (1, 3, 5)]
            for name, value in named.items()
            if value.startswith("#")
        }
        most = float(
            re.search(
                r"\.heat td\.high \{ background: rgba\(var\(--high\), calc\(var\(--z\) \* "
                r"([.\d]+)\)\)",
                style,
            )[1]
        )
        cells = [
            [
                most * int(part) + (1 - most) * back
                for part, back in zip(named[of].split(","), colours["back"], strict=True)
            ]
            for of in ("high", "low")
        ]
        pairs = [
            (colours[text], colours[back])
            for text in ("text", "quiet", "link")
            for back in ("back", "panel")
        ]
        pairs += [(colours["text"], cell) for cell in cells]
        assert min(contrast(*pair) for pair in pairs) >= 4.5


def test_nothing_is_fetched_and_nothing_is_markup_of_the_data(X, model, tmp_path):
    findings = Findings(warnings=HOSTILE, facts={HOSTILE[0]: HOSTILE[1]}, again=Again(HOSTILE[0]))
    text = page_of(
        model,
        X,
        tmp_path,
        feature_names=HOSTILE,
        row_names=HOSTILE * 25,
        title=HOSTILE[0],
        findings=findings,
    )
    page = Page(text)
    assert [tag for tag, _ in page.tags].count("script") == 2
    assert not any(
        tag in ("b", "link", "img", "iframe") or "src" in attrs for tag, attrs in page.tags
    )
    # the name of SVG, which is no address
    assert not re.search(r"https?://", text.replace("http://www.w3.org/2000/svg", ""))
    assert len(text) < 300_000  # a name of 10,000 characters is shortened


def test_values_are_shown_in_units_of_the_user(X, tmp_path):
    from sklearn.preprocessing import StandardScaler

    scaler = StandardScaler().fit(1000 + 50 * X)
    model = cmeans.KernelKMeans(3, kernel="linear", random_state=0).fit(
        scaler.transform(1000 + 50 * X)
    )
    text = page_of(
        model, scaler.transform(1000 + 50 * X), tmp_path, inverse_transform=scaler.inverse_transform
    )
    means = {in_digits(1000 + 50 * X[model.labels_ == j, 0].mean()) for j in range(3)}
    assert means <= set(Page(text).cells)
    with pytest.raises(ValueError, match="inverse_transform"):
        page_of(model, X, tmp_path, inverse_transform=lambda x: x[:3])


@pytest.mark.parametrize(
    "made",
    [
        cmeans.KernelKMeans(3, gamma="median", landmarks=20, random_state=0),
        cmeans.KernelKMeans(3, kernel="landmark_graph", random_state=0),
        cmeans.StreamingFuzzyCMeans(3, random_state=0),
        cmeans.AdaptivePossibilisticCMeans((1, 6), random_state=0),
        cmeans.KernelKMeans(1, kernel="linear"),
        cmeans.KernelKMeans(3, landmarks=None, random_state=0),
        cmeans.ProbabilisticKMeans(3, random_state=0),
        cmeans.TwoStepKernelKMeans(3, random_state=0),
        cmeans.KernelPatchClustering(3, random_state=0),
        pytest.param(
            cmeans.StreamingFuzzyCMeans(3, kernel="landmark_graph", chunk_size=50, random_state=0),
            marks=pytest.mark.filterwarnings("ignore:.*is doubtful"),  # of the first 50 rows
        ),
    ],
    ids=repr,
)
def test_every_kind_of_model(X, made, tmp_path):
    page = Page(page_of(made.fit(X), X, tmp_path))
    assert ("h2", "Means over the columns") in page.headings


@pytest.mark.parametrize("kind", ["square", "columns of landmarks", "new rows", "graph"])
def test_what_cannot_be_said_is_said(X, tmp_path, kind):
    kernel, more = np.exp(-((X[:, None] - X[None]) ** 2).sum(axis=2) / 20), {}
    rows = np.arange(0, 100, 5)
    model = cmeans.KernelKMeans(3, kernel="precomputed", random_state=0)
    if kind == "columns of landmarks":
        kernel = kernel[:, rows]
        model.set_params(landmarks=rows, kernel=Precomputed(diagonal=np.ones(100)))
    if kind == "graph":
        kernel = sparse.csr_array(np.where(kernel > 0.3, kernel, 0.0))
        model.set_params(kernel="precomputed_graph")
    model.fit(kernel)
    if kind == "new rows":
        kernel, more = kernel[:40], {"diag": np.ones(40)}
    page = Page(page_of(model, kernel, tmp_path, **more))
    assert ("h2", "Means over the columns") not in page.headings
    assert any("precomputed kernel or graph" in text for text in page.cells)
    assert page.rows.labels().tolist() == model.predict(kernel, **more).tolist()


def test_files_and_saved_models(X, model, tmp_path):
    np.save(tmp_path / "rows.npy", X)
    cmeans.save(model, tmp_path / "model.safetensors", rows=False)
    text = page_of(cmeans.load(tmp_path / "model.safetensors"), tmp_path / "rows.npy", tmp_path)
    assert Page(text).rows.facts == Page(page_of(model, X, tmp_path)).rows.facts
    stored = cmeans.FuzzyCMeans(3, random_state=0).fit(cmeans.open_blocks(tmp_path / "rows.npy"))
    page = Page(page_of(stored, tmp_path / "rows.npy", tmp_path))
    assert page.rows.labels().tolist() == stored.labels_.tolist()
    assert ("h2", "Means over the columns") in page.headings


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
    with pytest.raises(
        ValueError, match=r"page.pdf'\): the page is HTML; give a file that ends in .html"
    ):
        report(model, X, tmp_path / "page.pdf")
    with pytest.raises(OSError, match="nowhere"):
        report(model, X, tmp_path / "nowhere" / "page.html")
    assert not list(tmp_path.iterdir())
