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

  /**
   * Slider, number and, where the field has a word, a button for it. `id` is that of the slider; the number is
   * `id-number`. `onChange(value)` gets a number or the word. Answers {element, set(value, center), focus}.
   */
  function create({ id, title, field, onChange }) {
    const range = make("input", { type: "range", id, "data-testid": id });
    const named = (part) => ({ id: `${id}-${part}`, "data-testid": `${id}-${part}` });
    const label = `${title}, as a number`;
    const exact = make("input", { ...named("number"), type: "text", inputmode: "decimal", "aria-label": label, autocomplete: "off" });
    const word = field.word && make("button", { ...named("word"), type: "button", class: "word", text: field.word, "aria-pressed": "false" });
    const head = make("div", { class: "slider-head" }, make("label", { for: id, text: title }), ...(word ? [word] : []));
    const element = make("div", { class: "slider" }, head, make("div", { class: "slider-line" }, range, exact));
    let now = field.fallback;
    let center = field.center || 1;

    function show() {
      const { min, max, step, toPosition } = scale(field, center);
      const isWord = now === field.word;
      const at = isWord ? wordPosition(toPosition, min, max) : toPosition(now);
      Object.assign(range, { min, max, step });
      range.value = Math.min(max, Math.max(min, at));
      const known = isWord && field.word !== "median" && field.word !== "1/d";
      const text = known ? field.word : isWord ? plain(center) : String(now);
      if (document.activeElement !== exact) exact.value = text;
      exact.classList.toggle("found", isWord);
      range.setAttribute("aria-valuetext", isWord && !known ? `${field.word}, ${number(center)}` : text);
      if (word) word.setAttribute("aria-pressed", String(isWord));
    }

    /** Where the slider stands for the word: "all" is the largest, "0" and "off" the smallest, others are the centre. */
    function wordPosition(toPosition, min, max) {
      if (field.word === "all") return max;
      return field.word === "0" || field.word === "off" ? min : toPosition(center);
    }

    function change(value) {
      now = value;
      exact.removeAttribute("aria-invalid");
      show();
      onChange(value);
    }

    function onNumber() {
      const text = exact.value.trim().replace("−", "-").replace(",", ".");
      const value = Number(text);
      if (text === field.word) return change(text);
      const fits = field.kind === "log" ? value > 0 : field.step !== 1 || Number.isInteger(value);
      const wrong = text === "" || !Number.isFinite(value) || !fits;
      exact.setAttribute("aria-invalid", String(wrong));
      return wrong || value === now ? undefined : change(value);
    }

    range.addEventListener("input", () => change(scale(field, center).toValue(Number(range.value))));
    exact.addEventListener("change", onNumber);
    exact.addEventListener("blur", show);
    exact.addEventListener("keydown", (event) => event.key === "Enter" && (event.preventDefault(), onNumber()));
    if (word) word.addEventListener("click", () => change(field.word));
    show();

    return {
      element,
      set(value, newCenter) {
        now = value;
        if (newCenter > 0) center = newCenter;
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
