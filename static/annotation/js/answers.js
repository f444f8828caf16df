// What one turn asks and the next one answers: the rules behind the answer keys and the prefilled form. Pure.

/** The inquiries that a turn may answer: those of the nearest turns before it by others, in their order. */
export function inquiriesBefore(utterances, labelsAt, asks, position) {
  const index = utterances.findIndex((turn) => turn.position === position);
  if (index < 0) return [];
  const speaker = utterances[index].speaker;
  for (let at = index - 1; at >= 0 && at >= index - 4; at--) {
    if (utterances[at].speaker === speaker) continue;
    const found = labelsAt(utterances[at].position).filter((label) => asks(label.intent) && label.slot);
    if (found.length) return found;
  }
  return [];
}

const heads = (slot, label) => (slot.head ? label.answers[slot.head] : undefined);

/**
 * The labels that answer inquiries with yes, no or unsure, one for each inquiry that a status can answer; of several
 * answers with that meaning, the one that a bare yes or no stands for.
 * The place that was asked about comes along ("any calf pain?" – "no"), other checked values are not confirmed by a no.
 */
export function answerLabels(inquiries, slotOf, informing, position, meaning) {
  const result = [];
  for (const inquiry of inquiries) {
    const slot = slotOf(inquiry.slot);
    const status = slot && slot.status && slot.fields.find((field) => field.name === slot.status);
    const fitting = status ? status.choices.filter((item) => item.meaning === meaning && !item.older) : [];
    const choice = fitting.find((item) => item.bare) || fitting[0];
    const head = slot && heads(slot, inquiry);
    if (!choice || (slot.head && !(head && head.length))) continue;
    const answers = {};
    if (slot.head) answers[slot.head] = head;
    answers[slot.status] = choice.name;
    for (const field of slot.fields) {
      if (field.kind === "values" && field.name !== slot.head && inquiry.answers[field.name]) {
        answers[field.name] = inquiry.answers[field.name];
      }
    }
    result.push({ position, intent: informing, slot: slot.name, answers, checks: [], origin: "answer key" });
  }
  return result;
}

/**
 * The form that answers an inquiry: its slot and head, the values that were checked, and the questions that were asked,
 * which come first. Null when there is nothing to answer.
 */
export function answerForm(inquiry, slot, informing, speaker) {
  if (!inquiry || !slot) return null;
  const answers = {};
  const head = heads(slot, inquiry);
  if (head && head.length) answers[slot.head] = head;
  for (const field of slot.fields) {
    if (field.kind === "values" && field.name !== slot.head && inquiry.answers[field.name]) {
      answers[field.name] = inquiry.answers[field.name];
    }
  }
  const status = slot.fields.find((field) => field.name === slot.status);
  if (status && status.default && status.default[speaker]) answers[slot.status] = status.default[speaker];
  const asked = slot.fields.filter((field) => inquiry.checks.includes(field.name) && field.name !== slot.head);
  return { intent: informing, slot: slot.name, answers, checks: [], asked: asked.map((field) => field.name) };
}

/** The inquiries before a turn that none of its labels answers yet. `model`: see model.js. */
export function unanswered(model, position) {
  const head = (label) => String(label.answers[model.slot(label.slot)?.head] || "");
  const answered = (inquiry) => model.labelsAt(position).some((label) => label.slot === inquiry.slot && head(label) === head(inquiry));
  return inquiriesBefore(model.utterances, model.labelsAt, model.asks, position).filter((inquiry) => !answered(inquiry));
}

const speakerOf = (questionnaire, name) => questionnaire.speakers.find((item) => item.name === name);

/** The intent with which a speaker answers: the usual one, or the other one where the usual one asks. */
export function informing(questionnaire, speakerName) {
  const speaker = speakerOf(questionnaire, speakerName);
  const asks = (name) => questionnaire.intents.find((intent) => intent.name === name)?.asks;
  return [speaker?.usual_intent, speaker?.other_intent].find((name) => name && !asks(name)) || "inform";
}

/** What an empty form starts with on a speaker's turn. */
export function emptySeed(questionnaire, speakerName) {
  const intent = speakerOf(questionnaire, speakerName)?.usual_intent || questionnaire.intents[0].name;
  const slots = questionnaire.slots.filter((slot) => slot.intents.includes(intent));
  return { intent, slot: slots.length === 1 ? slots[0].name : "" };
}

/** Whether a question is put to a label of this intent on this speaker's turn. */
export function isOffered(field, intent, speaker) {
  return (!field.intents.length || field.intents.includes(intent)) && (!field.speakers.length || field.speakers.includes(speaker));
}

/** What a fresh label starts with ("status starts at yes"); an inquiry starts empty. */
export function defaults(slot, speaker, intent, asking) {
  if (asking) return {};
  const preset = slot.fields.filter((field) => field.default?.[speaker] && isOffered(field, intent, speaker));
  return Object.fromEntries(preset.map((field) => [field.name, field.default[speaker]]));
}

/** The intents that only one speaker has and that Shift with a slot's key takes: {slot, intent, speaker}. */
export function ownIntents(questionnaire) {
  return questionnaire.slots.flatMap((slot) =>
    questionnaire.speakers.flatMap(({ name: speaker }) => {
      const intent = intentFor(questionnaire, slot, speaker, true);
      const narrow = questionnaire.intents.find((item) => item.name === intent)?.speakers.length === 1;
      return narrow && intent !== intentFor(questionnaire, slot, speaker, false) ? [{ slot: slot.name, intent, speaker }] : [];
    }),
  );
}

/** The intent that a slot's key takes on a speaker's turn; with Shift the other one, or the one only this speaker has. */
export function intentFor(questionnaire, slot, speakerName, shifted) {
  const speaker = speakerOf(questionnaire, speakerName);
  const allowed = questionnaire.intents.filter((intent) => slot.intents.includes(intent.name) && intent.speakers.includes(speakerName));
  const has = (name) => allowed.some((intent) => intent.name === name);
  if (shifted) {
    const own = allowed.find((intent) => intent.speakers.length === 1 && !intent.named);
    if (own) return own.name;
    if (speaker && has(speaker.other_intent)) return speaker.other_intent;
  }
  if (speaker && has(speaker.usual_intent)) return speaker.usual_intent;
  return allowed.length ? allowed[0].name : "";
}
