// Draws the adjudication page: the gold below each utterance, what is to be decided, and the list of conflicts.

import { WORDS, choicesOf, isOpen } from "./adjudication_state.js";
import { el } from "./dom.js";
import { drawLabels, labelItem } from "./render.js";

const SOURCES = { agreed: "both agree", A: "from A", B: "from B", edited: "edited", new: "new" };
const BUTTONS = [
  ["A", "a", "Take A"],
  ["B", "b", "Take B"],
  ["both", "t", "Take both"],
  ["agreed", "a", "Accept"],
  ["edited", "e", "Edit"],
  ["new", "n", "Write new"],
  ["none", "x", "None"],
];

const clock = (time) => new Date(time).toLocaleString([], { dateStyle: "short", timeStyle: "short" });

/** An utterance: its gold labels with where they come from, and what is still open. */
export function drawTurn(turn, { gold, note, open }) {
  const list = turn.querySelector("[data-labels]");
  drawLabels(list, gold);
  [...list.children].forEach((item, index) => {
    item.removeAttribute("tabindex");
    item.append(" ", el("span", { class: "from" }, SOURCES[gold[index].from] || ""));
  });
  turn.querySelector("[data-turn-state]").textContent = note;
  turn.classList.toggle("labelled", !open && gold.length > 0);
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
  const chosen = [letter, "both"].includes(item.decision?.resolution);
  const title = review ? "The annotator" : who ? `${letter} · ${who}` : letter;
  return el(
    "section",
    { class: chosen ? "side chosen-side" : "side", "aria-label": review ? "The annotator's label" : `Side ${letter}` },
    el("h4", {}, title, chosen ? el("span", { class: "took" }, " ✓ taken") : null),
    rows.length ? labels(rows) : el("p", { class: "muted" }, "no label here"),
  );
}

function decided(decision, word) {
  const by = decision.by ? ` by ${decision.by}, ${clock(decision.at)}` : "";
  return el("p", { class: "decision" }, el("b", {}, `${word}${WORDS[decision.resolution] || decision.resolution}`), by, decision.pending ? " · saving…" : "");
}

/** What was decided on labels of this utterance that have changed since. */
export function earlierNote(decision) {
  const note = decided(decision, "Before the labels changed: ");
  if (decision.reason) note.append(` · “${decision.reason}”`);
  return el("div", { class: "earlier" }, note, decision.labels.length ? labels(decision.labels) : null);
}

/** One item in full, with what can be done about it. host: {choose(resolution), review, editable, names(position)} */
export function itemCard(item, { current, review, editable, names, select, choose }) {
  const agreed = item.outcome === "agreed";
  const heading = agreed ? "Both agree" : item.words || "Label to review";
  const card = el("article", { class: `item ${item.outcome.replaceAll(" ", "-")}${isOpen(item) ? " open" : ""}`, "data-item": item.key, tabindex: "-1", on: { click: select } });
  if (current) card.setAttribute("aria-current", "true");
  card.append(el("h3", { class: "difference" }, heading));
  if (agreed) card.append(el("div", { class: "sides one" }, labels(item.a)));
  else if (review && item.outcome !== "added") card.append(el("div", { class: "sides one" }, side(item, "a", "", true)));
  else if (item.outcome !== "added") card.append(el("div", { class: "sides" }, side(item, "a", names?.[0], false), side(item, "b", names?.[1], false)));
  if (item.before) card.append(decided(item.before, "The labels have changed since. Before that: "));
  if (item.decision) {
    card.append(decided(item.decision, ""));
    if (item.decision.labels.length) card.append(labels(item.decision.labels));
  } else if (agreed) card.append(el("p", { class: "decision muted" }, "accepted as it is"));
  if (current && editable) card.append(buttons(item, review, choose));
  return card;
}

function buttons(item, review, choose) {
  const offered = choicesOf(item, review);
  const button = ([resolution, key, text]) =>
    el(
      "button",
      { type: "button", class: item.decision?.resolution === resolution ? "small" : "quiet small", "data-choice": resolution, "aria-pressed": String(item.decision?.resolution === resolution), on: { click: (event) => (event.stopPropagation(), choose(resolution)) } },
      review && resolution === "A" ? "Accept" : text,
      " ",
      el("kbd", { "aria-hidden": "true" }, key),
    );
  return el("div", { class: "choices-row", role: "group", "aria-label": "Decide" }, ...BUTTONS.filter(([resolution]) => offered.includes(resolution)).map(button));
}

/** Reason and error type of the chosen item. */
export function reasonFields({ errorTypes, reason, errorType, proposed, changed, done, guideline }) {
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
    el("label", { for: "reason" }, el("span", {}, "Reason (optional) ", el("kbd", { "aria-hidden": "true" }, "r")), input),
    el("label", { for: "error-type" }, el("span", {}, "Kind of error (optional)"), select),
    el("button", { type: "button", class: "quiet small", on: { click: guideline } }, "Make it a guideline example ", el("kbd", { "aria-hidden": "true" }, "g")),
  );
}

/** All conflicts with what became of them; each leads to its place. */
export function drawConflicts(container, places, at, review) {
  if (!places.length) {
    container.replaceChildren(el("p", { class: "empty" }, review ? "There is no label to review." : "The two annotators agree on everything."));
    return;
  }
  const line = ({ position, item }) => {
    const text = review && item.a.length ? labelText(item.a[0]) : item.words;
    const state = item.decision ? WORDS[item.decision.resolution] : item.before ? "changed since, open again" : "open";
    const link = el("a", { href: `#u${position}`, "data-goto": position, "data-goto-item": item.key }, el("span", { class: "conflict-place" }, `u${position}`), ` ${text} `, el("span", { class: item.decision ? "conflict-state" : "conflict-state is-open" }, state));
    const here = position === at.position && item.key === at.key;
    if (here) link.setAttribute("aria-current", "true");
    return el("li", { class: here ? "here" : "" }, link);
  };
  container.replaceChildren(el("ol", { class: "conflicts" }, ...places.map(line)));
  container.querySelector(".here")?.scrollIntoView({ block: "nearest" });
}

/** A label in one line. */
export function labelText(row) {
  const details = row.details.map(([name, answer, asked]) => `${name}${asked ? "?" : ""}${answer ? `: ${answer}` : ""}`);
  const values = row.values.join(", ") + (row.status ? ` (${row.status})` : "");
  return [`${row.intent} ${row.slot}`.trim().toLowerCase(), [values.trim(), ...details].filter(Boolean).join(", ")].filter(Boolean).join(": ");
}
