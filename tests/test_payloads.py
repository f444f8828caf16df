"""Reading changes that come as JSON."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from typing import Any

import pytest

from annotation.domain.labels import Label
from annotation.services.errors import Refused
from annotation.services.labelling import Change
from annotation.services.payloads import (
    MAX_CHANGES,
    MAX_SECONDS,
    Request,
    changes_from_json,
    reasons_from_json,
    request_from_json,
)

PK = str(uuid.uuid4())


def one(**label: Any) -> dict[str, Any]:
    """A request with one change whose label has these keys beside the two that every label needs."""
    return {"changes": [{"id": PK, "label": {"position": 1, "intent": "inform", **label}}]}


def test_the_envelope_is_version_key_and_seconds():
    assert request_from_json({"version": 3, "key": "k", "seconds": 7, "more": 1}) == Request(3, "k", 7)
    assert request_from_json({"version": 0, "key": "k" * 64}) == Request(0, "k" * 64, 0)


def test_more_seconds_than_anybody_works_without_a_pause_are_cut():
    assert request_from_json({"version": 0, "key": "k", "seconds": 10**9}).seconds == MAX_SECONDS


@pytest.mark.parametrize("data", [None, [], "x", 3, True])
def test_a_request_that_is_no_object_is_refused(data: Any):
    with pytest.raises(Refused, match="JSON object"):
        request_from_json(data)


@pytest.mark.parametrize(
    ("change", "field"),
    [
        *(({"version": value}, "version") for value in (None, "3", 1.0, True, -1, 2**31, [1])),
        *(({"key": value}, "key") for value in (None, "", "k" * 65, 7, ["k"])),
        *(({"seconds": value}, "seconds") for value in (None, -1, 1.5, "7", True)),
    ],
)
def test_a_wrong_envelope_names_its_field(change: dict[str, Any], field: str):
    with pytest.raises(Refused) as caught:
        request_from_json({"version": 1, "key": "k", **change})
    assert caught.value.field == field
    assert field in caught.value.message


def test_a_change_is_read_whole():
    label = {
        "position": 3,
        "intent": "other",
        "intent_name": "asks for a note",
        "slot": "symptom",
        "answers": {"value": ["cough"]},
        "checks": ["onset"],
        "kept": {"colour": ["?", {"a": 1}]},
        "origin": "answer key",
    }
    ours = {"id": "ignored", "rank": 9, "questionnaire_version": "0.1"}
    changes = changes_from_json({"changes": [{"id": PK, "label": {**label, **ours}}, {"id": "x", "label": None}]})
    assert changes == [Change(PK, Label(**{**label, "checks": ("onset",)})), Change("x", None)]


def test_what_is_left_out_is_empty_and_a_new_label_gets_an_id():
    (change,) = changes_from_json({"changes": [{"label": {"position": 0, "intent": "salutations"}}]})
    assert uuid.UUID(change.id)
    assert change.label == Label(0, "salutations")


@pytest.mark.parametrize("changes", [None, [], {}, "x", 3])
def test_a_request_without_changes_is_refused(changes: Any):
    with pytest.raises(Refused, match="at least one change"):
        changes_from_json({"changes": changes})
    with pytest.raises(Refused, match="at least one change"):
        changes_from_json(changes)


def test_one_request_carries_a_bounded_number_of_changes():
    item = {"id": PK, "label": None}
    assert len(changes_from_json({"changes": [item] * MAX_CHANGES})) == MAX_CHANGES
    with pytest.raises(Refused, match="at most 200"):
        changes_from_json({"changes": [item] * (MAX_CHANGES + 1)})


@pytest.mark.parametrize(
    "item", [None, [], "x", {}, {"id": PK}, {"id": 7, "label": None}, {"id": ["x"], "label": None}]
)
def test_an_item_that_is_no_change_is_named_by_its_place(item: Any):
    with pytest.raises(Refused, match=r"changes\[1\]") as caught:
        changes_from_json({"changes": [{"id": PK, "label": None}, item]})
    assert caught.value.field == "changes[1]"


@pytest.mark.parametrize(
    "label",
    [
        *({"position": value} for value in (None, "1", 1.5, True, -1, [1])),
        *({"intent": value} for value in (None, 7, ["inform"], "i" * 201)),
        {"slot": None},
        {"slot": {"a": 1}},
        {"intent_name": 3},
        *({"answers": value} for value in (None, [], "x", 3)),
        *({"checks": value} for value in (None, {}, "onset", [1], [["onset"]])),
        *({"kept": value} for value in (None, [], "x")),
        *({"origin": value} for value in (None, "", "mine", 3, [], ["typed"], {})),
        {"mood": "bad"},
    ],
)
def test_a_wrong_label_is_refused_with_its_place(label: dict[str, Any]):
    with pytest.raises(Refused, match=r"changes\[0\]\.label") as caught:
        changes_from_json(one(**label))
    assert caught.value.field == "changes[0].label"


@pytest.mark.parametrize("label", [[], "x", 3, True])
def test_a_label_that_is_no_object_is_refused(label: Any):
    with pytest.raises(Refused, match="or null to delete"):
        changes_from_json({"changes": [{"id": PK, "label": label}]})


@pytest.mark.parametrize("origin", ["typed", "answer key", "copied", "suggestion", "imported"])
def test_every_way_in_which_a_label_comes_about_is_kept(origin: str):
    (change,) = changes_from_json(one(origin=origin))
    assert change.label
    assert change.label.origin == origin


def test_reasons_are_read_by_position():
    assert reasons_from_json({"reasons": {"3": "nothing to label", "0": "x"}}) == {3: "nothing to label", 0: "x"}
    assert reasons_from_json({}) == reasons_from_json({"reasons": {}}) == {}


@pytest.mark.parametrize(
    "reasons",
    [
        *(None, ["x"], "x", 3, {"3": None}, {"3": 1}, {"3": ["x"]}),
        *({position: "nothing to label"} for position in ("x", "-1", "", "٣", "²", "9" * 5000)),
    ],
)
def test_wrong_reasons_are_refused(reasons: Any):
    with pytest.raises(Refused, match="reasons") as caught:
        reasons_from_json({"reasons": reasons})
    assert caught.value.field == "reasons"


@pytest.mark.parametrize(
    "read",
    [lambda: changes_from_json(one(**{"x" * 10**6: 1})), lambda: reasons_from_json({"reasons": {"x" * 10**6: "y"}})],
)
def test_a_refusal_does_not_repeat_all_that_was_sent(read: Callable[[], Any]):
    with pytest.raises(Refused) as caught:
        read()
    assert len(caught.value.message) < 200
