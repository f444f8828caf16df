import assert from "node:assert/strict";
import test from "node:test";

import { VocabularyLookup } from "../../static/annotation/js/vocabulary.js";
import { FakeTimers, settle } from "./fakes.mjs";

const answering = (suggestions, status = 200) => ({ status, json: async () => ({ suggestions }) });

function lookup(fetcher) {
  const timers = new FakeTimers();
  const asked = [];
  const vocabulary = new VocabularyLookup("/suggest/", { fetcher: (url) => (asked.push(url), fetcher(url)), later: timers.later, never: timers.never });
  return { vocabulary, timers, asked };
}

test("it asks when the typing pauses, and once for the same text", async () => {
  const { vocabulary, timers, asked } = lookup(async () => answering([{ value: "cough", note: "" }]));
  const first = vocabulary.suggest("symptom", "value", "cou");
  assert.deepEqual(asked, []);
  await timers.ring();
  assert.deepEqual(await first, [{ value: "cough", note: "" }]);
  assert.deepEqual(await vocabulary.suggest("symptom", "value", "cou"), [{ value: "cough", note: "" }]);
  assert.deepEqual(asked, ["/suggest/?slot=symptom&field=value&q=cou"]);
});

test("a text that was typed over is not asked for", async () => {
  const { vocabulary, timers, asked } = lookup(async () => answering([]));
  const stale = vocabulary.suggest("symptom", "value", "co");
  const fresh = vocabulary.suggest("symptom", "value", "cou");
  assert.deepEqual(await stale, []);
  assert.equal(timers.waiting.length, 1);
  await timers.ring();
  await fresh;
  assert.equal(asked.length, 1);
});

test("one letter asks nothing", async () => {
  const { vocabulary, timers } = lookup(async () => answering([]));
  assert.deepEqual(await vocabulary.suggest("symptom", "value", " c "), []);
  assert.equal(timers.waiting.length, 0);
});

for (const [what, fetcher] of Object.entries({
  "no connection": () => Promise.reject(new TypeError("offline")),
  "a server error": async () => answering([], 500),
  "signed out": async () => ({ status: 0 }),
  "a page instead of data": async () => ({ status: 200, json: () => Promise.reject(new SyntaxError("no JSON")) }),
  "data of another shape": async () => ({ status: 200, json: async () => ({}) }),
})) {
  test(`${what} means no suggestions, and the next time is tried again`, async () => {
    const { vocabulary, timers, asked } = lookup(fetcher);
    for (const number of [1, 2]) {
      const found = vocabulary.suggest("symptom", "value", "cough");
      await timers.ring();
      await settle();
      assert.deepEqual(await found, []);
      assert.equal(asked.length, number);
    }
  });
}
