// The dialogs of the review page: the preview of a decision, a new concept, a search, a question, the keys.

import { openDialog } from "../../annotation/js/dialogs.js";
import { el, newId } from "../../annotation/js/dom.js";
import { keyNames } from "../../annotation/js/keys.js";
import { holdsFor, typesByFit } from "./review_state.js";

const field = (control, words) => el("div", { class: "question" }, el("label", { class: "question-text", for: control.id }, words), control);
const text = (properties) => el("input", { type: "text", id: newId("field"), autocomplete: "off", ...properties });
const button = (words, key, click, quiet = false) => el("button", { type: "button", class: quiet ? "button quiet" : "button", on: { click } }, el("span", {}, words), el("kbd", { "aria-hidden": "true" }, key));

/** Enter confirms from anywhere in the dialog but a button, a list of options, or a text of several lines. */
function confirmsOnEnter(dialog, confirm) {
  dialog.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || event.isComposing || event.shiftKey || event.target.closest("button, a, select, textarea")) return;
    event.preventDefault();
    confirm();
  });
}

function errorLine() {
  const line = el("p", { class: "field-error", role: "alert", hidden: true });
  line.complain = (message) => {
    line.textContent = message;
    line.hidden = false;
  };
  return line;
}

/**
 * Every occurrence with a tick, before something is decided. `ticks` is the portal's list as a fragment; `fields` are
 * further elements above it; confirm(excluded, note) decides, with the ids of labels to leave out, or says what is wrong.
 */
export function preview({ title, lines = [], fields = [], ticks, first = null, confirm }) {
  const boxes = [...ticks.querySelectorAll("input[type=checkbox]")];
  const error = errorLine();
  const words = el("span", {});
  const count = () => (words.textContent = holdsFor(boxes.filter((box) => box.checked).length, boxes.length));
  const note = text({ maxlength: "2000" });
  const decide = () => {
    const excluded = boxes.filter((box) => !box.checked).map((box) => box.value);
    if (boxes.length && excluded.length === boxes.length) return error.complain("Tick at least one occurrence, or go back with Esc.");
    const problem = confirm(excluded, note.value.trim());
    if (problem) return error.complain(problem);
    return dialog.close();
  };
  const go = el("button", { type: "button", class: "button", on: { click: decide } }, words, el("kbd", { "aria-hidden": "true" }, "Enter"));
  const content = [...lines, ...fields, error, ticks, field(note, "Note (optional)")];
  const dialog = openDialog(title, content, [go, button("Back", "Esc", () => dialog.close(), true)], first || boxes[0] || null);
  dialog.classList.add("linking-dialog");
  first?.select();
  dialog.addEventListener("change", count);
  dialog.addEventListener("keydown", (event) => moveAmong(boxes, event));
  confirmsOnEnter(dialog, decide);
  count();
  return dialog;
}

/** The arrows go from tick to tick; space, as everywhere, changes one. */
function moveAmong(boxes, event) {
  const at = boxes.indexOf(document.activeElement);
  const by = { ArrowDown: 1, j: 1, ArrowUp: -1, k: -1 }[event.key];
  if (at < 0 || !by || !boxes[at + by]) return;
  event.preventDefault();
  boxes[at + by].focus();
}

/**
 * The fields of a concept that the vocabulary lacks; `read()` gives what was typed. `groups` are all semantic types
 * ([{name, types: [[code, words], …]}]), `fitting` the codes of those that `place`, a slot or field, usually means.
 */
export function proposalFields({ name, groups, fitting, place }) {
  const title = text({ maxlength: "300", value: name, required: true });
  const part = (one) => el("optgroup", { label: one.name }, ...one.types.map(([code, words]) => el("option", { value: code }, words)));
  const type = el("select", { id: newId("field") }, el("option", { value: "" }, "not said"), ...typesByFit(groups, fitting, `Usual for: ${place}`).map(part));
  const definition = el("textarea", { id: newId("field"), rows: "2", maxlength: "4000" });
  const fields = [field(title, "Name"), field(type, "Kind of concept"), field(definition, "What it means (optional)")];
  return { fields, first: title, read: () => ({ name: title.value.trim(), semantic_type: type.value, definition: definition.value.trim() }) };
}

/** A question to a colleague; send({question, of}). */
export function askColleague({ value, colleagues, send }) {
  const question = el("textarea", { id: newId("field"), rows: "3", maxlength: "4000" });
  const of = el("select", { id: newId("field") }, el("option", { value: "" }, "everybody who reviews concepts"), ...colleagues.map((person) => el("option", { value: person.id }, `${person.name} (${person.roles.join(", ")})`)));
  const error = errorLine();
  const ask = () => {
    if (!question.value.trim()) {
      error.complain("Write what you would like to know.");
      return question.focus();
    }
    send({ question: question.value.trim(), of: of.value ? Number(of.value) : null });
    return dialog.close();
  };
  const dialog = openDialog(`Ask about “${value}”`, [field(question, "Your question"), error, field(of, "Of whom")], [button("Ask", "Enter", ask), button("Back", "Esc", () => dialog.close(), true)], question);
  question.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
    event.preventDefault();
    ask();
  });
}

/**
 * A search over the whole vocabulary (a combobox that is always open). find(text) -> Promise of concepts;
 * choose(concept) is called with what was chosen.
 */
export function searchVocabulary({ value, find, choose, verb }) {
  const listId = newId("found");
  const input = text({ maxlength: "200", value, role: "combobox", "aria-expanded": "false", "aria-controls": listId, "aria-autocomplete": "list", "aria-label": "Search the vocabulary" });
  const list = el("ul", { role: "listbox", id: listId, class: "linking-found", "aria-label": "Concepts found" });
  const state = el("p", { class: "muted", role: "status" });
  let [found, active, asked, timer] = [[], -1, 0, 0];
  const mark = () => {
    [...list.children].forEach((item, index) => item.setAttribute("aria-selected", String(index === active)));
    if (active >= 0) input.setAttribute("aria-activedescendant", `${listId}-${active}`);
    else input.removeAttribute("aria-activedescendant");
    list.children[active]?.scrollIntoView({ block: "nearest" });
  };
  const take = (index) => {
    if (!found[index]) return;
    dialog.close();
    choose(found[index]);
  };
  const draw = (concepts) => {
    [found, active] = [concepts, concepts.length ? 0 : -1];
    list.replaceChildren(...concepts.map((concept, index) => el("li", { role: "option", id: `${listId}-${index}`, on: { click: () => take(index) } }, el("b", {}, concept.name), " ", el("span", { class: "mono" }, concept.cui), ` ${concept.types.join(", ")}`, concept.note ? el("span", { class: "muted" }, ` · ${concept.note}`) : null)));
    input.setAttribute("aria-expanded", String(concepts.length > 0));
    state.textContent = concepts.length ? `${concepts.length} found. ↑ ↓ choose, Enter ${verb}.` : input.value.trim() ? "Nothing found; try other words." : "Type what the concept may be called.";
    mark();
  };
  const search = async () => {
    const number = (asked += 1);
    try {
      const concepts = input.value.trim() ? await find(input.value.trim()) : [];
      if (number === asked) draw(concepts);
    } catch {
      if (number === asked) state.textContent = "The vocabulary cannot be reached just now. Type again to retry.";
    }
  };
  input.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(search, 120);
  });
  input.addEventListener("keydown", (event) => {
    if (event.isComposing) return;
    const by = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (by) {
      event.preventDefault();
      active = Math.max(0, Math.min(found.length - 1, active + by));
      mark();
    } else if (event.key === "Enter") {
      event.preventDefault();
      take(active);
    }
  });
  const dialog = openDialog("Search the vocabulary", [input, state, list], [button("Back", "Esc", () => dialog.close(), true)], input);
  dialog.classList.add("linking-dialog");
  input.select();
  search();
}

/** All keys, from the same table as the bindings. */
export function showKeys(bindings) {
  const groups = new Map();
  for (const binding of bindings) groups.set(binding.group, [...(groups.get(binding.group) || []), binding]);
  const names = (keys) => keys.flatMap((key, index) => [index ? " or " : "", ...keyNames(key).flatMap((part, at) => [at ? "+" : "", el("kbd", {}, part)])]);
  const part = ([group, rows]) => el("section", { class: "key-group" }, el("h3", {}, group), el("dl", {}, ...rows.flatMap((row) => [el("dt", {}, ...names(row.keys)), el("dd", {}, row.title)])));
  openDialog("Keys", [el("div", { class: "key-groups" }, ...[...groups].map(part))]);
}
