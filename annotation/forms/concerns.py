"""Forms about concerns and the guideline text that comes of them."""

from __future__ import annotations

from typing import Any

from django import forms

from annotation.domain.questionnaire import Questionnaire
from annotation.forms.base import PortalForm
from annotation.services import concerns, guideline_notes


class AnswerForm(PortalForm):
    text = forms.CharField(
        label="Answer",
        max_length=concerns.MAX_LENGTH,
        widget=forms.Textarea(attrs={"rows": 4}),
        help_text="The annotator reads it under the utterance. Your name is not shown there.",
    )


class PublishForm(PortalForm):
    """Guideline text for an intent, a slot, both, or the project as a whole."""

    guideline = forms.CharField(
        label="Guideline",
        max_length=guideline_notes.MAX_LENGTH,
        widget=forms.Textarea(attrs={"rows": 3}),
        help_text="Everybody in the project reads it: leave out names and what was said in the dialogue.",
    )
    example = forms.CharField(
        label="Example", max_length=guideline_notes.MAX_LENGTH, required=False, widget=forms.Textarea(attrs={"rows": 2})
    )
    intent = forms.ChoiceField(label="Intent", required=False)
    slot = forms.ChoiceField(label="Slot", required=False)

    def __init__(self, questionnaire: Questionnaire, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        everything = [("", "all of them")]
        self.fields["intent"].choices = everything + [(one.name, one.title) for one in questionnaire.intents]  # type: ignore[attr-defined]
        self.fields["slot"].choices = everything + [(one.name, one.title) for one in questionnaire.slots]  # type: ignore[attr-defined]
