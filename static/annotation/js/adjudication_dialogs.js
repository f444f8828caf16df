// The dialog of the adjudication page: a decision that becomes a guideline example.

import { labelText } from "./adjudication_view.js";
import { openDialog } from "./dialogs.js";
import { el } from "./dom.js";

/** row: the label that the example shows; send(body) -> {status, body}. */
export function askGuideline({ row, reason, questionnaire, send, announce }) {
  const { intent, slot } = row.data;
  const title = (list, name) => list.find((item) => item.name === name)?.title || name;
  const about = el(
    "select",
    { id: "note-about" },
    slot ? el("option", { value: "slot" }, `slot: ${title(questionnaire.slots, slot)}`) : null,
    el("option", { value: "intent" }, `intent: ${title(questionnaire.intents, intent)}`),
  );
  const rule = el("textarea", { id: "note-rule", rows: "3", maxlength: "4000" }, reason);
  const example = el("textarea", { id: "note-example", rows: "3", maxlength: "4000" }, `“…” → ${labelText(row)}`);
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
      const problem = answer.body?.error;
      if (answer.status !== 200) return complain(problem?.message || "It could not be saved. Are you still signed in?", problem?.fields?.[0]?.field === "example" ? example : rule);
    } catch {
      return complain("It could not be saved. Is the connection there?", rule);
    }
    dialog.close();
    return announce("It stands in the guidelines now.");
  };
  const dialog = openDialog(
    "Guideline example",
    [
      el("p", { class: "muted" }, "Every member of the project reads this in the guidelines. Make the example up, so that nobody can tell which dialogue it comes from."),
      field(about, "About"),
      field(rule, "Rule"),
      field(example, "Example"),
      error,
    ],
    [
      el("button", { type: "button", class: "button", on: { click: submit } }, "Put it into the guidelines"),
      el("button", { type: "button", class: "button quiet", on: { click: () => dialog.close() } }, "Cancel"),
    ],
    rule,
  );
}
