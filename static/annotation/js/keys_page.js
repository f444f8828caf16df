// The page on which a person sets their keys: a field takes the key that is pressed in it and says at once what clashes.
// The server checks again; without this module keys can be typed by name.

import { clashes } from "./key_clashes.js";
import { keysOf } from "./keys.js";

const MODIFIERS = new Set(["Shift", "Control", "Alt", "AltGraph", "Meta", "CapsLock", "Dead"]);

const form = document.querySelector("[data-keys]");
// Keys inside the open form never meet the keys of the list, so that those rows are left out.
const rows = [...form.querySelectorAll("tr[data-action]")].filter((row) => row.querySelector("[data-captures]"));

function describe(row) {
  return {
    action: row.dataset.action,
    page: row.dataset.page,
    title: row.querySelector("th").textContent,
    own: row.querySelector("[data-captures]").value.trim(),
    usual: row.dataset.keysUsual.split(" "),
  };
}

function showClashes() {
  const found = clashes(rows.map(describe));
  for (const row of rows) {
    const list = found.get(row.dataset.action) ?? [];
    const place = row.querySelector("[data-clash]");
    place.hidden = list.length === 0;
    place.textContent = list.map(({ key, title }) => `${key} is also “${title}”.`).join(" ");
    place.parentElement.classList.toggle("wrong", list.length > 0);
    row.querySelector("[data-captures]").toggleAttribute("aria-invalid", list.length > 0);
  }
}

form.addEventListener("keydown", (event) => {
  const input = event.target.closest("[data-captures]");
  if (!input || event.key === "Tab" || event.key === "Escape" || MODIFIERS.has(event.key) || event.isComposing) return;
  event.preventDefault();
  input.value = event.key === "Backspace" ? "" : keysOf(event).at(-1);
  showClashes();
});
form.addEventListener("input", showClashes);
