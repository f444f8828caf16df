// The project's own additions to the guidelines. Pure.

/** The notes {intent, slot, text, example} that matter for an intent and a slot; all of them when neither is chosen. */
export function notesAbout(notes, intent, slot) {
  if (!intent && !slot) return notes;
  return notes.filter((note) => (!note.intent || note.intent === intent) && (!note.slot || note.slot === slot));
}

const answersOf = (concern) => concern.messages.filter((message) => !message.own).length;

/** The concern of an utterance that a reply goes to: the last that is not closed, else the last; null without any. */
export function concernToReplyTo(concerns, position) {
  const here = concerns.filter((concern) => concern.position === position);
  return here.findLast((concern) => concern.status !== "closed") || here.at(-1) || null;
}

/**
 * What is to be looked at, each thing once: `returned` questions with the `gaps` of the same label by the same rule that
 * their words do not hold, and the `problems` that no question is about.
 */
export function toLookAt(problems, returned) {
  const same = (problem, item) => problem.kind === "incomplete" && problem.label === item.label && problem.rule === item.rule;
  const said = (item, problem) => item.question.toLowerCase().includes(problem.message.toLowerCase());
  return {
    questions: returned.map((item) => ({ ...item, gaps: problems.filter((problem) => same(problem, item) && !said(item, problem)).map((problem) => problem.message) })),
    problems: problems.filter((problem) => !returned.some((item) => same(problem, item))),
  };
}

/** What to tell somebody who had `before` on the page, when `now` came: a sentence, or "". */
export function newsInWords(before, now) {
  const answers = new Map(before.concerns.map((concern) => [concern.id, answersOf(concern)]));
  const answered = now.concerns.filter((concern) => answersOf(concern) > (answers.get(concern.id) ?? answersOf(concern)));
  if (answered.length) return `Your concern about utterance ${answered.map((concern) => concern.position).join(", ")} was answered.`;
  const more = now.returned.length - before.returned.length;
  if (more > 0) return more === 1 ? "A question came back to you; see “To look at”." : `${more} questions came back to you; see “To look at”.`;
  return more < 0 && !now.returned.length ? "All questions that came back to you are answered." : "";
}
