// Where a value occurs: going through its occurrences, choosing one to decide for it alone, having more of them shown.

import { el, reveal } from "../../annotation/js/dom.js";

export class Places {
  /** panel: the element in which a value is shown; fetchPart(url) -> Promise of HTML; announce(message, urgent). */
  constructor({ panel, fetchPart, announce }) {
    Object.assign(this, { panel, fetchPart, announce, only: null });
  }

  get items() {
    return [...this.panel.querySelectorAll("[data-label]")];
  }

  /** Decide for one occurrence only, or (null) for all again. */
  choose(item) {
    const { label, said, own, revert } = item?.dataset || {};
    this.only = item && { label, said, expected: Number(own) || null, revert };
    const place = this.panel.querySelector("[data-only]");
    if (!place) return;
    place.hidden = !this.only;
    for (const other of this.items) other.classList.toggle("at", other === item);
    if (!this.only) return;
    reveal(item);
    const back = el("button", { type: "button", class: "link-button", "data-action": "all-places" }, "For all again (Esc)");
    place.replaceChildren("Only for this occurrence: ", el("b", {}, said), `. Take a candidate, search, or say that there is none; o goes to the next one${revert ? ", x takes its own decision back" : ""}. `, back);
  }

  /** The occurrence after (by 1) or before (by -1) the chosen one, or the one that has the focus; behind the last one more are fetched. */
  async step(by) {
    const { items } = this;
    if (!items.length) return this.announce("No label uses this wording now.");
    const focused = document.activeElement?.closest("[data-label]");
    if (focused && !this.only && this.panel.contains(focused)) return this.tell(focused);
    const at = items.findIndex((item) => item.dataset.label === this.only?.label);
    const more = this.panel.querySelector("[data-more-occurrences]");
    if (by > 0 && at === items.length - 1 && at >= 0 && more) {
      await this.more(`offset=${more.dataset.moreOccurrences}`, true);
      return this.tell(this.items[at + 1] || items[at]);
    }
    return this.tell(items[at < 0 ? (by > 0 ? 0 : items.length - 1) : (at + by + items.length) % items.length]);
  }

  tell(item) {
    this.choose(item);
    const { items } = this;
    const { total } = this.panel.querySelector("[data-shown]").dataset;
    this.announce(`Only for ${item.dataset.said} (${items.indexOf(item) + 1} of ${total}): ${item.querySelector(".here .said")?.textContent.trim() ?? ""}`);
  }

  /** More occurrences below, or those that are shown with more of their dialogues. */
  async more(query, append) {
    const article = this.panel.querySelector("[data-shown]");
    try {
      const html = await this.fetchPart(`${article.dataset.occurrences}?${query}`);
      if (!article.isConnected) return;
      const part = el("div", {});
      // The fragment is the portal's own template, in which every value is escaped.
      part.innerHTML = html;
      const [list, foot] = [".linking-places", ".linking-foot"].map((name) => article.querySelector(`.linking-occurrences ${name}`));
      if (append) list.append(...part.querySelector(".linking-places").children);
      else list.replaceWith(part.querySelector(".linking-places"));
      foot.replaceWith(part.querySelector(".linking-foot"));
      if (this.only && !append) this.choose(this.items.find((item) => item.dataset.label === this.only.label) || null);
    } catch {
      this.announce("More could not be fetched. Is the connection there?", true);
    }
  }
}
