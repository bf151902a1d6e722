"use strict";

/** A slider with a number field beside it, on a linear or a logarithmic scale. */
const ExplorerSliders = (() => {
  const { make, plain, number } = ExplorerDom;

  /** Positions of the slider and values of the setting, there and back. */
  function scale(field, center) {
    if (field.kind === "linear") {
      return { min: field.min, max: field.max, step: field.step, toPosition: (v) => v, toValue: (p) => Number(p.toPrecision(12)) };
    }
    return {
      min: -field.decades,
      max: field.decades,
      step: 0.02,
      toPosition: (v) => Math.log10(v / center),
      toValue: (p) => Number((center * 10 ** p).toPrecision(4)),
    };
  }

  // Words for a number that the library finds: the field shows it once it is known.
  const FOUND = ["median", "auto", "1/d"];

  /** What is wrong with an entry and what is required instead; empty when it is good. */
  function fault(text, field, words) {
    const value = Number(text);
    const whole = field.step === 1;
    const bound = field.kind === "log" ? " above 0" : field.least === undefined ? "" : ` of at least ${field.least}`;
    const required = `${whole ? "A whole number" : "A number"}${bound} is required${words.map((word) => `, or ${word}`).join("")}.`;
    if (text === "") return `The field is empty. ${required}`;
    if (Number.isNaN(value)) return `“${text}” is not a number. ${required}`;
    const shown = text.replace("-", "−");
    if (!Number.isFinite(value)) return `${shown} is too large. ${required}`;
    const low = field.kind === "log" ? value <= 0 : value < field.least;
    return low || (whole && !Number.isInteger(value)) ? `${shown} does not fit. ${required}` : "";
  }

  /**
   * Slider, number and, where the field has words, a button for each. `id` is that of the slider; the number is
   * `id-number`. `onChange(value)` gets a number or a word. Answers {element, set(value, center), limit(max)}; `center`
   * is the number that a word stands for, and null when that is not known.
   */
  function create({ id, title, field, onChange }) {
    const range = make("input", { type: "range", id, "data-testid": id });
    const named = (part) => ({ id: `${id}-${part}`, "data-testid": `${id}-${part}` });
    const label = `${title}, as a number`;
    const entry = { ...named("number"), type: "text", inputmode: "decimal", autocomplete: "off" };
    const exact = make("input", { ...entry, "aria-label": label, "aria-describedby": `${id}-fault` });
    const wrong = make("p", { ...named("fault"), class: "field-fault", role: "alert", hidden: true });
    const words = [field.word, field.also].filter(Boolean);
    const buttons = words.map((word, i) => make("button", {
      ...named(i === 0 ? "word" : word), type: "button", class: "word", text: word, "aria-pressed": "false", onclick: () => change(word),
    }));
    const group = make("span", { class: "word-group" }, ...buttons);
    const head = make("div", { class: "slider-head" }, make("label", { for: id, text: title }), group);
    const element = make("div", { class: "slider" }, head, make("div", { class: "slider-line" }, range, exact), wrong);
    let now = field.fallback;
    let center = field.center || 1;
    let known = true;

    function show() {
      const { min, max, step, toPosition } = scale(field, center);
      const isWord = words.includes(now);
      const at = isWord ? wordPosition(toPosition, min, max) : toPosition(now);
      Object.assign(range, { min, max, step });
      range.value = Math.min(max, Math.max(min, at));
      const found = isWord && known && FOUND.includes(now);
      const text = found ? plain(center) : String(now);
      if (document.activeElement !== exact && wrong.hidden) exact.value = text;
      exact.classList.toggle("found", isWord);
      range.setAttribute("aria-valuetext", found ? `${now}, ${number(center)}` : text);
      buttons.forEach((button, i) => button.setAttribute("aria-pressed", String(words[i] === now)));
    }

    /** Where the slider stands for a word: "all" is the largest, "0" and "off" the smallest, others are the centre. */
    function wordPosition(toPosition, min, max) {
      if (now === "all") return max;
      return now === "0" || now === "off" ? min : toPosition(center);
    }

    function say(text) {
      wrong.textContent = text;
      wrong.hidden = text === "";
      exact.setAttribute("aria-invalid", String(text !== ""));
    }

    function change(value) {
      now = value;
      say("");
      show();
      onChange(value);
    }

    /** Takes the entry over; one that does not fit stays, with a sentence on what would. */
    function onNumber() {
      const text = exact.value.trim().replace("−", "-").replace(",", ".");
      if (words.includes(text)) return change(text);
      say(fault(text, field, words));
      return !wrong.hidden || Number(text) === now ? undefined : change(Number(text));
    }

    range.addEventListener("input", () => change(scale(field, center).toValue(Number(range.value))));
    exact.addEventListener("change", onNumber);
    exact.addEventListener("blur", show);
    exact.addEventListener("keydown", (event) => event.key === "Enter" && (event.preventDefault(), onNumber()));
    show();

    return {
      element,
      set(value, newCenter) {
        now = value;
        known = newCenter > 0;
        if (known) center = newCenter;
        show();
      },
      /** The largest value of the slider, as data allows; the number field still takes more. */
      limit(max) {
        if (field.kind === "linear") field = { ...field, max: Math.max(field.min, max) };
        show();
      },
    };
  }

  return { create };
})();
