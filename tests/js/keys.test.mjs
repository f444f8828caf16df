import assert from "node:assert/strict";
import test from "node:test";

import { keyNames, keysOf, matcher, typesText } from "../../static/annotation/js/keys.js";

const press = (key, code = "", more = {}) => ({ key, code, ctrlKey: false, altKey: false, metaKey: false, shiftKey: false, getModifierState: () => false, ...more });
const bindings = [
  { action: "slot:symptom", keys: ["s"] },
  { action: "next", keys: ["ArrowDown", "j"] },
  { action: "redo", keys: ["Shift+z", "Ctrl+y"] },
  { action: "undo", keys: ["z", "Ctrl+z"] },
  { action: "help", keys: ["?"] },
  { action: "next-unlabelled", keys: ["]"] },
  { action: "form-save", keys: ["Enter"], fixed: true },
];
const action = (event) => matcher(bindings)(event)?.action ?? null;

test("letters by what they write, whatever their place", () => {
  assert.equal(action(press("s", "KeyO")), "slot:symptom"); // a Dvorak keyboard
  assert.equal(action(press("o", "KeyS")), null);
});

test("CapsLock makes no difference, Shift does", () => {
  assert.deepEqual(matcher(bindings)(press("S", "KeyS")), { action: "slot:symptom", shifted: false });
  assert.deepEqual(matcher(bindings)(press("S", "KeyS", { shiftKey: true })), { action: "slot:symptom", shifted: true });
  assert.equal(action(press("Z", "KeyZ", { shiftKey: true })), "redo");
});

test("letters of another script by their place", () => {
  assert.equal(action(press("ы", "KeyS")), "slot:symptom");
  assert.deepEqual(matcher(bindings)(press("Ы", "KeyS", { shiftKey: true })), { action: "slot:symptom", shifted: true });
  assert.equal(action(press("я", "KeyZ", { ctrlKey: true })), "undo");
  assert.equal(action(press("ъ", "BracketRight")), "next-unlabelled");
});

test("signs by what they write", () => {
  assert.equal(action(press("?", "Slash", { shiftKey: true })), "help");
  assert.equal(action(press("?", "Minus", { shiftKey: true })), "help"); // a German keyboard
  assert.equal(action(press("/", "Slash")), null);
});

test("AltGr, which may be reported as Ctrl and Alt, belongs to the sign", () => {
  const altGr = { ctrlKey: true, altKey: true, getModifierState: (name) => name === "AltGraph" };
  assert.equal(action(press("]", "Digit9", altGr)), "next-unlabelled");
});

test("the command key counts as Ctrl, other modifiers are not overlooked", () => {
  assert.equal(action(press("z", "KeyZ", { metaKey: true })), "undo");
  assert.equal(action(press("s", "KeyS", { ctrlKey: true })), null);
  assert.equal(action(press("s", "KeyS", { altKey: true })), null);
});

test("keys of the form are no keys of the page, named keys are", () => {
  assert.equal(action(press("Enter")), null);
  assert.equal(action(press("ArrowDown")), "next");
  assert.equal(action(press("ArrowDown", "", { shiftKey: true })), null);
});

test("the names people read", () => {
  assert.deepEqual(keyNames("Ctrl+Shift+z"), ["Ctrl", "Shift", "z"]);
  assert.deepEqual(keyNames("ArrowDown"), ["↓"]);
  assert.deepEqual(keyNames("+"), ["+"]);
  assert.deepEqual(keyNames("Ctrl++"), ["Ctrl", "+"]);
  assert.deepEqual(keyNames(""), []);
});

test("which elements take typed text", () => {
  const element = (tagName, type = "") => ({ tagName, type, isContentEditable: false });
  for (const taker of [element("INPUT", "text"), element("TEXTAREA"), element("SELECT"), element("INPUT", "search")]) assert.ok(typesText(taker));
  for (const other of [element("INPUT", "radio"), element("INPUT", "checkbox"), element("BUTTON"), element("LI"), null]) assert.ok(!typesText(other));
});

test("the keys a capture field sees end with the Latin one", () => {
  assert.equal(keysOf(press("ы", "KeyS")).at(-1), "s");
});
