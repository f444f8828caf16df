// The keys on buttons and in hints are those that the person has chosen.

import { keyNames } from "./keys.js";

/** From the page's bindings, the first key of an action as people read it, "" where it has none. `prefix`: of the page's actions. */
export const keyReader = (bindings, prefix = "") => (action) => keyNames(bindings.find((binding) => binding.action === prefix + action)?.keys[0]).join("+");

/** Fill in `data-key` (its action's key) and `data-key-title` (a button whose title names its key). */
export function showKeyMarks(root, keyFor) {
  for (const place of root.querySelectorAll("[data-key]")) {
    place.textContent = keyFor(place.dataset.key);
    place.hidden = !place.textContent;
  }
  for (const place of root.querySelectorAll("[data-key-title]")) {
    place.title = `${place.title} (${keyFor(place.dataset.action)})`;
  }
}
