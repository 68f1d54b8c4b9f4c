/* Controls, and the start of the page. */

function on(name, event, act) {
  const target = byId(name);
  if (target !== null) target.addEventListener(event, act);
}

/* Pointers on a picture: move, lasso, and values of the row below. */
function listen(view) {
  const { canvas } = view;
  let last = null, moved = 0;
  const here = event => {
    const box = canvas.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
  };
  const isFree = facts.kind !== "report";
  canvas.addEventListener("pointerdown", event => {
    last = here(event);
    moved = 0;
    if (isFree) canvas.setPointerCapture(event.pointerId);
    if (isFree && (state.lassoes || event.shiftKey)) view.lasso = [last];
    else view.lasso = [];
    showTip(view, last);
  });
  canvas.addEventListener("pointermove", event => {
    const [x, y] = here(event);
    if (last === null || !isFree) { showTip(view, [x, y]); return; }
    moved += Math.hypot(x - last[0], y - last[1]);
    if (view.lasso.length) {
      const end = view.lasso[view.lasso.length - 1];
      if (Math.hypot(x - end[0], y - end[1]) > 3) view.lasso.push([x, y]);
    } else pan(view, x - last[0], y - last[1]);
    last = [x, y];
    byId("tip").hidden = true;
    redraw();
  });
  canvas.addEventListener("pointerup", () => {
    if (view.lasso.length > 2) select(view.inLasso(), "drawn");
    else if (isFree && moved < 4 && last !== null && view.nearest(...last) >= 0) mark(view.nearest(...last));
    last = null;
  });
  canvas.addEventListener("pointerleave", () => { byId("tip").hidden = true; });
  if (!isFree) return;
  canvas.addEventListener("wheel", event => {
    if (!event.ctrlKey && !event.metaKey && document.activeElement !== canvas) return;
    event.preventDefault();
    zoom(Math.exp(Math.sign(event.deltaY) * 0.2), ...here(event));
  }, { passive: false });
  canvas.addEventListener("dblclick", event => zoom(0.5, ...here(event)));
  canvas.addEventListener("keydown", keys);
}

function pan(view, dx, dy) {
  view.pan(dx, dy);
  for (const other of views) other.window = view.window;
}

function zoom(factor, x, y) {
  views[0].zoom(factor, x, y);
  for (const other of views) other.window = views[0].window;
  redraw();
}

function zoomOut() {
  for (const view of views) { view.window = null; view.whole(); }
  redraw();
}

function keys(event) {
  const steps = { ArrowLeft: [40, 0], ArrowRight: [-40, 0], ArrowUp: [0, 40], ArrowDown: [0, -40] };
  if (event.key in steps) { pan(views[0], ...steps[event.key]); redraw(); }
  else if (event.key === "+" || event.key === "=") zoom(0.8);
  else if (event.key === "-") zoom(1.25);
  else if (event.key === "0") zoomOut();
  else if (event.key === "n") mark((state.marked + 1) % rows.count);
  else if (event.key === "p") mark((state.marked + rows.count - 1) % rows.count);
  else if (event.key === "Escape") { unselect(); state.marked = -1; showRow(); redraw(); }
  else return;
  event.preventDefault();
}

function showTip(view, [px, py]) {
  const tip = byId("tip"), i = view.nearest(px, py);
  tip.hidden = i < 0;
  if (i < 0) return;
  fillTip(tip, i);
  const [x, y] = view.placeOf(i), box = view.canvas.parentElement, shell = tip.parentElement.getBoundingClientRect(), own = box.getBoundingClientRect();
  const left = own.left - shell.left + x + 14, top = own.top - shell.top + y - 20;
  tip.style.left = Math.max(0, Math.min(left, shell.width - tip.offsetWidth - 4)) + "px";
  tip.style.top = Math.max(0, Math.min(top, shell.height - tip.offsetHeight - 4)) + "px";
}

function choosePlane() {
  const at = Number(byId("plane").value);
  state.plane = at;
  state.across = Number(byId("across").value);
  state.upwards = Number(byId("upwards").value);
  byId("two-columns").hidden = at < rows.planes.length;
  refresh();
}

function fillChoices() {
  const option = (value, text) => element("option", { value }, shortened(text, 60));
  const columns = rows.columns.map((column, k) => option(k, column.name));
  byId("plane").replaceChildren(...rows.planes.map((plane, k) => option(k, plane.name)), ...(columns.length > 1 ? [option(rows.planes.length, "Two columns")] : []));
  byId("across").replaceChildren(...columns);
  byId("upwards").replaceChildren(...columns.map(one => one.cloneNode(true)));
  const others = rows.partitions.map((partition, k) => option(k, partition.name));
  byId("beside").replaceChildren(option("", "Nothing"), ...(rows.set === null ? [] : [option("set", facts.sets[1])]), ...others);
  byId("plane").value = state.plane;
  byId("across").value = state.across;
  byId("upwards").value = state.upwards;
  byId("beside").value = state.beside;
  byId("two-columns").hidden = state.plane < rows.planes.length;
  const slider = byId("number"), many = slides();
  slider.max = Math.max(0, many.length - 1);
  slider.disabled = many.length < 2;
}

/* Go to a part of the page; the address stays that of the view. */
function follow(event) {
  const part = byId(event.currentTarget.getAttribute("href").slice(1));
  event.preventDefault();
  part.tabIndex = -1;
  part.focus({ preventScroll: true });
  part.scrollIntoView();
}

function setMode(lassoes) {
  state.lassoes = lassoes;
  byId("mode-lasso").setAttribute("aria-pressed", lassoes);
  byId("mode-move").setAttribute("aria-pressed", !lassoes);
  for (const view of views) view.canvas.classList.toggle("lassoes", lassoes);
}

function listenToControls() {
  on("threshold", "input", () => {
    state.least = Number(byId("threshold").value);
    byId("threshold-value").textContent = state.least + "%";
    refresh();
  });
  on("number", "input", () => showPartition(slides()[Number(byId("number").value)]));
  for (const name of ["plane", "across", "upwards"]) on(name, "change", choosePlane);
  on("beside", "change", () => { state.beside = byId("beside").value; refresh(); });
  on("mode-move", "click", () => setMode(false));
  on("mode-lasso", "click", () => setMode(true));
  on("zoom-in", "click", () => zoom(0.7));
  on("zoom-out", "click", () => zoom(1.4));
  on("zoom-all", "click", zoomOut);
  on("names", "change", () => { state.labels = byId("names").checked; redraw(); });
  on("search", "input", search);
  on("save-csv", "click", () => saveLabels(() => true));
  on("save-png", "click", savePng);
  on("save-svg", "click", saveSvg);
  on("save-selected", "click", () => saveLabels(i => state.selected !== null && state.selected[i] === 1));
  on("unselect", "click", unselect);
  on("unmark", "click", () => { state.marked = -1; showRow(); redraw(); });
  on("state", "focus", () => byId("state").select());
  for (const link of document.querySelectorAll('a[href^="#"]')) link.addEventListener("click", follow);
  window.addEventListener("hashchange", () => { readAddress(); refresh(); showAll(); });
  window.addEventListener("resize", redraw);
  window.addEventListener("beforeprint", () => views[0].draw());
  window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);
}

async function start() {
  await unpack();
  rows.drawn = shuffled(rows.count);
  if (rows.count > facts.drawn) {
    const stride = Math.ceil(rows.count / facts.drawn);
    rows.drawn = rows.drawn.filter(i => i % stride === 0);
  }
  [rows.all] = summaries(new Int8Array(rows.count), 1);
  for (const name of ["plot", "plot-2"]) if (byId(name) !== null) views.push(new View(byId(name)));
  readAddress();
  if (facts.kind !== "report") fillChoices();
  byId("threshold").value = state.least;
  byId("threshold-value").textContent = state.least + "%";
  refresh();
  views[0].draw();
  showAll();
  views.forEach(listen);
  listenToControls();
  document.documentElement.dataset.ready = "yes";
  setTimeout(showStrip);
}

start();
