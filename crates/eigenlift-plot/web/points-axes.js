"use strict";
// Axes: nice ticks, numbers as text, and the canvas behind the points.

EigenliftPoints.parts.axes = (() => {
  /** A step of 1, 2 or 5 times a power of ten that gives at most `count` steps over the span. */
  function niceStep(span, count) {
    const raw = span / Math.max(count, 1);
    const power = 10 ** Math.floor(Math.log10(raw));
    const share = raw / power;
    return power * (share <= 1.0001 ? 1 : share <= 2.0001 ? 2 : share <= 5.0001 ? 5 : 10);
  }

  /** Multiples of a nice step inside the range. */
  function ticks(lo, hi, count) {
    const step = niceStep(hi - lo, count);
    const found = [];
    const first = Math.ceil(lo / step - 1e-9);
    for (let k = 0; k <= 2 * count + 2; k += 1) {
      const value = (first + k) * step;
      if (value > hi + 1e-9 * step) break;
      found.push(value);
    }
    return { step, values: found };
  }

  const minus = (text) => text.replace(/-/g, "−");

  /** A tick with as many decimals as its step needs. */
  function tickText(value, step) {
    const size = Math.max(Math.abs(value), step);
    if (Math.abs(value) < step * 1e-6) return "0";
    const places = Math.max(0, Math.ceil(-Math.log10(step) - 1e-9));
    if (size >= 1e6 || step < 1e-4) {
      const digits = Math.max(0, Math.round(Math.log10(size) - Math.log10(step)));
      return minus(value.toExponential(Math.min(digits, 8)).replace("e+", "e"));
    }
    return minus(value.toFixed(Math.min(places, 8)));
  }

  /** A number with about four digits that count. */
  function numberText(value, digits = 4) {
    if (value === null || value === undefined) return "";
    if (!Number.isFinite(value)) return Number.isNaN(value) ? "not a number" : value > 0 ? "∞" : "−∞";
    if (value === 0) return "0";
    const size = Math.abs(value);
    if (size >= 1e6 || size < 1e-4) return minus(value.toExponential(digits - 1).replace("e+", "e"));
    if (Number.isInteger(value)) return minus(String(value));
    return minus(String(Number(value.toPrecision(digits))));
  }

  /** Cuts a text to a width, with an ellipsis. */
  function fitted(pen, text, width) {
    if (pen.measureText(text).width <= width) return text;
    let [lo, hi] = [0, text.length];
    while (lo < hi) {
      const middle = (lo + hi + 1) >> 1;
      if (pen.measureText(`${text.slice(0, middle)}…`).width <= width) lo = middle;
      else hi = middle - 1;
    }
    return `${text.slice(0, lo)}…`;
  }

  /** The colours of the page as its style sheet has them. */
  function colors(element) {
    const style = getComputedStyle(element);
    const read = (name, otherwise) => style.getPropertyValue(name).trim() || otherwise;
    return {
      ink: read("--ink", "#222222"), faint: read("--faint", "#666666"), grid: read("--grid", "#ececec"),
      axis: read("--line", "#999999"), accent: read("--accent", "#0072b2"), paper: read("--card", "#ffffff"),
      font: style.fontFamily || "sans-serif",
    };
  }

  /** The room around the plot, from the widest tick of the vertical axis. */
  function margins(pen, size, view, hasLabels) {
    const rows = ticks(view[2], view[3], Math.max(2, Math.floor(size.height / 48)));
    let widest = 0;
    for (const value of rows.values) widest = Math.max(widest, pen.measureText(tickText(value, rows.step)).width);
    const left = Math.ceil(Math.max(widest, 20)) + 12 + (hasLabels.y ? 18 : 0);
    return { left: Math.min(left, size.width / 2), right: 14, top: 14, bottom: hasLabels.x ? 42 : 24 };
  }

  /** As many ticks of the horizontal axis as have room for their text. */
  function columnTicks(pen, { box, view }) {
    for (let count = Math.max(2, Math.floor(box.width / 48)); ; count -= 1) {
      const found = ticks(view[0], view[1], count);
      const room = (found.step / (view[1] - view[0])) * box.width;
      const fits = found.values.every((value) => pen.measureText(tickText(value, found.step)).width + 16 <= room);
      if ((fits && room >= 56) || count <= 2) return found;
    }
  }

  function drawTicks(pen, frame, color) {
    const { box, view } = frame;
    const columns = columnTicks(pen, frame);
    const rows = ticks(view[2], view[3], Math.max(2, Math.floor(box.height / 48)));
    pen.lineWidth = 1;
    pen.strokeStyle = color.grid;
    pen.fillStyle = color.faint;
    pen.beginPath();
    pen.textAlign = "center";
    pen.textBaseline = "top";
    for (const value of columns.values) {
      const x = Math.round(frame.px(value)) + 0.5;
      pen.moveTo(x, box.top);
      pen.lineTo(x, box.top + box.height);
      pen.fillText(tickText(value, columns.step), x, box.top + box.height + 6);
    }
    pen.textAlign = "right";
    pen.textBaseline = "middle";
    for (const value of rows.values) {
      const y = Math.round(frame.py(value)) + 0.5;
      pen.moveTo(box.left, y);
      pen.lineTo(box.left + box.width, y);
      pen.fillText(tickText(value, rows.step), box.left - 6, y);
    }
    pen.stroke();
  }

  function drawLabels(pen, frame, color) {
    const { box, labels, note } = frame;
    pen.fillStyle = color.ink;
    pen.textAlign = "center";
    pen.textBaseline = "bottom";
    pen.fillText(fitted(pen, labels.x, box.width), box.left + box.width / 2, frame.height - 4);
    pen.save();
    pen.translate(4, box.top + box.height / 2);
    pen.rotate(-Math.PI / 2);
    pen.textBaseline = "top";
    pen.fillText(fitted(pen, labels.y, box.height), 0, 0);
    pen.restore();
    if (!note) return;
    pen.fillStyle = color.faint;
    pen.textAlign = "right";
    pen.textBaseline = "top";
    pen.fillText(note, box.left + box.width - 6, box.top + 6);
  }

  /** Draws grid, ticks, axis names and the frame around the plot. */
  function draw(pen, frame, color) {
    const { box } = frame;
    pen.clearRect(0, 0, frame.width, frame.height);
    pen.font = `12px ${color.font}`;
    if (box.width < 8 || box.height < 8) return;
    drawTicks(pen, frame, color);
    pen.strokeStyle = color.axis;
    pen.strokeRect(Math.round(box.left) + 0.5, Math.round(box.top) + 0.5, Math.round(box.width), Math.round(box.height));
    drawLabels(pen, frame, color);
  }

  return { ticks, tickText, numberText, colors, margins, draw, fitted };
})();
