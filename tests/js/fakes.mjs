// Stand-ins for what only a browser has: storage and time.

/** Web storage whose names are its own keys, as in a browser; `full` makes every write fail. */
export class FakeStorage {
  constructor() {
    Object.defineProperty(this, "full", { value: false, writable: true, enumerable: false });
  }

  getItem(name) {
    return Object.hasOwn(this, name) ? this[name] : null;
  }

  setItem(name, value) {
    if (this.full) throw new Error("QuotaExceededError");
    this[name] = String(value);
  }

  removeItem(name) {
    delete this[name];
  }
}

/** Timers that ring when they are told to. */
export class FakeTimers {
  waiting = [];

  later = (call, ms) => {
    const handle = { call, ms };
    this.waiting.push(handle);
    return handle;
  };

  never = (handle) => {
    this.waiting = this.waiting.filter((other) => other !== handle);
  };

  /** Let the next timer ring; returns how long it would have waited. */
  async ring() {
    const { call, ms } = this.waiting.shift();
    call();
    await settle();
    return ms;
  }
}

/** Until everything that can go on has gone on. */
export const settle = () => new Promise((resolve) => setImmediate(resolve));
