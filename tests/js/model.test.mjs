import assert from "node:assert/strict";
import test from "node:test";

import { Model, sameLabel } from "../../static/annotation/js/model.js";
import { label, pageData, QUESTIONNAIRE } from "./questionnaire.mjs";

const SYMPTOM = QUESTIONNAIRE.slots[0];
const field = (name) => SYMPTOM.fields.find((item) => item.name === name);
const suggested = (model, name, text, { chosen = [], position = 1 } = {}) => model.suggest(field(name), SYMPTOM, text, chosen, position);
const values = (...args) => suggested(...args).map((item) => item.value);

test("a label that is put stands in the order of making, and is found again", () => {
  const old = label(1, "inform", "symptom", { value: ["cough"], status: "yes" });
  const model = new Model(pageData([old]));
  model.put({ ...label(1, "inform", "symptom", { value: ["fever"], status: "no" }), id: "new", rank: undefined });
  assert.deepEqual(model.labelsAt(1).map((item) => item.id), [old.id, "new"]);
  model.put({ ...old, answers: { value: ["head ache"] } });
  assert.deepEqual(model.labelsAt(1).map((item) => item.id), [old.id, "new"]);
  assert.equal(model.find("new").position, 1);
  assert.equal(model.remove("new").position, 1);
  assert.equal(model.find("new"), null);
  assert.equal(model.remove("new"), null);
});

test("what the portal says replaces an utterance's labels and nothing else", () => {
  const [one, other] = [label(1, "inform", "travel", { status: "no" }), label(3, "inform", "travel", { status: "yes" })];
  const model = new Model(pageData([one, other]));
  model.take({ 1: [] });
  assert.deepEqual(model.labelsAt(1), []);
  assert.deepEqual(model.labelsAt(3), [other]);
});

test("the values an utterance names become chips; a slot of one speaker's intent loses a tie", () => {
  const model = new Model(pageData());
  assert.deepEqual(model.chips(1).map(({ slot, value }) => [slot, value]), [["symptom", "fever"], ["symptom", "cough"]]);
  assert.equal(model.chips(1), model.chips(1));
});

test("an empty field offers the utterance first, then the dialogue so far, then the list", () => {
  const model = new Model(pageData([label(0, "inquire", "symptom", { value: ["dizziness"] })]));
  assert.deepEqual(suggested(model, "value", "").map(({ value, note, near }) => [value, note, near]), [
    ["fever", "in this utterance", true],
    ["cough", "in this utterance", true],
    ["dizziness", "so far", true],
    ["head ache", "", false],
    ["night sweats", "", false],
  ]);
});

test("a value that is chosen is not offered again", () => {
  assert.ok(!values(new Model(pageData()), "value", "", { chosen: ["Fever"] }).includes("fever"));
});

test("values so far come before the list, but an exact match comes before all", () => {
  const model = new Model(pageData([label(0, "inquire", "symptom", { value: ["coughing fits"] })]));
  assert.deepEqual(values(model, "value", "cou").slice(0, 2), ["coughing fits", "cough"]);
  assert.equal(values(model, "value", "cough")[0], "cough");
});

test("a closed list may be taken blindly, a free text never", () => {
  const model = new Model(pageData([label(0, "inquire", "symptom", { value: ["cough"], onset: "two days ago" })]));
  assert.equal(suggested(model, "value", "feve")[0].strong, true);
  assert.equal(suggested(model, "value", "fevre")[0].strong, false);
  assert.ok(suggested(model, "onset", "two").every((item) => !item.strong));
});

test("a scale offers the utterance's numbers, written or spoken, a text its expressions of time", () => {
  const model = new Model(pageData());
  assert.deepEqual(values(model, "severity", ""), ["2", "8"]);
  assert.ok(values(model, "onset", "").includes("two weeks") || values(model, "onset", "").includes("for two weeks"));
});

test("a long list never gives more than nine", () => {
  const model = new Model(pageData());
  model.lists.set("symptoms", Array.from({ length: 50 }, (_, index) => ({ value: `pain ${index}`, names: [[`pain ${index}`, `pain ${index}`]] })));
  assert.equal(values(model, "value", "pain").length, 9);
});

test("a label in words says intent, values, status, the rest and what is asked", () => {
  const model = new Model(pageData());
  assert.equal(model.words(label(1, "inform", "symptom", { value: ["cough"], status: "no", onset: "today" })), "inform symptom · cough · no · onset: today");
  assert.equal(model.words(label(0, "inquire", "symptom", {}, { checks: ["onset"] })), "inquire symptom · onset?");
  assert.equal(model.words(label(0, "gone", "lost", { x: [{ value: "a", rating: "" }] })), "gone lost · x: a");
  assert.equal(model.words(null), "no label");
});

test("a label on its way is shown with its status and details", () => {
  const row = new Model(pageData()).pendingRow(label(1, "inform", "symptom", { value: ["cough"], status: "no", characteristics: [{ value: "dry", rating: "yes" }] }));
  assert.deepEqual([row.values, row.status, row.sign, row.details], [["cough"], "no", "−", [["characteristics", "dry", false]]]);
});

test("labels are the same whatever the order of their questions, and not when a value, a tick or what was kept differs", () => {
  const one = label(1, "inform", "symptom", { value: ["a", "b"], status: "no" }, { checks: ["onset", "value"] });
  assert.ok(sameLabel(one, { ...one, id: "x", rank: 9, answers: { status: "no", value: ["a", "b"] }, checks: ["value", "onset"] }));
  for (const other of [{ answers: { value: ["b", "a"], status: "no" } }, { checks: ["onset"] }, { kept: { odd: 1 } }, { slot: "travel" }, { intent_name: "x" }, { position: 2 }]) {
    assert.ok(!sameLabel(one, { ...one, ...other }), JSON.stringify(other));
  }
});

test("values whose names begin alike are told apart by other words for them, others are not", () => {
  const data = pageData();
  data.questionnaire = { ...QUESTIONNAIRE, lists: { ...QUESTIONNAIRE.lists, symptoms: [["general enquiry", "open question"], ["general", "overall health"], ["cough", "coughing"]] } };
  const notes = (text) => suggested(new Model(data), "value", text).map((item) => [item.value, item.note]);
  assert.deepEqual(notes("general"), [["general", "overall health"], ["general enquiry", "open question"]]);
  assert.deepEqual(notes("cough")[0], ["cough", ""]);
});
