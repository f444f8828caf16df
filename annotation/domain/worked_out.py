"""What follows from a questionnaire, worked out when it is first asked for and kept beside it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeVar

from annotation.domain.questionnaire import Questionnaire

Made = TypeVar("Made")
MOST = 8  # a process has few questionnaires


class WorkedOut(Generic[Made]):
    """Called with a questionnaire it gives what `make` made of it the first time.

    A questionnaire is known by being the same object: it is frozen, and comparing its contents would cost more than
    is saved.
    """

    def __init__(self, make: Callable[[Questionnaire], Made]) -> None:
        self._make = make
        self._known: tuple[tuple[Questionnaire, Made], ...] = ()

    def __call__(self, questionnaire: Questionnaire) -> Made:
        for known, made in self._known:
            if known is questionnaire:
                return made
        made = self._make(questionnaire)
        self._known = ((questionnaire, made), *self._known[: MOST - 1])
        return made
