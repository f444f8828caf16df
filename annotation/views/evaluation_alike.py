"""Whether systems were scored alike, so that their figures can be compared; and where they were not, in what they
differ and what can be done about it."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

from django.utils.dateparse import parse_datetime
from django.utils.formats import date_format
from django.utils.timezone import localtime

from annotation.domain.numbers import counted
from annotation.models import Evaluation, EvaluationTask
from annotation.services.evaluation_exports import short_id
from annotation.services.evaluation_gold import ALL

DIALOGUES, SOURCE, GOLD, COMPARATOR = "the dialogues", "the source of the gold", "the gold", "the comparator"


@dataclass(frozen=True, slots=True)
class Unlike:
    """What differs, and by system what it has of that."""

    what: Sequence[str]
    marks: Mapping[UUID, Sequence[str]]
    advice: str

    @property
    def sentence(self) -> str:
        """Such as: the dialogues and the comparator differ."""
        verb = "differs" if len(self.what) == 1 and self.what[0] != DIALOGUES else "differ"
        return f"{_listed(self.what)} {verb}"


def unlike(systems: Sequence[Evaluation], outdated: Collection[UUID]) -> Unlike | None:
    """In what the scoring of systems of one task differs; None where they can be compared. `outdated` are those whose
    gold has changed since."""
    moved = any(one.pk in outdated for one in systems)
    what = []
    if len({one.gold.get("digest") for one in systems}) > 1:
        others = _other_dialogues(systems)
        if others:
            what.append(DIALOGUES)
        if not others or moved:
            what.append(GOLD)
        elif len({one.options.get("export", "") for one in systems}) > 1:
            what.append(SOURCE)
    if systems and systems[0].task != EvaluationTask.NLG and len({one.options["comparator"] for one in systems}) > 1:
        what.append(COMPARATOR)
    if not what:
        return None
    return Unlike(what, {one.pk: [_has(one, kind) for kind in what] for one in systems}, _advice(what, moved))


def _other_dialogues(systems: Sequence[Evaluation]) -> bool:
    """Whether other dialogues were scored, by their ids; where an older evaluation does not state these, by what it
    was asked for and how many they are."""
    if all("dialogues_digest" in one.gold for one in systems):
        return len({one.gold["dialogues_digest"] for one in systems}) > 1
    return len({(one.options["split"], one.gold.get("dialogues")) for one in systems}) > 1


def _has(one: Evaluation, kind: str) -> str:
    if kind == DIALOGUES:
        number = counted(one.gold.get("dialogues", 0), "dialogue")
        return number if one.options["split"] == ALL else f"{number} in {one.options['split']}"
    if kind == COMPARATOR:
        return str(one.options["comparator"])
    made = parse_datetime(one.gold.get("export", {}).get("created_at", ""))
    if made is None:
        return "the project’s gold"
    day = date_format(localtime(made), "j M Y, H:i")
    return f"the export of {day} ({short_id(one.options['export'])})"


def _advice(what: Sequence[str], moved: bool) -> str:
    said = []
    if moved and GOLD in what:
        said.append("Score those again that are marked as outdated.")
    names = {DIALOGUES: "dialogues", SOURCE: "gold", GOLD: "gold", COMPARATOR: "comparator"}
    if chosen := [names[kind] for kind in what if not (moved and kind == GOLD)]:
        said.append(
            f"To compare them, choose the same {_listed(chosen)} on their pages, under “Score with other choices”; "
            "their files need not be sent again."
        )
    return " ".join(said)


def _listed(words: Sequence[str]) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"
