// Forms that were begun and not saved, by utterance, kept in the browser's storage.

export class Drafts {
  constructor(store) {
    this.store = store;
    this.items = store.load().filter((item) => item && typeof item.position === "number");
  }

  positions() {
    return this.items.map((item) => item.position);
  }

  has(position) {
    return this.items.some((item) => item.position === position);
  }

  get(position) {
    return this.items.find((item) => item.position === position)?.seed || null;
  }

  /** The newest draft comes first, and is the one that is opened after a reload. */
  put(position, seed) {
    this.items = [{ position, seed }, ...this.items.filter((item) => item.position !== position)];
    this.store.save(this.items);
  }

  remove(position) {
    this.items = this.items.filter((item) => item.position !== position);
    this.store.save(this.items);
  }
}
