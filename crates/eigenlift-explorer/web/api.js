"use strict";

/** Requests to the explorer that serves this page. */
const ExplorerApi = (() => {
  const { make } = ExplorerDom;
  const LOST = "The explorer does not answer. It has probably been ended in the terminal. Start it again with "
    + "eigenlift explore and open the address it prints; the address changes with every start.";
  const MOVED = "The explorer was started again and has a new address. Open the address that eigenlift explore printed in the "
    + "terminal. The results on this page are no longer available for download.";

  /** What the server says is wrong; the message is for people. */
  class Refused extends Error {}

  /** The server has put a table away for newer ones. */
  class Gone extends Refused {}

  /** The server has put a fit away for those of other pages. */
  class Forgotten extends Refused {}

  /** The server is gone. */
  class Lost extends Error {
    constructor(words = LOST) {
      super(words);
    }
  }

  // Why not kept for a reload: a tab that is duplicated would take it along.
  const workspace = Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0")).join("");
  addEventListener("pagehide", () => navigator.sendBeacon(`api/leave/${workspace}`));

  function showLost(words = LOST) {
    const place = document.getElementById("connection");
    if (!place.hidden && place.firstElementChild?.textContent === words) return;
    const again = make("button", { type: "button", text: "Try again", onclick: tryAgain });
    place.replaceChildren(make("p", { text: words }), ...(words === LOST ? [again] : []));
    place.hidden = false;
  }

  /** Loads the page again where its server answers; another one's would know neither the page nor its address. */
  async function tryAgain() {
    try {
      if ((await call("api/catalogue")).version) location.reload();
    } catch {
      // The notice says what is wrong.
    }
  }

  async function answers() {
    try {
      return (await fetch("api/catalogue", { cache: "no-store" })).ok;
    } catch {
      return false;
    }
  }

  async function send(path, request) {
    try {
      return await fetch(path, { cache: "no-store", ...request });
    } catch (error) {
      if (error.name === "AbortError") throw error;
      // Why: a browser fails alike when nobody answers and when the file to send is no longer what it was.
      if (request.body instanceof Blob && (await answers())) {
        throw new Refused(`${request.body.name} cannot be read any more, or changed since it was chosen. Choose the file again.`);
      }
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
    if (body.other_start) {
      showLost(MOVED);
      throw new Lost(MOVED);
    }
    document.getElementById("connection").hidden = true;
    const wrong = body.error || `The explorer answered ${answer.status}.`;
    if (answer.status === 404 && saysGone(wrong)) throw new Gone(wrong);
    if (answer.status === 404 && String(wrong).includes("not kept any more")) throw new Forgotten(wrong);
    if (!answer.ok || (body.error && !body.state)) throw new Refused(wrong);
    return body;
  }

  function saysGone(text) {
    return String(text).includes("not open any more");
  }

  // Numbers of tables that were opened again, by the number under which the page knows them.
  const moved = new Map();
  const numberOf = (id) => moved.get(id) ?? id;
  let reopen = async () => null;

  /** Opens the table that the page knows as `id` once more; whether that could be done. */
  async function openAgain(id) {
    const number = await reopen(id);
    if (number !== null) moved.set(id, number);
    return number !== null;
  }

  /** Asks about a table; one that the server has put away is opened again, once. */
  async function ofTable(id, ask) {
    try {
      return await ask(numberOf(id));
    } catch (error) {
      if (!(error instanceof Gone) || !(await openAgain(id))) throw error;
      return ask(numberOf(id));
    }
  }

  function post(path, body, signal) {
    return call(path, { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body), signal });
  }

  function upload(file, choices) {
    const query = new URLSearchParams({ name: file.name });
    for (const [key, value] of Object.entries(choices)) if (value) query.set(key, value);
    return call(`api/upload?${query}`, { method: "POST", headers: { "Content-Type": "application/octet-stream" }, body: file });
  }

  /** Whether the server still has a fit. */
  async function isKept(job) {
    return (await send(`api/job/${encodeURIComponent(job)}`, { method: "HEAD" })).ok;
  }

  return {
    Refused,
    Forgotten,
    Lost,
    upload,
    catalogue: () => call("api/catalogue"),
    data: (choice) => post("api/data", choice),
    /** `again(id)` opens a table once more and gives its new number, or null. */
    onGone: (again) => (reopen = again),
    saysGone,
    openAgain,
    fit: (pane, id, args) => post("api/fit", { workspace, pane, data: numberOf(id), args }),
    job: (job, wait, signal) => call(`api/job/${encodeURIComponent(job)}?wait=${wait}`, { signal }),
    cancel: (job) => call(`api/cancel/${encodeURIComponent(job)}`, { method: "POST" }),
    row: (id, index) => ofTable(id, (data) => call(`api/row/${encodeURIComponent(data)}/${index}`)),
    figure: (job, name) => call(`api/figure/${encodeURIComponent(job)}/${name}`),
    column: (id, index) => ofTable(id, (data) => call(`api/column/${encodeURIComponent(data)}/${index}`)),
    preimage: (job, scores) => post("api/preimage", { job, scores }),
    isKept,
    download: (job, name) => `api/download/${encodeURIComponent(job)}/${name}`,
  };
})();
