"use strict";

/** The page as a whole: panes, what they share, theme and fragment. */
(() => {
  const { later } = ExplorerDom;
  const at = (id) => document.getElementById(id);
  const NONE = new Uint32Array(0);
  const panes = {};
  let catalogue = null;
  let data = null;
  let columns = new Map();
  let selected = NONE;
  let selectedIn = null;
  let pinned = null;

  const comparing = () => at("compare").getAttribute("aria-pressed") === "true";
  const others = (pane) => Object.keys(panes).filter((name) => name !== pane && (name === "a" || comparing())).map((name) => panes[name]);
  const canDo = (what) => (catalogue.can || []).includes(what);

  // ---- Fragment: what a reload brings back.

  const remember = later(() => {
    const choice = table.choice();
    const entries = [];
    if (choice) {
      entries.push(["data", choice.source]);
      for (const key of ["target", "columns"]) if (choice[key]) entries.push([key, choice[key]]);
      if (choice.missing && choice.missing !== "error") entries.push(["missing", choice.missing]);
      if (choice.image) entries.push(["image", choice.image.join("x")]);
    }
    if (comparing()) entries.push(["compare", "1"]);
    for (const name of comparing() ? ["a", "b"] : ["a"]) entries.push(...ExplorerSettings.toEntries(name, panes[name].settings()));
    history.replaceState(null, "", `#${new URLSearchParams(entries)}`);
  }, 250);

  function remembered() {
    const entries = [...new URLSearchParams(location.hash.slice(1))];
    const all = Object.fromEntries(entries);
    const size = /^(\d+)x(\d+)$/.exec(all.image || "");
    const { target = "", columns: list = "", missing = "error" } = all;
    const image = size && [Number(size[1]), Number(size[2])];
    const choice = all.data && { source: all.data, target, columns: list, missing, image };
    return { entries, choice, compare: all.compare === "1" };
  }

  /** Whether a fragment is one that this page writes; others are passed over, and the page's own is put back. */
  function isOwn(fragment) {
    return [...new URLSearchParams(fragment.slice(1)).keys()].some((key) => key === "data" || /^[ab]\./.test(key));
  }

  function onFragment() {
    if (isOwn(location.hash)) location.reload();
    else remember();
  }

  function skip(event) {
    event.preventDefault();
    at("panes").focus();
    at("panes").scrollIntoView();
  }

  /** The table to begin with: that of the fragment, of the command line, or the digits. */
  function first(kept) {
    const start = catalogue.start;
    if (kept.choice) return kept.choice;
    const own = { target: start?.target || "", columns: start?.columns || "", missing: start?.missing || "error" };
    if (start && start.file) return { source: `file:${start.file}`, ...own };
    if (start && start.builtin) return { source: `builtin:${start.builtin}`, ...own };
    return ordinary();
  }

  function ordinary() {
    const names = catalogue.builtin.map(({ name }) => name);
    return { ...ExplorerData.PLAIN, source: `builtin:${names.includes("digits") ? "digits" : names[0]}` };
  }

  // ---- What the panes share.

  async function columnValues(index) {
    const own = columns;
    if (!own.has(index)) own.set(index, ExplorerInspector.decodeColumn(await ExplorerApi.column(data.id, index)));
    return own.get(index);
  }

  /** Two columns can be shown as they are. */
  async function showInput(pane) {
    const of = data;
    if (data.columns.length !== 2 || !canDo("column")) return pane.setInput(null);
    try {
      const both = [await columnValues(0), await columnValues(1)];
      if (of === data) pane.setInput(both);
    } catch {
      pane.setInput(null);
    }
    return undefined;
  }

  function marked(hovered) {
    return hovered >= 0 ? Uint32Array.of(...selected.subarray(0, 4999), hovered) : selected;
  }

  function newPane(name) {
    return ExplorerPane.create(name, {
      onSettings: remember,
      onShown: () => selectedIn !== name && panes[name].highlight(selected),
      onHover: (i) => others(name).forEach((pane) => pane.highlight(marked(i))),
      onSelect: (indices) => {
        [selected, selectedIn] = [indices, name];
        others(name).forEach((pane) => pane.highlight(indices));
      },
      onClick: (i) => {
        pinned = i;
        [panes[name], ...others(name)].forEach((pane) => pane.showPoint(i));
      },
      columnValues,
      neighbor: (result) => {
        const fits = Object.values(panes).map((pane) => pane.embedding.current());
        return fits.find((fit) => fit && fit.data === data.id && fit.method === result.method) || null;
      },
    });
  }

  function setTitles() {
    document.body.classList.toggle("comparing", comparing());
    panes.a.setTitle(comparing() ? "Setting A" : "Setting");
    if (panes.b) panes.b.setTitle("Setting B");
  }

  function give(pane) {
    pane.setData(data, table.image(), canDo("column"));
    if (pinned !== null) pane.showPoint(pinned);
    showInput(pane);
  }

  /** Opens or closes the second pane; it starts as a copy of the first. */
  function compare(on, settings = panes.a.settings()) {
    at("compare").setAttribute("aria-pressed", String(on));
    panes.b ||= newPane("b");
    panes.b.root.hidden = !on;
    setTitles();
    if (on) {
      panes.b.prepare(settings);
      if (data) give(panes.b);
    }
    remember();
  }

  function onData(opened, other) {
    if (other) Object.values(panes).forEach((pane) => pane.forOtherData());
    data = opened;
    columns = new Map();
    [selected, selectedIn, pinned] = [NONE, null, null];
    give(panes.a);
    if (comparing()) give(panes.b);
  }

  async function workedExample() {
    const settings = { ...ExplorerSettings.initial(), kernel: "polynomial", values: { "polynomial.degree": 2, k: 3 } };
    const choice = { ...ExplorerData.PLAIN, source: "builtin:worked-example" };
    panes.a.prepare(settings, () => panes.a.showTab("steps"));
    await table.open(choice);
  }

  // ---- Theme: system, then the other one, then the same as the system fixed.

  const dark = matchMedia("(prefers-color-scheme: dark)");

  function keep(name, value) {
    try {
      if (value === undefined) return localStorage.getItem(name);
      localStorage.setItem(name, value);
    } catch {
      // Without storage the theme lasts until the page is closed.
    }
    return null;
  }

  function setTheme(theme) {
    if (theme === "light" || theme === "dark") document.documentElement.dataset.theme = theme;
    else delete document.documentElement.dataset.theme;
    at("theme").textContent = `Theme: ${document.documentElement.dataset.theme || "system"}`;
  }

  function nextTheme() {
    const now = document.documentElement.dataset.theme;
    const [same, other] = dark.matches ? ["dark", "light"] : ["light", "dark"];
    const next = !now ? other : now === other ? same : "system";
    keep("eigenlift-theme", next);
    setTheme(next);
  }

  /** The digits, where the table asked for could not be opened; the reason stays. */
  async function openInstead() {
    const reason = [...at("error").children].map((line) => line.textContent);
    await table.open(ordinary());
    ExplorerDom.notice(at("error"), reason);
  }

  let table = null;

  async function start() {
    setTheme(keep("eigenlift-theme"));
    at("theme").addEventListener("click", nextTheme);
    at("skip").addEventListener("click", skip);
    try {
      catalogue = await ExplorerApi.catalogue();
    } catch (error) {
      at("data-words").textContent = error.message;
      return;
    }
    ExplorerSettings.takeKernels(catalogue.kernels);
    panes.a = newPane("a");
    const kept = remembered();
    const onImage = (image) => Object.values(panes).forEach((pane) => pane.setImage(image));
    const onReading = (reads) => Object.values(panes).forEach((pane) => pane.setReading(reads));
    table = ExplorerData.create(catalogue, { onData, onReading, onChange: remember, onImage });
    panes.a.prepare(ExplorerSettings.fromEntries("a", kept.entries));
    setTitles();
    if (kept.compare) compare(true, ExplorerSettings.fromEntries("b", kept.entries));
    at("compare").addEventListener("click", () => compare(!comparing()));
    at("worked-example").addEventListener("click", workedExample);
    window.addEventListener("hashchange", onFragment);
    await table.open(first(kept));
    if (!data) await openInstead();
  }

  start();
})();
