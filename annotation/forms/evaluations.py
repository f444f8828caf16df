"""A file of predictions: whose it is, for which task, and what it is compared with."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from django import forms
from django.conf import settings
from django.utils.formats import date_format
from django.utils.timezone import localtime

from annotation.domain.splits import MAX_SHARES, BadShares, Shares, Split
from annotation.forms.base import PortalForm
from annotation.models import Evaluation, EvaluationTask, ExportJob
from annotation.services.evaluation_exports import dialogs_sum, drawing_text, short_id
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
NOW = "now"


class ScoringForm(PortalForm):
    """What predictions are compared with, and how."""

    comparator = forms.ChoiceField(
        label="Comparator",
        help_text="When texts that are no medical terms are the same: “2 days” and “two days” are, normalised.",
    )
    gold = forms.ChoiceField(
        label="Gold",
        help_text="An export stays as it is, and so do scores against it. The gold as it is now moves on with every "
        "decision.",
    )
    split = forms.ChoiceField(
        label="Dialogues",
        choices=[(ALL, "all"), *((one.value, f"in {one.value}") for one in Split)],
        help_text="An export has its own splits; for the gold as it is now, the seed and the shares draw them.",
    )
    random_seed = forms.IntegerField(
        label="Random seed", min_value=0, max_value=MAX_SEED, help_text="Only for the gold as it is now."
    )
    shares = forms.CharField(
        label="Shares of train, valid, test",
        max_length=MAX_SHARES,
        help_text="Only for the gold as it is now: the seed and the shares that the system was trained with.",
    )

    def __init__(self, data: Any = None, *, exports: Iterable[ExportJob] = (), initial: Mapping[str, Any]) -> None:
        """`exports` can be chosen as the gold."""
        usual = {"comparator": NORMALISED, "gold": NOW, "split": ALL, "random_seed": 1, "shares": str(Shares())}
        super().__init__(data, initial={**usual, **initial})
        offered = {**COMPARATORS, **(WITH_CHAT if settings.PORTAL_CHAT_URL else {})}
        self.fields["comparator"].choices = list(offered.items())  # type: ignore[attr-defined]
        named = [(str(job.pk), _export_text(job)) for job in exports]
        self.fields["gold"].choices = [(NOW, "the gold as it is now"), *named]  # type: ignore[attr-defined]

    def clean_shares(self) -> Shares:
        try:
            return Shares.parse(self.cleaned_data["shares"])
        except BadShares as error:
            raise forms.ValidationError(str(error)) from error

    def scoring(self) -> dict[str, Any]:
        """What a valid form says, as arguments of `evaluation_again`."""
        data = self.cleaned_data
        export = "" if data["gold"] == NOW else str(data["gold"])
        choice = GoldChoice(data["split"], data["random_seed"], data["shares"], export)
        return {"choice": choice, "comparator": data.get("comparator", "")}


class AgainForm(ScoringForm):
    """Other choices for predictions that are there already; as initial choice those that they were scored with."""

    def __init__(self, data: Any = None, *, evaluation: Evaluation, exports: Iterable[ExportJob] = ()) -> None:
        choice = GoldChoice.from_json(evaluation.options)
        drawn = {"split": choice.split, "random_seed": choice.random_seed, "shares": str(choice.shares)}
        compared = {"gold": choice.export or NOW, "comparator": evaluation.options["comparator"]}
        super().__init__(data, exports=exports, initial={**drawn, **compared})
        gold = self.fields["gold"]
        self.export_gone = choice.export not in ("", *(value for value, _ in gold.choices))  # type: ignore[attr-defined]
        if self.export_gone:
            gold.choices = [("", "choose one"), *gold.choices]  # type: ignore[attr-defined]
            gold.initial = self.initial["gold"] = ""
        if evaluation.task == EvaluationTask.NLG:
            del self.fields["comparator"]


class EvaluationForm(ScoringForm):
    system = forms.CharField(label="Name of the system", max_length=100)
    task = forms.ChoiceField(label="Task", choices=[(one.value, text) for one, text in TASKS.items()])
    field_order = ("system", "task", "comparator", "gold", "split", "random_seed", "shares", "files")

    def __init__(
        self,
        data: Any = None,
        *,
        exports: Iterable[ExportJob] = (),
        task: EvaluationTask = EvaluationTask.NLU,
        limit: str = "",
        typed: Mapping[str, str] | None = None,
    ) -> None:
        """`typed` is what was typed before into a form that was refused whole."""
        super().__init__(data, exports=exports, initial={"task": task.value, **(typed or {})})
        self.fields["files"] = forms.FileField(
            label="Predictions",
            required=False,  # the view knows what arrived
            widget=forms.FileInput(attrs={"accept": ".jsonl,.json,.txt", "required": True}),
            help_text=f"JSON lines, or a whole dataset; at most {limit}.",
        )

    def refuse_file(self, sentence: str) -> None:
        """Say what is wrong with the file, also where nothing else could be read."""
        if not self.is_bound:
            self.cleaned_data: dict[str, Any] = {}
        self.add_error("files", sentence)

    def chosen(self) -> dict[str, Any]:
        """What a valid form says, as arguments of `evaluation_create`."""
        data = self.cleaned_data
        return {"system": data["system"], "task": EvaluationTask(data["task"]), **self.scoring()}


def _export_text(job: ExportJob) -> str:
    """An export in a list: when it was made, how its splits were drawn, and the sum of its dialogs.json, or of its
    manifest."""
    drawn = f"{short_id(job.pk)}: {drawing_text(job.options, job.report.get('splits', {}).get('in_domain', ()))}"
    text = f"the export of {date_format(localtime(job.created_at), 'j M Y, H:i')} ({drawn})"
    if found := dialogs_sum(job):
        return f"{text}, dialogs.json {found[:12]} (SHA-256)"
    found = str(job.report.get("manifest_sha256", ""))
    return f"{text}, manifest {found[:12]} (SHA-256)" if found else text
