// Seconds of active work: a pause of more than a minute between two signs of life is not counted.

const IDLE = 60_000;

export class ActiveTime {
  constructor(now = () => Date.now(), target = globalThis.document) {
    this.now = now;
    this.last = now();
    this.active = 0;
    for (const event of ["keydown", "pointerdown", "wheel"]) target?.addEventListener(event, () => this.touch(), { passive: true, capture: true });
  }

  touch() {
    const now = this.now();
    const gap = now - this.last;
    if (gap < IDLE) this.active += gap;
    this.last = now;
  }

  /** The whole seconds since the last call; what is left of a second is kept. */
  take() {
    this.touch();
    const seconds = Math.floor(this.active / 1000);
    this.active -= seconds * 1000;
    return Math.min(seconds, 600);
  }
}
