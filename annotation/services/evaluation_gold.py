"""The gold that models are scored on, whole or one split of it, as a dataset: the finished gold of a project as it is
now, or as it is in one of its exports."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from annotation.domain.concepts import canonical_reading
from annotation.domain.dataset_writing import dialogue_to_dataset
from annotation.domain.evaluation_gold import TurnKey
from annotation.domain.splits import Shares, Split
from annotation.models import Dialogue, LabelSet, Project
from annotation.services.concept_linking import linker
from annotation.services.errors import Refused
from annotation.services.evaluation_exports import export_chosen, exported_gold, utterances_in
from annotation.services.export_readings import GOLD, ExportOptions, exported_reading, parts_of, splits_of
from annotation.services.readings import utterance_ids_of

ALL = "all"
NO_GOLD = (
    "No dialogue’s gold is finished, so there is nothing to compare predictions with. Adjudicate some dialogues first."
)


@dataclass(frozen=True, slots=True)
class GoldChoice:
    """Which dialogues count: all, or one split. `export` is the id of an export, which has splits of its own; without,
    it is the finished gold as it is now, and the split is drawn with this seed and these shares."""

    split: str = ALL
    random_seed: int = 1
    shares: Shares = field(default_factory=Shares)
    export: str = ""

    def as_json(self) -> dict[str, Any]:
        drawn = {"split": self.split, "random_seed": self.random_seed, "shares": str(self.shares)}
        return {**drawn, "export": self.export}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> GoldChoice:
        """The reverse of `as_json`."""
        return cls(data["split"], data["random_seed"], Shares.parse(data["shares"]), data.get("export", ""))

    @property
    def only(self) -> Split | None:
        """The split; None for all dialogues."""
        return None if self.split == ALL else Split(self.split)


@dataclass(frozen=True, slots=True)
class ProjectGold:
    """`dataset` is in MediTOD's form without states; `rows` are the utterances' rows by dialogue id and position, where
    the portal still has them. `export` says which export it is from, and is empty for the gold as it is now."""

    dataset: Mapping[str, Any]
    rows: Mapping[TurnKey, int]
    stamp: str
    export: Mapping[str, str] = field(default_factory=dict)

    @property
    def digest(self) -> str:
        """SHA-256 over what is scored, which is no file: two evaluations with the same one can be compared."""
        return hashlib.sha256(json.dumps(self.dataset, sort_keys=True).encode()).hexdigest()

    def as_json(self) -> dict[str, Any]:
        ids = json.dumps(sorted(self.dataset)).encode()
        found = {"digest": self.digest, "stamp": self.stamp, "dialogues": len(self.dataset)}
        found["dialogues_digest"] = hashlib.sha256(ids).hexdigest()
        return {**found, "export": dict(self.export)} if self.export else found


def gold_utterances(*, project: Project, choice: GoldChoice) -> int:
    """About how many utterances would be scored. Raises Refused where there are none."""
    if choice.export:
        return utterances_in(export_chosen(project, choice.export), choice.only)
    return sum(row.dialogue.utterance_count for row in gold_sets(project=project, choice=choice))


def gold_sets(*, project: Project, choice: GoldChoice) -> list[LabelSet]:
    """The finished gold as it is now that counts, in the order of the dialogues' ids. Raises Refused where there is
    none."""
    options = ExportOptions(source=GOLD, random_seed=choice.random_seed, shares=choice.shares)
    parts = parts_of(project, options)
    if not parts:
        raise Refused(NO_GOLD)
    sets = [row for part in parts for row in part.label_sets]
    if choice.split != ALL:
        splits = splits_of(project, parts, options)
        sets = [row for row in sets if splits[row.dialogue.external_id] is Split(choice.split)]
        if not sets:
            raise Refused(f"No dialogue with finished gold is in the split “{choice.split}”.", field="split")
    return sets


def gold_stamp(sets: list[LabelSet], project: Project) -> str:
    """Changes with the gold; cheap, since it looks at versions and not at labels."""
    versions = [(row.dialogue.external_id, row.pk, row.version) for row in sets]
    return hashlib.sha256(repr((versions, linker().canon(project.pk).fingerprint)).encode()).hexdigest()


def project_gold(*, project: Project, choice: GoldChoice, tell: Callable[[], None] = lambda: None) -> ProjectGold:
    """Read the gold, values in canonical wording as exports have them. `tell` is called after each dialogue."""
    if choice.export:
        return _of_export(project, choice)
    sets = gold_sets(project=project, choice=choice)
    canon, questionnaire = linker().canon(project.pk), project.questionnaire
    dataset: dict[str, Any] = {}
    rows: dict[TurnKey, int] = {}
    for label_set in sets:
        dialogue = label_set.dialogue
        reading = canonical_reading(questionnaire, exported_reading(label_set), canon)
        turns = dialogue_to_dataset(questionnaire, reading)["utterances"]
        dataset[dialogue.external_id] = {"utterances": list(_without_state(turns))}
        ids = utterance_ids_of(dialogue.pk, dialogue.fingerprint)
        rows |= {(dialogue.external_id, position): pk for position, pk in ids.items()}
        tell()
    return ProjectGold(dataset, rows, gold_stamp(sets, project))


def _of_export(project: Project, choice: GoldChoice) -> ProjectGold:
    job = export_chosen(project, choice.export)
    found = exported_gold(job, choice.only)
    rows: dict[TurnKey, int] = {}
    for dialogue in Dialogue.objects.filter(project=project):
        if dialogue.external_id in found.dataset:
            ids = utterance_ids_of(dialogue.pk, dialogue.fingerprint)
            rows |= {(dialogue.external_id, position): pk for position, pk in ids.items()}
    made = {"id": str(job.pk), "created_at": job.created_at.isoformat(), "dialogs_sha256": found.sha256}
    return ProjectGold(found.dataset, rows, "", made)


def _without_state(turns: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    for turn in turns:
        yield {name: value for name, value in turn.items() if name != "dialog_state"}
