"""The adjudication page and its requests: who may, what is hidden, what is answered."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from django.urls import reverse

from annotation.domain.adjudication import Resolution
from annotation.models import Label, LabelSet, Role
from annotation.services.adjudication import gold_begin_review, gold_finish
from tests import factory
from tests.adjudicating import LABELS_A, Pair, finished, make_pair
from tests.factory import inform


@pytest.fixture
def pair(dialogue: Any, people: Any) -> Pair:
    return make_pair(dialogue, people.annotator, people.second)


def url(pair: Pair, name: str = "") -> str:
    return reverse("adjudicate" + (f"-{name}" if name else ""), args=[pair.dialogue.project.slug, pair.dialogue.pk])


def send(client: Any, pair: Pair, name: str, **data: Any) -> Any:
    body = {"version": pair.case.version, "key": factory.uuid.uuid4().hex, **data}
    return client.post(url(pair, name), json.dumps(body), content_type="application/json")


def choice(pair: Pair, position: int, resolution: str, **more: Any) -> dict[str, Any]:
    return {"position": position, "pairing": pair.key_at(position), "resolution": resolution, **more}


def page_data(client: Any, pair: Pair) -> dict[str, Any]:
    text = client.get(url(pair)).content.decode()
    return json.loads(re.search(r'id="adjudication-data" type="application/json">(.*?)</script>', text, re.S)[1])


def test_the_page_holds_both_readings_and_what_is_to_be_decided(client_for: Any, pair: Pair, people: Any) -> None:
    data = page_data(client_for(people.doctor), pair)
    assert (data["version"], data["conflicts"], data["left"], data["agreed"]) == (0, 3, 3, 2)
    (item,) = data["utterances"]["3"]["items"]
    assert item["words"].startswith("Same symptom, other status")
    assert {item["a"][0]["status"], item["b"][0]["status"]} == {"yes", "no"}


def test_neither_the_page_nor_an_answer_tells_who_the_annotators_are(client_for: Any, pair: Pair, people: Any) -> None:
    client = client_for(people.supervisor)
    texts = [client.get(url(pair)).content.decode()]
    for position in (3, 5):
        texts.append(send(client, pair, "decide", decisions=[choice(pair, position, "both")]).content.decode())
    texts.append(client.get(url(pair)).content.decode())
    texts.append(send(client, pair, "decide", version=0, decisions=[choice(pair, 7, "none")]).content.decode())
    secret = [people.annotator.username, people.second.username, pair.dialogue.project.secret, "exchanged"]
    secret += [str(pk) for pk in Label.objects.exclude(label_set__owner="gold").values_list("pk", flat=True)]
    for text in texts:
        assert [word for word in secret if word in text] == []


def test_the_order_of_gold_labels_does_not_tell_the_true_sides(client_for: Any, people: Any, project: Any) -> None:
    orders = set()
    for number in range(8):
        pair = make_pair(factory.make_dialogue(project, f"O{number}"), people.annotator, people.second)
        pair.decide(people.supervisor, 3, "both")
        gold = page_data(client_for(people.supervisor), pair)["utterances"]["3"]["gold"]
        orders.add(tuple(row["from"] for row in gold))
    assert orders == {("A", "B")}


def test_a_decision_is_carried_out_and_answered(client_for: Any, pair: Pair, people: Any) -> None:
    answer = send(client_for(people.doctor), pair, "decide", decisions=[choice(pair, 3, "A", reason="he denies it")])
    assert answer.status_code == 200
    body = answer.json()
    assert (body["version"], body["left"], body["replayed"]) == (1, 2, False)
    (item,) = body["utterances"]["3"]["items"]
    assert (item["decision"]["resolution"], item["decision"]["by"]) == ("A", "you")
    assert item["decision"]["reason"] == "he denies it"
    assert body["utterances"]["3"]["gold"][0]["data"]["answers"] == item["a"][0]["data"]["answers"]


def test_the_request_sent_again_is_answered_and_does_nothing(client_for: Any, pair: Pair, people: Any) -> None:
    client, body = client_for(people.doctor), {"key": "k", "decisions": [choice(pair, 3, "both")]}
    send(client, pair, "decide", **body)
    again = send(client, pair, "decide", **{**body, "version": 0})
    assert (again.status_code, again.json()["replayed"]) == (200, True)
    assert pair.gold.version == 1


def test_a_conflict_shows_the_newest_state_and_no_history(client_for: Any, pair: Pair, people: Any) -> None:
    pair.decide(people.supervisor, 3, "A")
    answer = send(client_for(people.doctor), pair, "decide", version=0, decisions=[choice(pair, 5, "A")])
    error = answer.json()["error"]
    assert (answer.status_code, error["code"], error["version"]) == (409, "conflict", 1)
    assert error["now"]["left"] == 2
    assert "events" not in error


@pytest.mark.parametrize(
    "decisions",
    [
        [],
        "all",
        [{"position": "3"}],
        [{"position": 3, "pairing": 7}],
        [{"position": 3, "resolution": "C"}],
        [{"position": 3, "resolution": "A", "error_type": "mood"}],
        [{"position": 3, "resolution": "new", "labels": [None]}],
        [{"position": 3, "resolution": "new", "labels": ["fever"]}],
        [{"position": 3, "resolution": "A", "pairing": "unknown"}],
        [{"position": 99, "resolution": "none", "pairing": "unknown"}],
        [{"position": 99, "resolution": "new", "labels": [{"position": 99, "intent": "inform"}]}],
        [{"position": 3, "resolution": "none", "pairing": "added-1"}],
    ],
)
def test_what_cannot_be_decided_is_refused_in_a_sentence(
    client_for: Any, pair: Pair, people: Any, decisions: Any
) -> None:
    answer = send(client_for(people.supervisor), pair, "decide", decisions=decisions)
    assert answer.status_code == 400
    assert answer.json()["error"]["message"].endswith(".")
    assert not LabelSet.objects.filter(owner="gold").exists()


def test_a_label_that_is_wrong_names_the_question(client_for: Any, pair: Pair, people: Any) -> None:
    label = {"position": 3, "intent": "inform", "slot": "symptom", "answers": {"value": ["fever"], "status": "perhaps"}}
    answer = send(client_for(people.doctor), pair, "decide", decisions=[choice(pair, 3, "edited", labels=[label])])
    assert answer.status_code == 400
    assert answer.json()["error"]["fields"][0]["field"] == "status"


def test_undo_finish_and_reopen(client_for: Any, pair: Pair, people: Any) -> None:
    client = client_for(people.supervisor)
    assert send(client, pair, "undo").status_code == 400
    for position, side in ((3, "both"), (5, "both"), (7, "none")):
        send(client, pair, "decide", decisions=[choice(pair, position, side)])
    assert send(client, pair, "undo").json()["left"] == 1
    refused = send(client, pair, "finish")
    assert (refused.status_code, "utterance 7" in refused.json()["error"]["message"]) == (400, True)
    send(client, pair, "decide", decisions=[choice(pair, 7, "none")])
    assert send(client, pair, "finish").json()["status"] == "done"
    assert send(client, pair, "decide", decisions=[choice(pair, 7, "none")]).status_code == 409
    assert send(client, pair, "reopen").json()["editable"] is True


@pytest.mark.parametrize("who", ["annotator", "second"])
def test_one_of_the_two_can_neither_see_nor_decide_whatever_their_other_roles(
    client_for: Any, pair: Pair, people: Any, project: Any, who: str
) -> None:
    person = factory.make_member(project, getattr(people, who), Role.SUPERVISOR, Role.DOCTOR)
    client = client_for(person)
    answer = client.get(url(pair))
    assert (answer.status_code, "somebody else" in answer.content.decode()) == (403, True)
    assert send(client, pair, "decide", decisions=[choice(pair, 3, "both")]).status_code == 403
    assert pair.dialogue.external_id not in client.get(reverse("adjudication", args=[project.slug])).content.decode()


def test_the_queue_does_not_tell_a_doctor_which_of_their_own_dialogues_somebody_else_has(
    client_for: Any, people: Any, project: Any, pair: Pair
) -> None:
    factory.make_member(project, people.annotator, Role.DOCTOR)
    alone = factory.make_dialogue(project, "ALONE")
    finished(alone, people.annotator, LABELS_A)
    client = client_for(people.annotator)
    answers = [client.get(reverse("adjudicate", args=[project.slug, d.pk])) for d in (alone, pair.dialogue)]
    assert [answer.status_code for answer in answers] == [403, 403]
    assert pair.dialogue.external_id not in client.get(reverse("adjudication", args=[project.slug])).content.decode()


def test_revealing_is_for_supervisors_and_stays(client_for: Any, pair: Pair, people: Any) -> None:
    assert send(client_for(people.doctor), pair, "reveal").status_code == 403
    client = client_for(people.supervisor)
    names = send(client, pair, "reveal").json()["names"]
    assert set(names["3"]) == {"alice", "bob"}
    assert page_data(client, pair)["names"] == names
    assert page_data(client_for(people.doctor), pair)["names"] is None


def test_a_decision_made_after_the_names_were_shown_says_so(client_for: Any, pair: Pair, people: Any) -> None:
    client = client_for(people.supervisor)
    pair.decide(people.supervisor, 3, "A")
    send(client, pair, "reveal")
    pair.decide(people.supervisor, 5, "A")
    utterances = page_data(client, pair)["utterances"]
    blind = [utterances[position]["items"][0]["decision"]["blind"] for position in ("3", "5")]
    assert blind == [True, False]


def test_a_dialogue_that_is_still_worked_on_shows_nothing_of_it(client_for: Any, dialogue: Any, people: Any) -> None:
    finished(dialogue, people.annotator, LABELS_A)
    factory.make_label_set(dialogue, people.second)
    text = client_for(people.supervisor).get(reverse("adjudicate", args=[dialogue.project.slug, dialogue.pk]))
    assert "Not yet" in text.content.decode()
    assert "15 days ago" not in text.content.decode()


def test_what_was_decided_before_a_change_is_still_told(client_for: Any, pair: Pair, people: Any) -> None:
    pair.decide(people.supervisor, 3, "B", reason="he corrects himself")
    shown = page_data(client_for(people.doctor), pair)["utterances"]["3"]
    assert (shown["stale"], shown["earlier"]) == (False, [])
    pair.change(pair.b, 3, inform(3, "symptom", "chills", status="yes"))
    shown = page_data(client_for(people.doctor), pair)["utterances"]["3"]
    assert shown["stale"] is True
    (before,) = shown["earlier"]
    assert (before["reason"], before["by"]) == ("he corrects himself", people.supervisor.display_name)
    assert before["resolution"] == pair.as_shown(3, Resolution.B)


def test_the_queue_counts_what_is_left_and_says_what_changed(client_for: Any, pair: Pair, people: Any) -> None:
    client, address = client_for(people.doctor), reverse("adjudication", args=[pair.dialogue.project.slug])
    assert "0 of 3" in client.get(address).content.decode()
    pair.decide(people.supervisor, 3, "A")
    pair.change(pair.b, 3, inform(3, "symptom", "chills", status="yes"))
    text = client.get(address).content.decode()
    assert "1 utterance changed since" in text
    for position in (3, 5, 7):
        pair.decide(people.supervisor, position, "none")
    case = pair.case
    gold_finish(dialogue=case.dialogue, actor=people.supervisor, version=case.version, key="f")
    assert pair.dialogue.external_id not in client.get(address).content.decode()
    assert pair.dialogue.external_id in client.get(address + "?show=done").content.decode()


def test_the_queue_says_when_there_is_nothing(client_for: Any, people: Any, project: Any) -> None:
    client, address = client_for(people.supervisor), reverse("adjudication", args=[project.slug])
    assert "No dialogue with two readings yet" in client.get(address).content.decode()
    assert "Nothing to review yet" in client.get(address + "?kind=single").content.decode()


def test_the_queue_asks_as_many_questions_for_ten_dialogues_as_for_two(
    client_for: Any, people: Any, project: Any, django_assert_max_num_queries: Any
) -> None:
    for number in range(10):
        make_pair(factory.make_dialogue(project, f"Q{number}"), people.annotator, people.second)
    client = client_for(people.supervisor)
    with django_assert_max_num_queries(20):
        text = client.get(reverse("adjudication", args=[project.slug])).content.decode()
    assert text.count("0 of 3") == 10


def test_all_that_agrees_is_accepted_with_one_button(client_for: Any, pair: Pair, people: Any, project: Any) -> None:
    address = reverse("adjudication-accept", args=[project.slug])
    answer = client_for(people.supervisor).post(address, follow=True)
    assert "2 agreed labels of 1 dialogue are" in answer.content.decode()
    assert pair.gold.labels.count() == 2


def test_a_review_is_begun_from_the_queue(client_for: Any, dialogue: Any, people: Any) -> None:
    finished(dialogue, people.annotator, LABELS_A)
    client, slug = client_for(people.supervisor), dialogue.project.slug
    assert dialogue.external_id in client.get(reverse("adjudication", args=[slug]) + "?kind=single").content.decode()
    begin = reverse("adjudicate-begin", args=[slug, dialogue.pk])
    assert "no percentage" in client.post(begin, {"share": "some"}, follow=True).content.decode()
    assert "0 and at most 100" in client.post(begin, {"share": "0"}, follow=True).content.decode()
    assert not LabelSet.objects.filter(owner="gold").exists()
    answer = client.post(begin, {"share": "100"}, follow=True)
    assert b"data-adjudication" in answer.content


def test_a_decision_becomes_a_guideline_that_annotators_read(client_for: Any, pair: Pair, people: Any) -> None:
    said = {"slot": "symptom", "text": "A denied symptom is a no.", "example": "“No.”"}
    assert send(client_for(people.doctor), pair, "guideline", **said).status_code == 200
    assert send(client_for(people.doctor), pair, "guideline", slot="symptom", text=3).status_code == 400
    text = client_for(people.annotator).get(reverse("guidelines", args=[pair.dialogue.project.slug])).content.decode()
    assert "A denied symptom is a no." in text


def test_gold_is_exported_for_supervisors_only(client_for: Any, pair: Pair, people: Any) -> None:
    pair.decide(people.supervisor, 3, "A")
    slug = pair.dialogue.project.slug
    dataset = reverse("dataset-file", args=[slug]) + "?owner=gold"
    answer = client_for(people.supervisor).get(dataset)
    assert f"{slug}.gold.dialogs.json" in answer["Content-Disposition"]
    found = json.loads(answer.getvalue())
    assert list(found) == [pair.dialogue.external_id]
    assert json.loads(client_for(people.supervisor).get(dataset + "&done=1").getvalue()) == {}
    file = client_for(people.supervisor).get(reverse("portal-file", args=[slug, pair.gold.pk]))
    assert [row["uid"] for row in json.loads(file.content)] == ["1", "2", "3"]
    page = client_for(people.supervisor).get(reverse("exports", args=[slug])).content.decode()
    assert "All gold as a dataset (1)" in page
    for person in (people.annotator, people.doctor):
        assert client_for(person).get(dataset).status_code == 403
        assert "owner=gold" not in client_for(person).get(reverse("exports", args=[slug])).content.decode()


def test_gold_cannot_be_imported_over(client_for: Any, pair: Pair, people: Any) -> None:
    from django.core.files.uploadedfile import SimpleUploadedFile

    pair.decide(people.supervisor, 3, "A")
    file = SimpleUploadedFile("x.labels.json", b'[{"uid": "1", "intent": "nod_prompt"}]')
    address = reverse("labels-import", args=[pair.dialogue.project.slug, pair.gold.pk])
    answer = client_for(people.supervisor).post(address, {"file": file, "replace": "1"})
    assert "made by adjudication" in answer.content.decode()
    assert pair.gold.version == 1


def test_the_next_dialogue_is_the_first_open_one_that_one_may_decide_on(
    client_for: Any, pair: Pair, people: Any
) -> None:
    client, slug = client_for(people.doctor), pair.dialogue.project.slug
    following = reverse("adjudicate-next", args=[slug])
    assert client.get(following).url == url(pair)
    for position, side in ((3, "A"), (5, "B"), (7, "none")):
        pair.decide(people.supervisor, position, side)
    case = pair.case
    gold_finish(dialogue=case.dialogue, actor=people.supervisor, version=case.version, key="done")
    assert client.get(following).url == reverse("adjudication", args=[slug]) + "?kind=double"
    own = factory.make_dialogue(pair.dialogue.project, "OWN")
    finished(own, people.doctor, LABELS_A)
    assert client.get(following + "?kind=single").url == reverse("adjudication", args=[slug]) + "?kind=single"
    found = client_for(people.supervisor).get(following + "?kind=single")
    assert found.url == reverse("adjudicate", args=[slug, own.pk])


def test_a_review_of_a_sample_is_made_one_of_all_by_a_supervisor(client_for: Any, dialogue: Any, people: Any) -> None:
    pair = Pair(dialogue, finished(dialogue, people.annotator, LABELS_A), None)  # type: ignore[arg-type]
    gold_begin_review(dialogue=pair.case.dialogue, actor=people.supervisor, share=0.01)
    client = client_for(people.supervisor)
    data = page_data(client, pair)
    assert (data["conflicts"], data["unseen"]) == (1, 3)
    marks = [row["from"] for utterance in data["utterances"].values() for row in utterance["gold"]]
    assert marks == ["unseen"] * 3
    assert send(client_for(people.doctor), pair, "review-all").status_code == 403
    answer = send(client, pair, "review-all").json()
    assert (answer["conflicts"], answer["left"], answer["unseen"]) == (4, 4, 0)
    refusal = send(client, pair, "review-all")
    assert refusal.status_code == 400
    assert "already" in refusal.json()["error"]["message"]


def test_the_page_has_ones_own_keys(client_for: Any, pair: Pair, people: Any) -> None:
    people.doctor.keymap = {"adjudicate:both": "F4"}
    people.doctor.save()
    keys = {row["action"]: row["keys"] for row in page_data(client_for(people.doctor), pair)["bindings"]}
    assert keys["adjudicate:both"] == ["F4"]
    assert all(action.startswith("adjudicate:") for action in keys)
