// What the page knows of the dialogue: its turns, the labels of each, and what can be offered from them.

import { expressions, numbers, phrases, valuesIn } from "./spans.js";
import { fold, prepare, search } from "./search.js";

const SIGNS = { yes: "+", no: "−", unsure: "?" };
const spaced = (name) => name.replaceAll("_", " ");
const inWords = (answer = "") => (Array.isArray(answer) ? answer.map((item) => item.value ?? item).join(", ") : answer);

/** Whether two labels say the same; order counts among values, not among questions. */
export function sameLabel(one, other) {
  const sorted = (map) => Object.entries(map || {}).sort(([a], [b]) => (a < b ? -1 : 1));
  const said = ({ position, intent, intent_name, slot, answers, checks, kept }) =>
    JSON.stringify([position, intent, intent_name || "", slot, sorted(answers), [...checks].sort(), sorted(kept)]);
  return said(one) === said(other);
}

export class Model {
  constructor(data) {
    this.questionnaire = data.questionnaire;
    this.utterances = data.utterances;
    this.rows = new Map(data.utterances.map((turn) => [turn.position, data.labels[turn.position] || []]));
    this.mentions = data.mentions || {};
    this.lists = new Map();
    this.chipCache = new Map();
    this.lastMade = [];
  }

  turn(position) {
    return this.utterances.find((item) => item.position === position);
  }

  slot(name) {
    return this.questionnaire.slots.find((slot) => slot.name === name) || null;
  }

  intent(name) {
    return this.questionnaire.intents.find((intent) => intent.name === name) || null;
  }

  asks = (name) => Boolean(this.intent(name)?.asks);

  labelsAt = (position) => (this.rows.get(position) || []).map((row) => row.data);

  find(id) {
    for (const [position, rows] of this.rows) {
      const row = rows.find((item) => item.data.id === id);
      if (row) return { position, row };
    }
    return null;
  }

  /** All labels, those made last first. */
  newestFirst() {
    return [...this.rows.values()].flat().map((row) => row.data).sort((a, b) => b.rank - a.rank);
  }

  prepared(name) {
    if (!this.lists.has(name)) this.lists.set(name, prepare(this.questionnaire.lists[name] || []));
    return this.lists.get(name);
  }

  /** The values that the utterance names, for its numbered chips: {slot, field, value, via}; those of the lists first. */
  chips(position) {
    if (!this.chipCache.has(position)) {
      const listed = valuesIn(this.turn(position).text, this.sources());
      const seen = new Set(listed.flatMap((chip) => [fold(chip.value), fold(chip.via)]));
      const further = this.mentioned(position).filter(({ value }) => !seen.has(fold(value)) && seen.add(fold(value)));
      this.chipCache.set(position, [...listed, ...further].slice(0, 9));
    }
    return this.chipCache.get(position);
  }

  /** What the concept vocabulary was found to have of an utterance, as its words say it, in slots that ask for such. */
  mentioned(position) {
    return (this.mentions[position] || []).flatMap(({ text, name, slots }) => {
      const slot = slots.map((one) => this.slot(one)).find((one) => one?.head && one.fields.some((field) => field.name === one.head && field.medical));
      return slot ? [{ slot: slot.name, field: slot.head, value: text.trim().replace(/\s+/g, " "), via: name }] : [];
    });
  }

  /** The lists of all heads; a slot that some intent of one speaker only uses (a diagnosis) comes last. */
  sources() {
    if (!this.sourceList) {
      const narrow = (slot) => slot.intents.some((name) => this.intent(name)?.speakers.length === 1 && !this.intent(name).named);
      const slots = this.questionnaire.slots.filter((slot) => slot.head && slot.fields.find((field) => field.name === slot.head)?.values);
      slots.sort((a, b) => narrow(a) - narrow(b));
      this.sourceList = slots.map((slot) => {
        const field = slot.fields.find((item) => item.name === slot.head);
        return { slot: slot.name, field: field.name, prepared: this.prepared(field.values) };
      });
    }
    return this.sourceList;
  }

  /** Suggestions for a field: from the utterance, from this dialogue so far, from the controlled list, in that order. */
  suggest(field, slot, text, chosen, position) {
    const found = [];
    const seen = new Set(chosen.map(fold));
    const listed = field.values ? this.prepared(field.values) : [];
    const add = (value, note, strong, near = false) => {
      if (!value || seen.has(fold(value)) || found.length >= 9) return;
      seen.add(fold(value));
      found.push({ value, note, strong, near, names: this.namesOf(listed, value) });
    };
    const matches = search(listed, text, 9);
    const soFar = this.soFar(field, slot, Boolean(text));
    const fitting = search(prepare(soFar.map((value) => [value])), text, 4);
    const closed = field.kind === "values" || field.kind === "rated_values";
    for (const match of [...fitting, ...matches].filter((item) => item.exact)) add(match.value, match.via || this.meant(match, matches, listed), true);
    if (!text) {
      for (const value of this.offered(field, slot, position)) add(value, "in this utterance", false, true);
      for (const value of soFar.slice(0, 5)) add(value, "so far", false, true);
      for (const entry of listed.slice(0, 9)) add(entry.value, "", false);
      return found;
    }
    for (const match of fitting) add(match.value, "so far", closed && match.strong);
    if (field.kind === "text") for (const phrase of phrases(this.turn(position).text, text)) add(phrase, "in this utterance", false);
    for (const match of matches) add(match.value, match.via || this.meant(match, matches, listed), closed && match.strong);
    if (closed) for (const phrase of phrases(this.turn(position).text, text, 2)) add(phrase, "in this utterance", false);
    return found;
  }

  /** All names that a list has for a value, folded; [] for one that is not on it. */
  namesOf(listed, value) {
    return listed.find((entry) => entry.value === value)?.names.map(([, folded]) => folded) || [];
  }

  /** Other words for a value whose name begins as another's does ("general", "general enquiry"), to tell them apart. */
  meant(match, matches, listed) {
    const first = (value) => fold(value).split(" ")[0];
    if (!matches.some((other) => other.value !== match.value && !other.via && first(other.value) === first(match.value))) return "";
    return listed.find((entry) => entry.value === match.value)?.names[1]?.[0] || "";
  }

  /** What the utterance itself offers for a field before anything is typed. */
  offered(field, slot, position) {
    const { text } = this.turn(position);
    if (field.kind === "scale") return numbers(text, field.minimum, field.maximum);
    if (!field.values) return field.kind === "text" ? expressions(text) : [];
    const source = [{ slot: slot?.name, field: field.name, prepared: this.prepared(field.values) }];
    const values = valuesIn(text, source).map((item) => item.value);
    return field.kind === "text" ? [...values, ...expressions(text)] : values;
  }

  /**
   * Values used in this dialogue: of the same field in the same slot, then (`elsewhere`) in others; for a text, also the
   * last heads. A field that offers everything unasked would offer symptoms as habits.
   */
  soFar(field, slot, elsewhere = true) {
    const same = [];
    const other = [];
    const heads = [];
    for (const label of this.newestFirst()) {
      const answer = label.answers[field.name];
      const values = Array.isArray(answer) ? answer.map((item) => item.value ?? item) : answer ? [answer] : [];
      if (field.kind !== "choice") (label.slot === slot?.name ? same : other).push(...values);
      const itsSlot = this.slot(label.slot);
      const head = itsSlot?.head && label.answers[itsSlot.head];
      if (Array.isArray(head) && head.length) heads.push(head.join(", "));
    }
    const withHeads = field.kind === "text" && field.name === slot?.head;
    return [...new Set([...same, ...(elsewhere && (field.values || field.kind === "text") ? other : []), ...(withHeads ? heads : [])])];
  }

  /** A label shown before the portal has answered: its words, no judgement. */
  pendingRow(label) {
    const slot = this.slot(label.slot);
    const shown = (field) => ![slot.head, slot.status].includes(field.name) && (label.answers[field.name] || label.checks.includes(field.name));
    const head = slot?.head ? label.answers[slot.head] : [];
    const status = slot?.status && slot.fields.find((field) => field.name === slot.status)?.choices.find((choice) => choice.name === label.answers[slot.status]);
    return {
      data: { ...label, rank: label.rank ?? Number.MAX_SAFE_INTEGER },
      intent: label.intent_name || this.intent(label.intent)?.title || label.intent,
      slot: slot?.title || label.slot,
      values: Array.isArray(head) ? head : head ? [head] : [],
      status: status?.title || "",
      meaning: status?.meaning || "",
      sign: SIGNS[status?.meaning] || "",
      details: (slot?.fields || []).filter(shown).map((field) => [spaced(field.name), inWords(label.answers[field.name]), label.checks.includes(field.name)]),
      gaps: [],
      pending: true,
    };
  }

  /** Put a label where it belongs, replacing an older form of it. `pending`: it is on its way to the portal. */
  put(label, pending = true) {
    const rows = (this.rows.get(label.position) || []).filter((row) => row.data.id !== label.id);
    const old = this.find(label.id);
    const row = { ...this.pendingRow(label), pending };
    if (old) row.data.rank = old.row.data.rank;
    rows.push(row);
    rows.sort((a, b) => a.data.rank - b.data.rank);
    this.rows.set(label.position, rows);
  }

  remove(id) {
    const found = this.find(id);
    if (found) this.rows.set(found.position, this.rows.get(found.position).filter((row) => row !== found.row));
    return found;
  }

  /** Take what the portal says of some utterances. */
  take(labels) {
    for (const [position, rows] of Object.entries(labels)) this.rows.set(Number(position), rows);
  }

  /** A label in few words, for dialogs. */
  words(label) {
    if (!label) return "no label";
    const row = this.pendingRow(label);
    const slot = this.slot(label.slot);
    const rest = Object.entries(label.answers)
      .filter(([name]) => name !== slot?.head && name !== slot?.status)
      .map(([name, answer]) => `${spaced(name)}: ${inWords(answer)}`);
    const asks = label.checks.map((name) => `${spaced(name)}?`);
    return [`${row.intent} ${row.slot}`.trim(), row.values.join(", "), row.status, ...rest, ...asks].filter(Boolean).join(" · ");
  }
}
