// Labels that one key makes or takes away: slotless intents, answers, repetition, chips, deletion, undo.

import { answerLabels, informing, inquiriesBefore, unanswered } from "./answers.js";
import { sameLabel } from "./model.js";

export class OneKey {
  constructor(work) {
    this.work = work;
  }

  /** Whether an intent belongs to the chosen utterance's speaker; otherwise it says so. */
  fits(name) {
    const { navigation, model, legend } = this.work;
    const intent = model.intent(name);
    const speaker = navigation.turn?.speaker;
    if (intent?.speakers.includes(speaker)) return true;
    this.work.refuse(`“${intent?.title || name}” cannot be used on the ${speaker}'s turns. ${legend.instead(speaker)}`);
    return false;
  }

  slotless(name) {
    const { navigation, saving } = this.work;
    if (!this.work.mayEdit() || !this.fits(name)) return;
    this.make([{ position: navigation.current, intent: name, intent_name: "", slot: "", answers: {}, checks: [], origin: "typed" }], saving);
  }

  /** Save labels unless the utterance carries the very same ones, and go on. */
  make(labels) {
    const { navigation, saving, frame, model } = this.work;
    const fresh = labels.filter((label) => !navigation.labels.some((other) => sameLabel(other, label)));
    if (!fresh.length) return void frame.announce(`This utterance has that label already: ${model.words(labels[0])}.`);
    saving.change(fresh.map((label) => ({ label })));
    navigation.advance();
  }

  answer(meaning) {
    const { navigation, model, frame, data } = this.work;
    if (!navigation.turn || !this.work.mayEdit()) return;
    const position = navigation.current;
    if (!inquiriesBefore(model.utterances, model.labelsAt, model.asks, position).length) {
      return void this.work.refuse(`No labelled question stands before this utterance; ${this.work.keyFor("open")} opens its questionnaire.`);
    }
    const open = unanswered(model, position);
    if (!open.length) return void this.work.refuse("What was asked is answered already.");
    const intent = informing(data.questionnaire, navigation.turn.speaker);
    const labels = answerLabels(open, (name) => model.slot(name), intent, position, meaning);
    if (!labels.length) return void this.work.refuse("What was asked cannot be answered with one key; press Enter to answer it in full.");
    if (!this.fits(intent)) return;
    this.make(labels);
    const left = open.length - labels.length;
    frame.announce(labels.map((label) => model.words(label)).join("; ") + (left ? ` – ${left} more asked, to be answered in full.` : ""));
  }

  repeat() {
    const { navigation, model } = this.work;
    if (!this.work.mayEdit()) return;
    const source = model.lastMade.length ? model.lastMade : model.newestFirst().slice(0, 1);
    if (!source.length) return void this.work.refuse("There is no label to repeat yet.");
    if (!source.every((label) => this.fits(label.intent))) return;
    const copy = ({ intent, intent_name = "", slot, answers, checks }) => ({ position: navigation.current, intent, intent_name, slot, answers, checks, origin: "copied" });
    this.make(source.map(copy));
  }

  chip(index) {
    const { navigation, model, editor, form } = this.work;
    if (!navigation.turn || !this.work.mayEdit()) return;
    const chip = model.chips(navigation.current)[index];
    if (!chip) return void this.work.refuse(`No value ${index + 1} was found in this utterance.`);
    // A form of the same slot takes the value; any other is left, and one is opened with it.
    const asked = form.isOpen && form.seed.slot === chip.slot && form.questionOf(chip.field);
    if (asked) return void asked.paste([chip.value], chip.value);
    const field = model.slot(chip.slot).fields.find((item) => item.name === chip.field);
    editor.openSlot(chip.slot, false, { [chip.field]: field.kind === "text" ? chip.value : [chip.value] });
  }

  remove(label) {
    const { navigation, model, frame, saving } = this.work;
    if (!this.work.mayEdit()) return;
    if (!label) return void this.work.refuse("This utterance has no label to delete.");
    saving.change([{ id: label.id, label: null }]);
    frame.announce(`Deleted: ${model.words(label)}. ${this.work.keyFor("undo")} brings it back.`);
    navigation.select(navigation.current);
  }

  /** `path` is undo or redo. */
  step(path) {
    const { saving, data, frame } = this.work;
    if (!this.work.mayEdit()) return;
    if (!saving.queue.pending && !data[path]) return void frame.announce(`There is nothing to ${path}.`);
    saving.ask(path);
  }
}
