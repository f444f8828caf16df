// What the review page sends to the portal, one request after the other, also after a lost connection; and what it makes
// of the answers.

import { uuid } from "../../annotation/js/dom.js";
import { SaveQueue } from "../../annotation/js/queue.js";
import { post } from "../../annotation/js/sending.js";
import { KeyedStore, prefixOf } from "../../annotation/js/storage.js";
import { ReviewFrame } from "./review_frame.js";
import { inWords } from "./review_state.js";

const SIGNED_OUT = "You are signed out, or may not do this here any more. Sign in in another tab, then press “try again”: nothing is lost.";

export class ReviewSaving extends ReviewFrame {
  /** `article`, `load(id)`, `select(id)` and `poll()` are the page's that extends this. */
  constructor(root, data) {
    super(root, data);
    this.standing = new Map(); // by value: the decision that stands since one's own last request
    this.queue = new SaveQueue({
      store: new KeyedStore(`${prefixOf(data.user)}concepts:${data.project}:queue`),
      version: 1,
      send: (item) => post(item.url, { ...this.bodyOf(item), key: item.key }),
      on: {
        state: (state, count) => this.showSaved(state, count),
        saved: (item, body) => this.wasSaved(item, body),
        refused: (item, status, body) => this.wasRefused(item, status, body),
        conflict: (item, body) => this.hasConflict(item, body),
        behind: () => {},
      },
    });
  }

  send(path, url, body, name = "") {
    const form = path === "undo" ? null : this.current;
    const after = this.queue.items.some((item) => item.form === form || item.path === "undo");
    this.queue.add({ key: uuid(), path, url, body, form, after, text: this.article?.dataset.text, name });
  }

  /** A decision that follows another one of one's own that had not arrived yet is made upon that one. */
  bodyOf({ body, form, after, path }) {
    return path === "decide" && after && !body.label && this.standing.has(form) ? { ...body, expected: this.standing.get(form) } : body;
  }

  wasSaved(item, body) {
    const { form } = body;
    const single = item.body.label || item.body.single; // about one occurrence: what stands for all is not told
    if ("decision" in body && !single) this.standing.set(form, body.decision);
    this.done.delete(form);
    this.panels.forget(form);
    if (item.path === "undo" || item.path === "revert") this.current === form ? this.load(form) : this.select(form);
    else if (form === this.current) this.load(form);
    if (item.path !== "decide" || item.body.label) this.announce(body.said);
    this.loadQueue();
    this.poll();
  }

  wasRefused(item, status, body) {
    const message = body?.error?.message || SIGNED_OUT;
    this.announce(`${body?.error ? "" : `${inWords(item, item.text)} is not saved. `}${message}`, true);
    if (!this.queue.held) this.backTo(item);
  }

  hasConflict(item, body) {
    this.queue.drop();
    this.announce(body.error.message, true);
    this.backTo(item);
  }

  /** What did not go through is shown as it is now. */
  backTo(item) {
    if (item.form === null) return;
    this.done.delete(item.form);
    this.panels.forget(item.form);
    this.loadQueue();
    if (document.querySelector("dialog[open]")) return;
    if (item.form === this.current) this.load(item.form);
    else this.select(item.form);
  }

  /** The answers to one's own questions that stand before one's eyes are new no more. */
  seeAnswers() {
    if (document.visibilityState !== "visible") return;
    for (const place of this.panel.querySelectorAll("[data-seen]")) {
      const { seen } = place.dataset;
      const shown = this.current;
      delete place.dataset.seen;
      post(seen, {}).then(({ status }) => {
        if (status !== 200) return void (place.dataset.seen = seen);
        this.panels.forget(shown);
        return this.loadQueue();
      }, () => (place.dataset.seen = seen));
    }
  }
}
