// What the review page works out without a page: which value comes next, and what is said of progress and decisions.

/** States in which a value waits for a decision. */
export const UNDECIDED = new Set(["open", "shortlisted", "asked"]);

/**
 * The next undecided value after `at` in the queue ([{id, state}]), going round once; null when there is none.
 * `done` holds the ids of values that were decided but are not yet shown so.
 */
export function nextUndecided(rows, at, done = new Set()) {
  const here = rows.findIndex((row) => row.id === at);
  const order = [...rows.slice(here + 1), ...rows.slice(0, Math.max(0, here))];
  return order.find((row) => UNDECIDED.has(row.state) && !done.has(row.id))?.id ?? null;
}

/** The value `by` steps away, staying within the queue. */
export function step(rows, at, by) {
  const here = rows.findIndex((row) => row.id === at);
  if (here < 0) return rows[0]?.id ?? null;
  return rows[Math.max(0, Math.min(rows.length - 1, here + by))].id;
}

const plural = (number, one, many = `${one}s`) => `${number} ${number === 1 ? one : many}`;

/** The line about progress: {text, done, all}. While candidates are looked up it speaks of them, then of decisions. */
export function progressOf({ forms, linked, waiting, decided, nil, proposed, open }) {
  if (!forms) return { text: waiting ? "reading labels…" : "no values yet", done: 0, all: 1 };
  const settled = decided + nil + proposed;
  const parts = [`${settled} of ${forms} decided${nil ? ` (${nil} without a concept)` : ""}`];
  if (open) parts.push(`${open} open`);
  if (linked < forms || waiting) {
    const read = waiting ? `, ${plural(waiting, "set of labels", "sets of labels")} to read` : "";
    return { text: `${linked} of ${plural(forms, "value")} ${forms === 1 ? "has" : "have"} candidates${read} · ${parts.join(" · ")}`, done: linked, all: forms };
  }
  return { text: parts.join(" · "), done: settled, all: forms };
}

/** What the button of a preview says, for `ticked` of `all` occurrences. */
export function holdsFor(ticked, all) {
  if (!all) return "Decide";
  if (ticked === all) return all === 1 ? "Decide for the one occurrence" : `Decide for all ${all} occurrences`;
  return `Decide for ${ticked} of ${all} occurrences`;
}

/**
 * Semantic types for a list to choose from: those that fit first, under a heading of their own, then the groups with what
 * is left of each. `groups` is [{name, types: [[code, words], …]}], `fitting` codes in their order.
 */
export function typesByFit(groups, fitting, heading) {
  const words = new Map(groups.flatMap(({ types }) => types));
  const first = fitting.filter((code) => words.has(code)).map((code) => [code, words.get(code)]);
  const others = groups.map(({ name, types }) => ({ name, types: types.filter(([code]) => !fitting.includes(code)) }));
  return [{ name: heading, types: first }, ...others].filter(({ types }) => types.length);
}

/** How a request that waits is called, for messages. */
export function inWords({ path, body, name }, text) {
  if (path === "undo") return "taking back your last decision";
  if (path === "revert") return `taking back the decision about “${text}”`;
  if (path === "decide") return `your decision about “${text}”`;
  if (path === "ask") return `your question about “${text}”`;
  if (path === "answer") return "your answer";
  return `${body?.verdict === "drop" ? "dropping" : "keeping"} ${name ? `“${name}”` : (body?.cui ?? "a candidate")}`;
}
