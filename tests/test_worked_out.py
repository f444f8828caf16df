"""What is kept beside a questionnaire."""

from __future__ import annotations

from dataclasses import replace

from annotation.domain.worked_out import MOST, WorkedOut
from annotation.questionnaires import get_questionnaire


def test_it_is_made_once_for_each_questionnaire_even_of_one_name_and_version() -> None:
    made: list[str] = []
    title_of = WorkedOut(lambda one: made.append(one.title) or one.title)  # type: ignore[func-returns-value]
    first = get_questionnaire("cmas")
    other = replace(first, title="Another")
    assert [title_of(one) for one in (first, other, first, other)] == [first.title, "Another"] * 2
    assert made == [first.title, "Another"]


def test_it_keeps_only_the_newest() -> None:
    made: list[str] = []
    title_of = WorkedOut(lambda one: made.append(one.title) or one.title)  # type: ignore[func-returns-value]
    many = [replace(get_questionnaire("cmas"), title=str(number)) for number in range(MOST + 1)]
    for one in (*many, many[-1], many[0]):
        title_of(one)
    assert made == [*map(str, range(MOST + 1)), "0"]
