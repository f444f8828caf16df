// What can be taken from an utterance itself: values that a list knows, expressions of time and amount, phrases.

import { fold } from "./search.js";

const NUMBER =
  "(?:\\d+(?:[.,:/]\\d+)?(?:\\s*(?:-|–|to|or)\\s*\\d+)?|an?|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|half an?|half|couple|few|several|many|some)";
const UNIT = "(?:seconds?|minutes?|mins?|hours?|days?|nights?|weeks?|weekends?|months?|years?|decades?)";
const PERIOD = "(?:day|night|week|weekend|month|year|hour|morning|evening)";
const PATTERNS = [
  `(?:over|about|around|almost|nearly|at least|more than|less than|up to)?\\s*(?:an?|the)?\\s*(?:last|past|couple of|couple|few)\\s+(?:${NUMBER}\\s+)?${UNIT}(?:\\s+(?:ago|back|now))?`,
  `(?:over|about|around|almost|nearly|at least|more than|less than|up to|since)?\\s*${NUMBER}(?:\\s+of)?\\s+${UNIT}(?:\\s+(?:ago|back|old))?`,
  `since\\s+(?:(?:i|he|she) was\\s+)?(?:an?\\s+|the\\s+|my\\s+|last\\s+)?[\\w'-]+(?:\\s+(?:ago|old|night|morning|week|year))?`,
  `${NUMBER}\\s+(?:or\\s+${NUMBER}\\s+)?times?\\s+(?:an?|per|every|in a)\\s+${PERIOD}`,
  `(?:once|twice)\\s+(?:an?|per|every|in a)\\s+${PERIOD}`,
  `every\\s+(?:other\\s+|few\\s+|${NUMBER}\\s+)?(?:${PERIOD}s?|${UNIT})`,
  `${NUMBER}\\s+(?:pack|glass|bottle|can|cup|beer|drink|cigarette|cigar|joint|gram|unit|puff|tablet|pill|tablespoon|teaspoon)e?s?(?:\\s+of\\s+[\\w'-]+)?(?:\\s+(?:an?|per|every|on the|in a|each)\\s+${PERIOD}s?)?`,
  `(?:yesterday|last night|this morning|today|all day|all the time|constantly|at night)`,
].map((source) => new RegExp(`(?<![\\p{L}\\p{N}])${source}(?![\\p{L}\\p{N}])`, "giu"));

/** Expressions of time, duration, frequency and amount as they stand in the text, in its order, longest where they overlap. */
export function expressions(text) {
  const found = [];
  // Many spaces in a row could be shared out among a pattern's parts in so many ways that a page would stand still.
  const spaced = text.replace(/\s+/g, " ");
  for (const pattern of PATTERNS) {
    for (const match of spaced.matchAll(pattern)) {
      const words = match[0].trim();
      const start = match.index + match[0].indexOf(match[0].trim());
      if (words) found.push({ start, end: start + match[0].trim().length, text: words });
    }
  }
  found.sort((a, b) => a.start - b.start || b.end - a.end);
  const kept = [];
  for (const item of found) {
    const clash = kept.findIndex((other) => item.start < other.end && other.start < item.end);
    if (clash < 0) kept.push(item);
    else if (item.end - item.start > kept[clash].end - kept[clash].start) kept[clash] = item;
  }
  return [...new Set(kept.map((item) => item.text))];
}

/** The numbers in a text that lie on a scale, as text, in their order; number words up to ten are read too. */
export function numbers(text, minimum, maximum) {
  const words = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"];
  const found = [];
  for (const match of text.toLowerCase().matchAll(/\d+|[a-z]+/g)) {
    const value = /^\d/.test(match[0]) ? Number(match[0]) : words.indexOf(match[0]);
    if (value >= minimum && value <= maximum && !found.includes(String(value))) found.push(String(value));
  }
  return found;
}

/**
 * Values of prepared lists that the text names, in the order of the text, the longest name winning where names overlap.
 * `sources` is [{slot, field, prepared}], the earlier source winning a tie; a result is {slot, field, value, via}.
 */
export function valuesIn(text, sources) {
  const words = fold(text).split(" ");
  const whole = placesOf(words);
  const stems = placesOf(words.map(stem));
  const found = [];
  for (const [order, source] of sources.entries()) {
    for (const entry of source.prepared) {
      for (const [name, folded] of entry.names) {
        if (folded.length < 3 || WEAK.has(folded)) continue;
        const at = place(words, whole, stems, folded.split(" "));
        if (at) found.push({ ...at, order, slot: source.slot, field: source.field, value: entry.value, via: name });
      }
    }
  }
  found.sort((a, b) => b.end - b.start - (a.end - a.start) || a.order - b.order);
  const kept = [];
  for (const item of found) {
    if (!kept.some((other) => item.start < other.end && other.start < item.end)) kept.push(item);
  }
  kept.sort((a, b) => a.start - b.start);
  const seen = new Set();
  return kept.filter((item) => !seen.has(item.value) && seen.add(item.value)).map(({ slot, field, value, via }) => ({ slot, field, value, via }));
}

/** Word → where it stands, in the order of the text. */
function placesOf(words) {
  const table = new Map();
  for (const [at, word] of words.entries()) {
    if (table.has(word)) table.get(word).push(at);
    else table.set(word, [at]);
  }
  return table;
}

/** Where a name stands first in a text, both as words; plurals and the -ing and -ed of a last word are seen through. */
function place(words, whole, stems, name) {
  const last = name.length - 1;
  const starts = (last ? whole.get(name[0]) : stems.get(stem(name[0]))) || [];
  const start = starts.find(
    (at) => at + last < words.length && name.every((word, index) => index === 0 || words[at + index] === word || (index === last && stem(words[at + index]) === stem(word))),
  );
  return start === undefined ? null : { start, end: start + name.length };
}

function stem(word) {
  if (word.length < 5) return word;
  return word.replace(/(?:ies|y)$/, "i").replace(/(?:es|s)$/, "").replace(/(?:ing|ed|e)$/, "");
}

const WEAK = new Set(
  "a all an and any as at but by for from had has have i if in into is it its it's just like my of on or our so than that the their then they this to um uh was were when which with you your".split(" "),
);

/** Phrases of the text that begin with what was typed: within a clause, not ending on a weak word, at most `limit`. */
export function phrases(text, typed, limit = 4) {
  const query = fold(typed);
  if (!query) return [];
  const found = [];
  // Both patterns begin where a run of signs begins, and not at each sign of it: a thousand dots are read once.
  for (const clause of text.split(/(?<![.?!;,:\n])[.?!;,:\n]+\s/)) {
    const words = clause.trim().replace(/(?<![.?!;,:])[.?!;,:]+$/, "").split(/\s+/);
    for (let start = 0; start < words.length; start++) {
      const first = fold(words[start]);
      if (!first.startsWith(query) && !query.startsWith(first)) continue;
      for (let end = Math.min(words.length, start + 8); end > start; end--) {
        const phrase = words.slice(start, end).join(" ");
        if (!fold(phrase).startsWith(query) || fold(phrase) === query) continue;
        if (WEAK.has(words[end - 1].toLowerCase())) continue;
        found.push(phrase);
      }
    }
  }
  return [...new Set(found)].slice(0, limit);
}
