"""Which readings are counted, and how the splits are drawn."""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import urlencode

from django import forms

from annotation.domain.splits import MAX_SHARES, BadShares, Shares
from annotation.forms.base import PortalForm
from annotation.services.export_readings import MAX_SEED
from annotation.services.statistics_report import StatisticsChoice

BEST, GOLD = "best", "gold"


class StatisticsForm(PortalForm):
    """It stands in the address; what the address leaves out has its default."""

    reading = forms.ChoiceField(
        label="Labels",
        choices=[(BEST, "gold, else an annotator’s"), (GOLD, "finished gold only")],
    )
    random_seed = forms.IntegerField(label="Random seed", min_value=0, max_value=MAX_SEED)
    shares = forms.CharField(label="Shares of train, valid, test", max_length=MAX_SHARES)

    @classmethod
    def asked(cls, given: Mapping[str, str]) -> StatisticsForm:
        """The form for what an address says."""
        default = {"reading": BEST, "random_seed": "1", "shares": str(Shares())}
        return cls({**default, **{name: given[name] for name in default if name in given}})

    def clean_shares(self) -> Shares:
        try:
            return Shares.parse(self.cleaned_data["shares"])
        except BadShares as error:
            raise forms.ValidationError(str(error)) from error

    def choice(self) -> StatisticsChoice:
        """What a valid form says."""
        data = self.cleaned_data
        return StatisticsChoice(data["reading"] == GOLD, data["random_seed"], data["shares"])

    def query(self) -> str:
        """The same choice as part of an address."""
        return urlencode({name: str(self.cleaned_data[name]) for name in self.fields})
