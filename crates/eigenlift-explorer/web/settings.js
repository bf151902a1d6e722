"use strict";

/** What can be set of a fit: methods, kernels and their numbers, and how settings become flags and a fragment. */
const ExplorerSettings = (() => {
  // A field is a slider ("log" or "linear"), a choice or a tick. `word` is a value that the library finds by itself,
  // `also` a second one, `least` the smallest number that means anything.
  const choice = (title, flag, values) => ({ kind: "choice", title, flag, values, fallback: values[0] });
  const OTHER = {
    title: "other, as text",
    formula: "map(…), expr(…), sums, products and multiples",
    fields: { text: { kind: "text", title: "Kernel as text", fallback: "0.5*rbf(gamma=median) + linear" } },
  };
  // Filled from the program's catalog of kernels.
  const KERNELS = {};
  const AS_TEXT = ["feature maps", "pairs of rows", "a given matrix"];

  /** The control of a parameter of the catalog. */
  function fieldOf(entry, { title, role, default: fallback, range, trial }) {
    if (range.kind === "one-of") {
      return { kind: "choice", title, values: range.values.map(String), fallback: String(fallback), always: true };
    }
    if (trial.kind === "linear") {
      const least = range.kind === "positive" ? trial.low : undefined;
      return { kind: "linear", title, min: trial.low, max: trial.high, step: trial.step, least, fallback };
    }
    const isNumber = typeof fallback === "number";
    const word = role ? (isNumber ? "median" : fallback) : undefined;
    const also = role && entry.profile === "squared distances" ? "auto" : undefined;
    return { kind: "log", title, role, decades: trial.decades, center: isNumber ? fallback : undefined, word, also, fallback };
  }

  /** Takes the kernels of the program's catalog, in its order. */
  function takeKernels(catalog) {
    for (const entry of catalog.filter(({ profile }) => !AS_TEXT.includes(profile))) {
      const own = entry.params.filter((parameter) => !parameter.replaces_first);
      const fields = Object.fromEntries(own.map((parameter) => [parameter.name, fieldOf(entry, parameter)]));
      const formula = entry.formula + (entry.nonnegative ? "; entries ≥ 0" : "");
      KERNELS[entry.name] = { title: entry.title, formula, fields };
    }
    KERNELS.other = OTHER;
  }

  const COMPONENTS = { kind: "linear", title: "Components (k)", flag: "-k", min: 1, max: 20, step: 1, least: 1, fallback: 2, always: true };
  const CHOSEN = { ...COMPONENTS, word: "auto" };
  const NEIGHBORS = { kind: "linear", title: "Neighbours", flag: "--neighbors", min: 2, max: 50, step: 1, least: 1, fallback: 10 };
  const KAPPA = { kind: "log", title: "Regularisation (κ)", flag: "--regularization", decades: 5, center: 0.01, word: "auto", fallback: "auto" };
  const FOLDS = { kind: "linear", title: "Folds held out", flag: "--folds", min: 2, max: 10, step: 1, least: 2, fallback: 5 };
  const METRIC = choice("Distance", "--metric", ["euclidean", "manhattan", "cosine", "correlation"]);

  /** Columns of a view as positions: half of the columns, until others are written. */
  function half(which) {
    return ({ columns }) => {
      const [n, middle] = [columns.length, Math.ceil(columns.length / 2)];
      const [first, last] = which === 1 ? [1, middle] : [Math.min(n, middle + 1), n];
      return first === last ? String(first) : `${first}-${last}`;
    };
  }
  const view = (which) => ({ kind: "text", title: `Columns of view ${which}`, flag: "--view", lines: 1, always: true, ofTable: true, fallback: half(which) });

  const METHODS = {
    kpca: { title: "Kernel PCA", note: "Components in the feature space of a kernel.", kernel: true, chooses: true, fields: { k: CHOSEN } },
    pca: {
      title: "PCA",
      note: "The directions of largest variance.",
      fields: { k: CHOSEN, scale: { kind: "tick", title: "Divide columns by their standard deviation", flag: "--scale" } },
    },
    whiten: {
      title: "Whitening",
      note: "Coordinates without correlation, of variance 1.",
      fields: {
        whitening: choice("Whitening", "--method", ["zca", "pca", "cholesky", "zca-cor", "pca-cor"]),
        k: { ...COMPONENTS, title: "Directions (k)", word: "all", fallback: "all", always: false },
        ridge: { kind: "log", title: "Ridge", flag: "--ridge", decades: 3, center: 0.01, word: "0", fallback: "0" },
      },
    },
    isomap: {
      title: "Isomap",
      note: "Distances along a graph of neighbours, unrolled.",
      fields: {
        neighbors: NEIGHBORS,
        k: COMPONENTS,
        metric: METRIC,
        disconnected: choice("Graph in pieces", "--disconnected", ["bridge", "separate", "largest", "error"]),
        cut: { kind: "tick", title: "Cut suspected short circuits", flag: "--cut" },
      },
    },
    mds: { title: "Classical scaling (MDS)", note: "Places rows by their distances.", fields: { k: COMPONENTS, metric: METRIC } },
    laplacian: {
      title: "Laplacian eigenmaps",
      note: "Rows that are alike lie close together.",
      fields: {
        neighbors: NEIGHBORS,
        k: COMPONENTS,
        heat: { kind: "log", title: "Heat", flag: "--heat", decades: 2.5, word: "off", fallback: "off" },
        metric: METRIC,
      },
    },
    diffusion: {
      title: "Diffusion maps",
      note: "Keeps where random walks lead.",
      kernel: true,
      fields: {
        k: COMPONENTS,
        density: { kind: "linear", title: "Density taken out (alpha)", flag: "--alpha", min: 0, max: 1, step: 0.05, fallback: 1 },
        time: { kind: "linear", title: "Steps of the walk (time)", flag: "--time", min: 0, max: 16, step: 1, fallback: 1 },
      },
    },
    lle: {
      title: "Locally linear embedding",
      note: "Each row described by its neighbours.",
      fields: {
        neighbors: NEIGHBORS,
        k: COMPONENTS,
        variant: choice("Variant", "--variant", ["standard", "modified", "hessian", "ltsa"]),
        ridge: { kind: "log", title: "Ridge", flag: "--ridge", decades: 3, center: 0.001, fallback: 0.001 },
        metric: METRIC,
      },
    },
    kcca: {
      title: "Kernel CCA",
      note: "What two views of the same rows have in common. Columns by name, position or range, such as 1-3,width.",
      kernel: true,
      several: true,
      fields: {
        view1: view(1),
        view2: view(2),
        k: COMPONENTS,
        regularization: KAPPA,
        folds: FOLDS,
        permutations: { kind: "linear", title: "Permutations", flag: "--permutations", min: 0, max: 200, step: 10, least: 0, fallback: 0 },
      },
    },
    kda: {
      title: "Kernel discriminants (KDA)",
      note: "Directions that tell the classes of the target apart.",
      kernel: true,
      fields: { k: { ...COMPONENTS, word: "all", fallback: "all", always: false }, regularization: KAPPA, folds: FOLDS },
    },
    kkmeans: {
      title: "Kernel k-means",
      note: "Clusters in the feature space of a kernel.",
      kernel: true,
      fields: {
        clusters: { kind: "linear", title: "Clusters", flag: "--clusters", min: 1, max: 20, step: 1, least: 1, fallback: 3, always: true },
        spectral: { kind: "linear", title: "Spectral components", flag: "--spectral", min: 1, max: 20, step: 1, least: 1, word: "off", fallback: "off" },
        starts: { kind: "linear", title: "Starts", flag: "--starts", min: 1, max: 50, step: 1, least: 1, fallback: 10 },
      },
    },
  };

  /** Settings of a new pane: kernel PCA as the command does it by itself. */
  function initial() {
    return { method: "kpca", kernel: "rbf", values: {}, more: "" };
  }

  /** The same settings for another table: widths and columns are found anew, since they belong to the data. */
  function forOtherData(settings) {
    const values = Object.entries(settings.values).filter(([name, now]) => {
      const [owner, field] = name.split(".");
      if (METHODS[owner]?.fields[field]?.ofTable) return false;
      return !(field && typeof now === "number" && KERNELS[owner]?.fields[field]?.fallback === "median");
    });
    return { ...settings, values: Object.fromEntries(values) };
  }

  function copy(settings) {
    return { ...settings, values: { ...settings.values } };
  }

  /** Name under which a value is kept: kernels and methods do not share their numbers, except k and neighbours. */
  function key(owner, field) {
    return field === "k" || field === "neighbors" ? field : `${owner}.${field}`;
  }

  /** The value of a field; a word that belongs to another method or kernel gives way to the fallback. */
  function value(settings, owner, name, field, data = null) {
    const kept = settings.values[key(owner, name)];
    const foreign = (kept === "all" || kept === "auto") && kept !== field.word && kept !== field.also;
    if (kept !== undefined && !foreign) return kept;
    if (!field.ofTable) return field.fallback;
    return data ? field.fallback(data) : "";
  }

  /** Names of the kernels that a method takes; only kernel PCA chooses one by itself. */
  function kernelsOf(method) {
    return Object.keys(KERNELS).filter((name) => name !== "auto" || METHODS[method].chooses);
  }

  function kernelOf(settings) {
    return kernelsOf(settings.method).includes(settings.kernel) ? settings.kernel : initial().kernel;
  }

  /** The fields of the kernel, as the method at hand takes them. */
  function kernelFields(settings) {
    const fields = Object.entries(KERNELS[kernelOf(settings)].fields);
    if (METHODS[settings.method].chooses) return Object.fromEntries(fields);
    return Object.fromEntries(fields.map(([name, field]) => [name, { ...field, also: undefined }]));
  }

  /** The kernel as the command line takes it; numbers at their default are left out. */
  function kernelText(settings) {
    const kernel = kernelOf(settings);
    const fields = kernelFields(settings);
    if (kernel === "other") return value(settings, "other", "text", fields.text);
    const given = Object.entries(fields)
      .map(([name, field]) => [name, field, value(settings, kernel, name, field)])
      .filter(([, field, now]) => field.always || now !== field.fallback || now === "median")
      .map(([name, , now]) => `${name}=${String(now)}`);
    return given.length ? `${kernel}(${given.join(",")})` : kernel;
  }

  /** Words of a line as a shell would take them apart: spaces separate, quotes hold together. */
  function split(line) {
    return [...line.matchAll(/"([^"]*)"|'([^']*)'|(\S+)/g)].map((found) => found[1] ?? found[2] ?? found[3]);
  }

  /** The name of a flag however it is written: --components, --components=5, -k5 and -k are one. */
  function flagOf(word) {
    const long = word.split("=")[0];
    return /^-k/.test(word) || long === "--components" ? "-k" : long;
  }

  /** Flags that the controls stand for, each with its words. */
  function controlled(settings, data) {
    const method = METHODS[settings.method];
    const out = method.kernel ? [["--kernel", kernelText(settings)]] : [];
    for (const [name, field] of Object.entries(method.fields)) {
      const now = value(settings, settings.method, name, field, data);
      if (field.kind === "tick") {
        if (now) out.push([field.flag]);
      } else if (field.always || now !== field.fallback) {
        out.push([field.flag, String(now)]);
      }
    }
    return out;
  }

  /** The arguments of `eigenlift fit` of the data for these settings; what was written takes the place of a control. */
  function args(settings, data) {
    const written = split(settings.more);
    const flags = written.map(flagOf);
    const kept = controlled(settings, data).filter(([flag]) => !flags.includes(flag));
    return [settings.method, ...kept.flat(), ...written];
  }

  /** Flags with a control of their own that were written under the other options. */
  function overridden(settings) {
    const method = METHODS[settings.method];
    const own = [...(method.kernel ? ["--kernel"] : []), ...Object.values(method.fields).map(({ flag }) => flag)];
    const flags = split(settings.more).map(flagOf);
    return own.filter((flag) => flags.includes(flag));
  }

  /** Settings as entries of the fragment, each name with the pane in front. */
  function toEntries(pane, settings) {
    const all = { method: settings.method, kernel: settings.kernel, more: settings.more, ...settings.values };
    return Object.entries(all).filter(([, now]) => now !== "").map(([name, now]) => [`${pane}.${name}`, String(now)]);
  }

  /** Settings from the fragment; what is not known there is passed over. */
  function fromEntries(pane, entries) {
    const settings = initial();
    for (const [name, text] of entries) {
      if (!name.startsWith(`${pane}.`)) continue;
      const rest = name.slice(pane.length + 1);
      if (rest === "method") settings.method = text in METHODS ? text : settings.method;
      else if (rest === "kernel") settings.kernel = text in KERNELS ? text : settings.kernel;
      else if (rest === "more") settings.more = text;
      else settings.values[rest] = readValue(rest, text);
    }
    return settings;
  }

  function readValue(name, text) {
    if (text === "true" || text === "false") return text === "true";
    const [owner, field] = name.split(".");
    const isChoice = KERNELS[owner]?.fields[field]?.kind === "choice";
    const isText = ["other.text", "kcca.view1", "kcca.view2"].includes(name) || isChoice;
    const keepText = isText || text.trim() === "" || Number.isNaN(Number(text));
    return keepText || (text === "0" && name.endsWith("ridge")) ? text : Number(text);
  }

  return {
    KERNELS, METHODS, takeKernels, initial, copy, forOtherData, key, value, kernelsOf, kernelOf, kernelFields, args, overridden,
    toEntries, fromEntries,
  };
})();
