"use strict";
// Finding points: the nearest to a place, and all inside a lasso, by a grid of cells.

EigenliftPoints.parts.index = (() => {
  /** The range that holds all but the outermost hundredth of a sample; outliers share the outer cells. */
  function core(values, order, n) {
    const sample = [];
    const step = Math.max(1, Math.floor(n / 2000));
    for (let k = 0; k < n; k += step) sample.push(values[order[k]]);
    sample.sort((a, b) => a - b);
    const at = (share) => sample[Math.min(sample.length - 1, Math.floor(share * sample.length))];
    const [lo, hi] = [at(0.01), at(0.99)];
    return hi > lo ? [lo, hi] : [sample[0], sample[sample.length - 1]];
  }

  /**
   * Points sorted by cell. Cost: two passes over n points.
   * @returns {{nearest: function, inside: function, finite: number}}
   */
  function build(x, y) {
    const finite = new Uint32Array(x.length);
    let n = 0;
    for (let i = 0; i < x.length; i += 1) if (x[i] - x[i] === 0 && y[i] - y[i] === 0) finite[n++] = i;
    if (n === 0) return { finite: 0, nearest: () => -1, inside: () => new Uint32Array(0) };
    const side = Math.min(Math.max(Math.ceil(Math.sqrt(n / 2)), 1), 1024);
    const [x0, x1] = core(x, finite, n);
    const [y0, y1] = core(y, finite, n);
    const width = (x1 - x0) / side || 1;
    const height = (y1 - y0) / side || 1;
    const place = (value, start, step) => Math.min(Math.max(Math.floor((value - start) / step), 0), side - 1);
    const start = new Uint32Array(side * side + 1);
    const cell = new Uint32Array(n);
    for (let k = 0; k < n; k += 1) {
      const i = finite[k];
      cell[k] = place(y[i], y0, height) * side + place(x[i], x0, width);
      start[cell[k] + 1] += 1;
    }
    for (let c = 0; c < side * side; c += 1) start[c + 1] += start[c];
    const next = start.slice();
    const order = new Uint32Array(n);
    for (let k = 0; k < n; k += 1) order[next[cell[k]]++] = finite[k];
    const grid = { x, y, side, x0, y0, width, height, place, start, order };
    return {
      finite: n,
      nearest: (query) => nearest(grid, query),
      inside: (polygon, shown) => inside(grid, polygon, shown),
    };
  }

  /**
   * The nearest shown point within a reach, or −1. Distances are in pixels: sx and sy are pixels for one
   * unit of each axis. Rings of cells are searched outwards until no nearer point can follow.
   */
  function nearest(grid, { px, py, sx, sy, reach, shown }) {
    const column = grid.place(px, grid.x0, grid.width);
    const row = grid.place(py, grid.y0, grid.height);
    const best = { i: -1, distance: reach * reach };
    const step = Math.min(grid.width * sx, grid.height * sy);
    for (let ring = 0; ring < grid.side; ring += 1) {
      if (ring > 1 && ((ring - 1) * step) ** 2 > best.distance) break;
      for (let r = row - ring; r <= row + ring; r += 1) {
        if (r < 0 || r >= grid.side) continue;
        const edge = r === row - ring || r === row + ring;
        for (let c = column - ring; c <= column + ring; c += edge || ring === 0 ? 1 : 2 * ring) {
          if (c >= 0 && c < grid.side) searchCell(grid, r * grid.side + c, { px, py, sx, sy, shown }, best);
        }
      }
    }
    return best.i;
  }

  function searchCell(grid, c, { px, py, sx, sy, shown }, best) {
    for (let k = grid.start[c]; k < grid.start[c + 1]; k += 1) {
      const i = grid.order[k];
      const dx = (grid.x[i] - px) * sx;
      const dy = (grid.y[i] - py) * sy;
      const distance = dx * dx + dy * dy;
      if (distance <= best.distance && shown(i)) {
        best.distance = distance;
        best.i = i;
      }
    }
  }

  /** Edges of a polygon by horizontal bands, so that a point meets only a few of them. */
  function bands(polygon, y0, y1) {
    const count = 256;
    const step = (y1 - y0) / count || 1;
    const lists = Array.from({ length: count }, () => []);
    const band = (y) => Math.min(Math.max(Math.floor((y - y0) / step), 0), count - 1);
    polygon.forEach(([ax, ay], k) => {
      const [bx, by] = polygon[(k + 1) % polygon.length];
      for (let b = band(Math.min(ay, by)); b <= band(Math.max(ay, by)); b += 1) lists[b].push([ax, ay, bx, by]);
    });
    return (y) => lists[band(y)];
  }

  /** Shown points inside a polygon of data coordinates (even-odd rule), in increasing order. */
  function inside(grid, polygon, shown) {
    if (polygon.length < 3) return new Uint32Array(0);
    const xs = polygon.map((p) => p[0]);
    const ys = polygon.map((p) => p[1]);
    const [lx, hx, ly, hy] = [Math.min(...xs), Math.max(...xs), Math.min(...ys), Math.max(...ys)];
    const edges = bands(polygon, ly, hy);
    const within = (px, py) => {
      let odd = false;
      for (const [ax, ay, bx, by] of edges(py)) {
        if (ay > py !== by > py && px < ax + ((py - ay) * (bx - ax)) / (by - ay)) odd = !odd;
      }
      return odd;
    };
    const found = [];
    const [c0, c1] = [grid.place(lx, grid.x0, grid.width), grid.place(hx, grid.x0, grid.width)];
    const [r0, r1] = [grid.place(ly, grid.y0, grid.height), grid.place(hy, grid.y0, grid.height)];
    for (let r = r0; r <= r1; r += 1) {
      for (let k = grid.start[r * grid.side + c0]; k < grid.start[r * grid.side + c1 + 1]; k += 1) {
        const i = grid.order[k];
        const [px, py] = [grid.x[i], grid.y[i]];
        if (px >= lx && px <= hx && py >= ly && py <= hy && shown(i) && within(px, py)) found.push(i);
      }
    }
    return Uint32Array.from(found).sort();
  }

  return { build };
})();
