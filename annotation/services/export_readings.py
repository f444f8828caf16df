"""What is exported: which label sets stand for the project, by whom they are, and each as a reading.

`exported_reading` is the one place where a label set becomes what is written of it.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.db.models import Count, QuerySet

from annotation.domain.export_formats import Format, parse_formats
from annotation.domain.given_text import BrokenText, plain_lines
from annotation.domain.labels import Reading
from annotation.domain.splits import Candidate, Shares, Split, commonest_specialty, split_dialogues
from annotation.domain.strict_json import printable
from annotation.models import Dialogue, LabelSet, Owner, Project, Purpose, Status, User
from annotation.services.errors import Refused
from annotation.services.readings import labels_of, utterances_of

FINISHED = [Status.DONE.value, Status.LOCKED.value]
GOLD, ANNOTATOR, ALL = "gold", "annotator", "all"
MAX_SEED = 2**31 - 1


@dataclass(frozen=True, slots=True)
class ExportOptions:
    """What is asked for. `annotator` is a user name, with the source “annotator” only. With `surface_forms` the data
    files have values as they were written; else those with a decided concept have its name. `specialties` are those
    within the domain, by default the commonest. `title` is the project's name by default."""

    source: str = GOLD
    annotator: str = ""
    unfinished: bool = False
    surface_forms: bool = False
    formats: tuple[Format, ...] = tuple(Format)
    random_seed: int = 1
    shares: Shares = field(default_factory=Shares)
    specialties: tuple[str, ...] = ()
    title: str = ""
    licence: str = ""
    citation: str = ""

    def __post_init__(self) -> None:
        """Title, licence and citation have plain line ends, wherever they come from. Raises Refused."""
        for name in ("title", "licence", "citation"):
            try:
                object.__setattr__(self, name, plain_lines(getattr(self, name), f"The {name}"))
            except BrokenText as error:
                raise Refused(str(error), field=name) from error

    def as_json(self) -> dict[str, Any]:
        return {
            "source": self.source,
            "annotator": self.annotator,
            "unfinished": self.unfinished,
            "surface_forms": self.surface_forms,
            "formats": [one.value for one in self.formats],
            "random_seed": self.random_seed,
            "shares": str(self.shares),
            "specialties": list(self.specialties),
            "title": self.title,
            "licence": self.licence,
            "citation": self.citation,
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> ExportOptions:
        """The reverse of `as_json`; the data comes from a job of our own."""
        return cls(
            **{
                **data,
                "formats": parse_formats(data["formats"]),
                "shares": Shares.parse(data["shares"]),
                "specialties": tuple(data["specialties"]),
            }
        )


@dataclass(frozen=True, slots=True)
class ExportPart:
    """One reading of the dialogues: the label sets, at most one a dialogue, in the order of the dialogues' ids."""

    folder: str
    label_sets: Sequence[LabelSet]


def exported_reading(label_set: LabelSet) -> Reading:
    """The label set as it is exported. It is not kept in memory: an export reads each one once."""
    dialogue = label_set.dialogue
    turns = utterances_of(dialogue.pk, dialogue.fingerprint)
    return Reading(dialogue.external_id, turns, tuple(labels_of(label_set)))


def parts_of(project: Project, options: ExportOptions) -> list[ExportPart]:
    """What would be exported. Raises Refused for an unknown source, person or specialty."""
    refuse_unknown_specialties(project, options.specialties)
    if options.source == GOLD:
        rows = _gold(project).order_by("dialogue__external_id", "pk")
        return _parts({"": _wanted(rows, options)})
    people = real_work(project)
    if options.source == ANNOTATOR:
        person = User.objects.filter(username=options.annotator).first()
        if person is None or not people.filter(annotator=person).exists():
            raise Refused(f"“{options.annotator}” has no dialogue in this project.", field="source")
        return _parts({"": _wanted(people.filter(annotator=person), options)})
    if options.source != ALL:
        raise Refused(f"There is no source “{options.source}”.", field="source")
    by_person: dict[str, list[LabelSet]] = {}
    for row in _wanted(people, options):
        assert row.annotator_id is not None
        by_person.setdefault(pseudonym(project, row.annotator_id), []).append(row)
    return _parts(dict(sorted(by_person.items())))


def refuse_unknown_specialties(project: Project, specialties: Iterable[str]) -> None:
    """Raises Refused for a specialty that no dialogue has: all others would be outside the domain without a word."""
    named = list(specialties)
    if not named:
        return
    rows = Dialogue.objects.filter(project=project).open().exclude(specialty="")
    known = sorted(set(rows.values_list("specialty", flat=True)))
    for one in named:
        if one not in known:
            there = f"there are: {', '.join(known)}" if known else "no dialogue states one"
            raise Refused(f"No dialogue here has the specialty “{printable(one[:80])}”; {there}.", field="specialties")


def nothing_there(options: ExportOptions) -> str:
    """Why there is nothing to export, and what to do."""
    if options.source == GOLD:
        what = "no dialogue has gold with a label" if options.unfinished else "no dialogue's gold is finished"
        return f"There is nothing to export: {what}. Adjudicate some dialogues first."
    what = "nothing is labelled" if options.unfinished else "no dialogue is done"
    return f"There is nothing to export: {what} here yet."


def real_work(project: Project) -> QuerySet[LabelSet]:
    """The annotators' real work on dialogues that are not archived, in the order of the dialogues' ids."""
    rows = LabelSet.objects.real_work().filter(dialogue__project=project, dialogue__archived_at=None)
    return rows.select_related("dialogue__project", "annotator").order_by("dialogue__external_id", "pk")


def splits_of(project: Project, parts: Iterable[ExportPart], options: ExportOptions) -> dict[str, Split]:
    """The split of every dialogue of the parts."""
    candidates = candidates_of(project, parts)
    in_domain = options.specialties or commonest_specialty(candidates)
    return split_dialogues(candidates, random_seed=options.random_seed, shares=options.shares, in_domain=in_domain)


def candidates_of(project: Project, parts: Iterable[ExportPart]) -> list[Candidate]:
    """Every dialogue of the parts once, with what decides on its split, in the order of the ids."""
    seeds = set(LabelSet.objects.filter(dialogue__project=project, purpose=Purpose.SEED).values_list("dialogue"))
    dialogues: dict[str, Dialogue] = {row.dialogue.external_id: row.dialogue for one in parts for row in one.label_sets}
    return [
        Candidate(name, row.specialty, (row.pk,) in seeds, Split(row.fixed_split) if row.fixed_split else None)
        for name, row in sorted(dialogues.items())
    ]


def pseudonym(project: Project, user_id: int) -> str:
    """The same for the same person in every export of the project. Without its secret nobody can tell who it is."""
    digest = hmac.new(project.secret.encode(), f"pseudonym/{user_id}".encode(), hashlib.sha256)
    return f"annotator-{digest.hexdigest()[:10]}"


def contributors(project: Project, parts: Iterable[ExportPart]) -> dict[str, int]:
    """By pseudonym, on how many of the dialogues somebody's labels are here or were made into gold."""
    sets = [row for one in parts for row in one.label_sets]
    behind = {pk for row in sets if row.owner == Owner.GOLD for pk in row.sources.get("label_sets", [])}
    people = [row.annotator_id for row in sets if row.annotator_id is not None]
    people += [pk for pk in LabelSet.objects.filter(pk__in=behind).values_list("annotator", flat=True) if pk]
    counts: dict[str, int] = {}
    for pk in people:
        name = pseudonym(project, pk)
        counts[name] = counts.get(name, 0) + 1
    return dict(sorted(counts.items()))


def _gold(project: Project) -> QuerySet[LabelSet]:
    rows = LabelSet.objects.filter(dialogue__project=project, dialogue__archived_at=None)
    return rows.filter(owner=Owner.GOLD, purpose=Purpose.WORK).select_related("dialogue__project")


def _wanted(rows: QuerySet[LabelSet], options: ExportOptions) -> list[LabelSet]:
    """Finished label sets; with `unfinished` also those that have a label at least."""
    if not options.unfinished:
        return list(rows.filter(status__in=FINISHED))
    counted = rows.annotate(label_count=Count("labels"))
    return [row for row in counted if row.status in FINISHED or row.label_count]


def _parts(sets: Mapping[str, Sequence[LabelSet]]) -> list[ExportPart]:
    found = []
    for folder, rows in sets.items():
        once: dict[int, LabelSet] = {}
        for row in rows:
            once.setdefault(row.dialogue_id, row)
        if once:
            found.append(ExportPart(folder, list(once.values())))
    return found
