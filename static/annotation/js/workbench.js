// The workbench: one dialogue, labelled from the keyboard. This module puts its parts together; each part knows the
// others through the one object made here.

import { Actions } from "./actions.js";
import { Concepts } from "./concepts.js";
import { Drafts } from "./drafts.js";
import { Editor } from "./editor.js";
import { Frame } from "./frame.js";
import { Legend } from "./legend.js";
import { Model } from "./model.js";
import { Navigation } from "./navigation.js";
import { News } from "./news.js";
import { OneKey } from "./one_key.js";
import { State } from "./queue.js";
import { Saving } from "./saving.js";
import { KeyedStore, prefixOf } from "./storage.js";
import { ActiveTime } from "./time.js";
import { VocabularyLookup } from "./vocabulary.js";

const root = document.querySelector("[data-workbench]");
const data = JSON.parse(document.querySelector("#workbench-data").textContent);
const find = (name) => root.querySelector(`[data-${name}]`);

const work = {
  root,
  data: { ...data, own: root.dataset.own === "true" },
  model: new Model(data),
  drafts: new Drafts(new KeyedStore(`${prefixOf(data.user)}${data.labelSet}:drafts`)),
  activeTime: new ActiveTime(),
  places: { state: find("state"), stateAt: find("state-at"), quote: find("form-quote"), problems: find("problems"), list: find("label-list"), formTitle: find("form-title"), idle: find("form-idle") },
  keyFor: (action) => data.bindings.find((binding) => binding.action === action)?.keys[0] || "",
  mayEdit() {
    if (this.data.editable) return true;
    const done = this.data.own && this.data.status === "done";
    this.refuse(done ? "This dialogue is done; reopen it to change a label." : "These labels can be read but not changed.");
    return false;
  },
  /** Say why a key does nothing. What is typed on in the same breath was meant for it and is not taken as keys. */
  refuse(message) {
    this.frame.announce(message, true);
    this.actions.hold();
  },
};
work.frame = new Frame(work);
work.legend = new Legend(work);
work.concepts = new Concepts(work);
work.vocabulary = root.dataset.suggest ? new VocabularyLookup(root.dataset.suggest) : null;
work.saving = new Saving(work);
work.navigation = new Navigation(work);
work.editor = new Editor(work, find("form"));
work.form = work.editor.form;
work.oneKey = new OneKey(work);
work.news = new News(work);
work.actions = new Actions(work);

function show() {
  const { navigation, saving, frame, editor, drafts, model } = work;
  saving.take(data);
  for (const turn of model.utterances) navigation.drawTurn(turn.position);
  if (model.utterances.length) navigation.select(navigation.current);
  else editor.showIdle();
  frame.showSaved(State.SAVED, 0);
  if (saving.queue.pending) {
    saving.showWaiting();
    saving.queue.run();
  }
  const draft = drafts.open;
  if (draft && work.data.editable && model.turn(draft.position)) editor.openDraft(draft);
}

function guardTheWayOut() {
  let leaving = false;
  globalThis.addEventListener("online", () => work.saving.queue.retry());
  globalThis.addEventListener("pagehide", () => work.editor.keepDraft());
  globalThis.addEventListener("beforeunload", (event) => {
    work.editor.keepDraft();
    if (!leaving && (work.saving.queue.pending || (work.form.isOpen && work.editor.unkept))) event.preventDefault();
  });
  // Whoever signs out has been asked about unsent labels, and leaves no draft behind.
  document.addEventListener("signing-out", () => {
    leaving = true;
    if (work.form.isOpen) work.form.touched = false;
  });
}

guardTheWayOut();
show();
work.news.start();
root.dataset.ready = "true";
