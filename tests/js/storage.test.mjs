import assert from "node:assert/strict";
import test from "node:test";

import { forget, KeyedStore, leftovers, prefixOf } from "../../static/annotation/js/storage.js";
import { FakeStorage } from "./fakes.mjs";

test("items survive in their order, an older one of the same key is replaced in its place", () => {
  const storage = new FakeStorage();
  const store = new KeyedStore("list", () => storage);
  store.put({ key: "a", n: 1 });
  store.put({ key: "b", n: 2 });
  store.put({ key: "a", n: 3 });
  assert.deepEqual(new KeyedStore("list", () => storage).load(), [{ key: "a", n: 3 }, { key: "b", n: 2 }]);
});

test("two tabs on one list do not take each other's items away", () => {
  const storage = new FakeStorage();
  const [one, other] = [new KeyedStore("list", () => storage), new KeyedStore("list", () => storage)];
  one.put({ key: "a" });
  other.put({ key: "b" });
  one.remove("a");
  assert.deepEqual(other.load(), [{ key: "b" }]);
});

test("an emptied list leaves nothing behind", () => {
  const storage = new FakeStorage();
  const store = new KeyedStore("list", () => storage);
  store.put({ key: "a" });
  store.remove("a");
  assert.deepEqual(Object.keys(storage), []);
});

test("a full storage is told and survived", () => {
  const storage = new FakeStorage();
  storage.full = true;
  const store = new KeyedStore("list", () => storage);
  assert.equal(store.put({ key: "a" }), false);
  assert.equal(store.broken, true);
  storage.full = false;
  assert.equal(store.put({ key: "a" }), true);
  assert.equal(store.broken, false);
});

test("a storage that may not even be asked for is survived", () => {
  const store = new KeyedStore("list", () => {
    throw new Error("SecurityError");
  });
  assert.deepEqual(store.load(), []);
  assert.equal(store.put({ key: "a" }), false);
  store.remove("a");
  assert.deepEqual(leftovers(1, store.open), { drafts: [], queues: [], unsent: 0 });
});

for (const spoilt of ["{", "null", '{"a": 1}', '[null, 3, {"n": 1}]']) {
  test(`a spoilt entry counts as empty: ${spoilt}`, () => {
    const storage = new FakeStorage();
    storage.setItem("list", spoilt);
    assert.deepEqual(new KeyedStore("list", () => storage).load(), []);
  });
}

test("what is left over is this person's alone", () => {
  const storage = new FakeStorage();
  const open = () => storage;
  new KeyedStore(`${prefixOf(1)}7:drafts`, open).put({ key: "a" });
  new KeyedStore(`${prefixOf(1)}7:queue`, open).put({ key: "b" });
  new KeyedStore(`${prefixOf(1)}8:queue`, open).put({ key: "c" });
  new KeyedStore(`${prefixOf(12)}7:queue`, open).put({ key: "d" });
  storage.setItem("another program", "x");
  const left = leftovers(1, open);
  assert.deepEqual(left, { drafts: ["anamnesis:1:7:drafts"], queues: ["anamnesis:1:7:queue", "anamnesis:1:8:queue"], unsent: 2 });
  forget([...left.drafts, ...left.queues], open);
  assert.deepEqual(Object.keys(storage).sort(), ["anamnesis:12:7:queue", "another program"]);
});
