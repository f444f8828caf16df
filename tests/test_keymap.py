"""The one table of keys."""

from __future__ import annotations

import itertools

import pytest

from annotation.domain.keymap import (
    FORM_GROUP,
    as_json,
    bindings_of,
    check_overrides,
    default_bindings,
    keys_taken,
    resolve,
)
from annotation.questionnaires import get_questionnaire

CMAS = get_questionnaire("cmas")


def keys_of(action: str, overrides: dict[str, object] | None = None) -> tuple[str, ...]:
    return next(binding.keys for binding in resolve(CMAS, overrides or {}) if binding.action == action)


def test_every_slot_and_every_slotless_intent_with_a_key_has_a_binding():
    actions = {binding.action: binding for binding in default_bindings(CMAS)}
    for slot in CMAS.slots:
        assert actions[f"slot:{slot.name}"].keys == (slot.key,)
    for intent in CMAS.intents:
        assert (f"intent:{intent.name}" in actions) == bool(intent.slotless and intent.key)


def test_no_action_is_listed_twice_and_every_one_has_a_title():
    bindings = default_bindings(CMAS)
    assert len({binding.action for binding in bindings}) == len(bindings)
    assert all(binding.title and binding.keys for binding in bindings)


def test_no_two_usual_keys_clash_in_the_list_nor_in_the_form():
    assert check_overrides(CMAS, {}) == []
    found = default_bindings(CMAS)
    in_form = [item for item in found if item.group == FORM_GROUP]
    in_list = [item for item in bindings_of("workbench", found) if item not in in_form]
    for bindings in (in_form, in_list, bindings_of("adjudication", found)):
        assert bindings
        taken = list(itertools.chain.from_iterable(keys_taken(item) for item in bindings))
        assert len(set(taken)) == len(taken)


def test_a_persons_own_key_takes_the_place_of_the_usual_ones():
    assert keys_of("next") == ("ArrowDown", "j")
    assert keys_of("next", {"next": "Ctrl+ArrowDown"}) == ("Ctrl+ArrowDown",)
    assert keys_of("slot:symptom", {"slot:symptom": "Alt+s"}) == ("Alt+s",)


@pytest.mark.parametrize("own", ["Tab", "Escape", "5", "", "é", "ss", "Strg+s", None, 3, ["s"], {}])
def test_a_key_that_cannot_be_is_passed_over(own: object):
    assert keys_of("next", {"next": own}) == ("ArrowDown", "j")


def test_fixed_keys_and_unknown_actions_cannot_be_remapped():
    assert keys_of("form-save", {"form-save": "w"}) == ("Enter",)
    assert resolve(CMAS, {"fly": "w"}) == default_bindings(CMAS)


@pytest.mark.parametrize("key", ["s", "Shift+s", "Ctrl+Alt+Shift+s", "F9", "F12", "PageDown", "?", ".", "[", "/", "+"])
def test_keys_that_can_be_pressed_are_taken(key: str):
    assert keys_of("history", {"history": key}) == (key,)


@pytest.mark.parametrize("action", ["fly", "form-save", "chip"])
def test_an_action_that_has_no_key_of_its_own_is_named(action: str):
    assert check_overrides(CMAS, {action: "w"}) == [f"There is no action “{action}” that could be given a key."]


@pytest.mark.parametrize("key", ["Tab", "Shift+Tab", "Escape", "1", "9", "S", "ctrl+s", "Shift+Ctrl+s", "ä", "  "])
def test_an_impossible_key_is_named_with_its_action(key: str):
    assert check_overrides(CMAS, {"history": key}) == [f"“{key}” cannot be the key for “What was changed, by whom”."]


@pytest.mark.parametrize("word", ["Shift", "Control", "Alt", "Meta", "Dead", "Unidentified", "Hello", "F13", "F0"])
def test_a_word_that_is_no_key_to_press_cannot_be_one(word: str):
    assert check_overrides(CMAS, {"history": word})
    assert keys_of("history", {"history": word}) == ("=",)


def test_two_actions_on_one_key_are_named_both():
    (problem,) = check_overrides(CMAS, {"history": "j"})
    assert problem == "“j” would be both “Next utterance” and “What was changed, by whom”."


def test_the_shifted_key_of_a_slot_is_taken_too():
    title = CMAS.slot("symptom").title
    (problem,) = check_overrides(CMAS, {"history": "Shift+s"})
    assert title in problem
    assert "Shift+s" in problem
    assert len(check_overrides(CMAS, {"slot:symptom": "z"})) == 2  # "z" undoes, "Shift+z" redoes


def test_keys_may_be_exchanged():
    assert check_overrides(CMAS, {"answer-yes": "n", "answer-no": "y"}) == []


def test_keys_inside_a_form_do_not_clash_with_those_of_the_list():
    assert keys_of("form-value") == keys_of("edit") == (",",)


def test_the_table_is_plain_data_for_the_page():
    rows = as_json(resolve(CMAS, {"next": "w"}))
    assert rows[0] == {"action": "next", "title": "Next utterance", "group": "Move", "keys": ["w"], "fixed": False}
    assert all(isinstance(row["keys"], list) for row in rows)


def test_one_key_may_serve_the_workbench_and_adjudication_but_not_two_actions_of_one_page():
    assert check_overrides(CMAS, {"adjudicate:A": "F4", "repeat": "F4"}) == []
    assert check_overrides(CMAS, {"adjudicate:A": "x"}) == [
        "“x” would be both “Take A (accept, where there is one label)” and "
        "“None of them; on what both agree, do not accept it”."
    ]
    assert keys_of("adjudicate:B", {"adjudicate:B": "F6"}) == ("F6",)
