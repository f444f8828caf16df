// A list of utterances by keyboard: j and k go from one to the next, a goes to adjudicating the one that is chosen.

/** The place to go to: `step` from the one that holds the focus, the first one when none does. */
export function nextIndex(current, step, count) {
  if (current < 0) return 0;
  return Math.min(Math.max(current + step, 0), count - 1);
}

const STEPS = { j: 1, k: -1 };

function listen(root) {
  const places = [...root.querySelectorAll("[data-places] > [data-place]")];
  if (places.length === 0) return;
  root.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest("input, select, textarea, dialog")) return;
    const current = places.findIndex((place) => place.contains(root.activeElement));
    if (event.key in STEPS) {
      event.preventDefault();
      const place = places[nextIndex(current, STEPS[event.key], places.length)];
      place.focus();
      place.scrollIntoView({ block: "nearest" });
    } else if (event.key === "a") {
      places[Math.max(current, 0)].querySelector("[data-adjudicate]")?.click();
    }
  });
}

if (typeof document !== "undefined") {
  listen(document);
  for (const list of document.querySelectorAll("[data-places]")) list.dataset.ready = "true";
}
