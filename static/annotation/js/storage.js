// Lists that outlive the page, in the browser's storage. Every write reads first, because two tabs share what is there;
// a storage that is full, blocked or spoilt never stops the page: what could not be kept lives on in its memory only.

/** Everything a person's workbenches keep stands under names that begin so. */
export const prefixOf = (user) => `anamnesis:${user}:`;

export class KeyedStore {
  /** Items are objects with a text `key`. `open()` gives the storage; asking for it may itself be forbidden. */
  constructor(name, open = () => globalThis.localStorage) {
    this.name = name;
    this.open = open;
    this.broken = false;
  }

  load() {
    try {
      const items = JSON.parse(this.open().getItem(this.name) || "[]");
      return Array.isArray(items) ? items.filter((item) => typeof item?.key === "string") : [];
    } catch {
      return [];
    }
  }

  /** Keep an item in the place of an older one of the same key, or as the last. Returns whether it is kept. */
  put(item) {
    const items = this.load();
    const at = items.findIndex((other) => other.key === item.key);
    if (at < 0) items.push(item);
    else items[at] = item;
    return this.write(items);
  }

  remove(key) {
    return this.write(this.load().filter((item) => item.key !== key));
  }

  write(items) {
    try {
      if (items.length) this.open().setItem(this.name, JSON.stringify(items));
      else this.open().removeItem(this.name);
      this.broken = false;
    } catch {
      this.broken = true;
    }
    return !this.broken;
  }
}

/** What a person's workbenches left in a storage: the names of their drafts and queues, and how many saves wait there. */
export function leftovers(user, open = () => globalThis.localStorage) {
  const found = { drafts: [], queues: [], unsent: 0 };
  let names = [];
  try {
    names = Object.keys(open()).filter((name) => name.startsWith(prefixOf(user)));
  } catch {
    return found;
  }
  for (const name of names) {
    if (!name.endsWith(":queue")) found.drafts.push(name);
    else {
      found.queues.push(name);
      found.unsent += new KeyedStore(name, open).load().length;
    }
  }
  return found;
}

/** Remove entries of a storage by name. */
export function forget(names, open = () => globalThis.localStorage) {
  for (const name of names) open().removeItem(name);
}
