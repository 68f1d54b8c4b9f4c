"""The report in a headless Chromium: phones and screens, light and dark, switches, contrast, and
nothing fetched."""

import time

import numpy as np
import pytest

import cmeans
from browser import browsing, needs_browser
from cmeans.inspection import Findings, report
from inspection.page_record import Record

pytest.importorskip("jinja2")
pytestmark = [pytest.mark.slow, needs_browser]

HOSTILE = [
    "</script><script>document.title='owned'</script>",
    "\"quoted' & <b>bold</b>",
    "\U0001f600\nnew line",
    "x" * 10_000,
]
# How many pixels have a colour, when the next frame has been drawn.
INKED = """new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => {
const canvas = document.getElementById("plot"), data = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data;
let n = 0;
for (let i = 0; i < data.length; i += 4) n += Math.max(data[i], data[i + 1], data[i + 2]) - Math.min(data[i], data[i + 1], data[i + 2]) > 40;
done(n);
})))"""
READY = "document.documentElement.dataset.ready"
SWITCH = 'document.querySelector("#switches input").click()'
SLIDE = """(function (to) {
const slider = document.getElementById("threshold");
slider.value = to;
slider.dispatchEvent(new Event("input"));
return document.getElementById("threshold-value").textContent;
})"""
# Where row 0 is drawn: its place in a plane of codes from 0 to 65534, with its margins.
PLACE = """(function (x, y) {
const canvas = document.getElementById("plot");
canvas.scrollIntoView();
const box = canvas.getBoundingClientRect(), at = (u, pad) => (u / 65534 + pad) / (1 + 2 * pad);
return [box.left + 64 + at(x, .04) * (box.width - 76), box.top + 12 + (1 - at(y, .05)) * (box.height - 52)];
})"""
# Of every piece of text its contrast to what is painted behind it (WCAG 2.1), whether it is large,
# and what it is.
CONTRASTS = r"""
(function () {
  function numbers(text) {
    const found = text.match(/[\d.]+/g).map(Number);
    return found.length < 4 ? [...found.slice(0, 3), 1] : found;
  }
  function over(top, below) { return [0, 1, 2].map(i => top[3] * top[i] + (1 - top[3]) * below[i]); }
  function light(colour) {
    const linear = colour.slice(0, 3).map(v => v / 255).map(v => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2];
  }
  function behind(element) {
    const layers = [];
    for (let one = element; one; one = one.parentElement) layers.push(numbers(getComputedStyle(one).backgroundColor));
    return layers.reverse().reduce((below, top) => over(top, below), [255, 255, 255]);
  }
  document.querySelectorAll("details").forEach(one => { one.open = true; });
  const found = [], walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const element = walker.currentNode.parentElement;
    if (!walker.currentNode.textContent.trim() || element.closest("script, noscript, [hidden]")) continue;
    const style = getComputedStyle(element), back = behind(element), text = over(numbers(style.color), back);
    const [dark, bright] = [light(text), light(back)].sort((a, b) => a - b), size = parseFloat(style.fontSize);
    const large = size >= 24 || (size >= 18.66 && style.fontWeight >= 700);
    found.push([(bright + 0.05) / (dark + 0.05), large, element.outerHTML.slice(0, 80)]);
  }
  return found.sort((a, b) => a[0] - b[0]);
})()"""


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """Pages of plain and of hostile names, with all that a page may hold, by theme."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(100, 4)) + np.repeat(
        [[0, 0, 0, 0], [8, 0, 0, 0], [0, 9, 0, 0]], (60, 30, 10), axis=0
    )
    model = cmeans.FuzzyCMeans(3, random_state=0).fit(X)
    choice = cmeans.select(cmeans.FuzzyCMeans(), X, range(2, 5), random_state=0)
    stable = cmeans.stability(model, X, n_bootstrap=3, random_state=0)
    findings = Findings(
        selection=choice, stability=stable, warnings=["look", HOSTILE[0]], facts={"file": "x" * 300}
    )
    folder, found = tmp_path_factory.mktemp("pages"), {}
    for theme in ("light", "dark", "auto"):
        words = {
            "feature_names": HOSTILE,
            "row_names": [HOSTILE[0], *map(str, range(1, 100))],
            "title": "Rows",
            "theme": theme,
        }
        found[theme] = report(model, X, folder / f"{theme}.html", findings=findings, **words)
    hard = cmeans.AdaptivePossibilisticCMeans((1, 6), random_state=0).fit(X)
    found["noise"] = report(
        hard, X, folder / "noise.html", feature_names=["length of the petals", "b", "c", "d"]
    )
    return found


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    with browsing(tmp_path_factory.mktemp("browser")) as tab:
        yield tab


def show(page, file, *screen):
    """Open a page, and wait until it is drawn."""
    page.open(file, *screen)
    for _ in range(1000):
        if page.value(READY) == "yes":
            return
        time.sleep(0.01)
    raise AssertionError(page.wrong)


@pytest.mark.parametrize(
    ("theme", "width", "scheme"),
    [
        ("auto", 360, "dark"),
        ("auto", 1400, "light"),
        ("light", 360, "dark"),
        ("dark", 1400, "light"),
        ("noise", 360, "light"),
        ("noise", 1400, "dark"),
    ],
)
def test_pages_fit_and_can_be_read(files, page, theme, width, scheme):
    page.wrong.clear()
    page.fetched.clear()
    show(page, files[theme], width, scheme)
    assert page.value("innerWidth") == width
    assert page.value("document.documentElement.scrollWidth") <= width
    assert page.value("getComputedStyle(document.body).colorScheme") == (
        scheme if theme in ("auto", "noise") else theme
    )
    contrasts = page.value(CONTRASTS)
    assert len(contrasts) > 100
    assert not [found for found in contrasts if found[0] < (3.0 if found[1] else 4.5)]
    assert page.fetched == [files[theme].as_uri()]
    assert not page.wrong


@pytest.mark.parametrize("width", [360, 1400])
def test_switches_threshold_and_rows_that_are_pointed_at(files, page, width):
    page.wrong.clear()
    show(page, files["light"], width)
    whole = page.value(INKED)
    page.value(SWITCH)
    assert 0 < page.value(INKED) < whole
    page.value(SWITCH)
    assert page.value(INKED) == whole
    assert page.value(f"{SLIDE}(99)") == "99%"
    assert page.value(INKED) < whole
    page.value(f"{SLIDE}(0)")
    plane = Record(files["light"].read_text()).plane()
    low, high = plane.min(axis=0), plane.max(axis=0)
    codes = 65534 * (plane[0] - low) / (high - low)
    x, y = page.value(f"{PLACE}({codes[0]}, {codes[1]})")
    kind = "mouseMoved" if width > 600 else "mousePressed"  # a finger is not seen before it touches
    page.ask(
        "Input.dispatchMouseEvent",
        type=kind,
        x=x,
        y=y,
        button="none" if width > 600 else "left",
        clickCount=1,
    )
    assert page.value("document.getElementById('tip').textContent").startswith(
        "row </script><script>"
    )
    tip = page.value(
        "(box => [box.left, box.right])(document.getElementById('tip').getBoundingClientRect())"
    )
    assert 0 <= tip[0] < tip[1] <= width
    assert page.value("document.title") == "Rows"
    # of reading the picture back
    assert not [said for said in page.wrong if "willReadFrequently" not in str(said)]
