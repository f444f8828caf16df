// What the workbench makes of the news.

import assert from "node:assert/strict";
import { test } from "node:test";

import { concernToReplyTo, newsInWords, notesAbout, toLookAt } from "../../static/annotation/js/notes.js";

const general = { intent: "", slot: "", text: "general" };
const slot = { intent: "", slot: "symptom", text: "slot" };
const both = { intent: "inform", slot: "symptom", text: "both" };
const notes = [general, slot, both];

test("a note matters where its intent and its slot are, and everywhere when it names none", () => {
  assert.deepEqual(notesAbout(notes, "inform", "symptom"), notes);
  assert.deepEqual(notesAbout(notes, "inquire", "symptom"), [general, slot]);
  assert.deepEqual(notesAbout(notes, "inform", "habit"), [general]);
  assert.deepEqual(notesAbout(notes, "inform", undefined), [general]);
  assert.deepEqual(notesAbout(notes, undefined, undefined), notes);
});

const news = (answers, returned = 0) => ({
  concerns: answers.map((texts, index) => ({ id: index + 1, position: 10 + index, messages: texts.map((text) => ({ own: false, text })) })),
  returned: Array(returned).fill({}),
});

test("an answer is said with its utterance, and what was there before is not said again", () => {
  assert.equal(newsInWords(news([[], ["a"]]), news([["b"], ["a"]])), "Your concern about utterance 10 was answered.");
  assert.match(newsInWords(news([["a"]]), news([["a", "b"]])), /utterance 10/);
  assert.equal(newsInWords(news([["a"]]), news([["a"]])), "");
  assert.equal(newsInWords(news([]), news([[]])), ""); // one's own new question
});

test("questions that came back are counted, and their end is said", () => {
  assert.match(newsInWords(news([], 0), news([], 1)), /^A question came back/);
  assert.match(newsInWords(news([], 1), news([], 3)), /^2 questions came back/);
  assert.equal(newsInWords(news([], 3), news([], 2)), "");
  assert.match(newsInWords(news([], 2), news([], 0)), /^All questions/);
});

test("a reply goes to the last question of the utterance that is not closed", () => {
  const concern = (id, position, status) => ({ id, position, status });
  const concerns = [concern(1, 5, "answered"), concern(2, 5, "open"), concern(3, 5, "closed"), concern(4, 7, "closed")];
  assert.equal(concernToReplyTo(concerns, 5).id, 2);
  assert.equal(concernToReplyTo(concerns, 7).id, 4);
  assert.equal(concernToReplyTo(concerns, 6), null);
});

test("a question and the gap it asks about are one thing, other gaps and contradictions stay", () => {
  const gap = (label, rule, message) => ({ kind: "incomplete", position: 3, label, rule, message });
  const returned = [{ position: 3, label: "l", rule: "status", question: "Symptom “fever” has no status. Which one applies?" }];
  const other = [gap("l", "head", "no head"), gap("m", "status", "symptom “fever” has no status"), { kind: "contradiction", position: 3, label: "", rule: "", message: "both" }];
  const same = toLookAt([gap("l", "status", "symptom “fever” has no status"), ...other], returned);
  assert.deepEqual(same.problems, other);
  assert.deepEqual(same.questions, [{ ...returned[0], gaps: [] }]);
  // The label says something else by now.
  assert.deepEqual(toLookAt([gap("l", "status", "symptom “chills” has no status")], returned).questions[0].gaps, ["symptom “chills” has no status"]);
  assert.deepEqual(toLookAt(other, []).problems, other);
});
