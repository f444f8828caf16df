"""Numbers in sentences."""

from __future__ import annotations

from annotation.domain.numbers import counted, per_cent


def test_one_is_singular_and_everything_else_plural() -> None:
    said = [counted(number, "more seed dialogue") for number in (0, 1, 2, 1200)]
    assert said == [
        "0 more seed dialogues",
        "1 more seed dialogue",
        "2 more seed dialogues",
        "1,200 more seed dialogues",
    ]
    assert counted(2, "reading of a dialogue", "readings of a dialogue") == "2 readings of a dialogue"


def test_a_share_has_a_space_before_the_sign_that_does_not_break() -> None:
    assert [per_cent(0.0366, 2), per_cent(1), per_cent(0.5)] == [
        "3.66\N{NO-BREAK SPACE}%",
        "100\N{NO-BREAK SPACE}%",
        "50\N{NO-BREAK SPACE}%",
    ]
