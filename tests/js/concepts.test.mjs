import assert from "node:assert/strict";
import test from "node:test";

import { Canon, Concepts, wordingKey } from "../../static/annotation/js/concepts.js";

const SLOT = { name: "symptom", head: "value", fields: [{ name: "value", medical: true }, { name: "onset" }, { name: "location", medical: true }, { name: "characteristics", medical: true }] };
const DYSPNEA = ["C0013404", "Dyspnea"];

test("a wording is compared without case, accents kept, white space collapsed", () => {
  assert.equal(wordingKey("  Short  of\tBREATH "), "short of breath");
  assert.equal(wordingKey("De\u0301ja\u0300 Vu"), "déjà vu");
  assert.equal(wordingKey("Straße"), "strasse");
  assert.equal(wordingKey("  "), "");
});

test("a label is asked for with its medical values alone, rated ones and texts too", () => {
  const label = { id: "a", slot: "symptom", answers: { value: ["Short of breath", "cough"], onset: "now", location: "chest", characteristics: [{ value: "dry", rating: "yes" }] } };
  const canon = new Canon();
  const wanted = canon.wanted(label, SLOT);
  assert.deepEqual(wanted, [
    ["a", "symptom", "value", "Short of breath"],
    ["a", "symptom", "value", "cough"],
    ["a", "symptom", "location", "chest"],
    ["a", "symptom", "characteristics", "dry"],
  ]);
  assert.deepEqual(canon.wanted(label, null), []);
  canon.take(wanted.slice(0, 2), [DYSPNEA, null]);
  assert.deepEqual(canon.wanted(label, SLOT, true), wanted.slice(2));
  assert.deepEqual(canon.of(label, SLOT), [{ head: true, value: "Short of breath", cui: "C0013404", name: "Dyspnea" }]);
});

test("the same words of two labels may mean different things", () => {
  const canon = new Canon();
  const value = (id) => [id, "symptom", "value", "temp"];
  canon.take([value("a"), value("b"), value("c")], [["C1", "One"], ["C2", "Two"], null]);
  const name = (id) => canon.of({ id, answers: { value: ["temp"] } }, SLOT)[0]?.name ?? null;
  assert.deepEqual(["a", "b", "c"].map(name), ["One", "Two", null]);
});

test("an answer says whether a mark changes", () => {
  const canon = new Canon();
  const values = [["a", "symptom", "value", "cough"]];
  assert.equal(canon.take(values, [null]), false);
  assert.equal(canon.take(values, [DYSPNEA]), true);
  assert.equal(canon.take(values, [DYSPNEA]), false);
  assert.equal(canon.take(values, [["C0013404", "Breathlessness"]]), true);
  assert.equal(canon.take(values, [null]), true);
});

function page(answers) {
  const [labels, asked, drawn] = [[], [], []];
  const work = {
    root: { dataset: { decided: "/decided/" } },
    model: { utterances: [{ position: 1 }], slot: () => SLOT, labelsAt: () => labels },
    navigation: { drawTurn: (position) => drawn.push(position) },
    saving: { drawList: () => {} },
  };
  const concepts = new Concepts(work, async (url, { values }) => (asked.push(values.map((one) => one[3])), answers(values)));
  return { concepts, labels, asked, drawn };
}

const label = (id, ...value) => ({ id, slot: "symptom", answers: { value } });
const pause = () => new Promise((done) => setTimeout(done, 60));

test("new labels are asked for together, once, and drawn anew where something is decided", async () => {
  const { concepts, labels, asked, drawn } = page((values) => ({ status: 200, body: { concepts: values.map((one) => (one[3] === "soboe" ? DYSPNEA : null)) } }));
  labels.push(label("a", "soboe"), label("b", "cough"));
  assert.deepEqual(labels.map((one) => concepts.marks(one)), [[], []]);
  await pause();
  assert.deepEqual(asked, [["soboe", "cough"]]);
  assert.deepEqual(drawn, [1]);
  assert.equal(concepts.marks(labels[0])[0].name, "Dyspnea");
  assert.deepEqual(concepts.marks(labels[1]), []);
  await pause();
  assert.equal(asked.length, 1);
  await concepts.load();
  assert.deepEqual(asked[1], ["soboe", "cough"]);
  assert.deepEqual(drawn, [1]);
});

for (const [what, answers] of Object.entries({
  "no connection": () => Promise.reject(new TypeError("offline")),
  "a refusal": () => ({ status: 403, body: null }),
  "another shape": () => ({ status: 200, body: null }),
})) {
  test(`${what} leaves the marks as they are, and what is not known is asked again`, async () => {
    const { concepts, labels, asked, drawn } = page(answers);
    labels.push(label("a", "soboe"));
    concepts.canon.take([["a", "symptom", "value", "soboe"]], [DYSPNEA]);
    await concepts.load();
    assert.equal(concepts.marks(labels[0])[0].name, "Dyspnea");
    labels.push(label("b", "cough"));
    for (const number of [2, 3]) {
      concepts.marks(labels[1]);
      await pause();
      assert.equal(asked.length, number);
    }
    assert.deepEqual(drawn, []);
  });
}
