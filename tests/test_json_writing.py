"""JSON put together from parts is the text that the standard module gives for the whole."""

from __future__ import annotations

import json
from typing import Any

import pytest

from annotation.domain.json_writing import compact, indented, object_text, one_a_line

VALUES: list[dict[str, Any]] = [
    {},
    {"a": [], "b": {}, "c": [[], {"d": [1, 2.5, -3, 1e300, True, False, None]}]},
    {'k"ey\n': "\u2028 \x00 \x1f \\ / 👩🏽‍⚕️ de\u0301but سعال 咳嗽", "": ("a", "b")},
]


@pytest.mark.parametrize("value", VALUES)
def test_an_object_of_texts_is_what_json_writes(value: dict[str, Any]) -> None:
    plain = json.dumps(value, ensure_ascii=False)
    assert compact(value) == plain
    assert object_text((key, compact(one)) for key, one in value.items()) == plain
    assert indented(value) == json.dumps(value, indent=1, ensure_ascii=False)


def test_the_items_of_a_list_stand_one_a_line() -> None:
    text = one_a_line(map(compact, VALUES), "[", "]", indent=2)
    assert json.loads(text) == json.loads(json.dumps(VALUES))
    assert text.split("\n")[1].startswith("   {")
    assert (len(text.split("\n")), text[-3:]) == (len(VALUES) + 2, "  ]")
    assert one_a_line([], "[", "]", indent=2) == "[]"
