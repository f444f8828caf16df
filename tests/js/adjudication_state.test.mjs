// What is open, where one goes next, and what can be chosen.

import assert from "node:assert/strict";
import { test } from "node:test";

import { CaseState, choicesOf, isOpen, sidesOf } from "../../static/annotation/js/adjudication_state.js";

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
