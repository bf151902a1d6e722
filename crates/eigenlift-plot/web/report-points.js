"use strict";
// A points block of the report: the picture, its buttons, and what hovering, clicking and selecting tell.

EigenliftReport.parts.points = (() => {
  const { made, opened, rowNumber, labelOf, picture, showRow, showSelection } = EigenliftReport.parts.rows;
  const text = EigenliftFigures.cellText;

  function button(bar, name, act, hint) {
    const element = made("button", "", name);
    element.type = "button";
    if (hint) element.setAttribute("aria-label", hint);
    element.addEventListener("click", act);
    bar.append(element);
    return element;
  }

  function axisChoice(bar, name, axes, chosen, changed) {
    const label = made("label", "axis", name);
    const select = made("select");
    axes.forEach((axis, j) => select.append(new Option(axis, String(j), false, j === chosen)));
    select.addEventListener("change", () => changed(Number(select.value)));
    label.append(select);
    bar.append(label);
  }

  /** What stands beside the pointer. */
  function label(data, axes, i) {
    const box = made("div");
    if (data.image && data.rows) box.append(picture(data, i, 72));
    box.append(made("strong", "", `Row ${rowNumber(data, i)}`));
    const own = labelOf(data, i);
    if (own !== null) box.append(made("div", "", `${data.color.name || "label"}: ${own}`));
    for (const j of new Set(axes)) {
      if (j >= 0) box.append(made("div", "", `${data.axes[j]}: ${text(data.columns[j][i], 4)}`));
    }
    return box;
  }

  /** Coordinates of an axis; axis −1 is the row number, beside a single component. */
  function coordinates(data, axis) {
    if (axis >= 0) return { values: data.columns[axis], name: data.axes[axis] };
    return { values: Float32Array.from({ length: data.n }, (_, i) => rowNumber(data, i)), name: "row" };
  }

  function tools(view, data, axes, redraw) {
    const bar = made("div", "toolbar");
    if (data.axes.length > 2) {
      axisChoice(bar, "across", data.axes, axes[0], (j) => { axes[0] = j; redraw(); });
      axisChoice(bar, "up", data.axes, axes[1], (j) => { axes[1] = j; redraw(); });
      bar.append(made("span", "spring"));
    }
    const modes = made("div", "group");
    const names = { pan: "Pan", select: "Select" };
    const pressed = {};
    const choose = (mode) => {
      view.setMode(mode);
      for (const name of Object.keys(names)) pressed[name].setAttribute("aria-pressed", String(name === mode));
    };
    for (const name of Object.keys(names)) pressed[name] = button(modes, names[name], () => choose(name));
    const zooms = made("div", "group");
    button(zooms, "+", () => view.zoom(1.4), "Zoom in");
    button(zooms, "−", () => view.zoom(1 / 1.4), "Zoom out");
    button(zooms, "Reset", () => view.reset(), "Show all points");
    bar.append(modes, zooms);
    choose("pan");
    return bar;
  }

  const HELP = "Wheel or pinch zooms; Select draws a lasso. Keys: arrows move, + and − zoom, 0 shows all, n and p step through the points, Enter pins a row, Escape clears.";

  /** Browsers hold some 16 WebGL pictures at once; later blocks are drawn the plain way. */
  const MOST_WEBGL = 8;
  const plain = (place) => place >= MOST_WEBGL || new URLSearchParams(location.search).has("canvas");

  /** Builds the block in its figure, the place-th of the page, and returns its view. */
  function build(figure, place) {
    const data = opened(JSON.parse(figure.querySelector("script").textContent));
    if (data.axes.length === 0) {
      figure.querySelector("h3").after(made("p", "faint", "There are no components to show."));
      return null;
    }
    const axes = data.axes.length > 1 ? [0, 1] : [-1, 0];
    const [stage, legend, row, selection] = ["points", "", "card note", "card note"].map((name) => made("div", name));
    row.hidden = true;
    selection.hidden = true;
    const unpin = () => { row.hidden = true; view.setHighlight([]); };
    const view = EigenliftPoints.create(stage, {
      ariaLabel: `${data.name}: ${data.n} points. ${HELP}`,
      renderer: plain(place) ? "canvas" : "auto",
      label: (i) => label(data, axes, i),
      onClick(i) {
        showRow(row, data, i, unpin);
        view.setHighlight([i]);
      },
      onSelect: (indices) => showSelection(selection, data, indices, () => view.setSelection([])),
    });
    const redraw = () => {
      const [x, y] = axes.map((axis) => coordinates(data, axis));
      view.setData({
        x: x.values, y: y.values, xLabel: x.name, yLabel: y.name, color: data.color,
        equal: data.equal && axes[0] >= 0, keepSelection: true,
      });
    };
    const heading = figure.querySelector("h3");
    heading.after(tools(view, data, axes, redraw), stage, legend, made("p", "help faint", HELP));
    figure.append(row, selection);
    redraw();
    view.legend(legend);
    return view;
  }

  return { build };
})();
