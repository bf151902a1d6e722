"use strict";

/** Requests to the explorer that serves this page. */
const ExplorerApi = (() => {
  const { make } = ExplorerDom;
  const LOST = "The explorer does not answer. It has probably been ended in the terminal. Start it again with "
    + "eigenlift explore and open the address it prints; the address changes with every start.";

  /** What the server says is wrong; the message is for people. */
  class Refused extends Error {}

  /** The server is gone. */
  class Lost extends Error {
    constructor() {
      super(LOST);
    }
  }

  function showLost() {
    const place = document.getElementById("connection");
    if (!place.hidden) return;
    const again = make("button", { type: "button", text: "Try again", onclick: () => location.reload() });
    place.replaceChildren(make("p", { text: LOST }), again);
    place.hidden = false;
  }

  async function send(path, request) {
    try {
      return await fetch(path, { cache: "no-store", ...request });
    } catch (error) {
      if (error.name === "AbortError") throw error;
      showLost();
      throw new Lost();
    }
  }

  /** The JSON of an answer; an answer that is an error becomes an exception with its sentences. */
  async function call(path, request = {}) {
    const answer = await send(path, request);
    let body = null;
    try {
      body = await answer.json();
    } catch (error) {
      if (error.name === "AbortError") throw error;
      throw new Refused(`The explorer answered ${answer.status} without an explanation. Look at its terminal.`);
    }
    document.getElementById("connection").hidden = true;
    if (!answer.ok || (body.error && !body.state)) throw new Refused(body.error || `The explorer answered ${answer.status}.`);
    return body;
  }

  function post(path, body, signal) {
    return call(path, { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body), signal });
  }

  function upload(file, choices) {
    const query = new URLSearchParams({ name: file.name });
    for (const [key, value] of Object.entries(choices)) if (value) query.set(key, value);
    return call(`api/upload?${query}`, { method: "POST", headers: { "Content-Type": "application/octet-stream" }, body: file });
  }

  return {
    Refused,
    Lost,
    upload,
    catalogue: () => call("api/catalogue"),
    data: (choice) => post("api/data", choice),
    fit: (pane, data, args) => post("api/fit", { pane, data, args }),
    job: (job, wait, signal) => call(`api/job/${encodeURIComponent(job)}?wait=${wait}`, { signal }),
    cancel: (job) => call(`api/cancel/${encodeURIComponent(job)}`, { method: "POST" }),
    row: (data, index) => call(`api/row/${encodeURIComponent(data)}/${index}`),
    figure: (job, name) => call(`api/figure/${encodeURIComponent(job)}/${name}`),
    column: (data, index) => call(`api/column/${encodeURIComponent(data)}/${index}`),
    preimage: (job, scores) => post("api/preimage", { job, scores }),
    download: (job, name) => `api/download/${encodeURIComponent(job)}/${name}`,
  };
})();
