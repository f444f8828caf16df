"""The one rule of the patient's state."""

from __future__ import annotations

import json
from pathlib import Path

from annotation.domain.dataset import mentions_of_nlu, state_to_dataset
from annotation.domain.state import Attribute, Entry, Mention, Setting, State, track


def said(position: int, value: str | None, status: str = "yes", slot: str = "symptom", **named: Attribute) -> Mention:
    return Mention(position, slot, value, status, named)


def only(state: State) -> Entry:
    assert len(state.entries) == 1
    return state.entries[0]


def test_nothing_said_is_an_empty_state():
    assert track([]) == State(())


def test_naming_an_entry_again_updates_what_it_names_and_keeps_the_rest():
    entry = only(track([said(1, "cough", onset="a week", volume="little"), said(5, "cough", onset="8 days")]))
    assert entry.current() == {"onset": "8 days", "volume": "little"}


def test_a_list_is_replaced_and_never_merged():
    entry = only(track([said(1, "pain", location=("chest", "arm")), said(3, "pain", location=("jaw",))]))
    assert entry.current() == {"location": ("jaw",)}


def test_a_newer_status_moves_the_entry_with_its_attributes():
    entry = only(track([said(1, "cough", "no", onset="a week"), said(3, "cough", "yes", color="green")]))
    assert entry.status == "yes"
    assert entry.current() == {"onset": "a week", "color": "green"}


def test_a_mention_without_a_status_leaves_the_status_it_had():
    entry = only(track([said(1, "cough", "no"), said(3, "cough", "", onset="a week")]))
    assert entry.status == "no"
    assert entry.statuses == (Setting(1, "no"),)
    assert only(track([said(1, "cough", "", onset="a week"), said(3, "cough", "yes")])).status == "yes"


def test_a_first_mention_without_a_status_begins_the_entry_without_one():
    entry = only(track([said(2, "cough", "")]))
    assert (entry.status, entry.first_position) == ("", 2)


def test_entries_are_told_apart_by_slot_and_by_value():
    state = track([said(1, "cough"), said(1, "Cough"), said(1, "cough", slot="disease"), said(2, "cough")])
    assert [(entry.slot, entry.value) for entry in state.entries] == [
        ("symptom", "cough"),
        ("symptom", "Cough"),
        ("disease", "cough"),
    ]


def test_mentions_without_a_value_update_the_one_entry_of_their_slot():
    state = track(
        [
            said(1, None, "", slot="basic information", name="Ann"),
            said(2, None, "", slot="travel", destination="Peru"),
            said(3, None, "", slot="basic information", age="50"),
            said(4, "Ann", "", slot="basic information"),
        ]
    )
    assert [(entry.slot, entry.value) for entry in state.entries] == [
        ("basic information", None),
        ("travel", None),
        ("basic information", "Ann"),
    ]
    assert state.entries[0].current() == {"name": "Ann", "age": "50"}


def test_entries_keep_the_order_in_which_they_were_first_named():
    state = track([said(1, "fever"), said(2, "cough"), said(3, "fever", "no"), said(4, "ache")])
    assert [entry.value for entry in state.entries] == ["fever", "cough", "ache"]
    assert list(state.by_slot()) == ["symptom"]


def test_every_value_says_which_utterance_set_it_and_which_overrode_it():
    entry = only(track([said(1, "cough", "no", onset="a week"), said(5, "cough", onset="8 days"), said(9, "cough")]))
    assert entry.attributes["onset"] == (Setting(1, "a week"), Setting(5, "8 days"))
    assert entry.statuses == (Setting(1, "no"), Setting(5, "yes"), Setting(9, "yes"))
    assert entry.first_position == 1


def test_the_state_at_a_position_knows_nothing_of_what_came_later():
    mentions = [
        said(1, "cough", "no", onset="a week"),
        said(5, "fever"),
        said(5, "cough", "yes", onset="8 days", location=("chest",)),
        said(9, None, "", slot="travel", when="June"),
    ]
    whole = track(mentions)
    for position in range(-1, 12):
        assert whole.at(position) == track(mention for mention in mentions if mention.position <= position)
    assert whole.at(10**9) == whole
    assert whole.at(0) == State(())
    assert only(whole.at(4)).status == "no"


def test_the_published_states_follow_exactly_from_what_was_said(real_data: Path):
    dialogs = json.loads((real_data / "meditod" / "dialogs.json").read_text(encoding="utf-8"))
    turns = 0
    for dialogue in dialogs.values():
        so_far: list[Mention] = []
        for turn in dialogue["utterances"]:
            if "dialog_state" in turn:
                so_far.extend(mentions_of_nlu(turn["nlu"], turn["uttr_id"]))
                assert state_to_dataset(track(so_far)) == turn["dialog_state"], turn["uttr_id"]
                turns += 1
        whole = track(so_far)
        for turn in dialogue["utterances"]:
            if "dialog_state" in turn:
                assert state_to_dataset(whole.at(turn["uttr_id"])) == turn["dialog_state"]
    assert turns == 104
