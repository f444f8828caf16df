"""Adjudication as the documents show it. `PORTAL_SCREENSHOTS=1` makes the picture anew; the page is checked always."""

from __future__ import annotations

import os
import uuid
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from django.urls import reverse

from annotation.domain.labels import Label as LabelData
from annotation.models import Dialogue, LabelSet, Project, Role, Status
from annotation.services.adjudication_cases import case_of
from annotation.services.demo import demo_load
from annotation.services.labelling import Change, label_set_change
from annotation.services.readings import labels_of
from tests import factory
from tests.browser import sign_in

PICTURE = Path(__file__).resolve().parent.parent / "docs" / "adjudication.png"
DIALOGUE = "DEMO-RES-01"

pytestmark = pytest.mark.browser


def otherwise(labels: Sequence[LabelData]) -> Iterator[LabelData]:
    """What a second person might say: some onsets forgotten, some statuses otherwise, now and then no label."""
    for number, label in enumerate(labels):
        answers = dict(label.answers)
        if number % 13 == 5:
            continue
        if number % 7 == 3 and "onset" in answers:
            del answers["onset"]
        if label.intent == "inform" and number % 9 == 4 and answers.get("status") in ("yes", "no"):
            answers["status"] = "no" if answers["status"] == "yes" else "yes"
        yield replace(label, id="", answers=answers)


def doubly_labelled() -> Dialogue:
    """The demonstration's first dialogue with a second reading."""
    demo_load(password=factory.PASSWORD)
    project = Project.objects.get(name="Demo")
    first = LabelSet.objects.select_related("dialogue__project").get(dialogue__external_id=DIALOGUE)
    second = factory.make_member(project, factory.make_user("other"), Role.ANNOTATOR)
    label_set = factory.make_label_set(first.dialogue, second)
    changes = [Change(str(uuid.uuid4()), label) for label in otherwise(labels_of(first))]
    label_set_change(label_set=label_set, actor=second, version=0, key="all", changes=changes)
    LabelSet.objects.filter(pk__in=[first.pk, label_set.pk]).update(status=Status.DONE)
    return Dialogue.objects.select_related("project").get(pk=first.dialogue_id)


@pytest.mark.django_db(transaction=True)
def test_the_adjudication_of_a_whole_dialogue_shows_both_sides_and_what_is_left(
    live_server: Any, chromium: Any
) -> None:
    dialogue = doubly_labelled()
    case = case_of(dialogue)
    assert case is not None
    assert case.conflicts > 8
    page = sign_in(chromium, live_server, "supervisor")
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.goto(live_server.url + reverse("adjudicate", args=[dialogue.project.slug, dialogue.pk]))
    page.wait_for_selector("[data-ready]")
    for _ in range(3):
        page.keyboard.press("a" if page.locator('.item[aria-current] [data-choice="A"]').count() else "b")
    page.locator("[data-progress-text]").get_by_text(f"3 of {case.conflicts} conflicts decided").wait_for(timeout=5000)
    page.wait_for_selector('[data-saved="saved"]')
    assert page.evaluate("window.scrollY") == 0  # the columns scroll, the page stays
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    seen = page.locator(".turn[aria-current]").evaluate(
        "turn => { const at = turn.getBoundingClientRect(); return at.top > 60 && at.bottom < innerHeight }"
    )
    assert seen  # also after the gold labels above it have come in
    assert errors == []
    if os.environ.get("PORTAL_SCREENSHOTS") == "1":
        page.screenshot(path=PICTURE, animations="disabled")
    page.context.close()
