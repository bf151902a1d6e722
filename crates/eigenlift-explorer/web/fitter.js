"use strict";

/** Fits of one pane: at most one request at a time, and in the end always the latest settings. */
const ExplorerFitter = (() => {
  const { later } = ExplorerDom;
  const { Lost } = ExplorerApi;
  const DEBOUNCE_MS = 30;
  // Why: a quick result must not flash a bar, and a running fit is let finish for a while, so that the picture
  // follows a slider that keeps moving.
  const QUIET_MS = 300;
  const PATIENCE_MS = 600;
  const WAIT_MS = 300;

  /**
   * `ui` has onResult(result, job, order), onFailed(text, order), onCancelled(seconds), onLost(), onStatus(text),
   * onProgress(job or null).
   * An order is {data, args, …}; whatever else is in it comes back with the result.
   */
  function create(pane, ui) {
    let wanted = null;
    let running = null;
    let looping = false;

    const elapsed = () => performance.now() - running.started;

    /** One look at a running job. A cancel is told once, whether it broke off a wait or came between two. */
    async function look(job) {
      if (running.cancelled && !running.told && !wanted) {
        running.told = true;
        return ExplorerApi.cancel(job.job);
      }
      const wait = elapsed() < QUIET_MS ? Math.max(20, Math.round(QUIET_MS - elapsed())) : WAIT_MS;
      running.job = job.job;
      running.abort = new AbortController();
      try {
        return await ExplorerApi.job(job.job, wait, running.abort.signal);
      } catch (error) {
        if (error.name !== "AbortError") throw error;
        return job;
      }
    }

    /** Waits for a running job; null when a newer order is worth more. */
    async function follow(first) {
      let job = first;
      while (job.state === "running") {
        if (wanted && elapsed() > PATIENCE_MS) return null;
        if (elapsed() > QUIET_MS && !running.cancelled) ui.onProgress(job);
        job = await look(job);
      }
      return job;
    }

    function finish(job, order) {
      if (job.state === "done") ui.onResult(job.result, job.job, order);
      else if (job.state === "failed") ui.onFailed(job.error, order);
      else if (job.state === "cancelled" && !wanted) ui.onCancelled(elapsed() / 1000);
    }

    async function one(order) {
      running = { started: performance.now(), job: null, abort: null, cancelled: false, told: false };
      try {
        const attempt = async () => follow(await ExplorerApi.fit(pane, order.data, order.args));
        let job = await attempt();
        const gone = job && job.state === "failed" && ExplorerApi.saysGone(job.error);
        if (gone && (await ExplorerApi.openAgain(order.data))) job = await attempt();
        if (job) finish(job, order);
      } catch (error) {
        if (error instanceof Lost) ui.onLost();
        else ui.onFailed(error.message, order);
      }
    }

    async function loop() {
      if (looping) return;
      looping = true;
      while (wanted) {
        const order = wanted;
        wanted = null;
        await one(order);
        running = null;
        if (!wanted) ui.onProgress(null);
      }
      looping = false;
    }
    const soon = later(loop, DEBOUNCE_MS);

    return {
      /** Asks for a fit; a fit that has run long is given up for it. */
      ask(order) {
        wanted = order;
        if (running && running.abort && elapsed() > PATIENCE_MS) running.abort.abort();
        soon();
      },
      cancel() {
        wanted = null;
        if (!running) return;
        running.cancelled = true;
        if (running.abort) running.abort.abort();
        ui.onStatus("Cancelling …");
      },
      /** Whether a newer order is yet to be fitted. */
      waits: () => wanted !== null,
    };
  }

  return { create };
})();
