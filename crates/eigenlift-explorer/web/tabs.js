"use strict";

/** Tabs by the pattern of the ARIA practices: arrows, Home and End move, one tab is in the tab order. */
const ExplorerTabs = (() => {
  const { make } = ExplorerDom;

  /** Tabs in `list`; `onShow(name)` is called when a tab is shown. */
  function create(list, onShow) {
    let tabs = [];
    let shown = null;

    function mark(name, focus) {
      shown = name;
      for (const tab of tabs) {
        const here = tab.name === name;
        tab.button.setAttribute("aria-selected", String(here));
        tab.button.tabIndex = here ? 0 : -1;
        tab.panel.hidden = !here;
        if (here && focus) tab.button.focus();
      }
      onShow(name);
    }

    function onKey(event) {
      const at = tabs.findIndex((tab) => tab.name === shown);
      const to = { ArrowRight: at + 1, ArrowDown: at + 1, ArrowLeft: at - 1, ArrowUp: at - 1, Home: 0, End: tabs.length - 1 }[event.key];
      if (to === undefined || tabs.length === 0) return;
      event.preventDefault();
      mark(tabs[(to + tabs.length) % tabs.length].name, true);
    }
    list.addEventListener("keydown", onKey);

    /** Replaces the tabs by [{name, title, panel}]; the one shown stays if it is still there. */
    function set(wanted) {
      const same = wanted.length === tabs.length && wanted.every((tab, i) => tab.name === tabs[i].name && tab.panel === tabs[i].panel);
      if (!same) build(wanted);
      const still = tabs.some((tab) => tab.name === shown);
      if (tabs.length > 0) mark(still ? shown : tabs[0].name, false);
    }

    function build(wanted) {
      for (const tab of tabs) tab.panel.hidden = true;
      tabs = wanted.map(({ name, title, panel }) => {
        const id = `${list.id}-${name}`;
        const button = make("button", { type: "button", role: "tab", id, "aria-controls": panel.id, "data-name": name, text: title });
        button.addEventListener("click", () => mark(name, false));
        panel.setAttribute("role", "tabpanel");
        panel.setAttribute("aria-labelledby", id);
        return { name, panel, button };
      });
      list.replaceChildren(...tabs.map((tab) => tab.button));
    }

    return { set, show: (name) => tabs.some((tab) => tab.name === name) && mark(name, false), shown: () => shown };
  }

  return { create };
})();
