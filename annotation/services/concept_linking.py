"""What labelling asks of whoever links values to concepts, and tells them.

The app `umls_linker` registers itself here when the portal starts; without it nothing is linked and everything works.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from annotation.domain.concepts import NOTHING_DECIDED, Canon, DecidedConcept, DecidedConcepts, Outcome, Place
from annotation.domain.numbers import counted
from annotation.models import User


@dataclass(frozen=True, slots=True)
class Mention:
    """A concept found in an utterance: characters `start` to `end`. `slots` are those whose values it may be."""

    start: int
    end: int
    text: str
    cui: str
    name: str
    slots: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class StatedDecision:
    """What an export says that a value means at one utterance, maybe that nothing is decided. `dialogue` and `position`
    name the utterance for people, `label_id` is one of its labels that use the value, written there as `text`."""

    dialogue: str
    position: int
    utterance_id: int
    label_id: str
    place: Place
    text: str
    decided: DecidedConcept


@dataclass(frozen=True, slots=True)
class StatedDecisions:
    """All that an export says about values of which something is decided, once for each utterance and value.

    `attributions` are those of its vocabularies by name and version; `source` is a sentence for people that says where
    the decisions come from.
    """

    stated: Sequence[StatedDecision]
    attributions: Mapping[tuple[str, str], str]
    source: str


class ConceptLinker(Protocol):
    """Every call is cheap: it looks up what is stored or hands work to the background. What tells of a change is called
    after it is committed and raises nothing. `dialogues_archived` is told of dialogues that are restored too. `canon`
    is kept between calls, `decided_concepts` is read anew.

    `decisions_restore` is no such call: within the caller's transaction it writes the decisions of an export into a
    project that has none, and gives sentences about what does not come back. It raises Refused for what no export says,
    and PermissionDenied for everybody but the project's supervisors."""

    def labels_changed(self, label_set_id: int) -> None: ...

    def dialogues_added(self, dialogue_ids: Sequence[int]) -> None: ...

    def dialogues_archived(self, project_id: int) -> None: ...

    def canon(self, project_id: int) -> Canon: ...

    def decided_concepts(self, project_id: int) -> DecidedConcepts: ...

    def decisions_restore(self, project_id: int, decisions: StatedDecisions, actor: User) -> Sequence[str]: ...

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

    def decisions_restore(self, project_id: int, decisions: StatedDecisions, actor: User) -> Sequence[str]:  # noqa: ARG002 – the same of every project
        number = sum(one.decided.outcome is not Outcome.OPEN for one in decisions.stated)
        return [f"{counted(number, 'value')} had a decision about a concept; nothing is linked here, so they are open."]

    def mentions(self, dialogue_id: int) -> Mapping[int, Sequence[Mention]]:  # noqa: ARG002 – and of every dialogue
        return {}


_linker: ConceptLinker = _Nobody()


def register(linker: ConceptLinker) -> None:
    """Have `linker` asked and told from now on."""
    global _linker  # noqa: PLW0603 – set once when the portal starts
    _linker = linker


def linker() -> ConceptLinker:
    return _linker
