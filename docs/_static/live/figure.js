/* Figures that one can touch: points that are dragged, sliders, and sweeps of the library (engine.js) that follow. Each stands in an
   element of class "live", whose attributes say with what it begins. */
"use strict";

(() => {
  const WIDE = 3, HIGH = 2; // of the plane
  const COARSE = 9, FINE = 4; // pixels of the coloured ground, while points move and at rest
  const STARTS = 12; // of which the best is shown
  const COLOURS = ["#0072b2", "#e69f00", "#009e73", "#56b4e9", "#d55e00", "#cc79a7"].map(name => [1, 3, 5].map(i => parseInt(name.slice(i, i + 2), 16)));
  const still = matchMedia("(prefers-reduced-motion: reduce)");

  /* ---------------------------------------------------------------------------------------------------------------- points */

  function random(seed) {
    let state = seed;
    return () => {
      state = (state + 0x6D2B79F5) | 0;
      let t = Math.imul(state ^ (state >>> 15), 1 | state);
      t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
      return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
    };
  }

  const next = random(7);
  const normal = () => Math.sqrt(-2 * Math.log(1 - next())) * Math.cos(2 * Math.PI * next());
  const around = (x, y, spread, count) => Array.from({length: count}, () => [x + spread * normal(), y + spread * normal()]);
  const along = (count, curve, spread) => Array.from({length: count}, (_, i) => curve((i + next()) / count).map(v => v + spread * normal()));
  const arc = (x, y, radius, from, to) => t => [x + radius * Math.cos(from + (to - from) * t), y + radius * Math.sin(from + (to - from) * t)];
  const groups = () => [...around(0.95, 0.7, 0.24, 45), ...around(2.0, 0.65, 0.26, 45), ...around(1.5, 1.45, 0.22, 45)];
  const SHAPES = {
    "three groups": groups,
    "a ring around a disc": () => [...around(1.5, 1, 0.13, 45), ...along(95, arc(1.5, 1, 0.78, 0, 2 * Math.PI), 0.05)],
    "two moons": () => [...along(65, arc(1.2, 0.8, 0.6, 0, Math.PI), 0.06), ...along(65, arc(1.8, 1.15, 0.6, Math.PI, 2 * Math.PI), 0.06)],
    "groups and stray rows": () => [...around(0.9, 0.7, 0.16, 40), ...around(2.1, 0.7, 0.16, 40), ...around(1.5, 1.45, 0.16, 40),
      ...Array.from({length: 24}, () => [WIDE * (0.04 + 0.92 * next()), HIGH * (0.05 + 0.9 * next())])],
  };

  /* --------------------------------------------------------------------------------------------------------------- methods */

  /* What there is to choose: label, least, most, step, first value, and what it is in Python. */
  const SLIDERS = {
    m: ["Fuzzifier m", 1.05, 4, 0.05, 1.7],
    T: ["Temperature T", 0.02, 1, 0.02, 0.15],
    width: ["Width of clusters", 0.1, 2, 0.1, 0.5],
    noise: ["Distance of noise δ", 0.02, 1, 0.02, 0.15],
    clusters: ["Clusters c", 1, 6, 1, 3],
    gamma: ["Gaussian kernel γ", 0, 20, 0.5, 0],
  };
  const RULES = { // what it is called, its sliders, its lines in Python
    hard: ["hard", [], v => `KernelKMeans(${v.clusters}${v.kernel || ", kernel=\"linear\""})`],
    fuzzy: ["fuzzy", ["m"], v => `FuzzyCMeans(${v.clusters}, m=${v.m}${v.kernel})`],
    possibilistic: ["possibilistic", ["m", "width"], v => `CMeans(${v.clusters}, rule=Possibilistic(m=${v.m}, pilot_m=${v.m}, eta_scale=${v.width})${v.kernel})`],
    noise: ["fuzzy, with noise", ["m", "noise"], v => `CMeans(${v.clusters}, rule=NoiseFuzzy(m=${v.m}, delta=${v.noise})${v.kernel})`],
    entropy: ["maximum entropy", ["T"], v => `CMeans(${v.clusters}, rule=Entropy(T=${v.T})${v.kernel})`],
  };

  /* Numbers of points as first centres: each far from those before, as k-means++ draws them. */
  function seeds(points, count, draw) {
    const chosen = [Math.floor(draw() * points.length)];
    while (chosen.length < count) {
      const d2 = points.map(([x, y]) => Math.min(...chosen.map(i => (x - points[i][0]) ** 2 + (y - points[i][1]) ** 2)));
      let left = draw() * d2.reduce((a, b) => a + b, 0);
      const found = d2.findIndex(d => (left -= d) < 0);
      chosen.push(found < 0 ? chosen.length : found);
    }
    return chosen;
  }

  /* -------------------------------------------------------------------------------------------------------------- the page */

  function element(kind, attributes = {}, ...children) {
    const made = document.createElement(kind);
    for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
    made.append(...children);
    return made;
  }

  class Figure {
    constructor(place, engine) {
      Object.assign(this, {place, engine, chosen: -1, dragging: false, draw: random(3), values: {}});
      this.canvas = element("canvas", {tabindex: "0", role: "application"});
      this.said = element("p", {class: "live-said", role: "status"});
      this.call = element("code");
      this.controls = element("div", {class: "live-controls"});
      const hint = "Drag a point; click where there is none for one more. By keyboard: space chooses a point, arrows move it.";
      place.replaceChildren(this.canvas, this.controls, this.said, element("p", {class: "live-call"}, this.call), element("p", {class: "live-hint"}, hint));
      this.build();
      this.listen();
      this.shape();
    }

    /* Sliders and choices, as the attributes of the element ask for them. */
    build() {
      const asked = this.place.dataset, rules = (asked.rules || "fuzzy").split(" ");
      const choice = (label, names, value, follow) => {
        const select = element("select", {}, ...names.map(([key, name]) => element("option", {value: key}, name)));
        select.value = value;
        select.addEventListener("change", () => follow(select.value));
        this.controls.append(element("label", {}, element("span", {}, label), select));
        return select;
      };
      this.rule = rules[0];
      if (rules.length > 1)
        choice("Rule", rules.map(rule => [rule, RULES[rule][0]]), this.rule, rule => { this.rule = rule; this.show(); this.restart(); });
      this.shapes = asked.shape in SHAPES ? asked.shape : "three groups";
      choice("Points", Object.keys(SHAPES).map(name => [name, name]), this.shapes, name => { this.shapes = name; this.shape(); });
      this.rows = {};
      for (const [name, [label, least, most, step, first]] of Object.entries(SLIDERS)) {
        if (!["clusters", "gamma"].includes(name) && !rules.some(rule => RULES[rule][1].includes(name))) continue;
        const slider = element("input", {type: "range", min: least, max: most, step, value: asked[name.toLowerCase()] || first}), shown = element("output");
        const read = () => {
          this.values[name] = Number(slider.value);
          shown.textContent = name === "gamma" && !this.values[name] ? "none" : slider.value;
          slider.setAttribute("aria-valuetext", shown.textContent);
        };
        slider.addEventListener("input", () => { read(); name === "clusters" || name === "gamma" ? this.restart() : this.follow(); });
        this.rows[name] = element("label", {}, element("span", {}, label), slider, shown);
        this.controls.append(this.rows[name]);
        read();
      }
      const again = element("button", {type: "button"}, "Sweep from a new start");
      again.addEventListener("click", () => this.restart(1));
      this.controls.append(again);
      this.show();
    }

    show() { // the sliders of the rule
      for (const [name, row] of Object.entries(this.rows))
        row.hidden = !["clusters", "gamma", ...RULES[this.rule][1]].includes(name);
    }

    shape() {
      this.points = SHAPES[this.shapes]();
      this.chosen = -1;
      this.restart();
    }

    get method() {
      const {m, T, width, noise, gamma} = this.values;
      return {rule: this.rule, softness: this.rule === "entropy" ? T : this.rule === "hard" ? 1 : m, noise, gamma, width};
    }

    /* Sweeps from the best of some starts, or from one that is new. */
    restart(starts = STARTS) {
      let best = {objective: Infinity};
      for (let i = 0; i < starts; i++) {
        const first = seeds(this.points, this.values.clusters, starts > 1 ? random(i + 1) : this.draw);
        this.engine.begin(this.points, first, this.method);
        if (starts > 1) this.engine.settle();
        if (!(this.engine.objective >= best.objective) || !best.first) best = {objective: this.engine.objective, first};
      }
      this.engine.begin(this.points, best.first, this.method);
      this.run();
    }

    /* Sweeps that go on from the centres that there are. */
    follow() {
      if (this.engine.follow(this.points, this.method)) this.run();
      else this.restart();
    }

    run() {
      cancelAnimationFrame(this.waiting);
      clearTimeout(this.resting);
      if (still.matches) this.engine.settle();
      const step = () => {
        const goesOn = this.engine.sweep();
        this.paint(COARSE);
        this.say(goesOn);
        if (goesOn) this.waiting = requestAnimationFrame(step);
        else this.resting = setTimeout(() => this.paint(), 150);
      };
      this.waiting = requestAnimationFrame(step);
    }

    say(goesOn) {
      const {sweeps, objective} = this.engine, {clusters, gamma} = this.values;
      const text = `${this.engine.piloting ? "A fuzzy run first: sweep" : "Sweep"} ${sweeps}, objective ${objective.toPrecision(4)}`;
      this.said.setAttribute("aria-live", goesOn ? "off" : "polite");
      this.said.textContent = goesOn ? text : `${text}: at rest.`;
      this.call.textContent = `${RULES[this.rule][2]({...this.values, kernel: gamma ? `, kernel="rbf", gamma=${gamma}` : ""})}.fit(X)`;
      if (!goesOn) {
        const sizes = Array.from({length: clusters}, (_, j) => this.labels.filter(label => label === j).length);
        this.canvas.setAttribute("aria-label", `${this.points.length} points in clusters of ${sizes.join(", ")}`);
      }
    }

    /* ------------------------------------------------------------------------------------------------------------ painting */

    /* Colours (count, 4) of memberships: those of the clusters mixed, paler where no cluster has much. */
    static mixed({memberships}, clusters, count, strength) {
      const pixels = new Uint8ClampedArray(4 * count);
      for (let i = 0; i < count; i++) {
        let total = 0, top = 0;
        for (let j = 0; j < clusters; j++) {
          const u = memberships[i * clusters + j];
          total += u, top = Math.max(top, u);
        }
        for (let k = 0; k < 3; k++) {
          let mean = 0;
          for (let j = 0; j < clusters; j++) mean += memberships[i * clusters + j] * COLOURS[j][k];
          pixels[4 * i + k] = total > 0 ? mean / total : 128;
        }
        pixels[4 * i + 3] = 255 * strength * Math.max(top, Math.min(1, total));
      }
      return pixels;
    }

    resize() {
      const box = this.canvas.clientWidth || 640, density = Math.min(devicePixelRatio || 1, 2);
      const [wide, high] = [Math.round(box * density), Math.round(box * density * HIGH / WIDE)];
      if (this.canvas.width !== wide || this.canvas.height !== high) Object.assign(this.canvas, {width: wide, height: high});
      return density;
    }

    paint(cell = FINE) {
      const density = this.resize(), {width, height} = this.canvas, pen = this.canvas.getContext("2d");
      const columns = Math.ceil(width / (cell * density)), lines = Math.ceil(height / (cell * density)), scale = width / WIDE;
      const ink = getComputedStyle(this.place).color, clusters = this.values.clusters;
      const plane = Array.from({length: columns * lines}, (_, i) => [(i % columns + 0.5) * WIDE / columns, (Math.floor(i / columns) + 0.5) * HIGH / lines]);
      const ground = element("canvas", {width: columns, height: lines});
      ground.getContext("2d").putImageData(new ImageData(Figure.mixed(this.engine.memberships(plane), clusters, plane.length, 0.55), columns, lines), 0, 0);
      pen.clearRect(0, 0, width, height);
      pen.drawImage(ground, 0, 0, width, height);
      const own = this.engine.memberships(), colours = Figure.mixed(own, clusters, this.points.length, 1);
      this.labels = own.labels;
      this.points.forEach(([x, y], i) => {
        pen.beginPath();
        pen.arc(x * scale, y * scale, (i === this.chosen ? 8 : 4.5) * density, 0, 2 * Math.PI);
        pen.fillStyle = `rgb(${colours[4 * i]} ${colours[4 * i + 1]} ${colours[4 * i + 2]} / ${Math.max(0.15, colours[4 * i + 3] / 255)})`;
        pen.fill();
        pen.lineWidth = (i === this.chosen ? 2.5 : 1) * density;
        pen.strokeStyle = ink;
        pen.stroke();
      });
      for (const [x, y] of this.engine.centres()) {
        for (const [line, colour] of [[6, "#fff"], [3, "#000"]]) {
          pen.beginPath();
          for (const turn of [1, -1]) {
            pen.moveTo(x * scale - 7 * density, y * scale - 7 * turn * density);
            pen.lineTo(x * scale + 7 * density, y * scale + 7 * turn * density);
          }
          Object.assign(pen, {lineWidth: line * density, strokeStyle: colour, lineCap: "round"});
          pen.stroke();
        }
      }
    }

    /* ----------------------------------------------------------------------------------------------------------- listening */

    listen() {
      const place = event => {
        const box = this.canvas.getBoundingClientRect();
        return [(event.clientX - box.left) / box.width * WIDE, (event.clientY - box.top) / box.height * HIGH];
      };
      const inside = ([x, y]) => [Math.min(WIDE, Math.max(0, x)), Math.min(HIGH, Math.max(0, y))];
      const nearest = (event, reach = event.pointerType === "touch" ? 0.17 : 0.1) => {
        const [x, y] = place(event), d2 = this.points.map(point => (x - point[0]) ** 2 + (y - point[1]) ** 2), least = Math.min(...d2);
        return least < reach ** 2 ? d2.indexOf(least) : -1;
      };
      this.canvas.addEventListener("pointerdown", event => {
        this.chosen = nearest(event);
        this.dragging = this.chosen >= 0;
        if (this.dragging) this.canvas.setPointerCapture(event.pointerId);
        this.paint();
      });
      this.canvas.addEventListener("touchstart", event => { // a finger on a point drags it, any other scrolls the page
        if (nearest(event.touches[0], 0.17) >= 0) event.preventDefault();
      }, {passive: false});
      this.canvas.addEventListener("click", event => {
        if (this.chosen >= 0) return;
        this.chosen = this.points.push(place(event)) - 1;
        this.restart();
      });
      this.canvas.addEventListener("pointermove", event => {
        if (!this.dragging) {
          this.canvas.style.cursor = nearest(event) < 0 ? "copy" : "grab";
          return;
        }
        this.points[this.chosen] = inside(place(event));
        this.follow();
      });
      for (const end of ["pointerup", "pointercancel"]) this.canvas.addEventListener(end, () => { this.dragging = false; });
      this.canvas.addEventListener("keydown", event => {
        const steps = {ArrowLeft: [-0.05, 0], ArrowRight: [0.05, 0], ArrowUp: [0, -0.05], ArrowDown: [0, 0.05]}[event.key];
        if (event.key === " ") this.chosen = (this.chosen + 1) % this.points.length;
        else if (!steps || this.chosen < 0) return;
        else this.points[this.chosen] = inside(this.points[this.chosen].map((v, k) => v + steps[k]));
        event.preventDefault();
        steps ? this.follow() : this.paint();
      });
      new ResizeObserver(() => this.engine.points && this.paint()).observe(this.canvas);
      new MutationObserver(() => this.paint()).observe(document.body, {attributes: true, attributeFilter: ["data-theme"]});
      matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.paint());
    }
  }

  addEventListener("DOMContentLoaded", () => {
    for (const place of document.querySelectorAll(".live"))
      CMeansLive.load().then(engine => new Figure(place, engine), () => place.classList.add("live-not"));
  });
})();
