/* What columns say of some rows: means, deviations, histograms. A selection is told in the same way
   as a cluster, so a cluster is a set of rows here. */

const BINS = 24;

/* Of each column the count, mean, deviation and histogram of each of some groups of rows, in one
   pass: `group` says which group a row is of, or -1. Cells that lie far from all others are no part
   of a mean, but of that of a group most of whose cells are such; they stand at histograms' ends. */
function summaries(group, groups) {
  const made = Array.from({ length: groups }, () => []);
  for (const { codes, none, top, low, step, far } of rows.columns) {
    const bins = new Float64Array(BINS * groups), sums = new Float64Array(3 * groups), wide = BINS / (top + 1);
    const apart = new Float64Array(2 * groups);
    for (const [i, value] of far) {
      const j = group[i];
      if (j < 0) continue;
      apart[2 * j]++;
      apart[2 * j + 1] += value;
      bins[j * BINS + (value < low ? 0 : BINS - 1)]++;
    }
    for (let i = 0; i < codes.length; i++) {
      const j = group[i], code = codes[i];
      if (j < 0 || code === none) continue;
      sums[3 * j]++;
      sums[3 * j + 1] += code;
      sums[3 * j + 2] += code * code;
      bins[j * BINS + Math.min(BINS - 1, Math.floor(code * wide))]++;
    }
    for (let j = 0; j < groups; j++) {
      const usual = sums[3 * j], mean = usual ? sums[3 * j + 1] / usual : NaN;
      const beyond = apart[2 * j], own = beyond > usual ? apart[2 * j + 1] / beyond : low + step * mean;
      const spread = Math.sqrt(Math.max(0, sums[3 * j + 2] / usual - mean * mean));
      made[j].push({ count: usual + beyond, mean: own, deviation: step * spread, bins: bins.subarray(j * BINS, (j + 1) * BINS) });
    }
  }
  return made;
}

/* Numbers of columns, those first in which some rows differ most from all. */
function telling(some) {
  const away = k => {
    const { mean, deviation } = rows.all[k];
    return deviation > 0 && some[k].count ? Math.abs(some[k].mean - mean) / deviation : 0;
  };
  return rows.columns.map((_, k) => k).sort((a, b) => away(b) - away(a));
}

/* A sentence on a column: what some rows have there, and all. */
function sentence(k, some) {
  const { mean, deviation } = rows.all[k], own = some[k].mean, { name, said } = rows.columns[k];
  const away = deviation > 0 ? (own - mean) / deviation : 0;
  const word = Math.abs(away) < 0.25 ? "like all" : (Math.abs(away) > 1 ? "much " : "") + (away > 0 ? "higher" : "lower");
  return `${name}: ${said(own)} on average, ${word} (all rows ${said(mean)}).`;
}

/* A histogram of some rows before that of all rows, each with its own height. */
function histogram(k, some, colour, label) {
  const wide = 160, high = 40, all = rows.all[k].bins, own = some[k].bins;
  const path = (bins, closed) => {
    const most = bins.reduce((a, b) => Math.max(a, b), 1), steps = [];
    bins.forEach((value, b) => steps.push(`${b * wide / BINS},${high - (high - 2) * value / most}`, `${(b + 1) * wide / BINS},${high - (high - 2) * value / most}`));
    return (closed ? `M0,${high}L` : "M0," + high + "L") + steps.join(" ") + `L${wide},${high}` + (closed ? "Z" : "");
  };
  const { low, step, top, name, said, far } = rows.columns[k], most = low + step * top;
  const [least, largest] = far.size ? extent([...far.values()]) : [low, most];
  const end = (usual, beyond) => said(usual) + (beyond === usual ? "" : ", few to " + said(beyond));
  const picture = element("svg", { viewBox: `0 0 ${wide} ${high}`, preserveAspectRatio: "none", role: "img", "aria-label": `${name}: ${label} before all rows` },
    element("path", { d: path(all, true), class: "all" }),
    element("path", { d: path(own, true), fill: colour, "fill-opacity": "0.75" }));
  return element("figure", { class: "histogram" }, element("figcaption", {}, element("span", {}, name), element("span", { class: "mean" }, said(some[k].mean))), picture,
    element("div", { class: "ends", "aria-hidden": "true" }, element("span", {}, end(low, Math.min(low, least))), element("span", {}, end(most, Math.max(most, largest)))));
}
