"""Training: one utterance compared with its gold, once it is labelled."""

from __future__ import annotations

from dataclasses import dataclass

from annotation.domain.scoring import Feedback, utterance_feedback
from annotation.domain.wording import label_text
from annotation.models import Explanation, LabelSet
from annotation.services.errors import Refused
from annotation.services.qualification import answered_positions, gold_of
from annotation.services.readings import reading_of


@dataclass(frozen=True, slots=True)
class Compared:
    """What somebody in training is told of one utterance. `gold` are the gold's labels in words."""

    feedback: Feedback
    gold: tuple[str, ...]


def compared(*, label_set: LabelSet, position: int) -> Compared:
    """The utterance at `position` of a training label set beside the gold.

    Raises Refused for one that has no label yet (nor, in a finished dialogue, a reason why it has none): whoever has
    not answered must not see the gold. Also where there is no such utterance or no gold.
    """
    reading = reading_of(label_set)
    labels = reading.by_position()
    if position not in {turn.position for turn in reading.utterances}:
        raise Refused(f"{label_set.dialogue} has no utterance {position}.")
    if position not in answered_positions(label_set):
        raise Refused(f"Label utterance {position} first; then it can be compared with the gold.")
    gold = gold_of(label_set.dialogue_id, label_set.purpose)
    if gold is None:
        raise Refused("This training dialogue has no gold yet; tell your supervisor.")
    questionnaire = label_set.dialogue.project.questionnaire
    golden = reading_of(gold).by_position()[position]
    explanation = Explanation.objects.filter(utterance__dialogue_id=label_set.dialogue_id, utterance__position=position)
    feedback = utterance_feedback(
        questionnaire,
        golden,
        labels[position],
        dialogue=label_set.dialogue.external_id,
        position=position,
        explanation=explanation.values_list("text", flat=True).first() or "",
    )
    return Compared(feedback, tuple(label_text(questionnaire, label) for label in golden))
