/* Words and numbers for people, the page's address, and files that are saved. */

/* Three significant digits, all units below 10,000; thousands apart. */
function said(value) {
  if (!Number.isFinite(value)) return "–";
  const size = Math.abs(value);
  if (size > 0 && (size < 1e-6 || size >= 1e15)) return value.toPrecision(3);
  const digits = size >= 1000 && size < 10000 ? 4 : 3;
  const [whole, decimals] = (value === 0 ? "0" : Number(value.toPrecision(digits)).toFixed(
    Math.max(0, Math.min(9, digits - 1 - Math.floor(Math.log10(size || 1)))))).split(".");
  const apart = whole.replace(/\B(?=(\d{3})+$)/g, ",");
  const rest = (decimals || "").replace(/0+$/, "");
  return rest ? apart + "." + rest : apart;
}

function counted(count, noun) {
  return count.toLocaleString("en-US") + " " + noun + (count === 1 ? "" : "s");
}

/* 7%, and 0.3% or 99.6% rather than none or all of what is some. */
function percent(share) {
  const value = 100 * share;
  if (share <= 0 || share >= 1 || (value >= 0.5 && value < 99.5)) return value.toFixed(0) + "%";
  return (value < 0.1 ? "<0.1" : value > 99.9 ? ">99.9" : value.toFixed(1)) + "%";
}

function shortened(text, most) {
  const letters = Array.from(text);
  return letters.length <= most ? text : letters.slice(0, most - 1).join("") + "…";
}

/* A name as it stands on a group: a long one ends where its first words do. */
function labelOf(name, most) {
  const first = name.split(", ")[0];
  return name.length > most && first.length >= 4 ? shortened(first, most) : shortened(name, most);
}

/* A cell of CSV. A spreadsheet runs what begins with = + - @ or a control character, so that such
   text gets an apostrophe first; numbers stay numbers. */
function cell(value) {
  let text = String(value);
  const isNumber = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(text);
  if (/^[=+\-@\t\r\n]/.test(text) && !isNumber) text = "'" + text;
  return /[",\r\n]/.test(text) || text !== text.trim() ? '"' + text.replace(/"/g, '""') + '"' : text;
}

function csvOf(lines) {
  return lines.map(line => line.map(cell).join(",") + "\r\n").join("");
}

function save(name, blob) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}

function fileName(ending) {
  const plain = facts.title.replace(/[^\p{L}\p{N}]+/gu, "-").replace(/^-+|-+$/g, "").slice(0, 60);
  return (plain || "clusters") + ending;
}

/* An element with attributes and children; text is always text, never markup. */
function element(tag, attributes, ...children) {
  const svg = ["svg", "path", "line", "text", "rect", "circle", "g", "title", "polyline"].includes(tag);
  const made = svg ? document.createElementNS("http://www.w3.org/2000/svg", tag) : document.createElement(tag);
  for (const [name, value] of Object.entries(attributes || {})) {
    if (name === "style") Object.assign(made.style, value);
    else if (value !== null && value !== false) made.setAttribute(name, value === true ? "" : value);
  }
  made.append(...children.filter(child => child !== null));
  return made;
}

function byId(name) { return document.getElementById(name); }
