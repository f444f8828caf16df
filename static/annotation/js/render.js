// Draws what the portal says: the labels of an utterance, the patient so far, contradictions and gaps.

import { conceptMark } from "./concepts.js";
import { el } from "./dom.js";

const link = (position) => el("a", { href: `#u${position}`, "data-goto": position }, `u${position}`);

/** One label as an item of its utterance's list. `marks` are the concepts of its values (see concepts.js). */
export function labelItem(row, marks = []) {
  const item = el("li", { class: "label", "data-label": row.data.id, tabindex: "-1" });
  if (row.gaps.length) item.classList.add("incomplete");
  if (row.pending) item.classList.add("pending");
  item.append(el("span", { class: "intent" }, row.intent));
  if (row.slot) item.append(" ", el("span", { class: "slot" }, row.slot));
  const marksOf = (value) => marks.filter((mark) => mark.head && mark.value === value).map((mark) => conceptMark(mark));
  row.values.forEach((value, index) => item.append(index ? ", " : " ", el("b", { class: `value ${row.meaning}` }, value), ...marksOf(value)));
  if (row.status) item.append(" ", el("span", { class: `status ${row.meaning}` }, el("span", { "aria-hidden": "true" }, row.sign), ` ${row.status}`));
  for (const [name, answer, asked] of row.details) {
    item.append(" ", el("span", { class: "detail" }, el("span", { class: "name" }, name, asked ? el("span", { class: "asked", title: "asked about" }, "?") : null, answer ? ":" : ""), answer ? ` ${answer}` : ""));
  }
  for (const [key, value] of Object.entries(row.data.kept || {})) {
    item.append(" ", el("span", { class: "detail kept", title: "kept as the file had it" }, el("span", { class: "name" }, `${key}:`), ` ${typeof value === "string" ? value : JSON.stringify(value)}`));
  }
  for (const mark of marks) if (!mark.head) item.append(" ", conceptMark(mark, mark.value));
  for (const gap of row.gaps) item.append(" ", el("span", { class: "gap" }, el("span", { "aria-hidden": "true" }, "! "), gap));
  if (row.pending) item.append(" ", el("span", { class: "muted" }, "saving…"));
  return item;
}

/** The labels below an utterance. */
export function drawLabels(list, rows, marks = () => []) {
  list.replaceChildren(...rows.map((row) => labelItem(row, marks(row.data))));
  list.hidden = rows.length === 0;
}

/** The state with all its history; `showAt` decides what of it is seen. */
export function drawState(container, groups) {
  if (!groups.length) {
    container.replaceChildren(el("p", { class: "empty" }, "Nothing is known of the patient yet. What the patient's turns inform about gathers here."));
    return;
  }
  container.replaceChildren(
    el("p", { class: "muted", "data-nothing-yet": true }, "Nothing is known of the patient at this point."),
    ...groups.map((group) =>
      el("section", { class: "state-group", "data-slot": group.slot }, el("h3", {}, group.title), el("ul", {}, ...group.entries.map((entry) => stateEntry(group, entry)))),
    ),
  );
}

const period = (setting) => ({ "data-since": setting.position, "data-until": setting.until });

/** A value that nobody typed, since its slot stands for it, is not shown as one. */
function stateEntry(group, { implied, ...entry }) {
  if (implied) entry.value = "";
  const item = el("li", { class: "entry", "data-since": entry.since });
  // Without a value a sign says nothing by itself ("travel +") and is put in words; without a status there is none.
  const statuses = entry.statuses.filter((status) => entry.value || status.title);
  for (const status of statuses) {
    item.append(el("span", { class: `sign ${status.meaning}`, title: status.title || undefined, ...period(status) }, status.sign, el("span", { class: "visually-hidden" }, ` ${status.title}`)));
    if (!entry.value) item.append(el("span", { class: `status ${status.meaning}`, "aria-hidden": "true", ...period(status) }, ` ${status.title}`));
  }
  if (entry.value) item.append(" ", copyButton(entry.value, entry.field, group.slot));
  for (const status of statuses) {
    item.append(el("span", { class: "said", ...period(status) }, " ", link(status.position), ...was(status)));
  }
  for (const attribute of entry.attributes) {
    for (const setting of attribute.settings) {
      item.append(
        el("span", { class: "attribute", ...period(setting) }, el("span", { class: "name" }, attribute.name), " ", copyButton(setting.text, attribute.field, group.slot), " ", link(setting.position), ...was(setting)),
      );
    }
  }
  return item;
}

const was = (setting) => (setting.before ? [" ", el("span", { class: "was" }, `was ${setting.before}, `, link(setting.before_position))] : []);

function copyButton(value, field, slot) {
  return el("button", { type: "button", class: "state-value", "data-copy": value, "data-field": field, "data-slot": slot, title: "Copy into the form" }, value);
}

/** Questions that came back, each with what is missing by now beside what it says. */
export function drawQuestions(container, questions) {
  container.hidden = questions.length === 0;
  container.replaceChildren(
    ...questions.map(({ position, label, question, gaps }) =>
      el("li", {}, el("a", { href: `#u${position}`, "data-goto": position, "data-goto-label": label || undefined }, el("span", { "aria-hidden": "true" }, "↩ "), el("span", { class: "visually-hidden" }, "returned: "), `u${position}: ${question}${gaps.length ? ` Now: ${gaps.join("; ")}.` : ""}`)),
    ),
  );
}

/** Contradictions and incomplete labels, in the order of the dialogue; `none`: whether to say that there are none. */
export function drawProblems(container, problems, none = true) {
  if (!problems.length && !none) return void container.replaceChildren();
  if (!problems.length) {
    container.replaceChildren(el("p", { class: "empty" }, "Nothing contradictory, nothing incomplete."));
    return;
  }
  container.replaceChildren(
    el(
      "ul",
      { class: "problems" },
      ...problems.map((problem) =>
        el(
          "li",
          { class: problem.kind },
          el(
            "a",
            { href: `#u${problem.position}`, "data-goto": problem.position, "data-goto-label": problem.label || undefined },
            el("span", { "aria-hidden": "true" }, problem.kind === "contradiction" ? "!! " : "! "),
            el("span", { class: "visually-hidden" }, `${problem.kind}: `),
            `u${problem.position}: ${problem.message}`,
          ),
        ),
      ),
    ),
  );
}

/** All labels of the dialogue as a list that can be gone through and edited in place. */
export function drawStatusList(container, utterances, rowsAt, editable, marks = () => []) {
  const items = utterances.flatMap((turn) => rowsAt(turn.position).map((row) => [turn, row]));
  if (!items.length) {
    container.replaceChildren(el("p", { class: "empty" }, "No labels yet. Choose an utterance and press a slot's key, or Enter."));
    return;
  }
  container.replaceChildren(
    el(
      "ol",
      { class: "label-list" },
      ...items.map(([turn, row]) => {
        const item = labelItem(row, marks(row.data));
        item.dataset.at = turn.position;
        item.removeAttribute("tabindex");
        item.prepend(link(turn.position), " ");
        if (editable) item.append(labelTools(turn, row));
        return item;
      }),
    ),
  );
}

function labelTools(turn, row) {
  const button = (act) => el("button", { type: "button", class: "quiet small", [`data-${act}`]: row.data.id, "aria-label": `${act} the label of utterance ${turn.position}` }, act);
  return el("span", { class: "label-tools" }, button("edit"), button("delete"));
}

/** Show of the state only what stood after the utterance at `position`. */
export function showAt(container, position) {
  for (const element of container.querySelectorAll("[data-since]")) {
    const since = Number(element.dataset.since);
    const until = element.dataset.until === undefined ? Infinity : Number(element.dataset.until);
    element.hidden = position < since || position > until;
  }
  for (const group of container.querySelectorAll(".state-group")) {
    group.hidden = ![...group.querySelectorAll(".entry")].some((entry) => !entry.hidden);
  }
  const nothing = container.querySelector("[data-nothing-yet]");
  if (nothing) nothing.hidden = Boolean(container.querySelector(".state-group:not([hidden])"));
}

/** The values found in an utterance, with the digits that take them. */
export function drawChips(container, chips, slotTitle) {
  container.replaceChildren(
    ...chips.map((chip, index) =>
      el(
        "button",
        { type: "button", class: "chip", "data-chip": index, tabindex: "-1", title: `${slotTitle(chip.slot)}: ${chip.value}` },
        el("kbd", {}, String(index + 1)),
        ` ${chip.value}`,
      ),
    ),
  );
  container.hidden = chips.length === 0;
}
