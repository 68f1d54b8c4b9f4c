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

/* Clusters of the partitions with more and more clusters, a row each; lines lead to those that hold
   their rows, as wide as there are rows. */
function tree() {
  const series = rows.partitions.map((p, at) => ({ p, at })).filter(one => one.p.series).slice(0, 9), gap = 58, wide = 760;
  const high = gap * series.length, parts = [], places = series.map(({ p }, level) => spread(p, level, wide, gap));
  for (let level = 1; level < series.length; level++) parts.push(...links(series[level - 1].p, series[level].p, places[level - 1], places[level]));
  series.forEach(({ p, at }, level) => {
    parts.push(element("text", { x: 4, y: places[level].y + 4, class: at === state.partition ? "level shown" : "level" }, String(p.cards.length)));
    p.cards.forEach((card, j) => {
      if (card.size === 0) return;
      const dot = element("circle", { cx: places[level].x[j], cy: places[level].y, r: 3 + 17 * Math.sqrt(card.share), fill: facts.palette[p.colours[j]], class: "node" },
        element("title", {}, `${p.names[j]}: ${counted(card.size, "row")}`));
      dot.addEventListener("click", () => showPartition(at));
      parts.push(dot);
    });
  });
  return element("svg", { viewBox: `0 0 ${wide} ${high}`, class: "tree", role: "img", "aria-label": "How clusters divide as there are more: " + series.map(({ p }) => p.cards.length).join(", ") + " clusters" }, ...parts);
}

/* Places of the clusters of a partition, in the order of its picture's colours. */
function spread(partition, level, wide, gap) {
  const x = [], order = partition.order;
  let before = 0;
  for (const j of order) {
    const share = Math.max(partition.cards[j].share, 0.02);
    x[j] = before + share / 2;
    before += share;
  }
  return { x: x.map(place => 40 + place / before * (wide - 80)), y: gap * (level + 0.5) };
}

function links(above, below, from, to) {
  const both = new Map(), found = [];
  for (let i = 0; i < rows.count; i++) {
    if (above.labels[i] < 0 || below.labels[i] < 0) continue;
    const key = above.labels[i] * 4096 + below.labels[i];
    both.set(key, (both.get(key) || 0) + 1);
  }
  for (const [key, count] of both) {
    const [a, b] = [Math.floor(key / 4096), key % 4096];
    if (count < 0.02 * below.cards[b].size * rows.count / facts.total) continue;
    const middle = (from.y + to.y) / 2;
    found.push(element("path", { d: `M${from.x[a]},${from.y}C${from.x[a]},${middle} ${to.x[b]},${middle} ${to.x[b]},${to.y}`, class: "link", stroke: facts.palette[below.colours[b]], "stroke-width": Math.max(1, 22 * Math.sqrt(count / rows.count)) }));
  }
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
  const pen = canvas.getContext("2d"), plane = rows.planes[0], [x0, x1] = extent(plane.x), [y0, y1] = extent(plane.y);
  const stride = Math.max(1, Math.ceil(rows.drawn.length / 1500)), size = rows.count > 500 ? 2 : 3;
  for (let k = 0; k < rows.drawn.length; k += stride) {
    const i = rows.drawn[k], j = partition.labels[i];
    pen.fillStyle = j < 0 ? facts.noise : facts.palette[partition.colours[j]];
    pen.fillRect(4 + (plane.x[i] - x0) / (x1 - x0) * (canvas.width - 8), 4 + (y1 - plane.y[i]) / (y1 - y0) * (canvas.height - 8), size, size);
  }
}
