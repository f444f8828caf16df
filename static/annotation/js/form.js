// The questionnaire of one label. The form knows the questionnaire and nothing of the portal: it is opened with a
// seed (intent, slot, answers, checks …), tells when something changed, and gives the label back.

import { isOffered } from "./answers.js";
import { Combobox } from "./combobox.js";
import { el, newId } from "./dom.js";
import { Question } from "./fields.js";
import { fold } from "./search.js";

export class LabelForm {
  /** host: {questionnaire, suggest(field, slot, text, chosen, position), more(field, slot, text) or nothing, changed(), save(stay), leave(), discard(), guidelines(), notes(intent, slot)} */
  constructor(root, host) {
    this.root = root;
    this.host = host;
    this.questions = [];
    this.seed = null;
    root.addEventListener("keydown", (event) => this.pressed(event));
  }

  get isOpen() {
    return this.seed !== null;
  }

  /**
   * seed: {position, speaker, intent, slot, answers, checks, kept, intent_name, id, asked: field names that come first,
   * origin, touched}. What has no place in the form (`kept`, answers of questions it does not show) is given back unchanged.
   */
  open(seed) {
    this.seed = { answers: {}, checks: [], kept: {}, intent_name: "", id: "", asked: [], origin: "typed", ...seed };
    this.answers = { ...this.seed.answers };
    this.checks = [...this.seed.checks];
    this.shown = new Set(this.seed.asked);
    this.touched = Boolean(seed.touched);
    this.build();
    this.focusFirst();
  }

  close() {
    this.seed = null;
    this.questions = [];
    this.root.replaceChildren();
  }

  get intent() {
    return this.host.questionnaire.intents.find((intent) => intent.name === this.seed.intent);
  }

  get slot() {
    return this.host.questionnaire.slots.find((slot) => slot.name === this.seed.slot) || null;
  }

  get asking() {
    return Boolean(this.intent?.asks);
  }

  build() {
    const { seed } = this;
    Object.assign(this, { questions: [], slotField: null, nameElement: null, jump: null });
    this.note = el("p", { class: "form-note", role: "status", hidden: true });
    this.body = el("div", { class: "questions" });
    this.root.replaceChildren(
      el("div", { class: "form-head" }, this.intentSelect(), this.slotBox()),
      this.note,
      this.intent?.named ? this.nameInput() : "",
      this.body,
      this.guideline(),
      el("p", { class: "muted form-hint" }, "Shift+Enter saves and stays here, for another label of this utterance."),
      el(
        "div",
        { class: "form-actions" },
        el("button", { type: "button", class: "button", on: { click: () => this.host.save(false) } }, "Save", el("kbd", { "aria-hidden": "true" }, "Enter")),
        el("button", { type: "button", class: "button quiet", on: { click: () => this.host.leave() } }, "Leave", el("kbd", { "aria-hidden": "true" }, "Esc")),
        el("button", { type: "button", class: "button quiet", on: { click: () => this.host.discard() } }, "Discard"),
      ),
    );
    this.root.dataset.position = seed.position;
    this.drawQuestions();
  }

  /** Rebuild for another intent or slot; what was answered is kept and comes back with its question. */
  rebuild(focus) {
    this.collect(false);
    this.build();
    this.changed();
    if (focus === "intent") this.intentElement.focus();
    else this.focusFirst();
  }

  intentSelect() {
    const id = newId("intent");
    const offered = this.host.questionnaire.intents.filter((intent) => intent.speakers.includes(this.seed.speaker) || intent.name === this.seed.intent);
    this.intentElement = el(
      "select",
      { id, on: { change: (event) => ((this.seed.intent = event.target.value), this.dropSlot(), this.rebuild("intent")) } },
      ...offered.map((intent) => el("option", { value: intent.name, selected: intent.name === this.seed.intent }, intent.title)),
    );
    return el("label", { class: "form-intent", for: id }, el("span", {}, "Intent"), this.intentElement);
  }

  /** A slot that the new intent does not have is left, but its answers are not forgotten. */
  dropSlot() {
    if (this.slot && !this.slot.intents.includes(this.seed.intent)) {
      const only = this.slotsOffered();
      this.seed.slot = only.length === 1 ? only[0].name : "";
    }
  }

  slotsOffered() {
    return this.host.questionnaire.slots.filter((slot) => slot.intents.includes(this.seed.intent));
  }

  slotBox() {
    const labelId = newId("slot");
    const offered = this.slotsOffered();
    if (!offered.length) return "";
    this.slotField = new Combobox({
      label: labelId,
      placeholder: "type to choose a slot",
      suggest: (text) => {
        const query = fold(text);
        return offered
          .filter((slot) => !query || fold(slot.title).split(" ").some((word) => word.startsWith(query)) || fold(slot.title).startsWith(query))
          .map((slot) => ({ value: slot.title, note: slot.help, strong: Boolean(query) }));
      },
    });
    this.slotField.write(this.slot ? this.slot.title : "");
    this.slotField.input.addEventListener("blur", () => this.slotChosen());
    this.slotField.list.addEventListener("click", () => this.slotChosen());
    return el("div", { class: "form-slot" }, el("span", { id: labelId }, "Slot"), this.slotField.element);
  }

  /** Returns whether the slot box says something the form can follow. */
  slotChosen() {
    if (!this.slotField || !this.isOpen) return true;
    const text = fold(this.slotField.text);
    const found = this.slotsOffered().find((slot) => fold(slot.title) === text);
    if (text && !found) {
      this.say(`There is no slot “${this.slotField.text}” for this intent.`);
      return false;
    }
    const name = found ? found.name : "";
    if (name !== this.seed.slot) {
      this.seed.slot = name;
      this.rebuild();
    }
    return true;
  }

  /** Whether everything typed can be read: a slot that exists, and no question named but not yet opened. */
  settled() {
    if (!this.slotChosen()) return false;
    if (this.questions.some((question) => question.doubtful)) return false;
    if (!this.jump?.text) return true;
    if (this.typedAsValue()) return false;
    this.jumped(!this.asking);
    return this.asking && this.note.hidden;
  }

  questionOf(name) {
    return this.questions.find((question) => question.field.name === name);
  }

  nameInput() {
    const id = newId("name");
    this.nameElement = el("input", { id, type: "text", maxlength: "200", value: this.seed.intent_name, on: { input: () => this.changed() } });
    return el("div", { class: "question" }, el("label", { for: id, class: "question-text" }, "What would you call this intent?"), this.nameElement);
  }

  guideline() {
    const { slot, intent } = this;
    const text = [slot?.guideline || slot?.help, intent?.guideline || intent?.help].filter(Boolean);
    const added = this.host.notes(intent?.name, slot?.name);
    if (!text.length && !added.length) return "";
    return el(
      "details",
      { class: "form-guideline" },
      el("summary", {}, "Guideline", el("kbd", { "aria-hidden": "true" }, "F1")),
      ...text.map((part) => el("p", {}, part)),
      ...added.map((note) => el("p", { class: "added" }, el("b", {}, "Added in this project: "), note.text)),
      el("button", { type: "button", class: "button quiet", on: { click: () => this.host.guidelines() } }, "Special cases and examples"),
    );
  }

  offered() {
    const { slot, seed } = this;
    if (!slot) return [];
    return slot.fields.filter((field) => {
      // A question that is not offered is still shown when the label already answers it.
      return isOffered(field, seed.intent, seed.speaker) || field.name in this.answers;
    });
  }

  /** Asked questions are open, the others folded into one line from which they can be reached by name. */
  drawQuestions() {
    const { slot } = this;
    const fields = this.offered();
    const open = (field) =>
      field.name === slot.head ||
      this.shown.has(field.name) ||
      field.name in this.answers ||
      this.checks.includes(field.name) ||
      (field.needed && !this.asking) ||
      fields.length <= 3;
    const first = fields.filter((field) => field.name === slot?.head);
    const rest = fields.filter((field) => field.name !== slot?.head && open(field));
    const folded = fields.filter((field) => !open(field) && field.name !== slot.head);
    // What still waits for an answer comes first, then the way to the folded questions, then what is answered already.
    const waits = (field) => !(field.name in this.answers) && (this.shown.has(field.name) || (field.needed && !this.asking));
    const parts = [first, rest.filter(waits), rest.filter((field) => !waits(field))].map((part) => part.map((field) => this.question(field)));
    this.questions = parts.flat();
    const elements = (part) => part.map((question) => question.element);
    this.jump = null;
    const filled = parts[2].length && folded.length ? el("p", { class: "form-part" }, "Filled in already") : "";
    this.body.replaceChildren(...elements(parts[0]), ...elements(parts[1]), folded.length ? this.jumpRow(folded) : "", filled, ...elements(parts[2]));
  }

  question(field) {
    const question = new Question(field, {
      asking: this.asking,
      changed: () => this.changed(),
      suggest: (item, text, chosen) => this.host.suggest(item, this.slot, text, chosen, this.seed.position),
      more: this.host.more && ((item, text) => this.host.more(item, this.slot, text)),
    });
    question.write(this.answers, this.checks);
    return question;
  }

  jumpRow(folded) {
    const labelId = newId("jump");
    const name = (field) => field.name.replaceAll("_", " ");
    this.jump = new Combobox({
      label: labelId,
      placeholder: "name a question",
      suggest: (text) => {
        const query = fold(text);
        const fitting = folded.filter((field) => !query || fold(name(field)).startsWith(query) || fold(field.question).split(" ").some((word) => word.startsWith(query)));
        fitting.sort((a, b) => fold(name(b)).startsWith(query) - fold(name(a)).startsWith(query));
        return fitting.map((field) => ({ value: name(field), note: field.question, strong: Boolean(query) }));
      },
    });
    this.jump.folded = folded;
    this.jump.list.addEventListener("click", () => this.jumped(true));
    const open = (field) => () => {
      this.jump.input.value = name(field);
      this.jumped(true);
    };
    const button = (field) => el("button", { type: "button", tabindex: "-1", title: field.question, on: { click: open(field) } }, name(field));
    return el(
      "div",
      { class: "question jump" },
      el("span", { id: labelId, class: "question-text" }, this.asking ? "Asks about" : "Also says"),
      this.jump.element,
      el("ul", { class: "folded" }, ...folded.map((field) => el("li", {}, button(field)))),
    );
  }

  /** Open the question that was named; `go` puts the cursor into it. Returns whether one was opened. */
  jumped(go) {
    if (!this.jump) return false;
    this.jump.take();
    const wanted = fold(this.jump.text);
    if (!wanted) return false;
    const field = this.jump.folded.find((item) => fold(item.name.replaceAll("_", " ")) === wanted);
    if (!field) {
      this.say(`There is no question “${this.jump.text}” in this slot.`);
      return true;
    }
    this.collect(false);
    this.shown.add(field.name);
    if (this.asking && field.check !== "none" && !this.checks.includes(field.name)) this.checks.push(field.name);
    this.drawQuestions();
    this.changed();
    const question = this.questions.find((item) => item.field === field);
    if (go) (question.control ? question : this.jump || question).focus();
    return true;
  }

  focusFirst() {
    const { slot } = this;
    if (this.slotField && !slot && this.slotsOffered().length) return void this.slotField.focus();
    const head = this.questions.find((question) => question.field.name === slot?.head);
    const asked = this.questions.find((question) => this.seed.asked.includes(question.field.name));
    const missing = this.asking ? null : this.questions.find((question) => question.field.needed && !(question.field.name in this.answers));
    const waiting = missing || this.questions.find((question) => question.unrated)?.unrated;
    if (head && !(slot.head in this.answers)) head.focus();
    else if (asked || waiting) (asked || waiting).focus();
    else if (head && this.seed.id) head.focus();
    else if (this.jump) this.jump.focus();
    else if (this.questions.length) this.questions[0].focus();
    else if (this.nameElement) this.nameElement.focus();
    else this.intentElement.focus();
  }

  /** Everything answered so far into `answers` and `checks`; with `taking`, typed text becomes a value. */
  collect(taking) {
    for (const question of this.questions) {
      // What a question cannot show (an inquiry's bare tick shows no answer) is left as it was.
      if (question.control) delete this.answers[question.field.name];
      if (question.criterion) delete this.answers[`${question.field.name}.criterion`];
      if (question.tick) this.checks = this.checks.filter((name) => name !== question.field.name);
      question.read(this.answers, this.checks, taking);
    }
    if (this.nameElement && this.intent?.named) this.seed.intent_name = this.nameElement.value.trim();
  }

  /** The label as the form has it. Answers of questions that the slot does not have stay out of it. */
  read(taking = true) {
    this.collect(taking);
    const known = new Set(this.slot ? this.slot.fields.flatMap((field) => [field.name, `${field.name}.criterion`]) : []);
    const answers = Object.fromEntries(Object.entries(this.answers).filter(([name]) => known.has(name)));
    const { seed } = this;
    return {
      position: seed.position,
      intent: seed.intent,
      intent_name: this.intent?.named ? seed.intent_name : "",
      slot: seed.slot,
      answers,
      checks: this.asking ? this.checks.filter((name) => known.has(name)) : this.checks.filter((name) => known.has(name) && seed.id),
      kept: seed.kept,
      origin: seed.origin,
    };
  }

  /** What a draft needs to open the form again as it is now. */
  snapshot() {
    const { speaker, id, draft, base, problems } = this.seed;
    return { ...this.read(false), speaker, id, draft, base, problems, asked: [...this.shown], touched: true };
  }

  changed() {
    this.touched = true;
    this.say("");
    this.host.changed();
  }

  say(message) {
    this.note.textContent = message;
    this.note.hidden = !message;
  }

  /** Show what was refused beside the questions it is about. */
  complain(fields) {
    const rest = [];
    for (const { field, message } of fields) {
      const question = this.questionOf(field);
      if (question) question.complain(message);
      else rest.push(message);
    }
    if (rest.length) this.say(rest.join(" "));
    this.questions.find((question) => !question.error.hidden)?.focus();
  }

  pressed(event) {
    if (event.isComposing || !this.isOpen) return;
    const inSlot = this.slotField && event.target === this.slotField.input;
    const inJump = this.jump && event.target === this.jump.input;
    if (event.key === "Enter" && !event.ctrlKey && event.target.tagName !== "BUTTON" && event.target.tagName !== "SUMMARY") {
      event.preventDefault();
      event.stopPropagation();
      if (inSlot) return void this.enterSlot();
      if (inJump && this.jumpEnter()) return;
      this.host.save(event.shiftKey);
    } else if (event.key === "Tab" && !event.shiftKey && inJump && (this.jump.text || this.jump.active >= 0)) {
      event.preventDefault();
      this.jumped(true);
    } else if (event.key === "Escape") {
      event.preventDefault();
      event.stopPropagation();
      this.host.leave();
    } else if (event.key === "F1") {
      event.preventDefault();
      this.host.guidelines();
    }
    // A key pressed in the form is the form's: nothing of it reaches the keys of the page.
    event.stopPropagation();
  }

  /** A slot that stands for its value takes none: a word typed there must be a whole name to mean a question. */
  typedAsValue() {
    const { slot, jump } = this;
    const named = () => jump.folded.some((field) => fold(field.name.replaceAll("_", " ")) === fold(jump.text));
    if (!slot.implied_value || !jump.text || jump.moved || named()) return false;
    this.say(`“${jump.text}” is not needed: “${slot.title}” takes no value. Enter saves without it; ↓ and Enter ask for a question of the list.`);
    jump.input.value = "";
    jump.close();
    return true;
  }

  enterSlot() {
    const before = this.seed.slot;
    this.slotField.take();
    if (!this.slotChosen()) return;
    if (this.seed.slot === before) this.host.save(false);
  }

  /** Enter on the name of a question: an inquiry is saved with the tick, an answer is asked for first. */
  jumpEnter() {
    const typed = this.jump.text || this.jump.active >= 0;
    if (!typed) return false;
    if (this.typedAsValue()) return true;
    const opened = this.jumped(!this.asking);
    return opened && (!this.asking || !this.note.hidden);
  }
}
