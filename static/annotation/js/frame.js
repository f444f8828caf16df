// The frame around the panels: what is said aloud, the state of saving, progress, the buttons, the keys shown on them.

import { keyReader, showKeyMarks } from "./key_marks.js";
import { State } from "./queue.js";

const QUIET = 5000;
const URGENT = 12000;
const STATUS_WORDS = { todo: "to do", in_progress: "in progress", done: "done", returned: "returned", locked: "locked" };

const clock = (time) => new Date(time).toLocaleTimeString([], { hour: "2-digit", minute: "2-digit", hourCycle: "h23" });

export class Frame {
  constructor(work) {
    this.work = work;
    const find = (name) => work.root.querySelector(`[data-${name}]`);
    this.saved = find("saved");
    this.live = find("live");
    this.progress = find("progress");
    this.progressText = find("progress-text");
    this.statusText = find("status-text");
    this.silence = 0;
    this.lastSaved = work.data.version ? clock(work.data.savedAt) : "";
    showKeyMarks(work.root, keyReader(work.data.bindings));
  }

  /** Say something to everybody, screen readers included. */
  announce(message, urgent = false) {
    this.live.textContent = message;
    this.live.classList.toggle("urgent", urgent);
    clearTimeout(this.silence);
    this.silence = setTimeout(() => (this.live.textContent = ""), urgent ? URGENT : QUIET);
  }

  showSaved(state, count) {
    // A storage that is full or forbidden keeps nothing: what waits lives on in this page only.
    const waiting = `${count} waiting${this.work.saving?.queue.store.broken ? "; keep this page open" : ""}`;
    const words = {
      [State.SAVED]: `saved ${this.lastSaved}`.trim(),
      [State.SAVING]: "saving…",
      [State.WAITING]: `not saved, will retry (${waiting})`,
      [State.STOPPED]: `not saved (${waiting})`,
    };
    if (this.saved.dataset.saved !== state && (state === State.WAITING || state === State.STOPPED)) this.announce(words[state], true);
    this.saved.dataset.saved = state;
    this.saved.querySelector("span").textContent = words[state];
    this.saved.querySelector("button").hidden = state === State.SAVED || state === State.SAVING;
  }

  savedAt(time) {
    this.lastSaved = clock(time);
  }

  showProgress(labelled, total) {
    this.progress.value = labelled;
    this.progress.max = Math.max(1, total);
    this.progressText.textContent = `${labelled} of ${total} labelled`;
  }

  /** Which of the buttons can be used now. */
  showButtons() {
    const { data, saving, root } = this.work;
    const set = (action, property, value) => {
      // Who may not label, or lock, has no such buttons.
      const button = root.querySelector(`[data-action="${action}"]`);
      if (button) button[property] = value;
    };
    set("undo", "disabled", !data.editable || !(data.undo || saving.queue.pending));
    set("redo", "disabled", !data.editable || !data.redo);
    set("finish", "hidden", !data.editable || !data.utterances.length);
    set("reopen", "hidden", data.status !== "done");
    const next = root.querySelector("[data-next]");
    if (next) next.hidden = data.status !== "done" && data.status !== "locked";
    set("lock", "hidden", data.status !== "done");
    set("unlock", "hidden", data.status !== "locked");
  }

  showStatus() {
    const { data, root } = this.work;
    root.dataset.editable = String(data.editable);
    const left = this.work.news?.returned.length || 0;
    const questions = left ? ` · ${left} question${left === 1 ? "" : "s"} left` : "";
    this.statusText.textContent = (STATUS_WORDS[data.status] || data.status) + questions;
    this.statusText.className = `badge ${data.status}`;
    this.showButtons();
  }
}
