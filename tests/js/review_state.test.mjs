import assert from "node:assert/strict";
import test from "node:test";

import { afterDrop, inOrder } from "../../static/umls_linker/js/review_cards.js";
import { keysFor } from "../../static/umls_linker/js/review_keys.js";
import { Panels } from "../../static/umls_linker/js/review_panels.js";
import { holdsFor, inWords, nextUndecided, progressOf, step, typesByFit } from "../../static/umls_linker/js/review_state.js";

const ROWS = [
  { id: 1, state: "decided" },
  { id: 2, state: "open" },
  { id: 3, state: "nil" },
  { id: 4, state: "shortlisted" },
  { id: 5, state: "waiting" },
  { id: 6, state: "asked" },
];

test("the next undecided value is the one below, and round the end the first", () => {
  assert.equal(nextUndecided(ROWS, 2), 4);
  assert.equal(nextUndecided(ROWS, 4), 6);
  assert.equal(nextUndecided(ROWS, 6), 2);
  assert.equal(nextUndecided(ROWS, null), 2);
  assert.equal(nextUndecided(ROWS, 99), 2);
});

test("what was decided a moment ago is passed over; with nothing left there is no next", () => {
  assert.equal(nextUndecided(ROWS, 2, new Set([4])), 6);
  assert.equal(nextUndecided(ROWS, 2, new Set([2, 4, 6])), null);
  assert.equal(nextUndecided([{ id: 2, state: "open" }], 2), null);
  assert.equal(nextUndecided([], null), null);
});

test("steps stay within the queue", () => {
  assert.equal(step(ROWS, 1, 1), 2);
  assert.equal(step(ROWS, 1, -1), 1);
  assert.equal(step(ROWS, 6, 1), 6);
  assert.equal(step(ROWS, 99, 1), 1);
  assert.equal(step([], 1, 1), null);
});

test("progress speaks of candidates while they are looked up, then of decisions", () => {
  const known = { forms: 460, linked: 412, waiting: 0, decided: 10, nil: 2, proposed: 1, open: 447 };
  assert.deepEqual(progressOf(known), { text: "412 of 460 values have candidates · 13 of 460 decided (2 without a concept) · 447 open", done: 412, all: 460 });
  assert.equal(progressOf({ ...known, waiting: 1 }).text, "412 of 460 values have candidates, 1 set of labels to read · 13 of 460 decided (2 without a concept) · 447 open");
  assert.deepEqual(progressOf({ ...known, linked: 460 }), { text: "13 of 460 decided (2 without a concept) · 447 open", done: 13, all: 460 });
  assert.equal(progressOf({ ...known, linked: 460, nil: 0 }).text, "11 of 460 decided · 447 open");
  assert.equal(progressOf({ forms: 0, linked: 0, waiting: 0, decided: 0, nil: 0, proposed: 0, open: 0 }).text, "no values yet");
  assert.equal(progressOf({ forms: 0, linked: 0, waiting: 2, decided: 0, nil: 0, proposed: 0, open: 0 }).text, "reading labels…");
});

test("the button of a preview says for how many occurrences it holds", () => {
  assert.deepEqual([holdsFor(0, 0), holdsFor(1, 1), holdsFor(3, 3), holdsFor(2, 3)], ["Decide", "Decide for the one occurrence", "Decide for all 3 occurrences", "Decide for 2 of 3 occurrences"]);
});

test("requests that wait have names", () => {
  assert.equal(inWords({ path: "decide" }, "soboe"), "your decision about “soboe”");
  assert.equal(inWords({ path: "shortlist", body: { cui: "C1", verdict: "drop" } }), "dropping C1");
  assert.equal(inWords({ path: "shortlist", body: { cui: "C1", verdict: "keep" }, name: "Cough" }), "keeping “Cough”");
});

test("a curator is offered no key that decides, a supervisor none that shortlists", () => {
  const actions = (may) => new Set(keysFor(may).map((key) => key.action));
  const curator = actions({ decides: false, shortlists: true });
  for (const action of ["nil", "propose", "undo", "revert"]) assert.equal(curator.has(action), false, action);
  assert.equal(curator.has("keep"), true);
  const supervisor = actions({ decides: false, shortlists: false });
  assert.equal(supervisor.has("keep"), false);
  assert.equal(supervisor.has("ask"), true);
  const keys = keysFor({ decides: true, shortlists: true }).flatMap((key) => key.keys);
  assert.equal(new Set(keys).size, keys.length, "each key stands for one thing");
});

test("a part is fetched once until it is forgotten, and a failure is not kept", async () => {
  let [asked, status] = [0, 200];
  const panels = new Panels(async () => ((asked += 1), { status, text: async () => `part ${asked}` }));
  assert.equal(await panels.get(1, "/1/"), "part 1");
  assert.equal(await panels.get(1, "/1/"), "part 1");
  panels.forget(1);
  status = 503;
  await assert.rejects(panels.get(1, "/1/"), { status: 503 });
  status = 200;
  assert.equal(await panels.get(1, "/1/"), "part 3");
  panels.forgetAll();
  assert.equal(await panels.get(1, "/1/"), "part 4");
});

test("candidates keep their places, and new ones come after them", () => {
  assert.deepEqual(inOrder(["C2", "C3", "C1"], ["C1", "C2", "C3"]), ["C1", "C2", "C3"]);
  assert.deepEqual(inOrder(["C9", "C8", "C2"], ["C1", "C2"]), ["C2", "C9", "C8"]);
});

test("after a candidate is dropped the next one that is not dropped is chosen, at the end the one before", () => {
  assert.equal(afterDrop(["", "drop", "drop", "keep"], 1), 3);
  assert.equal(afterDrop(["", "drop", "drop"], 2), 0);
  assert.equal(afterDrop(["drop"], 0), 0);
});

test("semantic types that fit come first, in their order, and each type once", () => {
  const groups = [
    { name: "Disorders", types: [["T047", "Disease"], ["T033", "Finding"], ["T184", "Sign"]] },
    { name: "Anatomy", types: [["T023", "Body part"]] },
    { name: "Devices", types: [["T074", "Device"]] },
  ];
  const found = typesByFit(groups, ["T184", "T033", "T074", "T999"], "Usual for: symptom");
  assert.deepEqual(found, [
    { name: "Usual for: symptom", types: [["T184", "Sign"], ["T033", "Finding"], ["T074", "Device"]] },
    { name: "Disorders", types: [["T047", "Disease"]] },
    { name: "Anatomy", types: [["T023", "Body part"]] },
  ]);
  assert.deepEqual(typesByFit(groups, [""], "Usual"), groups);
});

test("one occurrence alone has keys, for who decides", () => {
  const keys = (may) => keysFor(may).flatMap((row) => row.keys);
  assert.ok(keys({ decides: true, shortlists: true }).includes("o"));
  assert.ok(!keys({ decides: false, shortlists: true }).includes("o"));
  const all = keys({ decides: true, shortlists: true });
  assert.equal(new Set(all).size, all.length);
});
