"use strict";
// Hands on the picture: mouse, touch and keyboard. `plot` is what points.js offers its parts.

EigenliftPoints.parts.input = (() => {
  /** A press that moves less than this many pixels is a click. */
  const STILL = 4;
  const STEPS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };

  function place(canvas, event) {
    const box = canvas.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
  }

  function wheelSteps(event) {
    const unit = event.deltaMode === 1 ? 16 : event.deltaMode === 2 ? 400 : 1;
    return Math.min(Math.max(event.deltaY * unit, -240), 240);
  }

  const probe = (plot, at, phase) => {
    const [x, y] = plot.toData(at[0], at[1]);
    plot.moveProbe({ x, y }, phase);
  };

  /** What a drag that starts now does. */
  function gesture(plot, event) {
    if (plot.mode() === "probe") return "probe";
    return plot.mode() === "select" || event.shiftKey ? "lasso" : "pan";
  }

  function pinch(plot, pointers, event, at) {
    const before = [...pointers.values()];
    pointers.set(event.pointerId, at);
    const after = [...pointers.values()];
    const middle = (p) => [(p[0][0] + p[1][0]) / 2, (p[0][1] + p[1][1]) / 2];
    const apart = (p) => Math.hypot(p[0][0] - p[1][0], p[0][1] - p[1][1]) || 1;
    const [from, to] = [middle(before), middle(after)];
    plot.panBy(to[0] - from[0], to[1] - from[1]);
    plot.zoomAt(apart(after) / apart(before), to[0], to[1]);
  }

  function dragTo(plot, drag, at) {
    if (drag.kind === "pan") plot.panBy(at[0] - drag.last[0], at[1] - drag.last[1]);
    else if (drag.kind === "probe") probe(plot, at, "move");
    else {
      const tip = drag.lasso[drag.lasso.length - 1];
      if (Math.hypot(at[0] - tip[0], at[1] - tip[1]) >= 2) drag.lasso.push(at);
      plot.showLasso(drag.lasso);
    }
    drag.last = at;
  }

  function endDrag(plot, drag, at) {
    if (drag.kind === "probe") probe(plot, at, "end");
    else if (!drag.moved) plot.click(at);
    else if (drag.kind === "lasso") plot.select(drag.lasso);
    plot.showLasso(null);
  }

  function pointers(plot, canvas, on) {
    const held = new Map();
    let drag = null;
    on("pointerdown", (event) => {
      if (event.button > 0) return;
      const at = place(canvas, event);
      held.set(event.pointerId, at);
      try { canvas.setPointerCapture(event.pointerId); } catch { /* a pointer made by a script */ }
      if (held.size > 1) {
        drag = null;
        plot.showLasso(null);
        return;
      }
      drag = { kind: gesture(plot, event), start: at, last: at, lasso: [at], moved: false };
      if (drag.kind === "probe") probe(plot, at, "start");
    });
    on("pointermove", (event) => {
      const at = place(canvas, event);
      if (held.size > 1) return held.has(event.pointerId) ? pinch(plot, held, event, at) : undefined;
      if (!drag) return event.pointerType === "touch" ? undefined : plot.hoverAt(at);
      held.set(event.pointerId, at);
      if (!drag.moved && drag.kind !== "probe" && Math.hypot(at[0] - drag.start[0], at[1] - drag.start[1]) < STILL) return undefined;
      if (!drag.moved) plot.hover(-1);
      drag.moved = true;
      return dragTo(plot, drag, at);
    });
    const end = (event) => {
      held.delete(event.pointerId);
      if (!drag) return;
      const ended = drag;
      drag = null;
      if (event.type === "pointercancel") plot.showLasso(null);
      else endDrag(plot, ended, place(canvas, event));
    };
    on("pointerup", end);
    on("pointercancel", end);
    on("pointerleave", () => { if (!drag) plot.hover(-1); });
  }

  function arrow(plot, step) {
    if (plot.mode() === "probe") plot.stepProbe(step[0], step[1]);
    else plot.panBy(-step[0] * 40, step[1] * 40);
  }

  function keys(plot, on) {
    const actions = {
      "+": () => plot.zoomAt(1.25), "=": () => plot.zoomAt(1.25),
      "-": () => plot.zoomAt(0.8), "−": () => plot.zoomAt(0.8), "_": () => plot.zoomAt(0.8),
      "0": () => plot.reset(),
      n: () => plot.walk(1), p: () => plot.walk(-1),
      Enter: () => plot.clickHovered(),
      " ": () => plot.toggleHovered(),
      Escape: () => plot.escape(),
    };
    on("keydown", (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      const step = STEPS[event.key];
      const action = actions[event.key];
      if (!step && !action) return;
      event.preventDefault();
      if (step) arrow(plot, step);
      else action();
    });
    on("keyup", (event) => {
      if (STEPS[event.key] && plot.mode() === "probe") plot.stepProbe(0, 0, "end");
    });
  }

  /** Listens on the canvas. */
  function attach(plot, canvas) {
    const on = (name, act, options) => canvas.addEventListener(name, act, options);
    pointers(plot, canvas, on);
    keys(plot, on);
    on("wheel", (event) => {
      event.preventDefault();
      const [x, y] = place(canvas, event);
      plot.zoomAt(Math.exp(-wheelSteps(event) * 0.0016), x, y);
    }, { passive: false });
    on("dblclick", () => plot.reset());
    on("blur", () => plot.hover(-1));
  }

  return { attach };
})();
