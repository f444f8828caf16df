// The concept vocabulary for a field that is typed into: asked when the typing pauses, and silent where it cannot be reached.

const PAUSE = 120;
const PATIENCE = 4000;
const SHORTEST = 2;
const KEPT = 200;

export class VocabularyLookup {
  /** url: where suggestions are had; fetcher(url) -> Promise of {status, json()}; later(call, ms) stands for the timer. */
  constructor(url, { fetcher = ask, later = (call, ms) => setTimeout(call, ms), never = (handle) => clearTimeout(handle) } = {}) {
    Object.assign(this, { url, fetcher, later, never });
    this.known = new Map();
    this.waiting = null;
  }

  /** What the vocabulary has for a text: [{value, note}], and [] for a text that was typed over before it was asked for. */
  suggest(slot, field, text) {
    if (text.trim().length < SHORTEST) return Promise.resolve([]);
    const query = new URLSearchParams({ slot, field, q: text }).toString();
    if (this.known.has(query)) return Promise.resolve(this.known.get(query));
    this.stop();
    return new Promise((answer) => {
      const handle = this.later(async () => {
        if (this.waiting?.handle === handle) this.waiting = null;
        answer(await this.look(query));
      }, PAUSE);
      this.waiting = { handle, answer };
    });
  }

  stop() {
    if (!this.waiting) return;
    this.never(this.waiting.handle);
    this.waiting.answer([]);
    this.waiting = null;
  }

  async look(query) {
    try {
      const answer = await this.fetcher(`${this.url}?${query}`);
      if (answer.status !== 200) return [];
      const { suggestions } = await answer.json();
      if (!Array.isArray(suggestions)) return [];
      if (this.known.size >= KEPT) this.known.clear();
      this.known.set(query, suggestions);
      return suggestions;
    } catch {
      return [];
    }
  }
}

const ask = (url) => fetch(url, { credentials: "same-origin", redirect: "manual", headers: { Accept: "application/json" }, signal: AbortSignal.timeout?.(PATIENCE) });
