"""Forms about training, tests and who may work."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from django import forms

from annotation.forms.base import PortalForm
from annotation.models import Dialogue, ExamKind, Project, User
from annotation.services.exams import MAX_ATTEMPTS
from annotation.services.work_gate import MAX_REASON


class ExamSettingsForm(PortalForm):
    pass_mark = forms.FloatField(
        label="Pass mark",
        min_value=0,
        max_value=1,
        help_text="The least F against gold, from 0 to 1, for the intents and for slots with their values.",
        widget=forms.NumberInput({"step": "0.01", "class": "auto"}),
    )
    attempt_limit = forms.IntegerField(
        label="Attempts",
        required=False,
        min_value=1,
        max_value=MAX_ATTEMPTS,
        help_text="How often a person may take the test; empty for as often as they like.",
        widget=forms.NumberInput({"class": "auto"}),
    )


class ExamAddForm(PortalForm):
    """A dialogue of the project that is neither for training nor for the test."""

    dialogue = forms.ModelChoiceField(Dialogue.objects.none(), label="Dialogue", empty_label="Choose a dialogue")
    kind = forms.ChoiceField(
        label="For", choices=[(ExamKind.TRAINING.value, "training"), (ExamKind.TEST.value, "the test")]
    )

    def __init__(self, project: Project, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        choice: Any = self.fields["dialogue"]
        choice.queryset = project.dialogues.open().filter(exams=None)
        choice.label_from_instance = lambda row: f"{row.external_id} ({row.utterance_count} utterances)"


class ReasonField(forms.CharField):
    def __init__(self, label: str = "Reason") -> None:
        super().__init__(
            label=label,
            max_length=MAX_REASON,
            help_text="It is kept with the decision.",
            widget=forms.Textarea({"rows": 2}),
        )


class WaiverForm(PortalForm):
    """Switching the test off for everybody."""

    reason = ReasonField("Why no test is needed here")


class DecisionForm(PortalForm):
    """A decision about one of these people: to work without the test, or to take it once more."""

    annotator = forms.ModelChoiceField(User.objects.none(), label="Annotator", empty_label="Choose an annotator")
    reason = ReasonField()

    def __init__(self, people: Collection[User], *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        choice: Any = self.fields["annotator"]
        choice.queryset = User.objects.filter(pk__in=[person.pk for person in people])
        choice.label_from_instance = lambda row: row.display_name
