"""When two texts of a non-medical attribute say the same."""

from __future__ import annotations

import pytest

from annotation.domain.comparators import Exact, Normalised, normalised


def test_exactly_means_letter_for_letter_but_for_the_form_of_unicode() -> None:
    assert Exact().same("caf\u00e9 au lait", "cafe\u0301  au lait")
    assert not Exact().same("2 days ago", "2 Days ago")
    assert not Exact().same("2 days ago", "two days ago")


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("2 days ago", "two days before"),
        ("2 days ago", "Two days back."),
        ("2days ago", "about 2 days ago"),
        ("a week ago", "one week earlier"),
        ("about a week ago", "roughly one week ago"),
        ("past four days", "the last 4 days"),
        ("for the past four days", "over these last four days"),
        ("couple of days", "2 days"),
        ("a few days", "few days"),
        ("twenty-one days", "21 days"),
        ("one hundred and five", "105"),
        ("a hundred times", "100 times"),
        ("twice a day", "two times per day"),
        ("once daily", "1 time every day"),
        ("5-10 cigarettes", "five to ten cigarettes"),
        ("half an hour", "0.5 hours"),
        ("half a dozen", "6"),
        ("6 months", "six mths"),
        ("2.0 packs", "2 packs"),
        ("yesterday", "one day ago"),
        ("since two weeks ago", "2 wks ago"),
        ("At Home", "at home"),
        ("ﬁve beers", "5 beers"),
        ("the left arm, mostly", "left arm mostly"),
        ("~3 days", "about 3 days"),
        ("cafe\u0301 noir", "Caf\u00e9 noir!"),
        ("दिन में 2", "दिन में 2."),
    ],
)
def test_what_is_the_same_after_normalising(one: str, other: str) -> None:
    assert normalised(one) == normalised(other)
    assert Normalised().same(other, one)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("2 days ago", "3 days ago"),
        ("2 days ago", "2 weeks ago"),
        ("2 days ago", "last 2 days"),
        ("a few days", "2 days"),
        ("twice a day", "twice a week"),
        ("1.5 packs", "15 packs"),
        ("5 to 10", "510"),
        ("twenty one", "20"),
        ("at home", "at work"),
        ("around the eyes", "the eyes"),
        ("before", "after"),
        ("3 to 4 days", "4 days"),
        ("38.5", "385"),
        ("दिन", "दान"),
        ("ไม่", "ไม"),
        ("👍", "👎"),
        ("pain 👍", "pain 👎"),
        ("!", "?"),
        ("", "…"),
        ("the", "a"),
        ("> 3 days", "< 3 days"),
        ("\u0301", "\u0323"),
    ],
)
def test_what_stays_different(one: str, other: str) -> None:
    assert not Normalised().same(one, other)


@pytest.mark.parametrize("text", ["", "…", "a", "one", "咳嗽两天", "a hundred", "two hundred and", "half a"])
def test_any_text_has_a_normal_form_that_is_its_own(text: str) -> None:
    assert normalised(normalised(text)) == normalised(text)


def test_what_has_no_letter_or_digit_is_the_same_when_it_is_equal() -> None:
    assert Normalised().same("👍", "👍")
    assert Normalised().same("!  ?", "! ?")
    assert Normalised().same("", " ")
