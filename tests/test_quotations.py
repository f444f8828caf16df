"""A guideline repeats nothing that was said in a dialogue."""

from __future__ import annotations

import pytest

from annotation.domain.quotations import quoted

SAID = ["I've had this cough for about two weeks now.", "No.", "Not at all.", "Half a pack a day"]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("“I’ve had this cough for about two weeks” → onset", "I’ve had this cough for about two weeks"),
        ("A patient with THIS COUGH, for about: two … weeks", "THIS COUGH, for about: two … weeks"),
        ("“Not at all.” is a no.", "Not at all"),
        ("Half a pack a day is a frequency.", "Half a pack a day"),
    ],
)
def test_what_was_said_is_found_whatever_its_case_and_punctuation(text: str, found: str):
    assert quoted(text, SAID) == found


@pytest.mark.parametrize(
    "text",
    ["“No.” → fever (no)", "about two weeks now", "For about two days I have had a cough", "", "half a pack a week"],
)
def test_a_few_common_words_are_nobodys(text: str):
    assert quoted(text, SAID) == ""
