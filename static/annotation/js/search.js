// Search over a field's values: by prefix, by synonym, by word, with a typo. Pure: lists in, matches out.
//
// An entry is [value, synonym, …]. A match is {value, via, strong}: `via` is the synonym that was met ("" for the
// value itself), `strong` says that the match may be taken without looking at the list.

/** Lower case without accents; every run of signs is one space. */
export function fold(text) {
  return text
    .normalize("NFKD")
    .replace(/\p{M}/gu, "")
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, " ")
    .trim();
}

/** The distance in edits (insert, delete, replace, swap of neighbours), or limit + 1 when it is more than limit. */
export function distance(a, b, limit) {
  if (Math.abs(a.length - b.length) > limit) return limit + 1;
  let before = [];
  let previous = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i++) {
    const current = [i];
    let best = i;
    for (let j = 1; j <= b.length; j++) {
      const cost = a[i - 1] === b[j - 1] ? 0 : 1;
      let value = Math.min(previous[j] + 1, current[j - 1] + 1, previous[j - 1] + cost);
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) value = Math.min(value, before[j - 2] + 1);
      current.push(value);
      best = Math.min(best, value);
    }
    if (best > limit) return limit + 1;
    [before, previous] = [previous, current];
  }
  return previous[b.length];
}

const EXACT = 0, PREFIX = 1, WORD = 2, WORDS = 3, TYPO = 4;

/** How well one name answers the query: a rank (lower is better), or -1. */
function rank(name, folded, query, squeezed, words) {
  if (folded === query || folded.replaceAll(" ", "") === squeezed) return EXACT;
  if (folded.startsWith(query) || folded.replaceAll(" ", "").startsWith(squeezed)) return PREFIX;
  const parts = folded.split(" ");
  if (words.length === 1) {
    if (parts.some((part) => part.startsWith(query))) return WORD;
  } else if (words.every((word) => parts.some((part) => part.startsWith(word)))) {
    // Every further word narrows the search.
    return WORDS;
  }
  return typo(folded, parts, query, words) ? TYPO : -1;
}

function typo(folded, parts, query, words) {
  if (query.length < 4) return false;
  const limit = query.length >= 8 ? 2 : 1;
  if (distance(folded, query, limit) <= limit) return true;
  // Of several words each is looked at alone: "heart f" is no slip for "heart a…".
  if (words.length === 1 && distance(folded.slice(0, query.length), query, 1) <= 1) return true;
  return words.every((word) =>
    parts.some((part) => part.startsWith(word) || (word.length >= 4 && distance(part.slice(0, word.length), word, 1) <= 1)),
  );
}

/** Entries prepared once for many searches. */
export function prepare(entries) {
  return entries.map((names) => ({ value: names[0], names: names.map((name) => [name, fold(name)]) }));
}

/**
 * The best matches of a query in prepared entries, at most `limit`, best first.
 * Exact before prefix before word before typo; the value itself before its synonyms; earlier entries first.
 */
export function search(prepared, text, limit = 8) {
  const query = fold(text);
  if (!query) return [];
  const squeezed = query.replaceAll(" ", "");
  const words = query.split(" ");
  const found = [];
  prepared.forEach((entry, order) => {
    let best = null;
    entry.names.forEach(([name, folded], index) => {
      const level = rank(name, folded, query, squeezed, words);
      if (level < 0) return;
      const score = level * 10 + (index ? 4 : 0) + Math.min(3, Math.floor((folded.length - query.length) / 6));
      if (!best || score < best.score) best = { score, level, via: index ? name : "" };
    });
    if (best) found.push({ value: entry.value, via: best.via, strong: best.level < TYPO, level: best.level, score: best.score, order });
  });
  found.sort((a, b) => a.score - b.score || a.order - b.order);
  return found.slice(0, limit).map(({ value, via, strong, level }) => ({ value, via, strong, exact: level === EXACT }));
}
