// What the portal answers to the adjudication page: taken over, refused, or overtaken by somebody else's decision.

import { AdjudicationFrame } from "./adjudication_frame.js";
import { isOvertaken, overtakenWords } from "./adjudication_state.js";
import { reveal as scrollTo } from "./dom.js";
import { typesText } from "./keys.js";

const TAKEN = ["version", "status", "editable", "canUndo", "conflicts", "left", "stale", "unfinished", "unseen", "notAccepted"];
const DONE_WORDS = { finish: "Marked as done; Enter goes on to the next dialogue.", reopen: "Reopened.", all: "What nobody has looked at is open now." };

/** Beside the frame's, `form`, `model`, `turns`, `lost`, `outdated` and the drawing are the page's that extends this. */
export class AdjudicationAnswers extends AdjudicationFrame {
  take(body) {
    const { data, state, model } = this;
    for (const name of TAKEN) data[name] = body[name];
    const changed = Object.keys(body.utterances).map(Number);
    const ours = this.item?.key;
    state.take(body.utterances);
    for (const position of changed) {
      model.rows.set(position, state.at(position).gold);
      this.drawTurn(position);
    }
    const index = this.items.findIndex((item) => item.key === ours);
    if (index >= 0) this.at.index = index;
    this.showStatus();
    this.showProgress();
    this.showSample();
  }

  redraw() {
    const typing = this.root.contains(document.activeElement) && typesText(document.activeElement);
    if (!typing) this.drawPanel();
    this.drawList();
    // Gold labels that came in above may have pushed it out of sight.
    scrollTo(this.turns.get(this.at.position));
  }

  wasSaved(item, body) {
    this.take(body);
    for (const waiting of this.queue.items) this.showWaiting(waiting);
    const touched = Object.keys(body.utterances).map(Number);
    if (item.path === "undo") {
      const stale = new Set(body.stale);
      const position = touched.find((place) => !stale.has(place)) ?? touched[0];
      if (position !== undefined && !this.form.isOpen) this.select(position);
      this.announce("The last decision was taken back.");
    } else if (item.path !== "decide") this.announce(DONE_WORDS[item.path]);
    this.redraw();
    if (item.path === "finish" && !this.form.isOpen) this.find("next").focus();
    if (this.outdated && !this.queue.pending) this.refresh();
  }

  async wasRefused(item, status, body) {
    const message = body?.error?.message || (status === 404 ? "This dialogue is not here any more." : "You are signed out, or may not decide here any more. Sign in in another tab, then press “try again”.");
    this.announce(message, true);
    if (this.queue.held) return;
    await this.refresh();
    this.announce(message, true);
    this.giveBack(item, body?.error?.fields);
  }

  /** What somebody wrote and the portal did not take comes back into the form, as soon as that is free. */
  giveBack(entry, fields = []) {
    const written = (entry.body.decisions || []).filter((decision) => decision.labels.length && ["edited", "new"].includes(decision.resolution));
    this.lost.push(...written.map((decision) => ({ decision, fields })));
    this.openLost();
  }

  openLost() {
    if (!this.lost.length || this.form.isOpen) return;
    const { decision, fields } = this.lost.shift();
    this.form.reopen(decision, fields);
  }

  /** Others were quicker. What they have not touched goes on its way; the rest is told, and what was written comes back. */
  hasConflict({ version, now }) {
    const { queue, state } = this;
    queue.version = version;
    this.take(now);
    const overtaken = queue.items.filter((entry) => isOvertaken(entry, state));
    const words = overtaken.map((entry) => overtakenWords(entry, state, this.data.review));
    queue.giveUp(overtaken);
    for (const entry of queue.items) this.showWaiting(entry);
    this.redraw();
    this.announce(words.join(" ") || "Somebody else has decided here meanwhile; you see it now. Your decision is saved beside it.", true);
    for (const entry of overtaken) this.giveBack(entry);
  }

  /** Fetch the whole page anew and show what it says, unless something waits to be saved. */
  async refresh(message) {
    try {
      const answer = await fetch(location.pathname, { redirect: "manual", headers: { Accept: "text/html" } });
      // With more on its way, what is fetched now would be old at once; it is fetched when that has arrived.
      this.outdated = this.queue.pending > 0;
      if (!answer.ok || this.outdated) return;
      const page = new DOMParser().parseFromString(await answer.text(), "text/html");
      const data = JSON.parse(page.getElementById("adjudication-data").textContent);
      this.queue.version = data.version;
      this.take(data);
      this.redraw();
      if (message) this.announce(message, true);
    } catch {
      // The old state stands, and the next decision meets a conflict that shows the newest.
    }
  }
}
