import assert from "node:assert/strict";
import test from "node:test";

import { Canon, placeDigest, wordingKey } from "../../static/annotation/js/concepts.js";

const SLOT = { name: "symptom", head: "value", fields: [{ name: "value", medical: true }, { name: "onset" }, { name: "location", medical: true }, { name: "characteristics", medical: true }] };
const BREATH = placeDigest("symptom", "value", "short of breath");

test("a wording is compared without case, accents kept, white space collapsed", () => {
  assert.equal(wordingKey("  Short  of\tBREATH "), "short of breath");
  assert.equal(wordingKey("De\u0301ja\u0300 Vu"), "déjà vu");
  assert.equal(wordingKey("Straße"), "strasse");
  assert.equal(wordingKey("  "), "");
});

test("digests are those of the portal", () => {
  assert.equal(placeDigest("symptom", "value", "short of breath"), "64b61cdad1db906a");
  assert.equal(placeDigest("symptom", "location", "Déjà  VU ½"), "0f722e3925229cd8");
});

test("a decided value of a label is found by slot, field and wording", () => {
  const canon = new Canon({ forms: { [BREATH]: ["C0013404", "Dyspnea"] } });
  const label = { id: "a", slot: "symptom", answers: { value: ["Short of breath", "cough"], onset: "short of breath", location: "short of breath" } };
  assert.deepEqual(canon.of(label, SLOT), [{ head: true, value: "Short of breath", cui: "C0013404", name: "Dyspnea" }]);
  assert.deepEqual(canon.of(label, null), []);
});

test("what was decided for one label comes before what was decided for its wording", () => {
  const canon = new Canon({ forms: { [BREATH]: ["C1", "One"] }, labels: { b: { [BREATH]: ["C2", "Two"] }, c: { [BREATH]: null } } });
  const name = (id) => canon.concept(id, "symptom", "value", "short of breath")?.name ?? null;
  assert.deepEqual(["a", "b", "c"].map(name), ["One", "Two", null]);
});

test("rated values and texts are looked at, and nothing where nothing is decided", () => {
  const place = placeDigest("symptom", "characteristics", "dry");
  const label = { id: "a", slot: "symptom", answers: { characteristics: [{ value: "dry", rating: "yes" }] } };
  assert.deepEqual(new Canon({ forms: { [place]: ["C3", "Dry"] } }).of(label, SLOT), [{ head: false, value: "dry", cui: "C3", name: "Dry" }]);
  assert.deepEqual(new Canon().of(label, SLOT), []);
});
