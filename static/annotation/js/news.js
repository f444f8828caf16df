// What others say while the page is open: answers to concerns, questions that came back, additions to the guidelines.
// And the way to them: a concern about the chosen utterance or label.

import { openDialog } from "./dialogs.js";
import { el, newId, uuid } from "./dom.js";
import { concernToReplyTo, newsInWords, toLookAt } from "./notes.js";
import { drawProblems, drawQuestions } from "./render.js";
import { csrfToken } from "./saving.js";

const PAUSE = 10000;
const PATIENCE = 20000;
const NONE = { concerns: [], returned: [], notes: [] };
const NOT_SENT = "It could not be sent. Is the connection there, and are you still signed in? What you wrote is kept.";

/** What was said after the question. */
const said = (concern) => concern.messages.map(({ own, text }) => el("p", { class: own ? "concern-reply" : "concern-answer" }, el("b", {}, own ? "You: " : "Answer: "), text));

export class News {
  constructor(work) {
    this.work = work;
    this.known = null;
    this.asked = 0; // requests so far, and which of them was taken last: a late answer must not undo a newer one
    this.taken = 0;
    this.unsent = null;
    this.replies = {}; // what was written and not sent, by its concern
    this.place = work.root.querySelector("[data-returned]");
    this.count = work.root.querySelector("[data-look]");
    this.looking = []; // what is to be looked at, questions that came back first
  }

  get notes() {
    return (this.known || NONE).notes;
  }

  get returned() {
    return (this.known || NONE).returned;
  }

  /** The label of an utterance that a question which came back is about; null without one. */
  labelAsked(position) {
    const labels = this.returned.filter((item) => item.position === position).map((item) => this.work.model.find(item.label));
    return labels.find(Boolean)?.row.data || null;
  }

  start() {
    this.load();
    setInterval(() => this.load(), PAUSE);
    document.addEventListener("visibilitychange", () => this.load());
  }

  /** Ask what is new. Without an answer the page stays as it is. */
  async load() {
    if (document.visibilityState !== "visible") return;
    await Promise.all([this.request("news").catch(() => {}), this.work.concepts.load()]);
  }

  /** A save may have answered a question that came back. */
  labelsSaved() {
    if (this.returned.length && this.work.saving.queue.pending === 0) this.load();
  }

  async request(path, body) {
    const number = (this.asked += 1);
    const answer = await fetch(this.work.root.dataset[path], {
      method: body ? "POST" : "GET",
      credentials: "same-origin",
      redirect: "manual",
      headers: { Accept: "application/json", ...(body ? { "Content-Type": "application/json", "X-CSRFToken": csrfToken() } : {}) },
      body: body && JSON.stringify(body),
      signal: AbortSignal.timeout?.(PATIENCE),
    });
    const json = (answer.headers.get("Content-Type") || "").includes("application/json");
    const found = json ? await answer.json() : {};
    if (answer.ok && json && number > this.taken) {
      this.taken = number;
      this.take(found);
    }
    return { ok: answer.ok && json, message: found.error?.message || "" };
  }

  take(found) {
    const { data, frame, saving } = this.work;
    if (JSON.stringify(found) === JSON.stringify(this.known)) return;
    const words = this.known && data.own ? newsInWords(this.known, found) : "";
    this.known = found;
    this.draw();
    if (words) frame.announce(words);
    // The dialogue was done here, and its supervisor has opened it again.
    if (found.status === "returned" && data.status === "done" && !saving.queue.pending) saving.refresh("This dialogue came back to you.");
  }

  draw() {
    const { navigation } = this.work;
    for (const list of this.work.root.querySelectorAll(".turn-concerns, .turn-returned")) list.remove();
    for (const [position, turn] of navigation.turns) {
      const asked = this.returned.filter((item) => item.position === position);
      if (asked.length) turn.querySelector(".turn-body").append(el("ul", { class: "turn-returned", "aria-label": `Questions that came back about utterance ${position}` }, ...asked.map((item) => this.waiting(item))));
      const here = this.known.concerns.filter((concern) => concern.position === position);
      if (here.length) turn.querySelector(".turn-body").append(el("ul", { class: "turn-concerns", "aria-label": `Concerns about utterance ${position}` }, ...here.map((concern) => this.item(concern))));
    }
    this.drawToLookAt();
    this.work.frame.showStatus();
    if (navigation.turn) navigation.drawOffers(navigation.turns.get(navigation.current));
  }

  waiting({ label, question }) {
    const key = this.work.keyFor("open");
    const way = !this.work.data.own ? "" : this.work.model.find(label) ? ` ${key} opens the label.` : ` ${key} opens the questionnaire.`;
    return el("li", {}, el("span", { "aria-hidden": "true" }, "↩ "), `A question waits: ${question}${way}`);
  }

  /** The questions that came back, and beside them what they do not ask about. */
  drawToLookAt() {
    const { questions, problems } = toLookAt(this.work.saving.problems, this.returned);
    drawQuestions(this.place, questions);
    drawProblems(this.work.places.problems, problems, questions.length === 0);
    this.looking = [...questions, ...problems];
    this.count.hidden = !this.looking.length;
    this.count.querySelector("span").textContent = `${this.looking.length} to look at`;
  }

  item(concern) {
    return el(
      "li",
      { class: `concern ${concern.status}`, "data-concern-id": concern.id },
      el("span", { class: "concern-mark" }, el("span", { "aria-hidden": "true" }, "⚑ "), concern.status),
      ` ${this.aboutLabel(concern)}${concern.text}`,
      ...said(concern),
      this.work.data.own ? this.buttons(concern) : null,
    );
  }

  buttons(concern) {
    const closed = concern.status === "closed";
    const words = concern.status === "answered" ? "Understood" : "No longer needed";
    const about = `the concern about utterance ${concern.position}`;
    const reply = closed ? "Raise it again" : concern.messages.length ? "Reply" : "Add to it";
    return el(
      "div",
      { class: "concern-buttons" },
      closed ? null : el("button", { type: "button", class: "quiet small", "data-read": concern.id, "aria-label": `${words}: close ${about}` }, words),
      el("button", { type: "button", class: "quiet small", "data-reply": concern.id, "aria-label": `${reply}: ${about}` }, reply),
    );
  }

  /** Reply to the question of the utterance, or to this one. */
  reply(id) {
    const { data, frame, model, navigation } = this.work;
    if (!data.own || !model.utterances.length) return;
    const { concerns } = this.known || NONE;
    const concern = id ? concerns.find((one) => one.id === id) : concernToReplyTo(concerns, navigation.current);
    if (!concern) return void frame.announce("No concern was raised about this utterance.");
    const message = (this.replies[concern.id] ||= { key: uuid(), concern: concern.id, text: "" });
    this.compose({
      title: concern.status === "closed" ? "Raise the concern again" : "Reply to the concern",
      intro: el("div", { class: "concern-so-far", tabindex: "0", role: "region", "aria-label": "What was said so far" }, el("p", {}, el("b", {}, "You: "), concern.text), ...said(concern)),
      label: "Your reply",
      hint: `Supervisors and doctors see it at once.${concern.status === "closed" ? " The concern is open again then." : ""} Shift+Enter begins a new line.`,
      message,
      send: () => this.sendReply(message),
    });
  }

  async sendReply(message) {
    if (!message.text.trim()) return "Write what you would like to say.";
    const answer = await this.request("concernReply", message).catch(() => ({ ok: false, message: "" }));
    if (!answer.ok) return answer.message || NOT_SENT;
    delete this.replies[message.concern];
    this.work.frame.announce("Sent. The answer will appear under the utterance.");
    return "";
  }

  aboutLabel(concern) {
    const label = concern.label && this.work.model.find(concern.label)?.row.data;
    return label ? `(${this.work.model.words(label)}) ` : "";
  }

  async close(id) {
    const { frame, navigation } = this.work;
    const { position, messages } = this.known.concerns.find((concern) => concern.id === id) || { messages: [] };
    const answer = await this.request("concernClose", { concern: id, seen: messages.length }).catch(() => ({ ok: false }));
    if (!answer.ok) frame.announce(answer.message || "The concern could not be closed; try again.", true);
    else if (position !== undefined) navigation.select(position);
  }

  /** The dialog of a new concern: about the label that is open or that the arrows stand on, else the utterance. */
  ask() {
    const { data, form, model, navigation } = this.work;
    if (!data.own || !model.utterances.length) return;
    const position = form.isOpen ? form.seed.position : navigation.current;
    const label = (form.isOpen ? form.seed.id : navigation.labels[navigation.label]?.id) || "";
    const before = this.unsent?.position === position && this.unsent.label === label ? this.unsent : null;
    const concern = (this.unsent = before || { key: uuid(), position, label, text: "" });
    this.showDialog(concern);
  }

  showDialog(concern) {
    const { model } = this.work;
    const about = concern.label && model.find(concern.label)?.row.data;
    const turn = model.turn(concern.position);
    this.compose({
      title: concern.label ? "Raise a concern about the label" : "Raise a concern about the utterance",
      intro: el("p", {}, about ? `Utterance ${concern.position}, the label “${model.words(about)}”` : `Utterance ${concern.position}: “${turn.text.slice(0, 200)}”`),
      label: "Your concern",
      hint: "Supervisors and doctors see it at once. The answer appears here, under the utterance. Shift+Enter begins a new line.",
      message: concern,
      send: () => this.send(concern),
    });
  }

  /** The dialog in which `message.text` is written; `send` resolves to what went wrong, "" for nothing. */
  compose({ title, intro, label, hint, message, send }) {
    const [textId, errorId] = [newId("concern"), newId("concern-error")];
    const error = el("p", { class: "field-error", role: "alert", id: errorId, hidden: true });
    const text = el("textarea", { id: textId, rows: "4", maxlength: "4000", "aria-describedby": errorId, on: { input: () => ([message.text, error.hidden] = [text.value, true]), keydown: (event) => this.typed(event, submit) } });
    text.value = message.text;
    const button = el("button", { type: "button", class: "button", on: { click: () => submit() } }, "Send", el("kbd", { "aria-hidden": "true" }, "Enter"));
    const submit = async () => {
      if (button.disabled) return;
      button.disabled = true;
      const problem = await send();
      button.disabled = false;
      if (!problem) return dialog.close();
      error.textContent = problem;
      error.hidden = false;
      text.focus();
    };
    const dialog = openDialog(
      title,
      [intro, el("label", { for: textId }, label), text, error, el("p", { class: "muted form-hint" }, hint)],
      [button, el("button", { type: "button", class: "button quiet", on: { click: () => dialog.close() } }, "Cancel", el("kbd", { "aria-hidden": "true" }, "Esc"))],
      text,
    );
    dialog.classList.add("concern-dialog");
  }

  typed(event, send) {
    if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
    event.preventDefault();
    send();
  }

  /** What went wrong, in a sentence; "" when it was sent. The same concern sent twice is one. */
  async send(concern) {
    const { model, frame } = this.work;
    if (!concern.text.trim()) return "Write what you would like to know.";
    if (concern.label && model.find(concern.label)?.row.pending) return "The label is still being saved; try again in a moment.";
    const { key, position, label, text } = concern;
    const answer = await this.request("concern", { key, position, label, text }).catch(() => ({ ok: false, message: "" }));
    if (!answer.ok) return answer.message || NOT_SENT;
    this.unsent = null;
    frame.announce("Sent. The answer will appear under the utterance.");
    return "";
  }
}
