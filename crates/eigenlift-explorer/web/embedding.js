"use strict";

/** The scatter of scores in a pane: which components, which colour, what dragging does, what is selected. */
const ExplorerEmbedding = (() => {
  const { make, options, decode, number, count } = ExplorerDom;
  const MODES = {
    pan: "Drag moves the picture, the wheel zooms, a click shows a row. Keys: arrows, + and −, 0, n and p for points, Enter.",
    select: "Drag around points to select them. Escape clears the selection.",
    probe: "Drag anywhere: the pre-image of the place follows. Arrow keys move the place.",
  };

  const NO_WAY_BACK = "This method has no way back, so there is no pre-image to show.";
  const EMPTY = { x: new Float32Array(0), y: new Float32Array(0), color: { kind: "none" }, xLabel: "", yLabel: "", equal: false };

  /** Signs that make the new scores agree with the former ones, component by component. */
  function agreeing(scores, k, former) {
    const signs = new Float32Array(k).fill(1);
    if (!former || former.rows * k !== scores.length) return signs;
    const shared = Math.min(k, former.k);
    for (let j = 0; j < shared; j += 1) {
      let product = 0;
      for (let i = 0; i < former.rows; i += 1) {
        const term = scores[i * k + j] * former.scores[i * former.k + j];
        if (Number.isFinite(term)) product += term;
      }
      if (product < 0) signs[j] = -1;
    }
    return signs;
  }

  function turned(scores, k, signs) {
    const out = new Float32Array(scores.length);
    for (let i = 0; i < scores.length; i += 1) out[i] = scores[i] * signs[i % k];
    return out;
  }

  function column(scores, k, j) {
    const n = scores.length / k;
    const out = new Float32Array(n);
    if (j >= 0) for (let i = 0; i < n; i += 1) out[i] = scores[i * k + j];
    return out;
  }

  function range(values) {
    let low = Infinity;
    let high = -Infinity;
    for (const value of values) {
      if (value < low) low = value;
      if (value > high) high = value;
    }
    return [low, high];
  }

  /** The label of a target's row, or null. */
  function labelOf(target, i) {
    if (!target) return null;
    return target.kind === "classes" ? target.names[target.codes[i]] : number(target.values[i]);
  }

  /** Labels that a fit found, their bytes turned into numbers; null if it found none. */
  function foundLabels(labels) {
    if (!labels) return null;
    const { kind, codes, values } = labels;
    return kind === "classes" ? { ...labels, codes: decode(codes, Uint16Array) } : { ...labels, values: decode(values, Float32Array) };
  }

  /** A target as colours of points. */
  function targetColor(target) {
    if (!target) return { kind: "none" };
    const { kind, codes, values, names, name } = target;
    return kind === "classes" ? { kind, codes, names } : { kind, values, name };
  }

  /**
   * `hooks` has onHover(i), onClick(i), onSelect(indices), onProbe({scores, phase}), columnValues(index).
   */
  function create(root, pane, hooks) {
    const at = (name) => root.querySelector(`#${name}-${pane}`);
    let data = null;
    let fit = null;
    let columns = {};
    let fitted = null;
    let drawn = null;
    let base = null;
    let canColumns = false;
    // Whether a person chose the colour; otherwise it is what suits the result.
    let colorChosen = false;

    const view = EigenliftPoints.create(at("embedding"), {
      ariaLabel: "Embedding: scores of every row",
      label: (i) => [`row ${i + 1}`, ...(ofData() ? [data.target, fit.labels] : []).filter(Boolean).map((one) => `${one.name}: ${labelOf(one, i)}`)],
      onHover: (i) => ofData() && hooks.onHover(i),
      onClick: (i) => i >= 0 && ofData() && hooks.onClick(i),
      onToggle: (indices) => ofData() && showSelection(indices),
      onSelect: (indices) => ofData() && (showSelection(indices), hooks.onSelect(indices)),
      onProbe: ({ x, y, phase }) => ofData() && hooks.onProbe({ scores: scoresAt(x, y), phase }),
    });

    /** Whether the picture is one of the data at hand; a new table is fitted before it is drawn. */
    function ofData() {
      return fit !== null && data !== null && fit.data === data.id;
    }

    const axis = (name) => Number(at(name).value);

    /** Scores, as the model has them, of a place in the picture; the other components are those of the chosen row. */
    function scoresAt(x, y) {
      const out = Array.from({ length: fit.k }, (_, j) => (base === null ? 0 : fit.scores[base * fit.k + j]));
      out[axis("x")] = x;
      if (axis("y") >= 0) out[axis("y")] = y;
      view.setCursor({ x, y });
      at("card").dataset.side = view.toPixel(x, y)[0] > at("embedding").clientWidth / 2 ? "left" : "right";
      return out.map((value, j) => value * fit.signs[j]);
    }

    function rowScores(i) {
      return Array.from({ length: fit.k }, (_, j) => fit.scores[i * fit.k + j] * fit.signs[j]);
    }

    function axisLabel(j) {
      if (j < 0) return "";
      return (fit.signs[j] < 0 ? "−" : "") + (fit.axes[j] || `component ${j + 1}`);
    }

    function color() {
      const chosen = at("color").value;
      if (chosen === "target") return targetColor(data.target);
      if (chosen === "labels") return targetColor(fit.labels);
      if (!columns[chosen]) return { kind: "none" };
      return { kind: "values", values: columns[chosen], name: data.columns[Number(chosen.slice(7))] };
    }

    /** Whether the present view still suits the new points: moved by a person, or filled well enough. */
    function suits(x, y) {
      if (!fitted || fitted.key !== viewKey()) return false;
      const [x0, x1, y0, y1] = view.info().view;
      const box = at("embedding").getBoundingClientRect();
      const sameSize = Math.abs(box.width - fitted.width) < 1 && Math.abs(box.height - fitted.height) < 1;
      const moved = [x0, x1, y0, y1].some((edge, i) => Math.abs(edge - fitted.view[i]) > 1e-6 * (x1 - x0));
      if (moved && sameSize) return true;
      const [[left, right], [low, high]] = [range(x), range(y)];
      const inside = left >= x0 && right <= x1 && low >= y0 && high <= y1;
      return inside && Math.max((right - left) / (x1 - x0), (high - low) / (y1 - y0)) > 0.6;
    }

    function viewKey() {
      return [data.id, fit.method, axis("x"), axis("y")].join(" ");
    }

    function draw() {
      if (!ofData()) return;
      const x = column(fit.scores, fit.k, axis("x"));
      const y = column(fit.scores, fit.k, axis("y"));
      const keepView = suits(x, y);
      const [xLabel, yLabel] = [axisLabel(axis("x")), axisLabel(axis("y"))];
      view.setData({ x, y, color: color(), xLabel, yLabel, equal: fit.equal, keepView, keepSelection: drawn === data.id });
      drawn = data.id;
      if (!keepView) {
        const { width, height } = at("embedding").getBoundingClientRect();
        fitted = { key: viewKey(), view: view.info().view, width, height };
      }
    }

    function offerAxes() {
      const names = fit.names.map((name, j) => [j, name]);
      options(at("x"), names, at("x").value || "0");
      options(at("y"), fit.k > 1 ? names : [[-1, "none"]], fit.k > 1 ? at("y").value || "1" : "-1");
      if (at("y").value === at("x").value && fit.k > 1) at("y").value = at("x").value === "0" ? "1" : "0";
    }

    function offerColors() {
      const target = data.target ? [["target", data.target.name]] : [];
      const labels = ofData() && fit.labels ? [["labels", `${fit.labels.name} (found)`]] : [];
      const all = canColumns ? data.columns.slice(0, 500).map((name, j) => [`column:${j}`, name]) : [];
      const usual = labels.length && (fit.showsLabels || !data.target) ? "labels" : data.target ? "target" : "none";
      const choices = [...target, ...labels, ["none", "none"], ...all];
      const kept = colorChosen && choices.some(([name]) => name === at("color").value);
      options(at("color"), choices, kept ? at("color").value : usual);
    }

    async function onColor() {
      colorChosen = true;
      const chosen = at("color").value;
      const of = data.id;
      if (chosen.startsWith("column:") && !columns[chosen]) {
        const values = await hooks.columnValues(Number(chosen.slice(7)));
        if (data.id !== of || at("color").value !== chosen) return;
        columns[chosen] = values;
      }
      draw();
    }

    function showSelection(indices) {
      const place = at("selection");
      place.hidden = indices.length === 0;
      if (place.hidden) return;
      const seen = indices.filter((i) => view.isShown(i));
      const hidden = indices.length - seen.length;
      const also = hidden > 0 ? `, and ${hidden} in hidden classes` : "";
      const line = make("p", { text: `${count(seen.length, "row")} selected${also}${data.target ? ":" : "."}` });
      place.replaceChildren(line, ...(data.target ? [byTarget(seen)] : []));
    }

    function byTarget(indices) {
      if (data.target.kind === "values") {
        const values = Array.from(indices, (i) => data.target.values[i]).filter(Number.isFinite);
        const mean = values.reduce((sum, value) => sum + value, 0) / Math.max(1, values.length);
        const [low, high] = range(values);
        return make("p", { text: `${data.target.name} from ${number(low)} to ${number(high)}, mean ${number(mean)}` });
      }
      const counts = new Map();
      for (const i of indices) counts.set(data.target.codes[i], (counts.get(data.target.codes[i]) || 0) + 1);
      const sorted = [...counts].sort((a, b) => b[1] - a[1]);
      const lines = sorted.map(([code, n]) => make("li", {}, make("b", { text: data.target.names[code] }), ` ${n}`));
      return make("ul", { class: "counts" }, ...lines);
    }

    function setMode(mode) {
      view.setMode(mode);
      at("mode-note").textContent = mode === "probe" && fit && !fit.invertible ? NO_WAY_BACK : MODES[mode];
      at("embedding").dataset.mode = mode;
      if (mode !== "probe") view.setCursor(null);
    }

    const mode = () => root.querySelector(`input[name="mode-${pane}"]:checked`).value;
    for (const input of root.querySelectorAll(`input[name="mode-${pane}"]`)) input.addEventListener("change", () => setMode(input.value));
    for (const button of root.querySelectorAll("[data-zoom]")) {
      button.addEventListener("click", () => (Number(button.dataset.zoom) ? view.zoom(Number(button.dataset.zoom)) : view.reset()));
    }
    at("x").addEventListener("change", draw);
    at("y").addEventListener("change", draw);
    at("color").addEventListener("change", onColor);
    view.legend(at("legend"));
    setMode("pan");

    return {
      setData(given, can) {
        data = given;
        columns = {};
        base = null;
        [canColumns, colorChosen] = [can, false];
        offerColors();
        showSelection([]);
      },
      /** Shows a result; `neighbor` are scores to agree with in sign when there are none of this pane. */
      setResult(result, neighbor) {
        const raw = decode(result.scores, Float32Array);
        const k = result.components;
        const former = fit && fit.data === data.id && fit.method === result.method ? fit : neighbor;
        const signs = agreeing(raw, k, former);
        fit = {
          data: data.id, method: result.method, rows: result.rows, k, signs, scores: turned(raw, k, signs),
          names: result.names, axes: result.axes, equal: result.equal, invertible: result.can_invert,
          labels: foundLabels(result.labels), showsLabels: result.shows_labels,
        };
        offerAxes();
        offerColors();
        draw();
        setMode(mode());
      },
      /** Takes the picture away, where it is not one of the data at hand. */
      clear() {
        [fit, fitted] = [null, null];
        for (const name of ["x", "y"]) options(at(name), [["", "none"]]);
        offerColors();
        view.setData({ ...EMPTY, keepView: false });
      },
      /** Marks the row whose other components a probe keeps. */
      setBase: (i) => (base = i),
      rowScores,
      labelOf: (i) => labelOf(data.target, i),
      highlight: (indices) => view.setHighlight(indices),
      clearCursor: () => view.setCursor(null),
      current: () => fit,
      view,
    };
  }

  return { create, targetColor };
})();
