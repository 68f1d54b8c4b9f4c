"use strict";
(function () {
  const rows = JSON.parse(document.getElementById("rows").textContent);
  const canvas = document.getElementById("plot"), tip = document.getElementById("tip");
  const threshold = document.getElementById("threshold"), told = document.getElementById("threshold-value");
  const boxes = Array.from(document.querySelectorAll("#switches input"));
  const margin = 14;
  let hidden = new Set(), least = 0, width = 0, height = 0;

  function at(x, y) {
    return [margin + x / 1000 * (width - 2 * margin), height - margin - y / 1000 * (height - 2 * margin)];
  }

  function place(i) {
    return at(rows.x[i], rows.y[i]);
  }

  function isShown(i) {
    return !hidden.has(rows.cluster[i]) && rows.u[i] >= least;
  }

  function draw() {
    const scale = window.devicePixelRatio || 1, box = canvas.getBoundingClientRect();
    width = box.width;
    height = box.height;
    canvas.width = Math.round(width * scale);
    canvas.height = Math.round(height * scale);
    const pen = canvas.getContext("2d");
    pen.setTransform(scale, 0, 0, scale, 0, 0);
    pen.clearRect(0, 0, width, height);
    const size = rows.x.length > 3000 ? 2 : rows.x.length > 500 ? 3 : 4;
    for (let i = 0; i < rows.x.length; i++) {
      if (!isShown(i)) continue;
      const [x, y] = place(i);
      pen.globalAlpha = 0.2 + 0.8 * rows.u[i] / 100;
      pen.fillStyle = rows.colours[rows.cluster[i]];
      pen.beginPath();
      pen.arc(x, y, size, 0, 2 * Math.PI);
      pen.fill();
    }
    pen.globalAlpha = 1;
    for (const ellipse of rows.ellipses) {
      if (hidden.has(ellipse.cluster)) continue;
      pen.strokeStyle = rows.colours[ellipse.cluster];
      pen.beginPath();
      for (const [x, y] of ellipse.points) pen.lineTo(...at(x, y));
      pen.stroke();
    }
  }

  function nearest(x, y) {
    let best = -1, far = 15 * 15;
    for (let i = 0; i < rows.x.length; i++) {
      if (!isShown(i)) continue;
      const [a, b] = place(i), d2 = (a - x) * (a - x) + (b - y) * (b - y);
      if (d2 < far) { far = d2; best = i; }
    }
    return best;
  }

  function point(event) {
    const box = canvas.getBoundingClientRect(), i = nearest(event.clientX - box.left, event.clientY - box.top);
    tip.hidden = i < 0;
    if (i < 0) return;
    const [x, y] = place(i), cluster = rows.cluster[i];
    tip.textContent = "row " + rows.name[i] + ": " + (cluster < 0 ? "no cluster" : "cluster " + cluster) + ", membership " + rows.u[i] + "%";
    tip.style.left = Math.min(x + 10, Math.max(0, width - 170)) + "px";
    tip.style.top = Math.max(0, y - 34) + "px";
  }
  canvas.addEventListener("pointermove", point);
  canvas.addEventListener("pointerdown", point);
  canvas.addEventListener("pointerleave", function () { tip.hidden = true; });
  for (const box of boxes) {
    box.addEventListener("change", function () {
      hidden = new Set(boxes.filter(one => !one.checked).map(one => Number(one.dataset.cluster)));
      draw();
    });
  }
  threshold.addEventListener("input", function () {
    least = Number(threshold.value);
    told.textContent = least + "%";
    draw();
  });
  window.addEventListener("resize", draw);
  window.addEventListener("beforeprint", draw);
  draw();
})();
