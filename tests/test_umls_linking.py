"""Candidates for surface forms: found once, replaced as one, whoever else is at it."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
from django.core.management import CommandError, call_command
from django.db import connection

from annotation.models import LabelSet, Project
from annotation.services import concept_linking
from annotation.services.errors import Refused
from annotation.services.import_files import LocalFiles
from annotation.services.imports import dialogues_import
from annotation.services.label_imports import label_set_for_import, portal_file_import
from tests import factory
from tests.conftest import People
from tests.factory import inform, make_label_set, make_labels
from tests.reviewing import CONCEPTS, SAID, Small, form_of, make_values, make_vocabulary
from umls_linker import tasks
from umls_linker.domain.rank import Candidate as Found
from umls_linker.index.sources import Embedded
from umls_linker.models import Candidate, DialogueMentions, ProjectVocabulary, SurfaceForm
from umls_linker.services import linking
from umls_linker.services.decisions import decision_take
from umls_linker.services.linking import forms_link, label_sets_collect
from umls_linker.services.mentions import dialogue_mentions_find, dialogues_without_mentions, mentions_find
from umls_linker.services.project_vocabulary import candidates_stamp, vocabularies_register, vocabulary_of
from umls_linker.services.queue import progress
from umls_linker.services.vocabularies import vocabulary_build

pytestmark = pytest.mark.django_db
DYSPNEA, COUGH = "C0013404", "C0010200"


@pytest.fixture
def label_sets(project: Project, people: People) -> list[LabelSet]:
    make_vocabulary()
    found = make_values(project, people.annotator, people.second)
    label_sets_collect(project=project)
    return found


def test_every_form_gets_candidates_with_names_types_synonyms_and_reasons(
    project: Project, label_sets: list[LabelSet]
) -> None:
    done = forms_link(project=project)
    assert (done.linked, done.left, done.without_vocabulary) == (len(SAID), 0, False)
    first = form_of(project, "short of breath").candidates.first()
    assert first is not None
    assert (first.rank, first.cui, first.name, first.semantic_types) == (1, DYSPNEA, "Dyspnea", ["T184"])
    assert set(first.synonyms) == set(CONCEPTS[DYSPNEA][2:])
    assert first.reasons
    assert set(first.reasons[0]) == {"kind", "points", "sentence"}
    form = form_of(project, "whatsit")
    assert (form.linked_with, form.candidates.count()) == (candidates_stamp(project), 0)  # looked for, none found
    assert form.linked_at is not None


def test_again_it_finds_nothing_to_do(project: Project, label_sets: list[LabelSet]) -> None:
    forms_link(project=project)
    before = list(Candidate.objects.values_list("pk", flat=True))
    assert forms_link(project=project).linked == 0
    assert list(Candidate.objects.values_list("pk", flat=True)) == before


def test_a_limit_and_a_time_leave_the_rest_for_the_next_call(project: Project, label_sets: list[LabelSet]) -> None:
    done = forms_link(project=project, limit=2)
    assert (done.linked, done.left) == (2, len(SAID) - 2)
    linked = set(SurfaceForm.objects.exclude(linked_with="").values_list("key", flat=True))
    assert linked < {"short of breath", "cough", "temp"}  # the most frequent first
    done = forms_link(project=project, seconds=0)
    assert (done.linked, done.left) == (1, len(SAID) - 3)
    seen: list[tuple[int, int]] = []
    forms_link(project=project, progress=lambda done, left: seen.append((done, left)))
    assert seen[-1] == (len(SAID) - 3, 0)


def test_without_a_vocabulary_everything_waits(
    project: Project, people: People, label_set: LabelSet, settings: Any
) -> None:
    settings.PORTAL_VOCABULARY = "not-built"
    make_labels(label_set, inform(1, "symptom", "cough"))
    label_sets_collect(project=project)
    done = forms_link(project=project)
    assert (done.linked, done.left, done.without_vocabulary) == (0, 1, True)
    assert not dialogue_mentions_find(dialogue=label_set.dialogue)
    found = progress(project, user=people.doctor)
    assert (found.forms, found.linked) == (1, 0)


def test_nothing_is_locked_while_a_form_is_looked_up(
    project: Project, label_sets: list[LabelSet], monkeypatch: pytest.MonkeyPatch
) -> None:
    blocks: list[int] = []
    outside = len(connection.savepoint_ids)

    def search(*_: Any, **__: Any) -> list[Found]:
        blocks.append(len(connection.savepoint_ids) - outside)
        return []

    monkeypatch.setattr(linking, "search", search)
    forms_link(project=project)
    assert blocks == [0] * len(SAID)


def test_of_two_workers_on_one_form_the_first_one_writes(
    project: Project, label_sets: list[LabelSet], monkeypatch: pytest.MonkeyPatch
) -> None:
    real = linking.search

    def overtaken(*given: Any, **named: Any) -> list[Found]:
        found = real(*given, **named)
        monkeypatch.setattr(linking, "search", real)
        assert forms_link(project=project).linked == len(SAID)
        return [*found, Found("C0000001", "Too late", (), "too late", 0.0, ())]

    monkeypatch.setattr(linking, "search", overtaken)
    assert forms_link(project=project).linked == 0
    assert not Candidate.objects.filter(name="Too late").exists()
    ranks: dict[int, list[int]] = {}
    for form, rank in Candidate.objects.values_list("surface_form", "rank"):
        ranks.setdefault(form, []).append(rank)
    assert all(sorted(found) == list(range(1, len(found) + 1)) for found in ranks.values())


def test_another_build_replaces_all_candidates(project: Project, people: People, label_sets: list[LabelSet]) -> None:
    forms_link(project=project)
    old = candidates_stamp(project)
    make_vocabulary(Small({**CONCEPTS, "C9999999": ("T184", "Whatsit")}, version="2026-02"))
    assert candidates_stamp(project) != old
    assert progress(project, user=people.doctor).linked == 0
    assert form_of(project, "cough").candidates.exists()  # the old ones stay until there are new ones
    assert forms_link(project=project).linked == len(SAID)
    assert form_of(project, "whatsit").candidates.get(rank=1).cui == "C9999999"


def test_what_doctors_decided_elsewhere_counts_for_the_next_candidates(
    project: Project, people: People, label_sets: list[LabelSet]
) -> None:
    forms_link(project=project)
    form = form_of(project, "whatsit")
    decision_take(form=form, actor=people.doctor, cui=DYSPNEA, expected=None)
    other = make_label_set(factory.make_dialogue(project), people.annotator)
    make_labels(other, inform(1, "disease", "whatsit"))
    label_sets_collect(project=project)
    forms_link(project=project)
    new = SurfaceForm.objects.get(slot="disease", key="whatsit")
    assert [one.cui for one in new.candidates.all()][:1] == [DYSPNEA]
    assert any(people.doctor.display_name in reason["sentence"] for reason in new.candidates.get(rank=1).reasons)


def test_the_words_around_are_those_of_the_utterances(project: Project, label_sets: list[LabelSet]) -> None:
    assert linking.context_of(form_of(project, "cough")) == "The cough keeps me awake."


# --- which vocabulary ---


def test_a_project_that_chose_none_uses_the_newest_build_of_the_portals(project: Project) -> None:
    first = make_vocabulary()
    assert vocabulary_of(project) == first
    second = make_vocabulary(Small(version="2026-02", concepts={COUGH: CONCEPTS[COUGH]}))
    assert vocabulary_of(project) == second
    make_vocabulary(name="other")
    assert vocabulary_of(project) == second
    ProjectVocabulary.objects.create(project=project, vocabulary=first)
    assert vocabulary_of(project) == first


def test_a_build_of_another_process_is_noticed(project: Project) -> None:
    first = make_vocabulary()
    assert vocabulary_of(project) == first
    vocabulary_build(source=Small(version="2026-03", concepts={COUGH: CONCEPTS[COUGH]}), name="embedded")
    found = vocabulary_of(project)
    assert found is not None
    assert found.version == "2026-03"
    again = vocabularies_register()
    assert found in again
    assert vocabularies_register() == again


# --- mentions ---


def test_concepts_in_the_words_are_kept_by_utterance(project: Project, label_sets: list[LabelSet]) -> None:
    dialogue = label_sets[0].dialogue
    assert dialogue_mentions_find(dialogue=dialogue)
    assert not dialogue_mentions_find(dialogue=dialogue)
    found = concept_linking.linker().mentions(dialogue.pk)
    (cough,) = found[3]
    assert (cough.text, cough.cui, cough.name, cough.slots) == ("cough", COUGH, "Cough", ("symptom",))
    assert "The cough keeps me awake."[cough.start : cough.end] == "cough"
    assert 0 not in found


def test_mentions_cost_the_page_one_query(label_sets: list[LabelSet], django_assert_num_queries: Any) -> None:
    dialogue_mentions_find(dialogue=label_sets[0].dialogue)
    with django_assert_num_queries(1):
        assert concept_linking.linker().mentions(label_sets[0].dialogue_id)
    with django_assert_num_queries(1):
        assert concept_linking.linker().mentions(label_sets[1].dialogue_id) == {}


def test_a_language_model_that_is_not_installed_is_named_before_the_work(
    project: Project, label_sets: list[LabelSet], settings: Any, caplog: pytest.LogCaptureFixture
) -> None:
    settings.PORTAL_SPACY_MODEL = "xx_none"
    sentence = "PORTAL_SPACY_MODEL names the spaCy model “xx_none”, which is not installed."
    with pytest.raises(Refused) as refused:
        mentions_find(project=project, seconds=60)
    assert refused.value.message == sentence
    with pytest.raises(CommandError) as error:
        call_command("link_concepts", "--project", project.slug)
    assert str(error.value) == sentence
    tasks.find_mentions(label_sets[0].dialogue_id)
    tasks.find_project_mentions(project.pk)
    assert [record.getMessage() for record in caplog.records] == [
        f"Concepts are not looked for in utterances: {sentence}"
    ] * 2
    assert not DialogueMentions.objects.exists()


def test_a_language_model_is_used_and_dialogues_are_looked_through_again_with_it(
    project: Project, label_sets: list[LabelSet], settings: Any, tmp_path: Path
) -> None:
    assert mentions_find(project=project, seconds=60)
    import spacy

    spacy.blank("en").to_disk(tmp_path / "words")
    settings.PORTAL_SPACY_MODEL = str(tmp_path / "words")
    assert dialogues_without_mentions(project).count() == 2
    with patch.object(spacy, "load", wraps=spacy.load) as loaded:
        assert mentions_find(project=project, seconds=60)
    assert loaded.call_args.args == (str(tmp_path / "words"),)
    assert not dialogues_without_mentions(project).exists()
    settings.PORTAL_SPACY_MODEL = ""
    assert dialogues_without_mentions(project).count() == 2


def test_all_dialogues_are_looked_through_again_with_another_vocabulary(
    project: Project, label_sets: list[LabelSet]
) -> None:
    assert not mentions_find(project=project, seconds=-1)
    assert mentions_find(project=project, seconds=60)
    assert DialogueMentions.objects.count() == 2
    assert not dialogues_without_mentions(project).exists()
    make_vocabulary(Small(version="2026-02", concepts={COUGH: CONCEPTS[COUGH]}))
    assert dialogues_without_mentions(project).count() == 2


# --- real labels ---


def test_the_115_labels_of_a_real_dialogue_have_candidates(
    project: Project, people: People, real_data: Path, record_property: Callable[[str, object], None]
) -> None:
    """With the vocabulary of the demonstration. How long it takes is noted, not judged: machines differ."""
    vocabulary_build(source=Embedded.find(), name="embedded")
    folder = real_data / "meditod"
    dialogues_import(project=project, files=LocalFiles([folder / "RES0001.dialogue.json"]), actor=None)
    dialogue = project.dialogues.get()
    data = (folder / "RES0001.labels.json").read_bytes()
    begun = time.monotonic()
    label_set = label_set_for_import(dialogue=dialogue, annotator=people.annotator)
    portal_file_import(label_set=label_set, actor=people.annotator, data=data, file="RES0001.labels.json", key="1")
    label_sets_collect(project=project)
    done = forms_link(project=project)
    seconds = time.monotonic() - begun
    record_property("seconds", seconds)
    print(f"{done.linked} values in {seconds:.2f} s")
    assert done.linked == SurfaceForm.objects.count() > 40
    assert done.left == 0
    found = SurfaceForm.objects.filter(candidates__rank=1).count()
    assert found / done.linked > 0.9
