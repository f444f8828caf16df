import assert from "node:assert/strict";
import test from "node:test";

import { clashes, taken } from "../../static/annotation/js/key_clashes.js";

const row = (action, usual, own = "") => ({ action, title: action.toUpperCase(), own, usual });

test("an own key replaces all usual ones", () => {
  assert.deepEqual(taken(row("next", ["ArrowDown", "j"])), ["ArrowDown", "j"]);
  assert.deepEqual(taken(row("next", ["ArrowDown", "j"], "F4")), ["F4"]);
});

test("a slot takes its Shift variant too", () => {
  assert.deepEqual(taken(row("slot:symptom", ["s"], "x")), ["x", "Shift+x"]);
});

test("both actions on one key are named with the other's title", () => {
  const found = clashes([row("next", ["ArrowDown", "j"]), row("repeat", ["."], "j"), row("help", ["?"])]);
  assert.deepEqual([...found], [
    ["next", [{ key: "j", title: "REPEAT" }]],
    ["repeat", [{ key: "j", title: "NEXT" }]],
  ]);
});

test("a key on the Shift variant of a slot clashes", () => {
  const found = clashes([row("slot:symptom", ["s"]), row("repeat", ["."], "Shift+s")]);
  assert.deepEqual(found.get("repeat"), [{ key: "Shift+s", title: "SLOT:SYMPTOM" }]);
});

test("a usual key that was given up is free", () => {
  assert.equal(clashes([row("next", ["j"], "F4"), row("repeat", ["."], "j")]).size, 0);
});

test("keys of different pages never meet", () => {
  const on = (page, found) => ({ ...found, page });
  assert.equal(clashes([on("workbench", row("answer-no", ["n"])), on("adjudication", row("new", ["n"]))]).size, 0);
  assert.equal(clashes([on("adjudication", row("A", ["a"], "n")), on("adjudication", row("new", ["n"]))]).size, 2);
});
