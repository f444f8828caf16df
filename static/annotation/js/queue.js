// Saves that are on their way. Every request is kept in the browser's storage under a key of its own until the portal
// has acknowledged it, so that a lost connection, a reload or a closed lid loses nothing. A request that did arrive and
// whose answer was lost is sent again under the same key and changes nothing a second time.

export const State = Object.freeze({ SAVED: "saved", SAVING: "saving", WAITING: "waiting", STOPPED: "stopped" });

const PAUSES = [1000, 2000, 4000, 8000, 15000, 30000];
const TRY_LATER = new Set([408, 425, 429]);
// Signed out (a redirect that is not followed has status 0), or no longer allowed.
const NOT_ALLOWED = new Set([0, 401, 403, 404]);

export class SaveQueue {
  /**
   * store: see KeyedStore; send(item, version) -> Promise<{status, body}> (rejects when nothing answered);
   * on: {state(state, count), saved(item, body), refused(item, status, body), conflict(item, body), behind()};
   * later(callback, ms) -> handle and never(handle) stand for timers.
   */
  constructor({ store, send, on, version, later = (call, ms) => setTimeout(call, ms), never = (handle) => clearTimeout(handle) }) {
    Object.assign(this, { store, send, on, version, later, never });
    this.items = store.load().filter((item) => typeof item.path === "string");
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
    this.store.put(item);
    if (this.held) this.tell(State.STOPPED);
    else if (this.timer !== null) this.tell(State.WAITING);
    return this.run();
  }

  /** Try now, whatever the pause said. */
  retry() {
    this.attempt = 0;
    this.held = false;
    if (this.timer !== null) this.never(this.timer);
    this.timer = null;
    return this.run();
  }

  /** Give up the first request (a conflict that was settled in favour of the other side). */
  drop() {
    this.remove();
    return this.retry();
  }

  /** Give up these requests, wherever they stand, and go on with the others. */
  giveUp(items) {
    this.items = this.items.filter((item) => !items.includes(item));
    for (const item of items) this.store.remove(item.key);
    return this.retry();
  }

  /** The first request is settled. */
  remove() {
    const [item] = this.items.splice(0, 1);
    this.store.remove(item.key);
  }

  tell(state) {
    this.on.state(state, this.items.length);
  }

  async run() {
    if (this.busy || this.held || this.timer !== null) return;
    this.busy = true;
    try {
      while (this.items.length && (await this.sendFirst()));
    } finally {
      this.busy = false;
    }
    if (!this.items.length) this.tell(State.SAVED);
  }

  /** Whether the next request may follow. */
  async sendFirst() {
    this.tell(State.SAVING);
    const [item] = this.items;
    let answer;
    try {
      answer = await this.send(item, this.version);
    } catch {
      return this.pause();
    }
    return this.take(item, answer);
  }

  /** What an answer means; false when the queue must wait. */
  take(item, { status, body }) {
    // A page in between that answers everything with "200" (a hotel's, a proxy's) is no portal.
    if ((status === 200 && !Number.isInteger(body?.version)) || status >= 500 || TRY_LATER.has(status)) return this.pause();
    if (status === 200) return this.acknowledged(item, body);
    if (status === 409 && body?.error?.code === "conflict") {
      this.hold();
      this.on.conflict(item, body);
      return !this.held; // settled at once, or by a person in a while
    }
    if (NOT_ALLOWED.has(status)) {
      this.hold();
      this.on.refused(item, status, body);
      return false;
    }
    this.remove();
    this.on.refused(item, status, body);
    return true;
  }

  acknowledged(item, body) {
    this.attempt = 0;
    this.remove();
    if (body.replayed && body.version !== this.version + 1) {
      // It had arrived before, and others have saved since. The old version stays, so that a request made without
      // knowing of theirs meets a conflict instead of overwriting it.
      this.on.saved(item, { ...body, version: this.version });
      this.on.behind();
    } else {
      this.version = body.version;
      this.on.saved(item, body);
    }
    return true;
  }

  hold() {
    this.held = true;
    this.tell(State.STOPPED);
  }

  pause() {
    const wait = PAUSES[Math.min(this.attempt, PAUSES.length - 1)];
    this.attempt += 1;
    this.timer = this.later(() => {
      this.timer = null;
      this.run();
    }, wait);
    this.tell(State.WAITING);
    return false;
  }
}
