"""What the three panels show, as plain data."""

from __future__ import annotations

import json
from itertools import pairwise
from typing import Any

from annotation.domain.labels import Label, Reading, Utterance
from annotation.questionnaires import get_questionnaire
from annotation.views.panels import FOREVER, Touched, label_rows, panels
from tests.factory import TURNS, inform, inquire

CMAS = get_questionnaire("cmas")
UTTERANCES = tuple(Utterance(position, speaker, text) for position, (speaker, text) in enumerate(TURNS))


def read(*labels: Label) -> Reading:
    return Reading("D", UTTERANCES).with_labels(labels)


def state(*labels: Label) -> dict[str, dict[str, Any]]:
    """slot → value → entry."""
    return {
        group["slot"]: {entry["value"]: entry for entry in group["entries"]}
        for group in panels(CMAS, read(*labels)).state
    }


def test_labelled_counts_utterances_and_not_labels():
    shown = panels(CMAS, read(inform(1, "symptom", "a"), inform(1, "symptom", "b"), Label(8, "nod_prompt")))
    assert (shown.labelled, shown.total) == (2, len(TURNS))


def test_an_empty_reading_shows_nothing():
    shown = panels(CMAS, read())
    assert (shown.labelled, shown.state, shown.problems) == (0, [], [])


def test_the_groups_stand_in_the_order_of_the_questionnaire_and_say_what_is_tracked():
    shown = panels(
        CMAS,
        read(
            Label(3, "inform", "basic information", {"age": "50"}),
            inform(5, "habit", "smoking", status="yes"),
            inform(7, "symptom", "cough", status="yes"),
        ),
    )
    assert [(group["slot"], group["tracked"]) for group in shown.state] == [
        ("symptom", True),
        ("habit", True),
        ("basic information", False),
    ]


def test_a_status_says_from_and_until_which_utterance_it_stood_and_what_it_replaced():
    entry = state(
        inform(1, "symptom", "fever", status="no"),
        inform(3, "symptom", "fever", status="no"),
        inform(7, "symptom", "fever", status="yes"),
    )["symptom"]["fever"]
    first, second = entry["statuses"]
    assert (first["position"], first["until"], first["sign"], first["before"]) == (1, 6, "−", "")
    assert (second["position"], second["until"], second["sign"]) == (7, FOREVER, "+")
    assert (second["before"], second["before_position"]) == ("no", 1)
    assert entry["since"] == 1


def test_an_attribute_says_who_set_it_and_what_it_replaced():
    entry = state(
        inform(1, "symptom", "cough", status="yes", onset="two weeks", location=["chest", "throat"]),
        inform(5, "symptom", "cough", status="yes", onset="15 days"),
    )["symptom"]["cough"]
    attributes = {row["name"]: row for row in entry["attributes"]}
    first, second = attributes["onset"]["settings"]
    assert (first["text"], first["position"], first["until"]) == ("two weeks", 1, 4)
    assert (second["text"], second["before"], second["before_position"]) == ("15 days", "two weeks", 1)
    assert attributes["location"]["settings"][0]["text"] == "chest, throat"
    assert attributes["onset"]["field"] == "onset"


def test_what_one_utterance_says_twice_is_shown_as_it_ended():
    entry = state(
        inform(1, "symptom", "cough", status="no"),
        inform(1, "symptom", "cough", status="yes"),
    )["symptom"]["cough"]
    (status,) = entry["statuses"]
    assert (status["sign"], status["before"]) == ("+", "")


def test_what_one_utterance_takes_back_again_is_not_shown_twice():
    entry = state(
        inform(1, "symptom", "cough", status="yes"),
        inform(5, "symptom", "cough", status="no"),
        inform(5, "symptom", "cough", status="yes"),
    )["symptom"]["cough"]
    assert [row["sign"] for row in entry["statuses"]] == ["+"]


def test_the_periods_of_a_value_meet_without_a_gap_or_an_overlap():
    labels = [
        inform(position, "symptom", "cough", status=("yes", "no", "not sure")[position % 3])
        for position in (1, 3, 5, 7, 9)
    ]
    statuses = state(*labels)["symptom"]["cough"]["statuses"]
    for before, after in pairwise(statuses):
        assert before["until"] == after["position"] - 1
    assert statuses[-1]["until"] == FOREVER


def test_an_entry_without_a_status_has_a_neutral_sign():
    entry = state(inform(1, "symptom", "cough", onset="a week"))["symptom"]["cough"]
    assert [(row["sign"], row["title"], row["meaning"]) for row in entry["statuses"]] == [("·", "", "")]
    later = state(inform(1, "symptom", "cough", onset="a week"), inform(3, "symptom", "cough", status="yes"))
    assert later["symptom"]["cough"]["statuses"][1]["before"] == "no status"


def test_rated_values_and_criteria_are_named_in_words():
    factors = [{"value": "cold air", "rating": "yes aggravating"}, {"value": "rest", "rating": ""}]
    entry = state(
        inform(
            1, "symptom", "cough", status="yes", ana_factors=factors, severity="8", **{"severity.criterion": "worst"}
        )
    )["symptom"]["cough"]
    aggravating = CMAS.slot("symptom").field("ana_factors").choice("yes aggravating").title
    assert [(row["name"], row["field"], row["settings"][0]["text"]) for row in entry["attributes"]] == [
        ("severity", "severity", "8"),
        ("severity criterion", "", "worst"),
        (f"ana factors ({aggravating})", "ana_factors", "cold air"),
        ("ana factors", "ana_factors", "rest"),
    ]


def test_slots_without_a_head_show_an_entry_without_a_value():
    entries = state(Label(3, "inform", "travel", {"status": "yes", "destination": "Peru"}))["travel"]
    assert list(entries) == [""]
    assert entries[""]["field"] == ""


def test_problems_stand_in_the_order_of_the_dialogue():
    shown = panels(
        CMAS,
        read(
            inform(1, "symptom", "fever", status="yes"),
            Label(3, "inform", "symptom", {"value": ["cough"]}, id="x"),
            inform(5, "symptom", "fever", status="no"),
        ),
    )
    assert [(row["kind"], row["position"], row["label"], row["entry"]) for row in shown.problems] == [
        ("incomplete", 3, "x", None),
        ("contradiction", 5, "", ["symptom", "fever"]),
    ]


def test_an_utterance_without_a_label_is_the_progress_bars_and_no_problem():
    assert panels(CMAS, read(Label(0, "salutations"))).problems == []


def test_the_doctors_inform_lacks_no_status_that_is_not_asked():
    labels = [inform(0, "symptom", "cough"), inform(1, "symptom", "cough")]
    shown = panels(CMAS, read(*labels))
    assert [row["position"] for row in shown.problems] == [1]
    assert label_rows(CMAS, labels[:1], "doctor")[0]["gaps"] == []
    assert label_rows(CMAS, labels[:1], "patient")[0]["gaps"] == ["symptom “cough” has no status"]


def test_a_row_carries_the_label_and_its_words():
    (row,) = label_rows(CMAS, [inquire(2, "symptom", "fever", checks=["onset"])], "doctor")
    assert row["data"]["checks"] == ["onset"]
    assert (row["intent"], row["slot"], row["values"], row["gaps"]) == ("inquire", "symptom", ["fever"], [])
    assert row["details"] == [("onset", "", True)]


def test_the_touched_part_is_the_same_part_of_the_whole():
    labels = [
        inform(1, "symptom", "fever", "cough", status="yes"),
        inform(3, "symptom", "fever", status="no"),
        inform(5, "symptom", "chills"),
        Label(7, "inform", "travel", {"status": "no"}),
    ]
    whole = panels(CMAS, read(*labels))
    for label in labels:
        touched = Touched.by(CMAS, [label])
        part = panels(CMAS, read(*labels), touched)
        entries = [(group["slot"], entry["value"], entry) for group in part.state for entry in group["entries"]]
        assert {(slot, value or None) for slot, value, _ in entries} == touched.entries
        for slot, _, entry in entries:
            assert entry in next(group["entries"] for group in whole.state if group["slot"] == slot)
        assert all(row in whole.problems for row in part.problems)
        assert (part.labelled, part.total) == (whole.labelled, whole.total)


def test_everything_is_plain_data():
    shown = panels(CMAS, read(inform(1, "symptom", "fever", status="yes", location=["chest"])))
    json.dumps([shown.state, shown.problems, Touched.by(CMAS, [inform(1, "symptom", "x")]).as_json()])


def test_a_value_that_nobody_typed_is_marked_as_implied():
    labels = (inform(1, "symptom (dermatology)", status="yes"), inform(1, "symptom", "fever", status="yes"))
    reading = Reading("D", (Utterance(1, "patient", "…"),)).with_labels(labels)
    implied = {group["slot"]: group["entries"][0]["implied"] for group in panels(CMAS, reading).state}
    assert implied == {"symptom (dermatology)": True, "symptom": False}
