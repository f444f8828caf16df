// Draws the adjudication page: the gold below each utterance, what is to be decided, and the list of conflicts.

import { choicesOf, decisionWords, isOpen } from "./adjudication_state.js";
import { el } from "./dom.js";
import { drawLabels, labelItem } from "./render.js";

const SOURCES = { agreed: "both agree", A: "from A", B: "from B", accepted: "accepted", unseen: "not looked at", edited: "edited", new: "new" };
// A resolution, the action whose key chooses it, and its words.
const BUTTONS = [
  ["A", "A", "Take A"],
  ["B", "B", "Take B"],
  ["both", "both", "Take both"],
  ["agreed", "A", "Accept"],
  ["edited", "edit", "Edit"],
  ["new", "new", "Write new"],
  ["none", "none", "None"],
];

// As the portal writes it elsewhere: “1 Dec 2026, 02:39”, whatever the browser's language.
const clock = (time) => new Date(time).toLocaleString("en-GB", { day: "numeric", month: "short", year: "numeric", hour: "2-digit", minute: "2-digit" });

/** An utterance: its gold labels with where they come from, and what is still open. */
export function drawTurn(turn, { gold, note, open, unseen }) {
  const list = turn.querySelector("[data-labels]");
  drawLabels(list, gold);
  [...list.children].forEach((item, index) => {
    item.removeAttribute("tabindex");
    item.append(" ", el("span", { class: "from" }, SOURCES[gold[index].from] || ""));
  });
  turn.querySelector("[data-turn-state]").textContent = note;
  turn.classList.toggle("labelled", !open && !unseen && gold.length > 0);
  turn.classList.toggle("is-open", open);
}

const labels = (rows) => el("ul", { class: "labels" }, ...rows.map((row) => strip(labelItem(row))));

function strip(item) {
  item.removeAttribute("tabindex");
  return item;
}

function side(item, name, who, review) {
  const rows = item[name];
  const letter = name.toUpperCase();
  const chosen = !item.decision?.unseen && [letter, "both"].includes(item.decision?.resolution);
  const title = review ? "The annotator" : who ? `${letter} · ${who}` : letter;
  return el(
    "section",
    { class: chosen ? "side chosen-side" : "side", "aria-label": review ? "The annotator's label" : `Side ${letter}` },
    el("h4", {}, title, chosen ? el("span", { class: "took" }, review ? " ✓ accepted" : " ✓ taken") : null),
    rows.length ? labels(rows) : el("p", { class: "muted" }, "no label here"),
  );
}

function decided(decision, word, review) {
  if (decision.unseen) return el("p", { class: "decision muted" }, "Not in the sample: it is gold without anybody having looked at it.");
  const by = decision.by ? ` by ${decision.by}, ${clock(decision.at)}` : "";
  return el("p", { class: "decision" }, el("b", {}, `${word}${decisionWords(decision, review)}`), by, decision.blind === false ? " · not blind: the names were shown before" : "", decision.pending ? " · saving…" : "");
}

/** What was decided on labels of this utterance that have changed since. */
export function earlierNote(decision, review) {
  const note = decided(decision, "Before the labels changed: ", review);
  if (decision.reason) note.append(` · “${decision.reason}”`);
  return el("div", { class: "earlier" }, note, decision.labels.length ? labels(decision.labels) : null);
}

/** One item in full, with what can be done about it. host: {choose(resolution), review, editable, names, keyFor(action)} */
export function itemCard(item, { current, review, editable, names, keyFor, select, choose }) {
  const agreed = item.outcome === "agreed";
  const heading = agreed ? "Both agree" : item.words || "Label to review";
  const card = el("article", { class: `item ${item.outcome.replaceAll(" ", "-")}${isOpen(item) ? " open" : ""}`, "data-item": item.key, tabindex: "-1", on: { click: select } });
  if (current) card.setAttribute("aria-current", "true");
  card.append(el("h3", { class: "difference" }, heading));
  if (agreed) card.append(el("div", { class: "sides one" }, labels(item.a)));
  else if (review && item.outcome !== "added") card.append(el("div", { class: "sides one" }, side(item, "a", "", true)));
  else if (item.outcome !== "added") card.append(el("div", { class: "sides" }, side(item, "a", names?.[0], false), side(item, "b", names?.[1], false)));
  if (item.before) card.append(decided(item.before, "The labels have changed since. Before that: ", review));
  if (item.decision) {
    card.append(decided(item.decision, "", review));
    if (item.decision.labels.length) card.append(labels(item.decision.labels));
  } else if (agreed) card.append(el("p", { class: "decision muted" }, "accepted as it is"));
  if (current && editable) card.append(buttons(item, review, keyFor, choose));
  return card;
}

const isChosen = ({ decision }, resolution) => Boolean(decision) && !decision.unseen && decision.resolution === resolution;

function buttons(item, review, keyFor, choose) {
  const offered = choicesOf(item, review);
  const button = ([resolution, action, text]) =>
    el(
      "button",
      { type: "button", class: isChosen(item, resolution) ? "small" : "quiet small", "data-choice": resolution, "aria-pressed": String(isChosen(item, resolution)), on: { click: (event) => (event.stopPropagation(), choose(resolution)) } },
      review && resolution === "A" ? "Accept" : text,
      " ",
      el("kbd", { "aria-hidden": "true" }, keyFor(action)),
    );
  return el("div", { class: "choices-row", role: "group", "aria-label": "Decide" }, ...BUTTONS.filter(([resolution]) => offered.includes(resolution)).map(button));
}

/** Reason and error type of the chosen item. */
export function reasonFields({ errorTypes, reason, errorType, proposed, keyFor, changed, done, guideline }) {
  const input = el("input", { type: "text", id: "reason", maxlength: "2000", value: reason, autocomplete: "off", "data-reason": true });
  const select = el("select", { id: "error-type", "data-error-type": true }, el("option", { value: "" }, "none stated"), ...errorTypes.map((name) => el("option", { value: name, selected: name === errorType }, proposed.includes(name) ? `${name} (as it looks)` : name)));
  input.addEventListener("input", () => changed(input.value, select.value));
  select.addEventListener("change", () => (changed(input.value, select.value), done(false)));
  input.addEventListener("change", () => done(false));
  input.addEventListener("keydown", (event) => {
    if (event.isComposing || (event.key !== "Enter" && event.key !== "Escape")) return;
    event.preventDefault();
    event.stopPropagation();
    done(true);
  });
  return el(
    "div",
    { class: "reason-fields" },
    el("label", { for: "reason" }, el("span", {}, "Reason (optional) ", el("kbd", { "aria-hidden": "true" }, keyFor("reason"))), input),
    el("label", { for: "error-type" }, el("span", {}, "Kind of error (optional)"), select),
    el("button", { type: "button", class: "quiet small", on: { click: guideline } }, "Make it a guideline example ", el("kbd", { "aria-hidden": "true" }, keyFor("guideline"))),
  );
}

/** All conflicts with what became of them; each leads to its place. What a review leaves out is not among them. */
export function drawConflicts(container, all, at, review) {
  const places = all.filter(({ item }) => !item.decision?.unseen);
  if (!places.length) {
    container.replaceChildren(el("p", { class: "empty" }, review ? "There is no label to review." : "The two annotators agree on everything."));
    return;
  }
  const line = ({ position, item }) => {
    const text = review && item.a.length ? labelText(item.a[0]) : item.words;
    const state = item.decision ? decisionWords(item.decision, review) : item.before ? "changed since, open again" : "open";
    const link = el("a", { href: `#u${position}`, "data-goto": position, "data-goto-item": item.key }, el("span", { class: "conflict-place" }, `u${position}`), ` ${text} `, el("span", { class: `conflict-state${item.decision ? "" : " is-open"}` }, state));
    const here = position === at.position && item.key === at.key;
    if (here) link.setAttribute("aria-current", "true");
    return el("li", { class: here ? "here" : "" }, link);
  };
  const utterances = new Set(places.map(({ position }) => position)).size;
  const count = (number, noun) => `${number} ${noun}${number === 1 ? "" : "s"}`;
  const words = `${count(places.length, review ? "label" : "conflict")} in ${count(utterances, "utterance")}`;
  container.replaceChildren(el("p", { class: "muted small" }, words), el("ol", { class: "conflicts" }, ...places.map(line)));
  container.querySelector(".here")?.scrollIntoView({ block: "nearest" });
}

/** A label in one line. */
export function labelText(row) {
  const details = row.details.map(([name, answer, asked]) => `${name}${asked ? "?" : ""}${answer ? `: ${answer}` : ""}`);
  const values = row.values.join(", ") + (row.status ? ` (${row.status})` : "");
  return [`${row.intent} ${row.slot}`.trim().toLowerCase(), [values.trim(), ...details].filter(Boolean).join(", ")].filter(Boolean).join(": ");
}
