"use strict";
// Static pictures that zoom, tables, and rows shown as images: EigenliftFigures.

const EigenliftFigures = (() => {
  const clamp = (value, lo, hi) => Math.min(Math.max(value, lo), hi);

  function made(name, className, text) {
    const element = document.createElement(name);
    if (className) element.className = className;
    if (text !== undefined) element.textContent = text;
    return element;
  }

  /** A text for a cell: numbers get about five digits that count. */
  function cellText(value, digits = 5) {
    if (typeof value !== "number") return value === null || value === undefined ? "" : String(value);
    if (!Number.isFinite(value)) return Number.isNaN(value) ? "not a number" : value > 0 ? "∞" : "−∞";
    if (Number.isInteger(value) && Math.abs(value) < 1e15) return String(value).replace("-", "−");
    const size = Math.abs(value);
    const text = size >= 1e6 || size < 1e-4 ? value.toExponential(digits - 1).replace("e+", "e") : String(Number(value.toPrecision(digits)));
    return text.replace(/-/g, "−");
  }

  const isNumber = (value) => typeof value === "number" || (typeof value === "string" && /^[\s]*[−+-]?(\d|∞|\.\d)[\d.,]*(e[−+-]?\d+)?\s*%?$/i.test(value));

  /** Whether every cell of a column that says something is a number. */
  function numberColumns(count, rows) {
    return Array.from({ length: count }, (_, j) => {
      const said = rows.map((row) => row[j]).filter((v) => v !== null && v !== undefined && v !== "");
      return said.length > 0 && said.every(isNumber);
    });
  }

  /**
   * Fills an element with a table.
   * @param options {caption, digits, most: rows shown, rowHeadings: first column names its row}
   */
  function table(element, names, rows, options = {}) {
    const shown = rows.slice(0, options.most ?? 1000);
    const right = numberColumns(names.length, shown);
    const cell = (kind, value, j) => made(kind, right[j] ? "number" : "", cellText(value, options.digits));
    const grid = made("table");
    if (options.caption) grid.append(made("caption", "", options.caption));
    const head = made("tr");
    names.forEach((name, j) => {
      const heading = cell("th", String(name), j);
      heading.scope = "col";
      head.append(heading);
    });
    const top = made("thead");
    top.append(head);
    const body = made("tbody");
    for (const row of shown) {
      const line = made("tr");
      names.forEach((_, j) => line.append(cell(options.rowHeadings && j === 0 ? "th" : "td", row[j], j)));
      body.append(line);
    }
    grid.append(top, body);
    const scroll = made("div", "scroll");
    scroll.tabIndex = 0;
    scroll.setAttribute("role", "region");
    scroll.setAttribute("aria-label", options.caption || "Table");
    scroll.append(grid);
    element.replaceChildren(scroll);
    if (shown.length < rows.length) element.append(made("p", "faint", `${rows.length - shown.length} more rows are not shown.`));
    return grid;
  }

  /** The smallest and largest finite number of a row. */
  function extent(values) {
    let [lo, hi] = [Infinity, -Infinity];
    for (const v of values) {
      if (Number.isFinite(v)) [lo, hi] = [Math.min(lo, v), Math.max(hi, v)];
    }
    return lo <= hi ? [lo, hi] : [0, 1];
  }

  /** Draws a row as a grey image, dark for large numbers; one cell is one pixel of the canvas. */
  function image(canvas, values, height, width, options = {}) {
    const [lo, hi] = options.range || extent(values);
    canvas.width = width;
    canvas.height = height;
    canvas.classList.add("row-image");
    const scale = options.scale ?? Math.max(1, Math.floor((options.side ?? 96) / Math.max(width, height)));
    canvas.style.width = `${width * scale}px`;
    canvas.style.height = `${height * scale}px`;
    const pen = canvas.getContext("2d");
    const pixels = pen.createImageData(width, height);
    for (let k = 0; k < width * height; k += 1) {
      const share = clamp((values[k] - lo) / (hi - lo || 1), 0, 1);
      const grey = Number.isFinite(share) ? Math.round(255 * (1 - share)) : 255;
      pixels.data.set([grey, grey, grey, 255], 4 * k);
    }
    pen.putImageData(pixels, 0, 0);
    return canvas;
  }

  /** The part of a picture that is seen, and how it changes. */
  function lens(svg, changed) {
    const base = svg.viewBox.baseVal;
    const given = base && base.width > 0 ? [base.x, base.y, base.width, base.height] : [0, 0, svg.width.baseVal.value || 100, svg.height.baseVal.value || 100];
    let box = [...given];
    const show = (next) => {
      const size = [clamp(next[2], given[2] / 40, given[2]), clamp(next[3], given[3] / 40, given[3])];
      const corner = [0, 1].map((k) => clamp(next[k], given[k], given[k] + given[k + 2] - size[k]));
      box = [...corner, ...size];
      svg.setAttribute("viewBox", box.map((v) => Number(v.toFixed(4))).join(" "));
      changed(box[2] < given[2] * 0.999);
    };
    /** Zooms about a place given as shares of the width and height shown. */
    const zoom = (factor, u = 0.5, v = 0.5) => {
      const k = clamp(1 / factor, given[2] / 40 / box[2], given[2] / box[2]);
      show([box[0] + u * box[2] * (1 - k), box[1] + v * box[3] * (1 - k), box[2] * k, box[3] * k]);
    };
    const pan = (u, v) => show([box[0] - u * box[2], box[1] - v * box[3], box[2], box[3]]);
    return { zoom, pan, reset: () => show([...given]) };
  }

  function keys(element, view) {
    const actions = {
      "+": () => view.zoom(1.25), "=": () => view.zoom(1.25), "-": () => view.zoom(0.8), "−": () => view.zoom(0.8),
      "0": () => view.reset(),
      ArrowLeft: () => view.pan(0.1, 0), ArrowRight: () => view.pan(-0.1, 0),
      ArrowUp: () => view.pan(0, 0.1), ArrowDown: () => view.pan(0, -0.1),
    };
    element.addEventListener("keydown", (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey || !actions[event.key]) return;
      event.preventDefault();
      actions[event.key]();
    });
  }

  function pointer(element, svg, view) {
    const held = new Map();
    const share = (event) => {
      const box = svg.getBoundingClientRect();
      return [(event.clientX - box.left) / (box.width || 1), (event.clientY - box.top) / (box.height || 1)];
    };
    const apart = () => {
      const [a, b] = [...held.values()];
      return Math.hypot(a[0] - b[0], a[1] - b[1]) || 1e-6;
    };
    element.addEventListener("wheel", (event) => {
      event.preventDefault();
      const unit = event.deltaMode === 1 ? 16 : 1;
      view.zoom(Math.exp(-clamp(event.deltaY * unit, -240, 240) * 0.0016), ...share(event));
    }, { passive: false });
    element.addEventListener("pointerdown", (event) => {
      if (event.button > 0) return;
      held.set(event.pointerId, share(event));
      try { element.setPointerCapture(event.pointerId); } catch { /* a pointer made by a script */ }
    });
    element.addEventListener("pointermove", (event) => {
      const last = held.get(event.pointerId);
      if (!last) return;
      const now = share(event);
      const before = held.size > 1 ? apart() : 0;
      held.set(event.pointerId, now);
      if (held.size > 1) view.zoom(apart() / before, ...now);
      else view.pan(now[0] - last[0], now[1] - last[1]);
    });
    for (const name of ["pointerup", "pointercancel"]) {
      element.addEventListener(name, (event) => held.delete(event.pointerId));
    }
    element.addEventListener("dblclick", () => view.reset());
  }

  function tools(view) {
    const bar = made("div", "figure-tools");
    const button = (text, name, act) => {
      const element = made("button", "", text);
      element.type = "button";
      element.setAttribute("aria-label", name);
      element.addEventListener("click", act);
      bar.append(element);
    };
    button("+", "Zoom in", () => view.zoom(1.4));
    button("−", "Zoom out", () => view.zoom(1 / 1.4));
    button("reset", "Show the whole picture", () => view.reset());
    return bar;
  }

  /** Makes the one inline svg of a div with class "figure" zoom and pan. Calling it again does nothing. */
  function zoomable(div) {
    const svg = div.querySelector("svg");
    if (!svg || svg.closest(".picture")) return;
    const picture = made("div", "picture");
    svg.replaceWith(picture);
    picture.append(svg);
    picture.tabIndex = 0;
    picture.setAttribute("role", "group");
    const title = svg.querySelector("title")?.textContent;
    picture.setAttribute("aria-label", `${title || "Picture"}; plus and minus zoom, arrows move, 0 shows all`);
    const view = lens(svg, (zoomed) => picture.classList.toggle("zoomed", zoomed));
    keys(picture, view);
    pointer(picture, svg, view);
    picture.after(tools(view));
  }

  return { zoomable, table, image, cellText };
})();
