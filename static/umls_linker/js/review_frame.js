// The frame of the review page: what is said aloud, progress, the state of saving, and the queue of values on the left.

import { reveal } from "../../annotation/js/dom.js";
import { State } from "../../annotation/js/queue.js";
import { Panels } from "./review_panels.js";
import { progressOf } from "./review_state.js";

export class ReviewFrame {
  /** data: see the portal's views.review. `select(id)` and `heading` are the page's that extends this. */
  constructor(root, data) {
    Object.assign(this, { root, data, current: null, done: new Set(), silence: 0 });
    this.rowsPlace = this.find("rows");
    this.filter = this.find("filter");
    this.panels = new Panels();
    this.known = data.progress;
  }

  find(name) {
    return this.root.querySelector(`[data-${name}]`);
  }

  announce(message, urgent = false) {
    const live = this.find("live");
    live.textContent = message;
    live.classList.toggle("urgent", urgent);
    clearTimeout(this.silence);
    this.silence = setTimeout(() => (live.textContent = ""), urgent ? 15000 : 6000);
  }

  showSaved(state, count) {
    const saved = this.find("saved");
    const words = { [State.SAVED]: this.sent ? "saved" : "", [State.SAVING]: "saving…", [State.WAITING]: `not saved, will retry (${count} waiting)`, [State.STOPPED]: `not saved (${count} waiting)` };
    this.sent ||= state === State.SAVING;
    saved.dataset.saved = state;
    saved.querySelector("span").textContent = words[state];
    saved.querySelector("button").hidden = state === State.SAVED || state === State.SAVING;
  }

  showProgress() {
    const { text, done, all } = progressOf(this.known);
    const bar = this.find("progress");
    [bar.max, bar.value] = [all, done];
    const place = this.find("progress-text");
    if (place.textContent !== text) place.textContent = text;
  }

  // --- the queue ----------------------------------------------------------------------------------------------------

  get rows() {
    return [...this.rowsPlace.querySelectorAll("[data-form]")].map((row) => ({ id: Number(row.dataset.form), state: row.dataset.state }));
  }

  row(id) {
    return this.rowsPlace.querySelector(`[data-form="${id}"]`);
  }

  filterSoon() {
    clearTimeout(this.typing);
    this.typing = setTimeout(() => this.loadQueue(), 200);
  }

  clearFilters() {
    for (const control of this.filter.elements) control.value = "";
    this.loadQueue();
    this.heading?.focus({ preventScroll: true });
  }

  inFilter(event) {
    if (event.key === "Escape" || (event.key === "Enter" && event.target.name === "q")) {
      event.preventDefault();
      event.stopPropagation();
      if (event.key === "Enter") this.loadQueue().then(() => this.toFirst(event.target));
      else this.heading?.focus();
    }
  }

  /** From the search box to the first value that was found; with none, the box is where to go on. */
  toFirst(box) {
    const [first] = this.rows;
    if (!first) return;
    box.blur();
    this.heading?.focus({ preventScroll: true });
    this.select(first.id);
  }

  /** Fetch the list as the filters ask for it; what is chosen and how far it is scrolled stays. */
  async loadQueue(shown = Math.max(100, this.rows.length)) {
    const asked = (this.queueAsked = (this.queueAsked || 0) + 1);
    const query = new URLSearchParams(new FormData(this.filter));
    query.set("shown", shown);
    try {
      const html = await this.panels.fetch(`${this.root.dataset.queue}?${query}`);
      if (asked !== this.queueAsked) return;
      const place = this.rowsPlace.parentElement;
      const top = place.scrollTop;
      this.rowsPlace.innerHTML = html;
      place.scrollTop = top;
      this.markRow();
    } catch {
      this.announce("The list could not be brought up to date. Is the connection there?", true);
    }
  }

  markRow() {
    for (const row of this.rowsPlace.querySelectorAll("[aria-current]")) row.removeAttribute("aria-current");
    for (const id of this.done) this.row(id)?.classList.add("pending");
    const row = this.row(this.current);
    row?.setAttribute("aria-current", "true");
    if (row) reveal(row);
  }
}
