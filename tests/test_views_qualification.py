"""The pages of training and test: supervisors' and annotators'."""

from __future__ import annotations

import json

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse

from annotation.models import ExamDialogue, LabelSet, Owner, QualificationOverride, TestAttempt
from annotation.services.exams import exam_settings, explanations_of, explanations_write
from annotation.services.qualification import (
    attempt_hand_in,
    attempt_label_sets,
    attempt_start,
    feedback_write,
    gold_of,
    training_start,
)
from tests import factory
from tests.factory import inform
from tests.qualifying import GOLD, fill, make_exam, make_test, make_training

BASE = "/projects/chest-clinic"


@pytest.fixture
def sam(client_for, people) -> Client:
    return client_for(people.supervisor)


@pytest.fixture
def alice(client_for, people) -> Client:
    return client_for(people.annotator)


def page(client: Client, address: str, **query: str) -> str:
    response = client.get(address, query)
    assert response.status_code == 200
    return response.content.decode()


def address(name: str, *parts: object) -> str:
    return reverse(name, args=["chest-clinic", *parts])


def handed_in(project, person, labels=GOLD) -> TestAttempt:
    attempt = attempt_start(project=project, annotator=person)
    for label_set in attempt_label_sets(attempt):
        fill(label_set, labels)
    return attempt_hand_in(attempt=attempt)


def json_file(name: str, data: object) -> SimpleUploadedFile:
    return SimpleUploadedFile(name, json.dumps(data).encode(), content_type="application/json")


# --- supervisors: which dialogues, and the rules ---


def test_without_dialogues_the_page_says_what_comes_first(sam):
    shown = page(sam, f"{BASE}/exams/")
    assert "No training dialogue yet" in shown
    assert "No test dialogue yet" in shown
    assert "Import dialogues first" in shown


def test_a_dialogue_is_added_gets_its_gold_from_labels_and_is_listed(sam, people, label_set):
    factory.make_labels(label_set, *GOLD)
    added = sam.post(f"{BASE}/exams/add/", {"dialogue": label_set.dialogue_id, "kind": "test"}, follow=True)
    shown = added.content.decode()
    assert "The gold is missing" in shown
    exam = ExamDialogue.objects.get()
    assert "missing: add it" in page(sam, f"{BASE}/exams/")
    copied = sam.post(address("exam-gold", exam.pk), {"source": label_set.pk}, follow=True).content.decode()
    assert "The gold has 10 labels now" in copied
    assert "inform symptom: cough (yes), onset: two weeks" in copied
    assert "10 labels" in page(sam, f"{BASE}/exams/")


def test_gold_comes_from_a_portal_file_and_a_wrong_file_is_refused_beside_its_field(sam, project, people):
    exam = make_exam(factory.make_dialogue(project, "T1"), "training", people.supervisor, gold=())
    url = address("exam-gold", exam.pk)
    label = {"uid": "1", "intent": "inform", "slot": "symptom", "value": "cough", "status": "Yes"}
    assert (
        "The gold has 1 label now"
        in sam.post(url, {"file": json_file("a.json", [label])}, follow=True).content.decode()
    )
    for body, sentence in (
        ({"file": json_file("a.json", {"x": 1})}, "The file was not imported"),
        ({"file": json_file("a.json", [{**label, "uid": "99"}])}, "The file was not imported"),
        ({}, "Choose a file."),
        ({"source": "12345"}, "Choose one of the listed label sets."),
    ):
        response = sam.post(url, body)
        assert response.status_code == 422
        assert sentence in response.content.decode()
    assert gold_of(exam.dialogue_id, "training").labels.count() == 1


def test_explanations_are_typed_in_and_imported(sam, project, people):
    exam = make_training(project, people.supervisor)
    url = address("exam-explanations", exam.pk)
    sam.post(url, {"u1": "Since when.", "u2": ""})
    sam.post(url, {"file": json_file("why.json", {"3": "Both of them."})})
    assert explanations_of(exam.dialogue) == {1: "Since when.", 3: "Both of them."}
    shown = page(sam, address("exam", exam.pk))
    assert "2 of 10 utterances are explained" in shown
    assert ">Since when.</textarea>" in shown
    refused = sam.post(url, {"file": json_file("why.json", {"99": "x"})})
    assert refused.status_code == 422
    assert "TRAIN-1 has no utterance 99" in refused.content.decode()


def test_what_was_typed_is_kept_when_it_is_refused(sam, project, people):
    exam = make_training(project, people.supervisor)
    refused = sam.post(address("exam-explanations", exam.pk), {"u1": "x" * 4001, "u2": "Kept."})
    assert refused.status_code == 422
    assert "longer than 4,000 signs" in refused.content.decode()
    assert ">Kept.</textarea>" in refused.content.decode()


def test_the_rules_are_saved_and_impossible_ones_are_refused_at_their_field(sam, project):
    url = f"{BASE}/exams/settings/"
    sam.post(url, {"pass_mark": "0.9", "attempt_limit": "3"})
    project.refresh_from_db()
    assert (project.pass_mark, project.attempt_limit) == (0.9, 3)
    sam.post(url, {"pass_mark": "0.9", "attempt_limit": ""})
    project.refresh_from_db()
    assert project.attempt_limit is None
    for wrong in ({"pass_mark": "2"}, {"pass_mark": "0.9", "attempt_limit": "0"}):
        refused = sam.post(url, wrong)
        assert refused.status_code == 422
        assert f'id="id_{list(wrong)[-1]}_error"' in refused.content.decode()


def test_order_and_removal(sam, project, people):
    first, second = (make_test(project, people.supervisor, name) for name in ("T-A", "T-B"))
    sam.post(address("exam-move", second.pk), {"to": "up"})
    assert list(ExamDialogue.objects.values_list("dialogue__external_id", flat=True)) == ["T-B", "T-A"]
    assert "is no test dialogue any more" in sam.post(address("exam-remove", first.pk), follow=True).content.decode()
    assert "switch the test off first" in sam.post(address("exam-remove", second.pk), follow=True).content.decode()


def test_the_list_of_annotators_shows_attempts_and_decisions(sam, project, people):
    make_test(project, people.supervisor)
    handed_in(project, people.annotator, GOLD[:2])
    attempt_start(project=project, annotator=people.annotator)
    shown = page(sam, f"{BASE}/exams/")
    assert "not passed" in shown
    assert "under way" in shown
    assert shown.count(">waits for the test<") == 2
    refused = sam.post(f"{BASE}/exams/override/", {"annotator": people.second.pk, "reason": ""})
    assert refused.status_code == 422
    sam.post(f"{BASE}/exams/override/", {"annotator": people.second.pk, "reason": "Knows <it>."})
    shown = page(sam, f"{BASE}/exams/")
    assert shown.count(">waits for the test<") == 1
    assert "without the test: Knows &lt;it&gt;." in shown
    (done,) = QualificationOverride.objects.all()
    assert 'aria-label="Revoke: bob works without the test"' in shown
    sam.post(address("override-revoke", done.pk))
    shown = page(sam, f"{BASE}/exams/")
    assert shown.count(">waits for the test<") == 2
    assert "Revoke: bob" not in shown
    assert "Knows &lt;it&gt;." in shown  # what was decided, and that it was revoked, stays in the list


def test_the_page_says_whether_work_waits_for_the_test_and_why(sam, alice, project, people):
    assert "No test dialogue has gold yet, so every annotator can be given work" in page(sam, f"{BASE}/exams/")
    exam = make_exam(factory.make_dialogue(project, "T"), "test", people.supervisor, gold=())
    assert "No test dialogue has gold yet" in page(sam, f"{BASE}/exams/")
    assert "it makes no work wait for the test" in page(sam, address("exam", exam.pk))
    make_test(project, people.supervisor)
    assert "1 test dialogue has gold, so new work goes only to annotators who have passed" in page(
        sam, f"{BASE}/exams/"
    )
    refused = sam.post(f"{BASE}/exams/waive/", {"reason": ""})
    assert refused.status_code == 422
    assert 'id="waiver_reason_error"' in refused.content.decode()
    sam.post(f"{BASE}/exams/waive/", {"reason": "A pilot."})
    shown = page(sam, f"{BASE}/exams/")
    assert "The test is switched off" in shown
    assert "sam decided so on" in shown
    assert "A pilot." in shown
    assert "Before you get real work" not in page(alice, "/")
    assert "does not wait for the test" in page(alice, f"{BASE}/qualification/")
    sam.post(address("override-revoke", QualificationOverride.objects.get().pk))
    assert "new work goes only to annotators who have passed" in page(sam, f"{BASE}/exams/")
    assert "Before you get real work" in page(alice, "/")


def test_attempts_are_counted_against_the_limit_on_both_sides_and_another_is_allowed(sam, alice, project, people):
    make_test(project, people.supervisor)
    exam_settings(project=project, pass_mark=0.8, attempt_limit=2)
    assert "attempt 1 of 2" in page(alice, "/")
    assert "Allow another attempt" not in page(sam, f"{BASE}/exams/")
    handed_in(project, people.annotator, GOLD[:2])
    assert "next is attempt 2 of 2" in page(alice, "/")
    assert "1 of 2 attempts used<" in page(sam, f"{BASE}/exams/")
    handed_in(project, people.annotator, GOLD[:2])
    shown = page(alice, f"{BASE}/qualification/")
    assert "2 of 2 attempts used; your supervisor can allow another" in shown
    assert "Take the test again" not in shown
    assert "used all your attempts" in alice.post(f"{BASE}/qualification/test/", follow=True).content.decode()
    assert "2 of 2 attempts used<" in page(sam, f"{BASE}/exams/")
    body = {"annotator": people.annotator.pk, "reason": ""}
    assert sam.post(f"{BASE}/exams/attempt/", body).status_code == 422
    assert sam.post(f"{BASE}/exams/attempt/", {"annotator": people.second.pk, "reason": "x"}).status_code == 422
    sam.post(f"{BASE}/exams/attempt/", {**body, "reason": "A fire drill."})
    shown = page(sam, f"{BASE}/exams/")
    assert "may take attempt 3" in shown
    assert "A fire drill." in shown
    assert "next is attempt 3 of 3" in page(alice, "/")


def test_utterances_that_the_gold_leaves_out_are_named_to_supervisors(sam, project, people):
    exam = make_exam(factory.make_dialogue(project, "T"), "test", people.supervisor, GOLD[:8])
    assert "2 utterances without" in page(sam, f"{BASE}/exams/")
    shown = page(sam, address("exam", exam.pk))
    assert "The gold has no label on 2 utterances" in shown
    assert '<a href="#u8">8</a>' in shown
    assert "has no label on" not in page(sam, address("exam", make_test(project, people.supervisor).pk))


def test_the_list_takes_as_many_queries_for_many_people(sam, project, people, django_assert_max_num_queries):
    make_test(project, people.supervisor)
    for number in range(12):
        person = factory.make_member(project, factory.make_user(f"p{number}"), "annotator")
        handed_in(project, person)
    with django_assert_max_num_queries(26):
        page(sam, f"{BASE}/exams/")


def test_somebody_who_has_not_passed_cannot_be_assigned_work_on_the_page(sam, project, people, dialogue):
    make_test(project, people.supervisor)
    body = {"dialogue": [dialogue.pk], "annotator": [people.annotator.pk], "action": "assign"}
    shown = sam.post(f"{BASE}/assign/", body, follow=True).content.decode()
    assert "alice has not passed the test" in shown
    assert not LabelSet.objects.filter(owner=Owner.ANNOTATOR).exists()


# --- annotators: the steps ---


def test_my_work_shows_the_steps_until_the_test_is_passed(alice, project, people):
    make_training(project, people.supervisor)
    assert "Before you get real work" not in page(alice, "/")
    make_test(project, people.supervisor)
    shown = page(alice, "/")
    assert "Before you get real work: Chest clinic" in shown
    assert "Start the training" in shown
    assert "Start the test" not in shown
    sent = alice.post(f"{BASE}/qualification/training/")
    own = LabelSet.objects.get(owner=Owner.ANNOTATOR)
    assert sent["Location"] == address("workbench", own.pk)
    LabelSet.objects.filter(pk=own.pk).update(status="done")
    assert "Start the test" in page(alice, "/")
    handed_in(project, people.annotator)
    assert "Before you get real work" not in page(alice, "/")


def test_training_and_test_are_no_work_in_the_queue(alice, project, people):
    make_training(project, people.supervisor)
    training_start(project=project, annotator=people.annotator)
    shown = page(alice, "/")
    assert "Training and test: Chest clinic" in shown
    assert "Next up" not in shown
    assert 'id="my-work"' not in shown


def test_a_project_without_training_and_test_says_so(alice):
    assert "neither training nor a test" in page(alice, f"{BASE}/qualification/")


def test_starting_where_nothing_can_start_is_explained(alice, project, people):
    assert "no test dialogue" in alice.post(f"{BASE}/qualification/test/", follow=True).content.decode()
    assert "no training dialogue" in alice.post(f"{BASE}/qualification/training/", follow=True).content.decode()


def test_the_test_is_handed_in_from_the_page_with_what_is_missing_said_before(alice, project, people):
    make_test(project, people.supervisor)
    alice.post(f"{BASE}/qualification/test/")
    attempt = TestAttempt.objects.get()
    fill(attempt_label_sets(attempt)[0], GOLD[:8])
    assert "2 utterances have no label and no reason yet" in page(alice, f"{BASE}/qualification/")
    shown = alice.post(address("attempt-hand-in", attempt.pk), follow=True).content.decode()
    assert "Your test, attempt 1" in shown
    attempt.refresh_from_db()
    assert attempt.submitted_at is not None


def test_an_open_attempt_leads_its_annotator_back_and_shows_supervisors_how_far_it_is(alice, sam, project, people):
    make_test(project, people.supervisor)
    attempt = attempt_start(project=project, annotator=people.annotator)
    assert alice.get(address("attempt", attempt.pk))["Location"] == address("qualification")
    assert "not handed in yet" in page(sam, address("attempt", attempt.pk))


# --- the gold stays hidden ---

MARK = "QZXGOLD"


@pytest.fixture
def marked(project, people) -> dict[str, ExamDialogue]:
    """Training and a test whose gold and explanations can be recognised wherever they appear."""
    found = {}
    for kind in ("training", "test"):
        gold = [inform(1, "symptom", f"{MARK} cough", status="yes"), inform(3, "symptom", f"{MARK} fever", status="no")]
        exam = make_exam(factory.make_dialogue(project, f"EXAM-{kind}"), kind, people.supervisor, gold)
        explanations_write(dialogue=exam.dialogue, texts={1: f"{MARK} why", 3: f"{MARK} why"})
        found[kind] = exam
    return found


def test_in_training_the_gold_of_an_utterance_comes_after_its_label_and_no_other(
    alice, client_for, people, project, marked
):
    (own,) = training_start(project=project, annotator=people.annotator)
    fill(own, [inform(1, "symptom", "cough", status="yes")])
    check = address("workbench-check", own.pk)
    for place in (address("workbench", own.pk), "/", f"{BASE}/qualification/", f"/api/v1/label-sets/{own.pk}/"):
        assert MARK not in page(alice, place)
    refused = alice.get(check, {"position": "3"})
    assert refused.status_code == 409
    assert refused.content.decode() == "Label utterance 3 first; then it can be compared with the gold."
    shown = page(alice, check, position="1")
    assert f"{MARK} cough" in shown
    assert f"{MARK} fever" not in shown
    for odd in ("", "x", "-1", "10", "²"):
        assert alice.get(check, {"position": odd}).status_code == 409
    assert client_for(people.second).get(check, {"position": "1"}).status_code == 404
    assert client_for(people.supervisor).get(check, {"position": "1"}).status_code == 200


def test_a_test_has_no_check_and_never_shows_its_gold_to_who_takes_it(alice, project, people, marked):
    (own,) = training_start(project=project, annotator=people.annotator)
    LabelSet.objects.filter(pk=own.pk).update(status="done")
    attempt = attempt_start(project=project, annotator=people.annotator)
    (tested,) = attempt_label_sets(attempt)
    fill(tested, [inform(1, "symptom", "cough", status="yes")])
    assert alice.get(address("workbench-check", tested.pk), {"position": "1"}).status_code == 404
    assert "data-check" not in page(alice, address("workbench", tested.pk))
    attempt_hand_in(attempt=attempt)
    text = "Mind the onset."
    feedback_write(attempt=attempt, label_set=tested, author=people.supervisor, texts={1: text})
    for query in ({}, {"show": "all"}, {"show": "differs"}):
        shown = page(alice, address("attempt", attempt.pk), **query)
        assert MARK not in shown
        assert text in shown
    gold = gold_of(tested.dialogue_id, "test")
    for place in ("workbench", "portal-file", "workbench-history", "labels-import"):
        assert alice.get(address(place, gold.pk)).status_code == 404
    assert alice.get(f"/api/v1/label-sets/{gold.pk}/").status_code == 404
    assert alice.get(address("exam", marked["test"].pk)).status_code == 403


# --- supervisors read attempts ---


def test_gold_labels_and_differences_stand_in_step(sam, project, people):
    make_test(project, people.supervisor)
    labels = [*GOLD[:3], inform(3, "symptom", "fever", status="no"), *GOLD[4:9]]
    attempt = handed_in(project, people.annotator, labels)
    shown = page(sam, address("attempt", attempt.pk))
    assert "inform symptom: fever, night sweats (no)" in shown
    assert "inform symptom: fever (no)" in shown
    assert shown.count("left out") >= 1
    only = page(sam, address("attempt", attempt.pk), show="differs")
    assert only.count("<textarea") == 2
    assert shown.count("<textarea") == 10


def test_feedback_is_written_per_utterance_and_read_by_the_annotator(sam, alice, client_for, project, people):
    make_test(project, people.supervisor)
    attempt = handed_in(project, people.annotator)
    (own,) = attempt_label_sets(attempt)
    url = address("attempt-feedback", attempt.pk)
    sam.post(url, {"set": own.pk, "f1": "Well <seen>.", "f2": ""})
    shown = page(alice, address("attempt", attempt.pk))
    assert "Well &lt;seen&gt;." in shown
    assert "<textarea" not in shown
    assert "Well &lt;seen&gt;.</textarea>" in page(sam, address("attempt", attempt.pk))
    root = page(client_for(people.superuser), address("attempt", attempt.pk))
    assert "<strong>sam:</strong> Well" in root
    assert sam.post(url, {"set": "12345", "f1": "x"}).status_code == 404


def test_a_supervisor_who_takes_the_test_does_not_see_its_gold_there(sam, project, people):
    factory.make_member(project, people.supervisor, "annotator")
    make_test(project, people.supervisor)
    attempt = handed_in(project, people.supervisor, GOLD[:1])
    shown = page(sam, address("attempt", attempt.pk))
    assert "Your test, attempt 1" in shown
    assert "night sweats" not in shown


def test_a_score_says_when_the_gold_was_changed_since(sam, project, people):
    exam = make_test(project, people.supervisor)
    attempt = handed_in(project, people.annotator)
    assert "The gold was changed after this test" not in page(sam, address("attempt", attempt.pk))
    sam.post(address("exam-gold", exam.pk), {"file": json_file("a.json", [{"uid": "0", "intent": "salutations"}])})
    assert "The gold was changed after this test" in page(sam, address("attempt", attempt.pk))
