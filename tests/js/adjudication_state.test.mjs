// What is open, where one goes next, and what can be chosen.

import assert from "node:assert/strict";
import { test } from "node:test";

import { CaseState, choicesOf, decisionWords, editedWords, isOpen, isOvertaken, overtakenWords, sidesOf, stampOf, startOf } from "../../static/annotation/js/adjudication_state.js";

const item = (key, outcome, decision = null) => ({ key, outcome, a: outcome === "only B" ? [] : [{}], b: outcome === "only A" ? [] : [{}], decision });
const decided = { resolution: "A", labels: [] };

const state = () =>
  new CaseState({
    review: false,
    turns: [0, 1, 2, 3].map((position) => ({ position })),
    utterances: {
      1: { items: [item("x", "agreed"), item("y", "differs")], gold: [], stale: false },
      2: { items: [item("z", "only A", decided)], gold: [], stale: false },
      3: { items: [item("v", "only B"), item("w", "differs")], gold: [], stale: true },
    },
  });

test("what both agree on and what is decided is not open", () => {
  assert.deepEqual(state().conflicts().map(({ item: { key } }) => key), ["y", "z", "v", "w"]);
  assert.equal(state().left, 3);
  assert.equal(isOpen(item("n", "added")), false);
});

test("the next open conflict is found in both directions and goes round", () => {
  const found = state();
  const go = (position, index, by) => {
    const place = found.nextOpen({ position, index }, by);
    return [place.position, place.index];
  };
  assert.deepEqual(go(-1, -1, 1), [1, 1]);
  assert.deepEqual(go(1, 1, 1), [3, 0]);
  assert.deepEqual(go(3, 0, 1), [3, 1]);
  assert.deepEqual(go(3, 1, 1), [1, 1]);
  assert.deepEqual(go(3, 0, -1), [1, 1]);
  assert.deepEqual(go(1, 1, -1), [3, 1]);
});

test("when everything is decided there is no next one, and one starts at the first conflict", () => {
  const found = state();
  for (const place of found.conflicts()) place.item.decision = decided;
  assert.equal(found.nextOpen({ position: 0, index: 0 }, 1), null);
  assert.equal(found.start().position, 1);
});

test("an utterance says what is open and what has changed", () => {
  assert.equal(state().note(1), "1 to decide");
  assert.equal(state().note(2), "");
  assert.equal(state().note(3), "2 to decide · changed since, open again");
});

test("only what fits can be chosen", () => {
  assert.deepEqual(choicesOf(item("a", "differs"), false), ["A", "B", "both", "edited", "new", "none"]);
  assert.deepEqual(choicesOf(item("a", "only B"), false), ["B", "edited", "new", "none"]);
  assert.deepEqual(choicesOf(item("a", "only A"), true), ["A", "edited", "new", "none"]);
  assert.deepEqual(choicesOf(item("a", "agreed"), false), ["agreed", "edited", "new", "none"]);
  assert.deepEqual(choicesOf(item("a", "added"), false), ["edited", "none"]);
  assert.deepEqual(choicesOf(null, false), ["new"]);
  assert.deepEqual(sidesOf(item("a", "only B")), ["b"]);
});

test("in a review a label is accepted, or was not looked at", () => {
  assert.equal(decisionWords({ resolution: "A" }, false), "took A");
  assert.equal(decisionWords({ resolution: "A" }, true), "accepted");
  assert.equal(decisionWords({ resolution: "none" }, true), "not accepted");
  assert.equal(decisionWords({ resolution: "A", unseen: true }, true), "not looked at");
});

test("a decision is overtaken only where somebody decided on the same item since", () => {
  const found = state();
  const entry = (position, pairing, base = "") => ({ path: "decide", base, body: { decisions: [{ position, pairing, resolution: "none" }] } });
  assert.equal(isOvertaken(entry(3, "v"), found), false);
  assert.equal(isOvertaken(entry(3, ""), found), false); // a label written beside
  assert.equal(isOvertaken(entry(3, "gone"), found), true);
  assert.equal(isOvertaken(entry(2, "z"), found), true); // decided since
  assert.equal(isOvertaken(entry(2, "z", stampOf(found.item(2, "z"))), found), false);
  for (const path of ["undo", "finish", "reopen"]) assert.equal(isOvertaken({ path, body: {} }, found), true);
});

test("what was overtaken is said with who decided what", () => {
  const found = state();
  const entry = { path: "decide", base: "", body: { decisions: [{ position: 2, pairing: "z", resolution: "none" }] } };
  found.item(2, "z").decision = { resolution: "B", by: "dora", at: "2026-01-01", labels: [] };
  assert.equal(overtakenWords(entry, found, false), "Utterance 2: dora took B meanwhile. Yours (took none) was not saved.");
  found.item(2, "z").decision.by = "you";
  assert.equal(overtakenWords(entry, found, false), "Utterance 2: you took B in another tab. Yours (took none) was not saved.");
  found.item(2, "z").decision = null;
  assert.match(overtakenWords(entry, found, false), /^Utterance 2 has changed meanwhile/);
  assert.match(overtakenWords({ path: "undo", body: {} }, found, false), /^Nothing was taken back/);
});

test("what a review does not look at is no conflict that is open, and is told apart", () => {
  const found = state();
  found.item(2, "z").decision = { resolution: "A", labels: [], unseen: true };
  assert.equal(found.isUnseenAt(2), true);
  assert.equal(found.isUnseenAt(3), false);
  assert.equal(found.isOpenAt(2), false);
  assert.equal(stampOf(found.item(2, "z")), "");
});

test("an utterance of which nothing became gold says so, and so does one whose label is gone", () => {
  const found = state();
  found.item(2, "z").decision = { resolution: "none", labels: [] };
  assert.equal(found.note(2), "decided: no label");
  found.utterances[0] = { items: [], gold: [], stale: false, earlier: [{ resolution: "A" }] };
  assert.equal(found.note(0), "changed since it was decided");
});

test("an edit says whose label it starts from", () => {
  const words = (found, review = false) => editedWords(startOf(found), found, review);
  assert.equal(words(item("x", "differs")), "Editing a copy of A’s label.");
  assert.equal(words(item("x", "only B")), "Editing a copy of B’s label.");
  assert.equal(words(item("x", "differs", { resolution: "B", labels: [] })), "Editing a copy of B’s label.");
  assert.equal(words(item("x", "differs", { resolution: "edited", labels: [{}] })), "Editing the label that was decided.");
  assert.equal(words(item("x", "agreed")), "Editing a copy of the label that both agree on.");
  assert.equal(words(item("x", "only A"), true), "Editing a copy of the annotator’s label.");
});
