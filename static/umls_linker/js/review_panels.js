// Parts of the page that the portal renders, fetched and kept until they are outdated.

const PATIENCE = 20000;

export class Panels {
  constructor(fetcher = (...given) => globalThis.fetch(...given)) {
    this.fetcher = fetcher;
    this.kept = new Map();
  }

  /** The text under an address; rejects with the answer's `status` where it is not 200. */
  async fetch(url) {
    const answer = await this.fetcher(url, { credentials: "same-origin", redirect: "manual", headers: { "X-Requested-With": "fetch" }, signal: AbortSignal.timeout?.(PATIENCE) });
    if (answer.status !== 200) throw Object.assign(new Error(`answered with ${answer.status}`), { status: answer.status });
    return answer.text();
  }

  /** The part of a value; asked for once, until it is forgotten. A failure is not kept. */
  get(id, url) {
    if (!this.kept.has(id)) {
      const part = this.fetch(url);
      this.kept.set(id, part);
      part.catch(() => this.kept.get(id) === part && this.kept.delete(id));
    }
    return this.kept.get(id);
  }

  forget(id) {
    this.kept.delete(id);
  }

  forgetAll() {
    this.kept.clear();
  }
}
