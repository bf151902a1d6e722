"use strict";

/** The choice of data: built in, a file of the folder, or an upload. */
const ExplorerData = (() => {
  const { make, options, notice, decode, count, latest, later } = ExplorerDom;
  const MOST_BOXES = 300;
  const PLAIN = { target: "", columns: "", missing: "error" };
  const at = (id) => document.getElementById(id);

  /** Turns the bytes of a target into numbers. */
  function opened(answer) {
    const { target } = answer;
    if (target && target.kind === "classes") target.codes = decode(target.codes, Uint16Array);
    else if (target) target.values = decode(target.values, Float32Array);
    return answer;
  }

  /** A name as a list of columns takes it: quotes protect a comma. */
  function listed(name) {
    return name.includes(",") ? `"${name}"` : name;
  }

  function size(bytes) {
    return bytes >= 1 << 20 ? `${Math.round(bytes / (1 << 20))} MiB` : `${Math.round(bytes / 1024)} KiB`;
  }

  /**
   * `hooks` has onData(data, other), where other says that it is not the table before, onReading(whether), onImage(image)
   * and onChange().
   * Answers {open(choice), choice(), data(), image()}.
   * A choice is {source: "builtin:NAME" | "file:NAME" | "upload:NAME", target, columns, missing, image}.
   */
  function create(catalogue, hooks) {
    let current = null;
    // The choice that is shown, and the one that was tried last: controls stand for that, so that it can be mended.
    let chosen = null;
    let tried = null;
    const uploaded = new Map();
    // Columns of each table as far as they have been seen; a choice of columns does not shorten the list.
    const seen = new Map();

    /** Fills the list of tables. */
    function offer(value) {
      const group = (label, prefix, names) => {
        const choices = names.map(([name, text]) => make("option", { value: `${prefix}:${name}`, text }));
        return make("optgroup", { label }, ...choices);
      };
      const groups = [
        group("Built in", "builtin", catalogue.builtin.map(({ name, title }) => [name, title || name])),
        group(`Files in ${catalogue.folder}`, "file", catalogue.files.map((name) => [name, name])),
        group("Uploaded", "upload", [...uploaded.keys()].map((name) => [name, name])),
      ].filter((one) => one.children.length > 0);
      at("data-select").replaceChildren(...groups);
      if (value) at("data-select").value = value;
    }

    function ownTable() {
      return tried !== null && !tried.source.startsWith("builtin:");
    }

    function request(choice) {
      const [kind, name] = [choice.source.slice(0, choice.source.indexOf(":")), choice.source.slice(choice.source.indexOf(":") + 1)];
      const own = {};
      for (const key of ["target", "columns"]) if (choice[key]) own[key] = choice[key];
      if (choice.missing && choice.missing !== "error") own.missing = choice.missing;
      if (kind === "builtin") return ExplorerApi.data({ builtin: name });
      if (kind === "file") return ExplorerApi.data({ file: name, ...own });
      if (!uploaded.has(name)) {
        throw new Error(`The upload ${name} is no longer here, because the page was loaded again. Choose the file again.`);
      }
      return ExplorerApi.upload(uploaded.get(name), own);
    }

    /** Opens a table; the one before stays when that fails. */
    const open = latest(async (choice) => {
      tried = choice;
      at("data-words").textContent = "Reading …";
      hooks.onReading(true);
      try {
        const data = opened(await request(choice));
        const other = chosen !== null && chosen.source !== choice.source;
        [chosen, current] = [choice, data];
        notice(at("error"), []);
        see();
        show();
        hooks.onReading(false);
        hooks.onData(data, other);
      } catch (error) {
        hooks.onReading(false);
        notice(at("error"), String(error.message).split("\n"));
        at("data-words").textContent = current ? `Not opened; still showing ${current.name}.` : "No data.";
        offer(choice.source);
        showChoice();
      }
      hooks.onChange();
    });

    /** Opens the present table once more, which the server has put away, and gives its number; null if it is another now. */
    async function reopen(id) {
      if (!current || current.id !== id) return null;
      const same = await request(chosen);
      const fits = same.rows === current.rows && same.columns.join("\n") === current.columns.join("\n");
      if (!fits) throw new ExplorerApi.Refused(`${current.name} has changed since it was opened. Choose the table again.`);
      return same.id;
    }

    function see() {
      const { numbers = [], targets = [] } = seen.get(chosen.source) || {};
      const target = current.target ? [current.target.name] : [];
      seen.set(chosen.source, {
        numbers: [...new Set([...numbers, ...current.numeric_columns])],
        targets: [...new Set([...targets, ...(current.columns_candidates_for_target || []), ...target])],
      });
    }

    function show() {
      offer(chosen.source);
      notice(at("data-warnings"), current.warnings);
      const labels = current.target ? [`target ${current.target.name}`] : [];
      const line = [count(current.rows, "row"), count(current.columns.length, "data column"), ...labels];
      at("data-words").textContent = line.join(" · ");
      notice(at("about-words"), current.words);
      at("about").hidden = current.words.length === 0;
      const [height, width] = chosen.image || current.image || ["", ""];
      at("image-height").value = height;
      at("image-width").value = width;
      at("image-fault").hidden = true;
      for (const id of ["image-height", "image-width"]) at(id).removeAttribute("aria-invalid");
      showChoice();
    }

    /** Puts the choice into the controls. */
    function showChoice() {
      for (const element of document.querySelectorAll("[data-own]")) element.hidden = !ownTable();
      if (!tried) return;
      const targets = seen.get(tried.source)?.targets || [tried.target].filter(Boolean);
      const target = tried === chosen && current.target ? current.target.name : tried.target;
      options(at("target"), [["", "none"], ...targets.map((name) => [name, name])], target || "");
      at("columns").value = tried.columns || "";
      at("missing").value = tried.missing || "error";
      showBoxes();
    }

    function showBoxes() {
      const known = tried === chosen ? seen.get(chosen.source).numbers : [];
      const names = known.filter((name) => name !== current.target?.name);
      at("column-list").hidden = !ownTable() || names.length < 2 || names.length > MOST_BOXES;
      if (at("column-list").hidden) return;
      const used = new Set(current.columns);
      at("column-boxes").replaceChildren(...names.map((name) => {
        const box = make("input", { type: "checkbox", value: name });
        box.checked = used.has(name);
        return make("label", { class: "tick" }, box, make("span", { text: name }));
      }));
    }

    function onBoxes() {
      const boxes = [...at("column-boxes").querySelectorAll("input")];
      const picked = boxes.filter((box) => box.checked).map((box) => box.value);
      const all = picked.length === boxes.length;
      const quoted = all ? undefined : picked.find((name) => name.includes('"'));
      const advice = "Write its position, counted from 1 over all columns of the file, under Data columns.";
      if (quoted !== undefined) return notice(at("error"), [`The name ${quoted} holds a quotation mark, which a list cannot. ${advice}`]);
      if (picked.length === 0) return notice(at("error"), ["No column is chosen, and at least one is required. Tick one."]);
      at("columns").value = all ? "" : picked.map(listed).join(",");
      return onOwn();
    }

    function onOwn() {
      if (!tried) return;
      open({ ...tried, target: at("target").value, columns: at("columns").value.trim(), missing: at("missing").value });
    }

    function take(given) {
      if (!given) return;
      if (given.size > catalogue.most_upload_bytes) {
        const found = `${given.name} has ${size(given.size)}, and the page takes at most ${size(catalogue.most_upload_bytes)}.`;
        notice(at("error"), [`${found} Put the file into ${catalogue.folder} and load the page again, or start the explorer with it.`]);
        return;
      }
      uploaded.set(given.name, given);
      const source = `upload:${given.name}`;
      // What was chosen for another table is not chosen for this one.
      open({ ...PLAIN, source, missing: tried?.source === source ? at("missing").value : PLAIN.missing });
    }

    function image() {
      const [height, width] = [Number(at("image-height").value), Number(at("image-width").value)];
      return height > 0 && width > 0 && current && height * width === current.columns.length ? [height, width] : null;
    }

    /** What is wrong with the size of images; empty when it is good, or when none is given. */
    function imageFault() {
      const fields = [at("image-height"), at("image-width")];
      const [height, width] = fields.map((field) => Number(field.value));
      const blank = fields.filter((field) => field.value === "" && !field.validity.badInput).length;
      if (blank === 2) return "";
      const required = "Height and width are whole numbers of at least 1.";
      if (blank === 1) return `One of the two is empty. ${required}`;
      if (![height, width].every((side) => Number.isInteger(side) && side >= 1)) return `This is no size. ${required}`;
      if (height * width === current.columns.length) return "";
      const found = `${height} × ${width} are ${height * width} pixels, and a row has ${count(current.columns.length, "column")}.`;
      return `${found} Give a height and a width whose product is that.`;
    }

    function onImage() {
      if (!chosen) return;
      const wrong = imageFault();
      at("image-fault").textContent = wrong;
      at("image-fault").hidden = wrong === "";
      for (const id of ["image-height", "image-width"]) at(id).setAttribute("aria-invalid", String(wrong !== ""));
      chosen.image = image();
      hooks.onImage(image());
      hooks.onChange();
    }

    /** Files dropped anywhere on the page. */
    function acceptDrops() {
      const hide = later(() => (at("drop").hidden = true), 150);
      document.addEventListener("dragover", (event) => {
        if (![...event.dataTransfer.types].includes("Files")) return;
        event.preventDefault();
        at("drop").hidden = false;
        hide();
      });
      document.addEventListener("drop", (event) => {
        event.preventDefault();
        at("drop").hidden = true;
        take(event.dataTransfer.files[0]);
      });
    }

    at("upload-note").textContent = `CSV, TSV, NPY, NPZ or Parquet, up to ${size(catalogue.most_upload_bytes)} unpacked; a file can also be `
      + "dropped on the page. It stays on this machine.";
    at("data-form").addEventListener("submit", (event) => event.preventDefault());
    at("data-select").addEventListener("change", () => open({ ...PLAIN, source: at("data-select").value }));
    at("upload").addEventListener("change", () => (take(at("upload").files[0]), (at("upload").value = "")));
    for (const id of ["target", "columns", "missing"]) at(id).addEventListener("change", onOwn);
    at("column-boxes").addEventListener("change", later(onBoxes, 400));
    for (const id of ["image-height", "image-width"]) at(id).addEventListener("change", onImage);
    acceptDrops();
    ExplorerApi.onGone(reopen);
    offer();
    showChoice();

    return { open, choice: () => chosen, data: () => current, image };
  }

  return { create, PLAIN };
})();
