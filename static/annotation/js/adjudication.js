// The adjudication screen: one dialogue with two readings, decided from the keyboard.

import { CaseState, choicesOf, stampOf } from "./adjudication_state.js";
import { askGuideline } from "./adjudication_dialogs.js";
import { DecisionForm } from "./adjudication_form.js";
import { AdjudicationAnswers } from "./adjudication_answers.js";
import { PREFIX } from "./adjudication_frame.js";
import { drawConflicts, drawTurn, earlierNote, itemCard, reasonFields } from "./adjudication_view.js";
import { showHelp } from "./dialogs.js";
import { reveal as scrollTo, uuid } from "./dom.js";
import { matcher, typesText } from "./keys.js";
import { Model } from "./model.js";
import { SaveQueue, State } from "./queue.js";
import { post } from "./sending.js";
import { KeyedStore, prefixOf } from "./storage.js";
import { ActiveTime } from "./time.js";

class Page extends AdjudicationAnswers {
  constructor(root, data) {
    super(root, data);
    Object.assign(this, { names: data.names, notes: new Map(), outdated: false, lost: [] });
    this.state = new CaseState(data);
    this.model = new Model({ questionnaire: data.questionnaire, utterances: data.turns, labels: {} });
    this.turns = new Map([...root.querySelectorAll(".turn")].map((turn) => [Number(turn.dataset.position), turn]));
    this.time = new ActiveTime();
    this.form = new DecisionForm(this, this.find("form"));
    this.actionOf = matcher(data.bindings);
    this.queue = new SaveQueue({
      store: new KeyedStore(`${prefixOf(data.user)}adjudication:${data.dialogue}:queue`),
      version: data.version,
      send: (item, version) => post(root.dataset[item.path], { ...item.body, key: item.key, version }),
      on: {
        state: (state, count) => this.showSaved(state, count),
        saved: (item, body) => this.wasSaved(item, body),
        refused: (item, status, body) => this.wasRefused(item, status, body),
        conflict: (item, body) => this.hasConflict(body.error),
        behind: () => this.refresh("Others have decided meanwhile; what you see now is the newest."),
      },
    });
    this.table = this.makeTable();
    document.addEventListener("keydown", (event) => this.pressed(event));
    document.addEventListener("click", (event) => this.clicked(event));
    globalThis.addEventListener("online", () => this.queue.retry());
    globalThis.addEventListener("beforeunload", (event) => {
      if (this.queue.pending || this.form.unsaved) event.preventDefault();
    });
  }

  makeTable() {
    const take = (side) => () => this.choose(side);
    return {
      A: () => this.choose(this.item?.outcome === "agreed" ? "agreed" : "A"),
      B: take("B"),
      both: take("both"),
      edit: () => this.choose("edited"),
      "edit-b": () => this.choose("edited", "b"),
      new: take("new"),
      beside: () => this.form.openBeside(this.at.position),
      none: take("none"),
      undo: () => this.ask("undo"),
      reason: () => this.find("reason")?.focus(),
      guideline: () => this.guideline(),
      "next-open": () => this.goOpen(1),
      "previous-open": () => this.goOpen(-1),
      back: () => this.goBack(),
      next: () => this.step(1),
      previous: () => this.step(-1),
      "next-item": () => this.stepItem(1),
      "previous-item": () => this.stepItem(-1),
      finish: () => this.ask("finish"),
      reopen: () => this.ask("reopen"),
      all: () => this.ask("all"),
      reveal: () => this.reveal(),
      retry: () => this.queue.retry(),
      help: () => showHelp(this.data.bindings, this.root.dataset.keys),
    };
  }

  show() {
    for (const { position } of this.state.turns) this.drawTurn(position);
    const wanted = Number(location.hash.slice(2));
    const asked = location.hash && this.turns.has(wanted);
    this.at = asked ? { position: wanted, index: this.state.bestIndex(wanted) } : this.state.start();
    this.take(this.data);
    this.showSaved(State.SAVED, 0);
    this.select(this.at.position, this.at.index);
    for (const item of this.queue.items) this.showWaiting(item);
    if (this.queue.pending) this.queue.run();
  }

  // --- where one is -------------------------------------------------------------------------------------------------

  get items() {
    return this.state.at(this.at.position).items;
  }

  get item() {
    return this.items[this.at.index] || null;
  }

  select(position, index = this.state.bestIndex(position), focus = true) {
    const turn = this.turns.get(position);
    if (!turn) return;
    const before = this.turns.get(this.at.position);
    before?.removeAttribute("aria-current");
    if (before) before.tabIndex = -1;
    this.at = { position, index: Math.max(0, Math.min(index, this.state.at(position).items.length - 1)) };
    turn.setAttribute("aria-current", "true");
    turn.tabIndex = 0;
    scrollTo(turn);
    history.replaceState(null, "", `#u${position}`);
    this.drawPanel();
    this.drawList();
    if (focus && !this.form.isOpen) turn.focus({ preventScroll: true });
  }

  step(by) {
    const { turns } = this.state;
    const here = turns.findIndex((turn) => turn.position === this.at.position);
    const next = turns[Math.max(0, Math.min(turns.length - 1, here + by))];
    if (next) this.select(next.position);
  }

  stepItem(by) {
    if (this.items.length < 2) this.announce(this.items.length ? "There is only this label here." : "There is no label here.");
    else this.select(this.at.position, Math.max(0, Math.min(this.items.length - 1, this.at.index + by)));
  }

  goOpen(by) {
    const place = this.state.nextOpen(this.at, by);
    if (place) this.select(place.position, place.index);
    else this.announce(this.data.editable ? this.allDecided() : "Everything is decided.");
  }

  /** To what was decided last, for a reason, an example or a second thought. */
  goBack() {
    const index = this.last ? this.state.at(this.last.position).items.findIndex((item) => item.key === this.last.key) : -1;
    if (index < 0) this.announce("Nothing was decided since the page was opened.");
    else this.select(this.last.position, index);
  }

  // --- deciding -----------------------------------------------------------------------------------------------------

  mayDecide() {
    if (this.data.editable) return true;
    this.announce(this.data.status === "done" ? "This gold is done; reopen it to decide anew." : "This can be read but not changed.", true);
    return false;
  }

  choose(resolution, side = "") {
    if (!this.mayDecide()) return;
    const { item } = this;
    if (!choicesOf(item, this.data.review).includes(resolution)) return void this.announce(this.whyNot(resolution, item), true);
    if (!item) return this.form.openBeside(this.at.position);
    if (resolution === "edited") return this.form.openEdit(this.at.position, item, side);
    if (resolution === "new") return this.form.openNew(this.at.position, item);
    return this.decide(this.at.position, item, resolution);
  }

  allDecided() {
    return `Everything is decided; ${this.keyFor("finish")} marks it as done.`;
  }

  whyNot(resolution, item) {
    const [none, edit] = [this.keyFor("none"), this.keyFor("edit")];
    if (!item) return `There is no label here; ${this.keyFor("new")} writes one.`;
    if (item.outcome === "agreed") return `Both agree here; ${none} does not accept it, ${edit} edits it.`;
    if (item.outcome === "added") return `This was written here; ${edit} edits it, ${none} takes it out.`;
    if (resolution === "both") return "There are no two different labels here.";
    return `${resolution} has no label here.`;
  }

  /** Decide on an item (null: write beside), and go on to the next conflict. */
  decide(position, item, resolution, labels = [], { stay = false } = {}) {
    const note = this.noteOf(item);
    const decision = { position, pairing: item?.key || "", resolution, labels, reason: note.reason, error_type: note.errorType };
    if (item) this.notes.delete(item.key);
    if (item) this.last = { position, key: item.key };
    const base = item?.decision?.pending ? item.decision.base : stampOf(item);
    const entry = { key: uuid(), path: "decide", base, body: { decisions: [decision], seconds: this.time.take() } };
    this.showWaiting(entry);
    this.queue.add(entry);
    if (stay || !item || item.outcome === "agreed" || item.outcome === "added") return this.select(position, this.at.index);
    const next = this.state.nextOpen(this.at, 1);
    if (next) return this.select(next.position, next.index);
    this.select(position, this.at.index);
    return this.announce(this.allDecided());
  }

  /** Show a decision that is on its way as if it had arrived. */
  showWaiting(entry) {
    for (const { position, pairing, resolution, labels, reason, error_type } of entry.body.decisions || []) {
      const item = this.state.item(position, pairing);
      if (!item) continue;
      const rows = labels.map((label) => this.model.pendingRow({ kept: {}, ...label }));
      item.decision = { resolution, labels: rows, reason, error_type, by: "you", at: new Date().toISOString(), pending: true, base: entry.base };
      this.drawTurn(position);
    }
    this.showProgress();
  }

  ask(path) {
    if (path !== "reopen" && !this.mayDecide()) return;
    this.queue.add({ key: uuid(), path, body: {} });
  }

  noteOf(item) {
    if (!item) return { reason: "", errorType: "" };
    const known = item.decision && !item.decision.unseen ? item.decision : item.before;
    return this.notes.get(item.key) || { reason: known?.reason || "", errorType: known?.error_type || "" };
  }

  /** A reason was written: it goes with the decision that is made next, or with the one that stands. */
  noted(position, item, back) {
    const note = this.notes.get(item.key);
    const decision = item.decision?.unseen ? null : item.decision;
    const changed = note && decision && (note.reason !== decision.reason || note.errorType !== decision.error_type);
    if (changed && this.data.editable && !decision.pending) this.decide(position, item, decision.resolution, decision.labels.map((row) => row.data), { stay: true });
    if (back) this.turns.get(this.at.position)?.focus({ preventScroll: true });
  }

  guideline() {
    const { item } = this;
    const { position } = this.at;
    const rows = this.state.at(position).gold;
    const row = item?.decision?.labels[0] || rows[0] || item?.a[0] || item?.b[0];
    if (!row) return void this.announce("There is no label here that could be an example.", true);
    return askGuideline({ row, reason: this.noteOf(item).reason, questionnaire: this.data.questionnaire, send: (body) => post(this.root.dataset.guideline, body), announce: (message, urgent) => this.announce(message, urgent) });
  }

  async reveal() {
    try {
      const { status, body } = await post(this.root.dataset.reveal, {});
      if (status !== 200) return void this.announce(body?.error?.message || "They could not be shown.", true);
      this.names = body.names;
      this.select(this.at.position, this.at.index);
      this.announce("Shown. Your decisions from now on are noted as not blind.");
    } catch {
      this.announce("They could not be fetched. Is the connection there?", true);
    }
  }

  // --- what is shown ------------------------------------------------------------------------------------------------

  drawTurn(position) {
    const { gold } = this.state.at(position);
    drawTurn(this.turns.get(position), { gold, note: this.state.note(position), open: this.state.isOpenAt(position), unseen: this.state.isUnseenAt(position) });
  }

  drawPanel() {
    const { position } = this.at;
    const turn = this.model.turn(position);
    const panel = this.find("decide-panel");
    this.find("decide-title").textContent = turn ? `Utterance ${position} · ${turn.speaker}` : "To decide";
    this.find("form-quote").textContent = turn?.text || "";
    const { task } = this.form;
    this.find("editing").textContent = task?.what || "";
    this.find("editing").hidden = !task;
    if (task) return this.drawBehind(panel, task);
    const { editable } = this.data;
    const cards = this.items.map((item, index) => this.card(item, { current: index === this.at.index, editable, select: () => index !== this.at.index && this.select(position, index), choose: (resolution) => this.choose(resolution) }));
    const earlier = (this.state.at(position).earlier || []).map((decision) => earlierNote(decision, this.data.review));
    panel.replaceChildren(...earlier, ...(cards.length ? cards : [this.emptyHere()]), ...(this.item && editable ? [this.reasons(position, this.item)] : []));
    panel.querySelector("[aria-current]")?.scrollIntoView({ block: "nearest" });
  }

  /** While a label is written both readings stay in sight above the form; nothing can be decided on them meanwhile. */
  drawBehind(panel, task) {
    const items = this.state.at(task.position).items.filter((item) => !task.item || item.key === task.item.key);
    panel.replaceChildren(...items.map((item) => this.card(item, { current: false, editable: false, select: () => {}, choose: () => {} })));
  }

  card(item, host) {
    return itemCard(item, { review: this.data.review, names: this.names?.[this.at.position], keyFor: this.keyFor, ...host });
  }

  emptyHere() {
    const text = document.createElement("p");
    text.className = "empty";
    text.textContent = `${this.data.review ? "The annotator gave" : "Both gave"} this utterance no label.${this.data.editable ? ` ${this.keyFor("new")} writes one.` : ""}`;
    return text;
  }

  reasons(position, item) {
    const note = this.noteOf(item);
    return reasonFields({
      errorTypes: this.data.errorTypes,
      reason: note.reason,
      errorType: note.errorType,
      proposed: item.kinds,
      keyFor: this.keyFor,
      changed: (reason, errorType) => this.notes.set(item.key, { reason, errorType }),
      done: (back) => this.noted(position, this.state.item(position, item.key) || item, back),
      guideline: () => this.guideline(),
    });
  }

  drawList() {
    drawConflicts(this.find("conflicts"), this.state.conflicts(), { position: this.at.position, key: this.item?.key }, this.data.review);
  }

  // --- keys and clicks ----------------------------------------------------------------------------------------------

  pressed(event) {
    if (event.isComposing || document.querySelector("dialog[open]") || typesText(event.target) || this.form.isOpen) return;
    if (event.target.closest("button, summary, a") && ["Enter", " "].includes(event.key)) return;
    if (event.target.closest("details[data-menu]")) return;
    const found = this.actionOf(event);
    if (!found) return;
    event.preventDefault();
    this.table[found.action.slice(PREFIX.length)]();
  }

  clicked(event) {
    const at = (selector) => event.target.closest(selector);
    const goto = at("[data-goto]");
    if (goto) {
      event.preventDefault();
      const position = Number(goto.dataset.goto);
      const index = this.state.at(position).items.findIndex((item) => item.key === goto.dataset.gotoItem);
      this.clickedTo(position, Math.max(0, index));
    } else if (at("[data-action]")) this.table[at("[data-action]").dataset.action]?.();
    else if (at(".turn") && !String(getSelection())) this.clickedTo(Number(at(".turn").dataset.position));
  }

  clickedTo(position, index) {
    if (this.form.unsaved) this.announce("Save what you typed, or discard it, before you go elsewhere.", true);
    else if (this.form.isOpen) this.form.close();
    if (!this.form.isOpen) this.select(position, index);
  }
}

const root = document.querySelector("[data-adjudication]");
const page = new Page(root, JSON.parse(document.querySelector("#adjudication-data").textContent));
page.show();
root.dataset.ready = "true";
