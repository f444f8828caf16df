// Forms that were begun and not saved. Each has a key of its own, so that two forms on one utterance do not overwrite
// each other, and knows whether its form was on the screen when it was kept.

export class Drafts {
  /** store: see KeyedStore. A draft is {key, position, seed, open}. */
  constructor(store) {
    this.store = store;
    this.items = store.load().filter((item) => typeof item.position === "number" && item.seed);
  }

  has(position) {
    return this.items.some((item) => item.position === position);
  }

  /** The newest draft of an utterance, or null. */
  at(position) {
    return this.items.findLast((item) => item.position === position) || null;
  }

  get(key) {
    return this.items.find((item) => item.key === key) || null;
  }

  /** The draft whose form was on the screen last, or null. */
  get open() {
    return this.items.findLast((item) => item.open) || null;
  }

  /** Returns whether the draft will survive a reload. */
  put(draft) {
    this.items = [...this.items.filter((item) => item.key !== draft.key), draft];
    return this.store.put(draft);
  }

  remove(key) {
    this.items = this.items.filter((item) => item.key !== key);
    this.store.remove(key);
  }
}
