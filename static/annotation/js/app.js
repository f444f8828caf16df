// What every page shares. Each behaviour hangs on a data- attribute; without it the page still works.

import { signOuts } from "./sign_out.js";

/** Menus close on Escape and on a click elsewhere. */
function menus(root) {
  const close = (except) => {
    for (const menu of root.querySelectorAll("details[data-menu][open]")) {
      if (menu !== except) menu.open = false;
    }
  };
  root.addEventListener("click", (event) => close(event.target.closest("details[data-menu]")));
  root.addEventListener("keydown", (event) => {
    const menu = event.key === "Escape" && root.querySelector("details[data-menu][open]");
    if (!menu) return;
    menu.open = false;
    menu.querySelector("summary").focus();
  });
}

/** `data-opens="id"` opens the <dialog> of that id, `data-closes` the one it stands in. */
function dialogs(root) {
  root.addEventListener("click", (event) => {
    const opener = event.target.closest("[data-opens]");
    if (opener) {
      event.preventDefault();
      document.getElementById(opener.dataset.opens).showModal();
    }
    event.target.closest("[data-closes]")?.closest("dialog")?.close();
  });
}

/** `data-tick-all="name"` ticks every visible checkbox of that name in its form; `data-count="name"` says how many are. */
function tickBoxes(root) {
  const boxes = (name) => [...root.querySelectorAll(`input[type=checkbox][name="${CSS.escape(name)}"]`)];
  const refresh = () => {
    for (const all of root.querySelectorAll("[data-tick-all]")) {
      const shown = boxes(all.dataset.tickAll).filter((box) => !box.closest("[hidden]"));
      const ticked = shown.filter((box) => box.checked).length;
      all.checked = shown.length > 0 && ticked === shown.length;
      all.indeterminate = ticked > 0 && ticked < shown.length;
    }
    for (const count of root.querySelectorAll("[data-count]")) {
      count.textContent = String(boxes(count.dataset.count).filter((box) => box.checked).length);
    }
  };
  root.addEventListener("change", (event) => {
    const all = event.target.closest("[data-tick-all]");
    if (all) {
      for (const box of boxes(all.dataset.tickAll)) if (!box.closest("[hidden]")) box.checked = all.checked;
    }
    refresh();
  });
  root.addEventListener("filtered", refresh);
  root.addEventListener("htmx:afterSwap", refresh);
  refresh();
}

/** `data-filters="selector"` on an input hides the matching elements that do not contain all of its words. */
function filters(root) {
  for (const input of root.querySelectorAll("input[data-filters]")) {
    const none = document.getElementById(input.dataset.none ?? "");
    const apply = () => {
      const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
      let shown = 0;
      for (const item of root.querySelectorAll(input.dataset.filters)) {
        const text = item.textContent.toLowerCase();
        item.hidden = !words.every((word) => text.includes(word));
        shown += item.hidden ? 0 : 1;
      }
      if (none) none.hidden = shown > 0;
      input.dispatchEvent(new CustomEvent("filtered", { bubbles: true }));
    };
    input.addEventListener("input", apply);
    input.addEventListener("keydown", (event) => {
      if (event.key === "Enter") event.preventDefault();
    });
    apply();
  }
}

/** `data-copies="id"` copies that element's text; the button says that it did. */
function copying(root) {
  root.addEventListener("click", async (event) => {
    const button = event.target.closest("[data-copies]");
    if (!button) return;
    const source = document.getElementById(button.dataset.copies);
    try {
      await navigator.clipboard.writeText(source.textContent.trim());
      button.textContent = "Copied";
    } catch {
      getSelection().selectAllChildren(source);
      button.textContent = "Selected: press Ctrl+C";
    }
  });
}

/** `data-prints` opens the browser's print dialog. */
function printing(root) {
  root.addEventListener("click", (event) => {
    if (event.target.closest("[data-prints]")) window.print();
  });
}

menus(document);
dialogs(document);
tickBoxes(document);
filters(document);
copying(document);
printing(document);
signOuts(document);
