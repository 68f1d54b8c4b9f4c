/* The view as a picture for elsewhere: PNG, and SVG whose points and words stay points and words. */

const MOST_CIRCLES = 20000, HEAD = 56, LINE = 22;

/* Lines of a legend: colours and words. */
function legendLines() {
  const partition = state.shown;
  const number = j => repeatsColours(partition) ? `${j}: ` : "";
  return partition.cards.map((card, j) => ({ j, text: `${number(j)}${shortened(partition.names[j], 60)} (${percent(card.share)})`, colour: facts.palette[partition.colours[j]] }))
    .filter(line => !state.hidden.has(line.j));
}

async function savePng() {
  const from = views[0].canvas, view = views[0], scale = from.width / view.width, lines = legendLines();
  const canvas = element("canvas", { width: from.width, height: Math.round(from.height + scale * (HEAD + LINE * Math.ceil(lines.length / 2) + 16)) });
  const pen = canvas.getContext("2d");
  pen.fillStyle = themeColour("back");
  pen.fillRect(0, 0, canvas.width, canvas.height);
  pen.drawImage(from, 0, HEAD * scale);
  pen.scale(scale, scale);
  pen.fillStyle = themeColour("text");
  pen.font = "600 20px system-ui, sans-serif";
  pen.fillText(shortened(facts.title, 70), 16, 34);
  pen.font = "14px system-ui, sans-serif";
  lines.forEach((line, k) => {
    const x = 20 + (k % 2) * view.width / 2, y = HEAD + view.height + LINE * (Math.floor(k / 2) + 1);
    pen.fillStyle = line.colour;
    pen.fillRect(x, y - 11, 12, 12);
    pen.fillStyle = themeColour("text");
    pen.fillText(line.text, x + 20, y);
  });
  const blob = await new Promise(done => canvas.toBlob(done, "image/png"));
  save(fileName(".png"), blob);
  return blob;
}

function svgOf() {
  const view = views[0], { partition, takes } = view.seen, lines = legendLines(), parts = [];
  const high = view.height + HEAD + LINE * lines.length + 16, [w, h] = view.inner, top = HEAD + EDGE.top;
  parts.push(element("rect", { width: view.width, height: high, fill: themeColour("back") }));
  parts.push(element("text", { x: 16, y: 34, "font-size": 20, "font-weight": 600 }, facts.title));
  const group = element("g", {}), radius = view.radius();
  if (rows.drawn.length > MOST_CIRCLES) parts.push(rasterIn(view, top));
  else for (const i of rows.drawn) {
    const [x, y] = view.placeOf(i), j = clusterShown(partition, i);
    if (!(x >= EDGE.left && y >= EDGE.top && x <= EDGE.left + w && y <= EDGE.top + h) || state.hidden.has(partition.labels[i]) || !takes(i)) continue;
    group.append(element("circle", { cx: x.toFixed(1), cy: (y + HEAD).toFixed(1), r: radius.toFixed(1), fill: j < 0 ? facts.noise : facts.palette[partition.colours[j]], "fill-opacity": j < 0 ? 0.5 : 0.85 }));
  }
  parts.push(group, element("rect", { x: EDGE.left, y: top, width: w, height: h, fill: "none", stroke: themeColour("line") }));
  parts.push(element("text", { x: EDGE.left + w / 2, y: HEAD + view.height - 8, "text-anchor": "middle", "font-size": 12 }, view.seen.plane.axes[0]));
  parts.push(element("text", { x: 20, y: top + h / 2, "text-anchor": "middle", "font-size": 12, transform: `rotate(-90 20 ${top + h / 2})` }, view.seen.plane.axes[1]));
  for (const { text, x, y } of view.labelPlaces()) parts.push(element("text", { x, y: y + 4 + HEAD, "text-anchor": "middle", "font-size": 13, "font-weight": 600 }, text));
  lines.forEach((line, k) => parts.push(
    element("rect", { x: 20, y: HEAD + view.height + LINE * k + 10, width: 12, height: 12, fill: line.colour }),
    element("text", { x: 40, y: HEAD + view.height + LINE * k + 21, "font-size": 14 }, line.text)));
  const picture = element("svg", { xmlns: "http://www.w3.org/2000/svg", width: view.width, height: high, viewBox: `0 0 ${view.width} ${high}`, "font-family": "system-ui, sans-serif", fill: themeColour("text") }, ...parts);
  return new XMLSerializer().serializeToString(picture);
}

/* Many points as an image: a drawing of 100,000 circles opens nowhere. */
function rasterIn(view, top) {
  const scale = 2, canvas = element("canvas", { width: Math.round(view.inner[0] * scale), height: Math.round(view.inner[1] * scale) });
  canvas.getContext("2d").putImageData(view.points(scale), 0, 0);
  const image = document.createElementNS("http://www.w3.org/2000/svg", "image");
  for (const [name, value] of Object.entries({ x: EDGE.left, y: top, width: view.inner[0], height: view.inner[1], href: canvas.toDataURL("image/png") })) image.setAttribute(name, value);
  return image;
}

function saveSvg() {
  save(fileName(".svg"), new Blob([svgOf()], { type: "image/svg+xml" }));
}
