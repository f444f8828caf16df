// What the adjudication page knows: what is to be decided on each utterance, and where one goes next. Pure.

/** How decisions are said, in the order of their keys. */
export const WORDS = { A: "took A", B: "took B", both: "took both", edited: "edited", new: "wrote a new label", none: "took none", agreed: "accepted" };

/** Whether an item waits for a decision. */
export const isOpen = (item) => item.outcome !== "agreed" && item.outcome !== "added" && !item.decision;

/** Whether an item is a conflict, decided or not: something that needs a person. */
export const isConflict = (item) => item.outcome !== "agreed" && item.outcome !== "added";

/** The sides of an item that have a label: ["a"], ["b"] or both. */
export const sidesOf = (item) => ["a", "b"].filter((side) => item[side].length);

export class CaseState {
  /** data: {turns: [{position, …}], utterances: {position: {items, gold, stale}}, review}. */
  constructor(data) {
    this.turns = data.turns;
    this.review = data.review;
    this.utterances = { ...data.utterances };
  }

  at(position) {
    return this.utterances[position] || { items: [], gold: [], stale: false };
  }

  item(position, key) {
    return this.at(position).items.find((item) => item.key === key) || null;
  }

  /** Take what the portal says of some utterances. */
  take(utterances) {
    Object.assign(this.utterances, utterances);
  }

  /** All conflicts in the order of the dialogue: {position, index, item}. */
  conflicts() {
    return this.turns.flatMap(({ position }) => this.at(position).items.map((item, index) => ({ position, index, item })).filter(({ item }) => isConflict(item)));
  }

  get left() {
    return this.conflicts().filter(({ item }) => isOpen(item)).length;
  }

  /** The place of the next (`by` 1) or previous (-1) open conflict from a place, going round; null when none is open. */
  nextOpen(from, by) {
    const open = this.conflicts().filter(({ item }) => isOpen(item));
    if (!open.length) return null;
    const order = (place) => place.position - from.position || place.index - from.index;
    const beyond = open.filter((place) => Math.sign(order(place)) === by);
    const rest = beyond.length ? beyond : open;
    return by > 0 ? rest[0] : rest.at(-1);
  }

  /** Where one starts: the first open conflict, else the first conflict, else the first utterance. */
  start() {
    return this.nextOpen({ position: -1, index: -1 }, 1) || this.conflicts()[0] || { position: this.turns[0]?.position ?? 0, index: 0 };
  }

  /** The first item of an utterance that one wants to see: an open conflict, else the first. */
  bestIndex(position) {
    return Math.max(0, this.at(position).items.findIndex(isOpen));
  }

  /** What an utterance says of itself in its list, "" for nothing. */
  note(position) {
    const { items, stale } = this.at(position);
    const open = items.filter(isOpen).length;
    const parts = [];
    if (open) parts.push(this.review ? `${open} to review` : `${open} to decide`);
    if (stale) parts.push(open ? "changed since, open again" : "changed since");
    return parts.join(" · ");
  }
}

/** Which choices an item offers; the keys of others say that they cannot be used here. */
export function choicesOf(item, review) {
  if (!item) return ["new"];
  if (item.outcome === "added") return ["edited", "none"];
  if (item.outcome === "agreed") return ["agreed", "edited", "new", "none"];
  const sides = sidesOf(item).map((side) => side.toUpperCase());
  if (review) return ["A", "edited", "new", "none"];
  return [...sides, ...(sides.length === 2 ? ["both"] : []), "edited", "new", "none"];
}
