"use strict";

/** One pane: settings, fits and everything that follows from them. */
const ExplorerPane = (() => {
  const { instance, notice, count, seconds } = ExplorerDom;

  /**
   * `hooks` has onSettings(), onHover(i), onSelect(indices), onClick(i), columnValues(index), neighbor().
   */
  function create(pane, hooks) {
    const root = instance(document.getElementById("pane-template"), pane);
    document.getElementById("panes").append(root);
    const at = (name) => root.querySelector(`#${name}-${pane}`);
    let data = null;
    let shown = null;
    let onShown = null;

    const controls = ExplorerControls.create(root, pane, () => (refit(), hooks.onSettings()));
    const results = ExplorerResults.create(root, pane);
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
    });
    const fitter = ExplorerFitter.create(pane, { onResult, onFailed, onCancelled, onStatus, onProgress });
    at("cancel").addEventListener("click", () => fitter.cancel());

    function refit() {
      if (!data) return;
      if (!at("fit-error").hidden) onStatus("Fitting …");
      notice(at("fit-error"), []);
      const settings = ExplorerSettings.copy(controls.settings());
      fitter.ask({ data: data.id, args: ExplorerSettings.args(settings, data), settings, since: performance.now() });
    }

    function onStatus(text) {
      at("status").textContent = text;
    }

    /** Stage and share of a fit that takes long; null when none does. */
    function onProgress(job) {
      const line = at("progress-line");
      const hadFocus = line.contains(document.activeElement);
      line.hidden = !job;
      root.classList.toggle("busy", Boolean(job));
      if (!job) {
        if (hadFocus) at("method").focus();
        return;
      }
      const bar = at("progress");
      if (job.total > 0) Object.assign(bar, { max: job.total, value: Math.min(job.done, job.total) });
      else bar.removeAttribute("value");
      const share = job.total > 0 ? `, ${Math.floor((100 * job.done) / job.total)} %` : "";
      onStatus(`Fitting: ${job.stage || "starting"}${share} (${seconds(job.seconds)})`);
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

    /** Without a result: the picture before stays, unless it is one of other data. */
    function stop(text) {
      root.classList.toggle("stale", shown !== null);
      onStatus(shown ? `${text} The picture shows the settings before.` : text);
      if (shown) return;
      embedding.clear();
      root.classList.remove("filled");
    }

    function onResult(result, job, order) {
      if (order.data !== data.id) return;
      shown = { result, job };
      root.classList.remove("stale");
      root.classList.add("filled");
      controls.learn(result, order.settings);
      embedding.setResult(result, hooks.neighbor(result));
      results.set(result, job);
      inspector.renew();
      hooks.onShown();
      root.dataset.job = job;
      const parts = [count(result.rows, "row"), result.size, seconds(result.seconds)];
      onStatus(parts.join(" · "));
      if (onShown) onShown();
      onShown = null;
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
