"""A file of predictions: whose it is, for which task, and what it is compared with."""

from __future__ import annotations

from typing import Any

from django import forms
from django.conf import settings

from annotation.domain.splits import BadShares, Shares, Split
from annotation.forms.base import PortalForm
from annotation.models import EvaluationTask
from annotation.services.evaluation_gold import ALL, GoldChoice
from annotation.services.evaluation_scoring import CHAT, EXACT, NORMALISED
from annotation.services.export_readings import MAX_SEED

TASKS = {
    EvaluationTask.NLU: "Understanding: what the patient says",
    EvaluationTask.POL: "Policy: what the doctor does next",
    EvaluationTask.NLG: "Generation: what the doctor says next",
}
COMPARATORS = {NORMALISED: "normalised", EXACT: "exact"}
WITH_CHAT = {CHAT: "chat endpoint"}


class EvaluationForm(PortalForm):
    system = forms.CharField(label="Name of the system", max_length=100)
    task = forms.ChoiceField(label="Task", choices=[(one.value, text) for one, text in TASKS.items()])
    comparator = forms.ChoiceField(
        label="Comparator",
        help_text="When texts that are no medical terms are the same: “2 days” and “two days” are, normalised.",
    )
    split = forms.ChoiceField(
        label="Dialogues",
        choices=[(ALL, "all with finished gold"), *((one.value, f"in {one.value}") for one in Split)],
    )
    random_seed = forms.IntegerField(label="Random seed", min_value=0, max_value=MAX_SEED)
    shares = forms.CharField(
        label="Shares of train, valid, test",
        max_length=40,
        help_text="The seed and the shares of the export that the system was trained on.",
    )

    def __init__(self, data: Any = None) -> None:
        usual = {"task": EvaluationTask.NLU.value, "comparator": NORMALISED, "split": ALL}
        super().__init__(data, initial={**usual, "random_seed": 1, "shares": str(Shares())})
        offered = {**COMPARATORS, **(WITH_CHAT if settings.PORTAL_CHAT_URL else {})}
        self.fields["comparator"].choices = list(offered.items())  # type: ignore[attr-defined]

    def clean_shares(self) -> Shares:
        try:
            return Shares.parse(self.cleaned_data["shares"])
        except BadShares as error:
            raise forms.ValidationError(str(error)) from error

    def chosen(self) -> dict[str, Any]:
        """What a valid form says, as arguments of `evaluation_create`."""
        data = self.cleaned_data
        return {
            "system": data["system"],
            "task": EvaluationTask(data["task"]),
            "comparator": data["comparator"],
            "choice": GoldChoice(data["split"], data["random_seed"], data["shares"]),
        }
