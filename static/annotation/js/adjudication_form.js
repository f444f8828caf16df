// Editing a label, or writing a new one, while deciding: the workbench's own form.

import { emptySeed } from "./answers.js";
import { showGuidelines } from "./dialogs.js";
import { LabelForm } from "./form.js";
import { notesAbout } from "./notes.js";

export class DecisionForm {
  constructor(page, place) {
    this.page = page;
    this.place = place;
    this.task = null; // {position, item, resolution, rest: labels that the decision has beside this one}
    this.form = new LabelForm(place, {
      questionnaire: page.data.questionnaire,
      suggest: (field, slot, text, chosen, position) => page.model.suggest(field, slot, text, chosen, position),
      changed: () => (this.warned = false),
      save: (stay) => this.save(stay),
      leave: () => this.leave(),
      discard: () => this.close(),
      guidelines: () => showGuidelines(page.data.questionnaire, this.form.seed?.intent, this.form.seed?.slot, page.root.dataset.guidelines, page.data.notes),
      notes: (intent, slot) => notesAbout(page.data.notes, intent, slot),
    });
  }

  get isOpen() {
    return this.form.isOpen;
  }

  get unsaved() {
    return this.isOpen && this.form.touched;
  }

  /** Edit what was decided, or one side: A, unless `side` says B or only B has a label. */
  openEdit(position, item, side) {
    const from = side && item[side].length ? item[side] : this.startOf(item);
    const [first, ...rest] = from.map((row) => row.data);
    this.open({ position, item, resolution: "edited", rest }, { ...first, id: "edited", asked: [] });
  }

  startOf(item) {
    const { decision } = item;
    if (decision?.labels.length) return decision.labels;
    if (decision?.resolution === "B" || !item.a.length) return item.b;
    return item.a;
  }

  openNew(position, item) {
    this.open({ position, item, resolution: "new", rest: [] }, this.empty(position));
  }

  openBeside(position) {
    if (this.page.mayDecide()) this.open({ position, item: null, resolution: "new", rest: [] }, this.empty(position));
  }

  /** What the portal refused comes back as it was typed. */
  reopen(decision, fields) {
    const item = this.page.state.item(decision.position, decision.pairing);
    const [label, ...rest] = decision.labels;
    this.page.select(decision.position);
    this.open({ position: decision.position, item, resolution: decision.resolution, rest }, { ...label, id: "edited", asked: [], touched: true });
    this.form.complain(fields);
  }

  empty(position) {
    return emptySeed(this.page.data.questionnaire, this.page.model.turn(position).speaker);
  }

  open(task, seed) {
    if (!this.page.mayDecide()) return;
    this.task = task;
    this.warned = false;
    this.form.open({ ...seed, position: task.position, speaker: this.page.model.turn(task.position).speaker });
    this.page.drawPanel();
    this.place.scrollIntoView({ block: "nearest" });
  }

  save(stay) {
    const { form, page } = this;
    if (!form.settled()) return;
    const { position, item, resolution, rest } = this.task;
    const labels = [...rest, form.read()];
    form.close();
    this.task = null;
    page.drawPanel();
    // Written beside, each label is a decision of its own; instead of a pairing, all of them are one.
    page.decide(position, item, resolution, labels, { stay });
    if (stay) this.open({ position, item, resolution: item ? "new" : resolution, rest: item ? labels : [] }, this.empty(position));
  }

  leave() {
    if (this.form.touched && !this.warned) {
      this.warned = true;
      this.form.say("Esc once more drops what you typed; Enter saves it.");
      return;
    }
    this.close();
  }

  close() {
    this.form.close();
    this.task = null;
    this.page.select(this.page.at.position, this.page.at.index);
  }
}
