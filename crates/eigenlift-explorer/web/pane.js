"use strict";

/** One pane: settings, fits and everything that follows from them. */
const ExplorerPane = (() => {
  const { instance, make, notice, count, seconds, later } = ExplorerDom;
  // Why: a quick fit must not flash words about what it replaces.
  const QUIET_MS = 300;

  /**
   * `hooks` has onSettings(), onHover(i), onSelect(indices), onClick(i), columnValues(index), neighbor().
   */
  function create(pane, hooks) {
    const root = instance(document.getElementById("pane-template"), pane);
    document.getElementById("panes").append(root);
    const at = (name) => root.querySelector(`#${name}-${pane}`);
    let data = null;
    // The result that is shown, if it is one of the table at hand.
    let shown = null;
    // The table that what is shown is of, whether or not it is the one at hand; empty when nothing is shown.
    let shownOf = "";
    let onShown = null;
    // What is going on: a table is being read, a fit was asked for, the last fit was not finished.
    let [reads, waits, stopped] = [false, false, false];

    const controls = ExplorerControls.create(root, pane, () => (refit(), hooks.onSettings()));
    const results = ExplorerResults.create(root, pane, { again });
    const embedding = ExplorerEmbedding.create(root, pane, {
      onHover: hooks.onHover,
      onClick: hooks.onClick,
      onSelect: hooks.onSelect,
      onProbe: (probe) => inspector.probe(probe),
      columnValues: hooks.columnValues,
    });
    const inspector = ExplorerInspector.create(root, pane, {
      embedding: () => embedding,
      job: () => shown && shown.job,
      result: () => shown && shown.result,
      again,
    });
    const fitter = ExplorerFitter.create(pane, { onResult, onFailed, onCancelled, onLost, onStatus, onProgress });
    at("cancel").addEventListener("click", () => fitter.cancel());
    at("again").addEventListener("click", () => (at("method").focus(), refit()));
    const back = make("button", { type: "button", id: `back-${pane}`, "data-testid": `back-${pane}`, text: "Restore the previous settings", onclick: restore });

    function refit() {
      if (!data) return;
      const settings = ExplorerSettings.copy(controls.settings());
      ask({ data: data.id, args: ExplorerSettings.args(settings, data), settings });
    }

    /** Fits once more what is shown, because the server has forgotten it; `then` runs when it is shown again. */
    function again(then = null) {
      if (shown && !waits) ask({ ...shown.order, then });
    }

    function ask(order) {
      if (!at("fit-error").hidden || stopped) onStatus("Fitting …");
      notice(at("fit-error"), []);
      at("again").hidden = true;
      [waits, stopped] = [true, false];
      showState();
      fitter.ask(order);
    }

    /** Whether what is shown was fitted with the settings at hand. */
    function isOfSettings() {
      return ExplorerSettings.args(controls.settings(), data).join("\n") === shown.order.args.join("\n");
    }

    /** What the results belong to, in words; empty when that is the table and settings at hand. */
    function staleness() {
      if (!shownOf) return "";
      if (reads) return `These results are for ${shownOf}; the new table is still being read.`;
      if (waits && !shown) return `These results are for ${shownOf}; ${data.name} is still being fitted.`;
      if (waits && isOfSettings()) return "These results are being computed again.";
      if (waits) return "These results are for the previous settings; the new fit is still running.";
      return stopped && !isOfSettings() ? "These results are for the previous settings. Restore them to download the results." : "";
    }

    /** Takes the settings of what is shown over again, without a fit. */
    function restore() {
      controls.load(shown.order.settings);
      stopped = false;
      notice(at("fit-error"), []);
      at("again").hidden = true;
      results.showWarnings();
      onStatus(statusOf(shown.result));
      showState();
      hooks.onSettings();
      at("method").focus();
    }

    function showStale() {
      const words = staleness();
      root.classList.toggle("stale", words !== "");
      notice(at("stale"), words ? [words] : []);
      if (words && stopped && !reads) at("stale").append(back);
    }
    const showStaleSoon = later(showStale, QUIET_MS);

    /** Nothing can be taken away that is not what the page names; words about that come with fits that are not quick. */
    function showState() {
      results.setReady(shown !== null && !reads && !waits && (!stopped || isOfSettings()));
      if (reads || waits) showStaleSoon();
      else showStale();
    }

    /** Rows, size and time of a fit. */
    function statusOf(result) {
      return [count(result.rows, "row"), result.size, seconds(result.seconds)].join(" · ");
    }

    function onStatus(text) {
      at("status").textContent = text;
    }

    /** Stage and share of a fit that takes long; null when none does. */
    function onProgress(job) {
      const line = at("progress-line");
      const hadFocus = line.contains(document.activeElement);
      line.hidden = !job;
      if (!job) {
        if (hadFocus) at(at("again").hidden ? "method" : "again").focus();
        return;
      }
      const bar = at("progress");
      if (job.total > 0) Object.assign(bar, { max: job.total, value: Math.min(job.done, job.total) });
      else bar.removeAttribute("value");
      const pass = job.pass > 1 ? `, pass ${job.pass}` : "";
      const share = job.total > 0 ? `, ${Math.floor((100 * job.done) / job.total)} %` : "";
      onStatus(`Fitting: ${job.stage || "starting"}${pass}${share} (${seconds(job.seconds)})`);
    }

    function onFailed(text, order) {
      if (order.data !== data.id) return;
      notice(at("fit-error"), String(text).split("\n").filter((line) => line.trim()));
      at("fit-error").scrollIntoView({ block: "nearest" });
      stop("Not fitted.");
    }

    function onCancelled(after) {
      stop(`Cancelled after ${seconds(after)}.`);
    }

    function onLost() {
      stop("No connection to the explorer.");
    }

    /** Without a result: the picture before stays, unless it is one of other data. Its warnings would be taken for those of now. */
    function stop(text) {
      [waits, stopped] = [false, true];
      at("again").hidden = false;
      onStatus(text);
      results.clearWarnings();
      if (!shown) {
        shownOf = "";
        embedding.clear();
        root.classList.remove("filled");
      }
      showState();
    }

    function onResult(result, job, order) {
      if (order.data !== data.id) return;
      shown = { result, job, order };
      shownOf = data.name;
      root.classList.add("filled");
      controls.learn(result, order.settings);
      embedding.setResult(result, hooks.neighbor(result));
      results.set(result, job);
      inspector.renew();
      hooks.onShown();
      root.dataset.job = job;
      onStatus(statusOf(result));
      [waits, stopped] = [fitter.waits(), false];
      showState();
      if (onShown) onShown();
      onShown = null;
      if (order.then) order.then();
    }

    return {
      root,
      controls,
      embedding,
      settings: () => controls.settings(),
      /** Takes settings over without fitting; `then` runs when their result is shown. */
      prepare(settings, then = null) {
        controls.load(settings);
        onShown = then;
      },
      forOtherData: () => controls.load(ExplorerSettings.forOtherData(controls.settings())),
      setTitle: (text) => (at("pane-heading").textContent = text),
      /** Whether another table is being read, of which nothing is shown yet. */
      setReading(given) {
        reads = given;
        showState();
      },
      setData(given, image, canColumns) {
        data = given;
        shown = null;
        controls.setData(data);
        embedding.setData(data, canColumns);
        inspector.setData(data, image);
        results.setImage(image);
        onStatus("Fitting …");
        refit();
      },
      setImage(image) {
        inspector.setImage(image);
        results.setImage(image);
      },
      setInput: (columns) => inspector.setInput(columns),
      showPoint(i) {
        embedding.setBase(i);
        inspector.showPoint(i);
      },
      showTab: (name) => results.show(name),
      highlight: (indices) => embedding.highlight(indices),
      refit,
    };
  }

  return { create };
})();
