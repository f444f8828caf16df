"""Concerns: raised once, answered, closed, published; and the notes that come of them."""

from __future__ import annotations

import uuid

import pytest
from django.utils import timezone

from annotation.models import Concern, GuidelineNote, LabelSet, Role, Status
from annotation.services.concerns import concern_answer, concern_close, concern_publish, concern_raise, concern_reply
from annotation.services.errors import NotEditable, Refused
from annotation.services.guideline_notes import guideline_note_add, guideline_note_withdraw
from tests import factory
from tests.conftest import People
from tests.factory import inform


@pytest.fixture
def concern(label_set: LabelSet, people: People) -> Concern:
    return concern_raise(label_set=label_set, actor=people.annotator, position=5, text="Is this onset?", key="one")


def test_the_same_key_raises_one_concern(label_set: LabelSet, people: People, concern: Concern):
    again = concern_raise(label_set=label_set, actor=people.annotator, position=5, text="Is this onset?", key="one")
    assert again == concern
    assert Concern.objects.count() == 1


def test_a_concern_about_a_label_names_a_label_of_that_utterance(label_set: LabelSet, people: People):
    factory.make_labels(label_set, inform(1, "symptom", "cough", status="yes"))
    label = str(label_set.labels.get().pk)

    def about(position: int, label_id: str) -> Concern:
        return concern_raise(
            label_set=label_set,
            actor=people.annotator,
            position=position,
            text="Which?",
            key=uuid.uuid4().hex,
            label_id=label_id,
        )

    assert about(1, label).label_id == label
    for position, wrong in ((2, label), (1, str(uuid.uuid4())), (1, "no id")):
        with pytest.raises(Refused) as refusal:
            about(position, wrong)
        assert refusal.value.field == "label"


@pytest.mark.parametrize("status", [Status.DONE, Status.LOCKED])
def test_one_can_ask_about_finished_work(label_set: LabelSet, people: People, status: Status):
    LabelSet.objects.update(status=status)
    concern_raise(label_set=label_set, actor=people.annotator, position=0, text="And this?", key="k")
    assert Concern.objects.get().status == "open"


@pytest.mark.parametrize(
    ("position", "text", "key", "field"),
    [(99, "Why?", "k", "position"), (1, "  ", "k", "text"), (1, "Why?", "", "key")],
)
def test_what_cannot_be_asked_is_refused(
    label_set: LabelSet, people: People, position: int, text: str, key: str, field: str
):
    with pytest.raises(Refused) as refusal:
        concern_raise(label_set=label_set, actor=people.annotator, position=position, text=text, key=key)
    assert refusal.value.field == field
    assert not Concern.objects.exists()


def test_an_archived_dialogue_takes_no_concern_and_no_answer(label_set: LabelSet, people: People, concern: Concern):
    label_set.dialogue.archived_at = timezone.now()
    label_set.dialogue.save()
    concern.label_set.dialogue.archived_at = timezone.now()
    with pytest.raises(NotEditable):
        concern_raise(label_set=label_set, actor=people.annotator, position=1, text="Why?", key="two")
    with pytest.raises(NotEditable):
        concern_answer(concern=concern, actor=people.doctor, text="So.")


def test_an_answer_is_kept_once_and_reopens_what_was_closed(people: People, concern: Concern):
    concern_answer(concern=concern, actor=people.doctor, text="It is.")
    concern_answer(concern=concern, actor=people.doctor, text=" It is. ")
    assert [answer.text for answer in concern.messages.all()] == ["It is."]
    assert concern.status == "answered"
    concern_close(concern=concern)
    assert Concern.objects.get().status == "closed"
    concern_answer(concern=concern, actor=people.supervisor, text="On second thought, not.")
    assert Concern.objects.get().status == "answered"
    assert concern.messages.count() == 2


def test_publishing_takes_nothing_but_what_was_given_and_happens_once(people: People, concern: Concern):
    note = concern_publish(concern=concern, actor=people.supervisor, text="A cold is no onset.", slot="symptom")
    again = concern_publish(concern=concern, actor=people.supervisor, text="Another text", slot="symptom")
    assert again == note
    assert (note.text, note.intent, note.slot, note.example) == ("A cold is no onset.", "", "symptom", "")
    guideline_note_withdraw(note=note)
    withdrawn = note.withdrawn_at
    guideline_note_withdraw(note=note)
    assert withdrawn
    assert note.withdrawn_at == withdrawn
    assert concern_publish(concern=concern, actor=people.supervisor, text="Better.") != note


@pytest.mark.parametrize(
    ("given", "field"),
    [({"intent": "nonsense"}, "intent"), ({"slot": "nonsense"}, "slot"), ({"text": " "}, "text")],
)
def test_a_note_must_fit_the_questionnaire(people: People, concern: Concern, given: dict[str, str], field: str):
    with pytest.raises(Refused) as refusal:
        guideline_note_add(
            project=concern.label_set.dialogue.project, actor=people.supervisor, **{"text": "So.", **given}
        )
    assert refusal.value.field == field
    assert not GuidelineNote.objects.exists()


def test_who_labels_a_dialogue_reads_no_concern_of_others_about_it(people: People, concern: Concern):
    def seen(user: object, *roles: Role) -> list[Concern]:
        return list(Concern.objects.readable_by(user, roles))  # type: ignore[arg-type]

    assert seen(people.doctor, Role.DOCTOR) == [concern]
    assert seen(people.annotator, Role.ANNOTATOR) == []
    factory.make_label_set(concern.label_set.dialogue, people.doctor)
    assert seen(people.doctor, Role.DOCTOR, Role.ANNOTATOR) == []
    assert seen(people.supervisor, Role.SUPERVISOR) == [concern]


def test_the_annotator_replies_and_the_concern_waits_again(people: People, concern: Concern):
    concern_answer(concern=concern, actor=people.doctor, text="It is.")
    for _ in range(2):
        concern_reply(concern=concern, actor=people.annotator, text=" That is not what I meant. ", key="r")
    assert concern.status == "open"
    said = [(message.text, message.is_reply) for message in concern.messages.all()]
    assert said == [("It is.", False), ("That is not what I meant.", True)]
    concern_answer(concern=concern, actor=people.doctor, text="It is.")
    assert concern.messages.count() == 3
    assert Concern.objects.get().status == "answered"


def test_a_closed_concern_is_opened_again_by_words_of_who_asked(people: People, concern: Concern):
    concern_close(concern=concern)
    concern_reply(concern=concern, actor=people.annotator, text="Still not clear.", key="r")
    assert Concern.objects.get().status == "open"


@pytest.mark.parametrize(
    ("text", "key", "field"), [("  ", "r", "text"), ("Why?", "", "key"), ("x" * 4001, "r", "text")]
)
def test_an_empty_reply_changes_nothing(people: People, concern: Concern, text: str, key: str, field: str):
    concern_close(concern=concern)
    with pytest.raises(Refused) as refusal:
        concern_reply(concern=concern, actor=people.annotator, text=text, key=key)
    assert refusal.value.field == field
    assert Concern.objects.get().status == "closed"


def test_nobody_replies_for_another(people: People, concern: Concern):
    with pytest.raises(Refused, match="Only who asked"):
        concern_reply(concern=concern, actor=people.second, text="Me too.", key="r")
    assert not concern.messages.exists()


def test_an_archived_dialogue_takes_no_reply(people: People, concern: Concern):
    concern.label_set.dialogue.archived_at = timezone.now()
    with pytest.raises(NotEditable):
        concern_reply(concern=concern, actor=people.annotator, text="Why?", key="r")


@pytest.mark.parametrize(
    ("given", "field"),
    [
        ({"text": "When it says “this cough for about two weeks”, that is an onset."}, "text"),
        ({"text": "So.", "example": "THIS COUGH, for about two weeks → onset"}, "example"),
    ],
)
def test_a_note_that_repeats_the_dialogue_is_not_published(
    people: People, concern: Concern, given: dict[str, str], field: str
):
    with pytest.raises(Refused, match="put it in other words") as refusal:
        concern_publish(concern=concern, actor=people.supervisor, **given)
    assert refusal.value.field == field
    assert not GuidelineNote.objects.exists()
