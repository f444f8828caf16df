import assert from "node:assert/strict";
import test from "node:test";

import { answerForm, answerLabels, defaults, emptySeed, informing, inquiriesBefore, intentFor, ownIntents, unanswered } from "../../static/annotation/js/answers.js";
import { Model } from "../../static/annotation/js/model.js";
import { label, pageData, QUESTIONNAIRE } from "./questionnaire.mjs";

const slotOf = (name) => QUESTIONNAIRE.slots.find((slot) => slot.name === name);
const asked = (slot, answers = {}, checks = []) => label(0, "inquire", slot, answers, { checks });
const before = (labels, position) => {
  const model = new Model(pageData(labels));
  return inquiriesBefore(model.utterances, model.labelsAt, model.asks, position);
};

test("a turn answers the inquiries of the nearest turns of the other speaker, in their order", () => {
  const questions = [asked("symptom", { value: ["fever"] }), asked("travel")];
  assert.deepEqual(before(questions, 1), questions);
  assert.deepEqual(before(questions, 3), questions);
  assert.deepEqual(before(questions, 0), []);
  assert.deepEqual(before(questions, 2), []);
  assert.deepEqual(before(questions, 99), []);
});

test("a nearer question hides the farther one; labels that ask nothing do not", () => {
  const near = label(2, "inquire", "travel");
  assert.deepEqual(before([asked("symptom", { value: ["fever"] }), near], 3), [near]);
  const far = asked("symptom", { value: ["fever"] });
  assert.deepEqual(before([far, label(2, "nod", "")], 3), [far]);
});

test("yes, no and not sure become the status that means it, one label for each inquiry", () => {
  const questions = [asked("symptom", { value: ["fever", "night sweats"] }), asked("travel")];
  for (const [meaning, status] of [["yes", "yes"], ["no", "no"], ["unsure", "not sure"]]) {
    const labels = answerLabels(questions, slotOf, "inform", 1, meaning);
    assert.deepEqual(labels.map(({ slot, answers }) => [slot, answers]), [
      ["symptom", { value: ["fever", "night sweats"], status }],
      ["travel", { status }],
    ]);
    assert.ok(labels.every((item) => item.origin === "answer key" && item.position === 1 && item.intent === "inform"));
  }
});

test("of several answers with one meaning, that which a bare yes or no stands for, else the first", () => {
  const status = { name: "status", kind: "choice", choices: [["still", "yes"], ["never", "no"], ["yes", "yes", true], ["no", "no"]].map(([name, meaning, bare]) => ({ name, meaning, bare: Boolean(bare), older: false })) };
  const history = { name: "history", head: "value", status: "status", fields: [{ name: "value", kind: "values" }, status] };
  const answered = (meaning) => answerLabels([asked("history", { value: ["asthma"] })], () => history, "inform", 1, meaning)[0].answers.status;
  assert.deepEqual([answered("yes"), answered("no")], ["yes", "never"]);
});

test("the place that was asked about comes along, other checked answers do not", () => {
  const question = asked("symptom", { value: ["pain"], location: ["chest"], onset: "yesterday" });
  assert.deepEqual(answerLabels([question], slotOf, "inform", 1, "no")[0].answers, { value: ["pain"], status: "no", location: ["chest"] });
});

test("an inquiry without a value or in a slot without a status cannot be answered with one key", () => {
  assert.deepEqual(answerLabels([asked("symptom"), asked("residence", { value: "flat" })], slotOf, "inform", 1, "yes"), []);
});

test("what the turn has answered is not asked any more, what it has not still is", () => {
  const questions = [asked("symptom", { value: ["fever"] }), asked("symptom", { value: ["cough"] })];
  const model = new Model(pageData([...questions, label(1, "inform", "symptom", { value: ["fever"], status: "no" })]));
  assert.deepEqual(unanswered(model, 1).map((item) => item.answers.value), [["cough"]]);
});

test("the form that answers takes over what was asked and puts the ticked questions first", () => {
  const form = answerForm(asked("symptom", { value: ["pain"], location: ["knee"] }, ["onset", "severity"]), slotOf("symptom"), "inform", "patient");
  assert.deepEqual(form, { intent: "inform", slot: "symptom", answers: { value: ["pain"], location: ["knee"], status: "yes" }, checks: [], asked: ["onset", "severity"] });
  assert.equal(answerForm(null, slotOf("symptom"), "inform", "patient"), null);
});

test("the usual intent of the speaker, with Shift the other one, or the one that only this speaker has", () => {
  const intent = (slot, speaker, shifted) => intentFor(QUESTIONNAIRE, slotOf(slot), speaker, shifted);
  assert.equal(intent("symptom", "doctor", false), "inquire");
  assert.equal(intent("symptom", "doctor", true), "inform");
  assert.equal(intent("symptom", "patient", false), "inform");
  assert.equal(intent("symptom", "patient", true), "inquire");
  assert.equal(intent("disease", "doctor", true), "diagnosis");
  assert.equal(intent("disease", "doctor", false), "inform");
  assert.equal(intentFor(QUESTIONNAIRE, { intents: ["diagnosis"] }, "patient", false), "");
});

test("an intent that only one speaker has is entered with Shift on its slot's key", () => {
  assert.deepEqual(ownIntents(QUESTIONNAIRE), [{ slot: "disease", intent: "diagnosis", speaker: "doctor" }]);
});

test("what answers is the usual intent, unless that one asks", () => {
  assert.equal(informing(QUESTIONNAIRE, "patient"), "inform");
  assert.equal(informing(QUESTIONNAIRE, "doctor"), "inform");
  assert.equal(informing(QUESTIONNAIRE, "somebody"), "inform");
});

test("an empty form begins with the speaker's usual intent and no slot", () => {
  assert.deepEqual(emptySeed(QUESTIONNAIRE, "doctor"), { intent: "inquire", slot: "" });
});

test("a patient's symptom starts at yes, a doctor's and an inquiry's at nothing", () => {
  assert.deepEqual(defaults(slotOf("symptom"), "patient", "inform", false), { status: "yes" });
  assert.deepEqual(defaults(slotOf("symptom"), "doctor", "inform", false), {});
  assert.deepEqual(defaults(slotOf("symptom"), "patient", "inquire", true), {});
});
