"use strict";

/** The settings of a pane as controls: method, kernel, and the sliders and choices that belong to them. */
const ExplorerControls = (() => {
  const { make, options, later } = ExplorerDom;
  const { METHODS, KERNELS, kernelOf, kernelFields, kernelsOf } = ExplorerSettings;

  function labelled(id, title, control) {
    return make("div", { class: "field" }, make("label", { for: id, text: title }), control);
  }

  /**
   * Controls in the pane `root`. `onChange()` is called after `settings` were changed by a person.
   * Answers {settings(), load(settings), setData(data), learn(result, used)}.
   */
  function create(root, pane, onChange) {
    const at = (name) => root.querySelector(`#${name}-${pane}`);
    let settings = ExplorerSettings.initial();
    let data = null;
    let shown = [];
    // Values that the library found for a word, by owner, name and word, for the data at hand.
    let found = {};

    /** The number that the value of a field stands for, or around which its slider goes; null when it is yet to be found. */
    function centerOf(owner, name, field) {
      const now = ExplorerSettings.value(settings, owner, name, field);
      // Each of several views has a number of its own.
      if (METHODS[settings.method].several && [field.word, field.also].includes(now)) return null;
      if (field.center && now !== "auto") return field.center;
      const learned = found[`${owner}.${name}.${now === "auto" ? now : field.word}`];
      if (learned || now === "auto") return learned || null;
      const gamma = (data && data.gamma) || 1;
      if (field.word === "1/d") return 1 / Math.max(1, data ? data.columns.length : 1);
      if (field.role === "distance") return Math.sqrt(1 / (2 * gamma));
      return field.role === "l1-rate" || field.role === "distance-rate" ? Math.sqrt(gamma) : gamma;
    }

    function limitOf(field) {
      if (!data || field.flag === undefined || field.step !== 1 || !(field.max > 10)) return field.max;
      const rows = Math.max(1, data.rows - 1);
      const few = field.flag === "-k" && ["pca", "whiten", "mds"].includes(settings.method) ? data.columns.length : rows;
      return Math.min(field.max, rows, few);
    }

    function makeField(owner, name, field) {
      const id = `${name}-${pane}`;
      const title = field.title || name;
      const changed = (value) => {
        settings.values[ExplorerSettings.key(owner, name)] = value;
        onChange();
      };
      if (field.kind === "choice") return choice(id, title, field, changed);
      if (field.kind === "tick") return tick(id, title, changed);
      if (field.kind === "text") return text(id, title, field, changed);
      return ExplorerSliders.create({ id, title, field, onChange: changed });
    }

    function choice(id, title, field, changed) {
      const select = make("select", { id, "data-testid": id, onchange: () => changed(select.value) });
      options(select, field.values.map((value) => [value, value]));
      return { element: labelled(id, title, select), set: (value) => (select.value = value) };
    }

    function tick(id, title, changed) {
      const box = make("input", { type: "checkbox", id, "data-testid": id, onchange: () => changed(box.checked) });
      const element = make("label", { class: "tick", for: id }, box, make("span", { text: title }));
      return { element, set: (value) => (box.checked = Boolean(value)) };
    }

    function text(id, title, field, changed) {
      const soon = later(() => area.value.trim() && changed(area.value.trim()), 500);
      const area = make("textarea", { id, "data-testid": id, rows: field.lines || 3, spellcheck: "false", oninput: soon });
      const set = (value) => document.activeElement !== area && (area.value = value);
      return { element: labelled(id, title, area), set };
    }

    function fieldsOf(place, owner, fields) {
      const made = Object.entries(fields).map(([name, field]) => ({ owner, name, field, control: makeField(owner, name, field) }));
      place.replaceChildren(...made.map((one) => one.control.element));
      return made;
    }

    /** Builds the fields of the method and kernel at hand. */
    function build() {
      const method = METHODS[settings.method];
      const kernel = kernelOf(settings);
      at("method").value = settings.method;
      options(at("kernel"), kernelsOf(settings.method).map((name) => [name, KERNELS[name].title]), kernel);
      at("method-note").textContent = method.note;
      at("kernel-block").hidden = !method.kernel;
      at("kernel-note").textContent = KERNELS[kernel].formula;
      at("more").value = settings.more;
      if (settings.more) at("more").closest("details").open = true;
      shown = fieldsOf(at("kernel-parameters"), kernel, method.kernel ? kernelFields(settings) : {});
      shown = shown.concat(fieldsOf(at("parameters"), settings.method, method.fields));
      show();
    }

    /** Puts the settings into the controls that are there. */
    function show() {
      const taken = ExplorerSettings.overridden(settings);
      at("more-note").textContent = taken.length ? `Instead of the control: ${taken.join(", ")}.` : "";
      for (const { owner, name, field, control } of shown) {
        if (control.limit) control.limit(limitOf(field));
        control.set(ExplorerSettings.value(settings, owner, name, field, data), centerOf(owner, name, field));
      }
    }

    options(at("method"), Object.entries(METHODS).map(([name, method]) => [name, method.title]));
    at("method").addEventListener("change", () => (settings.method = at("method").value, build(), onChange()));
    at("kernel").addEventListener("change", () => (settings.kernel = at("kernel").value, build(), onChange()));
    at("more").addEventListener("change", () => (settings.more = at("more").value, show(), onChange()));
    at("controls").addEventListener("submit", (event) => event.preventDefault());
    build();

    return {
      settings: () => settings,
      load(given) {
        settings = ExplorerSettings.copy(given);
        build();
      },
      setData(given) {
        data = given;
        found = {};
        show();
      },
      /** Reads from the result of a fit with settings `used` which numbers words stood for, so that sliders centre on them. */
      learn(result, used) {
        const written = ExplorerSettings.overridden(used);
        if (used.values.k === "auto" && !written.includes("-k")) found[`${used.method}.k.auto`] = result.components;
        const kappa = /κ = ([.\deE-]+)/.exec((result.words || []).join("\n"));
        if (kappa) found[`${used.method}.regularization.auto`] = Number(kappa[1]);
        const kernel = written.includes("--kernel") ? null : kernelOf(used);
        const text = /^\s*kernel\s+(\w+)\((.*?)\)\s*$/m.exec(result.plan || "");
        for (const [, name, value] of text && text[1] === kernel ? text[2].matchAll(/(\w+)=([-+.\deE]+)/g) : []) {
          const field = kernelFields(used)[name];
          const was = field && ExplorerSettings.value(used, kernel, name, field);
          if (["median", "auto"].includes(was) && Number(value) > 0) found[`${kernel}.${name}.${was}`] = Number(value);
        }
        show();
      },
    };
  }

  return { create };
})();
