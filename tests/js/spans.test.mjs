import assert from "node:assert/strict";
import test from "node:test";

import { prepare } from "../../static/annotation/js/search.js";
import { expressions, numbers, phrases, valuesIn } from "../../static/annotation/js/spans.js";

for (const [text, found] of [
  ["I've had it for about two weeks now.", ["about two weeks"]],
  ["It began 15 days ago, I think.", ["15 days ago"]],
  ["Half a pack of cigarettes per day.", ["Half a pack of cigarettes per day"]],
  ["Twice a day and every other night.", ["Twice a day", "every other night"]],
  ["Since yesterday.", ["Since yesterday"]],
  ["Nothing at all.", []],
]) {
  test(`expressions of time and amount in “${text}”`, () => {
    const all = expressions(text);
    for (const one of found) assert.ok(all.includes(one), `${one} in ${JSON.stringify(all)}`);
    for (const one of all) assert.ok(text.includes(one), `${one} is not in the text`);
    if (text.startsWith("Nothing")) assert.deepEqual(all, []);
  });
}

test("numbers on a scale, written or spoken, once each and in order", () => {
  assert.deepEqual(numbers("Maybe seven, or 8 out of 10; seven.", 0, 10), ["7", "8", "10"]);
  assert.deepEqual(numbers("I'm 65 years old", 0, 10), []);
  assert.deepEqual(numbers("", 0, 10), []);
});

const source = (slot, ...entries) => ({ slot, field: "value", prepared: prepare(entries) });

test("values that a text names come in its order, the longest name winning", () => {
  const sources = [source("symptom", ["cough"], ["night sweats"], ["sweats"])];
  assert.deepEqual(valuesIn("Night sweats and a cough", sources).map((item) => item.value), ["night sweats", "cough"]);
});

test("plurals and -ing are seen through, parts of words are not", () => {
  const sources = [source("symptom", ["cough"], ["rash"], ["ear"])];
  assert.deepEqual(valuesIn("coughing, rashes, hearing", sources).map((item) => item.value), ["cough", "rash"]);
});

test("the earlier source wins where two know a name, and the synonym is told", () => {
  const sources = [source("symptom", ["fever", "temperature"]), source("medical history", ["fever"])];
  assert.deepEqual(valuesIn("a fever", sources), [{ slot: "symptom", field: "value", value: "fever", via: "fever" }]);
  assert.equal(valuesIn("a temperature", sources)[0].via, "temperature");
});

test("phrases begin with what was typed, stay within a clause and do not end weakly", () => {
  const text = "It hurts at the back of my knee, and in the hip.";
  assert.deepEqual(phrases(text, "back", 9), ["back of my knee"]);
  for (const phrase of phrases(text, "a", 9)) assert.ok(!phrase.includes(","), phrase);
  assert.deepEqual(phrases(text, ""), []);
  assert.deepEqual(phrases(text, ":"), []);
});

// The longest utterance that is imported. Each of these took a page from half a minute to days.
const LONGEST = 20_000;
const filled = (text) => text.repeat(Math.ceil(LONGEST / text.length)).slice(0, LONGEST);
const knows = [source("symptom", ["cough"], ["pain in the chest"], ["word"])];

for (const [name, text] of [
  ["spaces", filled(" ")],
  ["spaces after a number", `1${filled(" ")}`],
  ["spaces after “about”", `about${filled(" ")}`],
  ["spaces after “the last”", `the last${filled(" ")}`],
  ["line ends after “since”", `since${filled("\n")}x`],
  ["dots", `${filled(".")}x`],
  ["signs and line ends", `${filled("!\n;")}x`],
  ["short words", filled("a ")],
  ["half a value", filled("pain in the ")],
]) {
  test(`the longest utterance of ${name} is read at once`, () => {
    const began = performance.now();
    expressions(text);
    phrases(text, "wo", 4);
    valuesIn(text, knows);
    assert.ok(performance.now() - began < 2000, "the page would stand still");
  });
}

test("an expression may be spread over lines and is offered in one", () => {
  assert.deepEqual(expressions("For  about\n two   weeks."), ["about two weeks"]);
});

test("of a name of several words only the last may have another ending", () => {
  const sources = [source("symptom", ["night sweat"], ["joint pain"])];
  assert.deepEqual(valuesIn("Night sweats, and joints pain me; joint pains", sources).map((item) => item.value), ["night sweat", "joint pain"]);
  assert.deepEqual(valuesIn("joints pain", sources), []);
  assert.deepEqual(valuesIn("a joint", sources), []);
});
