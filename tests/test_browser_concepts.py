"""The review of concepts in Chromium, by keyboard, and what the workbench makes of decisions and of the vocabulary."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from playwright.sync_api import Page, expect

from annotation.models import LabelSet, Project, Role, Status, User
from tests import factory
from tests.browser import sign_in
from tests.factory import inform
from tests.reviewing import CONCEPTS, Small, form_of, link, make_values, make_vocabulary
from tests.test_browser_accessibility import expect_accessible
from tests.workbench import workbench
from umls_linker.models import Candidate, ConceptQuestion, Decision, Shortlisting, SurfaceForm
from umls_linker.services.decisions import decision_nil, decision_take, question_answer, question_ask
from umls_linker.services.linking import forms_link
from umls_linker.services.migration import vocabulary_switch

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


class Review:
    """The review page of one project."""

    def __init__(self, page: Page, live_server: Any, project: Project) -> None:
        self.page, self.project = page, project
        self.url = live_server.url + reverse("concepts", args=[project.slug])
        self.errors: list[str] = []
        page.on("pageerror", lambda error: self.errors.append(str(error)))
        page.set_default_timeout(10_000)
        expect.set_options(timeout=10_000)

    def open(self, query: str = "") -> Review:
        self.page.goto("about:blank")
        self.page.goto(self.url + query)
        self.page.wait_for_selector("[data-linking][data-ready]")
        return self

    def press(self, *keys: str) -> None:
        for key in keys:
            self.page.keyboard.press(key)

    def expect_value(self, text: str) -> None:
        expect(self.page.locator("[data-heading]")).to_have_text(f"“{text}”")

    def go_to(self, text: str) -> None:
        self.page.goto(f"{self.url}#f{form_of(self.project, text).pk}")
        self.expect_value(text)

    @property
    def value(self) -> str:
        return self.page.locator("[data-heading]").inner_text().strip("“”")

    @property
    def dialog(self) -> Any:
        return self.page.get_by_role("dialog")

    def expect_saved(self) -> None:
        expect(self.page.locator(".saved")).to_have_attribute("data-saved", "saved")
        expect(self.page.locator(".saved")).to_contain_text("saved")

    def expect_said(self, text: str) -> None:
        expect(self.page.locator("[data-live]")).to_contain_text(text)

    def number_of(self, cui: str) -> str:
        key = self.page.locator(f'[data-card="{cui}"]').get_attribute("data-key")
        assert key
        return key


@pytest.fixture
def values(project: Project, people: Any) -> list[LabelSet]:
    factory.make_member(project, factory.make_user("cora"), Role.CURATOR)
    make_vocabulary()
    label_sets = make_values(project, people.annotator, people.second)
    link(project, *label_sets)
    return label_sets


@pytest.fixture
def review(chromium: Any, live_server: Any, project: Project, values: Any) -> Iterator[Review]:
    found = Review(sign_in(chromium, live_server, "dora"), live_server, project).open()
    yield found
    assert found.errors == []
    found.page.context.close()


MEANT = {
    "cough": "C0010200",
    "short of breath": "C0013404",
    "temp": "C0015967",
    "feeling sick": "C0027497",
    "giddy": "C0012833",
    "head pain": "C0018681",
    "pain in the chest": "C0008031",
    "rash": "C0015230",
    "sweats at night": "C0028081",
    "tiredness": "C0015672",
}


def take(review: Review, cui: str, *before: str) -> None:
    """Take a concept by its digit, or where it is no candidate by a search; press the keys `before` Enter."""
    if review.page.locator(f'[data-card="{cui}"][data-key]:not([data-key=""])').count():
        review.press(review.number_of(cui))
    else:
        review.press("/")
        review.page.keyboard.type(cui)
        expect(review.dialog.locator("[role=option]").first).to_contain_text(cui)
        review.press("Enter")
    expect(review.dialog).to_contain_text(cui)
    review.press(*before, "Enter")
    expect(review.dialog).to_have_count(0)


def test_ten_values_are_decided_by_keys_one_occurrence_left_out_one_reverted_and_exported(
    review: Review, project: Project, people: Any, values: list[LabelSet], client_for: Any
) -> None:
    for _ in range(len(MEANT)):
        text = review.value
        assert text in MEANT, text
        # “temp” means the fever in the first dialogue, and not in the second.
        take(review, MEANT[text], *(("ArrowDown", "Space") if text == "temp" else ()))
        expect(review.page.locator("[data-heading]")).not_to_have_text(f"“{text}”")
    review.expect_saved()
    review.expect_value("whatsit")
    assert {row.surface_form.key: row.cui for row in Decision.objects.standing()} == MEANT
    excluded = Decision.objects.get(surface_form__key="temp").exceptions.get()
    assert excluded.utterance.dialogue.external_id == "VAL-2"
    expect(review.page.locator("[data-progress-text]")).to_contain_text("10 of 11 decided")
    # one of them back, everywhere
    review.go_to("rash")
    expect(review.page.locator(".linking-decision")).to_contain_text("Rash")
    review.press("x")
    expect(review.page.locator(".linking-decision")).to_have_count(0)
    review.expect_saved()
    assert not Decision.objects.standing().filter(surface_form__key="rash").exists()
    # what the files say
    LabelSet.objects.update(status=Status.LOCKED)
    client = client_for(people.supervisor)
    first, second = (values_of(dataset_of(client, row)) for row in values)
    assert "dyspnea" in {value.casefold() for value in first}
    assert "fever" in {value.casefold() for value in first}
    assert "rash" in first, "as it was labelled"
    assert "whatsit" in first
    assert "short of breath" not in first | second
    assert "temp" in second, "left out of the decision"
    assert "dyspnea" in {value.casefold() for value in second}


def dataset_of(client: Client, label_set: LabelSet) -> Any:
    """The file as it is downloaded."""
    assert label_set.annotator is not None
    address = reverse("dataset-file", args=[label_set.dialogue.project.slug])
    response = client.get(address, {"annotator": label_set.annotator.username})
    assert response.status_code == 200
    return json.loads(response.getvalue() if response.streaming else response.content)


def values_of(data: Any) -> set[str]:
    """Every text that stands anywhere in a file."""
    if isinstance(data, dict):
        return set().union(*map(values_of, data.values())) if data else set()
    if isinstance(data, list | tuple):
        return set().union(*map(values_of, data)) if data else set()
    return {data} if isinstance(data, str) else set()


def test_a_curator_who_tries_to_decide_gets_403_and_may_shortlist(
    chromium: Any, live_server: Any, project: Project, values: Any
) -> None:
    review = Review(sign_in(chromium, live_server, "cora"), live_server, project).open()
    review.go_to("cough")
    review.press("1", "0", "p", "x", "z")
    expect(review.dialog).to_have_count(0)
    expect(review.page.locator("[data-take]")).to_have_count(0)
    status = review.page.evaluate(
        """async (url) => (await fetch(url, {method: "POST", headers: {"Content-Type": "application/json",
           "X-CSRFToken": document.querySelector("[name=csrfmiddlewaretoken]").value},
           body: JSON.stringify({kind: "nil", expected: null})})).status""",
        reverse("concept-decide", args=[project.slug, form_of(project, "cough").pk]),
    )
    assert status == 403
    assert not Decision.objects.exists()
    review.press("1", "+")
    expect(review.page.locator('[data-card="C0010200"]')).to_contain_text("kept by cora")
    assert Shortlisting.objects.get().verdict == "keep"
    review.press("-")
    expect(review.page.locator('[data-card="C0010200"]')).to_contain_text("dropped by cora")
    assert review.errors == []
    review.page.context.close()


def test_a_dropped_candidate_stays_where_it_was_and_the_next_one_is_chosen(review: Review, project: Project) -> None:
    form = form_of(project, "cough")
    form.candidates.all().delete()
    for rank, cui in enumerate(("C0018681", "C0010200", "C0004096"), start=1):
        Candidate.objects.create(surface_form=form, rank=rank, cui=cui, name=CONCEPTS[cui][1], matched="", score=1)
    review.open()
    review.go_to("cough")
    cards = review.page.locator("[data-card]")

    def expect_order(*cuis: str) -> None:
        for at, cui in enumerate(cuis):
            expect(cards.nth(at)).to_have_attribute("data-card", cui)
            expect(cards.nth(at)).to_have_attribute("data-key", str(at + 1))
            expect(cards.nth(at).locator(".linking-take kbd")).to_have_text(str(at + 1))

    review.press("-")
    expect(cards.first).to_contain_text("dropped by dora")
    expect_order("C0018681", "C0010200", "C0004096")
    expect(review.page.locator(".linking-card.at")).to_have_attribute("data-card", "C0010200")
    review.expect_said("“Headache” is dropped.")
    review.press("ArrowRight", "+")
    review.expect_said("“Asthma” is kept.")
    expect(cards.last).to_contain_text("kept by dora")
    expect_order("C0018681", "C0010200", "C0004096")
    marks = dict(Shortlisting.objects.values_list("cui", "verdict"))
    assert marks == {"C0018681": "drop", "C0004096": "keep"}
    review.go_to("rash")
    review.go_to("cough")
    expect_order("C0004096", "C0010200", "C0018681")


def test_escape_leaves_everything_and_undo_goes_back_to_the_value(review: Review, project: Project) -> None:
    review.go_to("cough")
    review.press("1")
    expect(review.dialog).to_contain_text("Decide for all 2 occurrences")
    review.press("Escape")
    expect(review.dialog).to_have_count(0)
    review.expect_value("cough")
    review.press("0")
    expect(review.dialog).to_contain_text("No concept for “cough”")
    review.press("Enter")
    review.expect_saved()
    expect(review.page.locator("[data-heading]")).not_to_have_text("“cough”")
    assert Decision.objects.standing().get().kind == "nil"
    review.press("z")
    review.expect_value("cough")
    review.expect_said("Taken back for “cough”")
    assert not Decision.objects.standing().exists()


def test_a_new_concept_is_proposed(review: Review, project: Project) -> None:
    review.go_to("whatsit")
    review.press("p")
    field = review.dialog.get_by_label("Name")
    expect(field).to_be_focused()
    assert review.page.evaluate("document.getSelection().toString()") == "whatsit"
    field.fill("")
    review.press("Enter")
    expect(review.dialog.get_by_role("alert")).to_have_text("Give the concept a name.")
    field.fill("Odd whatsit")
    review.dialog.get_by_label("Kind of concept").select_option("T184")
    field.press("Enter")
    review.expect_saved()
    decision = Decision.objects.standing().get()
    assert (decision.name, decision.cui, decision.semantic_types) == ("Odd whatsit", "NEW0001", ["T184"])


def test_one_occurrence_gets_a_concept_of_its_own(review: Review, project: Project, people: Any) -> None:
    decision_take(form=form_of(project, "temp"), actor=people.doctor, cui="C0015967", expected=None)
    review.open()
    review.go_to("temp")
    place = review.page.locator("[data-label]", has_text="VAL-2")
    place.get_by_role("button", name="only this one").click()
    expect(review.page.locator("[data-only]")).to_contain_text("Only for this occurrence: VAL-2, u5")
    take(review, "C0028081")
    expect(place).to_contain_text("here: Night sweats")
    expect(review.page.locator("[data-only]")).to_be_hidden()
    review.expect_saved()
    assert Decision.objects.standing().count() == 2
    review.page.get_by_role("button", name="revert", exact=True).click()
    expect(place).not_to_contain_text("here:")
    assert Decision.objects.standing().get().cui == "C0015967"


def test_one_occurrence_is_decided_and_taken_back_by_keys_alone(review: Review, project: Project, people: Any) -> None:
    decision_take(form=form_of(project, "temp"), actor=people.doctor, cui="C0015967", expected=None)
    review.open()
    review.go_to("temp")
    only, places = review.page.locator("[data-only]"), review.page.locator("[data-label]")
    review.press("o")
    expect(only).to_contain_text("Only for this occurrence: VAL-1, u5")
    review.press("o")
    expect(only).to_contain_text("Only for this occurrence: VAL-2, u5")
    review.expect_said("Only for VAL-2, u5 (2 of 2): I had a temp last night.")
    review.press("o", "Shift+O")
    expect(only).to_contain_text("VAL-2, u5")
    review.press("x")
    review.expect_said("Nothing is decided for this occurrence alone")
    take(review, "C0028081")
    expect(places.last).to_contain_text("here: Night sweats")
    review.expect_saved()
    here = Decision.objects.standing().get(utterance__isnull=False)
    assert (here.cui, here.utterance.dialogue.external_id) == ("C0028081", "VAL-2")  # type: ignore[union-attr]
    review.press("Shift+O")  # the last one
    expect(only).to_contain_text("x takes its own decision back")
    review.press("x")
    expect(places.last).not_to_contain_text("here:")
    review.expect_saved()
    assert Decision.objects.standing().get().cui == "C0015967"
    # Escape goes back to all of them, and the whole is decided upon what stands
    review.press("o", "Escape")
    expect(only).to_be_hidden()
    take(review, "C0027497")
    review.expect_saved()
    assert Decision.objects.standing().get().cui == "C0027497"
    review.press("?")
    expect(review.dialog).to_contain_text("Decide for one occurrence alone")


def test_a_key_goes_on_to_occurrences_that_are_not_shown_yet(
    review: Review, project: Project, people: Any, values: list[LabelSet]
) -> None:
    turns = [("patient", f"A rash, number {number}.") for number in range(9)]
    label_set = factory.make_label_set(factory.make_dialogue(project, "MORE", turns), people.annotator)
    factory.make_labels(label_set, *(inform(at, "symptom", "rash", status="yes") for at in range(9)))
    link(project, label_set)
    review.open()
    review.go_to("rash")
    places = review.page.locator("[data-label]")
    expect(places).to_have_count(8)
    for number in range(1, 11):
        review.press("o")
        review.expect_said(f"({number} of 10): ")
    expect(places).to_have_count(10)
    expect(places.last).to_have_class(re.compile(r"\bat\b"))
    expect(places.last).to_be_in_viewport()
    review.press("o")
    expect(places.first).to_have_class(re.compile(r"\bat\b"))


def test_an_answer_is_new_until_it_was_before_the_eyes_of_who_asked(
    review: Review, live_server: Any, project: Project, people: Any
) -> None:
    question = question_ask(form=form_of(project, "whatsit"), actor=people.doctor, question="What is that?")
    question_answer(question=question, actor=User.objects.get(username="cora"), answer="A tickle.")
    page = review.page
    page.goto(live_server.url)
    link_to_it = page.get_by_role("link", name="Chest clinic").and_(page.locator('[href*="#f"]'))
    expect(page.get_by_text("your question about “whatsit” was answered")).to_be_visible()
    link_to_it.click()
    review.expect_value("whatsit")
    expect(page.locator(".linking-question.new")).to_contain_text("A tickle.")
    expect(page.locator(".linking-row .badge")).to_have_count(0)  # once the portal knows that it was seen
    question.refresh_from_db()
    assert question.seen_at
    page.goto(live_server.url)
    expect(page.get_by_text("was answered")).to_have_count(0)
    review.open("?status=answered")
    review.expect_value("whatsit")
    page.get_by_text("1 question answered").click()
    expect(page.locator(".linking-question")).to_be_visible()
    expect(page.locator(".linking-question")).to_contain_text("A tickle.")
    expect(page.locator(".linking-question.new")).to_have_count(0)


def test_the_kinds_of_a_proposed_concept_begin_with_those_that_fit(review: Review) -> None:
    review.go_to("whatsit")
    review.press("p")
    groups = review.dialog.get_by_label("Kind of concept").locator("optgroup")
    expect(groups.first).to_have_attribute("label", "Usual for: symptom")
    assert groups.first.locator("option").first.inner_text() == "Sign or Symptom"
    codes = review.dialog.locator("optgroup option").evaluate_all("items => items.map((item) => item.value)")
    assert len(codes) == len(set(codes)) > 100
    review.press("Escape")


def test_two_doctors_the_second_is_told_and_nothing_is_lost(review: Review, project: Project, people: Any) -> None:
    review.go_to("cough")
    decision_nil(form=form_of(project, "cough"), actor=people.doctor, expected=None)
    Decision.objects.update(decided_by=factory.make_member(project, factory.make_user("drew"), Role.DOCTOR))
    take(review, "C0010200")
    review.expect_said("drew decided on “no concept” in the meantime")
    review.expect_value("cough")
    expect(review.page.locator(".linking-decision")).to_contain_text("Decided by drew")
    assert Decision.objects.count() == 1
    take(review, "C0010200")  # knowing of the other's
    review.expect_saved()
    assert Decision.objects.standing().get().cui == "C0010200"


def test_decisions_survive_a_lost_connection_and_a_reload(review: Review, project: Project) -> None:
    review.go_to("cough")
    review.page.route("**/decide/", lambda route: route.abort())
    take(review, "C0010200")
    expect(review.page.locator(".saved")).to_contain_text("not saved, will retry (1 waiting)")
    assert not Decision.objects.exists()
    review.page.on("dialog", lambda dialog: dialog.accept())
    review.open()
    expect(review.page.locator(".saved")).to_contain_text("not saved, will retry (1 waiting)")
    review.page.unroute("**/decide/")
    review.expect_saved()
    expect(review.page.locator("[data-progress-text]")).to_contain_text("1 of 11 decided")
    assert Decision.objects.standing().get().cui == "C0010200"


def test_a_question_is_asked_and_answered_in_place(
    review: Review, chromium: Any, live_server: Any, project: Project
) -> None:
    review.go_to("temp")
    review.press("a")
    review.page.keyboard.type("Fever or climate?")
    review.dialog.get_by_label("Of whom").select_option(label="cora (curator)")
    review.dialog.get_by_role("button", name=re.compile("^Ask")).click()
    expect(review.page.locator(".linking-question")).to_contain_text("dora asks cora: Fever or climate?")
    other = Review(sign_in(chromium, live_server, "cora"), live_server, project)
    other.page.goto(live_server.url)
    other.page.get_by_role("link", name=project.name).first.click()
    other.page.wait_for_selector("[data-linking][data-ready]")
    other.expect_value("temp")
    other.page.get_by_label("Answer").fill("Fever.")
    other.press("Enter")
    expect(other.page.locator(".linking-question")).to_contain_text("cora: Fever.")
    assert ConceptQuestion.objects.get().answer == "Fever."
    assert other.errors == []
    other.page.context.close()


def test_the_queue_is_walked_filtered_and_found_in_by_keys(review: Review) -> None:
    review.expect_value("cough")
    review.press("j")
    review.expect_value("short of breath")
    review.press("ArrowUp")
    review.expect_value("cough")
    review.press("s")
    review.expect_value("short of breath")
    review.press("f")
    review.page.keyboard.type("chest")
    review.press("Enter")
    review.expect_value("pain in the chest")
    expect(review.page.locator("[data-form]")).to_have_count(1)
    expect(review.page.locator("[data-heading]")).to_be_focused()
    review.press("s")
    review.expect_said("Nothing else is open in this list, which is filtered; c shows all values.")
    review.press("c")
    expect(review.page.locator("[data-form]")).to_have_count(11)
    review.expect_value("pain in the chest")
    review.press("Escape", "?")
    expect(review.dialog).to_contain_text("Take your last decision back")


def test_progress_and_candidates_come_by_themselves(review: Review, project: Project) -> None:
    Candidate.objects.all().delete()
    SurfaceForm.objects.update(linked_with="", linked_at=None)
    review.open()
    expect(review.page.locator("[data-progress-text]")).to_contain_text("0 of 11 values have candidates")
    review.go_to("cough")
    expect(review.page.locator(".linking-candidates")).to_contain_text("they appear by themselves")
    forms_link(project=project)
    expect(review.page.locator('[data-card="C0010200"]')).to_be_visible()
    expect(review.page.locator("[data-progress-text]")).to_have_text("0 of 11 decided · 11 open")


def test_what_a_doctor_needs_is_seen_without_scrolling(review: Review, project: Project) -> None:
    review.go_to("short of breath")
    page = review.page
    assert page.evaluate(
        "document.documentElement.scrollHeight <= innerHeight && document.documentElement.scrollWidth <= innerWidth"
    )
    for selector in ("[data-heading]", ".linking-place-item", "[data-card]", ".linking-actions"):
        box = page.locator(selector).first.bounding_box()
        assert box
        assert box["y"] + box["height"] <= 768, selector


def test_another_concept_is_chosen_in_the_row_of_the_vocabulary_page(
    review: Review, live_server: Any, project: Project, people: Any
) -> None:
    for words, cui in (("temp", "C0015967"), ("rash", "C0015230"), ("cough", "C0010200")):
        decision_take(form=form_of(project, words), actor=people.doctor, cui=cui, expected=None)
    left = {cui: words for cui, words in CONCEPTS.items() if cui not in ("C0015967", "C0015230")}
    left["C0010200"] = ("T184", "Coughing", "cough")
    vocabulary_switch(
        project=project, to=make_vocabulary(Small(left, version="2027-01"), name="newer"), actor=people.doctor
    )
    page = review.page
    page.goto(live_server.url + reverse("concepts-vocabulary", args=[project.slug]))
    expect_accessible(page, "what is left to look at")
    page.get_by_role("button", name="Choose another concept for temp").focus()
    review.press("Enter")
    search = page.get_by_role("combobox", name="Search the vocabulary")
    expect(search).to_have_value("Fever")
    search.fill("headache")
    expect(review.dialog.get_by_role("option").first).to_contain_text("Headache")
    review.press("Enter")
    expect(page.get_by_text("“temp” means Headache (C0018681) now.")).to_be_visible()
    page.get_by_role("button", name="Keep Rash for rash").click()
    expect(page.get_by_text("“rash” stays as it was decided: Rash.")).to_be_visible()
    page.reload()
    page.get_by_text("1 kept as decided").click()
    expect(page.get_by_text("kept by dora")).to_be_visible()
    expect_accessible(page, "what was kept")
    page.get_by_role("button", name="Look again at rash").click()
    expect(page.get_by_role("button", name="Keep Rash for rash")).to_be_visible()
    assert Decision.objects.standing().get(surface_form__key="temp").cui == "C0018681"


def test_the_pages_have_no_serious_fault(review: Review, live_server: Any, project: Project, people: Any) -> None:
    expect_accessible(review.page, "review")
    for keys in (["1"], ["0"], ["p"], ["a"], ["/"], ["?"]):
        review.press(*keys)
        expect(review.dialog).to_be_visible()
        expect_accessible(review.page, f"dialog of {keys}")
        review.press("Escape")
    decision_take(form=form_of(project, "cough"), actor=people.doctor, cui="C0010200", expected=None)
    review.open()
    review.go_to("cough")
    expect_accessible(review.page, "decided")
    review.page.goto(live_server.url + reverse("concepts-vocabulary", args=[project.slug]))
    expect_accessible(review.page, "vocabulary")


# --- the workbench ----------------------------------------------------------------------------------------------------


@pytest.fixture
def bench(chromium: Any, live_server: Any, values: list[LabelSet]) -> Iterator[Any]:
    found = workbench(chromium, live_server, values[0])
    yield found
    found.page.context.close()
    assert found.errors == []


def test_the_vocabulary_is_offered_below_and_nothing_highlighted_moves(bench: Any) -> None:
    make_vocabulary(Small({**CONCEPTS, "C0031315": ("T184", "Phantom limb pain", "pain in a phantom limb")}))
    bench.open(0)
    bench.press("s")
    bench.type("exanth")
    heading = bench.page.locator(".suggestions-heading:visible")
    expect(heading).to_have_text("Vocabulary")
    offered = bench.options()
    assert "exanthema" in offered
    bench.press("Control+A")
    bench.type("pain")
    active = bench.page.locator('[role=option][aria-selected="true"]:visible')
    expect(active).to_have_count(1)
    first = active.inner_text()
    expect(heading).to_have_text("Vocabulary")
    assert active.inner_text() == first
    ids = bench.page.locator("[role=option]:visible").evaluate_all("items => items.map((item) => item.id)")
    assert len(ids) == len(set(ids))
    bench.press("Control+A")
    bench.type("exanth")
    expect(heading).to_be_visible()
    bench.press("ArrowDown", "Tab")
    assert bench.chosen() == ["exanthema"]


def test_what_the_list_offers_is_not_offered_again_under_another_name(bench: Any) -> None:
    bench.open(0)
    bench.press("s")
    with bench.page.expect_response(lambda response: "q=breathl" in response.url) as answer:
        bench.type("breathl")
    assert answer.value.json()["suggestions"] == [{"value": "breathlessness", "note": "Dyspnea"}]
    bench.page.wait_for_timeout(200)
    offered = bench.options()
    assert "dyspnea" in offered
    assert "breathlessness" not in offered
    expect(bench.page.locator(".suggestions-heading:visible")).to_have_count(0)


def test_offline_the_list_works_without_the_vocabulary(bench: Any) -> None:
    bench.open(0)
    bench.page.context.set_offline(True)
    bench.press("s")
    bench.type("head")
    expect(bench.page.locator("[role=option]:visible").first).to_be_visible()
    bench.press("Tab")
    assert len(bench.chosen()) == 1
    bench.page.context.set_offline(False)


def test_mentions_of_the_vocabulary_become_chips_after_those_of_the_lists(
    chromium: Any, live_server: Any, project: Project, people: Any
) -> None:
    make_vocabulary()
    said = "Then came an exanthema, and a cough."
    label_set = factory.make_label_set(factory.make_dialogue(project, "CHIPS", [("patient", said)]), people.annotator)
    link(project)
    bench = workbench(chromium, live_server, label_set).open(0)
    chips = bench.page.locator(".turn[aria-current] .chip")
    assert [chip.split(maxsplit=1)[1] for chip in chips.all_inner_texts()] == ["cough", "exanthema"]
    bench.press("2")
    assert bench.chosen() == ["exanthema"]
    assert bench.errors == []
    bench.page.context.close()


def test_decided_values_are_marked_also_in_a_label_that_is_new(
    bench: Any, project: Project, people: Any, values: list[LabelSet]
) -> None:
    decision_take(form=form_of(project, "short of breath"), actor=people.doctor, cui="C0013404", expected=None)
    bench.open(1)
    mark = bench.turn(1).locator(".canonical")
    expect(mark).to_contain_text("Dyspnea")
    expect(mark).to_contain_text("C0013404")
    bench.go_to(5)
    bench.press("s")
    bench.type('"Short of breath",')
    bench.page.locator('.questions [data-field="status"] input[value="yes"]').check()
    bench.press("Enter")
    expect(bench.turn(5).locator(".label", has_text="Short of breath").locator(".canonical")).to_contain_text("Dyspnea")
    bench.expect_saved()
    expect(bench.turn(5).locator(".label", has_text="Short of breath").locator(".canonical")).to_contain_text("Dyspnea")
