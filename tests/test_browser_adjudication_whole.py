"""A whole released dialogue, decided by keyboard; needs PORTAL_REAL_DATA."""

from __future__ import annotations

import json
import uuid
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect

from annotation.models import LabelSet, Project, Status
from annotation.services.adjudication import gold_begin_review
from annotation.services.label_imports import portal_file_import
from annotation.services.labelling import Change, label_set_change
from annotation.services.readings import labels_of
from tests import factory
from tests.adjudicating import Pair
from tests.browser import sign_in
from tests.test_browser_adjudication import Screen
from tests.test_browser_adjudication_screenshot import otherwise

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def released(real_data: Path, project: Project, people: Any) -> LabelSet:
    """RES0001 with its released labels, as the first annotator's finished work."""
    folder = real_data / "meditod"
    turns = json.loads((folder / "RES0001.dialogue.json").read_text(encoding="utf-8"))["utterances"]
    dialogue = factory.make_dialogue(project, "RES0001", [(turn["speaker"], turn["text"]) for turn in turns])
    label_set = factory.make_label_set(dialogue, people.annotator)
    data, name = (folder / "RES0001.labels.json").read_bytes(), "RES0001.labels.json"
    portal_file_import(label_set=label_set, actor=people.annotator, data=data, file=name, key="all")
    LabelSet.objects.update(status=Status.DONE)
    label_set.refresh_from_db()
    return label_set


def a_key_that_is_offered(screen: Screen, number: int) -> str:
    """Another choice each time, as far as the conflict offers it."""
    offered = screen.page.locator("[data-choice] kbd").all_text_contents()
    return next(key for key in ["abtx"[number % 4], "a", "b"] if key in offered)


def test_a_whole_dialogue_is_decided_without_the_mouse(
    real_data: Path, project: Project, people: Any, chromium: Any, live_server: Any
) -> None:
    first = released(real_data, project, people)
    second = factory.make_label_set(first.dialogue, people.second)
    changes = [Change(str(uuid.uuid4()), label) for label in otherwise(labels_of(first))]
    label_set_change(label_set=second, actor=people.second, version=0, key="all", changes=changes, deciding=True)
    LabelSet.objects.update(status=Status.DONE)
    pair = Pair(first.dialogue, first, second)
    agreed, conflicts = pair.case.agreed, pair.case.conflicts
    assert agreed > 90
    assert conflicts > 8
    screen = Screen(sign_in(chromium, live_server, "sam"), live_server, pair).open()
    places = []
    for number in range(conflicts):
        places.append(screen.at)
        screen.press(a_key_that_is_offered(screen, number))
    assert places == sorted(places)
    screen.progress(f"{conflicts} of {conflicts} conflicts decided")
    screen.saved()
    screen.open()
    screen.progress(f"{conflicts} of {conflicts} conflicts decided")
    screen.press("Control+Enter")
    expect(screen.page.locator("[data-status-text]")).to_have_text("done")
    assert pair.gold.status == Status.DONE
    origins = Counter(pair.gold.labels.values_list("provenance__from", flat=True))
    assert origins["agreed"] == agreed
    assert origins["A"]
    assert origins["B"]
    assert screen.errors == []


def test_a_sample_of_a_whole_dialogue_leaves_the_rest_marked_as_not_looked_at(
    real_data: Path, project: Project, people: Any, chromium: Any, live_server: Any
) -> None:
    first = released(real_data, project, people)
    pair = Pair(first.dialogue, first, None)  # type: ignore[arg-type]
    dialogue = pair.case.dialogue
    gold_begin_review(dialogue=dialogue, actor=people.supervisor, share=0.1)
    seen, unseen = pair.case.conflicts, pair.case.unseen
    assert seen + unseen == 115
    assert 0 < seen < 40
    screen = Screen(sign_in(chromium, live_server, "sam"), live_server, pair).open()
    expect(screen.page.locator("[data-conflicts] li")).to_have_count(seen)
    expect(screen.page.locator(".label .from", has_text="not looked at")).to_have_count(unseen)
    screen.press("x", *["a"] * (seen - 1))
    screen.progress(f"{seen} of {seen} labels reviewed")
    screen.saved()
    expect(screen.page.locator("[data-sample]")).to_contain_text(f"{unseen} labels outside the sample")
    assert pair.gold.labels.count() == 114
    assert screen.errors == []
