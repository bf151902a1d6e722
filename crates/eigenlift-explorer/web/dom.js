"use strict";

/** Elements, numbers and bytes: what every part of the page needs. */
const ExplorerDom = (() => {
  /** Makes an element; keys of `attributes` that start with "on" are listeners, `text` is its text. */
  function make(tag, attributes = {}, ...children) {
    const element = document.createElement(tag);
    for (const [key, value] of Object.entries(attributes)) {
      if (value === null || value === undefined || value === false) continue;
      if (key === "text") element.textContent = value;
      else if (key.startsWith("on")) element.addEventListener(key.slice(2), value);
      else element.setAttribute(key, value === true ? "" : value);
    }
    element.append(...children);
    return element;
  }

  /** Fills a select with [value, text] pairs and keeps its value where it is still there. */
  function options(select, pairs, value = select.value) {
    select.replaceChildren(...pairs.map(([key, text]) => make("option", { value: key, text })));
    if (pairs.some(([key]) => String(key) === String(value))) select.value = value;
  }

  /** Shows lines in an element, or hides it when there are none. */
  function notice(element, lines) {
    const tag = element.tagName === "UL" ? "li" : "p";
    element.replaceChildren(...lines.map((text) => make(tag, { text })));
    element.hidden = lines.length === 0;
  }

  /** A copy of a template for one pane: "-_" at the end of ids, names and references becomes "-a" or "-b". */
  function instance(template, pane) {
    const copy = template.content.firstElementChild.cloneNode(true);
    for (const element of [copy, ...copy.querySelectorAll("*")]) {
      for (const { name, value } of [...element.attributes]) {
        if (value.endsWith("-_")) element.setAttribute(name, `${value.slice(0, -1)}${pane}`);
      }
    }
    return copy;
  }

  /** Little-endian numbers written as base64. */
  function decode(text, Kind) {
    const binary = atob(text);
    const bytes = new Uint8Array(binary.length);
    for (let i = 0; i < binary.length; i += 1) bytes[i] = binary.charCodeAt(i);
    return new Kind(bytes.buffer);
  }

  /** A number with up to `digits` digits that count, without trailing zeros. */
  function number(value, digits = 5) {
    if (value === null || value === undefined || !Number.isFinite(value)) return "missing";
    if (value === 0) return "0";
    const size = Math.abs(value);
    if (size >= 1e7 || size < 1e-4) return value.toExponential(Math.max(0, digits - 2)).replace(/\.?0+e/, "e").replace("-", "−");
    return String(Number(value.toPrecision(digits))).replace("-", "−");
  }

  /** A number that was found, short enough for a field: four digits that count. */
  function plain(value) {
    return String(Number(value.toPrecision(4)));
  }

  function count(n, one, many = `${one}s`) {
    const digits = String(n);
    return `${digits.length > 4 ? digits.replace(/\B(?=(\d{3})+$)/g, "\u00a0") : digits}\u00a0${n === 1 ? one : many}`;
  }

  function seconds(value) {
    return value < 0.0995 ? `${Math.max(1, Math.round(value * 1000))}\u00a0ms` : `${value.toFixed(value < 10 ? 2 : 0)}\u00a0s`;
  }

  /** Calls `action` once, `wait` ms after the last of many calls. */
  function later(action, wait) {
    let timer = 0;
    return (...given) => {
      clearTimeout(timer);
      timer = setTimeout(() => action(...given), wait);
    };
  }

  /** Runs asynchronous work one at a time: while one runs, only the latest of those asked for is kept. */
  function latest(work) {
    let running = false;
    let waiting = null;
    async function ask(...given) {
      if (running) {
        waiting = given;
        return;
      }
      running = true;
      try {
        for (let next = given; next; next = waiting) {
          waiting = null;
          await work(...next);
        }
      } finally {
        running = false;
      }
    }
    return ask;
  }

  return { make, options, notice, instance, decode, number, plain, count, seconds, later, latest };
})();
