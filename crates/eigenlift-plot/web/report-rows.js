"use strict";
// What is known of the rows behind the points: unpacking, the pinned row and the selection.

const EigenliftReport = { parts: {} };

EigenliftReport.parts.rows = (() => {
  const TYPES = { f32: Float32Array, f64: Float64Array, u16: Uint16Array, u32: Uint32Array };
  const text = EigenliftFigures.cellText;
  /** Row numbers shown as text; the button copies all of them. */
  const MOST_NUMBERS = 400;

  function made(name, className, content) {
    const element = document.createElement(name);
    if (className) element.className = className;
    if (content !== undefined) element.textContent = content;
    return element;
  }

  /** Numbers from little-endian bytes in base 64. */
  function unpacked(packed) {
    let bytes;
    if (Uint8Array.fromBase64) bytes = Uint8Array.fromBase64(packed.bytes);
    else {
      const letters = atob(packed.bytes);
      bytes = new Uint8Array(letters.length);
      for (let k = 0; k < letters.length; k += 1) bytes[k] = letters.charCodeAt(k);
    }
    return new TYPES[packed.type](bytes.buffer, 0, Math.floor(bytes.length / TYPES[packed.type].BYTES_PER_ELEMENT));
  }

  /** Makes typed arrays of all numbers of a points block. */
  function opened(data) {
    data.columns = data.columns.map(unpacked);
    if (data.color.codes) data.color.codes = unpacked(data.color.codes);
    if (data.color.values) data.color.values = unpacked(data.color.values);
    if (data.rows) data.rows.values = unpacked(data.rows.values);
    if (data.row_numbers) data.row_numbers = unpacked(data.row_numbers);
    return data;
  }

  const rowNumber = (data, i) => (data.row_numbers ? data.row_numbers[i] : i + 1);

  function labelOf(data, i) {
    const { color } = data;
    if (color.kind === "classes") {
      const name = color.names[color.codes[i]] ?? "";
      return name.trim() === "" ? "(empty)" : name;
    }
    return color.kind === "values" ? text(color.values[i]) : null;
  }

  function rowValues(data, i) {
    const d = data.rows.names.length;
    return data.rows.values.subarray(i * d, (i + 1) * d);
  }

  function picture(data, i, side) {
    const [height, width] = data.image;
    return EigenliftFigures.image(made("canvas"), rowValues(data, i), height, width, { side });
  }

  /** Copies a text; the old way serves where the new one is not allowed. */
  async function copy(words) {
    try {
      await navigator.clipboard.writeText(words);
      return true;
    } catch {
      const field = made("textarea", "unseen");
      field.value = words;
      document.body.append(field);
      field.select();
      const done = document.execCommand("copy");
      field.remove();
      return done;
    }
  }

  function copyButton(name, words) {
    const button = made("button", "copy", name);
    button.type = "button";
    button.addEventListener("click", async () => {
      const done = await copy(words());
      button.textContent = done ? "Copied" : "Select the text and copy it";
      setTimeout(() => { button.textContent = name; }, 1500);
    });
    return button;
  }

  /** The pinned row with its coordinates and all its columns. */
  function showRow(element, data, i, close) {
    const head = made("div", "toolbar");
    const shut = made("button", "", "Close");
    shut.type = "button";
    shut.addEventListener("click", close);
    head.append(made("h4", "", `Row ${rowNumber(data, i)}`), made("span", "spring"), shut);
    element.replaceChildren(head);
    if (data.image && data.rows) element.append(picture(data, i, 160));
    const facts = [];
    if (labelOf(data, i) !== null) facts.push([data.color.name || "label", labelOf(data, i)]);
    data.axes.forEach((axis, j) => facts.push([axis, data.columns[j][i]]));
    if (data.rows) data.rows.names.forEach((name, j) => facts.push([name, rowValues(data, i)[j]]));
    const table = made("div", "tall");
    EigenliftFigures.table(table, ["name", "value"], facts, { digits: 6, most: 2000 });
    element.append(table);
    element.hidden = false;
  }

  /** Mean inside and outside of a selection, and their difference in standard deviations of all rows. */
  function contrast(values, start, step, chosen) {
    const sums = [0, 0];
    const counts = [0, 0];
    let [mean, square, n] = [0, 0, 0];
    for (let i = 0; i < chosen.length; i += 1) {
      const v = values[start + i * step];
      if (!Number.isFinite(v)) continue;
      sums[chosen[i]] += v;
      counts[chosen[i]] += 1;
      n += 1;
      const delta = v - mean;
      mean += delta / n;
      square += delta * (v - mean);
    }
    const [outside, inside] = [sums[0] / counts[0], sums[1] / counts[1]];
    const deviation = Math.sqrt(square / n);
    return { inside, outside, gap: deviation > 0 ? (inside - outside) / deviation : 0 };
  }

  function contrasts(data, chosen) {
    const found = [];
    if (data.rows) {
      const d = data.rows.names.length;
      data.rows.names.forEach((name, j) => found.push([name, contrast(data.rows.values, j, d, chosen)]));
    }
    const size = (entry) => Math.abs(entry[1].gap) || 0;
    found.sort((a, b) => size(b) - size(a));
    if (data.color.kind === "values") found.unshift([data.color.name || "value", contrast(data.color.values, 0, 1, chosen)]);
    return found;
  }

  function classCounts(data, indices) {
    const { names, codes } = data.color;
    const [inside, all] = [new Uint32Array(names.length), new Uint32Array(names.length)];
    for (const i of indices) inside[codes[i]] += 1;
    for (const code of codes) all[code] += 1;
    const order = [...names.keys()].filter((k) => inside[k] > 0).sort((a, b) => inside[b] - inside[a]);
    const share = (k) => `${Number(((100 * inside[k]) / indices.length).toPrecision(2))} %`;
    return order.map((k) => [names[k].trim() === "" ? "(empty)" : names[k], inside[k], all[k], share(k)]);
  }

  /** How many rows are selected, which, of what classes, and how they differ from the others. */
  function showSelection(element, data, indices, clear) {
    element.hidden = indices.length === 0;
    element.replaceChildren();
    if (indices.length === 0) return;
    const numbers = Array.from(indices, (i) => rowNumber(data, i));
    const shut = made("button", "", "Clear");
    shut.type = "button";
    shut.addEventListener("click", clear);
    const head = made("div", "toolbar");
    head.append(made("h4", "", `${indices.length} of ${data.n} rows selected`), made("span", "spring"),
      copyButton("Copy row numbers", () => numbers.join(",")), shut);
    const more = numbers.length > MOST_NUMBERS ? `, … and ${numbers.length - MOST_NUMBERS} more` : "";
    element.append(head, made("p", "row-numbers mono", numbers.slice(0, MOST_NUMBERS).join(", ") + more));
    const grids = made("div", "grids");
    element.append(grids);
    if (data.color.kind === "classes") {
      const counts = grids.appendChild(made("div", "tall"));
      EigenliftFigures.table(counts, [data.color.name || "class", "selected", "in all", "of selection"], classCounts(data, indices));
    }
    const chosen = new Uint8Array(data.n);
    for (const i of indices) chosen[i] = 1;
    const rows = contrasts(data, chosen).map(([name, c]) => [name, c.inside, c.outside, c.gap]);
    if (rows.length === 0) return;
    const means = grids.appendChild(made("div", "tall"));
    EigenliftFigures.table(means, ["column", "mean inside", "mean outside", "difference / sd"], rows, { digits: 4, most: 200 });
  }

  return { made, opened, rowNumber, labelOf, picture, copyButton, showRow, showSelection };
})();
