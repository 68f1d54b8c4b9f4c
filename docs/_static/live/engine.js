/* Clusterings of points of the plane by the library's own sweeps, compiled to WebAssembly (library.js). A browser or node runs this. */
"use strict";

globalThis.CMeansLive = (() => {
  const RULES = ["hard", "fuzzy", "possibilistic", "entropy", "noise"];
  const MOST_SWEEPS = 300, AT_REST = 1e-10;
  let compiled;

  /* The library's code, unpacked and compiled once for all figures of a page. */
  async function code() {
    const packed = Uint8Array.from(atob(globalThis.CMeansLibrary), letter => letter.charCodeAt(0));
    const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
    return WebAssembly.compile(await new Response(stream).arrayBuffer());
  }

  async function load() {
    compiled ??= code();
    return new Clustering((await WebAssembly.instantiate(await compiled, {})).exports);
  }

  /* method: {rule, softness (m, or the temperature), noise, gamma (0: no kernel), width (of possibilistic clusters)} */
  class Clustering {
    constructor(library) { this.library = library; }

    numbers(place, count) { return new Float64Array(this.library.memory.buffer, place, count); }

    /* Points [[x, y], ...]; the centres begin at the points whose numbers are given. */
    begin(points, seeds, method) {
      Object.assign(this, {points, method, clusters: seeds.length, sweeps: 0, objective: Infinity, piloting: method.rule === "possibilistic"});
      const place = this.library.begin(points.length, this.clusters, method.gamma || 0);
      this.numbers(place, 2 * points.length).set(points.flat());
      this.library.represent();
      seeds.forEach((point, j) => this.library.put(j, point));
    }

    /* The same clusters for points that have moved: each centre goes on from what its points weigh. */
    follow(points, method) {
      const basis = method.gamma ? this.points.length : 2, same = points.length === this.points.length && !this.method.gamma === !method.gamma;
      if (!same) return false;
      const centres = this.numbers(this.library.centres(), this.clusters * basis).slice();
      this.begin(points, Array(this.clusters).fill(0), method);
      this.numbers(this.library.centres(), centres.length).set(centres);
      this.library.measure();
      return true;
    }

    /* One sweep; false once nothing moves any more. Possibilistic clusters have their widths from a fuzzy run that goes first. */
    sweep() {
      const {rule, softness, noise = 0, width = 1, tol = AT_REST} = this.method, before = this.objective;
      const now = RULES.indexOf(this.piloting ? "fuzzy" : rule);
      this.objective = this.library.sweep(now, softness, noise);
      this.sweeps++;
      const goesOn = this.sweeps < MOST_SWEEPS && !(Math.abs(before - this.objective) <= tol * Math.abs(this.objective));
      if (goesOn || !this.piloting) return goesOn;
      this.library.set_scales(width);
      Object.assign(this, {piloting: false, sweeps: 0, objective: Infinity});
      return true;
    }

    settle() { while (this.sweep()) {} }

    /* Memberships (rows of c) and labels of any points, by default the figure's own. */
    memberships(points = this.points) {
      const n = points.length, c = this.clusters, place = this.library.room(n);
      this.numbers(place, 2 * n).set(points.flat());
      const rule = RULES.indexOf(this.piloting ? "fuzzy" : this.method.rule);
      const found = this.numbers(this.library.assign(place, n, rule, this.method.softness, this.method.noise || 0), n * (c + 1));
      return {memberships: found.slice(0, n * c), labels: Array.from(found.subarray(n * c))};
    }

    /* Where the centres are in the plane; of a kernel they are nowhere in it. */
    centres() {
      if (this.method.gamma) return [];
      const values = this.numbers(this.library.centres(), 2 * this.clusters);
      return Array.from({length: this.clusters}, (_, j) => [values[2 * j], values[2 * j + 1]]);
    }
  }

  return {load, RULES};
})();
