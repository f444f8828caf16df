// The life of a form on the page: opened with what is known, kept as a draft while it is filled, saved or left.

import { answerForm, defaults, emptySeed, informing, intentFor, unanswered } from "./answers.js";
import { uuid } from "./dom.js";
import { LabelForm } from "./form.js";
import { sameLabel } from "./model.js";
import { notesAbout } from "./notes.js";

const DRAFT_PAUSE = 150;

export class Editor {
  constructor(work, place) {
    this.work = work;
    this.timer = 0;
    this.lastField = "";
    this.unkept = false; // whether a draft could not be kept in the browser's storage
    this.form = new LabelForm(place, {
      questionnaire: work.data.questionnaire,
      suggest: (field, slot, text, chosen, position) => work.model.suggest(field, slot, text, chosen, position),
      more: work.vocabulary && ((field, slot, text) => work.vocabulary.suggest(slot?.name || "", field.name, text)),
      changed: () => this.keepDraftSoon(),
      save: (stay) => this.save(stay),
      leave: () => this.leave(),
      discard: () => this.discard(),
      guidelines: () => work.actions.run("guidelines"),
      notes: (intent, slot) => notesAbout(work.news?.notes || [], intent, slot),
    });
    place.addEventListener("focusin", (event) => {
      this.lastField = event.target.closest("[data-field]")?.dataset.field || "";
    });
  }

  open(seed) {
    const { navigation, model, places } = this.work;
    if (!this.work.mayEdit()) return;
    this.leave({ focus: false });
    if (seed.position !== navigation.current) navigation.select(seed.position, { focus: false });
    const turn = model.turn(seed.position);
    places.idle.hidden = true;
    places.formTitle.textContent = `${seed.id ? "Edit a label" : "New label"} · utterance ${seed.position} · ${turn.speaker}`;
    places.quote.textContent = turn.text;
    const base = seed.id ? model.find(seed.id)?.row.data : null;
    this.form.open({ draft: seed.id || uuid(), base, ...seed, speaker: turn.speaker });
  }

  /** Enter on an utterance: its draft, the label a supervisor asks about, the answer to a question, or an empty form. */
  openHere() {
    const { navigation, model, drafts, data } = this.work;
    if (!navigation.turn) return;
    if (navigation.label >= 0) return void this.edit(navigation.labels[navigation.label]);
    const position = navigation.current;
    const draft = drafts.at(position);
    if (draft) return void this.openDraft(draft);
    const returned = this.work.news.labelAsked(position);
    if (returned) return void this.edit(returned);
    const { speaker } = navigation.turn;
    const [inquiry] = unanswered(model, position);
    const slot = inquiry && model.slot(inquiry.slot);
    const answer = inquiry && model.intent(informing(data.questionnaire, speaker)) && this.answers(speaker) ? answerForm(inquiry, slot, informing(data.questionnaire, speaker), speaker) : null;
    this.open({ position, ...(answer || emptySeed(data.questionnaire, speaker)) });
  }

  /** Whether a speaker's usual turn answers questions rather than asking them. */
  answers(speaker) {
    const usual = this.work.data.questionnaire.speakers.find((item) => item.name === speaker)?.usual_intent;
    return Boolean(usual) && !this.work.model.asks(usual);
  }

  openDraft(draft) {
    const { model, frame } = this.work;
    const { seed } = draft;
    this.open({ ...seed, draft: draft.key, position: draft.position, touched: true });
    if (!this.form.isOpen) return;
    const now = seed.id ? model.find(seed.id)?.row.data : null;
    if (seed.problems?.length) this.form.complain(seed.problems);
    else if (seed.base && !now) this.form.say(`This label was deleted meanwhile. It was: ${model.words(seed.base)}. Saving makes it again.`);
    else if (seed.base && !sameLabel(seed.base, now)) this.form.say(`Changed elsewhere meanwhile; it is now: ${model.words(now)}. Saving replaces that.`);
    frame.announce("What you had typed here is back.");
  }

  openSlot(name, shifted, answers = {}) {
    const { navigation, model, data } = this.work;
    const slot = model.slot(name);
    if (!navigation.turn || !slot) return;
    const { speaker } = navigation.turn;
    const intent = intentFor(data.questionnaire, slot, speaker, shifted);
    if (!intent) return void this.work.refuse(`“${slot.title}” cannot be used on the ${speaker}'s turns. ${this.work.legend.instead(speaker)}`);
    this.open({ position: navigation.current, intent, slot: name, answers: { ...defaults(slot, speaker, intent, model.asks(intent)), ...answers } });
  }

  edit(label) {
    const { drafts, frame } = this.work;
    if (!label) return void frame.announce("This utterance has no label to edit.");
    const draft = drafts.get(label.id);
    if (draft) this.openDraft(draft);
    else this.open({ ...label, asked: [] });
  }

  save(stay) {
    const { drafts, navigation, saving, frame, model } = this.work;
    const { form } = this;
    if (!form.settled()) return;
    const label = form.read();
    const { id, draft } = form.seed;
    const before = id && model.find(id)?.row.data;
    this.stopTimer();
    drafts.remove(draft);
    form.close();
    this.showIdle();
    if (before && sameLabel(before, label)) frame.announce("Nothing was changed.");
    else saving.change([{ id, label }]);
    navigation.drawTurn(label.position);
    navigation.advance(stay || Boolean(id));
  }

  /** Leave the form; what was typed stays as a draft of its utterance. */
  leave({ focus = true } = {}) {
    if (!this.form.isOpen) return;
    const { position } = this.form.seed;
    if (this.form.touched) this.work.frame.announce("Left; what you typed is kept with the utterance.");
    this.keepDraft(false);
    this.close(position, focus);
  }

  discard() {
    const { position, draft } = this.form.seed;
    this.stopTimer();
    this.work.drafts.remove(draft);
    this.close(position, true);
    this.work.frame.announce("Discarded.");
  }

  close(position, focus) {
    this.form.close();
    this.work.navigation.drawTurn(position);
    this.showIdle();
    if (focus) this.work.navigation.select(this.work.navigation.current);
  }

  keepDraftSoon() {
    this.stopTimer();
    this.timer = setTimeout(() => this.keepDraft(), DRAFT_PAUSE);
  }

  stopTimer() {
    clearTimeout(this.timer);
  }

  keepDraft(open = true) {
    this.stopTimer();
    if (!this.form.isOpen || !this.form.touched) return;
    const seed = this.form.snapshot();
    this.unkept = !this.work.drafts.put({ key: seed.draft, position: seed.position, seed, open });
  }

  /** Labels that the portal refused: nothing that was typed is lost, it comes back as a form or waits as a draft. */
  takeBack(item, fields, message) {
    const { drafts, frame, navigation, data } = this.work;
    const { model } = this.work;
    const kept = (item.body?.changes || []).filter((change) => model.turn(change.label?.position)).map(({ id, label }) => {
      const known = Boolean(item.before?.[id]);
      const problems = fields.length ? fields : [{ field: "", message }];
      const draft = { key: id, position: label.position, open: false, seed: { ...label, id: known ? id : "", base: item.before?.[id] || null, asked: [], problems } };
      drafts.put(draft);
      navigation.drawTurn(label.position);
      return draft;
    });
    if (!kept.length) return;
    if (kept.length === 1 && data.editable && !this.form.isOpen && !document.querySelector("dialog[open]")) {
      this.openDraft(kept[0]);
      frame.announce(message, true);
    } else {
      frame.announce(`u${kept[0].position}: ${message} What you typed is kept there as a draft.`, true);
    }
  }

  showIdle() {
    const { places, navigation } = this.work;
    places.idle.hidden = false;
    places.quote.textContent = "";
    places.formTitle.textContent = navigation.turn ? `Utterance ${navigation.current} · ${navigation.turn.speaker}` : "Label";
  }

  /** A value of the patient so far goes into the field last used, or opens a label with it. */
  copy({ copy: text, field, slot }) {
    const head = this.work.model.slot(slot)?.head;
    const values = field === head ? [text] : text.split(", ");
    if (!this.form.isOpen) return this.openSlot(slot, false, this.asAnswer(slot, field, text, values));
    const wanted = this.form.questionOf(this.lastField) || this.form.questionOf(field) || this.form.questionOf(this.form.slot?.head);
    return wanted?.paste(values, text);
  }

  asAnswer(slotName, fieldName, text, values) {
    const field = this.work.model.slot(slotName)?.fields.find((item) => item.name === fieldName);
    if (field?.kind === "values") return { [fieldName]: values };
    return field?.kind === "text" ? { [fieldName]: text } : {};
  }
}
