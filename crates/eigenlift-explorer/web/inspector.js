"use strict";

/** The row of a clicked point, and the pre-image of it or of a place in the embedding. */
const ExplorerInspector = (() => {
  const { make, number, latest, decode } = ExplorerDom;
  const MOST_TABLE = 40;
  // Columns that the card beside the pointer names.
  const MOST_CARD = 6;
  const CARD_SIDE = 104;
  const TO_COME = "Its pre-image appears here. In the mode Probe, drag in the embedding.";
  const NO_WAY_BACK = "This method has no way back from scores to rows.";
  const SVG = "http://www.w3.org/2000/svg";

  function shape(tag, attributes) {
    const element = document.createElementNS(SVG, tag);
    for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
    return element;
  }

  function extent(values) {
    let [low, high] = [Infinity, -Infinity];
    for (const value of values) {
      if (value < low) low = value;
      if (value > high) high = value;
    }
    return low <= high ? [low, high] : [0, 1];
  }

  /** Values of many columns as a line from the first to the last. */
  function profile(values) {
    const [low, high] = extent(values);
    const span = high - low || 1;
    const points = values.map((value, i) => `${(i / Math.max(1, values.length - 1)) * 300},${100 - ((value - low) / span) * 96 - 2}`);
    const words = `${values.length} columns, from ${number(low)} to ${number(high)}`;
    const svg = shape("svg", { viewBox: "0 0 300 100", class: "profile", role: "img", "aria-label": words });
    svg.append(shape("polyline", { points: points.join(" "), fill: "none", stroke: "currentColor", "stroke-width": "1.2" }));
    return make("div", {}, svg, make("p", { class: "note", text: words }));
  }

  function bars(names, values) {
    const most = Math.max(...values.map((value) => Math.abs(value)).filter(Number.isFinite), 1e-300);
    const rows = values.map((value, j) => {
      const bar = make("span", { class: value < 0 ? "bar negative" : "bar" });
      bar.style.width = `${Number.isFinite(value) ? (Math.abs(value) / most) * 100 : 0}%`;
      const name = make("th", { scope: "row", text: names[j] ?? `column ${j + 1}` });
      return make("tr", {}, name, make("td", { text: number(value) }), make("td", { class: "bar-cell", "aria-hidden": "true" }, bar));
    });
    return make("div", { class: "scroll" }, make("table", { class: "values" }, make("tbody", {}, ...rows)));
  }

  function isImage(values, image) {
    return Boolean(image) && image[0] * image[1] === values.length;
  }

  /** Values as a grey image of `side` pixels; `range` holds images to one scale of grey. */
  function grey(values, image, range, side) {
    const canvas = make("canvas", { class: "row-image", role: "img", "aria-label": `Image of ${image[0]} × ${image[1]} pixels` });
    EigenliftFigures.image(canvas, values, image[0], image[1], { side, ...(range ? { range } : {}) });
    return canvas;
  }

  /** Values as an image, a table or a line, whichever suits them. */
  function drawing(values, data, image, range) {
    if (isImage(values, image)) return grey(values, image, range, 160);
    return values.length <= MOST_TABLE ? bars(data.columns, values) : profile(values);
  }

  /** The same, small enough to lie over a corner of the embedding. */
  function smallDrawing(values, data, image, range) {
    if (isImage(values, image)) return grey(values, image, range, CARD_SIDE);
    if (values.length > MOST_TABLE) return profile(values);
    const rows = values.slice(0, MOST_CARD).map((value, j) =>
      make("tr", {}, make("th", { scope: "row", text: data.columns[j] }), make("td", { text: number(value, 4) })));
    const rest = values.length - MOST_CARD;
    const more = rest > 0 ? [make("p", { class: "note", text: `and ${rest} more` })] : [];
    return make("div", {}, make("table", { class: "values" }, make("tbody", {}, ...rows)), ...more);
  }

  /** `hooks` has embedding(), job(), result(), again(). */
  function create(root, pane, hooks) {
    const at = (name) => root.querySelector(`#${name}-${pane}`);
    let data = null;
    let image = null;
    let row = null;
    let index = null;
    let place = null;
    let range = null;
    let input = null;

    const empty = (text) => [make("p", { class: "note", text })];

    function showEmpty() {
      at("row").replaceChildren(...empty("Click a point to see its row."));
      showNoPreimage();
    }

    function showNoPreimage() {
      const invertible = !hooks.result() || hooks.result().can_invert;
      if (input) input.cursor(null);
      at("preimage").replaceChildren(...empty(invertible ? TO_COME : NO_WAY_BACK));
      at("card").replaceChildren();
    }

    /** The pre-image over a corner of the embedding, where it is seen while the hand is on the place. */
    function showCard(found) {
      if (!place) return void at("card").replaceChildren();
      const word = make("p", { class: found.trusted ? "trust" : "trust doubtful", text: found.trusted ? "Trusted" : "Not to be trusted" });
      at("card").replaceChildren(smallDrawing(found.row, data, image, range), word);
    }

    function showFault(error) {
      at("preimage").replaceChildren(make("p", { class: "notice bad", role: "alert", text: error.message }));
      at("card").replaceChildren();
    }

    function showRow() {
      if (!row) return;
      const facts = row.text.map(([name, value]) =>
        make("p", { class: "fact" }, make("span", { class: "faint", text: `${name} ` }), make("b", { text: value })));
      at("row").replaceChildren(make("h4", { text: `Row ${row.row}` }), ...facts, drawing(row.values, data, image, range));
    }

    const askRow = latest(async (i) => {
      const of = data;
      try {
        const found = await ExplorerApi.row(of.id, i);
        if (of !== data) return;
        row = found;
        range = extent(row.values);
        showRow();
        if (input) input.focus(i);
      } catch (error) {
        if (of === data) at("row").replaceChildren(make("p", { class: "notice bad", role: "alert", text: error.message }));
      }
    });

    function showPreimage(found, title) {
      const trust = make("p", { class: found.trusted ? "trust" : "trust doubtful", text: found.trusted ? "Trusted" : "Not to be trusted" });
      const words = `Distance in feature space ${number(found.distance, 4)}: ${found.words || "as near as it was found"}`;
      const note = make("p", { class: "note", text: words.endsWith(".") ? words : `${words}.` });
      at("preimage").replaceChildren(make("h4", { text: title }), drawing(found.row, data, image, range), trust, note);
      showCard(found);
      if (input) input.cursor(found.row);
    }

    const askPreimage = latest(async (job, scores, title) => {
      try {
        const found = await ExplorerApi.preimage(job, scores);
        if (job === hooks.job()) showPreimage(found, title);
      } catch (error) {
        if (job !== hooks.job()) return;
        if (error instanceof ExplorerApi.Forgotten) hooks.again();
        else showFault(error);
      }
    });

    /** The pre-image of the place or row at hand, by the model at hand. */
    function renew() {
      const result = hooks.result();
      if (!result) return;
      if (!result.can_invert) return void showNoPreimage();
      if (place && place.length === result.components) askPreimage(hooks.job(), place, "Pre-image of the place");
      else if (index !== null) askPreimage(hooks.job(), hooks.embedding().rowScores(index), `Pre-image of row ${index + 1}`);
    }

    return {
      setData(given, givenImage) {
        [data, image, row, index, place, range] = [given, givenImage, null, null, null, null];
        showEmpty();
      },
      setImage(given) {
        image = given;
        showRow();
        renew();
      },
      /** The two columns of the data, for a scatter of the rows themselves; null takes it away. */
      setInput(columns) {
        if (input) input.destroy();
        input = columns ? inputSpace(at("input"), data, columns) : null;
        at("input").hidden = !columns;
      },
      showPoint(i) {
        [index, place] = [i, null];
        hooks.embedding().clearCursor();
        askRow(i);
        renew();
      },
      probe({ scores }) {
        place = scores;
        renew();
      },
      renew,
    };
  }

  /** The rows themselves in their two columns, with a cross where the pre-image lies. */
  function inputSpace(place, data, [x, y]) {
    const box = make("div", { class: "input-view" });
    place.replaceChildren(make("h4", { text: "Input space" }), box);
    const view = EigenliftPoints.create(box, { ariaLabel: "The rows in their two columns; a cross marks the pre-image" });
    const [xLabel, yLabel] = data.columns;
    view.setData({ x, y, color: ExplorerEmbedding.targetColor(data.target), xLabel, yLabel, equal: true, keepView: false });
    return {
      cursor: (row) => view.setCursor(row && { x: row[0], y: row[1] }),
      focus: (i) => view.setHighlight(Uint32Array.of(i)),
      destroy: () => (view.destroy(), place.replaceChildren()),
    };
  }

  return { create, decodeColumn: (answer) => decode(answer.values, Float32Array) };
})();
