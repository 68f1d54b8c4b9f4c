/* A picture of the rows in a plane: what is seen of it, and what a place on the screen is. */

class View {
  constructor(canvas) {
    this.canvas = canvas;
    this.pen = canvas.getContext("2d");
    this.window = null;
    this.seen = { partition: null, plane: null, takes: () => true };
    this.lasso = [];
  }

  /* Show a partition in a plane, of the rows that `takes` says. */
  show(partition, plane, takes) {
    if (this.seen.plane !== plane) this.window = null;
    this.seen = { partition, plane, takes };
    this.whole();
  }

  whole() {
    if (this.window !== null) return;
    const [x0, x1, y0, y1] = this.seen.plane.window, wide = 0.04 * (x1 - x0), high = 0.05 * (y1 - y0);
    this.window = [x0 - wide, x1 + wide, y0 - high, y1 + high];
    this.first = this.window.slice();
  }

  /* See as far as a row that lies outside, far from all others. */
  reach(i) {
    const { x, y } = this.seen.plane, [x0, x1, y0, y1] = this.window;
    this.window = [...extent([x0, x1, x[i]]), ...extent([y0, y1, y[i]])];
  }

  measure() {
    const box = this.canvas.getBoundingClientRect();
    this.width = Math.max(80, box.width);
    this.height = Math.max(80, box.height);
    this.inner = [this.width - EDGE.left - EDGE.right, this.height - EDGE.top - EDGE.bottom];
  }

  /* Where a point is on the canvas, in pixels of the page. */
  place(x, y) {
    const [x0, x1, y0, y1] = this.window, [w, h] = this.inner;
    return [EDGE.left + (x - x0) / (x1 - x0) * w, EDGE.top + (y1 - y) / (y1 - y0) * h];
  }

  placeOf(i) { return this.place(this.seen.plane.x[i], this.seen.plane.y[i]); }

  pointAt(px, py) {
    const [x0, x1, y0, y1] = this.window, [w, h] = this.inner;
    return [x0 + (px - EDGE.left) / w * (x1 - x0), y1 - (py - EDGE.top) / h * (y1 - y0)];
  }

  zoom(factor, px = EDGE.left + this.inner[0] / 2, py = EDGE.top + this.inner[1] / 2) {
    const [x, y] = this.pointAt(px, py), least = 1e-4 * (this.first[1] - this.first[0]);
    const [x0, x1, y0, y1] = this.window;
    if ((x1 - x0) * factor < least || (x1 - x0) * factor > 20 * (this.first[1] - this.first[0])) return;
    this.window = [x - (x - x0) * factor, x + (x1 - x) * factor, y - (y - y0) * factor, y + (y1 - y) * factor];
  }

  pan(dx, dy) {
    const [x0, x1, y0, y1] = this.window, [w, h] = this.inner;
    const [across, up] = [dx / w * (x1 - x0), dy / h * (y1 - y0)];
    this.window = [x0 - across, x1 - across, y0 + up, y1 + up];
  }

  draw() {
    const scale = Math.min(window.devicePixelRatio || 1, 2);
    this.measure();
    this.canvas.width = Math.round(this.width * scale);
    this.canvas.height = Math.round(this.height * scale);
    const pen = this.pen;
    pen.setTransform(1, 0, 0, 1, 0, 0);
    pen.fillStyle = themeColour("panel");
    pen.fillRect(0, 0, this.canvas.width, this.canvas.height);
    pen.putImageData(this.points(scale), Math.round(EDGE.left * scale), Math.round(EDGE.top * scale));
    pen.setTransform(scale, 0, 0, scale, 0, 0);
    this.ellipses(pen);
    this.axes(pen);
    if (state.labels) this.labels(pen);
    this.marks(pen);
  }

  /* What becomes of each row: its cluster, -1 where it is grey, -2 where it is not drawn. */
  classes() {
    const { partition, takes } = this.seen, { labels } = partition, found = new Int16Array(rows.count);
    for (let i = 0; i < rows.count; i++) {
      found[i] = state.hidden.has(labels[i]) || !takes(i) ? -2 : state.least > 0 ? clusterShown(partition, i) : labels[i];
    }
    return found;
  }

  /* The pixels of all rows that are shown, at so many to one of the page; grey ones lie below. */
  points(scale) {
    const [w, h] = this.inner, width = Math.round(w * scale), height = Math.round(h * scale);
    const back = rgb(themeColour("panel")), raster = new Raster(width, height, back);
    const { partition, plane } = this.seen, [x0, x1, y0, y1] = this.window, { x, y } = plane;
    const stamp = stampOf(scale * this.radius()), grey = rgb(facts.noise), colours = partition.colours.map(k => rgb(facts.palette[k]));
    const rim = rows.count <= 3000 ? stampOf(scale * (this.radius() + 1)) : null, classes = this.classes();
    const across = width / (x1 - x0), up = height / (y1 - y0);
    if (rows.count > facts.drawn) this.density(raster, classes, across, up);
    for (const below of [true, false]) {
      for (const i of rows.drawn) {
        const j = classes[i];
        if (j === -2 || (j === -1) !== below) continue;
        const px = (x[i] - x0) * across, py = (y1 - y[i]) * up;
        if (!(px > -9 && py > -9 && px < width + 9 && py < height + 9)) continue;
        const out = state.selected !== null && !state.selected[i];
        const soft = partition.shares === null ? 230 : 70 + 1.6 * shareOf(partition, i);
        if (rim !== null && !below && !out) raster.put(px, py, rim, back, 200);
        raster.put(px, py, stamp, below ? grey : colours[j], out ? 24 : below ? 110 : soft);
      }
    }
    return raster.image;
  }

  radius() {
    const nearer = Math.sqrt((this.first[1] - this.first[0]) / (this.window[1] - this.window[0]));
    const size = rows.count <= 500 ? 4.4 : rows.count <= 3000 ? 3.2 : rows.count <= 20000 ? 2.1 : 1.2;
    return Math.min(5, size * Math.max(1, Math.sqrt(nearer)));
  }

  density(raster, classes, wide, up) {
    const size = 4, across = Math.ceil(raster.width / size), down = Math.ceil(raster.height / size);
    const counts = new Uint32Array(across * down), { x, y } = this.seen.plane, [x0, , , y1] = this.window;
    for (let i = 0; i < rows.count; i++) {
      const px = (x[i] - x0) * wide, py = (y1 - y[i]) * up;
      if (classes[i] > -2 && px >= 0 && py >= 0 && px < raster.width && py < raster.height) {
        counts[Math.floor(py / size) * across + Math.floor(px / size)]++;
      }
    }
    raster.shade(counts, across, size, rgb(themeColour("quiet")));
  }

  ellipses(pen) {
    const { plane, partition } = this.seen;
    if (partition !== rows.partitions[facts.chosen]) return;
    pen.lineWidth = 1.5;
    for (const ellipse of plane.ellipses) {
      if (state.hidden.has(ellipse.cluster)) continue;
      pen.strokeStyle = facts.palette[partition.colours[ellipse.cluster]];
      pen.beginPath();
      for (const [x, y] of ellipse.points) pen.lineTo(...this.place(x, y));
      pen.stroke();
    }
  }

  axes(pen) {
    const [x0, x1, y0, y1] = this.window, bottom = this.height - EDGE.bottom;
    pen.fillStyle = themeColour("quiet");
    pen.strokeStyle = themeColour("line");
    pen.lineWidth = 1;
    pen.font = "12px system-ui, sans-serif";
    pen.strokeRect(EDGE.left + 0.5, EDGE.top + 0.5, this.inner[0] - 1, this.inner[1] - 1);
    pen.textAlign = "center";
    for (const x of ticks(x0, x1, this.inner[0] / 70)) pen.fillText(said(x), this.place(x, y0)[0], bottom + 15);
    pen.fillText(shortened(this.seen.plane.axes[0], Math.floor(this.inner[0] / 6.5)), EDGE.left + this.inner[0] / 2, bottom + 32);
    pen.textAlign = "right";
    for (const y of ticks(y0, y1, this.inner[1] / 60)) pen.fillText(said(y), EDGE.left - 6, this.place(x0, y)[1] + 4);
    pen.save();
    pen.translate(16, EDGE.top + this.inner[1] / 2);
    pen.rotate(-Math.PI / 2);
    pen.textAlign = "center";
    pen.fillText(shortened(this.seen.plane.axes[1], Math.floor(this.inner[1] / 6.5)), 0, 0);
    pen.restore();
  }

  /* Names on the groups, the largest first; one that would cover another moves, or stays out. */
  labelPlaces() {
    const { partition, plane, takes } = this.seen, taken = [], found = [];
    const inside = Array.from(partition.names, () => []);
    for (const i of rows.drawn) {
      const j = clusterShown(partition, i);
      if (j >= 0 && !state.hidden.has(j) && takes(i) && Number.isFinite(plane.x[i] + plane.y[i])) inside[j].push(i);
    }
    const middle = (list, values) => list.map(i => values[i]).sort((a, b) => a - b)[list.length >> 1];
    const most = this.width < 500 ? 16 : 28, short = partition.names.map(name => labelOf(name, most));
    const order = inside.map((list, j) => j).filter(j => inside[j].length).sort((a, b) => inside[b].length - inside[a].length);
    const numbered = repeatsColours(partition); // then the legend has numbers too
    this.pen.font = "600 13px system-ui, sans-serif";
    for (const j of order) {
      const some = inside[j].filter((_, k) => k % Math.ceil(inside[j].length / 999) === 0);
      const [x, y] = this.place(middle(some, plane.x), middle(some, plane.y));
      const isAlone = short.indexOf(short[j]) === short.lastIndexOf(short[j]), text = numbered && partition.names[j] === partition.cards[j].name ? String(j) : isAlone && !numbered ? short[j] : `${j}: ${short[j]}`, wide = this.pen.measureText(text).width / 2 + 3;
      const px = Math.min(Math.max(x, EDGE.left + wide), this.width - EDGE.right - wide);
      if (x < EDGE.left || y < EDGE.top || x > this.width - EDGE.right || y > this.height - EDGE.bottom) continue;
      const free = py => !taken.some(box => Math.abs(box[0] - px) < box[2] + wide && Math.abs(box[1] - py) < 16);
      const py = [0, -17, 17, -34, 34].map(d => y + d).find(free);
      if (py === undefined) continue;
      taken.push([px, py, wide]);
      found.push({ text, x: px, y: py });
    }
    return found;
  }

  labels(pen) {
    const places = this.labelPlaces();
    pen.font = "600 13px system-ui, sans-serif";
    pen.textAlign = "center";
    pen.lineJoin = "round";
    pen.lineWidth = 4;
    pen.strokeStyle = themeColour("back");
    pen.fillStyle = themeColour("text");
    for (const { text, x, y } of places) {
      pen.strokeText(text, x, y + 4);
      pen.fillText(text, x, y + 4);
    }
  }

  marks(pen) {
    pen.strokeStyle = themeColour("text");
    if (state.marked >= 0 && this.seen.takes(state.marked)) {
      const [x, y] = this.placeOf(state.marked), cluster = this.seen.partition.labels[state.marked];
      pen.lineWidth = 2;
      pen.fillStyle = cluster < 0 ? facts.noise : facts.palette[this.seen.partition.colours[cluster]];
      pen.beginPath();
      pen.arc(x, y, 7, 0, 2 * Math.PI);
      pen.fill();
      pen.stroke();
    }
    if (this.lasso.length > 1) {
      pen.lineWidth = 1.5;
      pen.setLineDash([5, 4]);
      pen.beginPath();
      for (const point of this.lasso) pen.lineTo(...point);
      pen.closePath();
      pen.stroke();
      pen.setLineDash([]);
    }
  }

  /* The row that is drawn nearest to a place, within some pixels; -1: none. */
  nearest(px, py) {
    const [x, y] = this.pointAt(px, py), { plane, partition, takes } = this.seen, [x0, x1, y0, y1] = this.window;
    const across = this.inner[0] / (x1 - x0), up = this.inner[1] / (y1 - y0);
    let best = -1, far = 14 * 14;
    for (const i of rows.drawn) {
      const dx = (plane.x[i] - x) * across, dy = (plane.y[i] - y) * up, d2 = dx * dx + dy * dy;
      if (d2 < far && !state.hidden.has(partition.labels[i]) && takes(i)) { far = d2; best = i; }
    }
    return best;
  }

  /* Which rows lie in the polygon that was drawn: those with an odd number of its edges to their
     right. A row asks only the edges that cross its strip of the polygon's height. */
  inLasso() {
    const corners = this.lasso.map(([x, y]) => this.pointAt(x, y)), { plane: { x, y }, takes, partition } = this.seen;
    const [x0, x1] = extent(corners.map(c => c[0])), [y0, y1] = extent(corners.map(c => c[1]));
    const strips = edgesByStrip(corners, y0, y1), found = new Uint8Array(rows.count);
    for (let i = 0; i < rows.count; i++) {
      if (!(x[i] >= x0 && x[i] <= x1 && y[i] >= y0 && y[i] <= y1) || !takes(i) || state.hidden.has(partition.labels[i])) continue;
      for (const [ax, ay, bx, by] of strips[Math.floor((y[i] - y0) / (y1 - y0) * (STRIPS - 1))]) {
        if ((ay > y[i]) !== (by > y[i]) && x[i] < (bx - ax) * (y[i] - ay) / (by - ay) + ax) found[i] ^= 1;
      }
    }
    return found;
  }
}

const STRIPS = 64;

function edgesByStrip(corners, low, high) {
  const strips = Array.from({ length: STRIPS }, () => []), strip = y => Math.floor((y - low) / (high - low) * (STRIPS - 1));
  corners.forEach(([ax, ay], k) => {
    const [bx, by] = corners[(k + 1) % corners.length];
    for (let at = strip(Math.min(ay, by)); at <= strip(Math.max(ay, by)); at++) strips[at].push([ax, ay, bx, by]);
  });
  return strips;
}
