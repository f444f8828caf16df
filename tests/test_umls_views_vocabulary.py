"""The page of a project's vocabulary: what it says, and changing to another one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from annotation.models import Project, Role, User
from tests import factory
from tests.conftest import People
from tests.reviewing import CONCEPTS, Small, form_of, link, make_values, make_vocabulary
from umls_linker.models import Decision, Vocabulary
from umls_linker.services.decisions import decision_revert, decision_take
from umls_linker.services.migration import vocabulary_switch
from umls_linker.services.project_vocabulary import vocabulary_of

ClientFor = Callable[[User], Client]

# The next release: dyspnea renamed, cough under another identifier, fever gone.
NEWER = {
    **{cui: strings for cui, strings in CONCEPTS.items() if cui not in ("C0010200", "C0015967")},
    "C0013404": ("T184", "Breathlessness", "Dyspnea", "shortness of breath"),
    "C9900001": ("T184", "Cough", "tussis"),
}


@pytest.fixture
def used(project: Project, people: People) -> Vocabulary:
    row = make_vocabulary()
    link(project, *make_values(project, people.annotator))
    for text, cui in (
        ("short of breath", "C0013404"),
        ("cough", "C0010200"),
        ("temp", "C0015967"),
        ("rash", "C0015230"),
    ):
        decision_take(form=form_of(project, text), actor=people.doctor, cui=cui, expected=None)
    return row


@pytest.fixture
def newer() -> Vocabulary:
    return make_vocabulary(Small(NEWER, version="2026-07"), name="newer")


def page(client: Client, project: Project, **query: Any) -> str:
    response = client.get(reverse("concepts-vocabulary", args=[project.slug]), query)
    assert response.status_code == 200
    return " ".join(response.content.decode().split())


def test_it_says_what_the_vocabulary_holds_and_whose_it_is(
    client_for: ClientFor, people: People, project: Project, used: Vocabulary
):
    curator = factory.make_member(project, factory.make_user("cora"), Role.CURATOR)
    for person in (people.doctor, people.supervisor, curator):
        text = page(client_for(person), project)
        assert "embedded 2026-01" in text
        assert "a few concepts for tests" in text
        assert f"<dd>{len(CONCEPTS)}</dd>" in text
        assert "Disorders" in text
        assert "Sign or Symptom" in text
        assert "Made for tests." in text
        assert "https://example.org/licence" in text


def test_figures_have_separators_and_inferred_types_are_said_to_be_approximate(
    client_for: ClientFor, people: People, project: Project, used: Vocabulary
):
    counts = {**used.report["counts"], "concepts": 19034}
    used.report = {**used.report, "counts": counts, "semantic_types": {"T184": 12345}}
    used.save()
    text = page(client_for(people.doctor), project)
    assert "<dd>19,034</dd>" in text
    assert "12,345" in text
    assert text.count("approximate") == 1
    used.report = {**used.report, "options": {"languages": ["ENG"]}}
    used.save()
    assert "approximate" not in page(client_for(people.doctor), project)


def test_faults_of_the_build_are_counted_and_listed(
    client_for: ClientFor, people: People, project: Project, used: Vocabulary
):
    used.report = {**used.report, "fault_counts": {"too few columns": 3}, "faults": ["MRCONSO.RRF, line 7: bad <b>"]}
    used.save()
    text = page(client_for(people.doctor), project)
    assert "3 × too few columns" in text
    assert "MRCONSO.RRF, line 7: bad &lt;b&gt;" in text


def test_without_a_vocabulary_it_says_how_one_is_built(
    client_for: ClientFor, people: People, project: Project, settings: Any
):
    settings.PORTAL_VOCABULARY = "none-of-this-name"
    text = page(client_for(people.doctor), project)
    assert "No vocabulary is built yet" in text
    assert "manage.py build_vocabulary --rrf" in text


def test_the_difference_is_shown_before_the_switch_and_the_switch_changes_no_decision(
    client_for: ClientFor, people: People, project: Project, used: Vocabulary, newer: Vocabulary
):
    client = client_for(people.supervisor)
    text = page(client, project, to=newer.pk)
    assert "1 retired, 1 merged, 1 renamed, 1 same" in text
    assert "no concept called “Fever”" in text
    assert "Breathlessness" in text
    assert "Switch to newer 2026-07" in text
    assert "Accept" not in text
    before = list(Decision.objects.order_by("pk").values())
    response = client.post(reverse("concepts-vocabulary-switch", args=[project.slug]), {"to": newer.pk})
    assert response.status_code == 302
    assert vocabulary_of(project) == newer
    assert list(Decision.objects.order_by("pk").values()) == before
    left = page(client, project)
    assert "The project uses newer 2026-07 now." in left
    assert "Decided under another version" in left
    assert "data-decision" not in left
    assert "Accept Breathlessness" not in left, "a supervisor decides nothing"


def test_a_doctor_accepts_row_by_row(
    client_for: ClientFor, people: People, project: Project, used: Vocabulary, newer: Vocabulary
):
    client = client_for(people.doctor)
    client.post(reverse("concepts-vocabulary-switch", args=[project.slug]), {"to": newer.pk})
    text = page(client, project)
    assert "Accept Breathlessness for short of breath" in text
    assert "Choose another concept for temp" in text
    old = Decision.objects.standing().get(surface_form__key="cough")
    address = reverse("concept-decision-migrate", args=[project.slug, old.pk])
    assert client.post(address, {"cui": "C9900001"}).status_code == 302
    new = Decision.objects.standing().get(surface_form__key="cough")
    assert (new.cui, new.origin, new.vocabulary_version, new.replaces) == ("C9900001", "migration", "2026-07", old)
    after = page(client, project)
    assert "“cough” means Cough (C9900001) now." in after
    assert "for cough" not in after
    late = client.post(address, {"cui": "C9900001"}, follow=True)
    assert "notice error" in late.content.decode()
    bad = client.post(reverse("concept-decision-migrate", args=[project.slug, new.pk]), {"cui": "C1"}, follow=True)
    assert "has no concept “C1”" in bad.content.decode()


def test_another_concept_is_chosen_in_its_row(
    client_for: ClientFor, people: People, project: Project, used: Vocabulary, newer: Vocabulary
):
    client = client_for(people.doctor)
    client.post(reverse("concepts-vocabulary-switch", args=[project.slug]), {"to": newer.pk})
    fever = Decision.objects.standing().get(surface_form__key="temp")
    address = reverse("concept-decision-migrate", args=[project.slug, fever.pk])
    # Without a script there is no search here, and the review is where one is.
    assert client.post(address, {"cui": ""})["Location"].endswith(f"concepts/#f{fever.surface_form_id}")
    text = client.post(address, {"cui": "C0018681"}, follow=True).content.decode()
    assert "“temp” means Headache (C0018681) now." in text
    assert "Choose another concept for temp" not in text


def test_what_a_doctor_keeps_is_listed_with_who_kept_it_and_can_be_looked_at_again(
    client_for: ClientFor, people: People, project: Project, used: Vocabulary, newer: Vocabulary
):
    client = client_for(people.doctor)
    client.post(reverse("concepts-vocabulary-switch", args=[project.slug]), {"to": newer.pk})
    assert "Keep Fever for temp" in page(client, project)
    fever = Decision.objects.standing().get(surface_form__key="temp")
    keep = reverse("concept-decision-keep", args=[project.slug, fever.pk])
    for person in (people.supervisor, people.annotator):
        assert client_for(person).post(keep).status_code == 403
    text = " ".join(client.post(keep, follow=True).content.decode().split())
    assert "“temp” stays as it was decided: Fever." in text
    assert "1 kept as decided" in text
    assert "kept by dora" in text
    assert "Keep Fever for temp" not in text
    assert "look again" not in page(client_for(people.supervisor), project)
    again = reverse("concept-decision-look-again", args=[project.slug, fever.pk])
    assert client_for(people.supervisor).post(again).status_code == 403
    text = client.post(again, follow=True).content.decode()
    assert "Keep Fever for temp" in text
    assert "kept as decided" not in text
    decision_revert(decision=fever, actor=people.doctor)
    assert "does not stand any more" in client.post(keep, follow=True).content.decode()


def test_who_may_switch_and_who_may_accept(
    client_for: ClientFor, people: People, project: Project, used: Vocabulary, newer: Vocabulary
):
    curator = factory.make_member(project, factory.make_user("cora"), Role.CURATOR)
    switch = reverse("concepts-vocabulary-switch", args=[project.slug])
    for person, status in ((curator, 403), (people.annotator, 403), (people.outsider, 404)):
        assert client_for(person).post(switch, {"to": newer.pk}).status_code == status
    assert "Show what would change" not in page(client_for(curator), project)
    decision = Decision.objects.standing().first()
    assert decision is not None
    address = reverse("concept-decision-migrate", args=[project.slug, decision.pk])
    for person, status in ((people.supervisor, 403), (curator, 403), (people.annotator, 403), (people.outsider, 404)):
        assert client_for(person).post(address, {"cui": "C0013404"}).status_code == status
    assert vocabulary_of(project) == used


def test_an_unknown_vocabulary_is_refused(client_for: ClientFor, people: People, project: Project, used: Vocabulary):
    client = client_for(people.doctor)
    assert client.get(reverse("concepts-vocabulary", args=[project.slug]), {"to": "999"}).status_code == 404
    answer = client.post(reverse("concepts-vocabulary-switch", args=[project.slug]), {"to": "x"}, follow=True)
    assert "Choose a vocabulary that is built on this machine." in answer.content.decode()


def test_a_vocabulary_whose_folder_is_gone_is_said_so(
    client_for: ClientFor, people: People, project: Project, used: Vocabulary, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("umls_linker.views.vocabulary.index_of", lambda _: None)
    monkeypatch.setattr("umls_linker.services.migration.index_of", lambda _: None)
    text = page(client_for(people.doctor), project)
    assert "is not on this machine any more" in text


def test_it_shows_which_name_files_give_a_concept_of_several(
    client_for: ClientFor, people: People, project: Project, used: Vocabulary, newer: Vocabulary
):
    client = client_for(people.doctor)
    assert "One name in files" not in page(client, project)
    vocabulary_switch(project=project, to=newer, actor=people.doctor)
    decision_take(form=form_of(project, "giddy"), actor=people.doctor, cui="C0013404", expected=None)
    text = page(client, project)
    assert "One name in files" in text
    row = text[text.index("C0013404</th>") :]
    assert row.index("<td>Breathlessness</td>") < row.index("Breathlessness <span") < row.index("Dyspnea <span")
    form = form_of(project, "short of breath")
    shown = client.get(reverse("concept", args=[project.slug, form.pk])).content.decode()
    assert "in files “Breathlessness”, as decided last" in shown
    assert "One name in files" not in page(client, project, to=used.pk)
