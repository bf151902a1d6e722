"use strict";
// The legend: a button for each class, or a bar of colours for values.

EigenliftPoints.parts.legend = (() => {
  const SVG = "http://www.w3.org/2000/svg";
  const SHAPES = ["M5 0.6a4.4 4.4 0 1 0 0.01 0z", "M1 1h8v8h-8z", "M5 0.2l4.6 8.6h-9.2z"];

  function made(name, className, text) {
    const element = document.createElement(name);
    if (className) element.className = className;
    if (text !== undefined) element.textContent = text;
    return element;
  }

  function swatch(look, dark) {
    const svg = document.createElementNS(SVG, "svg");
    svg.setAttribute("viewBox", "0 0 10 10");
    svg.setAttribute("aria-hidden", "true");
    const path = document.createElementNS(SVG, "path");
    path.setAttribute("d", SHAPES[look.shape]);
    path.setAttribute("fill", `rgb(${EigenliftPoints.parts.look.onPaper(look.hex, dark).join(" ")})`);
    svg.append(path);
    return svg;
  }

  function classes(element, color, dark, toggle) {
    const list = made("div", "legend-classes");
    list.setAttribute("role", "group");
    list.setAttribute("aria-label", color.name ? `Classes of ${color.name}` : "Classes");
    color.looks.forEach((look, k) => {
      const button = made("button", "legend-class");
      button.type = "button";
      button.setAttribute("aria-pressed", String(look.shown));
      button.title = look.shown ? "Hide this class" : "Show this class";
      button.append(swatch(look, dark), made("span", "legend-name", look.name), made("span", "legend-count", String(look.count)));
      button.addEventListener("click", () => toggle(k));
      list.append(button);
    });
    if (color.name) element.append(made("div", "legend-title", color.name));
    element.append(list);
  }

  function bar(dark) {
    const canvas = made("canvas", "legend-bar");
    canvas.width = 256;
    canvas.height = 1;
    canvas.setAttribute("aria-hidden", "true");
    const pen = canvas.getContext("2d");
    const image = pen.createImageData(256, 1);
    const table = EigenliftPoints.parts.look.rampTable(dark);
    for (let k = 0; k < 256; k += 1) image.data.set([table[3 * k], table[3 * k + 1], table[3 * k + 2], 255], 4 * k);
    pen.putImageData(image, 0, 0);
    return canvas;
  }

  function values(element, color, dark) {
    const [lo, hi] = color.range;
    const text = EigenliftPoints.parts.axes.numberText;
    const numbers = made("div", "legend-numbers");
    for (const value of [lo, (lo + hi) / 2, hi]) numbers.append(made("span", "", text(value, 3)));
    if (color.name) element.append(made("div", "legend-title", color.name));
    element.append(bar(dark), numbers);
  }

  /** Fills an element; the button that had the focus keeps it. */
  function fill(element, color, dark, toggle) {
    const focused = [...element.querySelectorAll("button")].indexOf(document.activeElement);
    element.replaceChildren();
    element.classList.add("legend");
    if (color.kind === "classes") classes(element, color, dark, toggle);
    if (color.kind === "values") values(element, color, dark);
    if (focused >= 0) element.querySelectorAll("button")[focused]?.focus();
  }

  return { fill };
})();
