// What others say while the page is open: answers to concerns, questions that came back, additions to the guidelines.
// And the way to them: a concern about the chosen utterance or label.

import { openDialog } from "./dialogs.js";
import { el, newId, uuid } from "./dom.js";
import { newsInWords } from "./notes.js";
import { csrfToken } from "./saving.js";

const PAUSE = 10000;
const PATIENCE = 20000;
const NONE = { concerns: [], returned: [], notes: [] };

export class News {
  constructor(work) {
    this.work = work;
    this.known = null;
    this.asked = 0; // requests so far, and which of them was taken last: a late answer must not undo a newer one
    this.taken = 0;
    this.unsent = null;
    this.place = work.root.querySelector("[data-returned]");
  }

  get notes() {
    return (this.known || NONE).notes;
  }

  get returned() {
    return (this.known || NONE).returned;
  }

  start() {
    this.load();
    setInterval(() => this.load(), PAUSE);
    document.addEventListener("visibilitychange", () => this.load());
  }

  /** Ask what is new. Without an answer the page stays as it is. */
  async load() {
    if (document.visibilityState !== "visible") return;
    await this.request("news").catch(() => {});
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
    for (const list of this.work.root.querySelectorAll(".turn-concerns")) list.remove();
    for (const [position, turn] of navigation.turns) {
      const here = this.known.concerns.filter((concern) => concern.position === position);
      if (here.length) turn.querySelector(".turn-body").append(el("ul", { class: "turn-concerns", "aria-label": `Questions about utterance ${position}` }, ...here.map((concern) => this.item(concern))));
    }
    this.place.hidden = this.returned.length === 0;
    this.place.replaceChildren(
      ...this.returned.map((item) =>
        el("li", {}, el("a", { href: `#u${item.position}`, "data-goto": item.position, "data-goto-label": item.label || undefined }, el("span", { "aria-hidden": "true" }, "↩ "), el("span", { class: "visually-hidden" }, "returned: "), `u${item.position}: ${item.question}`)),
      ),
    );
  }

  item(concern) {
    const closed = concern.status === "closed";
    const words = concern.status === "answered" ? "Understood" : "No longer needed";
    return el(
      "li",
      { class: `concern ${concern.status}`, "data-concern-id": concern.id },
      el("span", { class: "concern-mark" }, el("span", { "aria-hidden": "true" }, "⚑ "), concern.status),
      ` ${this.aboutLabel(concern)}${concern.text}`,
      ...concern.answers.map((text) => el("p", { class: "concern-answer" }, el("b", {}, "Answer: "), text)),
      this.work.data.own && !closed ? el("button", { type: "button", class: "quiet small", "data-read": concern.id, "aria-label": `${words}: close the question about utterance ${concern.position}` }, words) : null,
    );
  }

  aboutLabel(concern) {
    const label = concern.label && this.work.model.find(concern.label)?.row.data;
    return label ? `(${this.work.model.words(label)}) ` : "";
  }

  async close(id) {
    const { frame, navigation } = this.work;
    const position = this.known.concerns.find((concern) => concern.id === id)?.position;
    const answer = await this.request("concernClose", { concern: id }).catch(() => ({ ok: false }));
    if (!answer.ok) frame.announce(answer.message || "The question could not be closed; try again.", true);
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
    const [textId, errorId] = [newId("concern"), newId("concern-error")];
    const error = el("p", { class: "field-error", role: "alert", id: errorId, hidden: true });
    const text = el("textarea", { id: textId, rows: "4", maxlength: "4000", "aria-describedby": errorId, on: { input: () => ([concern.text, error.hidden] = [text.value, true]), keydown: (event) => this.typed(event, send) } });
    text.value = concern.text;
    const button = el("button", { type: "button", class: "button", on: { click: () => send() } }, "Send", el("kbd", { "aria-hidden": "true" }, "Enter"));
    const send = async () => {
      if (button.disabled) return;
      button.disabled = true;
      const problem = await this.send(concern);
      button.disabled = false;
      if (!problem) return dialog.close();
      error.textContent = problem;
      error.hidden = false;
      text.focus();
    };
    const dialog = openDialog(
      "Ask about this",
      [
        el("p", {}, about ? `Utterance ${concern.position}, the label “${model.words(about)}”` : `Utterance ${concern.position}: “${turn.text.slice(0, 200)}”`),
        el("label", { for: textId }, "Your question"),
        text,
        error,
        el("p", { class: "muted form-hint" }, "Supervisors and doctors see it at once. The answer appears here, under the utterance. Shift+Enter begins a new line."),
      ],
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
    if (!answer.ok) return answer.message || "It could not be sent. Is the connection there, and are you still signed in? What you wrote is kept.";
    this.unsent = null;
    frame.announce("Sent. The answer will appear under the utterance.");
    return "";
  }
}
