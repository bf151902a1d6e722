"use strict";
// A scatter of up to a million points in an element: EigenliftPoints.create(container, options).

EigenliftPoints.create = (() => {
  const { look, axes, index, draw, input, legend } = EigenliftPoints.parts;
  /** Pixels between the pointer and a point that is still found. */
  const REACH = 14;
  const MOST_RINGS = 5000;
  const NO_INDICES = new Uint32Array(0);

  function layer(container, name) {
    const made = document.createElement(name);
    made.style.position = "absolute";
    if (name === "canvas") Object.assign(made.style, { left: "0", top: "0", width: "100%", height: "100%" });
    container.append(made);
    return made;
  }

  /** The canvases from back to front, the note beside the pointer and what a screen reader says. */
  function layers(container, options) {
    const [back, points, front] = ["canvas", "canvas", "canvas"].map((name) => layer(container, name));
    for (const canvas of [back, points]) canvas.setAttribute("aria-hidden", "true");
    front.tabIndex = 0;
    front.className = "points-front";
    front.setAttribute("role", "application");
    front.setAttribute("aria-roledescription", "scatter plot");
    front.setAttribute("aria-label", options.ariaLabel || "Scatter plot");
    const tip = layer(container, "div");
    tip.className = "points-tip";
    tip.hidden = true;
    const voice = layer(container, "div");
    voice.className = "unseen";
    voice.setAttribute("aria-live", "polite");
    return { back, points, front, tip, voice };
  }

  /** A renderer on the canvas; a canvas that failed with WebGL is replaced, since it is lost for 2D. */
  function renderer(screen, options, redraw) {
    if (options.renderer !== "canvas") {
      const made = draw.webgl(screen.points, redraw);
      if (made) return made;
      const fresh = screen.points.cloneNode();
      screen.points.replaceWith(fresh);
      screen.points = fresh;
    }
    return draw.plain(screen.points);
  }

  /** Coordinates scaled to −1…1. Why: single precision then serves data of every size and offset. */
  function scaled(values) {
    const [lo, hi] = look.extent(values);
    const middle = lo / 2 + hi / 2;
    const half = hi / 2 - lo / 2 || 1;
    const out = new Float32Array(values.length);
    for (let i = 0; i < values.length; i += 1) out[i] = (values[i] - middle) / half;
    return { lo, hi, middle, half, values: out };
  }

  function colored(color, before) {
    if (!color || color.kind === "none") return { kind: "none" };
    if (color.kind === "values") return { ...color, range: look.extent(color.values) };
    const made = { ...color, ...look.classLooks(color.names, color.codes) };
    const names = (c) => c.looks.map((l) => l.name).join("\n");
    if (before.kind === "classes" && names(before) === names(made)) {
      made.looks.forEach((l, k) => { l.shown = before.looks[k].shown; });
    }
    return made;
  }

  /** Red, green, blue and mark of each point; see points-draw.js. */
  function marks(state, dark) {
    const { n, color, x, y, chosen } = state;
    const out = new Uint8Array(4 * n);
    const other = look.channels(look.OTHER);
    const plain = look.channels(dark ? 0x56b4e9 : 0x0072b2);
    const table = color.kind === "values" ? look.rampTable(dark) : null;
    const looks = color.kind === "classes" ? color.looks.map((l) => look.onPaper(l.hex, dark)) : null;
    const span = color.kind === "values" ? color.range[1] - color.range[0] || 1 : 1;
    for (let i = 0; i < n; i += 1) {
      if (x[i] - x[i] !== 0 || y[i] - y[i] !== 0) continue;
      let [rgb, from, shape] = [plain, 0, 0];
      if (looks) {
        const k = color.place[color.codes[i]];
        const own = color.looks[k];
        if (own && !own.shown) continue;
        rgb = looks[k] || other;
        shape = own ? own.shape : 0;
      } else if (table) {
        const t = (color.values[i] - color.range[0]) / span;
        if (t - t === 0) [rgb, from] = [table, 3 * Math.round(255 * t)];
        else rgb = other;
      }
      out[4 * i] = rgb[from];
      out[4 * i + 1] = rgb[from + 1];
      out[4 * i + 2] = rgb[from + 2];
      out[4 * i + 3] = 1 + shape + (chosen && !chosen[i] ? draw.DIM : 0);
    }
    return out;
  }

  class Plot {
    constructor(container, options) {
      this.container = container;
      this.options = options;
      this.screen = layers(container, options);
      this.renderer = renderer(this.screen, options, () => this.request(true));
      this.state = { n: 0, x: new Float32Array(0), y: new Float32Array(0), color: { kind: "none" }, chosen: null };
      this.view = [0, 1, 0, 1];
      this.kept = { mode: "pan", hovered: -1, selected: NO_INDICES, rings: NO_INDICES, cursor: null, lasso: null };
      this.size = { width: 0, height: 0, ratio: 1 };
      this.pace = EigenliftPoints.parts.paint.pace(() => this.request(true));
      this.atHome = true;
      this.legends = [];
      this.index = index.build(this.state.x, this.state.y);
      this.scale = { x: scaled(this.state.x), y: scaled(this.state.y) };
      this.labels = { x: "", y: "" };
      this.marks = new Uint8Array(0);
      this.observer = new ResizeObserver(() => this.resize());
      this.observer.observe(container);
      this.endTheme = look.onTheme(() => this.recolor());
      input.attach(this, this.screen.front);
      this.resize();
    }

    mode() { return this.kept.mode; }

    setData(data) {
      const same = data.x.length === this.state.n && data.keepSelection;
      this.state = {
        n: data.x.length, x: data.x, y: data.y,
        color: colored(data.color, this.state.color),
        chosen: same ? this.state.chosen : null,
      };
      this.scale = { x: scaled(data.x), y: scaled(data.y) };
      this.labels = { x: data.xLabel || "", y: data.yLabel || "" };
      // Labels are part of it, also where the view is kept.
      this.frame = null;
      this.equal = Boolean(data.equal);
      this.index = index.build(data.x, data.y);
      this.renderer.upload(this.scale.x.values, this.scale.y.values);
      if (!same) Object.assign(this.kept, { selected: NO_INDICES, rings: NO_INDICES });
      this.hover(-1);
      if (!data.keepView || !this.had) this.reset();
      this.had = true;
      this.recolor();
    }

    recolor() {
      const dark = look.isDark();
      this.marks = marks(this.state, dark);
      this.renderer.paint(this.marks);
      for (const element of this.legends) this.fillLegend(element, dark);
      this.colors = null;
      this.request(true);
    }

    fillLegend(element, dark) {
      legend.fill(element, this.state.color, dark, (k) => {
        const own = this.state.color.looks[k];
        own.shown = !own.shown;
        this.hover(-1);
        this.recolor();
        this.options.onToggle?.(this.kept.selected);
      });
    }

    resize() {
      const { clientWidth: width, clientHeight: height } = this.container;
      if (width === 0 || height === 0) return;
      const ratio = Math.min(window.devicePixelRatio || 1, 3);
      this.size = { width, height, ratio };
      for (const canvas of [this.screen.back, this.screen.points, this.screen.front]) {
        canvas.width = Math.max(1, Math.round(width * ratio));
        canvas.height = Math.max(1, Math.round(height * ratio));
      }
      if (this.atHome) this.reset();
      else if (this.equal) this.setView(this.evened(this.view));
      this.request(true);
      this.paint();
    }

    /** The range of the data with a little room. */
    home() {
      const range = ({ lo, hi }) => {
        const room = 0.04 * (hi - lo) || 0.1 * Math.abs(lo) || 1;
        return [lo - room, hi + room];
      };
      return this.evened([...range(this.scale.x), ...range(this.scale.y)]);
    }

    /** Widens one axis so that a unit is equally long on both. */
    evened(view) {
      if (!this.equal) return view;
      const box = this.box(view);
      if (box.width < 1 || box.height < 1) return view;
      const unit = Math.max((view[1] - view[0]) / box.width, (view[3] - view[2]) / box.height);
      const around = (lo, hi, length) => [(lo + hi - unit * length) / 2, (lo + hi + unit * length) / 2];
      return [...around(view[0], view[1], box.width), ...around(view[2], view[3], box.height)];
    }

    box(view = this.view) {
      const pen = this.screen.back.getContext("2d");
      pen.font = `12px ${(this.colors ||= axes.colors(this.container)).font}`;
      const has = { x: this.labels.x !== "", y: this.labels.y !== "" };
      const m = axes.margins(pen, this.size, view, has);
      const { width, height } = this.size;
      return { left: m.left, top: m.top, width: Math.max(0, width - m.left - m.right), height: Math.max(0, height - m.top - m.bottom) };
    }

    reset() {
      this.setView(this.home());
      this.atHome = true;
      this.touch();
    }

    setView(view) {
      if (view.every(Number.isFinite) && view[1] > view[0] && view[3] > view[2]) this.view = view;
      this.atHome = false;
      this.frame = null;
      this.touch();
      this.request(true);
    }

    /** A finger scrolls the page over a picture at rest and moves a picture that was zoomed. */
    touch() {
      const rest = this.atHome && this.kept.mode === "pan";
      this.screen.front.style.touchAction = rest ? "pan-y" : "none";
    }

    place() {
      if (this.frame) return this.frame;
      const [box, view] = [this.box(), this.view];
      const [sx, sy] = [box.width / (view[1] - view[0]), box.height / (view[3] - view[2])];
      this.frame = {
        box, view, sx, sy, ...this.size, labels: this.labels,
        px: (x) => box.left + (x - view[0]) * sx,
        py: (y) => box.top + (view[3] - y) * sy,
      };
      return this.frame;
    }

    toPixel(x, y) {
      const frame = this.place();
      return [frame.px(x), frame.py(y)];
    }

    toData(px, py) {
      const { box, view, sx, sy } = this.place();
      return [view[0] + (px - box.left) / sx, view[3] - (py - box.top) / sy];
    }

    panBy(dx, dy) {
      const { sx, sy } = this.place();
      const [x0, x1, y0, y1] = this.view;
      this.pace.moved();
      this.setView([x0 - dx / sx, x1 - dx / sx, y0 + dy / sy, y1 + dy / sy]);
    }

    zoomAt(factor, px, py) {
      const { box } = this.place();
      const [x, y] = this.toData(px ?? box.left + box.width / 2, py ?? box.top + box.height / 2);
      const home = this.home();
      const share = (this.view[1] - this.view[0]) / (home[1] - home[0]);
      const shrink = Math.min(Math.max(1 / factor, 1e-5 / share), 50 / share);
      const [x0, x1, y0, y1] = this.view;
      this.pace.moved();
      this.setView([x + (x0 - x) * shrink, x + (x1 - x) * shrink, y + (y0 - y) * shrink, y + (y1 - y) * shrink]);
    }

    shown(i) { return this.marks[4 * i + 3] !== 0; }

    nearest([px, py]) {
      const { sx, sy } = this.place();
      const [x, y] = this.toData(px, py);
      return this.index.nearest({ px: x, py: y, sx, sy, reach: REACH, shown: (i) => this.shown(i) });
    }

    hoverAt(at) { this.hover(this.nearest(at)); }

    hover(i) {
      if (i === this.kept.hovered) return;
      this.kept.hovered = i;
      this.screen.front.style.cursor = i >= 0 && this.options.onClick ? "pointer" : this.kept.mode === "pan" ? "grab" : "crosshair";
      this.options.onHover?.(i);
      this.request(false);
    }

    /** The next or previous point that is shown, for the keyboard. */
    walk(step) {
      const { n } = this.state;
      let i = this.kept.hovered < 0 && step < 0 ? n : this.kept.hovered;
      for (let tried = 0; tried < n; tried += 1) {
        i = (i + step + n) % n;
        if (this.shown(i)) return this.focusPoint(i);
      }
      return undefined;
    }

    focusPoint(i) {
      const [x, y] = [this.state.x[i], this.state.y[i]];
      if (!(x - x === 0 && y - y === 0)) return;
      const [x0, x1, y0, y1] = this.view;
      if (x < x0 || x > x1 || y < y0 || y > y1) {
        const [w, h] = [(x1 - x0) / 2, (y1 - y0) / 2];
        this.setView([x - w, x + w, y - h, y + h]);
      }
      this.hover(i);
      const text = this.options.label?.(i);
      const lines = text instanceof Element ? Array.from(text.children, (child) => child.textContent) : [].concat(text ?? []);
      this.screen.voice.textContent = lines.filter(Boolean).join(", ");
    }

    click(at) {
      const i = this.nearest(at);
      this.hover(i);
      if (i >= 0) this.options.onClick?.(i);
      else if (this.kept.mode === "select") this.choose(NO_INDICES);
    }

    clickHovered() { if (this.kept.hovered >= 0) this.options.onClick?.(this.kept.hovered); }

    toggleHovered() {
      const i = this.kept.hovered;
      if (i < 0 || !this.options.onSelect) return;
      const others = this.kept.selected.filter((k) => k !== i);
      const had = others.length < this.kept.selected.length;
      this.choose(had ? others : Uint32Array.from([...others, i]).sort());
    }

    escape() {
      this.hover(-1);
      this.choose(NO_INDICES);
    }

    select(lasso) {
      const polygon = lasso.map(([px, py]) => this.toData(px, py));
      this.choose(this.index.inside(polygon, (i) => this.shown(i)));
    }

    choose(indices) {
      if (indices.length === 0 && this.kept.selected.length === 0) return;
      this.kept.selected = indices;
      this.state.chosen = null;
      if (indices.length) {
        this.state.chosen = new Uint8Array(this.state.n);
        for (const i of indices) this.state.chosen[i] = 1;
      }
      this.recolor();
      this.options.onSelect?.(indices);
    }

    showLasso(lasso) {
      this.kept.lasso = lasso;
      this.request(false);
    }

    moveProbe(at, phase) {
      this.kept.cursor = at;
      this.options.onProbe?.({ ...at, phase });
      this.request(false);
    }

    stepProbe(dx, dy, phase = "move") {
      const [x0, x1, y0, y1] = this.view;
      const from = this.kept.cursor || { x: (x0 + x1) / 2, y: (y0 + y1) / 2 };
      this.moveProbe({ x: from.x + (dx * (x1 - x0)) / 50, y: from.y + (dy * (y1 - y0)) / 50 }, phase);
    }

    /** Draws with the next frame of the screen; `all` also draws axes and points. */
    request(all) {
      this.dirty = this.dirty || all;
      this.waiting ||= requestAnimationFrame(() => {
        this.waiting = 0;
        this.paint();
      });
    }

    paint() {
      const frame = this.place();
      const color = (this.colors ||= axes.colors(this.container));
      if (this.dirty) {
        EigenliftPoints.parts.paint.points(this, frame, color);
        this.pace.drawn(this.state.n);
      }
      this.dirty = false;
      EigenliftPoints.parts.paint.front(this, frame, color);
    }

    /** The picture as one canvas, for paper. Why drawn anew: WebGL forgets a frame once it was shown. */
    snapshot() {
      this.dirty = true;
      this.paint();
      const sheet = document.createElement("canvas");
      const { back, points, front } = this.screen;
      [sheet.width, sheet.height] = [back.width, back.height];
      const pen = sheet.getContext("2d");
      for (const canvas of [back, points, front]) pen.drawImage(canvas, 0, 0);
      return sheet;
    }

    destroy() {
      cancelAnimationFrame(this.waiting);
      this.pace.end();
      this.waiting = -1;
      this.observer.disconnect();
      this.endTheme();
      this.renderer.destroy();
      for (const element of Object.values(this.screen)) element.remove();
    }
  }

  /** What users of the picture may call. */
  function create(container, options = {}) {
    const plot = new Plot(container, options);
    const { kept } = plot;
    const act = (change) => { change(); plot.request(false); };
    return {
      setData: (data) => plot.setData(data),
      setMode: (mode) => act(() => { kept.mode = mode; plot.touch(); plot.screen.front.style.cursor = mode === "pan" ? "grab" : "crosshair"; }),
      setHighlight: (indices) => act(() => { kept.rings = Uint32Array.from(indices || []).slice(0, MOST_RINGS); }),
      setCursor: (at) => act(() => { kept.cursor = at; }),
      setSelection: (indices) => plot.choose(Uint32Array.from(indices || []).sort()),
      zoom: (factor) => plot.zoomAt(factor),
      reset: () => plot.reset(),
      focusPoint: (i) => plot.focusPoint(i),
      info: () => ({ renderer: plot.renderer.name, n: plot.state.n, view: [...plot.view], selected: kept.selected.length, hovered: kept.hovered, mode: kept.mode }),
      toPixel: (x, y) => plot.toPixel(x, y),
      isShown: (i) => plot.shown(i),
      legend: (element) => { plot.legends.push(element); plot.fillLegend(element, look.isDark()); },
      focus: () => plot.screen.front.focus(),
      refresh: () => plot.recolor(),
      snapshot: () => plot.snapshot(),
      destroy: () => plot.destroy(),
    };
  }

  return create;
})();
