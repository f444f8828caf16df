"""What agreement is measured over, as a form whose fields stand in the address."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django import forms

from annotation.forms.base import PortalForm
from annotation.services.agreement_scope import Scope

_DAY = {"type": "date"}


class ScopeForm(PortalForm):
    """`pairs` are (text of the option, both row numbers) of the annotators who have dialogues in common."""

    of = forms.ChoiceField(
        label="Dialogues", choices=[("", "all doubly labelled"), ("seeds", "seed dialogues")], required=False
    )
    pair = forms.ChoiceField(label="Annotators", required=False)
    specialty = forms.ChoiceField(label="Specialty", required=False)
    since = forms.DateField(label="From", widget=forms.DateInput(_DAY, format="%Y-%m-%d"), required=False)
    until = forms.DateField(label="Until", widget=forms.DateInput(_DAY, format="%Y-%m-%d"), required=False)

    def __init__(
        self, *args: Any, pairs: Sequence[tuple[str, tuple[int, int]]], specialties: Sequence[str], **kwargs: Any
    ) -> None:
        super().__init__(*args, **kwargs)
        options = [("", "all"), *((f"{one}-{other}", text) for text, (one, other) in pairs)]
        self.fields["pair"].choices = options  # type: ignore[attr-defined]
        self.fields["specialty"].choices = [("", "all"), *((one, one) for one in specialties)]  # type: ignore[attr-defined]

    def clean(self) -> dict[str, Any]:
        data = super().clean() or self.cleaned_data
        since, until = data.get("since"), data.get("until")
        if since and until and since > until:
            self.add_error("until", "This day lies before the first one.")
        return data

    def scope(self) -> Scope:
        """The chosen scope, or the whole project's where the form has errors."""
        if not self.is_valid():
            return Scope()
        data = self.cleaned_data
        pair = tuple(int(pk) for pk in data["pair"].split("-")) if data["pair"] else None
        both = (pair[0], pair[1]) if pair else None
        return Scope(data["of"] == "seeds", data["since"], data["until"], both, data["specialty"])
