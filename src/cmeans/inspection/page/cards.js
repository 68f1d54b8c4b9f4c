/* Cards: a cluster, a row, and a selection, told in words, histograms and rows. */

const HISTOGRAMS = 3;

/* The colour of a cluster, and its number where there are more clusters than colours. */
function swatch(partition, j) {
  const dot = element("span", { class: "swatch", style: { background: j < 0 ? facts.noise : facts.palette[partition.colours[j]] } });
  return j < 0 || !repeatsColours(partition) ? dot : element("span", { class: "key" }, dot, String(j));
}

function repeatsColours(partition) { return partition.cards.length > facts.palette.length; }

/* The cards of all clusters of a partition. */
function showCards(partition) {
  const cards = partition.cards.map((card, j) => cardOf(partition, card, j));
  byId("cards").replaceChildren(...cards);
}

function cardOf(partition, card, j) {
  const some = statisticsOf(partition, j), colour = facts.palette[partition.colours[j]];
  const name = element("input", { class: "name", value: partition.names[j], "aria-label": `Name of cluster ${card.label}`, maxlength: "120", spellcheck: "false" });
  name.addEventListener("input", () => rename(partition, j, name.value));
  const pick = element("button", { type: "button", class: "quiet" }, "Select rows");
  pick.addEventListener("click", () => select(maskOf(i => partition.labels[i] === j), "nothing"));
  const isFrozen = facts.kind === "report";
  return element("article", { class: "card", "data-cluster": j, style: { borderTopColor: colour } },
    element("header", {}, swatch(partition, j), isFrozen ? element("h3", {}, partition.names[j]) : name),
    element("p", { class: "size" }, element("strong", {}, percent(card.share)), ` · ${counted(card.size, "row")}` + (card.shares ? ` · ${card.shares}` : "")),
    card.terms.length ? element("p", { class: "terms" }, ...card.terms.map(term => element("span", {}, term))) : null,
    element("ul", { class: "sentences" }, ...card.sentences.map(text => element("li", {}, text))),
    element("div", { class: "histograms" }, ...telling(some).slice(0, HISTOGRAMS).map(k => histogram(k, some, colour, partition.names[j]))),
    card.typical.length ? typicalRows(card) : null,
    isFrozen ? null : pick);
}

function typicalRows(card) {
  const list = card.typical.map((i, place) => {
    const text = card.texts[place];
    const shown = element("button", { type: "button", class: "row" }, shortened(idOf(i), 40));
    shown.addEventListener("click", () => mark(i));
    return element("li", {}, facts.kind === "report" ? shortened(idOf(i), 40) : shown, text ? element("span", { class: "text" }, text) : null);
  });
  return element("div", { class: "typical" }, element("p", { class: "head" }, "Typical rows"), element("ul", {}, ...list));
}

function statisticsOf(partition, j) {
  partition.statistics ||= summaries(partition.labels, partition.cards.length);
  return partition.statistics[j];
}

function nameShown(partition, j) {
  return j < 0 ? "no cluster" : partition.names[j];
}

/* What stands at the pointer: the row, its cluster and its values. */
function fillTip(tip, i) {
  const partition = state.shown, j = clusterShown(partition, i), values = rows.columns.slice(0, 10);
  const soft = partition.shares === null ? "" : `, membership ${shareOf(partition, i).toFixed(0)}%`;
  tip.replaceChildren(
    element("div", { class: "head" }, swatch(partition, j), element("strong", {}, `${facts.noun} ${shortened(idOf(i), 60)}`)),
    element("div", {}, nameShown(partition, j) + soft),
    element("dl", {}, ...values.flatMap(column => [element("dt", {}, shortened(column.name, 28)), element("dd", {}, column.said(column.at(i)))])));
  if (rows.texts !== null && rows.texts[i]) tip.append(element("p", { class: "text" }, rows.texts[i]));
}

/* Where a row lies and why: the columns by which it is nearer to its cluster than to the next. */
function rowCard(i) {
  const partition = state.shown, j = partition.labels[i], parts = [];
  const others = partition.cards.map((_, k) => k).filter(k => k !== j && partition.cards[k].size > 0);
  const away = (k, c) => Math.abs(rows.columns[k].at(i) - statisticsOf(partition, c)[k].mean) / (rows.all[k].deviation || 1);
  const far = c => rows.columns.reduce((sum, _, k) => sum + (away(k, c) || 0) ** 2, 0);
  const soft = partition.shares === null ? "" : ` with membership ${shareOf(partition, i).toFixed(0)}%`;
  parts.push(element("p", {}, j < 0 ? "It belongs to no cluster." : "It lies in ", j < 0 ? null : element("strong", {}, partition.names[j]), j < 0 ? null : soft + "."));
  if (!isDrawable(i)) parts.push(element("p", { class: "note" }, "It has no place in this picture."));
  if (j >= 0 && others.length && rows.columns.length) {
    const next = others.reduce((a, b) => far(b) < far(a) ? b : a);
    const why = rows.columns.map((_, k) => k).filter(k => away(k, next) > away(k, j)).sort((a, b) => (away(b, next) - away(b, j)) - (away(a, next) - away(a, j))).slice(0, 3);
    parts.push(element("p", {}, "The next is ", element("strong", {}, partition.names[next]), why.length ? ". It is here for:" : ", to which its columns are nearer."));
    parts.push(element("ul", {}, ...why.map(k => element("li", {},
      `${rows.columns[k].name} ${rows.columns[k].said(rows.columns[k].at(i))}: this cluster has ${rows.columns[k].said(statisticsOf(partition, j)[k].mean)} on average, the next ${rows.columns[k].said(statisticsOf(partition, next)[k].mean)}`))));
  }
  if (rows.texts !== null && rows.texts[i]) parts.push(element("blockquote", {}, rows.texts[i]));
  return parts;
}

/* A selection: how many rows, of which clusters, and what sets them apart. */
function selectionCard(mask) {
  const partition = state.shown, counts = new Map();
  let count = 0;
  for (let i = 0; i < rows.count; i++) {
    if (!mask[i]) continue;
    count++;
    const j = clusterShown(partition, i);
    counts.set(j, (counts.get(j) || 0) + 1);
  }
  const [some] = summaries(Int8Array.from(mask, inside => inside - 1), 1), parts = [element("p", {}, element("strong", {}, counted(count, "row")), ` selected, ${percent(count / rows.count)} of all.`)];
  const order = [...counts].sort((a, b) => b[1] - a[1]);
  parts.push(element("ul", { class: "parts" }, ...order.slice(0, 6).map(([j, n]) => element("li", {}, swatch(partition, j), `${shortened(nameShown(partition, j), 40)}: ${percent(n / count)}`))));
  if (count) {
    const first = telling(some).slice(0, HISTOGRAMS);
    parts.push(element("ul", { class: "sentences" }, ...first.map(k => element("li", {}, sentence(k, some)))));
    parts.push(element("div", { class: "histograms" }, ...first.map(k => histogram(k, some, themeColour("accent"), "the selection"))));
  }
  return parts;
}
