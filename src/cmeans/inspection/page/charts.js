/* The evidence for each number of clusters, and how clusters divide as there are more. */

const SVG = { wide: 320, high: 120 };

/* A curve with a point for each number; a point is a way to its partition. */
function evidenceChart() {
  const { points, name } = facts.evidence, { wide, high } = SVG;
  const finite = points.filter(point => point.value !== null);
  if (finite.length < 2) return element("p", { class: "note" }, name);
  const [a, b] = extent(finite.map(p => p.clusters)), [low, top] = extent(finite.map(p => p.value));
  const at = p => [24 + (p.clusters - a) / (b - a) * (wide - 48), 14 + (top - p.value) / (top - low) * (high - 44)];
  const dots = finite.map(point => {
    const [x, y] = at(point), isShown = point.partition === state.partition;
    return element("circle", { cx: x, cy: y, r: isShown ? 6 : 3.5, class: isShown ? "dot shown" : "dot" }, element("title", {}, `${point.clusters} clusters: ${said(point.value)}`));
  });
  const numbers = finite.filter((p, k) => finite.length <= 12 || k % Math.ceil(finite.length / 12) === 0).map(p => element("text", { x: at(p)[0], y: high - 8, "text-anchor": "middle" }, String(p.clusters)));
  const chart = element("svg", { viewBox: `0 0 ${wide} ${high}`, class: "chart", role: "img", "aria-label": `${name}: ` + finite.map(p => `${p.clusters} clusters ${said(p.value)}`).join(", ") },
    element("polyline", { points: finite.map(p => at(p).join(",")).join(" "), class: "curve" }), ...dots, ...numbers);
  dots.forEach((dot, k) => dot.addEventListener("click", () => showPartition(finite[k].partition)));
  return chart;
}

/* Clusters of the partitions with more and more clusters, a row each; bands lead to those that hold
   their rows, as wide as there are rows. */
function tree() {
  const series = slides().slice(0, 9).map(at => ({ at, p: rows.partitions[at] })), gap = 58, wide = 760, parts = [];
  let above = null;
  series.forEach((one, level) => {
    one.y = gap * (level + 0.5);
    one.shared = above === null ? null : sharedRows(above.p, one.p);
    one.x = spread(one.p, above, one.shared, wide);
    if (above !== null) parts.push(...bands(above, one));
    above = one;
  });
  for (const { p, at, x, y } of series) {
    parts.push(element("text", { x: 4, y: y + 4, class: at === state.partition ? "level shown" : "level" }, String(p.cards.length)));
    p.cards.forEach((card, j) => {
      if (card.size === 0) return;
      const dot = element("circle", { cx: x[j], cy: y, r: 3 + 17 * Math.sqrt(card.share), fill: facts.palette[p.colours[j]], class: "node" },
        element("title", {}, `${p.names[j]}: ${counted(card.size, "row")}`));
      dot.addEventListener("click", () => showPartition(at));
      parts.push(dot);
    });
  }
  const said = series.map(({ p }) => p.cards.length).join(", ");
  return element("svg", { viewBox: `0 0 ${wide} ${gap * series.length}`, class: "tree", role: "img", "aria-label": `How clusters divide as there are more: ${said} clusters` }, ...parts);
}

/* How many rows each cluster shares with each of the partition above: shared[j][k]. */
function sharedRows(above, below) {
  const shared = below.cards.map(() => new Uint32Array(above.cards.length));
  for (let i = 0; i < rows.count; i++) {
    if (above.labels[i] >= 0 && below.labels[i] >= 0) shared[below.labels[i]][above.labels[i]]++;
  }
  return shared;
}

/* Places of clusters side by side, as wide as they are large, each below those it comes from. */
function spread(partition, above, shared, wide) {
  const from = j => {
    const total = shared[j].reduce((a, b) => a + b, 0);
    return total ? shared[j].reduce((sum, count, k) => sum + count * above.x[k], 0) / total : 0;
  };
  const order = partition.cards.map((_, j) => j), x = [];
  if (above !== null) order.sort((a, b) => from(a) - from(b));
  let before = 0;
  for (const j of order) {
    const share = Math.max(partition.cards[j].share, 0.02);
    x[j] = before + share / 2;
    before += share;
  }
  return x.map(place => 40 + place / before * (wide - 80));
}

function bands(above, below) {
  const found = [], middle = (above.y + below.y) / 2;
  below.shared.forEach((counts, j) => {
    const total = counts.reduce((a, b) => a + b, 0);
    counts.forEach((count, k) => {
      if (count < 0.02 * total || count === 0) return;
      const d = `M${above.x[k]},${above.y}C${above.x[k]},${middle} ${below.x[j]},${middle} ${below.x[j]},${below.y}`;
      found.push(element("path", { d, class: "link", stroke: facts.palette[below.p.colours[j]], "stroke-width": Math.max(1, 22 * Math.sqrt(count / rows.count)) }));
    });
  });
  return found;
}

/* Small pictures of all partitions side by side, each a button. */
function showStrip() {
  const strip = byId("strip");
  if (strip === null) return;
  strip.replaceChildren(...rows.partitions.map((partition, at) => {
    const canvas = element("canvas", { width: 150, height: 100, "aria-hidden": "true" });
    const said = partition.said ? element("span", { class: "note" }, partition.said) : null;
    const button = element("button", { type: "button", class: "thumb", "data-partition": at }, canvas, element("span", {}, partition.name), said);
    button.addEventListener("click", () => showPartition(at));
    thumbnail(canvas, partition);
    return button;
  }));
}

function thumbnail(canvas, partition) {
  const pen = canvas.getContext("2d"), plane = rows.planes[0], [x0, x1, y0, y1] = plane.window;
  const stride = Math.max(1, Math.ceil(rows.drawn.length / 1500)), size = rows.count > 500 ? 2 : 3;
  for (let k = 0; k < rows.drawn.length; k += stride) {
    const i = rows.drawn[k], j = partition.labels[i];
    pen.fillStyle = j < 0 ? facts.noise : facts.palette[partition.colours[j]];
    pen.fillRect(4 + (plane.x[i] - x0) / (x1 - x0) * (canvas.width - 8), 4 + (y1 - plane.y[i]) / (y1 - y0) * (canvas.height - 8), size, size);
  }
}
