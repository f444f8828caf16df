// Saving: a change is shown at once, waits in the queue, and the page is brought to what the portal answers.

import { showConflict } from "./dialogs.js";
import { uuid } from "./dom.js";
import { mergedProblems, mergedState } from "./patient.js";
import { SaveQueue } from "./queue.js";
import { drawState, drawStatusList, showAt } from "./render.js";
import { KeyedStore, prefixOf } from "./storage.js";

const PATIENCE = 20000;

/** The token as it is now: signing in again, in another tab, makes a new one. */
export function csrfToken() {
  const cookie = document.cookie.split("; ").find((item) => item.startsWith("csrftoken="));
  return cookie ? decodeURIComponent(cookie.slice(10)) : document.querySelector("[name=csrfmiddlewaretoken]").value;
}

const changesOf = (item) => item.body?.changes || [];

export class Saving {
  constructor(work) {
    this.work = work;
    this.state = [];
    this.problems = [];
    this.queue = new SaveQueue({
      store: new KeyedStore(`${prefixOf(work.data.user)}${work.data.labelSet}:queue`),
      version: work.data.version,
      send: (item, version) => this.send(item, version),
      on: {
        state: (state, count) => work.frame.showSaved(state, count),
        saved: (item, body) => this.wasSaved(item, body),
        refused: (item, status, body) => this.wasRefused(item, status, body),
        conflict: (item, body) => this.hasConflict(item, body),
        behind: () => this.refresh("Others have changed this dialogue; what you see now is the newest."),
      },
    });
  }

  async send(item, version) {
    const answer = await fetch(this.work.root.dataset[item.path], {
      method: "POST",
      credentials: "same-origin",
      redirect: "manual",
      headers: { "Content-Type": "application/json", "X-CSRFToken": csrfToken() },
      body: JSON.stringify({ ...item.body, key: item.key, version }),
      signal: AbortSignal.timeout?.(PATIENCE),
    });
    const json = (answer.headers.get("Content-Type") || "").includes("application/json");
    return { status: answer.status, body: json ? await answer.json() : null };
  }

  /** Save labels: [{id?, label|null}]. What was there before is remembered until the portal has answered. */
  change(changes) {
    if (!this.work.mayEdit()) return;
    const prepared = changes.map(({ id, label }) => ({ id: id || uuid(), label }));
    const item = { key: uuid(), path: "changes", body: { changes: prepared, seconds: this.work.activeTime.take() } };
    this.remember(item);
    this.show(item);
    const made = prepared.filter((entry) => entry.label && !item.before[entry.id]).map((entry) => entry.label);
    if (made.length) this.work.model.lastMade = made;
    this.add(item);
  }

  /** Ask for something else than labels: undo, redo, finish, reopen, lock. */
  ask(path, body = {}) {
    this.add({ key: uuid(), path, body });
  }

  add(item) {
    this.queue.add(item);
    this.work.frame.showButtons();
  }

  remember(item) {
    const known = changesOf(item).map((change) => [change.id, this.work.model.find(change.id)?.row.data]);
    item.before = Object.fromEntries(known.filter(([, data]) => data));
  }

  /** Show a request that is on its way as if it had arrived. */
  show(item) {
    const { model } = this.work;
    for (const change of changesOf(item)) {
      if (change.label) model.put({ kept: {}, ...change.label, id: change.id });
      else model.remove(change.id);
    }
    this.redraw(item);
  }

  /** The page shows what the portal said last; what is still on its way goes on top of it. */
  showWaiting() {
    for (const waiting of this.queue.items) {
      this.remember(waiting);
      this.show(waiting);
    }
  }

  redraw(item) {
    const positions = new Set(changesOf(item).flatMap((change) => [change.label?.position, item.before?.[change.id]?.position]));
    for (const position of positions) if (position !== undefined) this.work.navigation.drawTurn(position);
    this.drawList();
  }

  drawList() {
    const { model, places } = this.work;
    drawStatusList(places.list, model.utterances, (position) => model.rows.get(position) || [], this.work.data.editable, (label) => this.work.concepts.marks(label));
    this.work.navigation.showInList();
  }

  wasSaved(item, body) {
    const { frame, navigation } = this.work;
    frame.savedAt(body.savedAt);
    this.take(body);
    this.showWaiting();
    this.work.news.labelsSaved();
    const touched = Object.keys(body.labels).map(Number);
    if (["undo", "redo"].includes(item.path) && touched.length) {
      if (!this.work.form.isOpen) navigation.select(Math.min(...touched));
      frame.announce(item.path === "undo" ? "Undone." : "Done again.");
    } else if (item.path !== "changes") {
      frame.announce({ finish: "Marked as done.", reopen: "Reopened.", lock: item.body.unlock ? "Unlocked." : "Locked." }[item.path] || "");
    }
    if (item.path === "finish") this.goOn();
    this.work.root.dispatchEvent(new CustomEvent("labels-saved", { detail: { positions: body.touched?.positions ?? [] } }));
  }

  /** After a dialogue is done: a test goes on to handing in; elsewhere Enter goes on with the queue. */
  goOn() {
    const { root } = this.work;
    const next = root.querySelector("[data-next]");
    if (next && root.dataset.exam === "test" && !this.queue.pending) location.assign(next.href);
    else next?.focus();
  }

  /** Bring the page to what the portal says. */
  take(body) {
    const { data, model, navigation, frame, editor } = this.work;
    model.take(body.labels);
    const wasEditable = data.editable;
    for (const name of ["status", "editable", "undo", "redo"]) data[name] = body[name];
    for (const position of Object.keys(body.labels)) navigation.drawTurn(Number(position));
    this.drawPatient(body);
    this.drawList();
    frame.showProgress(body.labelled, body.total);
    frame.showStatus();
    if (wasEditable && !data.editable) editor.leave();
    // What is offered at the utterance comes and goes; a button that was pressed may be gone, and the keyboard with it.
    if (wasEditable !== data.editable) navigation.select(navigation.current, { focus: !document.querySelector("dialog[open]"), label: navigation.label });
  }

  /** The right panel. A save's answer holds only what the save may have moved; the rest stays as the page has it. */
  drawPatient({ state, problems, touched }) {
    const { places, navigation, data } = this.work;
    this.state = mergedState(this.state, state, touched, data.questionnaire.slots.map((slot) => slot.name));
    this.problems = mergedProblems(this.problems, problems, touched);
    drawState(places.state, this.state);
    showAt(places.state, navigation.current);
    this.work.news.drawToLookAt();
  }

  /** Fetch the whole page anew and show what it says, unless something was saved meanwhile. */
  async refresh(message) {
    try {
      const answer = await fetch(location.pathname, { redirect: "manual", headers: { Accept: "text/html" } });
      if (!answer.ok) return;
      const page = new DOMParser().parseFromString(await answer.text(), "text/html");
      const data = JSON.parse(page.getElementById("workbench-data").textContent);
      if (this.queue.pending) return;
      this.queue.version = data.version;
      this.work.data.reasons = data.reasons;
      this.take(data);
      if (message) this.work.frame.announce(message, true);
    } catch {
      // Without the newest state the old version stands, and the next save meets a conflict that shows it.
    }
  }

  wasRefused(item, status, body) {
    const { frame, model, editor } = this.work;
    const message = body?.error?.message || refusalWords(status);
    frame.announce(message, true);
    if (this.queue.held) return;
    for (const change of changesOf(item)) {
      model.remove(change.id);
      if (item.before?.[change.id]) model.put(item.before[change.id], false);
    }
    this.redraw(item);
    this.showWaiting();
    editor.takeBack(item, body?.error?.fields || [], message);
    this.refresh();
  }

  hasConflict(item, body) {
    const { frame, editor } = this.work;
    editor.keepDraft();
    const settle = () => {
      this.take(body.error.now);
      this.queue.version = body.error.version;
    };
    showConflict({
      mine: this.inWords(item),
      theirs: body.error.events.map((event) => ({ by: event.by, at: event.at, lines: event.changes.map((change) => this.changeInWords(change)) })),
      keepTheirs: () => {
        settle();
        this.queue.drop();
        this.showWaiting();
        frame.announce("Your change was dropped.");
      },
      keepMine: () => {
        settle();
        this.showWaiting();
        this.queue.retry();
      },
      undecided: () => frame.announce("Not saved: decide which version to keep with “try again”.", true),
    });
  }

  inWords(item) {
    if (!item.body?.changes) return [item.path === "undo" ? "undo (it would take back the newest change, which is now the other one)" : item.path];
    return item.body.changes.map((change) => this.changeInWords({ before: item.before?.[change.id], after: change.label }));
  }

  changeInWords({ before, after }) {
    const { model } = this.work;
    if (typeof before === "string" || typeof after === "string") return `${before} → ${after}`;
    const at = (after || before)?.position;
    if (before && after) return `u${at}: ${model.words(before)} → ${model.words(after)}`;
    return after ? `u${at}: + ${model.words(after)}` : `u${at}: − ${model.words(before)}`;
  }
}

function refusalWords(status) {
  if ([0, 401, 403].includes(status)) {
    return "You are signed out, or may no longer change this dialogue. Sign in in another tab, then press “try again”: your labels are kept here.";
  }
  if (status === 404) return "This dialogue is not yours any more. Ask your supervisor; your labels are kept here.";
  return `The portal refused this (${status}).`;
}
