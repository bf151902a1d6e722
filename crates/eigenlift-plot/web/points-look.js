"use strict";
// The look of points: colours of classes and values, marker shapes and sizes. The numbers are those of
// palette.rs and classes.rs, so that a class has one look in every picture.

const EigenliftPoints = { parts: {} };

EigenliftPoints.parts.look = (() => {
  const CLASSES = [0x0072b2, 0xe69f00, 0x009e73, 0xcc79a7, 0xd55e00, 0x56b4e9, 0x000000, 0xdccb12];
  const OTHER = 0xb0b0b0;
  const SHAPES = ["circle", "square", "triangle"];
  /** Classes beyond this many share the look "other". */
  const LIMIT = 20;
  /** Lightness, chroma and hue in degrees of the ramp's anchors in Oklab. */
  const RAMP = [
    [0.28, 0.12, 310], [0.4, 0.13, 280], [0.52, 0.1, 238],
    [0.64, 0.105, 185], [0.76, 0.15, 145], [0.88, 0.175, 108],
  ];

  const channels = (hex) => [(hex >> 16) & 255, (hex >> 8) & 255, hex & 255];

  function oklch(lightness, chroma, degrees) {
    const a = chroma * Math.cos((degrees * Math.PI) / 180);
    const b = chroma * Math.sin((degrees * Math.PI) / 180);
    const l = (lightness + 0.3963377774 * a + 0.2158037573 * b) ** 3;
    const m = (lightness - 0.1055613458 * a - 0.0638541728 * b) ** 3;
    const s = (lightness - 0.0894841775 * a - 1.291485548 * b) ** 3;
    const linear = [
      4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s,
      -1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s,
      -0.0041960863 * l - 0.7034186147 * m + 1.707614701 * s,
    ];
    return linear.map((v) => {
      const c = Math.min(Math.max(v, 0), 1);
      return Math.round(255 * (c <= 0.0031308 ? 12.92 * c : 1.055 * c ** (1 / 2.4) - 0.055));
    });
  }

  /** The colour of a share t from 0 to 1. Why mixed towards light: the dark end is lost on dark paper. */
  function ramp(t, dark) {
    const place = Math.min(Math.max(t, 0), 1) * (RAMP.length - 1);
    const below = Math.min(Math.floor(place), RAMP.length - 2);
    const mix = (k) => RAMP[below][k] + (place - below) * (RAMP[below + 1][k] - RAMP[below][k]);
    const lightness = dark ? 0.42 + (mix(0) - 0.28) * (0.52 / 0.6) : mix(0);
    return oklch(lightness, mix(1), mix(2));
  }

  /** 256 colours of the ramp, one after the other. */
  function rampTable(dark) {
    const table = new Uint8Array(256 * 3);
    for (let k = 0; k < 256; k += 1) table.set(ramp(k / 255, dark), 3 * k);
    return table;
  }

  const DECIMAL = /^\s*[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?\s*$/i;
  const asNumber = (text) => (DECIMAL.test(text) && Number.isFinite(Number(text)) ? Number(text) : null);
  const compare = (a, b) => (a < b ? -1 : a > b ? 1 : 0);

  function byRuns(a, b) {
    const x = a.match(/\d+|\D+/g) || [];
    const y = b.match(/\d+|\D+/g) || [];
    for (let k = 0; k < Math.min(x.length, y.length); k += 1) {
      const numbers = /^\d/.test(x[k]) && /^\d/.test(y[k]);
      const [p, q] = numbers ? [x[k].replace(/^0+/, ""), y[k].replace(/^0+/, "")] : [x[k], y[k]];
      const order = (numbers ? p.length - q.length : 0) || compare(p, q);
      if (order) return order;
    }
    return x.length - y.length || compare(a, b);
  }

  /** Numbers by value and before words; words by alphabet, with runs of digits by value. */
  function natural(a, b) {
    const [x, y] = [asNumber(a), asNumber(b)];
    if (x !== null && y !== null) return x - y || compare(a, b);
    if (x !== null || y !== null) return x !== null ? -1 : 1;
    return byRuns(a, b);
  }

  /** Black is not seen on dark paper; it turns nearly white there. */
  const onPaper = (hex, dark) => channels(dark && hex === 0 ? 0xf2f2f2 : hex);

  /**
   * The looks of classes in the order of the legend, and the place of each code among them. Of more than
   * 20 classes the most frequent 20 keep a look of their own.
   */
  function classLooks(names, codes) {
    const counts = new Float64Array(names.length);
    for (let i = 0; i < codes.length; i += 1) if (codes[i] < names.length) counts[codes[i]] += 1;
    const order = (a, b) => natural(String(names[a]), String(names[b]));
    let kept = [...names.keys()].filter((k) => counts[k] > 0);
    kept.sort((a, b) => counts[b] - counts[a] || order(a, b));
    const rest = kept.slice(LIMIT);
    kept = kept.slice(0, LIMIT).sort(order);
    const place = new Int32Array(names.length).fill(kept.length);
    const looks = kept.map((code, k) => {
      place[code] = k;
      const name = String(names[code]).trim() === "" ? "(empty)" : String(names[code]);
      const shape = Math.min(Math.floor(k / CLASSES.length), 2);
      return { name, hex: CLASSES[k % CLASSES.length], shape, count: counts[code], shown: true };
    });
    if (rest.length) {
      const count = rest.reduce((sum, code) => sum + counts[code], 0);
      looks.push({ name: `other (${rest.length})`, hex: OTHER, shape: 0, count, shown: true });
    }
    return { looks, place };
  }

  /** The smallest and largest finite value; [0, 1] when there is none. */
  function extent(values) {
    let [lo, hi] = [Infinity, -Infinity];
    for (let i = 0; i < values.length; i += 1) {
      const v = values[i];
      if (v - v === 0) {
        if (v < lo) lo = v;
        if (v > hi) hi = v;
      }
    }
    return lo <= hi ? [lo, hi] : [0, 1];
  }

  /** Radius in CSS pixels and opacity of markers when about n of them share the picture. */
  function marker(n) {
    return {
      radius: Math.min(Math.max(4.5 * (300 / Math.max(n, 1)) ** 0.2, 0.9), 4.5),
      opacity: Math.min(Math.max(0.9 * (500 / Math.max(n, 1)) ** 0.13, 0.3), 0.9),
    };
  }

  const isDark = () => {
    const theme = document.documentElement.dataset.theme;
    return theme ? theme === "dark" : window.matchMedia("(prefers-color-scheme: dark)").matches;
  };

  /** Calls back when the page turns light or dark; returns a function that ends this. */
  function onTheme(callback) {
    const media = window.matchMedia("(prefers-color-scheme: dark)");
    const observer = new MutationObserver(callback);
    observer.observe(document.documentElement, { attributes: true, attributeFilter: ["data-theme"] });
    media.addEventListener("change", callback);
    return () => {
      observer.disconnect();
      media.removeEventListener("change", callback);
    };
  }

  return { OTHER, CLASSES, SHAPES, channels, onPaper, ramp, rampTable, classLooks, extent, marker, isDark, onTheme, natural };
})();
