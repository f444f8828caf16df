"""The guideline page."""

from __future__ import annotations

import re

import pytest

from annotation.questionnaires import get_questionnaire
from annotation.templatetags.portal_text import paragraphs
from annotation.views.guidelines import anchor

URL = "/projects/chest-clinic/guidelines/"


@pytest.mark.parametrize(
    ("who", "status"), [("annotator", 200), ("doctor", 200), ("supervisor", 200), ("outsider", 404)]
)
def test_members_read_the_guidelines(client_for, people, who, status):
    assert client_for(getattr(people, who)).get(URL).status_code == status


def test_every_intent_slot_and_special_case_has_its_own_anchor(client_for, people):
    page = client_for(people.annotator).get(URL).content.decode()
    ids = re.findall(r'<article class="card" id="([^"]+)"', page)
    questionnaire = get_questionnaire("cmas")
    wanted = [anchor("intent", item.name) for item in questionnaire.intents]
    wanted += [anchor("slot", item.name) for item in questionnaire.slots]
    wanted += [anchor("case", item.title) for item in questionnaire.special_cases]
    assert ids == wanted
    assert len(set(ids)) == len(ids)
    assert "slot-symptom-dermatology" in ids


def test_links_inside_the_page_have_a_target(client_for, people):
    page = client_for(people.annotator).get(URL).content.decode()
    targets = set(re.findall(r'href="#([^"]+)"', page)) - {"main"}
    assert targets
    assert targets <= set(re.findall(r'id="([^"]+)"', page))


def test_a_special_case_stands_under_the_slots_it_is_about(client_for, people):
    page = client_for(people.annotator).get(URL).content.decode()
    questionnaire = get_questionnaire("cmas")
    case = next(case for case in questionnaire.special_cases if case.slots)
    article = page[page.index(f'id="{anchor("slot", case.slots[0])}"') :]
    assert case.title in article[: article.index("</article>")]


def test_lines_of_a_paragraph_flow_together():
    assert paragraphs("One line\nand the next.\n\n\nA second\n") == ["One line and the next.", "A second"]
