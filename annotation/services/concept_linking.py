"""What labelling asks of whoever links values to concepts, and tells them.

The app `umls_linker` registers itself here when the portal starts; without it nothing is linked and everything works.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from annotation.domain.concepts import NOTHING_DECIDED, Canon, DecidedConcepts


@dataclass(frozen=True, slots=True)
class Mention:
    """A concept found in an utterance: characters `start` to `end`. `slots` are those whose values it may be."""

    start: int
    end: int
    text: str
    cui: str
    name: str
    slots: tuple[str, ...]


class ConceptLinker(Protocol):
    """Every call is cheap: it looks up what is stored or hands work to the background. What tells of a change is called
    after it is committed and raises nothing. `dialogues_archived` is told of dialogues that are restored too. `canon`
    is kept between calls, `decided_concepts` is read anew."""

    def labels_changed(self, label_set_id: int) -> None: ...

    def dialogues_added(self, dialogue_ids: Sequence[int]) -> None: ...

    def dialogues_archived(self, project_id: int) -> None: ...

    def canon(self, project_id: int) -> Canon: ...

    def decided_concepts(self, project_id: int) -> DecidedConcepts: ...

    def mentions(self, dialogue_id: int) -> Mapping[int, Sequence[Mention]]: ...


class _Nobody:
    """Links nothing."""

    def labels_changed(self, label_set_id: int) -> None: ...

    def dialogues_added(self, dialogue_ids: Sequence[int]) -> None: ...

    def dialogues_archived(self, project_id: int) -> None: ...

    def canon(self, project_id: int) -> Canon:  # noqa: ARG002 – the same of every project
        return NOTHING_DECIDED

    def decided_concepts(self, project_id: int) -> DecidedConcepts:  # noqa: ARG002 – the same of every project
        return DecidedConcepts()

    def mentions(self, dialogue_id: int) -> Mapping[int, Sequence[Mention]]:  # noqa: ARG002 – and of every dialogue
        return {}


_linker: ConceptLinker = _Nobody()


def register(linker: ConceptLinker) -> None:
    """Have `linker` asked and told from now on."""
    global _linker  # noqa: PLW0603 – set once when the portal starts
    _linker = linker


def linker() -> ConceptLinker:
    return _linker
