"use strict";

/** Pictures, steps, plan, account, downloads and command of a result. */
const ExplorerResults = (() => {
  const { make, number, notice, latest } = ExplorerDom;
  const TITLES = { scree: "Scree", contours: "Contours", curves: "Curves", graph: "Graph", whitening: "Whitening", gram: "Gram", regularization: "Regularisation" };
  const DOWNLOADS = [["scores.csv", "Scores (CSV)"], ["model.safetensors", "Model (safetensors)"], ["report.html", "Report (HTML)"]];

  /** The picture of a figure as elements; the server's SVG is drawn by the same program as this page. */
  function picture(figure) {
    const parsed = new DOMParser().parseFromString(figure.svg, "image/svg+xml");
    const svg = document.importNode(parsed.documentElement, true);
    svg.setAttribute("role", "img");
    svg.setAttribute("aria-label", figure.title);
    return make("div", { class: "figure" }, svg);
  }

  function short(name, title) {
    return title.length <= 16 ? title : name.charAt(0).toUpperCase() + name.slice(1);
  }

  function headOf(step) {
    const names = step.columns.map((name) => make("th", { scope: "col", text: name }));
    return make("tr", {}, make("td"), ...names);
  }

  function stepTable(step) {
    const labels = step.rows.length > 1;
    const rows = step.rows.map((row, i) => make("tr", {},
      make("th", { scope: "row", text: labels ? String(i + 1) : "" }),
      ...row.map((value) => make("td", { text: typeof value === "number" ? number(value, 9) : String(value ?? "") }))));
    return make("div", { class: "scroll", tabindex: "0", role: "group", "aria-label": step.title },
      make("table", {}, make("thead", {}, headOf(step)), make("tbody", {}, ...rows)));
  }

  function stepElements(steps) {
    return steps.map((step, i) => make("section", { class: "step" },
      make("h4", {}, make("span", { class: "step-number", text: String(i + 1) }), ` ${step.title}`),
      ...(step.note ? [make("p", { class: "note", text: step.note })] : []),
      stepTable(step)));
  }

  /** Sentences as paragraphs, and lines that are set in columns as they are. */
  function account(words, block) {
    const out = [];
    let table = [];
    const close = () => {
      if (table.length) out.push(block("Components", table.join("\n")));
      table = [];
    };
    for (const line of words.flatMap((text) => text.split("\n"))) {
      if (/^\s{2}/.test(line)) table.push(line);
      else {
        close();
        out.push(make("p", { class: "account-line", text: line }));
      }
    }
    close();
    return out;
  }

  /** `hooks.again(then)` fits once more what is shown, when the server has forgotten it; `then` runs when it is there. */
  function create(root, pane, hooks) {
    const at = (name) => root.querySelector(`#${name}-${pane}`);
    let result = null;
    let job = null;
    let drawn = {};
    let image = null;
    // Whether what is shown is of the table and settings at hand, and so may be taken away.
    let ready = false;
    const panels = {};

    const tabs = ExplorerTabs.create(at("tabs"), (name) => showFigure(name));

    function panel(name) {
      if (!panels[name]) {
        panels[name] = make("div", { id: `figure-${name}-${pane}`, class: "figure-panel", "data-figure": name });
        at("figures").append(panels[name]);
      }
      return panels[name];
    }

    /** Draws a figure when its tab is shown, since a hidden one may be large. */
    function showFigure(name) {
      at("figures").hidden = !panels[name];
      const figure = result && result.figures.find((one) => one.name === name);
      if (!figure || drawn[name]) return;
      if (figure.svg) draw(figure);
      else fetchFigure(figure, result);
    }

    function draw(figure) {
      drawn[figure.name] = true;
      const box = picture(figure);
      const said = figure.title !== TITLES[figure.name];
      panel(figure.name).replaceChildren(box, ...(said ? [make("p", { class: "note", text: figure.title })] : []));
      EigenliftFigures.zoomable(box);
    }

    /** A figure that the server draws when it is looked at; the one before stays until then. */
    const fetchFigure = latest(async (figure, of) => {
      if (of !== result) return;
      try {
        const { svg } = await ExplorerApi.figure(job, figure.name);
        if (of === result) draw({ ...figure, svg });
      } catch (error) {
        if (of !== result) return;
        if (error instanceof ExplorerApi.Forgotten) hooks.again();
        else panel(figure.name).replaceChildren(make("p", { class: "notice bad", role: "alert", text: error.message }));
      }
    });

    function showSteps() {
      const none = "The steps are shown for kernel PCA of at most 12 rows. The worked example is one.";
      at("steps").replaceChildren(...(result.steps ? stepElements(result.steps) : [make("p", { class: "note", text: none })]));
    }

    function showWords() {
      const block = (label, text) => make("pre", { class: "words-block", tabindex: "0", "aria-label": label, text });
      at("plan").replaceChildren(block("The plan", result.plan));
      at("account").replaceChildren(...account(result.words, block));
      showWarnings();
    }

    function showWarnings() {
      notice(at("warnings"), result.warnings);
    }

    /** A link to a file; without an address while there is nothing to hand out. */
    function link([name, text]) {
      const id = `download-${name.split(".")[0]}-${pane}`;
      const size = image && name === "report.html" ? `?image=${image.join("x")}` : "";
      const href = ready ? ExplorerApi.download(job, name) + size : null;
      return make("a", { href, download: name, class: "button", "aria-disabled": String(!ready), "data-testid": id, text, onclick: (event) => take(event, name) });
    }

    function showTake() {
      at("downloads").replaceChildren(...DOWNLOADS.map(link));
      at("downloads").closest(".take").inert = !ready;
      at("command").textContent = result.command;
    }

    function save(name) {
      const wanted = [...at("downloads").children].find((one) => one.download === name);
      if (wanted.href) make("a", { href: wanted.href, download: name }).click();
    }

    /** Hands a file out; one of a fit that the server has forgotten is fitted again first. */
    async function take(event, name) {
      event.preventDefault();
      const of = result;
      if (!ready) return;
      try {
        const kept = await ExplorerApi.isKept(job);
        if (of !== result || !ready) return;
        if (kept) save(name);
        else hooks.again(() => save(name));
      } catch {
        // The page says that the connection is lost.
      }
    }

    async function copy() {
      const button = at("copy");
      try {
        await navigator.clipboard.writeText(at("command").textContent);
        button.textContent = "Copied";
      } catch {
        getSelection().selectAllChildren(at("command"));
        button.textContent = "Selected: press Ctrl+C";
      }
      setTimeout(() => (button.textContent = "Copy"), 2000);
    }
    at("copy").addEventListener("click", copy);

    const card = at("figures").closest(".card");
    at("large").hidden = !document.fullscreenEnabled;
    at("large").addEventListener("click", () => (document.fullscreenElement ? document.exitFullscreen() : card.requestFullscreen()));
    card.addEventListener("fullscreenchange", () => {
      const text = document.fullscreenElement ? "Leave full screen" : "Full screen";
      at("large").setAttribute("aria-label", text);
      at("large").title = text;
    });

    return {
      set(given, givenJob) {
        [result, job, drawn, ready] = [given, givenJob, {}, true];
        showSteps();
        showWords();
        showTake();
        const figures = result.figures.map(({ name, title }) => ({ name, title: TITLES[name] || short(name, title), panel: panel(name) }));
        tabs.set([
          ...figures,
          ...(result.steps ? [{ name: "steps", title: "Steps", panel: at("steps") }] : []),
          { name: "plan", title: "Plan", panel: at("plan") },
          { name: "account", title: "Account", panel: at("account") },
        ]);
        at("steps").hidden = tabs.shown() !== "steps";
      },
      /** Whether what is shown may be taken away. */
      setReady(given) {
        if (ready === given || !result) return;
        ready = given;
        showTake();
      },
      showWarnings,
      clearWarnings: () => notice(at("warnings"), []),
      /** Lines and pixels in a line of rows that are images, for the report; null if they are not. */
      setImage(given) {
        image = given;
        if (result) showTake();
      },
      /** Shows a tab and brings it into sight. */
      show(name) {
        tabs.show(name);
        const line = at("tabs").parentElement;
        if (line.getBoundingClientRect().top > 0.75 * innerHeight) line.scrollIntoView({ block: "start" });
      },
    };
  }

  return { create };
})();
