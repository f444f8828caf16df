// Which values are decided to mean a concept, and the marks that say so. The portal tells of wordings by a digest of
// their place only: a wording that one uses oneself is found, and nobody learns what others wrote.

import { el } from "./dom.js";

const PATIENCE = 20000;
const OFFSET = 0xcbf29ce484222325n;
const PRIME = 0x100000001b3n;

/** A wording as it is compared: NFC, without case, white space collapsed. */
export function wordingKey(text) {
  const nfc = (value) => value.normalize("NFC");
  return nfc(nfc(text).toUpperCase().toLowerCase()).split(/\s+/).filter(Boolean).join(" ");
}

/** FNV-1a (64 bits, hex) over slot, field and wording with U+001F between them, in UTF-8; the portal computes the same. */
export function placeDigest(slot, field, text) {
  let value = OFFSET;
  for (const byte of new TextEncoder().encode([slot, field, wordingKey(text)].join("\u001f"))) value = BigInt.asUintN(64, (value ^ BigInt(byte)) * PRIME);
  return value.toString(16).padStart(16, "0");
}

/** What is decided, as the portal told it: {forms: {digest: [cui, name]}, labels: {label: {digest: [cui, name] or null}}}. */
export class Canon {
  constructor({ forms = {}, labels = {} } = {}) {
    Object.assign(this, { forms, labels, digests: new Map() });
    this.empty = !Object.keys(forms).length && !Object.keys(labels).length;
  }

  /** {cui, name} of a value of a label, or null where nothing is decided. */
  concept(label, slot, field, text) {
    if (this.empty) return null;
    const place = `${slot}\u001f${field}\u001f${text}`;
    if (!this.digests.has(place)) this.digests.set(place, placeDigest(slot, field, text));
    const digest = this.digests.get(place);
    const own = this.labels[label];
    const found = own && digest in own ? own[digest] : this.forms[digest];
    return found ? { cui: found[0], name: found[1] } : null;
  }

  /** The decided values of a label in the order of its fields: [{head, value, cui, name}], `head` for the slot's own values. */
  of(label, slot) {
    const found = [];
    for (const field of this.empty || !slot ? [] : slot.fields.filter((item) => item.medical)) {
      const answer = label.answers[field.name] || [];
      for (const one of Array.isArray(answer) ? answer : [answer]) {
        const value = one.value ?? one;
        const concept = this.concept(label.id, slot.name, field.name, value);
        if (concept) found.push({ head: field.name === slot.head, value, ...concept });
      }
    }
    return found;
  }
}

/** The mark beside a value: a sign and the concept's name; its identifier for who hears the page. `before` stands first. */
export function conceptMark({ value, cui, name }, before = "") {
  return el("span", { class: "canonical", title: `${value}: ${name} (${cui})` }, before ? `${before} ` : "", el("span", { "aria-hidden": "true" }, "≡ "), el("span", { class: "visually-hidden" }, "means "), wordingKey(name) === wordingKey(value) ? "" : name, el("span", { class: "visually-hidden" }, ` ${cui}`));
}

/** Fetches what is decided, after the page has loaded and with the news, and has the labels drawn anew when it changed. */
export class Concepts {
  constructor(work) {
    this.work = work;
    this.url = work.root.dataset.decided;
    this.canon = new Canon();
    this.stamp = "";
  }

  marks(label) {
    return this.canon.of(label, this.work.model.slot(label.slot));
  }

  /** Without an answer the marks stay as they are. */
  async load() {
    if (!this.url) return;
    try {
      const answer = await fetch(this.url, { credentials: "same-origin", redirect: "manual", headers: { Accept: "application/json", ...(this.stamp ? { "If-None-Match": this.stamp } : {}) }, signal: AbortSignal.timeout?.(PATIENCE) });
      if (answer.status !== 200) return;
      const found = await answer.json();
      const stamp = answer.headers.get("ETag") || "";
      if (stamp && stamp === this.stamp) return;
      this.stamp = stamp;
      this.canon = new Canon(found);
      this.draw();
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
