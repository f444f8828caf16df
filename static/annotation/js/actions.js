// What keys and clicks do. Every action has a name in the portal's key table; buttons carry the same names.

import { showFinish, showGuidelines, showHelp, showHistory } from "./dialogs.js";
import { matcher, typesText } from "./keys.js";

const PAUSE = 600; // milliseconds: letters that follow a refused key more quickly belong to what was being typed
const TYPED = ["Enter", "Backspace", "Delete"];

export class Actions {
  constructor(work) {
    this.work = work;
    this.actionOf = matcher(work.data.bindings);
    this.table = this.makeTable();
    this.held = false; // whether a key was refused and what is typed on is passed over
    this.keyAt = 0;
    document.addEventListener("keydown", (event) => this.pressed(event));
    document.addEventListener("click", (event) => this.clicked(event));
  }

  makeTable() {
    const { navigation, editor, oneKey, saving, data, root } = this.work;
    const last = () => navigation.labels.at(navigation.label);
    return {
      next: () => navigation.step(1),
      previous: () => navigation.step(-1),
      "next-unlabelled": () => navigation.stepUnlabelled(1),
      "previous-unlabelled": () => navigation.stepUnlabelled(-1),
      first: () => navigation.edge(0),
      last: () => navigation.edge(-1),
      "next-to-look-at": () => this.nextToLookAt(),
      "next-label": () => navigation.stepLabel(1),
      "previous-label": () => navigation.stepLabel(-1),
      open: () => editor.openHere(),
      repeat: () => oneKey.repeat(),
      delete: () => oneKey.remove(last()),
      edit: () => editor.edit(last()),
      undo: () => oneKey.step("undo"),
      redo: () => oneKey.step("redo"),
      "answer-yes": () => oneKey.answer("yes"),
      "answer-no": () => oneKey.answer("no"),
      "answer-unsure": () => oneKey.answer("unsure"),
      finish: () => this.finish(),
      guidelines: () => this.guidelines(),
      concern: () => this.work.news.ask(),
      reply: () => this.work.news.reply(),
      check: () => this.check(),
      history: () => showHistory(root.dataset.history),
      help: () => showHelp(data.bindings, root.dataset.keys),
      reopen: () => saving.ask("reopen"),
      lock: () => saving.ask("lock"),
      unlock: () => saving.ask("lock", { unlock: true }),
      retry: () => saving.queue.retry(),
    };
  }

  run(action, shifted = false) {
    const { editor, oneKey } = this.work;
    if (action.startsWith("slot:")) editor.openSlot(action.slice(5), shifted);
    else if (action.startsWith("intent:")) oneKey.slotless(action.slice(7));
    else this.table[action]?.();
  }

  /** A key was refused: pass over what is typed on without a pause. */
  hold() {
    this.held = true;
  }

  passesOver(event) {
    if (["Shift", "Control", "Alt", "Meta", "AltGraph"].includes(event.key)) return false;
    const soon = event.timeStamp - this.keyAt < PAUSE;
    const command = event.ctrlKey || event.metaKey || event.altKey;
    this.held = this.held && soon && !command && (event.key.length === 1 || TYPED.includes(event.key));
    this.keyAt = event.timeStamp;
    return this.held;
  }

  pressed(event) {
    if (event.isComposing || document.querySelector("dialog[open]") || typesText(event.target)) return;
    if (event.target.closest("button, summary, a") && ["Enter", " "].includes(event.key)) return;
    if (event.target.closest("details[data-menu]")) return;
    if (this.passesOver(event)) return void event.preventDefault();
    const { form } = this.work;
    if (event.key === "Escape" && form.isOpen) {
      // From the panels back into the form.
      event.preventDefault();
      form.focusFirst();
    } else if (/^[1-9]$/.test(event.key) && !event.ctrlKey && !event.altKey && !event.metaKey) {
      event.preventDefault();
      this.work.oneKey.chip(Number(event.key) - 1);
    } else {
      const found = this.actionOf(event);
      if (!found) return;
      event.preventDefault();
      this.run(found.action, found.shifted);
    }
  }

  clicked(event) {
    const { editor, oneKey } = this.work;
    this.held = false;
    const at = (selector) => event.target.closest(selector);
    if (at("[data-goto]")) {
      event.preventDefault();
      this.goTo(at("[data-goto]").dataset);
    } else if (at("[data-copy]")) editor.copy(at("[data-copy]").dataset);
    else if (at("[data-action]")) this.run(at("[data-action]").dataset.action, at("[data-action]").dataset.shifted !== undefined);
    else if (at("[data-chip]")) oneKey.chip(Number(at("[data-chip]").dataset.chip));
    else if (at("[data-edit]")) this.onLabel(at("[data-edit]").dataset.edit, (label) => editor.edit(label));
    else if (at("[data-read]")) this.work.news.close(Number(at("[data-read]").dataset.read));
    else if (at("[data-reply]")) this.work.news.reply(Number(at("[data-reply]").dataset.reply));
    else if (at("[data-delete]")) this.onLabel(at("[data-delete]").dataset.delete, (label) => oneKey.remove(label));
    else if (at(".turn") && event.detail > 1 && at(".label")) this.clickedTurn(at(".turn"), at(".label"), true);
    // Marking text with the mouse, to copy it, is no choice of an utterance.
    else if (at(".turn") && !String(getSelection())) this.clickedTurn(at(".turn"), at(".label"), false);
  }

  /** The next utterance after this one with something to look at; after the last, the first. */
  nextToLookAt() {
    const { navigation, news, frame } = this.work;
    const places = [...news.looking].sort((one, other) => one.position - other.position);
    const next = places.find(({ position }) => position > navigation.current) || places[0];
    if (!next) return void frame.announce("Nothing is contradictory or incomplete.");
    this.goTo({ goto: next.position, gotoLabel: next.label });
    frame.announce(next.question || next.message);
  }

  goTo({ goto, gotoLabel }) {
    const position = Number(goto);
    const label = this.work.model.labelsAt(position).findIndex((item) => item.id === gotoLabel);
    this.work.navigation.select(position, { label });
  }

  onLabel(id, act) {
    const found = this.work.model.find(id);
    if (!found) return;
    this.work.navigation.select(found.position, { focus: false });
    act(found.row.data);
  }

  clickedTurn(turn, label, twice) {
    const { editor, form, navigation } = this.work;
    const position = Number(turn.dataset.position);
    const index = label ? [...turn.querySelectorAll(".label")].indexOf(label) : -1;
    if (form.isOpen && position !== form.seed.position) editor.leave({ focus: false });
    navigation.select(position, { label: index });
    if (!twice) return;
    getSelection().removeAllRanges();
    editor.edit(navigation.labels[index]);
  }

  finish() {
    const { model, data, saving, navigation, news, root } = this.work;
    if (!this.work.mayEdit()) return;
    this.work.editor.leave({ focus: false });
    const missing = model.utterances.filter((turn) => !model.labelsAt(turn.position).length);
    const finish = (reasons) => {
      data.reasons = reasons;
      for (const { position } of missing) navigation.drawTurn(position);
      saving.ask("finish", { reasons });
    };
    showFinish({
      turns: missing,
      reasons: data.questionnaire.unlabelled_reasons,
      given: data.reasons,
      finish,
      goTo: (position) => navigation.select(position),
      exam: root.dataset.exam,
      open: news.returned.length,
      problems: saving.problems,
    });
  }

  /** `training.js` answers, on the pages that have it. */
  check() {
    const { root, frame } = this.work;
    if (root.dataset.check) root.dispatchEvent(new CustomEvent("check"));
    else frame.announce("Labels are compared with the gold in training only.");
  }

  guidelines() {
    const { form, navigation, data, root } = this.work;
    const about = form.isOpen ? form.seed : navigation.labels[Math.max(0, navigation.label)] || {};
    showGuidelines(data.questionnaire, about.intent, about.slot, root.dataset.guidelines, this.work.news.notes);
  }
}
