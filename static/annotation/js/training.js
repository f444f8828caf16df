// Training: what of an utterance matches the gold, what differs, and why. It is said once the utterance is left, so that
// an utterance with several labels can be finished first, or at once by the key for it. The portal sends nothing of the
// gold before the utterance is labelled.

import { el, reveal } from "./dom.js";

const root = document.querySelector("[data-workbench]");
const live = root.querySelector("[data-live]");
const turns = new Map([...root.querySelectorAll(".turn")].map((turn) => [Number(turn.dataset.position), turn]));
const places = new Map();
const waiting = new Set(); // utterances that were saved and are not compared yet
const wanted = new Set(); // utterances whose comparison was asked for while they were being saved
const newest = new Map(); // the number of the last question about an utterance

const current = () => Number(root.querySelector(".turn[aria-current]")?.dataset.position ?? -1);
const labelled = (position) => turns.get(position)?.classList.contains("labelled");
const answered = (position) => labelled(position) || Boolean(turns.get(position)?.querySelector("[data-reason]").textContent);
const pending = (position) => Boolean(turns.get(position)?.querySelector(".label.pending"));

function say(text) {
  live.textContent = text;
}

function placeOf(position) {
  if (!places.has(position)) {
    const place = el("div", { class: "turn-check", role: "group", "aria-label": `Utterance ${position} and the gold` });
    turns.get(position).querySelector(".turn-body").append(place);
    places.set(position, place);
  }
  return places.get(position);
}

async function ask(position) {
  const answer = await fetch(`${root.dataset.check}?position=${position}`, { redirect: "manual", headers: { Accept: "text/html" } });
  const text = answer.status === 200 || answer.status === 409 ? await answer.text() : "";
  return { status: answer.status, text };
}

async function compare(position) {
  waiting.delete(position);
  wanted.delete(position);
  const number = (newest.get(position) ?? 0) + 1;
  newest.set(position, number);
  let answer;
  try {
    answer = await ask(position);
  } catch {
    answer = { status: 0, text: "" };
  }
  if (newest.get(position) !== number) return; // it was asked again since
  if (answer.status !== 200) {
    placeOf(position).replaceChildren();
    say(answer.text || "The comparison could not be fetched. Is the connection there, and are you still signed in?");
    return;
  }
  // The fragment is the portal's own template, in which every value is escaped.
  placeOf(position).innerHTML = answer.text;
  say(`u${position}: ${placeOf(position).querySelector("[data-words]").textContent}.`);
  const at = turns.get(current());
  if (at) reveal(at);
}

/** Asked for by key: the utterance itself, or the one before where this one has no label yet. */
function check() {
  const here = current();
  const position = answered(here) ? here : lastLabelledBefore(here);
  if (position === undefined) say("Label an utterance first; then it can be compared with the gold.");
  else if (pending(position)) wanted.add(position);
  else compare(position);
}

function lastLabelledBefore(here) {
  return [...turns.keys()].filter((position) => position < here && labelled(position)).at(-1);
}

function saved(positions) {
  for (const position of positions) {
    if (wanted.has(position)) compare(position);
    else if (!labelled(position)) places.get(position)?.replaceChildren();
    else if (position !== current() || places.get(position)?.firstChild) compare(position);
    else wait(position);
  }
}

/** The utterance could get another label: it is compared when it is left; the last one is never left, so at once. */
function wait(position) {
  if (position === [...turns.keys()].at(-1)) compare(position);
  else waiting.add(position);
}

root.addEventListener("labels-saved", (event) => saved(event.detail.positions));
root.addEventListener("check", check);
new MutationObserver(() => {
  for (const position of waiting) if (position !== current() && !pending(position)) compare(position);
}).observe(root.querySelector(".work-turns"), { subtree: true, attributes: true, attributeFilter: ["aria-current"] });
