/* Points on a canvas. A page may hold 100,000 of them and a notebook twenty pages, so points are
   blended into the pixels of an image here, which takes some hundredths of a second without WebGL. */

const EDGE = { left: 64, right: 12, top: 12, bottom: 40 };

function rgb(hex) { return [1, 3, 5].map(at => parseInt(hex.slice(at, at + 2), 16)); }

function themeColour(name) {
  return getComputedStyle(document.documentElement).getPropertyValue("--" + name).trim();
}

/* Coverage of the pixels of a disc, 0 to 256, at the middle of a square. */
function stampOf(radius) {
  const reach = Math.ceil(radius), side = 2 * reach + 1, cover = new Uint16Array(side * side);
  for (let y = -reach; y <= reach; y++) {
    for (let x = -reach; x <= reach; x++) {
      const inside = radius + 0.5 - Math.hypot(x, y);
      cover[(y + reach) * side + x + reach] = 256 * Math.max(0, Math.min(1, inside));
    }
  }
  return { reach, side, cover };
}

class Raster {
  constructor(width, height, back) {
    this.width = width;
    this.height = height;
    this.image = new ImageData(width, height);
    new Uint32Array(this.image.data.buffer).fill(0xff000000 | back[2] << 16 | back[1] << 8 | back[0]);
  }

  /* Blend a disc of one colour; `alpha` from 0 to 256. */
  put(x, y, stamp, [red, green, blue], alpha) {
    const { reach, side, cover } = stamp, { width, height } = this, data = this.image.data;
    const left = Math.round(x) - reach, top = Math.round(y) - reach;
    if (left < 0 || top < 0 || left + side > width || top + side > height) return;
    for (let b = 0; b < side; b++) {
      let at = 4 * ((top + b) * width + left);
      for (let a = 0; a < side; a++, at += 4) {
        const part = cover[b * side + a] * alpha >> 8;
        if (part === 0) continue;
        data[at] += (red - data[at]) * part >> 8;
        data[at + 1] += (green - data[at + 1]) * part >> 8;
        data[at + 2] += (blue - data[at + 2]) * part >> 8;
      }
    }
  }

  /* Shade squares by how many points lie in each, in logarithms. */
  shade(counts, across, size, colour) {
    const most = Math.log1p(counts.reduce((a, b) => Math.max(a, b), 1)), data = this.image.data;
    for (let y = 0; y < this.height; y++) {
      for (let x = 0; x < this.width; x++) {
        const count = counts[Math.floor(y / size) * across + Math.floor(x / size)];
        if (count === 0) continue;
        const part = 30 + 120 * Math.log1p(count) / most, at = 4 * (y * this.width + x);
        for (let k = 0; k < 3; k++) data[at + k] += (colour[k] - data[at + k]) * part >> 8;
      }
    }
  }
}

/* Round numbers at which an axis from low to high has a line. */
function ticks(low, high, count) {
  const rough = (high - low) / count, power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map(k => k * power).find(one => one >= rough), found = [];
  for (let at = Math.ceil(low / step) * step; at <= high; at += step) found.push(Math.abs(at) < step / 1e6 ? 0 : at);
  return found;
}

/* An order of the rows that is the same each time and has nothing to do with their own, so that no
   cluster lies on top of the others. */
function shuffled(count) {
  const order = Uint32Array.from({ length: count }, (_, i) => i);
  let seed = 1;
  for (let i = count - 1; i > 0; i--) {
    seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0;
    const j = seed % (i + 1);
    [order[i], order[j]] = [order[j], order[i]];
  }
  return order;
}

function extent(values) {
  let low = Infinity, high = -Infinity;
  for (let i = 0; i < values.length; i++) {
    if (values[i] < low) low = values[i];
    if (values[i] > high) high = values[i];
  }
  return high > low ? [low, high] : Number.isFinite(low) ? [low - 1, low + 1] : [0, 1];
}
