"""`adjudicate --accept-agreed` from the shell's side."""

from __future__ import annotations

import io
import json
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from annotation.models import LabelSet
from tests.adjudicating import make_pair


def run(*words: str) -> dict[str, Any]:
    out = io.StringIO()
    call_command("adjudicate", *words, "--json", stdout=out)
    return json.loads(out.getvalue())


def test_what_agrees_is_taken_into_the_gold_and_conflicts_are_counted(dialogue: Any, people: Any) -> None:
    make_pair(dialogue, people.annotator, people.second)
    found = run("--project", "Chest clinic", "--accept-agreed")
    assert found == {"dialogues": 1, "agreed": 2, "conflicts": 3}
    gold = LabelSet.objects.get(owner="gold")
    assert (gold.labels.count(), gold.events.get().actor) == (2, None)
    assert run("--project", "Chest clinic", "--accept-agreed") == found


def test_what_to_do_must_be_said(project: Any) -> None:
    with pytest.raises(CommandError, match="--accept-agreed"):
        run("--project", "Chest clinic")
