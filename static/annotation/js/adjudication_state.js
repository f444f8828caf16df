// What the adjudication page knows: what is to be decided on each utterance, and where one goes next. Pure.

/** How decisions are said, in the order of their keys. */
export const WORDS = { A: "took A", B: "took B", both: "took both", edited: "edited", new: "wrote a new label", none: "took none", agreed: "accepted" };

const REVIEW_WORDS = { A: "accepted", none: "not accepted" };

/** A decision in words. In a review there is one side, which is accepted or, outside the sample, taken unseen. */
export function decisionWords({ resolution, unseen }, review) {
  if (unseen) return "not looked at";
  return (review && REVIEW_WORDS[resolution]) || WORDS[resolution] || resolution;
}

/** What tells a decision from another one that somebody made on the same item since; "" for none. */
export const stampOf = (item) => (item?.decision && !item.decision.unseen ? `${item.decision.resolution} ${item.decision.at}` : "");

/** Whether somebody else was quicker: a request {path, base, body} would undo or overwrite what its maker has not seen. */
export function isOvertaken({ path, base, body }, state) {
  if (path !== "decide") return true;
  return body.decisions.some(({ position, pairing }) => {
    const item = state.item(position, pairing);
    return pairing !== "" && (!item || stampOf(item) !== base);
  });
}

/** Why a request that was overtaken is not carried out, in a sentence. */
export function overtakenWords({ path, body }, state, review) {
  if (path === "undo") return "Nothing was taken back: somebody else has decided here meanwhile.";
  if (path !== "decide") return "Somebody else has worked here meanwhile; look at the newest state first.";
  const [{ position, pairing, resolution }] = body.decisions;
  const now = state.item(position, pairing)?.decision;
  const mine = `Yours (${decisionWords({ resolution }, review)}) was not saved.`;
  if (!now || now.unseen) return `Utterance ${position} has changed meanwhile. ${mine}`;
  const [who, when] = now.by === "you" ? ["you", "in another tab"] : [now.by, "meanwhile"];
  return `Utterance ${position}: ${who} ${decisionWords(now, review)} ${when}. ${mine}`;
}

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

  isOpenAt(position) {
    return this.at(position).items.some(isOpen);
  }

  /** Whether nobody has looked at what is gold there: it is outside the sample of a review. */
  isUnseenAt(position) {
    return this.at(position).items.some((item) => item.decision?.unseen);
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
    const { items, stale, earlier = [] } = this.at(position);
    const open = items.filter(isOpen).length;
    const parts = [];
    if (open) parts.push(this.review ? `${open} to review` : `${open} to decide`);
    if (open && (stale || earlier.length)) parts.push("changed since, open again");
    else if (stale || earlier.length) parts.push("changed since it was decided");
    if (!parts.length && items.length && items.every((item) => item.decision?.resolution === "none")) parts.push("decided: no label");
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

/** Which side's labels an edit starts from ("a" or "b"); "" for those that were written before. */
export function startOf({ a, decision }) {
  if (decision?.labels.length) return "";
  return decision?.resolution === "B" || !a.length ? "b" : "a";
}

/** What is being edited, in words. */
export function editedWords(from, item, review) {
  if (!from) return "Editing the label that was decided.";
  if (review) return "Editing a copy of the annotator’s label.";
  if (item.outcome === "agreed") return "Editing a copy of the label that both agree on.";
  return `Editing a copy of ${from.toUpperCase()}’s label.`;
}
