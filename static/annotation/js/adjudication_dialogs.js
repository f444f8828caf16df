// The dialogs of the adjudication page: its keys, and a decision that becomes a guideline example.

import { labelText } from "./adjudication_view.js";
import { openDialog } from "./dialogs.js";
import { el } from "./dom.js";
import { keyNames } from "./keys.js";

/** All keys, from the same table as the bindings. */
export function showKeys(bindings) {
  const groups = new Map();
  for (const binding of bindings) groups.set(binding.group, [...(groups.get(binding.group) || []), binding]);
  const names = (keys) => keys.flatMap((key, index) => [index ? " or " : "", ...keyNames(key).flatMap((part, at) => [at ? "+" : "", el("kbd", {}, part)])]);
  const part = ([group, rows]) => el("section", { class: "key-group" }, el("h3", {}, group), el("dl", {}, ...rows.flatMap((row) => [el("dt", {}, ...names(row.keys)), el("dd", {}, row.title)])));
  openDialog("Keys", [el("div", { class: "key-groups" }, ...[...groups].map(part))]);
}

/** row: the label that the example shows; send(body) -> {status, body}. */
export function askGuideline({ row, text, reason, questionnaire, send, announce }) {
  const { intent, slot } = row.data;
  const title = (list, name) => list.find((item) => item.name === name)?.title || name;
  const about = el(
    "select",
    { id: "note-about" },
    slot ? el("option", { value: "slot" }, `slot: ${title(questionnaire.slots, slot)}`) : null,
    el("option", { value: "intent" }, `intent: ${title(questionnaire.intents, intent)}`),
  );
  const rule = el("textarea", { id: "note-rule", rows: "3", maxlength: "4000" }, reason);
  const example = el("textarea", { id: "note-example", rows: "3", maxlength: "4000" }, `“${text}” → ${labelText(row)}`);
  const error = el("p", { class: "field-error", role: "alert", hidden: true });
  const field = (control, words) => el("div", { class: "question" }, el("label", { class: "question-text", for: control.id }, words), control);
  const complain = (message, control) => {
    error.textContent = message;
    error.hidden = false;
    control?.focus();
  };
  const submit = async () => {
    if (!rule.value.trim()) return complain("Write the rule that this example shows.", rule);
    const body = { intent: about.value === "intent" ? intent : "", slot: about.value === "slot" ? slot : "", text: rule.value, example: example.value };
    try {
      const answer = await send(body);
      if (answer.status !== 200) return complain(answer.body?.error?.message || "It could not be saved. Are you still signed in?", rule);
    } catch {
      return complain("It could not be saved. Is the connection there?", rule);
    }
    dialog.close();
    return announce("It stands in the guidelines now.");
  };
  const dialog = openDialog(
    "Guideline example",
    [
      el("p", { class: "muted" }, "Every member of the project can read this in the guidelines. Take out of the example what should not be seen."),
      field(about, "About"),
      field(rule, "Rule"),
      error,
      field(example, "Example"),
    ],
    [
      el("button", { type: "button", class: "button", on: { click: submit } }, "Put it into the guidelines"),
      el("button", { type: "button", class: "button quiet", on: { click: () => dialog.close() } }, "Cancel"),
    ],
    rule,
  );
}
