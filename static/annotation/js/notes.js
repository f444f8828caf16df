// The project's own additions to the guidelines. Pure.

/** The notes {intent, slot, text, example} that matter for an intent and a slot; all of them when neither is chosen. */
export function notesAbout(notes, intent, slot) {
  if (!intent && !slot) return notes;
  return notes.filter((note) => (!note.intent || note.intent === intent) && (!note.slot || note.slot === slot));
}

/** What to tell somebody who had `before` on the page, when `now` came: a sentence, or "". */
export function newsInWords(before, now) {
  const answers = new Map(before.concerns.map((concern) => [concern.id, concern.answers.length]));
  const answered = now.concerns.filter((concern) => concern.answers.length > (answers.get(concern.id) ?? concern.answers.length));
  if (answered.length) return `Your question about utterance ${answered.map((concern) => concern.position).join(", ")} was answered.`;
  const more = now.returned.length - before.returned.length;
  if (more > 0) return more === 1 ? "A question came back to you; see “To look at”." : `${more} questions came back to you; see “To look at”.`;
  return more < 0 && !now.returned.length ? "All questions that came back to you are answered." : "";
}
