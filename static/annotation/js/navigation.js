// Where the keyboard is in the dialogue: the chosen utterance, and the label of it that the arrows stand on.

import { unanswered } from "./answers.js";
import { reveal } from "./dom.js";
import { drawChips, drawLabels, showAt } from "./render.js";

export class Navigation {
  constructor(work) {
    this.work = work;
    const turns = [...work.root.querySelectorAll(".turn")];
    this.turns = new Map(turns.map((turn) => [Number(turn.dataset.position), turn]));
    const wanted = Number(location.hash.slice(2));
    this.current = work.model.turn(wanted) ? wanted : (work.model.utterances[0]?.position ?? 0);
    this.label = -1; // which label of the utterance the arrows stand on; -1 is the utterance itself
  }

  get turn() {
    return this.work.model.turn(this.current);
  }

  get labels() {
    return this.work.model.labelsAt(this.current);
  }

  drawTurn(position) {
    const { model, drafts, data } = this.work;
    const turn = this.turns.get(position);
    if (!turn) return;
    const rows = model.rows.get(position) || [];
    const list = turn.querySelector("[data-labels]");
    const focused = [...list.children].indexOf(document.activeElement);
    drawLabels(list, rows, (label) => this.work.concepts.marks(label));
    turn.classList.toggle("labelled", rows.length > 0);
    turn.classList.toggle("has-draft", drafts.has(position));
    turn.querySelector("[data-labelled]").hidden = rows.length === 0;
    turn.querySelector("[data-draft]").hidden = !drafts.has(position);
    turn.querySelector("[data-reason]").textContent = rows.length ? "" : data.reasons[position] || "";
    // Redrawing must not take the keyboard away from a label.
    if (position === this.current) this.markLabel(turn, focused >= 0);
  }

  markLabel(turn, focus) {
    const items = [...turn.querySelectorAll(".label")];
    this.label = Math.min(this.label, items.length - 1);
    const chosen = this.label >= 0 ? items[this.label] : null;
    for (const item of this.work.root.querySelectorAll(".turn .label.at")) item.classList.remove("at");
    chosen?.classList.add("at");
    if (focus) (chosen || turn).focus({ preventScroll: true });
  }

  /** Choose an utterance; with `focus`, the keyboard is on it. */
  select(position, { focus = true, label = -1 } = {}) {
    const { model, form, editor, places } = this.work;
    if (!model.turn(position)) return;
    const before = this.turns.get(this.current);
    before?.removeAttribute("aria-current");
    if (before) before.tabIndex = -1;
    this.current = position;
    this.label = label;
    const turn = this.turns.get(position);
    turn.tabIndex = 0;
    turn.setAttribute("aria-current", "true");
    this.drawOffers(turn);
    showAt(places.state, position);
    places.stateAt.textContent = ` · up to u${position}`;
    this.markLabel(turn, focus);
    reveal(turn);
    this.work.legend.draw(model.turn(position).speaker);
    if (!form.isOpen) editor.showIdle();
    this.showInList();
    history.replaceState(null, "", `#u${position}`);
  }

  /** The chips of the chosen utterance, and what of the question before it waits for an answer. */
  drawOffers(turn) {
    const { root, data, model } = this.work;
    const isOver = (place) => !data.editable || !turn.contains(place);
    for (const other of root.querySelectorAll("[data-chips]")) if (isOver(other)) other.replaceChildren();
    for (const other of root.querySelectorAll("[data-hint]")) if (isOver(other)) other.textContent = "";
    if (!data.editable) return;
    drawChips(turn.querySelector("[data-chips]"), model.chips(this.current), (name) => model.slot(name)?.title || name);
    turn.querySelector("[data-hint]").textContent = this.hint();
  }

  hint() {
    const { model, keyFor } = this.work;
    const values = unanswered(model, this.current).flatMap((label) => label.answers[model.slot(label.slot)?.head] || []);
    if (!values.length) return "";
    const keys = [["answer-yes", "yes"], ["answer-no", "no"], ["answer-unsure", "not sure"]];
    // Where a question came back, this key opens the label that it is about.
    if (!this.work.news.labelAsked(this.current)) keys.push(["open", "in full"]);
    return `Asked: ${values.join(", ")} · ${keys.map(([action, word]) => `${keyFor(action)} ${word}`).join(" · ")}`;
  }

  /** The list of all labels follows the dialogue. */
  showInList() {
    const { list } = this.work.places;
    for (const item of list.querySelectorAll(".here")) item.classList.remove("here");
    const items = [...list.querySelectorAll(`[data-at="${this.current}"]`)];
    for (const item of items) item.classList.add("here");
    const newest = items.at(-1) || [...list.querySelectorAll("[data-at]")].findLast((item) => Number(item.dataset.at) < this.current);
    if (newest) list.scrollTop += newest.getBoundingClientRect().bottom - list.getBoundingClientRect().bottom + list.clientHeight / 3;
  }

  get index() {
    return this.work.model.utterances.findIndex((turn) => turn.position === this.current);
  }

  step(by) {
    const { utterances } = this.work.model;
    const next = utterances[Math.max(0, Math.min(utterances.length - 1, this.index + by))];
    if (next) this.select(next.position);
  }

  edge(at) {
    const turn = this.work.model.utterances.at(at);
    if (turn) this.select(turn.position);
  }

  stepUnlabelled(by) {
    const { model, frame } = this.work;
    for (let at = this.index + by; at >= 0 && at < model.utterances.length; at += by) {
      const { position } = model.utterances[at];
      if (!model.labelsAt(position).length) return this.select(position);
    }
    return frame.announce(`No utterance without a label ${by > 0 ? "after" : "before"} this one.`);
  }

  stepLabel(by) {
    const count = this.labels.length;
    if (!count) return this.work.frame.announce("This utterance has no label.");
    return this.select(this.current, { label: Math.max(-1, Math.min(count - 1, this.label + by)) });
  }

  /** After a save: on to the next utterance, or `stay`. */
  advance(stay = false) {
    if (stay || this.index + 1 >= this.work.model.utterances.length) this.select(this.current);
    else this.step(1);
  }
}
