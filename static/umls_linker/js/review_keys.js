// The keys of the review page: one table for the bindings and for the help. Digits take or choose a candidate.

const ALL = [
  ["search", "Search the whole vocabulary", "Decide", ["/"], "all"],
  ["nil", "No concept fits", "Decide", ["0", "n"], "decides"],
  ["propose", "Propose a new concept", "Decide", ["p"], "decides"],
  ["only-this", "Decide for one occurrence alone; again: the next one", "Decide", ["o"], "decides"],
  ["only-previous", "The occurrence before that one", "Decide", ["Shift+o"], "decides"],
  ["all-places", "Decide for every occurrence again", "Decide", ["Escape"], "decides"],
  ["undo", "Take your last decision back, everywhere", "Decide", ["z", "Ctrl+z"], "decides"],
  ["revert", "Take the decision about this value back, everywhere", "Decide", ["x"], "decides"],
  ["keep", "Keep the chosen candidate on the shortlist", "Shortlist", ["+", "="], "shortlists"],
  ["drop", "Drop the chosen candidate", "Shortlist", ["-"], "shortlists"],
  ["next-card", "Next candidate", "Shortlist", ["ArrowRight"], "all"],
  ["previous-card", "Previous candidate", "Shortlist", ["ArrowLeft"], "all"],
  ["ask", "Ask a colleague", "Value", ["a"], "all"],
  ["skip", "Skip: the next value that is open", "Value", ["s"], "all"],
  ["next", "Next value of the queue", "Move", ["ArrowDown", "j"], "all"],
  ["previous", "Previous value of the queue", "Move", ["ArrowUp", "k"], "all"],
  ["find", "Find a value in the queue", "Move", ["f"], "all"],
  ["clear", "Show all values: clear the filters", "Move", ["c"], "all"],
  ["help", "All keys", "Move", ["?"], "all"],
];

/** The keys of somebody who `decides` and `shortlists` (or not); who may not is not offered them. */
export function keysFor(may) {
  const digit = may.decides ? "Take that candidate: the preview lists every occurrence" : "Choose that candidate";
  const digits = { action: "digit", title: digit, group: may.decides ? "Decide" : "Shortlist", keys: ["1–9"], fixed: true };
  const rows = ALL.filter((row) => row[4] === "all" || may[row[4]]).map(([action, title, group, keys]) => ({ action, title, group, keys }));
  return [digits, ...rows];
}
