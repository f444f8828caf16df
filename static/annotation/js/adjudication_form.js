// Editing a label, or writing a new one, while deciding: the workbench's own form.

import { editedWords, startOf } from "./adjudication_state.js";
import { emptySeed } from "./answers.js";
import { showGuidelines } from "./dialogs.js";
import { LabelForm } from "./form.js";
import { notesAbout } from "./notes.js";

const WRITING = "Writing a new label in place of what is shown above.";
const BESIDE = "Writing a label beside those of the annotators.";
const WRITTEN = "This is what you had written; it was not saved.";

export class DecisionForm {
  constructor(page, place) {
    this.page = page;
    this.place = place;
    // {position, item, resolution, what: in words, rest: labels that the decision has beside this one}
    this.task = null;
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
    const from = side && item[side].length ? side : startOf(item);
    const rows = from ? item[from] : item.decision.labels;
    const [first, ...rest] = rows.map((row) => row.data);
    this.open({ position, item, resolution: "edited", what: editedWords(from, item, this.page.data.review), rest }, { ...first, id: "edited", asked: [] });
  }

  openNew(position, item) {
    this.open({ position, item, resolution: "new", what: WRITING, rest: [] }, this.empty(position));
  }

  openBeside(position) {
    if (this.page.mayDecide()) this.open({ position, item: null, resolution: "new", what: BESIDE, rest: [] }, this.empty(position));
  }

  /** What the portal refused comes back as it was typed. */
  reopen(decision, fields) {
    const item = this.page.state.item(decision.position, decision.pairing);
    const [label, ...rest] = decision.labels;
    this.page.select(decision.position);
    this.open({ position: decision.position, item, resolution: decision.resolution, what: WRITTEN, rest }, { ...label, id: "edited", asked: [], touched: true });
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
    if (stay) this.open({ position, item, resolution: item ? "new" : resolution, what: item ? WRITING : BESIDE, rest: item ? labels : [] }, this.empty(position));
    else page.openLost();
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
    this.page.openLost();
  }
}
