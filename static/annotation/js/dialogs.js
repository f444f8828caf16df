// The dialogs of the workbench: keys, guidelines, history, a conflict, finishing.

import { el } from "./dom.js";
import { keyNames } from "./keys.js";
import { notesAbout } from "./notes.js";

/** Open a modal dialog with a heading; it is removed when it closes. The keyboard goes to its text, or to `first`. */
export function openDialog(title, content, actions = [], first = null) {
  const dialog = el("dialog", { class: "dialog", "aria-label": title });
  const close = el("button", { type: "button", class: "button quiet", on: { click: () => dialog.close() } }, "Close", el("kbd", { "aria-hidden": "true" }, "Esc"));
  dialog.append(el("h2", {}, title), el("div", { class: "dialog-body", tabindex: "0", autofocus: true, role: "group", "aria-label": title }, ...content), el("div", { class: "dialog-actions" }, ...(actions.length ? actions : [close])));
  dialog.addEventListener("close", () => dialog.remove());
  dialog.addEventListener("keydown", (event) => event.stopPropagation());
  document.body.append(dialog);
  dialog.showModal();
  first?.focus();
  return dialog;
}

/** All keys, from the same table as the bindings. */
export function showHelp(bindings, keysUrl) {
  const groups = new Map();
  for (const binding of bindings) groups.set(binding.group, [...(groups.get(binding.group) || []), binding]);
  const content = [...groups].map(([group, rows]) =>
    el(
      "section",
      { class: "key-group" },
      el("h3", {}, group),
      el(
        "dl",
        {},
        ...rows.flatMap((binding) => [
          el("dt", {}, ...binding.keys.flatMap((key, index) => [index ? " or " : "", ...keyNames(key).flatMap((part, at) => [at ? "+" : "", el("kbd", {}, part)])])),
          el("dd", {}, binding.title),
        ]),
      ),
    ),
  );
  const body = el("div", { class: "key-groups" }, ...content);
  openDialog("Keys", [body, el("p", {}, el("a", { href: keysUrl }, "Choose your own keys"))]);
}

/** The guideline of an intent and a slot with the special cases that touch them, and what the project has added (`notes`). */
export function showGuidelines(questionnaire, intentName, slotName, guidelinesUrl, notes = []) {
  const intent = questionnaire.intents.find((item) => item.name === intentName);
  const slot = questionnaire.slots.find((item) => item.name === slotName);
  const part = (item) => (item ? [el("h3", {}, item.title), ...[item.help, item.guideline].filter(Boolean).map((text) => el("p", {}, text))] : []);
  const cases = questionnaire.special_cases.filter((item) => item.slots.includes(slotName) || item.intents.includes(intentName) || (!slot && !intent));
  const added = notesAbout(notes, intentName, slotName);
  const example = (item) => (item.example ? el("p", { class: "example" }, item.example) : null);
  const content = [
    ...part(slot),
    ...part(intent),
    ...(added.length ? [el("h3", {}, "Added in this project")] : []),
    ...added.flatMap((note) => [el("p", {}, note.text), example(note)]),
    ...cases.flatMap((item) => [el("h3", {}, item.title), el("p", {}, item.rule), example(item)]),
    el("p", {}, el("a", { href: guidelinesUrl, target: "_blank" }, "All guidelines (new tab)")),
  ];
  openDialog("Guidelines", content.filter(Boolean));
}

/** What was changed, fetched when it is asked for. */
export async function showHistory(url) {
  const body = el("div", {}, "Loading…");
  openDialog("History", [body]);
  try {
    const answer = await fetch(url, { redirect: "manual", headers: { Accept: "text/html" } });
    if (!answer.ok) throw new Error(String(answer.status));
    // The fragment is the portal's own template, in which every value is escaped.
    body.innerHTML = await answer.text();
  } catch {
    body.textContent = "The history could not be fetched. Is the connection there, and are you still signed in?";
  }
}

/**
 * Both sides of a conflict. mine: lines; theirs: [{by, at, lines}].
 * Calls keepTheirs() or keepMine(); closing without a choice decides nothing, and the question comes back.
 */
export function showConflict({ mine, theirs, keepTheirs, keepMine, undecided }) {
  let decided = false;
  const choose = (call) => () => {
    decided = true;
    dialog.close();
    call();
  };
  const dialog = openDialog(
    "Changed elsewhere",
    [
      el("p", {}, "This dialogue was changed in another window or by another person while you were working. Nothing of either side is lost until you decide."),
      el(
        "div",
        { class: "versions" },
        el("section", {}, el("h3", {}, "Your change"), el("ul", {}, ...mine.map((line) => el("li", {}, line)))),
        el(
          "section",
          {},
          el("h3", {}, "Changed meanwhile"),
          el("ul", {}, ...theirs.map((event) => el("li", {}, `${event.by || "someone"}, ${new Date(event.at).toLocaleTimeString([], { hourCycle: "h23" })}`, el("ul", {}, ...event.lines.map((line) => el("li", {}, line)))))),
        ),
      ),
    ],
    [
      el("button", { type: "button", class: "button", on: { click: choose(keepMine) } }, "Save mine as well"),
      el("button", { type: "button", class: "button quiet", on: { click: choose(keepTheirs) } }, "Keep theirs, drop mine"),
    ],
  );
  dialog.addEventListener("close", () => decided || undecided());
}

/** What can still be looked at, in sentences: nothing of it keeps a dialogue from being done. */
function leftToLookAt(open, problems) {
  const of = (kind) => problems.filter((problem) => problem.kind === kind).length;
  const [contradictions, incomplete] = [of("contradiction"), of("incomplete")];
  const counted = (number, one) => `${number} ${one}${number === 1 ? "" : "s"}`;
  const found = [];
  if (contradictions) found.push(counted(contradictions, "contradiction"));
  if (incomplete) found.push(`${counted(incomplete, "missing answer")} in labels`);
  if (open) found.push(`${counted(open, "question")} that came back to you`);
  return found.length ? `Still there: ${found.join(", ")}; see “To look at”.` : "";
}

const AFTERWARDS = {
  test: "A test is handed in as a whole: the next page leads there. Until then you can reopen the dialogue.",
  training: "You can reopen the dialogue at any time.",
};

/**
 * Ask a reason for every utterance of `turns`, those that have no label, then call finish(reasons). `open`: questions
 * still to answer; `problems`: contradictions and incomplete labels; `exam`: "training" or "test" if it is one.
 */
export function showFinish({ turns, reasons, given, finish, goTo, exam = "", open = 0, problems = [] }) {
  const selects = turns.map((turn) =>
    el(
      "select",
      { "data-position": turn.position, "aria-label": `Reason for utterance ${turn.position}` },
      el("option", { value: "" }, "choose a reason"),
      ...reasons.map((reason) => el("option", { value: reason, selected: given[turn.position] === reason }, reason)),
    ),
  );
  const all = el("select", { "aria-label": "The same reason for all", on: { change: () => selects.forEach((select) => (select.value = all.value)) } }, el("option", { value: "" }, "the same reason for all"), ...reasons.map((reason) => el("option", { value: reason }, reason)));
  const error = el("p", { class: "field-error", role: "alert", hidden: true });
  const submit = () => {
    const missing = selects.find((select) => !select.value);
    if (missing) {
      error.textContent = `Utterance ${missing.dataset.position} has no label and no reason yet.`;
      error.hidden = false;
      missing.focus();
      return;
    }
    dialog.close();
    finish(Object.fromEntries(selects.map((select) => [select.dataset.position, select.value])));
  };
  const content = turns.length
    ? [
        el("p", {}, turns.length === 1 ? "One utterance has no label." : `${turns.length} utterances have no label.`, " Label them, or say why not."),
        turns.length > 1 ? all : null,
        el("ul", { class: "unlabelled" }, ...turns.map((turn, index) => el("li", {}, el("a", { href: `#u${turn.position}`, on: { click: (event) => (event.preventDefault(), dialog.close(), goTo(turn.position)) } }, `u${turn.position}`), ` ${turn.text.slice(0, 90)} `, selects[index]))),
        error,
      ].filter(Boolean)
    : [el("p", {}, "Every utterance has a label.")];
  content.push(el("p", {}, AFTERWARDS[exam] || "You can reopen the dialogue until your supervisor locks it."));
  const left = leftToLookAt(open, problems);
  if (left) content.unshift(el("p", { class: "notice warning" }, left));
  const dialog = openDialog("Mark as done", content, [
    el("button", { type: "button", class: "button", on: { click: submit } }, exam === "test" ? "Mark as done, then hand in" : "Mark as done"),
    el("button", { type: "button", class: "button quiet", on: { click: () => dialog.close() } }, "Go on labelling"),
  ], selects[0]);
}
