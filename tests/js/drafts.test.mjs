import assert from "node:assert/strict";
import test from "node:test";

import { Drafts } from "../../static/annotation/js/drafts.js";
import { KeyedStore } from "../../static/annotation/js/storage.js";
import { FakeStorage } from "./fakes.mjs";

const draft = (key, position, more = {}) => ({ key, position, seed: { position, slot: "symptom" }, open: false, ...more });
const make = (storage = new FakeStorage()) => [new Drafts(new KeyedStore("drafts", () => storage)), storage];

test("a draft survives a reload", () => {
  const [drafts, storage] = make();
  assert.equal(drafts.put(draft("a", 3)), true);
  const [again] = make(storage);
  assert.deepEqual(again.at(3), draft("a", 3));
  assert.ok(again.has(3) && !again.has(4));
});

test("two drafts of one utterance live side by side, the newest first", () => {
  const [drafts] = make();
  drafts.put(draft("a", 3));
  drafts.put(draft("b", 3));
  assert.equal(drafts.at(3).key, "b");
  drafts.remove("b");
  assert.equal(drafts.at(3).key, "a");
  drafts.remove("a");
  assert.equal(drafts.at(3), null);
});

test("only a form that was on the screen opens again, the last one", () => {
  const [drafts] = make();
  drafts.put(draft("a", 3, { open: true }));
  drafts.put(draft("b", 4, { open: true }));
  drafts.put(draft("c", 5));
  assert.equal(drafts.open.key, "b");
  drafts.put(draft("b", 4));
  assert.equal(drafts.open.key, "a");
});

test("drafts of a form that an older release kept are passed over", () => {
  const storage = new FakeStorage();
  storage.setItem("drafts", JSON.stringify([{ position: 1, seed: {} }, { key: "x" }, draft("a", 2)]));
  const [drafts] = make(storage);
  assert.deepEqual(drafts.items.map(({ key }) => key), ["a"]);
});

test("in a full storage a draft lives on in the page, which is told", () => {
  const [drafts, storage] = make();
  storage.full = true;
  assert.equal(drafts.put(draft("a", 3)), false);
  assert.ok(drafts.has(3));
});
