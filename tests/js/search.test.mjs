import assert from "node:assert/strict";
import test from "node:test";

import { distance, fold, prepare, search } from "../../static/annotation/js/search.js";

const LIST = prepare([["head ache", "cephalgia"], ["headrest"], ["night sweats"], ["heart failure", "congestive heart failure", "CHF"], ["heart attack", "myocardial infarction"], ["déjà vu"], ["cough"], ["cough with blood"], ["knee(L)"]]);
const values = (text, limit) => search(LIST, text, limit).map((match) => match.value);

test("folding ignores case, accents, signs and runs of spaces", () => {
  assert.equal(fold("  Déjà--VU  (L)"), "deja vu l");
  assert.equal(fold(":~"), "");
});

test("the distance counts insertions, deletions, replacements and swaps, and gives up past its limit", () => {
  assert.equal(distance("cough", "cough", 2), 0);
  assert.equal(distance("cogh", "cough", 2), 1);
  assert.equal(distance("cuogh", "cough", 2), 1);
  assert.equal(distance("cxugh", "cough", 2), 1);
  assert.equal(distance("cough", "sneeze", 2), 3);
  assert.equal(distance("", "abc", 2), 3);
});

test("“headache” finds “head ache”, and the other way round", () => {
  assert.equal(values("headache")[0], "head ache");
  assert.equal(search(prepare([["headache"]]), "head ache")[0].value, "headache");
  assert.equal(values("heada")[0], "head ache");
});

test("an entry typed in full stays in the list, first and as an exact match", () => {
  const [first] = search(LIST, "cough");
  assert.deepEqual([first.value, first.exact], ["cough", true]);
  assert.deepEqual(values("cough"), ["cough", "cough with blood"]);
});

test("each further word narrows the search", () => {
  assert.deepEqual(values("heart"), ["heart failure", "heart attack"]);
  assert.deepEqual(values("heart f"), ["heart failure"]);
  assert.deepEqual(values("heart failure xyz"), []);
  assert.deepEqual(values("cough "), values("cough"));
});

test("words may come in any order", () => {
  assert.deepEqual(values("failure heart"), ["heart failure"]);
});

test("a synonym finds its value and is named; the value itself comes before synonyms", () => {
  assert.deepEqual(search(LIST, "chf")[0], { value: "heart failure", via: "CHF", strong: true, exact: true });
  assert.deepEqual(search(prepare([["other", "asthma"], ["asthma"]]), "asthma").map((match) => match.value), ["asthma", "other"]);
});

test("one typing error is forgiven from four letters on, and is not strong", () => {
  assert.deepEqual(search(LIST, "cuogh").map(({ value, strong }) => [value, strong])[0], ["cough", false]);
  assert.deepEqual(values("nihgt swaets"), ["night sweats"]);
  assert.deepEqual(values("cuo"), []);
});

test("signs are harmless", () => {
  for (const text of [":", "~", "\\", "(", "*", "[", ".", "  ", "<b>"]) assert.doesNotThrow(() => search(LIST, text));
  assert.deepEqual(values(":"), []);
  assert.deepEqual(values("cough:~"), values("cough"));
  assert.deepEqual(values("knee("), ["knee(L)"]);
});

test("accents and case do not matter", () => {
  assert.deepEqual(values("DEJA"), ["déjà vu"]);
});

test("no more than the limit, best first", () => {
  assert.equal(values("h", 2).length, 2);
  assert.deepEqual(values("cough", 1), ["cough"]);
});
