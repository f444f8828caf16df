import assert from "node:assert/strict";
import test from "node:test";

import { ActiveTime } from "../../static/annotation/js/time.js";

function clock() {
  const at = { ms: 0 };
  const target = new EventTarget();
  const time = new ActiveTime(() => at.ms, target);
  const work = (ms) => {
    at.ms += ms;
    target.dispatchEvent(new Event("keydown"));
  };
  return { at, time, work };
}

test("seconds of work add up, and what is left of a second is kept", () => {
  const { time, work } = clock();
  work(1400);
  work(1400);
  assert.equal(time.take(), 2);
  work(300);
  assert.equal(time.take(), 1);
});

test("a pause of more than a minute is not work", () => {
  const { time, work } = clock();
  work(5000);
  work(61_000);
  work(5000);
  assert.equal(time.take(), 10);
});

test("never more than the portal takes at once", () => {
  const { time, work } = clock();
  for (let minute = 0; minute < 20; minute++) work(59_000);
  assert.equal(time.take(), 600);
});
