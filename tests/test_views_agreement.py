"""The agreement pages: figures and their links, scopes, files, empty states, who may see them."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Callable
from html import unescape
from pathlib import Path
from xml.etree import ElementTree

import pytest
from django.conf import settings
from django.test import Client
from django.urls import reverse

from annotation.domain.labels import Label
from annotation.models import AgreementSnapshot, LabelSet, Project, Purpose, User
from annotation.services.agreement import agreement_measured, agreement_snapshot_keep
from annotation.services.agreement_scope import Scope
from tests import factory
from tests.conftest import People
from tests.doubly import doubly_labelled, third_annotator


@pytest.fixture
def sam(client_for: Callable[[User], Client], people: People) -> Client:
    return client_for(people.supervisor)


@pytest.fixture
def seeds(project: Project, people: People) -> list[LabelSet]:
    return doubly_labelled(project, [people.annotator, people.second, third_annotator(project)])


def page(client: Client, route: str, *args: object, query: str = "", status: int = 200) -> str:
    response = client.get(reverse(route, args=["chest-clinic", *args]) + query)
    assert response.status_code == status
    return response.content.decode()


def links(html: str, into: str) -> list[str]:
    return [unescape(href) for href in re.findall(r'href="([^"]+)"', html) if into in href]


def listed(html: str) -> list[tuple[str, int]]:
    return [(name, int(position)) for name, position in re.findall(r">(SEED-\d+), utterance (\d+)<", html)]


def test_nothing_doubly_labelled_yet_says_what_to_do(sam, project, people, label_set) -> None:
    html = page(sam, "agreement")
    assert "Nothing is labelled by two people yet" in html
    assert reverse("assign", args=[project.slug]) in html
    assert 'svg class="chart' not in html
    people.second.memberships.all().delete()
    assert "needs a second annotator" in page(sam, "agreement")


def test_assigned_and_not_begun_shows_no_figure_and_no_fault(sam, project, people) -> None:
    dialogue = factory.make_dialogue(project)
    for person in (people.annotator, people.second):
        factory.make_label_set(dialogue, person, purpose=Purpose.SEED)
    html = page(sam, "agreement")
    assert "undefined" in html
    assert "10 utterances</a> that not both" in html


def test_the_page_shows_figures_intervals_and_names(sam, project, seeds) -> None:
    html = page(sam, "agreement")
    figures = agreement_measured(project=project, scope=Scope()).figures
    mean = figures["headline"]["intents.kappa_whole_set"]["mean"]
    assert f">{mean:.3f}</a>" in html
    assert "fewer than 10" in html
    for name in ("alice", "bob", "Cora", "Within doctor turns", "Reads only the speaker"):
        assert name in html
    assert figures["methods"] in unescape(html)


def test_under_ten_dialogues_the_interval_stands_beside_the_figure_and_the_range_is_called_one(
    sam, project, seeds
) -> None:
    html = page(sam, "agreement")
    kept = agreement_measured(project=project, scope=Scope()).figures["intervals"]
    for name in ("headline.intents.kappa_whole_set", "slot_values.f", "intents.by_intent.inform.kappa"):
        found = kept[name]
        interval, span = found["interval"], (found["low"], found["high"])
        assert interval["method"] == "jackknife-t"
        ends = words(interval["low"], interval["high"])
        assert re.search(
            rf"interval </span>{ends}</span> <span class=\"range left-out\">range {words(*span)}<", html
        ), name
    assert "is no interval" in html
    chart = html[html.index('id="chart-headline-desc"') :]
    interval = kept["headline.intents.kappa_whole_set"]["interval"]
    assert f"({interval['low']:.2f} to {interval['high']:.2f})" in chart[: chart.index("</desc>")]


def words(low: float, high: float) -> str:
    return f"{low:.2f} to {high:.2f}".replace("-", "−")


def test_from_ten_dialogues_on_there_is_only_the_interval(sam, project, people) -> None:
    doubly_labelled(project, [people.annotator, people.second, third_annotator(project)], dialogues=10)
    html = page(sam, "agreement")
    found = agreement_measured(project=project, scope=Scope()).figures["intervals"]["slot_values.f"]
    assert f"interval </span>{words(found['low'], found['high'])}</span>" in html
    assert "left-out" not in html
    assert "is no interval" not in html


def test_a_figure_that_hangs_on_one_dialogue_says_that_it_has_no_interval(sam, project, people) -> None:
    for number in range(3):
        dialogue = factory.make_dialogue(project)
        for person in (people.annotator, people.second):
            label_set = factory.make_label_set(dialogue, person)
            slots = [factory.inform(1, "symptom", "cough", status="yes")] if number == 0 else []
            factory.make_labels(label_set, Label(0, "salutations"), *slots)
    html = page(sam, "agreement")
    assert html.count("interval </span>no interval</span>") > 2
    assert "undefined without one of the dialogues" in html


def test_the_lines_of_the_trend_differ_in_mark_and_dash_and_bear_their_names(sam, project, seeds) -> None:
    for step in range(30):
        LabelSet.objects.filter(pk=seeds[1].pk).update(version=100 + step)
        agreement_snapshot_keep(project=project, scope=Scope())
    html = page(sam, "agreement")
    chart = ElementTree.fromstring(re.findall(r"<svg class=\"chart.*?\n</svg>", html, re.S)[-1])
    lines = [group for group in chart.iter("g") if group.get("class", "").startswith("series-")]
    shapes = {re.sub(r"^M[\d.]+ [\d.]+", "", path.get("d")) for line in lines for path in line.iter("path")}
    assert len(lines) == len(shapes) == 3
    for line in lines:
        assert len(list(line.iter("path"))) <= 12
        assert len(line.find("polyline").get("points").split()) == 30
    texts = {line.find("text").text.strip(): line.find("text/tspan").text for line in lines}
    headline = agreement_measured(project=project, scope=Scope()).figures["headline"]
    assert texts == {
        "κ of intents": f"{headline['intents.kappa_whole_set']['mean']:.3f}",
        "F of slot-value pairs": f"{headline['slot_values.f']['mean']:.3f}",
        "κ of slot-value pairs": f"{headline['slot_values.kappa']['mean']:.3f}",
    }
    css = (Path(settings.BASE_DIR) / "static/annotation/css/agreement.css").read_text(encoding="utf-8")
    dashes = re.findall(r"\.series-\d polyline \{[^}]*stroke-dasharray: ([^;]+);", css)
    assert len(set(dashes)) == 2  # the first one is drawn through


def test_the_charts_say_their_figures_to_a_screen_reader_and_hold_no_style(sam, project, seeds) -> None:
    html = page(sam, "agreement")
    charts = re.findall(r"<svg class=\"chart.*?\n</svg>", html, re.S)
    assert len(charts) == 4
    for chart in charts:
        root = ElementTree.fromstring(chart)
        assert root.get("role") == "img"
        ids = {root.find("title").get("id"), root.find("desc").get("id")}
        assert set(root.get("aria-labelledby").split()) == ids
        assert len(root.find("desc").text) > 20
    assert "style=" not in html
    assert len(set(re.findall(r' id="([^"]+)"', html))) == len(re.findall(r' id="([^"]+)"', html))


def test_every_link_of_every_figure_leads_to_utterances(sam, project, seeds) -> None:
    agreement_snapshot_keep(project=project, scope=Scope())
    found = set(links(page(sam, "agreement"), "/places/"))
    assert len(found) > 60
    for address in found:
        assert sam.get(address).status_code == 200, address


def test_a_figures_utterances_are_listed_with_both_labels_in_words(sam, project, seeds) -> None:
    html = page(sam, "agreement-places", query="?p=intents&p=kappa_whole_set")
    behind = agreement_measured(project=project, scope=Scope()).places.behind(("intents", "kappa_whole_set"))
    ids = {row.dialogue_id: row.dialogue.external_id for row in seeds}
    assert listed(html) == [(ids[one.dialogue], one.position) for one in behind]
    assert "<h1>Utterances: κ of intents</h1>" in html
    assert "on which they disagree, of 40" in html
    assert any(words in html for words in ("only A has", "only B has"))  # A and B are drawn
    assert "no label: nothing to label" in html


def test_the_list_narrows_to_a_speaker_and_to_a_pair(sam, project, people, seeds) -> None:
    doctor = listed(page(sam, "agreement-places", query="?p=n&speaker=doctor"))
    assert {position % 2 for _, position in doctor} == {0}
    both = f"{people.annotator.pk}-{people.second.pk}"
    html = page(sam, "agreement-places", query=f"?p=n&both={both}")
    assert {name for name, _ in listed(html)} == {"SEED-01", "SEED-04"}
    assert "alice and bob" in html


def test_a_figure_that_is_not_there_is_404(sam, project, seeds) -> None:
    for query in ("?p=nothing", "?p=intents&p=kappa", "?p=intents&p=by_intent&p=unheard"):
        page(sam, "agreement-places", query=query, status=404)


def test_utterances_that_not_both_submitted_are_listed_as_such(sam, project, people) -> None:
    dialogue = factory.make_dialogue(project, "SEED-99")
    first, _ = (factory.make_label_set(dialogue, one) for one in (people.annotator, people.second))
    factory.make_labels(first, factory.inform(1, "symptom", "cough", status="yes"))
    html = page(sam, "agreement-places", query="?p=missing")
    assert len(listed(html)) == 10
    assert html.count("not submitted</p>") == 19


def test_the_scope_is_chosen_in_the_address_and_kept_in_links(sam, project, people, seeds) -> None:
    pair = "-".join(str(pk) for pk in sorted([people.annotator.pk, people.second.pk]))
    html = page(sam, "agreement", query=f"?of=seeds&pair={pair}")
    assert "seed dialogues of alice and bob" in html
    assert all(f"of=seeds&pair={pair}" in address for address in links(html, "/places/"))
    assert all(f"of=seeds&pair={pair}" in address for address in links(html, "agreement.csv"))
    assert "Cora</th>" not in html


def test_a_wrong_scope_is_said_beside_its_field(sam, project, seeds) -> None:
    html = page(sam, "agreement", query="?since=2024-05-02&until=2024-05-01", status=422)
    assert "This day lies before the first one." in html
    assert "Enter a valid date" in page(sam, "agreement", query="?since=soon", status=422)
    assert "Select a valid choice" in page(sam, "agreement", query="?pair=1-99", status=422)


def test_a_scope_without_dialogues_is_no_fault(sam, project, seeds) -> None:
    html = page(sam, "agreement", query="?until=2001-01-01")
    assert "no dialogue is labelled by two people among them" in html
    assert "all doubly labelled dialogues until 2001-01-01" in html
    assert "<table" not in html


def test_keeping_figures_makes_the_trend(sam, project, seeds) -> None:
    url = reverse("agreement-keep", args=[project.slug])
    assert sam.post(url, {"of": "seeds"}).url == reverse("agreement", args=[project.slug]) + "?of=seeds"
    assert AgreementSnapshot.objects.get().scope == {"seeds": True}
    response = sam.post(url, {"of": "seeds"}, follow=True)
    assert "Nothing has changed" in response.content.decode()
    assert "One measurement so far" in response.content.decode()
    label_set = seeds[1]
    LabelSet.objects.filter(pk=label_set.pk).update(version=label_set.version + 1)
    html = sam.post(url, {"of": "seeds"}, follow=True).content.decode()
    assert 'id="chart-trend-title"' in html
    assert "The measurements (2)" in html


def test_there_is_nothing_to_keep_without_dialogues(sam, project) -> None:
    response = sam.post(reverse("agreement-keep", args=[project.slug]), follow=True)
    assert "There is nothing to keep yet" in response.content.decode()
    assert not AgreementSnapshot.objects.exists()


def test_a_kept_report_is_shown_without_measuring_again(sam, project, seeds, django_assert_max_num_queries) -> None:
    agreement_snapshot_keep(project=project, scope=Scope())
    with django_assert_max_num_queries(16):
        assert "no label has changed since" in page(sam, "agreement")


def test_the_files_hold_every_figure_and_disagreement(sam, project, seeds) -> None:
    figures = agreement_measured(project=project, scope=Scope()).figures
    everything = json.loads(page(sam, "agreement-json"))
    assert everything["intents"] == json.loads(json.dumps(figures["intents"]))
    assert {(cell["a"], cell["b"]) for cell in everything["pairs"]} == {
        ("alice", "bob"),
        ("alice", "cora"),
        ("bob", "cora"),
    }
    assert everything["disagreements"][0]["dialogue"] == "SEED-01"
    rows = list(csv.DictReader(io.StringIO(page(sam, "agreement-csv"))))
    kappa = next(row for row in rows if (row["scope"], row["figure"]) == ("all", "intents.kappa_whole_set"))
    assert float(kappa["value"]) == figures["intents"]["kappa_whole_set"]
    assert "alice – bob" in {row["scope"] for row in rows}
    listed_rows = list(csv.DictReader(io.StringIO(page(sam, "agreement-disagreements"))))
    assert len(listed_rows) == len(everything["disagreements"])
    assert {row["position"] for row in listed_rows} >= {"0"}


def test_no_cell_of_a_table_is_a_formula(sam, project, people) -> None:
    dialogue = factory.make_dialogue(project, "=1+1")
    for person, value in ((people.annotator, "@cough"), (people.second, "-fever")):
        label_set = factory.make_label_set(dialogue, person)
        factory.make_labels(label_set, factory.inform(1, "symptom", value, status="yes"))
    (row,) = csv.DictReader(io.StringIO(page(sam, "agreement-disagreements")))
    assert row["dialogue"] == "'=1+1"


# --- both states side by side ---


def test_the_timeline_marks_where_differences_begin_and_what_follows(sam, project, people) -> None:
    dialogue = factory.make_dialogue(project, "SEED-01")
    a, b = (factory.make_label_set(dialogue, one) for one in (people.annotator, people.second))
    cough = factory.inform(1, "symptom", "cough", status="yes")
    factory.make_labels(a, cough, factory.inform(3, "symptom", "fever", status="no"))
    factory.make_labels(b, cough.with_answers(status="no"), factory.inform(3, "symptom", "fever", status="no"))
    html = page(sam, "state-timeline", dialogue.pk)
    assert "1 difference begins here" in html
    assert html.count("begins here</span>") == 1
    assert html.count("follows from 1</a>") == 1
    assert "Equal after 0 of 2." in html
    assert "3 patient turns left out" in html
    people_of = f"?a={people.second.pk}&b={people.annotator.pk}"
    assert "1 difference begins here" in page(sam, "state-timeline", dialogue.pk, query=people_of)


def test_a_timeline_of_others_or_of_one_person(sam, project, people, dialogue, label_set) -> None:
    assert "not labelled by two people" in page(sam, "state-timeline", dialogue.pk)
    page(sam, "state-timeline", dialogue.pk, query=f"?a={people.annotator.pk}&b={people.second.pk}", status=404)
    page(sam, "state-timeline", dialogue.pk, query="?a=x&b=y", status=404)
