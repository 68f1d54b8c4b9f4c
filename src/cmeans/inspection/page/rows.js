/* What the page knows: rows, columns, planes and partitions, unpacked from the record beside this
   script. Positions and values are whole numbers of 8 or 16 bits; the largest one means "none". */

const facts = JSON.parse(document.getElementById("rows").textContent);

async function inflated(text) {
  const raw = atob(text), bytes = new Uint8Array(raw.length);
  for (let i = 0; i < raw.length; i++) bytes[i] = raw.charCodeAt(i);
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Response(stream).arrayBuffer();
}

async function codesOf(packed) {
  const bytes = await inflated(packed.data);
  return packed.bits === 16 ? new Uint16Array(bytes) : new Uint8Array(bytes);
}

async function textsOf(packed) {
  return packed === null ? null : JSON.parse(new TextDecoder().decode(await inflated(packed)));
}

/* Numbers with NaN where there are none. */
async function numbersOf(packed) {
  const codes = await codesOf(packed), none = packed.bits === 16 ? 65535 : 255;
  const values = new Float32Array(codes.length);
  for (let i = 0; i < codes.length; i++) {
    values[i] = codes[i] === none ? NaN : packed.low + codes[i] * packed.step;
  }
  return values;
}

/* A column is kept as codes: they are all that histograms and means need. Of cells that lie far
   from all others the code is none, and `far` has their values. */
async function columnOf(column) {
  const codes = await codesOf(column.values), none = column.values.bits === 16 ? 65535 : 255;
  const { low, step } = column.values, far = new Map(column.far);
  return {
    name: column.name, low, step, none, codes, top: column.top, far,
    said: { date: value => Number.isFinite(value) ? new Date(864e5 * Math.floor(value)).toISOString().slice(0, 10) : "–",
      year: value => Number.isFinite(value) ? value.toFixed(0) : "–", number: said }[column.form],
    at(i) { return far.get(i) ?? this.usual(i); },
    usual(i) { return codes[i] === none ? NaN : low + codes[i] * step; },
  };
}

async function planeOf(plane) {
  const [x, y] = await Promise.all([numbersOf(plane.x), numbersOf(plane.y)]);
  return { name: plane.name, axes: plane.axes, x, y, ellipses: plane.ellipses, far: plane.far, window: plane.window ? plane.window.flatMap(extent) : [...extent(x), ...extent(y)] };
}

async function partitionOf(partition) {
  const [codes, shares] = await Promise.all(
    [codesOf(partition.labels), partition.memberships === null ? null : codesOf(partition.memberships)]);
  const labels = new Int16Array(codes.length), none = partition.labels.bits === 16 ? 65535 : 255;
  for (let i = 0; i < codes.length; i++) labels[i] = codes[i] === none ? -1 : codes[i];
  return { ...partition, labels, shares, names: partition.cards.map(card => card.name) };
}

/* The largest membership of a row, in per cent; where clusters are hard, 100. */
function shareOf(partition, i) {
  return partition.shares === null ? (partition.labels[i] < 0 ? 0 : 100) : partition.shares[i] / 2.5;
}

function idOf(i) {
  return rows.ids === null ? String(i * facts.step) : rows.ids[i];
}

const rows = { count: facts.count };

async function unpack() {
  const all = list => Promise.all(list);
  [rows.ids, rows.texts, rows.set, rows.columns, rows.planes, rows.partitions] = await all([
    textsOf(facts.ids), textsOf(facts.texts),
    facts.set === null ? null : codesOf(facts.set),
    all(facts.columns.map(columnOf)), all(facts.planes.map(planeOf)), all(facts.partitions.map(partitionOf)),
  ]);
}
