"""Forms of dividing dialogues among annotators, and of people who join or leave."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from django import forms

from annotation.forms.base import PortalForm
from annotation.models import User
from annotation.services.errors import Refused
from annotation.services.group_assignment import seeds_from_text

LARGEST_SEED = 2**31 - 1


class PeopleField(forms.TypedMultipleChoiceField):
    """People as checkboxes; the cleaned value is a list of keys."""

    widget = forms.CheckboxSelectMultiple

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(coerce=int, **kwargs)

    def offer(self, people: Iterable[User]) -> None:
        self.choices = [(person.pk, person.display_name) for person in people]


class RandomSeedField(forms.IntegerField):
    def __init__(self) -> None:
        super().__init__(
            label="Random seed",
            min_value=0,
            max_value=LARGEST_SEED,
            help_text="All chance comes from it: the same number makes the same plan. It has nothing to do with seed "
            "dialogues.",
        )


class GroupsForm(PortalForm):
    annotators = PeopleField(label="Annotators", error_messages={"required": "Tick at least one annotator."})
    groups = forms.IntegerField(
        label="Groups",
        min_value=1,
        help_text="One for each annotator; those that are left over wait for people who join later.",
    )
    seeds = forms.CharField(
        label="Seed dialogues",
        max_length=12,
        help_text="A number like 6, or a share like 10 %. Each goes to two annotators who are not told, to measure "
        "their agreement.",
    )
    random_seed = RandomSeedField()

    def __init__(self, *args: Any, people: Sequence[User], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        offered: Any = self.fields["annotators"]
        offered.offer(people)

    def clean_seeds(self) -> int | float:
        try:
            return seeds_from_text(self.cleaned_data["seeds"])
        except Refused as refusal:
            raise forms.ValidationError(refusal.message) from refusal


class ChangesForm(PortalForm):
    arrivals = PeopleField(label="Who joins", required=False)
    leavers = PeopleField(label="Who leaves", required=False)
    random_seed = RandomSeedField()

    def __init__(self, *args: Any, arrivals: Sequence[User], leavers: Sequence[User], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for name, people in (("arrivals", arrivals), ("leavers", leavers)):
            offered: Any = self.fields[name]
            offered.offer(people)
