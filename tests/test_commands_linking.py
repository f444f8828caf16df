"""`link_concepts` and `canonical_report` from the shell's side."""

from __future__ import annotations

import io
import json
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from annotation.models import LabelSet, Project, Purpose
from tests import factory
from tests.conftest import People
from tests.factory import inform, make_label_set, make_labels
from tests.reviewing import SAID, form_of, make_values, make_vocabulary
from umls_linker.models import Candidate, DialogueMentions, SurfaceForm
from umls_linker.services.decisions import decision_nil, decision_propose, decision_take

pytestmark = pytest.mark.django_db


def run(command: str, *words: str) -> dict[str, Any]:
    out = io.StringIO()
    call_command(command, "--project", "Chest clinic", *words, "--json", stdout=out)
    found: dict[str, Any] = json.loads(out.getvalue())
    return found


def lines(command: str) -> list[str]:
    out = io.StringIO()
    call_command(command, "--project", "Chest clinic", stdout=out)
    return out.getvalue().splitlines()


@pytest.fixture
def label_sets(project: Project, people: People) -> list[LabelSet]:
    make_vocabulary()
    return make_values(project, people.annotator, people.second)


def test_everything_is_linked_at_once_and_again_there_is_nothing_to_do(
    project: Project, label_sets: list[LabelSet]
) -> None:
    found = run("link_concepts")
    assert found["vocabulary"] == "embedded 2026-01"
    assert (found["values"], found["linked"], found["left"]) == (len(SAID), len(SAID), 0)
    assert found["with_candidates"] == SurfaceForm.objects.filter(candidates__rank=1).count() > 5
    assert DialogueMentions.objects.count() == 2
    before = list(Candidate.objects.values_list("pk", flat=True))
    again = run("link_concepts")
    assert (again["values"], again["linked"], again["left"]) == (len(SAID), 0, 0)
    assert list(Candidate.objects.values_list("pk", flat=True)) == before


def test_the_result_says_in_words_what_was_looked_up_and_found(project: Project, label_sets: list[LabelSet]) -> None:
    first, found = lines("link_concepts")
    with_candidates = SurfaceForm.objects.filter(candidates__rank=1).count()
    assert first.startswith("Chest clinic: 11 values, 11 looked up now in embedded 2026-01, in ")
    assert found == f"{with_candidates} have candidates; for {11 - with_candidates} nothing was found."
    assert lines("link_concepts")[0].startswith("Chest clinic: 11 values, none had to be looked up now in embedded")


def test_without_a_vocabulary_it_says_what_to_do(project: Project, settings: Any) -> None:
    settings.PORTAL_VOCABULARY = "not-built"
    with pytest.raises(CommandError, match="There is no vocabulary yet; build one with"):
        run("link_concepts")


@pytest.mark.parametrize("command", ["link_concepts", "canonical_report"])
def test_an_unknown_project_is_an_error(project: Project, command: str) -> None:
    with pytest.raises(CommandError, match="There is no project “Nowhere”"):
        call_command(command, "--project", "Nowhere")


def test_the_report_counts_values_by_what_was_decided_and_by_slot(
    project: Project, people: People, label_sets: list[LabelSet]
) -> None:
    assert run("canonical_report") == {
        "values": len(SAID),
        "decided": 0,
        "nil": 0,
        "open": len(SAID),
        "occurrences": 14,
        "by_slot": {"symptom": {"values": len(SAID), "decided": 0, "nil": 0, "open": len(SAID), "occurrences": 14}},
    }
    doctor = people.doctor
    decision_take(form=form_of(project, "cough"), actor=doctor, cui="C0010200", expected=None)
    decision_propose(form=form_of(project, "giddy"), actor=doctor, name="Giddy spell", expected=None)
    decision_nil(form=form_of(project, "whatsit"), actor=doctor, expected=None)
    more = make_label_set(factory.make_dialogue(project), people.annotator)
    make_labels(more, inform(1, "disease", "cough"), inform(3, "symptom", "COUGH"))
    test = make_label_set(factory.make_dialogue(project), people.annotator, purpose=Purpose.TEST)
    make_labels(test, inform(1, "symptom", "in a test"))
    found = run("canonical_report")
    assert set(found) == {"values", "decided", "nil", "open", "occurrences", "by_slot"}
    values = len(SAID) + 1
    assert (found["values"], found["decided"], found["nil"], found["open"]) == (values, 2, 1, values - 3)
    assert found["occurrences"] == 16
    assert found["by_slot"]["disease"] == {"values": 1, "decided": 0, "nil": 0, "open": 1, "occurrences": 1}
    assert list(found["by_slot"]) == ["symptom", "disease"]  # as the questionnaire has them
    assert lines("canonical_report")[0] == f"all: {values} values in 16 places; 2 decided, 1 without a concept, 9 open"


def test_a_value_that_no_label_has_any_more_is_not_counted(project: Project, label_sets: list[LabelSet]) -> None:
    assert run("canonical_report")["values"] == len(SAID)
    SurfaceForm.objects.filter(key="cough").update(labels=0, utterances=0)
    assert run("canonical_report")["values"] == len(SAID) - 1
