"use strict";
// Wakes the parts of a report: figures, points, copy buttons, theme and print.

(() => {
  const { rows, points } = EigenliftReport.parts;
  const views = [];

  function themeButton() {
    const names = ["auto", "light", "dark"];
    const button = rows.made("button", "theme", "Theme: auto");
    button.type = "button";
    let at = 0;
    button.addEventListener("click", () => {
      at = (at + 1) % names.length;
      button.textContent = `Theme: ${names[at]}`;
      if (at === 0) delete document.documentElement.dataset.theme;
      else document.documentElement.dataset.theme = names[at];
    });
    document.querySelector("header.top").append(button);
  }

  /** On paper a picture is light, whatever the screen is, and a plain image of what the screen shows. */
  function printing() {
    let theme;
    const sheets = [];
    window.addEventListener("beforeprint", () => {
      theme = document.documentElement.dataset.theme;
      document.documentElement.dataset.theme = "light";
      for (const { view, figure } of views) {
        view.refresh();
        const sheet = view.snapshot();
        sheet.className = "points-print";
        figure.querySelector(".points").after(sheet);
        sheets.push(sheet);
      }
    });
    window.addEventListener("afterprint", () => {
      if (theme) document.documentElement.dataset.theme = theme;
      else delete document.documentElement.dataset.theme;
      sheets.splice(0).forEach((sheet) => sheet.remove());
      for (const { view } of views) view.refresh();
    });
  }

  themeButton();
  document.querySelectorAll(".command").forEach((box) => {
    const words = box.querySelector("code").textContent;
    box.append(rows.copyButton("Copy", () => words));
  });
  document.querySelectorAll(".figure").forEach((div) => EigenliftFigures.zoomable(div));
  document.querySelectorAll(".points-block").forEach((figure, place) => {
    const view = points.build(figure, place);
    if (view) views.push({ view, figure });
  });
  printing();
  EigenliftReport.views = views.map(({ view }) => view);
})();
