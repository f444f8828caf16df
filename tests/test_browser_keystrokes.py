"""How many keys a label costs: all labels of a real dialogue, entered through the workbench by keyboard alone."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from annotation.domain.dialogue_files import read_dialogue_file
from annotation.domain.portal_file import read_labels, write_labels
from annotation.models import LabelSet
from annotation.questionnaires import get_questionnaire
from annotation.services.readings import labels_of
from tests import factory
from tests.browser import sign_in
from tests.keyboard import Annotator

# The older form of the file does not say which way these factors go; people say it.
FACTOR_STATUSES = {"7": "yes aggravating", "57": "no aggravating"}
MOST_PRESSES = 8.0

pytestmark = pytest.mark.browser


def comparable(label: dict[str, Any]) -> dict[str, Any]:
    """A portal label without what may differ: the order of keys and spaces after commas."""
    return {
        key: ",".join(part.strip() for part in value.split(",")) if isinstance(value, str) else value
        for key, value in sorted(label.items())
    }


@pytest.mark.django_db(transaction=True)
def test_all_labels_of_a_real_dialogue_take_few_keys_and_no_click(
    real_data: Path, live_server, chromium, people
) -> None:
    questionnaire = get_questionnaire("cmas")
    [parsed] = read_dialogue_file(
        (real_data / "meditod/RES0001.dialogue.json").read_bytes(), "RES0001.dialogue.json"
    ).dialogues
    published = json.loads((real_data / "meditod/RES0001.labels.json").read_text())
    for label in published:
        if "ana factors status" in label:
            label["ana factors status"] = FACTOR_STATUSES[label["uid"]]
    wanted = read_labels(questionnaire, published, file="RES0001.labels.json").labels
    project = factory.make_project("Keystrokes")
    factory.make_member(project, people.annotator, "annotator")
    turns = [(turn.speaker, turn.text) for turn in parsed.utterances]
    label_set = factory.make_label_set(factory.make_dialogue(project, "RES0001", turns), people.annotator)

    page = sign_in(chromium, live_server, "alice")
    page.goto(f"{live_server.url}/projects/{project.slug}/work/{label_set.pk}/")
    page.wait_for_selector("[data-ready]")
    page.on("response", lambda answer: answer.status >= 400 and print(answer.request.post_data, answer.text()[:500]))
    page.on("pageerror", lambda error: print("PAGEERROR", error))
    annotator = Annotator(page, questionnaire, {turn.position: turn.speaker for turn in parsed.utterances})
    annotator.enter(list(wanted))
    page.wait_for_selector('[data-saved="saved"]')

    stored = write_labels(questionnaire, labels_of(LabelSet.objects.get()))
    assert [comparable(label) for label in stored] == [comparable(label) for label in published]
    average = annotator.presses / len(wanted)
    worst = sorted(zip(annotator.per_label, wanted, strict=True), key=lambda pair: -pair[0])[:12]
    print(f"\n{annotator.presses} presses for {len(wanted)} labels: {average:.2f} a label, no clicks")
    for presses, label in worst:
        print(f"  {presses:3} {label.position:3} {label.intent} {label.slot} {dict(label.answers)} {label.checks}")
    assert average <= MOST_PRESSES
    page.context.close()
