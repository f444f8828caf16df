// One question of a form: its words, its control by kind, the tick of an inquiry, and the place for its errors.

import { Combobox } from "./combobox.js";
import { el, newId } from "./dom.js";

/** The control of a field by kind. Each has element, focus(), read(), peek(), write(answer). */
function control(field, context, labelId, errorId) {
  const common = { label: labelId, describedBy: errorId, changed: context.changed, placeholder: field.kind === "scale" ? `${field.minimum}–${field.maximum}` : undefined };
  if (field.kind === "choice") return new Choice(field, labelId, errorId, context.changed, false, context.complain);
  if (field.kind === "rated_values") return new Rated(field, context, common);
  const multiple = field.kind === "values";
  const doubt = multiple && field.medical ? onlyDigits : undefined;
  const suggest = (text, chosen) => context.suggest(field, text, chosen);
  return new Combobox({ ...common, multiple, doubt, doubted: context.doubted, suggest, more: moreFor(field, context) });
}

const WORD_PAUSE = 600; // milliseconds within which letters make one word

/** The digit of an answer, typed where a medical value is asked for. */
function onlyDigits(text) {
  return /^\d+$/.test(text) ? `“${text}” is only a ${text.length > 1 ? "number" : "digit"}` : "";
}

/** What a medical field is offered beside its own suggestions, where the page can look it up. */
const moreFor = (field, context) => (field.medical && context.more ? (text) => context.more(field, text) : undefined);

/** A closed list as radio buttons: arrows, numbers and the first letters of an answer choose. */
class Choice {
  constructor(field, labelId, errorId, changed, rating = false, complain = () => {}) {
    const name = newId("choice");
    const offered = field.choices.filter((choice) => !choice.older);
    this.field = field;
    this.complain = complain;
    this.typed = { text: "", at: 0, before: null };
    this.radio = (choice) => el("input", { type: "radio", name, id: newId("radio"), value: choice.name, "data-title": choice.title || choice.name, on: { change: () => changed() } });
    this.radios = [{ name: "", title: rating ? "not rated" : "not said" }, ...offered].map(this.radio);
    this.changed = changed;
    this.radios[0].checked = true;
    this.element = el("div", { class: "choices", role: "radiogroup", "aria-labelledby": labelId, "aria-describedby": errorId, on: { keydown: (event) => this.pressed(event) } });
    this.draw();
  }

  draw() {
    const option = (radio, index) => el("label", { class: "choice" }, radio, index ? el("kbd", { "aria-hidden": "true" }, String(index)) : null, radio.dataset.title);
    this.element.replaceChildren(...this.radios.map(option));
  }

  focus() {
    (this.radios.find((radio) => radio.checked) || this.radios[0]).focus();
  }

  pressed(event) {
    if (event.ctrlKey || event.altKey || event.metaKey) return;
    let found = null;
    if (/^\d$/.test(event.key)) found = this.radios[Number(event.key)];
    else if (event.key === "Backspace" || event.key === "Delete") found = this.radios[0];
    else if (event.key.length === 1 && event.key !== " ") found = this.byLetters(event);
    if (!found) return;
    event.preventDefault();
    found.checked = true;
    found.focus();
    this.changed();
  }

  /** The same letter again goes to the next answer that begins with it; a word that is no answer chooses none. */
  byLetters(event) {
    const { typed } = this;
    const goesOn = typed.text && event.timeStamp - typed.at < WORD_PAUSE;
    if (!goesOn) Object.assign(typed, { text: "", before: this.radios.find((radio) => radio.checked) });
    typed.text += event.key.toLowerCase();
    typed.at = event.timeStamp;
    const begins = (text) => this.radios.slice(1).filter((radio) => radio.dataset.title.toLowerCase().startsWith(text));
    const again = new Set(typed.text).size === 1;
    const fitting = begins(again ? typed.text[0] : typed.text);
    if (!fitting.length) return this.noAnswer();
    const at = fitting.findIndex((radio) => radio.checked);
    return again ? fitting[(at + 1) % fitting.length] : fitting[Math.max(0, at)];
  }

  /** A word was typed that no answer begins with: what its letters chose is taken back. */
  noAnswer() {
    const { text, before } = this.typed;
    if (text.length === 1) return null;
    before.checked = true;
    before.focus();
    this.changed();
    this.complain(`“${text}” is no answer to this question.`);
    return null;
  }

  read() {
    return this.radios.find((radio) => radio.checked)?.value || "";
  }

  peek() {
    return this.read();
  }

  write(answer) {
    let found = this.radios.find((radio) => radio.value === (answer || ""));
    if (!found) {
      // An answer that is no longer offered is offered to the label that has it.
      found = this.radio(this.field.choices.find((choice) => choice.name === answer) || { name: answer });
      this.radios.push(found);
      this.draw();
    }
    found.checked = true;
  }
}

/** Several values, each with a rating of its own. */
class Rated {
  constructor(field, context, common) {
    this.field = field;
    this.context = context;
    this.ratings = new Map();
    this.box = new Combobox({
      ...common,
      multiple: true,
      suggest: (text, chosen) => context.suggest(field, text, chosen),
      more: moreFor(field, context),
      added: () => this.draw(),
      changed: () => (this.draw(), context.changed()),
    });
    this.list = el("div", { class: "ratings" });
    this.element = el("div", {}, this.box.element, this.list);
    this.box.input.addEventListener("keydown", (event) => {
      // Tab takes the value and goes to its rating.
      if (event.key !== "Tab" || event.shiftKey || !(this.box.text || this.box.active >= 0)) return;
      const added = this.box.take();
      const last = added && this.ratings.get(this.box.values[this.box.values.length - 1]);
      if (last) {
        event.preventDefault();
        last.focus();
      }
    });
  }

  /** An inquiry lists values without rating them. */
  get rates() {
    return !this.context.asking;
  }

  draw() {
    for (const value of this.ratings.keys()) if (!this.box.values.includes(value)) this.ratings.delete(value);
    for (const value of this.box.values) {
      if (this.ratings.has(value)) continue;
      const labelId = newId("rating");
      const choice = new Choice(this.field, labelId, undefined, this.context.changed, true);
      choice.row = el("div", { class: "rating" }, el("span", { id: labelId }, value), choice.element);
      this.ratings.set(value, choice);
    }
    const rows = this.rates ? this.box.values.map((value) => this.ratings.get(value).row) : [];
    if (rows.length !== this.list.children.length || rows.some((row, index) => row !== this.list.children[index])) {
      this.list.replaceChildren(...rows);
    }
  }

  focus() {
    this.box.focus();
  }

  /** The first value that is listed without its rating, to go to; null without one. */
  get unrated() {
    const value = this.rates && this.box.values.find((item) => !this.ratings.get(item)?.read());
    return value ? this.ratings.get(value) : null;
  }

  read() {
    this.box.take();
    return this.peek();
  }

  peek() {
    return this.box.peek().map((value) => ({ value, rating: this.ratings.get(value)?.read() || "" }));
  }

  write(answer) {
    this.box.write((answer || []).map((item) => item.value));
    this.draw();
    for (const item of answer || []) this.ratings.get(item.value)?.write(item.rating);
  }
}

/** A question with its control, tick, criterion and error; `context` is the form's (see form.js). */
export class Question {
  constructor(field, context) {
    this.field = field;
    this.context = context;
    this.labelId = newId("question");
    this.errorId = newId("error");
    this.doubted = ""; // a doubtful text that was complained about once
    this.error = el("p", { class: "field-error", id: this.errorId, role: "alert", hidden: true });
    const onlyTick = context.asking && field.check === "alone";
    const own = { ...context, changed: () => (this.complain(""), this.tickByValue(), context.changed()), complain: (message) => this.complain(message), doubted: (why, leftOut) => this.doubt(why, leftOut) };
    this.control = onlyTick ? null : control(field, own, this.labelId, this.errorId);
    this.criterion = field.criterion && !context.asking ? this.makeCriterion() : null;
    this.tick = context.asking && field.check !== "none" ? el("input", { type: "checkbox", on: { change: () => ((this.ticked = true), context.changed()) } }) : null;
    this.element = el(
      "div",
      { class: "question", "data-field": field.name },
      el("span", { class: "question-text", id: this.labelId, title: field.help || undefined }, field.question),
      this.control?.element,
      this.criterion?.element,
      this.tick ? el("label", { class: "tick" }, this.tick, "asks about this") : null,
      this.error,
    );
  }

  makeCriterion() {
    const labelId = newId("criterion");
    const input = el("input", { type: "text", maxlength: "2000", "aria-labelledby": `${this.labelId} ${labelId}`, on: { input: () => this.context.changed() } });
    const element = el("div", { class: "criterion" }, el("span", { id: labelId }, "by which criterion"), input);
    return { element, input };
  }

  /** A value that an inquiry checks is asked about, unless the annotator said otherwise. */
  tickByValue() {
    if (this.tick && !this.ticked) this.tick.checked = this.control.peek().length > 0;
  }

  focus() {
    (this.control || this.tick).focus();
  }

  /** What of it waits for an answer, to go to: a value without its rating. */
  get unrated() {
    return this.control?.unrated || null;
  }

  doubt(why, leftOut = false) {
    this.complain(leftOut ? `${why} and was left out.` : `${why}; Tab goes to the answers, Enter once more takes it as a value.`);
  }

  /** Whether something was typed that is hardly meant; it is said, and Enter on the same text means it. */
  get doubtful() {
    const box = this.control;
    if (!(box instanceof Combobox) || !box.doubt) return false;
    if (this.doubted === box.text) {
      box.meant = box.text;
      return false;
    }
    this.doubt(box.doubt);
    this.doubted = box.text;
    box.focus();
    return true;
  }

  /** Take a value from elsewhere: `values` where several go, `text` where one does. Choices take none. */
  paste(values, text) {
    const box = this.control?.box || this.control;
    if (box instanceof Combobox) {
      if (box.options.multiple) values.forEach((value) => box.add(value));
      else box.set(text);
    }
    this.focus();
  }

  read(answers, checks, taking = true) {
    const answer = this.control ? (taking ? this.control.read() : this.control.peek()) : null;
    if (answer && answer.length) answers[this.field.name] = answer;
    const criterion = this.criterion?.input.value.trim();
    if (criterion) answers[`${this.field.name}.criterion`] = criterion;
    if (this.tick?.checked) checks.push(this.field.name);
  }

  write(answers, checks) {
    const answer = answers[this.field.name];
    this.control?.write(answer);
    if (this.criterion) this.criterion.input.value = answers[`${this.field.name}.criterion`] || "";
    if (this.tick) this.tick.checked = checks.includes(this.field.name);
    // A label that is edited keeps its ticks as they were made.
    if (this.tick?.checked || (answer && answer.length)) this.ticked = true;
  }

  complain(message) {
    this.error.textContent = message || "";
    this.error.hidden = !message;
  }
}
