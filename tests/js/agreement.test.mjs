import assert from "node:assert/strict";
import test from "node:test";

import { nextIndex } from "../../static/annotation/js/agreement.js";

test("the first step chooses the first utterance, further ones stay in the list", () => {
  assert.equal(nextIndex(-1, 1, 3), 0);
  assert.equal(nextIndex(-1, -1, 3), 0);
  assert.equal(nextIndex(0, 1, 3), 1);
  assert.equal(nextIndex(2, 1, 3), 2);
  assert.equal(nextIndex(0, -1, 3), 0);
});
