"""What is behind a figure: zeros, undefined figures, the baseline, both lists of a figure, and earlier measurements."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import timedelta
from html import unescape

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from annotation.domain.labels import Label
from annotation.domain.wording import label_text
from annotation.models import AgreementSnapshot, LabelSet, NamesShown, Project, Purpose, Role, User
from annotation.services.adjudication_cases import Case, case_of
from annotation.services.agreement import agreement_measured, agreement_snapshot_keep
from annotation.services.agreement_scope import Scope
from annotation.services.label_sets import label_set_reopen
from tests import factory
from tests.conftest import People
from tests.doubly import doubly_labelled, finish, third_annotator

CELL = re.compile(r"<td[^>]*class=\"number\"[^>]*>(.*?)</td>", re.S)


@pytest.fixture
def sam(client_for: Callable[[User], Client], people: People) -> Client:
    return client_for(people.supervisor)


@pytest.fixture
def seeds(project: Project, people: People) -> list[LabelSet]:
    return doubly_labelled(project, [people.annotator, people.second, third_annotator(project)])


def show(client: Client, address: str, status: int = 200) -> str:
    response = client.get(address)
    assert response.status_code == status, address
    return unescape(response.content.decode())


def places(query: str) -> str:
    return reverse("agreement-places", args=["chest-clinic"]) + query


def report(query: str = "") -> str:
    return reverse("agreement", args=["chest-clinic"]) + query


def linked(html: str, text: str) -> list[str]:
    """The addresses of all cells that say just this."""
    return re.findall(rf'href="([^"]*/places/[^"]*)">{re.escape(text)}</a>', html)


def utterances(html: str) -> int:
    return html.count(" data-place>")


def reopened(label_set: LabelSet, *labels: Label) -> None:
    label_set.refresh_from_db()
    label_set_reopen(label_set=label_set, actor=label_set.annotator, version=label_set.version, key=f"r{label_set.pk}")
    factory.make_labels(label_set, *labels)
    finish(label_set)


# --- every cell ---


def test_every_cell_of_every_table_opens_what_is_behind_it(sam, project, seeds) -> None:
    agreement_snapshot_keep(project=project, scope=Scope())
    html = show(sam, report())
    cells = CELL.findall(html)
    assert len(cells) > 150
    without = [cell for cell in cells if "/places/" not in cell]
    assert {re.sub(r"<[^>]+>", "", cell).strip() for cell in without} == {"–"}
    assert len(without) == 1  # nothing is a mean over pairs of the baseline
    assert linked(html, "0")
    assert linked(html, "undefined")


def test_a_zero_says_that_nothing_is_behind_it_and_of_how_many(sam, seeds) -> None:
    for address in linked(show(sam, report()), "0"):
        html = show(sam, address)
        assert utterances(html) == 0
        assert "The count is 0: this holds for none of the 40 utterances compared." in html
        assert places("?p=n") in html


def test_an_undefined_figure_lists_what_is_compared_with_the_reason(sam, project, seeds) -> None:
    for address in linked(show(sam, report()), "undefined"):
        html = show(sam, address)
        assert "Undefined. " in html, address
        assert utterances(html) > 0, address
    html = show(sam, places("?p=state&p=share&speaker=doctor"))
    assert "States are compared after patient turns" in html
    assert utterances(html) == 20


def test_a_mean_that_no_pair_defines_says_so_beside_a_defined_pooled_figure(sam, project, people) -> None:
    group = [people.annotator, people.second, third_annotator(project)]
    for other, intent in zip(group[1:], ("salutations", "chit-chat"), strict=True):
        dialogue = factory.make_dialogue(project)
        for person in (group[0], other):
            label_set = factory.make_label_set(dialogue, person, purpose=Purpose.SEED)
            factory.make_labels(label_set, *(Label(position, intent) for position in range(10)))
    assert "undefined for each pair" in show(sam, places("?p=intents&p=kappa_whole_set&mean=1"))
    html = show(sam, places("?p=intents&p=kappa_whole_set"))
    assert "Nobody disagreed: these are all the utterances" in html
    assert "<strong>1.000</strong>" in html
    assert utterances(html) == 20


def test_a_figure_has_two_lists_what_disagrees_and_all_that_it_is_computed_from(sam, project, seeds) -> None:
    known = agreement_measured(project=project, scope=Scope()).places
    differing, over = known.behind(("slot_values", "f")), known.over(("slot_values", "f"))
    assert 0 < len(differing) < len(over) < 40
    html = show(sam, places("?p=slot_values&p=f"))
    assert utterances(html) == len(differing)
    (other,) = re.findall(rf'href="([^"]+)">Show all {len(over)}<', html)
    html = show(sam, places("") + other)
    assert f"{len(over)} utterances, all that the figure is computed from" in html
    assert f"Show only the {len(differing)} on which they disagree" in html


def test_the_baseline_lists_every_utterance_with_what_it_would_say(sam, project, seeds) -> None:
    usual = agreement_measured(project=project, scope=Scope()).figures["baseline"]["usual_sets"]
    assert usual == {"doctor": ["inquire"], "patient": ["inform"]}
    html = show(sam, places("?p=baseline&speaker=patient"))
    assert "20 utterances" in html
    said = re.findall(r"Reads only the speaker:</strong> ([^<]+)<", html)
    assert len(said) == 20
    assert "inform – as A and B" in said
    assert "inform – unlike both" in said


def test_all_utterances_of_one_dialogue_of_a_pair(sam, project, people, seeds) -> None:
    one = seeds[0].dialogue
    html = show(sam, places(f"?p=n&dialogue={one.pk}&both={people.second.pk}-{people.annotator.pk}"))
    assert utterances(html) == 10
    assert html.count(f">{one.external_id}, utterance") == 10
    assert utterances(show(sam, places(f"?p=total&dialogue={one.pk}"))) == 10


# --- earlier measurements ---


@pytest.fixture
def earlier(project: Project, seeds: list[LabelSet]) -> AgreementSnapshot:
    """A measurement after which bob said more at an utterance of the first dialogue."""
    snapshot, _ = agreement_snapshot_keep(project=project, scope=Scope())
    reopened(seeds[1], Label(4, "salutations"))
    agreement_snapshot_keep(project=project, scope=Scope())
    return snapshot


def test_an_old_point_of_the_trend_opens_its_own_figures(sam, project, earlier) -> None:
    html = show(sam, report())
    assert f'href="{report(f"?at={earlier.pk}")}"' in html
    then = earlier.figures["headline"]["intents.kappa_whole_set"]["mean"]
    now = agreement_measured(project=project, scope=Scope()).figures["headline"]["intents.kappa_whole_set"]["mean"]
    assert f"{then:.3f}" != f"{now:.3f}"
    html = show(sam, report(f"?at={earlier.pk}"))
    assert "These are the figures as they were measured" in html
    headline = html[html.index('<dl class="figures">') : html.index("</dl>")]
    assert f">{then:.3f}</a>" in headline
    assert f">{now:.3f}</a>" not in headline
    for address in set(re.findall(r'href="([^"]*/places/[^"]*)"', headline)):
        assert f"at={earlier.pk}" in address
    assert 'name="specialty"' not in html


def test_behind_an_old_figure_stand_the_labels_of_that_time(sam, project, seeds, earlier) -> None:
    query = f"p=n&dialogue={seeds[1].dialogue_id}"
    today = show(sam, places(f"?{query}")).split(" data-place>")[1:]
    assert "greeting" in today[4]
    assert "Labelled differently since" not in today[4]
    then = show(sam, places(f"?at={earlier.pk}&{query}")).split(" data-place>")[1:]
    assert "greeting" not in then[4]
    assert ["Labelled differently since" in card for card in then] == [position == 4 for position in range(10)]


def test_what_is_no_longer_kept_of_an_old_measurement_is_said(sam, earlier) -> None:
    AgreementSnapshot.objects.filter(pk=earlier.pk).update(places={})
    show(sam, report(f"?at={earlier.pk}"))
    html = show(sam, places(f"?at={earlier.pk}&p=n"))
    assert "Which utterances these were is no longer kept" in html
    assert "<strong>40</strong>" in html


def test_a_measurement_that_is_not_of_this_project_is_404(sam, project, earlier) -> None:
    far = AgreementSnapshot.objects.get(pk=earlier.pk)
    far.pk, far.project = None, factory.make_project("Far clinic")
    far.save()
    old = AgreementSnapshot.objects.get(pk=earlier.pk)
    old.pk, old.definition = None, "0"
    old.save()
    for at in (far.pk, old.pk, 0, 10**30, "x", "-1"):
        show(sam, report(f"?at={at}"), status=404)
        show(sam, places(f"?at={at}&p=n"), status=404)


# --- blindness on the way to adjudication ---


def cards(html: str) -> list[str]:
    return html.split(" data-place>")[1:]


def test_a_list_hides_names_and_shows_the_sides_of_adjudication(sam, project, people, seeds) -> None:
    one = seeds[0].dialogue
    html = show(sam, places(f"?p=n&dialogue={one.pk}"))
    for card in cards(html):
        assert not {"alice", "bob"} & set(re.findall(r"\w+", card))
        assert "/label-sets/" not in card
        assert "/work/" not in card
    case = case_of(one)
    for position, card in enumerate(cards(html)):
        sides = [re.findall(r"<li>([^<]+)</li>", side) for side in re.split(r"<h3>[AB]", card)[1:]]
        sides = [[text for text in side if text in said(case, position)] for side in sides]
        shown = [item.pairing for item in case.shown(position)]
        for letter, labels in zip("ab", sides, strict=True):
            wanted = [label_text(case.questionnaire, label) for item in shown for label in getattr(item, letter)]
            assert sorted(labels[: len(wanted)]) == sorted(wanted), position


def said(case: Case, position: int) -> set[str]:
    return {label_text(case.questionnaire, label) for side in case.labels for label in side.get(position, ())}


def test_showing_names_ends_blindness_for_these_dialogues_and_this_person(
    sam, client_for, project, people, seeds
) -> None:
    one = seeds[0].dialogue
    query = f"p=n&dialogue={one.pk}"
    address = reverse("agreement-names", args=[project.slug])
    response = sam.post(address, {"dialogue": [one.pk], "query": query, "page": ""}, follow=True)
    html = unescape(response.content.decode())
    assert "is not blind" in html
    assert all({"alice", "bob"} <= set(re.findall(r"\w+", card)) for card in cards(html))
    other = seeds[2].dialogue
    assert other != one
    assert "Show names" in show(sam, places(f"?p=n&dialogue={other.pk}"))
    second = factory.make_member(project, factory.make_user("sue"), Role.SUPERVISOR)
    assert "Show names" in show(client_for(second), places(f"?{query}"))
    case = case_of(one)
    now = timezone.now()
    assert (case.is_blind(people.supervisor.pk, now), case.is_blind(second.pk, now)) == (False, True)
    assert case.is_blind(people.supervisor.pk, now - timedelta(hours=1))


def test_what_only_one_of_a_pair_has_tells_whose_it_is_and_asks_first(sam, project, seeds) -> None:
    known = agreement_measured(project=project, scope=Scope()).places
    found = known.behind(("slot_values", "ladder", "slot_value", "only_a"))
    assert found
    query = "?p=slot_values&p=ladder&p=slot_value&p=only_a"
    html = show(sam, places(query))
    assert (utterances(html), html.count("so it is shown with names")) == (0, 1)
    sam.post(reverse("agreement-names", args=[project.slug]), {"dialogue": list({one.dialogue for one in found})})
    assert utterances(show(sam, places(query))) == len(found)


def test_both_states_side_by_side_hide_the_names_too(sam, project, seeds) -> None:
    one = seeds[0].dialogue
    address = reverse("state-timeline", args=[project.slug, one.pk])
    assert "labels of two annotators, A and B" in show(sam, address)
    answer = sam.post(
        reverse("agreement-names", args=[project.slug]), {"dialogue": [one.pk], "query": "", "page": "state"}
    )
    assert answer.url.startswith(address)
    assert "(A) and of" in show(sam, address)


def test_names_of_an_archived_project_are_refused_in_a_sentence(sam, project, seeds) -> None:
    Project.objects.filter(pk=project.pk).update(archived_at=timezone.now())
    address = reverse("agreement-names", args=[project.slug])
    html = sam.post(address, {"dialogue": [seeds[0].dialogue_id], "query": "p=n"}, follow=True).content.decode()
    assert "is archived" in html
    assert not NamesShown.objects.exists()
