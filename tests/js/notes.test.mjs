// What the workbench makes of the news.

import assert from "node:assert/strict";
import { test } from "node:test";

import { newsInWords, notesAbout } from "../../static/annotation/js/notes.js";

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
  concerns: answers.map((texts, index) => ({ id: index + 1, position: 10 + index, answers: texts })),
  returned: Array(returned).fill({}),
});

test("an answer is said with its utterance, and what was there before is not said again", () => {
  assert.equal(newsInWords(news([[], ["a"]]), news([["b"], ["a"]])), "Your question about utterance 10 was answered.");
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
