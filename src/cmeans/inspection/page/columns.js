/* What columns say of some rows: means, deviations, histograms. A selection is told in the same way
   as a cluster, so a cluster is a set of rows here. */

const BINS = 24;

/* Of each column the count, mean and deviation of all rows, and its histogram. */
function summaries(takes) {
  return rows.columns.map(column => {
    const bins = new Float64Array(BINS), { codes, none, top } = column;
    let count = 0, sum = 0, squares = 0;
    for (let i = 0; i < codes.length; i++) {
      const code = codes[i];
      if (code === none || !takes(i)) continue;
      count++;
      sum += code;
      squares += code * code;
      bins[Math.min(BINS - 1, Math.floor(code * BINS / (top + 1)))]++;
    }
    const mean = count ? sum / count : NaN, spread = Math.sqrt(Math.max(0, squares / count - mean * mean));
    return { count, mean: column.low + column.step * mean, deviation: column.step * spread, bins };
  });
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
  const { mean, deviation } = rows.all[k], own = some[k].mean, name = rows.columns[k].name;
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
  const { low, step, top, name } = rows.columns[k];
  const picture = element("svg", { viewBox: `0 0 ${wide} ${high}`, preserveAspectRatio: "none", role: "img", "aria-label": `${name}: ${label} before all rows` },
    element("path", { d: path(all, true), class: "all" }),
    element("path", { d: path(own, true), fill: colour, "fill-opacity": "0.75" }));
  return element("figure", { class: "histogram" }, element("figcaption", {}, element("span", {}, name), element("span", { class: "mean" }, said(some[k].mean))), picture,
    element("div", { class: "ends", "aria-hidden": "true" }, element("span", {}, said(low)), element("span", {}, said(low + step * top))));
}
