// Saves that are on their way. Every request is kept in the browser's storage under a key of its own until the portal
// has acknowledged it, so that a lost connection, a reload or a closed lid loses nothing. A request that did arrive and
// whose answer was lost is sent again under the same key and changes nothing a second time.

export const State = Object.freeze({ SAVED: "saved", SAVING: "saving", WAITING: "waiting", STOPPED: "stopped" });

const PAUSES = [1000, 2000, 4000, 8000, 15000, 30000];

export class SaveQueue {
  /**
   * storage: {load() -> item[], save(item[])}; send(item, version) -> Promise<{status, body}> (rejects when nothing
   * answered); on: {state(state, count), saved(item, body), refused(item, status, body), conflict(item, body)};
   * later(callback, ms) -> handle and never(handle) stand for timers.
   */
  constructor({ storage, send, on, version, later = (call, ms) => setTimeout(call, ms), never = (handle) => clearTimeout(handle) }) {
    Object.assign(this, { storage, send, on, version, later, never });
    this.items = storage.load();
    this.busy = false;
    this.attempt = 0;
    this.timer = null;
    this.held = false;
  }

  get pending() {
    return this.items.length;
  }

  /** Take a request: {key, path, body}. It is stored before anything is sent. */
  add(item) {
    this.items.push(item);
    this.storage.save(this.items);
    this.run();
  }

  /** Try now, whatever the pause said. */
  retry() {
    this.attempt = 0;
    this.held = false;
    if (this.timer !== null) this.never(this.timer);
    this.timer = null;
    this.run();
  }

  /** Give up the first request (a conflict that was settled in favour of the other side). */
  drop() {
    this.items.shift();
    this.storage.save(this.items);
    this.held = false;
    if (this.items.length) this.run();
    else this.tell(State.SAVED);
  }

  tell(state) {
    this.on.state(state, this.items.length);
  }

  async run() {
    if (this.busy || this.held || this.timer !== null) return;
    this.busy = true;
    while (this.items.length && !this.held) {
      this.tell(State.SAVING);
      const item = this.items[0];
      let answer;
      try {
        answer = await this.send(item, this.version);
      } catch {
        this.pause();
        break;
      }
      if (!this.take(item, answer)) break;
    }
    this.busy = false;
    if (!this.items.length) this.tell(State.SAVED);
  }

  /** What an answer means; false when the queue must wait. */
  take(item, { status, body }) {
    if (status === 200) {
      this.attempt = 0;
      this.version = body.version;
      this.items.shift();
      this.storage.save(this.items);
      this.on.saved(item, body);
      return true;
    }
    if (status === 409 && body?.error?.code === "conflict") {
      this.held = true;
      this.tell(State.STOPPED);
      this.on.conflict(item, body);
      return false;
    }
    if (status >= 500 || status === 429 || status === 408) {
      this.pause();
      return false;
    }
    if (status === 401 || status === 403 || status === 404 || status === 0) {
      // Signed out, or no longer a member: the request is kept, and tried again when the person says so.
      this.held = true;
      this.tell(State.STOPPED);
      this.on.refused(item, status, body);
      return false;
    }
    this.items.shift();
    this.storage.save(this.items);
    this.on.refused(item, status, body);
    return true;
  }

  pause() {
    const wait = PAUSES[Math.min(this.attempt, PAUSES.length - 1)];
    this.attempt += 1;
    this.timer = this.later(() => {
      this.timer = null;
      this.run();
    }, wait);
    this.tell(State.WAITING);
  }
}

/** A list kept in web storage under a name; a storage that is full or closed is survived in memory. */
export function stored(storage, name) {
  return {
    load() {
      try {
        const items = JSON.parse(storage.getItem(name) || "[]");
        return Array.isArray(items) ? items : [];
      } catch {
        return [];
      }
    },
    save(items) {
      try {
        if (items.length) storage.setItem(name, JSON.stringify(items));
        else storage.removeItem(name);
      } catch {
        /* kept in memory until it is sent */
      }
    },
  };
}
