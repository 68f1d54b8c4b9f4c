/* What a reader can do: other partitions, names, rows that are found or selected, files. */

function showPartition(at) {
  state.partition = at;
  state.hidden.clear();
  state.selected = null;
  refresh();
  showAll();
  tell(`${state.shown.name}: ${counted(state.shown.cards.length, "cluster")}.`);
}

/* All that stands beside the picture and depends on the partition. */
function showAll() {
  const partition = state.shown;
  showCards(partition);
  showLegend(partition);
  showRow();
  if (facts.kind === "report") return;
  byId("evidence").replaceChildren(evidenceChart());
  byId("number-value").textContent = partition.cards.length;
  const place = slides().indexOf(state.partition);
  if (place >= 0) byId("number").value = place;
  if (byId("tree") !== null) byId("tree").replaceChildren(tree());
  byId("own").hidden = state.partition === facts.chosen;
  for (const thumb of document.querySelectorAll(".thumb")) thumb.setAttribute("aria-pressed", thumb.dataset.partition === String(state.partition));
}

/* Partitions that the slider goes through, in the order of their numbers of clusters. */
function slides() {
  return rows.partitions.map((_, at) => at).filter(at => rows.partitions[at].series);
}

function showLegend(partition) {
  const line = (j, text, note) => {
    const box = element("input", { type: "checkbox", "data-cluster": j });
    box.checked = !state.hidden.has(j);
    box.addEventListener("change", () => {
      if (box.checked) state.hidden.delete(j); else state.hidden.add(j);
      refresh();
    });
    return element("label", {}, box, swatch(partition, j), element("span", { class: "name" }, text), element("span", { class: "note" }, note));
  };
  const lines = partition.cards.map((card, j) => line(j, partition.names[j], percent(card.share)));
  if (partition.noise > 0) lines.push(line(-1, "no cluster", percent(partition.noise)));
  byId("switches").replaceChildren(element("legend", {}, "Clusters"), ...lines);
}

function rename(partition, j, name) {
  partition.names[j] = name;
  showLegend(partition);
  writeAddress();
  redraw();
}

function select(mask, lasso) {
  state.selected = mask;
  const count = mask.reduce((a, b) => a + b, 0);
  byId("selection").hidden = false;
  byId("selection-body").replaceChildren(...selectionCard(mask));
  if (lasso === "nothing") for (const view of views) view.lasso = [];
  tell(`${counted(count, "row")} selected.`);
  redraw();
}

function unselect() {
  state.selected = null;
  byId("selection").hidden = true;
  for (const view of views) view.lasso = [];
  redraw();
}

function mark(i) {
  state.marked = i;
  showRow();
  const view = views[0];
  if (isDrawable(i)) {
    const [x, y] = view.placeOf(i);
    if (x < EDGE.left || y < EDGE.top || x > view.width - EDGE.right || y > view.height - EDGE.bottom) view.window = null;
    view.whole();
    view.reach(i);
  }
  tell(`Row ${idOf(i)}: ${nameShown(state.shown, state.shown.labels[i])}.`);
  redraw();
}

function showRow() {
  const box = byId("row");
  if (box === null) return;
  box.hidden = state.marked < 0;
  if (state.marked < 0) return;
  byId("row-title").textContent = `${facts.noun[0].toUpperCase() + facts.noun.slice(1)} ${shortened(idOf(state.marked), 80)}`;
  byId("row-body").replaceChildren(...rowCard(state.marked));
}

/* Rows whose id is a text; where none is, those whose id holds it. Ids are compared as texts. */
function found(text) {
  const same = [], like = [], small = text.toLowerCase();
  for (let i = 0; i < rows.count; i++) {
    const id = idOf(i);
    if (id === text) same.push(i);
    else if (like.length < 8 && id.toLowerCase().includes(small)) like.push(i);
  }
  return same.length ? same : like;
}

function search() {
  const text = byId("search").value, list = byId("found");
  if (text.trim() === "") { list.replaceChildren(); return; }
  const some = found(text.trim()).length ? found(text.trim()) : found(text);
  if (some.length === 1) mark(some[0]);
  const lines = some.slice(0, 8).map(i => {
    const button = element("button", { type: "button", class: "row" }, shortened(idOf(i), 60));
    button.addEventListener("click", () => mark(i));
    return element("li", {}, button, " ", element("span", { class: "note" }, nameShown(state.shown, state.shown.labels[i])));
  });
  list.replaceChildren(...(lines.length ? lines : [element("li", { class: "note" }, facts.count < facts.total ? `Not among the ${counted(facts.count, "row")} of this page.` : "No row has this id.")]));
}

/* Lines of the file of labels, of all rows or of those selected. */
function labelLines(takes) {
  const partition = state.shown, lines = [["id", "cluster", "name", ...(partition.shares === null ? [] : ["membership"])]];
  for (let i = 0; i < rows.count; i++) {
    if (!takes(i)) continue;
    const j = clusterShown(partition, i);
    lines.push([idOf(i), j, j < 0 ? "" : partition.names[j], ...(partition.shares === null ? [] : [(shareOf(partition, i) / 100).toFixed(3)])]);
  }
  return lines;
}

function saveLabels(takes) {
  save(fileName(".csv"), new Blob(["\ufeff" + csvOf(labelLines(takes))], { type: "text/csv;charset=utf-8" }));
}
