// The keys of slots and slotless intents beside the dialogue: what the speaker of the chosen utterance cannot use is grey.

import { intentFor, ownIntents } from "./answers.js";
import { el } from "./dom.js";
import { keyNames } from "./keys.js";

export class Legend {
  constructor(work) {
    this.work = work;
    this.own = ownIntents(work.data.questionnaire).filter(({ slot }) => work.keyFor(`slot:${slot}`));
    this.place = work.root.querySelector(".slot-keys");
    if (!this.place) return;
    this.place.append(...this.own.map((own) => this.button(own)));
    for (const button of this.place.children) button.dataset.help = button.title;
  }

  /** An intent of one speaker only has no key of its own: it is Shift and the key of its slot. */
  button({ slot, intent }) {
    const title = this.work.model.intent(intent);
    return el("button", { type: "button", class: "slot-key", "data-action": `slot:${slot}`, "data-shifted": true, title: title.help }, el("kbd", {}, this.shifted(slot)), ` ${title.title}`);
  }

  shifted(slot) {
    return keyNames(`Shift+${this.work.keyFor(`slot:${slot}`)}`).join("+");
  }

  draw(speaker) {
    for (const button of this.place?.children || []) {
      button.disabled = !this.applies(button.dataset, speaker);
      button.title = button.disabled ? `Not on the ${speaker}'s turns.` : button.dataset.help;
    }
  }

  applies({ action, shifted }, speaker) {
    const { model, data } = this.work;
    const name = action.slice(action.indexOf(":") + 1);
    if (action.startsWith("intent:")) return model.intent(name).speakers.includes(speaker);
    if (shifted !== undefined) return this.own.some((own) => own.slot === name && own.speaker === speaker);
    return Boolean(intentFor(data.questionnaire, model.slot(name), speaker, false));
  }

  /** What to press instead of a key that this speaker's turns refuse. */
  instead(speaker) {
    const own = this.own.find((item) => item.speaker === speaker);
    if (!own) return "Enter opens what can be said here.";
    return `For “${this.work.model.intent(own.intent).title}” press ${this.shifted(own.slot)}.`;
  }
}
