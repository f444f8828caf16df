"""Forms about training, tests and who may work."""

from __future__ import annotations

from typing import Any

from django import forms

from annotation.forms.base import PortalForm
from annotation.models import Dialogue, ExamKind, Project, Role, User


class ExamSettingsForm(PortalForm):
    pass_mark = forms.FloatField(
        label="Pass mark",
        min_value=0,
        max_value=1,
        help_text="The least F against gold, from 0 to 1, for the intents and for slots with their values.",
        widget=forms.NumberInput({"step": "0.01", "class": "auto"}),
    )
    needs_test = forms.BooleanField(label="No real work before the test is passed", required=False)


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


class OverrideForm(PortalForm):
    """Letting somebody work who has not passed."""

    annotator = forms.ModelChoiceField(User.objects.none(), label="Annotator", empty_label="Choose an annotator")
    reason = forms.CharField(
        label="Reason", max_length=1000, help_text="It is kept with the decision.", widget=forms.Textarea({"rows": 2})
    )

    def __init__(self, project: Project, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        choice: Any = self.fields["annotator"]
        choice.queryset = User.objects.filter(
            memberships__project=project, memberships__role=Role.ANNOTATOR, is_active=True
        )
        choice.label_from_instance = lambda row: row.display_name
