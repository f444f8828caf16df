// Which values are decided to mean a concept, and the marks that say so. The portal is asked about the wordings that
// stand in these labels, and tells of no others: nobody learns what others wrote.

import { el } from "./dom.js";
import { post } from "./sending.js";

const PAUSE = 30;

/** A wording as it is compared: NFC, without case, white space collapsed. */
export function wordingKey(text) {
  const nfc = (value) => value.normalize("NFC");
  return nfc(nfc(text).toUpperCase().toLowerCase()).split(/\s+/).filter(Boolean).join(" ");
}

const keyOf = (...parts) => parts.join("\u001f");

/** The medical values of a label: [{field, value}], in the order of its slot's fields. */
export function medicalValues(label, slot) {
  const found = [];
  for (const field of slot ? slot.fields.filter((item) => item.medical) : []) {
    const answer = label.answers[field.name] || [];
    for (const one of Array.isArray(answer) ? answer : [answer]) found.push({ field: field.name, value: one.value ?? one });
  }
  return found;
}

/** What the portal has said of values so far. Of what is not known it is asked. */
export class Canon {
  constructor() {
    this.known = new Map();
  }

  /** The values of a label as they are asked for, [[label, slot, field, value], …]; with `fresh` only those not known. */
  wanted(label, slot, fresh = false) {
    const values = medicalValues(label, slot).map(({ field, value }) => [label.id, slot.name, field, value]);
    return fresh ? values.filter((one) => !this.known.has(keyOf(...one))) : values;
  }

  /** Take answers ([cui, name] or null) to values; says whether any mark changes by that. */
  take(values, concepts) {
    let changed = false;
    values.forEach((value, index) => {
      const [key, concept] = [keyOf(...value), concepts[index] ?? null];
      changed ||= JSON.stringify(this.known.get(key) ?? null) !== JSON.stringify(concept);
      this.known.set(key, concept);
    });
    return changed;
  }

  /** The decided values of a label in the order of its fields: [{head, value, cui, name}], `head` for the slot's own values. */
  of(label, slot) {
    return medicalValues(label, slot).flatMap(({ field, value }) => {
      const concept = this.known.get(keyOf(label.id, slot.name, field, value));
      return concept ? [{ head: field === slot.head, value, cui: concept[0], name: concept[1] }] : [];
    });
  }
}

const LONGEST = 80; // letters of a name that a mark shows; some vocabularies have names of thousands

const clipped = (name) => (name.length > LONGEST ? `${name.slice(0, LONGEST - 1).trimEnd()}…` : name);

/** The mark beside a value: a sign and the concept's name; its identifier for who hears the page. `before` stands first. */
export function conceptMark({ value, cui, name }, before = "") {
  return el("span", { class: "canonical", title: `${value}: ${name} (${cui})` }, before ? `${before} ` : "", el("span", { "aria-hidden": "true" }, "≡ "), el("span", { class: "visually-hidden" }, "means "), wordingKey(name) === wordingKey(value) ? "" : clipped(name), el("span", { class: "visually-hidden" }, ` ${cui}`));
}

/** Asks what the values of the labels mean: of all of them with the news, of new ones as soon as they are drawn. */
export class Concepts {
  /** work: the workbench's parts; ask(url, body) -> Promise of {status, body}. */
  constructor(work, ask = post) {
    Object.assign(this, { work, ask, url: work.root.dataset.decided, canon: new Canon(), fresh: new Map(), timer: 0 });
  }

  marks(label) {
    const slot = this.work.model.slot(label.slot);
    if (this.url && slot) this.askSoon(this.canon.wanted(label, slot, true));
    return this.canon.of(label, slot);
  }

  /** Whatever is drawn in one go is asked for at once. */
  askSoon(values) {
    for (const value of values) this.fresh.set(keyOf(...value), value);
    if (!values.length || this.timer) return;
    this.timer = setTimeout(() => {
      this.timer = 0;
      const asked = [...this.fresh.values()];
      this.fresh.clear();
      return this.request(asked);
    }, PAUSE);
  }

  /** What was decided, or taken back, since these labels were drawn. */
  load() {
    const { model } = this.work;
    clearTimeout(this.timer);
    this.timer = 0;
    this.fresh.clear();
    const labels = model.utterances.flatMap(({ position }) => model.labelsAt(position));
    return this.request(labels.flatMap((label) => this.canon.wanted(label, model.slot(label.slot))));
  }

  /** Without an answer the marks stay as they are, and the next news asks again. */
  async request(values) {
    if (!this.url || !values.length) return;
    try {
      const { status, body } = await this.ask(this.url, { values });
      if (status === 200 && this.canon.take(values, body.concepts)) this.draw();
    } catch {
      // The next time will tell.
    }
  }

  draw() {
    const { model, navigation, saving } = this.work;
    for (const turn of model.utterances) if (model.labelsAt(turn.position).length) navigation.drawTurn(turn.position);
    saving.drawList();
  }
}
