"""Labels of a file that their questionnaire would not let anybody make, and that are kept all the same."""

from __future__ import annotations

from dataclasses import replace

from annotation.domain.labels import Label
from annotation.domain.questionnaire import Questionnaire
from annotation.domain.validation import InvalidLabel, checked_label, kept_problems


def checked_import(questionnaire: Questionnaire, label: Label, speaker: str) -> tuple[Label, str]:
    """The label in its stored form, and what is unusual about its intent or slot, "" for nothing.

    A file may hold an intent that this speaker does not have, or a slot that does not go with the intent: such a label
    is taken as it is, and said. Its answers must be right all the same; raises InvalidLabel where they are not.
    """
    if problems := kept_problems(label):
        raise InvalidLabel(problems)
    try:
        return checked_label(questionnaire, label, speaker), ""
    except InvalidLabel as error:
        stored = _with_usual_intent(questionnaire, label, error)
        return replace(stored, intent=label.intent, intent_name=label.intent_name), str(error)


def _with_usual_intent(questionnaire: Questionnaire, label: Label, error: InvalidLabel) -> Label:
    """The label checked under an intent that goes with its slot. Raises `error` when there is none."""
    slot = questionnaire.slot(label.slot)
    if slot is None:
        if label.slot or label.answers or label.checks:
            raise error
        return replace(label, questionnaire_version=questionnaire.version)
    intent = questionnaire.intent(slot.intents[0])
    if intent is None:
        raise error
    return checked_label(questionnaire, replace(label, intent=intent.name, intent_name=""), intent.speakers[0])
