"""The page of `explore` in a headless Chromium: every control used, hostile texts shown to the
letter, files saved, twenty pages in one notebook."""

import csv
import io
import time
import xml.etree.ElementTree as ET

import numpy as np
import pytest

import cmeans
from browser import browsing, needs_browser
from cmeans.inspection import explore
from cmeans.inspection.page import partition, record

pytest.importorskip("jinja2")
pytestmark = [pytest.mark.slow, needs_browser]

HOSTILE = ["<img src=x onerror=alert(1)>", "</script><script>x()</script>", "a'b\"c", "{{7*7}}"]
IDS = ["00123", "1610521604143693812", "1610521604143693813", "9007199254740993", "=1+1"]
IDS += ["@SUM(A1)", "+49 30", "-2.5", "\t=1", "NA", "", *HOSTILE, "\u202eabc"]
HELPERS = """
window.set = (name, value, event = "input") => {
  const one = document.getElementById(name);
  one.value = value;
  one.dispatchEvent(new Event(event));
};
window.click = name => document.getElementById(name).click();
window.text = name => document.getElementById(name).textContent;
window.drawn = () => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)));
window.saved = [];
URL.createObjectURL = blob => { window.saved.push(blob); return "#"; };
HTMLAnchorElement.prototype.click = function () { window.savedAs = this.download; };
window.point = (kind, x, y, more) => {
  const canvas = document.getElementById("plot"), box = canvas.getBoundingClientRect();
  canvas.setPointerCapture = () => {};
  canvas.dispatchEvent(new PointerEvent(kind, { clientX: box.left + x, clientY: box.top + y, pointerId: 1, bubbles: true, ...more }));
};
window.lasso = more => {
  const { width, height } = document.getElementById("plot").getBoundingClientRect();
  point("pointerdown", 66, 14, more);
  for (const [x, y] of [[width - 14, 14], [width - 14, height - 42], [66, height - 42]]) point("pointermove", x, y);
  point("pointerup", 66, height - 42);
};
window.tip = () => {
  const tip = document.getElementById("tip");
  for (let x = 70; x < 800; x += 8) {
    for (let y = 20; y < 400; y += 8) {
      point("pointermove", x, y);
      if (!tip.hidden) return tip.textContent;
    }
  }
};
window.pixels = () => {
  const canvas = document.getElementById("plot"), { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
  let sum = 0;
  for (let i = 0; i < data.length; i += 4) sum = (sum * 31 + data[i] + 7 * data[i + 1] + 13 * data[i + 2]) % 1000000007;
  return sum;
};
"""


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(100, 4)) + np.repeat(
        [[0, 0, 0, 0], [8, 0, 0, 0], [0, 9, 0, 0]], (60, 30, 10), axis=0
    )
    return X, cmeans.FuzzyCMeans(3, random_state=0).fit(X)


@pytest.fixture(scope="module")
def file(rows, tmp_path_factory):
    X, model = rows
    places = X[:, 2:].copy()
    places[[3, 4, 5]] = np.nan
    file = tmp_path_factory.mktemp("pages") / "page.html"
    explore(
        model,
        X,
        file,
        feature_names=HOSTILE,
        ids=[*IDS, *(f"r{number}" for number in range(len(IDS), 100))],
        texts=[HOSTILE[number % 4] + " word" for number in range(100)],
        coordinates={HOSTILE[0]: places},
        n_clusters=[2, 4],
        title=HOSTILE[1],
    )
    return file


@pytest.fixture(scope="module")
def tab(tmp_path_factory):
    with browsing(tmp_path_factory.mktemp("browser")) as tab:
        yield tab


@pytest.fixture
def page(tab, file):
    opened(tab, file.as_uri())
    yield tab
    # of reading pictures back
    assert not [said for said in tab.wrong if "willReadFrequently" not in str(said)]


def opened(tab, address, width=1400):
    tab.wrong.clear()
    tab.fetched.clear()
    tab.open_address("about:blank", width)
    tab.open_address(address, width)
    for _ in range(1000):
        if tab.value("document.documentElement.dataset.ready") == "yes":
            break
        time.sleep(0.01)
    tab.value(HELPERS)


def test_hostile_texts_are_shown_to_the_letter_and_nothing_is_fetched(page, file):
    assert page.value("document.title") == HOSTILE[1]
    assert page.value("document.querySelector('h1').textContent") == HOSTILE[1]
    shown = page.value("document.body.innerText")
    for text in HOSTILE:
        assert text in shown
    assert page.value("document.querySelectorAll('img, iframe').length") == 0
    assert "&#39;" not in shown
    tip = page.value("tip()")
    assert all(text in tip for text in HOSTILE)
    page.value("document.querySelector('nav a[href=\"#clusters\"]').click()")
    assert page.value("location.hash") == "#view=own"
    page.value("click('save-csv')")
    assert page.value("savedAs") == "script-script-x-script.csv"
    assert page.fetched == ["about:blank", file.as_uri()][-len(page.fetched) :]


def test_the_slider_and_the_pictures_change_the_partition(page):
    assert page.value("text('number-value')") == "3"
    page.value("set('number', 2)")
    assert page.value("text('number-value')") == "4"
    assert page.value("document.querySelectorAll('.card').length") == 4
    assert page.value("location.hash").startswith("#view=4")
    assert not page.value("document.getElementById('own').hidden")
    page.value("document.querySelectorAll('.thumb')[0].click()")
    assert page.value("document.querySelectorAll('.card').length") == 2
    page.value("document.querySelectorAll('.dot')[1].dispatchEvent(new Event('click'))")
    assert page.value("text('told')") == "3 clusters: 3 clusters."


def test_names_go_into_legend_address_and_file_and_come_back(page, file):
    new = 'Größe & "quoted" <b>, =x'
    page.value(
        "document.querySelector('.card .name').value = "
        + repr(new)
        + "; document.querySelector('.card .name').dispatchEvent(new Event('input'))"
    )
    assert new in page.value("text('switches')")
    state = page.value("document.getElementById('state').value")
    address = page.value("location.href")
    assert address.endswith("#" + state)
    page.value("set('threshold', 50)")
    address = page.value("location.href")
    opened(page, address)
    assert new in page.value("text('switches')")
    assert page.value("text('threshold-value')") == "50%"
    page.value("click('save-csv')")
    text = page.value("saved[0].text()")
    assert '"Größe & ""quoted"" <b>, =x"' in text


def test_the_file_of_labels_keeps_ids_and_runs_nothing(page, rows):
    page.value("click('save-csv')")
    text = page.value("saved[0].text()").lstrip("\ufeff")
    head, *lines = csv.reader(io.StringIO(text, newline=""))
    assert head == ["id", "cluster", "name", "membership"]
    harmless = {text: "'" + text for text in ("=1+1", "@SUM(A1)", "+49 30", "\t=1")}
    assert [line[0] for line in lines[: len(IDS)]] == [harmless.get(text, text) for text in IDS]
    assert [int(line[1]) for line in lines] == rows[1].labels_.tolist()


def test_search_finds_one_row_by_its_text(page):
    page.value("set('search', '1610521604143693812')")
    assert page.value("document.querySelectorAll('#found li').length") == 1
    assert page.value("text('row-title')") == "Row 1610521604143693812"
    assert "It is here for" in page.value("text('row-body')")
    page.value("set('search', 'r5')")
    assert page.value("document.querySelectorAll('#found li').length") == 8
    page.value("set('search', 'nobody')")
    assert page.value("text('found')") == "No row has this id."
    page.value("set('search', '')")
    assert page.value("text('found')") == ""
    page.value("click('unmark')")
    assert page.value("document.getElementById('row').hidden")


def test_planes_zoom_and_keys_move_the_picture(page):
    before = page.value("drawn().then(pixels)")
    seen = {before}
    for action in (
        "set('plane', 1, 'change')",
        "set('plane', 2, 'change')",
        "set('across', 2, 'change')",
        "click('zoom-in')",
        "point('pointerdown', 300, 200); point('pointermove', 340, 220); point('pointerup', 340, 220)",
        "click('names')",
    ):
        page.value(action)
        seen.add(page.value("drawn().then(pixels)"))
    assert len(seen) == 7
    page.value("set('plane', 1, 'change')")
    assert page.value("text('picture-note')").startswith("3 rows have no place here.")
    page.value("set('plane', 0, 'change'); click('names'); click('zoom-out')")
    page.value("document.getElementById('plot').focus()")
    for key in ("ArrowLeft", "+", "-", "n", "p", "0", "Escape"):
        page.value(
            "document.getElementById('plot').dispatchEvent(new KeyboardEvent('keydown', "
            f"{{ key: {key!r} }}))"
        )
    assert page.value("drawn().then(pixels)") == before


def test_a_lasso_selects_what_it_holds(page, rows):
    page.value("click('mode-lasso')")
    page.value("lasso()")
    assert "100 rows selected, 100% of all." in page.value("text('selection-body')")
    page.value("click('unselect')")
    page.value("click('mode-move')")
    page.value("lasso({ shiftKey: true })")
    page.value("click('save-selected')")
    assert len(page.value("saved[0].text()").split("\r\n")) == 102
    page.value("document.querySelector('.card .quiet').click()")
    assert page.value("text('told')") == f"{(rows[1].labels_ == 0).sum()} rows selected."


def test_rows_below_the_threshold_and_clusters_that_are_switched_off(page):
    before = page.value("drawn().then(pixels)")
    page.value("set('threshold', 99)")
    assert "below the membership asked for" in page.value("text('picture-note')")
    assert page.value("drawn().then(pixels)") != before
    page.value("set('threshold', 0)")
    page.value("document.querySelector('#switches input').click()")
    assert page.value("drawn().then(pixels)") != before
    assert "hidden=0" in page.value("location.hash")
    page.value("document.querySelector('#switches input').click()")
    assert page.value("drawn().then(pixels)") == before


def test_pictures_are_saved_and_another_partition_stands_beside(page):
    page.value("click('save-png')")
    assert page.value(
        "new Promise(function look(done) { saved.length ? done() : setTimeout(look, 10, done); })"
        ".then(() => saved[0].arrayBuffer())"
        ".then(data => Array.from(new Uint8Array(data).slice(1, 4)))"
    ) == list(b"PNG")
    page.value("click('save-svg')")
    svg = ET.fromstring(page.value("saved[1].text()"))
    assert len(svg.findall(".//{*}circle")) == 100
    assert HOSTILE[1] in [text.text for text in svg.iter("{http://www.w3.org/2000/svg}text")]
    page.value("set('beside', 0, 'change')")
    assert page.value("document.getElementById('second').getBoundingClientRect().width") > 300
    page.value("set('beside', '', 'change')")
    assert page.value("document.getElementById('second').hidden")


def test_of_many_rows_some_are_drawn_and_one_of_the_others_where_it_is_found(
    tab, rows, tmp_path, monkeypatch
):
    monkeypatch.setattr(record, "DRAWN", 50)
    monkeypatch.setattr(record, "COLOURS", record.COLOURS[:2])
    monkeypatch.setattr(partition, "COLOURS", record.COLOURS)
    X, model = rows
    opened(tab, explore(model, X, n_clusters=()).save(tmp_path / "page.html").as_uri())
    assert tab.value("text('picture-note')").startswith("50 of 100 rows are drawn one by one")
    # where colours repeat, numbers stand beside them
    keys = "[...document.querySelectorAll('#switches .key')].map(one => one.textContent)"
    assert tab.value(keys) == ["0", "1", "2"]
    before = tab.value("drawn().then(pixels)")
    tab.value("set('search', '51')")
    assert tab.value("text('row-title')") == "Row 51"
    assert tab.value("drawn().then(pixels)") != before
    tab.value("click('mode-lasso'); lasso()")
    assert "100 rows selected" in tab.value("text('selection-body')")
    assert not [said for said in tab.wrong if "willReadFrequently" not in str(said)]


@pytest.mark.parametrize("width", [360, 768])
def test_narrow_screens_need_no_sideways_scrolling(tab, file, width):
    opened(tab, file.as_uri(), width)
    assert tab.value("document.documentElement.scrollWidth") <= width
    assert not tab.wrong


def test_twenty_pages_in_one_notebook_all_draw(tab, rows, tmp_path):
    X, model = rows
    shown = explore(model, X, n_clusters=())._repr_html_()
    notebook = tmp_path / "notebook.html"
    notebook.write_text(
        "<script>window.ready = 0; addEventListener('message', () => { ready++; });</script>"
        + 20 * shown.replace("sandbox=", "data-was="),
        encoding="utf-8",
    )
    tab.open_address(notebook.as_uri(), 1400)
    ready = (
        "[...document.querySelectorAll('iframe')].filter(one => "
        "one.contentDocument.documentElement.dataset.ready === 'yes' && "
        "one.contentDocument.getElementById('plot').width > 300).length"
    )
    for _ in range(1000):
        if tab.value(ready) == 20:
            return
        time.sleep(0.02)
    raise AssertionError((tab.value(ready), tab.wrong))
