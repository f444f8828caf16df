// The frame around the adjudication page: what is said aloud, progress, status, the state of saving, the buttons.

import { keyReader, showKeyMarks } from "./key_marks.js";
import { State } from "./queue.js";

const STATUS_WORDS = { todo: "to do", in_progress: "in progress", done: "done", returned: "returned", locked: "locked" };

export const PREFIX = "adjudicate:"; // of the actions of this page, in the portal's table of keys

export class AdjudicationFrame {
  /** data: see the portal's adjudication_panels; `state` and `queue` are set by the page that extends this. */
  constructor(root, data) {
    Object.assign(this, { root, data, silence: 0, answered: false });
    this.keyFor = keyReader(data.bindings, PREFIX);
    showKeyMarks(root, this.keyFor);
  }

  find(name) {
    return this.root.querySelector(`[data-${name}]`);
  }

  announce(message, urgent = false) {
    const live = this.find("live");
    live.textContent = message;
    live.classList.toggle("urgent", urgent);
    clearTimeout(this.silence);
    this.silence = setTimeout(() => (live.textContent = ""), urgent ? 12000 : 5000);
  }

  showProgress() {
    const all = this.data.conflicts;
    const left = this.queue.pending || this.data.left > this.state.left ? Math.min(this.data.left, this.state.left) : this.data.left;
    const progress = this.find("progress");
    progress.max = Math.max(1, all);
    progress.value = all ? all - left : 1;
    const [noun, done] = this.data.review ? ["label", "reviewed"] : ["conflict", "decided"];
    this.find("progress-text").textContent = all ? `${all - left} of ${all} ${noun}${all === 1 ? "" : "s"} ${done}` : this.data.review ? "no label to review" : "no conflict";
    this.button("undo").disabled = !this.data.editable || !(this.data.canUndo || this.queue.pending);
    this.button("finish").hidden = !this.data.editable;
    this.button("finish").disabled = left > 0 || this.data.unfinished;
    this.button("reopen").hidden = this.data.status !== "done";
    this.find("next").hidden = !["done", "locked"].includes(this.data.status);
  }

  button(action) {
    return this.root.querySelector(`[data-action="${action}"]`);
  }

  showStatus() {
    const { status, stale, unfinished } = this.data;
    const text = this.find("status-text");
    text.textContent = STATUS_WORDS[status] || status;
    text.className = `badge ${status}`;
    const note = this.find("changed");
    const parts = [];
    const places = (open) => stale.filter((position) => this.state.isOpenAt(position) === open).map((position) => `u${position}`).join(", ");
    if (places(true)) parts.push(`Labels have changed since: ${places(true)}. Only these are open again.`);
    if (places(false)) parts.push(`Labels have changed since and leave nothing to decide: ${places(false)}. The gold follows them with the next decision.`);
    if (unfinished) parts.push("An annotator has reopened this dialogue; it can be marked as done once they have finished again.");
    note.textContent = parts.join(" ");
    note.hidden = !parts.length;
  }

  /** In the review of a sample: how it went, and what is gold without having been looked at. */
  showSample() {
    const place = this.find("sample");
    if (!place) return;
    const { unseen, conflicts, notAccepted, editable } = this.data;
    const seen = conflicts - this.data.left;
    place.hidden = !unseen;
    const wrong = seen ? ` Of ${seen} looked at, ${notAccepted || "none"} ${notAccepted > 1 ? "were" : "was"} not accepted as ${seen > 1 ? "they are" : "it is"}.` : "";
    this.find("sample-text").textContent = `${unseen} label${unseen === 1 ? "" : "s"} outside the sample ${unseen === 1 ? "is" : "are"} gold without having been looked at.${wrong}`;
    const all = this.button("all");
    if (all) all.hidden = !editable;
  }

  showSaved(state, count) {
    const saved = this.find("saved");
    const time = this.data.version ? new Date().toLocaleTimeString([], { hour: "2-digit", minute: "2-digit", hourCycle: "h23" }) : "";
    const words = { [State.SAVED]: time && this.answered ? `saved ${time}` : "", [State.SAVING]: "saving…", [State.WAITING]: `not saved, will retry (${count} waiting)`, [State.STOPPED]: `not saved (${count} waiting)` };
    this.answered ||= state === State.SAVING;
    saved.dataset.saved = state;
    saved.querySelector("span").textContent = words[state];
    saved.querySelector("button").hidden = state === State.SAVED || state === State.SAVING;
  }
}
