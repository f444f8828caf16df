// The workbench: one dialogue, labelled from the keyboard.

import { answerForm, answerLabels, inquiriesBefore, intentFor } from "./answers.js";
import { showConflict, showFinish, showGuidelines, showHelp, showHistory } from "./dialogs.js";
import { reveal, uuid } from "./dom.js";
import { Drafts } from "./drafts.js";
import { LabelForm } from "./form.js";
import { matcher, typesText } from "./keys.js";
import { Model } from "./model.js";
import { SaveQueue, State, stored } from "./queue.js";
import { drawChips, drawLabels, drawProblems, drawState, drawStatusList, showAt } from "./render.js";
import { ActiveTime } from "./time.js";

const $ = (selector) => document.querySelector(selector);
const root = $("[data-workbench]");
const data = JSON.parse($("#workbench-data").textContent);
const model = new Model(data);
const actionOf = matcher(data.bindings);
const mine = `anamnesis:${data.user}:${data.labelSet}`;
const drafts = new Drafts(stored(localStorage, `${mine}:drafts`));
const activeTime = new ActiveTime();
const places = {
  turns: new Map([...document.querySelectorAll("[data-position]")].filter((item) => item.matches(".turn")).map((item) => [Number(item.dataset.position), item])),
  state: $("[data-state]"),
  problems: $("[data-problems]"),
  list: $("[data-label-list]"),
  saved: $("[data-saved]"),
  live: $("[data-live]"),
  progress: $("[data-progress]"),
  progressText: $("[data-progress-text]"),
  formPanel: $("[data-form-panel]"),
  formTitle: $("[data-form-title]"),
  idle: $("[data-form-idle]"),
};
let current = Number(location.hash.slice(2)) || 0;
if (!model.turn(current)) current = model.utterances[0]?.position ?? 0;
let labelIndex = -1; // which label of the utterance the arrows stand on; -1 is the utterance itself
let editable = data.editable;
let status = data.status;

// --- saving ---------------------------------------------------------------------------------------------------------

const csrf = () => $("[name=csrfmiddlewaretoken]").value;

async function send(item, version) {
  const answer = await fetch(root.dataset[item.path], {
    method: "POST",
    credentials: "same-origin",
    redirect: "manual",
    headers: { "Content-Type": "application/json", "X-CSRFToken": csrf() },
    body: JSON.stringify({ ...item.body, key: item.key, version }),
    signal: AbortSignal.timeout?.(20000),
  });
  const json = (answer.headers.get("Content-Type") || "").includes("application/json");
  return { status: answer.status, body: json ? await answer.json() : null };
}

const queue = new SaveQueue({
  storage: stored(localStorage, `${mine}:queue`),
  version: data.version,
  send,
  on: { state: showSaved, saved: wasSaved, refused: wasRefused, conflict: hasConflict },
});

function enqueue(path, body, undoable) {
  queue.add({ key: uuid(), path, body, undoable });
}

function showSaved(state, count) {
  const words = {
    [State.SAVED]: `saved${lastSaved ? ` ${lastSaved}` : ""}`,
    [State.SAVING]: "saving…",
    [State.WAITING]: `not saved, will retry (${count} waiting)`,
    [State.STOPPED]: `not saved (${count} waiting)`,
  };
  places.saved.dataset.saved = state;
  places.saved.querySelector("span").textContent = words[state];
  places.saved.querySelector("button").hidden = state === State.SAVED || state === State.SAVING;
  if (state === State.WAITING || state === State.STOPPED) announce(words[state]);
}

let lastSaved = data.version ? clock(data.savedAt) : "";

function clock(time) {
  return new Date(time).toLocaleTimeString([], { hour: "2-digit", minute: "2-digit" });
}

function wasSaved(item, body) {
  lastSaved = clock(body.savedAt);
  take(body);
  // Changes that are still on their way stay in sight.
  for (const waiting of queue.items) applyLocally(waiting);
  const touched = Object.keys(body.labels).map(Number);
  if ((item.path === "undo" || item.path === "redo") && touched.length) {
    select(Math.min(...touched));
    announce(item.path === "undo" ? "Undone." : "Done again.");
  }
}

/** Bring the page to what the portal says. */
function take(body) {
  model.take(body.labels);
  for (const position of Object.keys(body.labels)) drawTurn(Number(position));
  if (body.status !== status || body.editable !== editable) {
    ({ status, editable } = body);
    showStatus();
  }
  data.undo = body.undo;
  data.redo = body.redo;
  drawState(places.state, body.state);
  showAt(places.state, current);
  drawProblems(places.problems, body.problems);
  drawStatusList(places.list, model.utterances, (position) => model.rows.get(position) || []);
  showProgress(body.labelled, body.total);
  showUndo();
}

function showProgress(labelled, total) {
  places.progress.value = labelled;
  places.progress.max = total;
  places.progressText.textContent = `${labelled} of ${total} labelled`;
}

function wasRefused(item, code, body) {
  const message = body?.error?.message || refusalWords(code);
  announce(message, true);
  for (const change of item.body?.changes || []) {
    model.remove(change.id);
    if (item.before?.[change.id]) model.put(item.before[change.id]);
  }
  redrawTouched(item);
  const [change] = item.body?.changes || [];
  if (code === 400 && change?.label) {
    // Nothing that was typed is lost: the form comes back with what was refused.
    openForm({ ...change.label, id: item.before?.[change.id] ? change.id : "", speaker: model.turn(change.label.position).speaker, touched: true });
    form.complain(body?.error?.fields || [{ field: "", message }]);
  }
}

function refusalWords(code) {
  if (code === 0 || code === 401 || code === 403) return "You are signed out, or may no longer change this dialogue. Sign in in another tab, then press “try again”: your labels are kept here.";
  if (code === 404) return "This dialogue is not yours any more. Ask your supervisor; your labels are kept here.";
  return `The portal refused this (${code}).`;
}

function redrawTouched(item) {
  const positions = new Set((item.body?.changes || []).flatMap((change) => [change.label?.position, item.before?.[change.id]?.position]));
  for (const position of positions) if (position !== undefined) drawTurn(position);
}

function hasConflict(item, body) {
  const settle = () => {
    take(body.error.now);
    queue.version = body.error.version;
  };
  showConflict({
    mine: mineInWords(item),
    theirs: body.error.events.map((event) => ({ by: event.by, at: event.at, lines: event.changes.map(changeInWords) })),
    keepTheirs: () => {
      settle();
      queue.drop();
      for (const waiting of queue.items) applyLocally(waiting);
      announce("Your change was dropped.");
    },
    keepMine: () => {
      settle();
      for (const waiting of queue.items) applyLocally(waiting);
      queue.retry();
    },
    undecided: () => announce("Not saved: decide which version to keep with “try again”.", true),
  });
}

function mineInWords(item) {
  if (!item.body?.changes) return [item.path];
  return item.body.changes.map((change) => changeInWords({ before: item.before?.[change.id], after: change.label }));
}

function changeInWords({ before, after }) {
  if (typeof before === "string" || typeof after === "string") return `${before} → ${after}`;
  const at = (after || before)?.position;
  if (before && after) return `u${at}: ${model.words(before)} → ${model.words(after)}`;
  return after ? `u${at}: + ${model.words(after)}` : `u${at}: − ${model.words(before)}`;
}

/** Show a request that is on its way as if it had arrived. */
function applyLocally(item) {
  for (const change of item.body?.changes || []) {
    if (change.label) model.put({ kept: {}, ...change.label, id: change.id });
    else model.remove(change.id);
  }
  redrawTouched(item);
}

/** Save labels: [{id?, label|null}]. What was there before is remembered until the portal has answered. */
function change(changes) {
  if (!mayEdit()) return;
  const before = {};
  const prepared = changes.map(({ id, label }) => {
    const known = id && model.find(id);
    if (known) before[id] = known.row.data;
    return { id: id || uuid(), label };
  });
  const item = { key: uuid(), path: "changes", body: { changes: prepared, seconds: activeTime.take() }, before };
  applyLocally(item);
  const made = prepared.filter((entry) => entry.label && !before[entry.id]).map((entry) => entry.label);
  if (made.length) model.lastMade = made;
  queue.add(item);
}

function mayEdit() {
  if (editable) return true;
  announce(status === "done" ? "This dialogue is done; reopen it to change a label." : "These labels can be read but not changed.", true);
  return false;
}

// --- the dialogue ---------------------------------------------------------------------------------------------------

function drawTurn(position) {
  const turn = places.turns.get(position);
  if (!turn) return;
  const rows = model.rows.get(position) || [];
  drawLabels(turn.querySelector("[data-labels]"), rows);
  turn.classList.toggle("labelled", rows.length > 0);
  turn.classList.toggle("has-draft", drafts.has(position));
  turn.querySelector("[data-reason]").textContent = rows.length ? "" : data.reasons[position] || "";
}

/** Choose an utterance; with `focus`, the keyboard is on it. */
function select(position, { focus = true, label = -1 } = {}) {
  if (!model.turn(position)) return;
  places.turns.get(current)?.removeAttribute("aria-current");
  current = position;
  labelIndex = label;
  const turn = places.turns.get(position);
  for (const other of places.turns.values()) other.tabIndex = -1;
  turn.tabIndex = 0;
  turn.setAttribute("aria-current", "true");
  drawChipsAndHint(turn);
  showAt(places.state, current);
  for (const item of document.querySelectorAll(".label.chosen")) item.classList.remove("chosen");
  const chosen = label >= 0 ? turn.querySelectorAll(".label")[label] : null;
  chosen?.classList.add("chosen");
  if (focus) (chosen || turn).focus({ preventScroll: true });
  reveal(turn);
  if (!form.isOpen) showIdle();
  history.replaceState(null, "", `#u${position}`);
}

function drawChipsAndHint(turn) {
  for (const other of document.querySelectorAll("[data-chips]")) if (!turn.contains(other)) other.replaceChildren();
  for (const other of document.querySelectorAll("[data-hint]")) if (!turn.contains(other)) other.textContent = "";
  if (!editable) return;
  drawChips(turn.querySelector("[data-chips]"), model.chips(current), (name) => model.slot(name)?.title || name);
  const asked = unanswered();
  const values = asked.flatMap((label) => label.answers[model.slot(label.slot)?.head] || []);
  turn.querySelector("[data-hint]").textContent = values.length ? `Asked: ${values.join(", ")} · ${keyFor("answer-yes")} yes · ${keyFor("answer-no")} no · ${keyFor("answer-unsure")} unsure · ${keyFor("open")} answer in full` : "";
}

const keyFor = (action) => data.bindings.find((binding) => binding.action === action)?.keys[0] || "";

/** The inquiries before this turn that it has not answered yet. */
function unanswered() {
  const same = (inquiry) => (label) => label.slot === inquiry.slot && String(label.answers[model.slot(inquiry.slot)?.head] || "") === String(inquiry.answers[model.slot(inquiry.slot)?.head] || "");
  return inquiriesBefore(model.utterances, model.labelsAt, model.asks, current).filter((inquiry) => !model.labelsAt(current).some(same(inquiry)));
}

function step(by) {
  const index = model.utterances.findIndex((turn) => turn.position === current);
  const next = model.utterances[Math.max(0, Math.min(model.utterances.length - 1, index + by))];
  select(next.position);
}

function stepUnlabelled(by) {
  const index = model.utterances.findIndex((turn) => turn.position === current);
  for (let at = index + by; at >= 0 && at < model.utterances.length; at += by) {
    if (!model.labelsAt(model.utterances[at].position).length) return select(model.utterances[at].position);
  }
  announce(by > 0 ? "No utterance without a label after this one." : "No utterance without a label before this one.");
}

function stepLabel(by) {
  const count = model.labelsAt(current).length;
  if (!count) return;
  select(current, { label: Math.max(-1, Math.min(count - 1, labelIndex + by)) });
}

function advance(stay) {
  const index = model.utterances.findIndex((turn) => turn.position === current);
  if (stay || index + 1 >= model.utterances.length) select(current);
  else step(1);
}

// --- the form -------------------------------------------------------------------------------------------------------

const form = new LabelForm($("[data-form]"), {
  questionnaire: data.questionnaire,
  suggest: (field, slot, text, chosen, position) => model.suggest(field, slot, text, chosen, position),
  changed: () => keepDraft(),
  save: (stay) => saveForm(stay),
  leave: () => leaveForm(),
  discard: () => discardForm(),
  guidelines: () => guidelines(),
});

function openForm(seed) {
  if (!mayEdit()) return;
  if (form.isOpen) leaveForm({ focus: false });
  if (seed.position !== current) select(seed.position, { focus: false });
  const turn = model.turn(seed.position);
  places.idle.hidden = true;
  places.formTitle.textContent = `Label (utterance ${seed.position} · ${turn.speaker})${seed.id ? " — editing" : ""}`;
  form.open({ ...seed, speaker: turn.speaker });
  if (!seed.touched) form.touched = false;
}

/** Enter on an utterance: a draft, the answer to a question, or an empty questionnaire. */
function open() {
  if (labelIndex >= 0) return edit(model.labelsAt(current)[labelIndex]);
  const draft = drafts.get(current);
  if (draft) {
    openForm({ ...draft, position: current });
    return announce("What you had typed here is back.");
  }
  const speaker = model.turn(current).speaker;
  const [inquiry] = unanswered();
  const answer = inquiry && speaker !== "doctor" ? answerForm(inquiry, model.slot(inquiry.slot), informing(speaker), speaker) : null;
  openForm({ position: current, ...(answer || emptySeed(speaker)) });
}

function informing(speakerName) {
  const speaker = data.questionnaire.speakers.find((item) => item.name === speakerName);
  return [speaker?.usual_intent, speaker?.other_intent].find((name) => name && !model.asks(name)) || "inform";
}

function emptySeed(speakerName) {
  const speaker = data.questionnaire.speakers.find((item) => item.name === speakerName);
  const intent = speaker?.usual_intent || data.questionnaire.intents[0].name;
  const slots = data.questionnaire.slots.filter((slot) => slot.intents.includes(intent));
  return { intent, slot: slots.length === 1 ? slots[0].name : "" };
}

function openSlot(slotName, shifted, answers = {}) {
  const slot = model.slot(slotName);
  const { speaker } = model.turn(current);
  const intent = intentFor(data.questionnaire, slot, speaker, shifted);
  if (!intent) return announce(`“${slot.title}” cannot be used on the ${speaker}'s turns.`, true);
  openForm({ position: current, intent, slot: slotName, answers: { ...defaults(slot, intent, speaker), ...answers } });
}

/** What a fresh inform label starts with ("status starts at yes"). */
function defaults(slot, intent, speaker) {
  if (model.asks(intent)) return {};
  const answers = {};
  for (const field of slot.fields) {
    const offered = (!field.intents.length || field.intents.includes(intent)) && (!field.speakers.length || field.speakers.includes(speaker));
    if (offered && field.default[speaker]) answers[field.name] = field.default[speaker];
  }
  return answers;
}

function takeChip(index) {
  const chip = model.chips(current)[index];
  if (chip) openSlot(chip.slot, false, { [chip.field]: chipAnswer(chip) });
  else announce(`No value ${index + 1} was found in this utterance.`);
}

function chipAnswer(chip) {
  const field = model.slot(chip.slot).fields.find((item) => item.name === chip.field);
  return field.kind === "text" ? chip.value : [chip.value];
}

function edit(label) {
  if (label) openForm({ ...label, asked: [] });
}

function saveForm(stay) {
  if (!form.slotChosen()) return;
  const label = form.read();
  const { id } = form.seed;
  drafts.remove(label.position);
  form.close();
  showIdle();
  change([{ id, label }]);
  drawTurn(label.position);
  advance(stay || Boolean(id));
}

/** Leave the form; what was typed stays as a draft of its utterance. */
function leaveForm({ focus = true } = {}) {
  if (!form.isOpen) return;
  const { position } = form.seed;
  keepDraft.now();
  form.close();
  drawTurn(position);
  showIdle();
  if (focus) select(current);
}

function discardForm() {
  const { position } = form.seed;
  drafts.remove(position);
  form.close();
  drawTurn(position);
  showIdle();
  select(current);
  announce("Discarded.");
}

let draftTimer = 0;
function keepDraft() {
  clearTimeout(draftTimer);
  draftTimer = setTimeout(() => keepDraft.now(), 150);
}
keepDraft.now = () => {
  clearTimeout(draftTimer);
  if (!form.isOpen || !form.touched) return;
  const snapshot = form.snapshot();
  drafts.put(snapshot.position, snapshot);
};

function showIdle() {
  places.idle.hidden = false;
  const turn = model.turn(current);
  places.formTitle.textContent = turn ? `Utterance ${current} · ${turn.speaker}` : "Label";
}

// --- actions --------------------------------------------------------------------------------------------------------

function slotless(name) {
  const intent = model.intent(name);
  if (!intent.speakers.includes(model.turn(current).speaker)) return announce(`“${intent.title}” cannot be used on this turn.`, true);
  change([{ label: { position: current, intent: name, slot: "", answers: {}, checks: [], origin: "typed" } }]);
  advance(false);
}

function answer(meaning) {
  const inquiries = inquiriesBefore(model.utterances, model.labelsAt, model.asks, current);
  if (!inquiries.length) return announce("No question stands before this utterance.", true);
  const speaker = model.turn(current).speaker;
  const labels = answerLabels(unanswered(), (name) => model.slot(name), informing(speaker), current, meaning);
  if (!labels.length) return announce("What was asked cannot be answered with one key; press Enter to answer it in full.", true);
  change(labels.map((label) => ({ label })));
  announce(labels.map((label) => model.words(label)).join("; "));
  advance(false);
}

function repeat() {
  const source = model.lastMade.length ? model.lastMade : model.newestFirst().slice(0, 1);
  if (!source.length) return announce("There is no label to repeat yet.", true);
  const { speaker } = model.turn(current);
  const wrong = source.find((label) => !model.intent(label.intent)?.speakers.includes(speaker));
  if (wrong) return announce(`“${model.intent(wrong.intent).title}” cannot be used on the ${speaker}'s turns.`, true);
  change(source.map((label) => ({ label: { position: current, intent: label.intent, intent_name: label.intent_name || "", slot: label.slot, answers: label.answers, checks: label.checks, origin: "copied" } })));
  advance(false);
}

function removeLabel(label) {
  if (!label) return announce("This utterance has no label to delete.", true);
  change([{ id: label.id, label: null }]);
  announce(`Deleted: ${model.words(label)}. ${keyFor("undo")} brings it back.`);
  select(current);
}

function history_(path) {
  if (!mayEdit()) return;
  if (!queue.pending && !data[path]) return announce(`There is nothing to ${path}.`);
  enqueue(path, {});
}

function finish() {
  if (!mayEdit()) return;
  const missing = model.utterances.filter((turn) => !model.labelsAt(turn.position).length);
  showFinish(missing, data.questionnaire.unlabelled_reasons, data.reasons, (reasons) => {
    data.reasons = reasons;
    enqueue("finish", { reasons });
  }, select);
}

function guidelines() {
  const open = form.isOpen ? form.seed : model.labelsAt(current)[Math.max(0, labelIndex)] || {};
  showGuidelines(data.questionnaire, open.intent, open.slot, root.dataset.guidelines);
}

const ACTIONS = {
  next: () => step(1),
  previous: () => step(-1),
  "next-unlabelled": () => stepUnlabelled(1),
  "previous-unlabelled": () => stepUnlabelled(-1),
  first: () => select(model.utterances[0].position),
  last: () => select(model.utterances[model.utterances.length - 1].position),
  "next-label": () => stepLabel(1),
  "previous-label": () => stepLabel(-1),
  open,
  repeat,
  delete: () => removeLabel(model.labelsAt(current).at(labelIndex)),
  edit: () => (model.labelsAt(current).length ? edit(model.labelsAt(current).at(labelIndex)) : announce("This utterance has no label to edit.")),
  undo: () => history_("undo"),
  redo: () => history_("redo"),
  "answer-yes": () => answer("yes"),
  "answer-no": () => answer("no"),
  "answer-unsure": () => answer("unsure"),
  finish,
  guidelines,
  history: () => showHistory(root.dataset.history),
  help: () => showHelp(data.bindings, root.dataset.keys),
  reopen: () => enqueue("reopen", {}),
  retry: () => queue.retry(),
};

function act(action, shifted = false) {
  if (action.startsWith("slot:")) openSlot(action.slice(5), shifted);
  else if (action.startsWith("intent:")) slotless(action.slice(7));
  else ACTIONS[action]();
}

document.addEventListener("keydown", (event) => {
  if (event.isComposing || document.querySelector("dialog[open]") || typesText(event.target)) return;
  if (event.target.closest("button, summary, a") && ["Enter", " "].includes(event.key)) return;
  if (/^[1-9]$/.test(event.key) && !event.ctrlKey && !event.altKey && !event.metaKey) {
    event.preventDefault();
    return void (editable && takeChip(Number(event.key) - 1));
  }
  const found = actionOf(event);
  if (!found) return;
  event.preventDefault();
  act(found.action, found.shifted);
});

document.addEventListener("click", (event) => {
  const target = event.target;
  const goTo = target.closest("[data-goto]");
  const copy = target.closest("[data-copy]");
  const act_ = target.closest("[data-action]");
  const chip = target.closest("[data-chip]");
  if (goTo) {
    event.preventDefault();
    const position = Number(goTo.dataset.goto);
    const label = model.labelsAt(position).findIndex((item) => item.id === goTo.dataset.gotoLabel);
    select(position, { label });
  } else if (copy) {
    copyIntoForm(copy.dataset);
  } else if (act_) {
    act(act_.dataset.action);
  } else if (chip) {
    takeChip(Number(chip.dataset.chip));
  } else if (target.closest("[data-edit]")) {
    const found = model.find(target.closest("[data-edit]").dataset.edit);
    if (found) select(found.position, { focus: false }), edit(found.row.data);
  } else if (target.closest("[data-delete]")) {
    const found = model.find(target.closest("[data-delete]").dataset.delete);
    if (found) select(found.position), removeLabel(found.row.data);
  } else if (target.closest(".turn") && !String(getSelection())) {
    const turn = target.closest(".turn");
    const label = target.closest(".label");
    const index = label ? [...turn.querySelectorAll(".label")].indexOf(label) : -1;
    if (form.isOpen && Number(turn.dataset.position) !== form.seed.position) leaveForm({ focus: false });
    select(Number(turn.dataset.position), { label: index });
    if (label && event.detail > 1) edit(model.labelsAt(current)[index]);
  }
});

/** A value of the patient so far goes into the field last used, or opens a label with it. */
function copyIntoForm({ copy, field, slot }) {
  if (!form.isOpen) return openSlot(slot, false, field && field === model.slot(slot)?.head ? { [field]: [copy] } : {});
  const wanted = form.questions.find((question) => question.field.name === lastField) || form.questions.find((question) => question.field.name === field);
  if (!wanted?.control) return;
  const box = wanted.control.box || wanted.control;
  if (box.add && box.options?.multiple) box.add(copy);
  else if (box.set) box.set(copy);
  wanted.focus();
}

let lastField = "";
$("[data-form]").addEventListener("focusin", (event) => {
  lastField = event.target.closest("[data-field]")?.dataset.field || "";
});

// --- the frame ------------------------------------------------------------------------------------------------------

let silence = 0;
function announce(message, urgent = false) {
  places.live.textContent = message;
  places.live.classList.toggle("urgent", urgent);
  clearTimeout(silence);
  silence = setTimeout(() => (places.live.textContent = ""), urgent ? 12000 : 5000);
}

function showUndo() {
  $('[data-action="undo"]').disabled = !editable || !(data.undo || queue.pending);
  $('[data-action="redo"]').disabled = !editable || !data.redo;
}

function showStatus() {
  root.dataset.status = status;
  $('[data-action="finish"]').hidden = !editable;
  $('[data-action="reopen"]').hidden = !(data.own && status === "done");
  if (!editable && form.isOpen) leaveForm();
  $("[data-status-text]").textContent = { todo: "to do", in_progress: "in progress", done: "done", returned: "returned", locked: "locked" }[status];
  showUndo();
}

globalThis.addEventListener("online", () => queue.retry());
globalThis.addEventListener("pagehide", () => keepDraft.now());
globalThis.addEventListener("beforeunload", (event) => {
  keepDraft.now();
  if (queue.pending) event.preventDefault();
});

for (const turn of model.utterances) drawTurn(turn.position);
take(data);
showStatus();
select(current);
showSaved(State.SAVED, 0);
if (queue.pending) {
  for (const item of queue.items) applyLocally(item);
  queue.run();
}
const [kept] = drafts.positions();
if (kept !== undefined && editable && model.turn(kept)) {
  select(kept, { focus: false });
  openForm({ ...drafts.get(kept), position: kept });
  announce("What you had typed here is back.");
}
root.dataset.ready = "true";
