import assert from "node:assert/strict";
import test from "node:test";

import { chosenText, problemOf, sizeText } from "../../static/annotation/js/imports.js";

const MIB = 2 ** 20;

test("sizes are said in the unit that fits", () => {
  assert.equal(sizeText(12), "12 bytes");
  assert.equal(sizeText(1500), "2 KiB");
  assert.equal(sizeText(20 * MIB), "20 MiB");
  assert.equal(sizeText(20 * MIB + MIB / 2), "20.5 MiB");
});

test("a file over its limit is named", () => {
  const files = [{ name: "a.txt", size: 5 }, { name: "b.txt", size: 200 * MIB }];
  assert.match(problemOf(files, 20 * MIB, 100 * MIB), /^b\.txt has 200 MiB; one file may have 20 MiB\./);
});

test("files over the limit together are refused, files within it are not", () => {
  const files = Array.from({ length: 6 }, (_, number) => ({ name: `${number}.txt`, size: 18 * MIB }));
  assert.match(problemOf(files, 20 * MIB, 100 * MIB), /^These are 108 MiB; one upload may have 100 MiB\./);
  assert.equal(problemOf(files.slice(0, 5), 20 * MIB, 100 * MIB), "");
});

test("many files are named by the first three", () => {
  const files = ["a", "b", "c", "d", "e"].map((name) => ({ name, size: 1 }));
  assert.equal(chosenText(files), "a, b, c and 2 more (5 bytes)");
  assert.equal(chosenText([]), "");
});
