"""What is exported for researchers, and how."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django import forms

from annotation.domain.export_formats import Format, parse_formats
from annotation.domain.splits import MAX_SHARES, BadShares, Shares
from annotation.forms.base import PortalForm
from annotation.models import User
from annotation.services.export_readings import ALL, ANNOTATOR, GOLD, MAX_SEED, ExportOptions

FORMATS = {
    Format.JSONL: "JSON lines: one utterance a line",
    Format.CSV: "CSV: one utterance a row",
    Format.TUPLES: "Flat tuples (CSV): intent, slot, value, attribute, attribute value",
    Format.HUGGINGFACE: "A folder for Hugging Face datasets, with its card",
    Format.PORTAL: "The portal's own files, two a dialogue; they can be imported again",
}
DRAWING = ("shares", "random_seed", "specialties")
_SIGN = f"{ANNOTATOR}="


class SourceForm(PortalForm):
    """Whose labels are exported; it stands in the address, so that the page can be looked at again."""

    source = forms.ChoiceField(label="Labels")
    unfinished = forms.BooleanField(label="Also dialogues that are not done", required=False)

    def __init__(self, *args: Any, people: Sequence[User], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        choices = [(GOLD, "gold"), (ALL, "of all annotators, each in a folder under a pseudonym")]
        choices += [(f"{_SIGN}{one.username}", f"of {one.display_name}, under a pseudonym") for one in people]
        self.fields["source"].choices = choices  # type: ignore[attr-defined]

    def chosen(self) -> dict[str, Any]:
        """What is chosen as fields of ExportOptions; the gold where the address says nothing or something unknown."""
        if not self.is_valid():
            return {}
        source = self.cleaned_data["source"]
        kind, _sign, name = source.partition("=")
        return {"source": kind, "annotator": name, "unfinished": self.cleaned_data["unfinished"]}


class ExportForm(PortalForm):
    formats = forms.MultipleChoiceField(
        label="Beside MediTOD’s dialogs.json, the lists of ids, and the tables of medical values and concepts",
        choices=[(one.value, text) for one, text in FORMATS.items()],
        widget=forms.CheckboxSelectMultiple,
        required=False,
    )
    surface_forms = forms.BooleanField(
        label="Values as they were written",
        required=False,
        help_text="Otherwise a value with a decided concept has the concept’s name. The portal’s own files always keep "
        "the words of the labels.",
    )
    random_seed = forms.IntegerField(
        label="Random seed",
        min_value=0,
        max_value=MAX_SEED,
        help_text="Draws train and valid, and test too where no dialogue is known to be in it (as seeds are); the same "
        "number draws the same again.",
    )
    shares = forms.CharField(
        label="Shares of train, valid, test",
        max_length=MAX_SHARES,
        help_text="Like 0.8,0.1,0.1 or 1/3,1/3,1/3. Seed dialogues, where there are any, are the whole test set.",
    )
    specialties = forms.MultipleChoiceField(
        label="Specialties within the domain; the others become ood_test",
        widget=forms.CheckboxSelectMultiple,
        required=False,
    )
    title = forms.CharField(label="Name of the dataset", max_length=200)
    licence = forms.CharField(label="Licence", max_length=100, required=False, help_text="Like CC-BY-4.0.")
    citation = forms.CharField(
        label="How to cite it", max_length=2000, required=False, widget=forms.Textarea({"rows": 3})
    )

    def __init__(self, *args: Any, specialties: Sequence[str], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if specialties:
            self.fields["specialties"].choices = [(one, one) for one in specialties]  # type: ignore[attr-defined]
        else:
            del self.fields["specialties"]

    def clean_shares(self) -> Shares:
        try:
            return Shares.parse(self.cleaned_data["shares"])
        except BadShares as error:
            raise forms.ValidationError(str(error)) from error

    def drawing(self) -> dict[str, Any]:
        """What the splits are drawn by, as fields of ExportOptions, as far as it is given and valid."""
        if not self.is_bound:
            return {}
        self.full_clean()
        given = {name: self.cleaned_data[name] for name in DRAWING if name in self.cleaned_data}
        return {name: tuple(value) if isinstance(value, list) else value for name, value in given.items()}

    def options(self, **source: Any) -> ExportOptions:
        """The options of a valid form; `source` comes from the other one."""
        data = dict(self.cleaned_data)
        formats = parse_formats([Format.DIALOGS.value, *data.pop("formats")])
        return ExportOptions(**source, formats=formats, specialties=tuple(data.pop("specialties", ())), **data)
