import assert from "node:assert/strict";
import test from "node:test";

import { SaveQueue, State } from "../../static/annotation/js/queue.js";
import { KeyedStore } from "../../static/annotation/js/storage.js";
import { FakeStorage, FakeTimers, settle } from "./fakes.mjs";

const item = (key) => ({ key, path: "changes", body: { changes: [key] } });
const saved = (version, more = {}) => ({ status: 200, body: { version, ...more } });
const LOST = "lost";

/** A portal that stores requests by key and answers from a script; LOST: nothing answered, "stored": the answer was lost. */
class Portal {
  constructor(script = []) {
    this.script = script;
    this.sent = [];
    this.stored = new Map();
    this.version = 0;
  }

  send = async (request, version) => {
    this.sent.push([request.key, version]);
    const planned = this.script.shift();
    if (planned === LOST) throw new TypeError("Failed to fetch");
    if (planned && planned !== "stored") return planned;
    const replayed = this.stored.has(request.key);
    if (!replayed) {
      if (version !== this.version) return { status: 409, body: { error: { code: "conflict", version: this.version } } };
      this.version += 1;
      this.stored.set(request.key, this.version);
    }
    if (planned === "stored") throw new TypeError("Failed to fetch");
    return saved(this.version, { replayed });
  };
}

function make(script, { storage = new FakeStorage(), version = 0 } = {}) {
  const portal = new Portal(script);
  const timers = new FakeTimers();
  const said = { states: [], saved: [], refused: [], conflicts: [], behind: 0 };
  const queue = new SaveQueue({
    store: new KeyedStore("queue", () => storage),
    version,
    send: portal.send,
    later: timers.later,
    never: timers.never,
    on: {
      state: (state, count) => said.states.push([state, count]),
      saved: (request) => said.saved.push(request.key),
      refused: (request, status) => said.refused.push([request.key, status]),
      conflict: (request) => said.conflicts.push(request.key),
      behind: () => (said.behind += 1),
    },
  });
  return { portal, timers, said, queue, storage };
}

test("requests go one after the other, in order, each against the version before", async () => {
  const { portal, queue, said } = make();
  for (const key of ["a", "b", "c"]) queue.add(item(key));
  await settle();
  assert.deepEqual(portal.sent, [["a", 0], ["b", 1], ["c", 2]]);
  assert.deepEqual(said.saved, ["a", "b", "c"]);
  assert.deepEqual(said.states.at(-1), [State.SAVED, 0]);
});

test("a request whose answer was lost is sent again under the same key and is stored once", async () => {
  const { portal, queue, timers, said } = make(["stored"]);
  queue.add(item("a"));
  await settle();
  assert.deepEqual(said.states.at(-1), [State.WAITING, 1]);
  await timers.ring();
  assert.deepEqual(portal.sent, [["a", 0], ["a", 0]]);
  assert.equal(portal.version, 1);
  assert.equal(queue.version, 1);
  assert.equal(said.behind, 0);
});

test("without a connection it waits longer each time, and at once less when told to", async () => {
  const { queue, timers, said } = make(Array(9).fill(LOST));
  queue.add(item("a"));
  await settle();
  const pauses = [];
  for (let round = 0; round < 7; round++) pauses.push(await timers.ring());
  assert.deepEqual(pauses, [1000, 2000, 4000, 8000, 15000, 30000, 30000]);
  queue.retry();
  await settle();
  assert.equal(timers.waiting.length, 1);
  assert.equal(await timers.ring(), 1000);
  assert.deepEqual(said.saved, ["a"]);
});

for (const status of [500, 502, 503, 408, 429]) {
  test(`${status} is tried again, and what follows keeps its place behind it`, async () => {
    const { portal, queue, timers, said } = make([{ status, body: null }]);
    queue.add(item("a"));
    queue.add(item("b"));
    await settle();
    assert.equal(portal.sent.length, 1);
    assert.deepEqual(said.states.at(-1), [State.WAITING, 2]);
    await timers.ring();
    assert.deepEqual(said.saved, ["a", "b"]);
  });
}

for (const body of [null, {}, { version: "1" }]) {
  test(`a page in between that answers 200 with ${JSON.stringify(body)} is not taken for the portal`, async () => {
    const { queue, timers, said } = make([{ status: 200, body }]);
    queue.add(item("a"));
    await settle();
    assert.deepEqual(said.states.at(-1), [State.WAITING, 1]);
    await timers.ring();
    assert.deepEqual(said.saved, ["a"]);
  });
}

test("what is added while waiting is counted and not sent ahead", async () => {
  const { portal, queue, said } = make([LOST]);
  queue.add(item("a"));
  await settle();
  queue.add(item("b"));
  await settle();
  assert.deepEqual(said.states.at(-1), [State.WAITING, 2]);
  assert.equal(portal.sent.length, 1);
});

test("a refused request is given up, told, and the next one goes on", async () => {
  const { queue, said, storage } = make([{ status: 400, body: { error: {} } }]);
  queue.add(item("a"));
  queue.add(item("b"));
  await settle();
  assert.deepEqual(said.refused, [["a", 400]]);
  assert.deepEqual(said.saved, ["b"]);
  assert.deepEqual(Object.keys(storage), []);
});

test("a dialogue that may not be changed refuses without being asked again", async () => {
  const { queue, said, portal } = make([{ status: 409, body: { error: { code: "not-editable" } } }]);
  queue.add(item("a"));
  await settle();
  assert.deepEqual(said.refused, [["a", 409]]);
  assert.deepEqual(said.conflicts, []);
  assert.equal(portal.sent.length, 1);
});

for (const status of [0, 401, 403, 404]) {
  test(`signed out (${status}): everything is kept until the person says try again`, async () => {
    const { queue, said, timers, storage } = make([{ status, body: null }]);
    queue.add(item("a"));
    await settle();
    queue.add(item("b"));
    await settle();
    assert.deepEqual(said.states.at(-1), [State.STOPPED, 2]);
    assert.equal(timers.waiting.length, 0);
    assert.equal(new KeyedStore("queue", () => storage).load().length, 2);
    queue.retry();
    await settle();
    assert.deepEqual(said.saved, ["a", "b"]);
  });
}

test("a conflict holds everything until one side is chosen: mine", async () => {
  const { portal, queue, said } = make();
  portal.version = 3;
  queue.add(item("a"));
  queue.add(item("b"));
  await settle();
  assert.deepEqual(said.conflicts, ["a"]);
  assert.equal(portal.sent.length, 1);
  queue.version = 3;
  queue.retry();
  await settle();
  assert.deepEqual(said.saved, ["a", "b"]);
});

test("a conflict holds everything until one side is chosen: theirs", async () => {
  const { portal, queue, said, storage } = make();
  portal.version = 3;
  queue.add(item("a"));
  queue.add(item("b"));
  await settle();
  queue.version = 3;
  queue.drop();
  await settle();
  assert.deepEqual(said.saved, ["b"]);
  assert.equal(portal.stored.has("a"), false);
  assert.deepEqual(Object.keys(storage), []);
});

test("a conflict that is settled at once lets what was not given up go on", async () => {
  const { portal, queue, said, storage } = make();
  portal.version = 3;
  queue.on.conflict = () => {
    queue.version = 3;
    queue.giveUp(queue.items.filter(({ key }) => key === "b"));
  };
  for (const key of ["a", "b", "c"]) queue.add(item(key));
  await settle();
  assert.deepEqual(said.saved, ["a", "c"]);
  assert.equal(portal.stored.has("b"), false);
  assert.deepEqual(Object.keys(storage), []);
  assert.deepEqual(said.states.at(-1), [State.SAVED, 0]);
});

test("a conflict that is left undecided comes back", async () => {
  const { portal, queue, said } = make();
  portal.version = 3;
  queue.add(item("a"));
  await settle();
  queue.retry();
  await settle();
  assert.deepEqual(said.conflicts, ["a", "a"]);
});

test("a replay that hides others' saves does not move the version on, so that the next save meets a conflict", async () => {
  const { portal, queue, timers, said } = make(["stored"]);
  queue.add(item("a"));
  queue.add(item("b"));
  await settle();
  portal.version = 5; // somebody else saved meanwhile
  await timers.ring();
  assert.equal(said.behind, 1);
  assert.deepEqual(said.saved, ["a"]);
  assert.deepEqual(said.conflicts, ["b"]);
  assert.equal(queue.version, 0);
});

test("what was not acknowledged is sent after a reload, under the same key and in order", async () => {
  const storage = new FakeStorage();
  const first = make([LOST], { storage });
  first.queue.add(item("a"));
  first.queue.add(item("b"));
  await settle();
  const second = make([], { storage });
  assert.equal(second.queue.pending, 2);
  await second.queue.run();
  assert.deepEqual(second.portal.sent, [["a", 0], ["b", 1]]);
  assert.deepEqual(Object.keys(storage), []);
});

test("a second tab that sends the same request leaves the first one's other requests in the storage", async () => {
  const storage = new FakeStorage();
  const first = make([LOST], { storage });
  first.queue.add(item("a"));
  await settle();
  const second = make([], { storage });
  first.queue.add(item("b"));
  await second.queue.run();
  assert.deepEqual(new KeyedStore("queue", () => storage).load().map(({ key }) => key), ["b"]);
});

test("a storage that is full does not keep anything from being sent", async () => {
  const storage = new FakeStorage();
  storage.full = true;
  const { queue, said } = make([], { storage });
  queue.add(item("a"));
  queue.add(item("b"));
  await settle();
  assert.deepEqual(said.saved, ["a", "b"]);
});

test("a listener that fails does not stop saving for good", async () => {
  const { queue, said } = make();
  const { saved: remember } = queue.on;
  queue.on.saved = () => {
    throw new Error("drawing failed");
  };
  await assert.rejects(queue.add(item("a")), /drawing failed/);
  queue.on.saved = remember;
  await queue.add(item("b"));
  assert.deepEqual(said.saved, ["b"]);
});
