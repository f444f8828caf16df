"""The patient's state as JSON."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import zip_longest
from typing import Any

from annotation.domain.dataset import mentions_of_nlu, nlu_of, state_to_dataset
from annotation.domain.labels import Reading
from annotation.domain.mentions import SUBJECT
from annotation.domain.questionnaire import Questionnaire
from annotation.domain.state import Attribute, Entry, Setting, track


def dialog_state_at(questionnaire: Questionnaire, reading: Reading, at: int) -> dict[str, Any]:
    """The state after the utterance at `at`, in the form of the dataset."""
    labels = reading.by_position()
    said = [
        mention
        for turn in reading.utterances
        if turn.speaker == SUBJECT and turn.position <= at
        for mention in mentions_of_nlu(nlu_of(questionnaire, labels[turn.position]), turn.position)
    ]
    return state_to_dataset(track(said))


def entry_as_json(entry: Entry) -> dict[str, Any]:
    """An entry with the whole history of its statuses and attributes, oldest first."""
    return {
        "slot": entry.slot,
        "value": entry.value,
        "status": entry.status,
        "first_position": entry.first_position,
        "statuses": _settings(entry.statuses),
        "attributes": {name: _settings(settings) for name, settings in entry.attributes.items()},
    }


def _settings(settings: Sequence[Setting]) -> list[dict[str, Any]]:
    return [
        {"position": this.position, "value": _value(this.value), "overridden_at": following and following.position}
        for this, following in zip_longest(settings, settings[1:])
    ]


def _value(value: Attribute) -> str | list[str]:
    return value if isinstance(value, str) else list(value)
