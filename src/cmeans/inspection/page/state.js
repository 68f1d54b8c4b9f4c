/* What is shown, and the address that keeps it. */

const state = {
  partition: facts.chosen, shown: null, plane: 0, across: 0, upwards: 1, least: 0,
  hidden: new Set(), selected: null, marked: -1, labels: true, beside: "", lassoes: false,
};
const views = [];
let waiting = false;

/* The cluster of a row, or none where its membership is below the threshold. */
function clusterShown(partition, i) {
  return shareOf(partition, i) < state.least ? -1 : partition.labels[i];
}

function redraw() {
  if (waiting) return;
  waiting = true;
  requestAnimationFrame(() => {
    waiting = false;
    for (const view of views) if (view.canvas.offsetParent !== null) view.draw();
  });
}

function planeShown() {
  if (state.plane < rows.planes.length) return rows.planes[state.plane];
  const [a, b] = [state.across, state.upwards], key = `${a} ${b}`;
  rows.pairs ||= new Map();
  if (!rows.pairs.has(key)) {
    const one = rows.columns[a], other = rows.columns[b], far = new Set([...one.far.keys(), ...other.far.keys()]);
    const values = at => Float32Array.from({ length: rows.count }, (_, i) => at(i));
    const window = [one, other].flatMap(column => extent(values(i => column.usual(i))));
    rows.pairs.set(key, { name: "", axes: [one.name, other.name], x: values(i => one.at(i)), y: values(i => other.at(i)), ellipses: [], far: far.size, window });
  }
  return rows.pairs.get(key);
}

function isDrawable(i) {
  const plane = planeShown();
  return Number.isFinite(plane.x[i] + plane.y[i]);
}

function maskOf(takes) {
  return Uint8Array.from({ length: rows.count }, (_, i) => takes(i) ? 1 : 0);
}

function tell(text) { byId("told").textContent = text; }

/* Bring views, numbers and sentences in line with the state. */
function refresh() {
  state.shown = rows.partitions[state.partition];
  const plane = planeShown(), bySet = state.beside === "set", other = state.beside === "" || bySet ? state.shown : rows.partitions[Number(state.beside)];
  const takes = set => bySet ? i => rows.set[i] === set : () => true;
  views[0].show(state.shown, plane, takes(0));
  if (views.length > 1) {
    byId("second").hidden = state.beside === "";
    views[1].show(other, plane, takes(1));
    views[1].window = views[0].window;
  }
  let nowhere = 0, below = 0, noise = 0;
  for (let i = 0; i < rows.count; i++) {
    if (!Number.isFinite(plane.x[i] + plane.y[i])) nowhere++;
    if (state.shown.labels[i] < 0) noise++;
    else if (shareOf(state.shown, i) < state.least) below++;
  }
  const notes = [];
  if (nowhere) notes.push(`${counted(nowhere, "row")} ${nowhere === 1 ? "has" : "have"} no place here.`);
  if (plane.far) notes.push(`${counted(plane.far, "row")} ${plane.far === 1 ? "lies" : "lie"} outside this picture, far from all others.`);
  if (rows.drawn.length < rows.count) notes.push(`${rows.drawn.length.toLocaleString("en-US")} of ${counted(rows.count, "row")} are drawn one by one; the shading counts all.`);
  if (noise) notes.push(`${counted(noise, "row")} of no cluster: grey.`);
  if (below) notes.push(`${counted(below, "row")} below the membership asked for: grey.`);
  byId("picture-note").textContent = notes.join(" ");
  writeAddress();
  redraw();
}

/* The state as a short text: that part of the address which stands behind the number sign. */
function stateText() {
  const words = new URLSearchParams(), at = rows.partitions[state.partition];
  words.set("view", at.key);
  if (state.plane !== 0) words.set("plane", state.plane < rows.planes.length ? state.plane : "columns");
  if (state.plane >= rows.planes.length) { words.set("x", rows.columns[state.across].name); words.set("y", rows.columns[state.upwards].name); }
  if (state.least > 0) words.set("least", state.least);
  if (state.hidden.size) words.set("hidden", [...state.hidden].join(" "));
  if (state.beside !== "") words.set("beside", state.beside === "set" ? "set" : rows.partitions[Number(state.beside)].key);
  for (const partition of rows.partitions) {
    partition.names.forEach((name, j) => { if (name !== partition.cards[j].name) words.set(`name.${partition.key}.${j}`, name); });
  }
  return words.toString();
}

function writeAddress() {
  if (facts.kind === "report") return;
  const text = stateText();
  byId("state").value = text;
  try {
    history.replaceState(null, "", "#" + text);
  } catch {
    /* A page inside another one has no address of its own; the text is there to be copied. */
  }
}

/* Take what an address says; what it does not know is left as it is. */
function readAddress() {
  const words = new URLSearchParams(location.hash.slice(1)), keyed = key => rows.partitions.findIndex(p => p.key === key);
  for (const [word, value] of words) {
    const [, key, j] = word.match(/^name\.(.*)\.(\d+)$/) || [];
    if (key !== undefined && keyed(key) >= 0 && Number(j) < rows.partitions[keyed(key)].names.length) rows.partitions[keyed(key)].names[j] = value;
  }
  if (keyed(words.get("view")) >= 0) state.partition = keyed(words.get("view"));
  const column = name => rows.columns.findIndex(one => one.name === name);
  if (words.get("plane") === "columns" && column(words.get("x")) >= 0 && column(words.get("y")) >= 0) {
    [state.plane, state.across, state.upwards] = [rows.planes.length, column(words.get("x")), column(words.get("y"))];
  } else if (Number(words.get("plane")) > 0 && Number(words.get("plane")) < rows.planes.length) state.plane = Number(words.get("plane"));
  state.least = Math.max(0, Math.min(100, Number(words.get("least")) || 0));
  if (words.get("hidden")) state.hidden = new Set(words.get("hidden").split(" ").map(Number));
  if (words.get("beside") === "set" && rows.set !== null) state.beside = "set";
  else if (keyed(words.get("beside")) >= 0) state.beside = String(keyed(words.get("beside")));
}
