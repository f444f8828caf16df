import assert from "node:assert/strict";
import test from "node:test";

import { mergedProblems, mergedState } from "../../static/annotation/js/patient.js";

const ORDER = ["symptom", "habit", "travel"];
const entry = (value, since, more = {}) => ({ value, since, ...more });
const group = (slot, ...entries) => ({ slot, title: slot, entries });
const touched = (entries, positions = []) => ({ entries, positions });
const values = (groups) => groups.map(({ slot, entries }) => [slot, ...entries.map((item) => item.value)]);

test("what a save did not touch stays", () => {
  const before = [group("symptom", entry("cough", 1))];
  const after = mergedState(before, [group("symptom", entry("fever", 3))], touched([["symptom", "fever"]]), ORDER);
  assert.deepEqual(values(after), [["symptom", "cough", "fever"]]);
  assert.deepEqual(mergedState(before, [], touched([]), ORDER), before);
});

test("an entry that was touched and does not come again is gone, and a slot without entries with it", () => {
  const before = [group("symptom", entry("cough", 1), entry("fever", 3)), group("travel", entry("", 5))];
  const after = mergedState(before, [], touched([["symptom", "cough"], ["travel", ""]]), ORDER);
  assert.deepEqual(values(after), [["symptom", "fever"]]);
});

test("an entry that comes again takes the place of the old one", () => {
  const before = [group("symptom", entry("cough", 1, { onset: "two weeks" }))];
  const after = mergedState(before, [group("symptom", entry("cough", 1, { onset: "15 days" }))], touched([["symptom", "cough"]]), ORDER);
  assert.deepEqual(after[0].entries, [entry("cough", 1, { onset: "15 days" })]);
});

test("slots stand in the order of the questionnaire, entries in that of the dialogue", () => {
  const before = [group("symptom", entry("fever", 7)), group("travel", entry("", 1))];
  const parts = [group("symptom", entry("cough", 3)), group("habit", entry("smoking", 9))];
  const after = mergedState(before, parts, touched([["symptom", "cough"], ["habit", "smoking"]]), ORDER);
  assert.deepEqual(values(after), [["symptom", "cough", "fever"], ["habit", "smoking"], ["travel", ""]]);
});

test("an answer that says nothing of what it touched holds everything", () => {
  assert.deepEqual(mergedState([group("symptom", entry("cough", 1))], [], null, ORDER), []);
  assert.deepEqual(mergedProblems([{ kind: "incomplete", position: 1, entry: null }], [], null), []);
});

test("contradictions go with their entry, incomplete labels with their utterance", () => {
  const contradiction = { kind: "contradiction", position: 3, entry: ["symptom", "cough"] };
  const other = { kind: "contradiction", position: 5, entry: ["symptom", "fever"] };
  const gap = { kind: "incomplete", position: 5, entry: null };
  const all = [contradiction, other, gap];
  assert.deepEqual(mergedProblems(all, [], touched([["symptom", "cough"]], [3])), [other, gap]);
  assert.deepEqual(mergedProblems(all, [], touched([], [5])), [contradiction, other]);
  const fresh = { kind: "incomplete", position: 1, entry: null };
  assert.deepEqual(mergedProblems(all, [fresh], touched([], [1])), [fresh, ...all]);
});
