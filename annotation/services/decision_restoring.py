"""What an export says of the values of its labels, put beside the labels that came back from it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from annotation.domain.concepts import Outcome, Place, medical_values, surface_key
from annotation.domain.export_concepts import VALUES_PATH, stated_decision
from annotation.domain.export_source import Source
from annotation.domain.exported import ValueRow
from annotation.domain.labels import Label
from annotation.domain.notices import quoted
from annotation.domain.questionnaire import Questionnaire
from annotation.models import Dialogue, User
from annotation.services.concept_linking import StatedDecision, StatedDecisions, linker
from annotation.services.errors import Refused
from annotation.services.readings import utterance_ids_of

LONGEST_TITLE = 200  # of an export, in the note of a decision


class RestoredDecisions:
    """The decisions of an export, gathered dialogue by dialogue and written at the end: what holds for a wording
    everywhere shows only then. Values of which nothing is decided anywhere are not kept."""

    def __init__(self, source: Source) -> None:
        self._source = source
        rows = (row for found in source.values.values() for row in found)
        self._decided: set[Place] = {row.place for row in rows if row.outcome != Outcome.OPEN}
        self._stated: dict[tuple[int, Place], StatedDecision] = {}

    def add(self, questionnaire: Questionnaire, dialogue: Dialogue, labels: Iterable[Label]) -> None:
        """`labels` are those that were stored. Raises Refused where the export lists other values than they have, or
        says two things of one value at one utterance: a decision holds for all of its labels."""
        rows = self._source.values.get(dialogue.external_id, ())
        if not self._decided:
            return
        utterances = utterance_ids_of(dialogue.pk, dialogue.fingerprint)
        for label, value, row in _pairs(questionnaire, dialogue, labels, rows):
            if row.place not in self._decided:
                continue
            decided = stated_decision(row)
            key = utterances[label.position], row.place
            known = self._stated.get(key)
            if known is None:
                self._stated[key] = StatedDecision(
                    dialogue.external_id, label.position, key[0], label.id, row.place, value, decided
                )
            elif known.decided != decided:
                raise _refused(dialogue, label.position, f"it says two things of {quoted(value)}")

    def write(self, project_id: int, actor: User) -> Sequence[str]:
        """Have them stand in the project; sentences about what does not come back. Raises Refused."""
        manifest = self._source.manifest
        if not self._stated or manifest is None:
            return ()
        attributions: dict[tuple[str, str], str] = {}
        for one in manifest.vocabulary or ():
            key = one["name"], one["version"]
            if key in attributions:
                raise Refused(f"The manifest names the vocabulary {quoted(' '.join(key))} twice.", field="folder")
            attributions[key] = one["attribution"]
        source = f"Imported with the export {quoted(manifest.title, LONGEST_TITLE)}, SHA-256 {self._source.sha256}."
        decisions = StatedDecisions(list(self._stated.values()), attributions, source)
        return linker().decisions_restore(project_id, decisions, actor)


def _pairs(
    questionnaire: Questionnaire, dialogue: Dialogue, labels: Iterable[Label], rows: Sequence[ValueRow]
) -> list[tuple[Label, str, ValueRow]]:
    """Every medical value of the labels with its row."""
    ordered = sorted(labels, key=lambda label: (label.position, label.rank))
    found = [(label, one) for label in ordered for one in medical_values(questionnaire, label)]
    if len(found) != len(rows):
        raise Refused(
            f"{VALUES_PATH}: dialogue {quoted(dialogue.external_id)} has {len(rows)} values there, but its labels have "
            f"{len(found)}.",
            field="folder",
        )
    for (label, one), row in zip(found, rows, strict=True):
        if (label.position, one.slot, one.field, surface_key(one.value)) != (row.uttr_id, *row.place):
            raise _refused(dialogue, label.position, f"it has {quoted(row.value)} where the label says another value")
    return [(label, one.value, row) for (label, one), row in zip(found, rows, strict=True)]


def _refused(dialogue: Dialogue, position: int, what: str) -> Refused:
    return Refused(f"{VALUES_PATH}: dialogue {quoted(dialogue.external_id)}, turn {position}: {what}.", field="folder")
