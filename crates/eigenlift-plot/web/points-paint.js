"use strict";
// One frame of the picture: axes and points, and on top of them what follows the pointer.

EigenliftPoints.parts.paint = (() => {
  const { look, axes } = EigenliftPoints.parts;

  function prepared(canvas, frame) {
    const pen = canvas.getContext("2d");
    pen.setTransform(frame.ratio, 0, 0, frame.ratio, 0, 0);
    return pen;
  }

  function note(plot) {
    const missing = plot.state.n - plot.index.finite;
    if (plot.state.n === 0) return "no points";
    return missing === 0 ? "" : `${missing} point${missing === 1 ? "" : "s"} not finite`;
  }

  /** Axes behind, then the points; markers grow as fewer of them share the picture. */
  function points(plot, frame, color) {
    axes.draw(prepared(plot.screen.back, frame), { ...frame, note: note(plot) }, color);
    const { x, y } = plot.scale;
    const [x0, x1, y0, y1] = frame.view;
    const home = plot.home();
    const area = ((x1 - x0) / (home[1] - home[0])) * ((y1 - y0) / (home[3] - home[2]));
    const room = Math.min(1, (frame.box.width * frame.box.height) / 4e5);
    const step = plot.pace.step();
    const count = plot.index.finite / step;
    const size = look.marker((count * Math.min(1, Math.sqrt(area))) / Math.sqrt(room || 1));
    plot.radius = size.radius;
    plot.renderer.draw({
      ...frame, ...size, step,
      dimmed: Boolean(plot.state.chosen),
      scale: [(2 * x.half) / (x1 - x0), (2 * y.half) / (y1 - y0)],
      offset: [(2 * (x.middle - x0)) / (x1 - x0) - 1, (2 * (y.middle - y0)) / (y1 - y0) - 1],
    });
  }

  function rings(pen, plot, frame, color) {
    const { kept, state } = plot;
    const ring = (i, width, style) => {
      pen.beginPath();
      pen.lineWidth = width;
      pen.strokeStyle = style;
      pen.arc(frame.px(state.x[i]), frame.py(state.y[i]), (plot.radius || 3) + 3, 0, 2 * Math.PI);
      pen.stroke();
    };
    for (const i of kept.rings) {
      if (i >= state.n || !plot.shown(i)) continue;
      ring(i, 4, color.paper);
      ring(i, 2, color.accent);
    }
    if (kept.hovered < 0 || kept.hovered >= state.n) return;
    ring(kept.hovered, 4, color.paper);
    ring(kept.hovered, 2, color.ink);
  }

  function lasso(pen, path, color) {
    if (!path || path.length < 2) return;
    pen.beginPath();
    path.forEach(([x, y]) => pen.lineTo(x, y));
    pen.closePath();
    pen.globalAlpha = 0.12;
    pen.fillStyle = color.accent;
    pen.fill();
    pen.globalAlpha = 1;
    pen.setLineDash([5, 4]);
    pen.lineWidth = 1.5;
    pen.strokeStyle = color.accent;
    pen.stroke();
    pen.setLineDash([]);
  }

  function cursor(pen, at, frame, color) {
    if (!at) return;
    const [x, y] = [frame.px(at.x), frame.py(at.y)];
    for (const [width, style] of [[5, color.paper], [2, color.ink]]) {
      pen.beginPath();
      pen.lineWidth = width;
      pen.strokeStyle = style;
      pen.moveTo(x - 11, y);
      pen.lineTo(x + 11, y);
      pen.moveTo(x, y - 11);
      pen.lineTo(x, y + 11);
      pen.moveTo(x + 6, y);
      pen.arc(x, y, 6, 0, 2 * Math.PI);
      pen.stroke();
    }
  }

  function fill(tip, content) {
    if (content instanceof Node) return tip.replaceChildren(content);
    return tip.replaceChildren(...[].concat(content).map((line) => {
      const element = document.createElement("div");
      element.textContent = String(line);
      return element;
    }));
  }

  /** The note stands beside the point and never leaves the picture sideways. */
  function tip(plot, frame) {
    const { tip: element } = plot.screen;
    const i = plot.kept.hovered;
    const content = i >= 0 && i < plot.state.n ? plot.options.label?.(i) : undefined;
    element.hidden = content === undefined || content === null;
    if (element.hidden) return;
    fill(element, content);
    const [x, y] = [frame.px(plot.state.x[i]), frame.py(plot.state.y[i])];
    const [width, height] = [element.offsetWidth, element.offsetHeight];
    const left = x + 14 + width <= frame.width ? x + 14 : Math.max(0, x - 14 - width);
    const top = Math.max(0, y + 14 + height <= frame.height ? y + 14 : y - 14 - height);
    element.style.left = `${left}px`;
    element.style.top = `${top}px`;
  }

  /** The layer in front: rings, lasso, cursor and the note beside the pointer. */
  function front(plot, frame, color) {
    const pen = prepared(plot.screen.front, frame);
    pen.clearRect(0, 0, frame.width, frame.height);
    pen.save();
    pen.beginPath();
    pen.rect(frame.box.left, frame.box.top, frame.box.width, frame.box.height);
    pen.clip();
    rings(pen, plot, frame, color);
    lasso(pen, plot.kept.lasso, color);
    cursor(pen, plot.kept.cursor, frame, color);
    pen.restore();
    tip(plot, frame);
  }

  /**
   * How many points a moving picture can show. A machine without a graphics card needs half a second for a
   * million points; while the picture moves it shows a part of them, and all when it rests.
   */
  function pace(redraw) {
    const slow = 90;
    const rest = 250;
    let [cost, timer] = [0, 0];
    const moving = () => timer !== 0;
    return {
      moved() {
        if (cost <= slow) return;
        clearTimeout(timer);
        timer = setTimeout(() => {
          timer = 0;
          redraw();
        }, rest);
      },
      /** WebGL has at most 255 bytes from one value to the next, and a value has four. */
      step: () => (moving() ? Math.min(Math.max(Math.ceil(cost / 40), 1), 63) : 1),
      /** Takes the time until the screen shows a frame with all points. */
      drawn(n) {
        if (moving() || n < 50000) return;
        const start = performance.now();
        requestAnimationFrame(() => requestAnimationFrame(() => { cost = performance.now() - start; }));
      },
      end: () => clearTimeout(timer),
    };
  }

  return { points, front, pace };
})();
