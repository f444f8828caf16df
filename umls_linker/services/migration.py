"""What another vocabulary would change about what is decided, and the change itself.

A switch changes no decision: each keeps the concept, its name and the vocabulary's version as they were written down,
and so does everything made from it. Where the new vocabulary has dropped or renamed a concept, a doctor looks at it.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from django.db import transaction
from django.db.models import OuterRef, QuerySet, Subquery
from django.utils import timezone

from annotation.access import ANSWERING, DOCTOR, require
from annotation.domain.concepts import surface_key
from annotation.models import Project, User
from annotation.services.errors import Refused
from umls_linker.domain.normalise import fold
from umls_linker.domain.vocabulary import Concept
from umls_linker.index.reader import VocabularyIndex
from umls_linker.models import Decision, DecisionKind, KeptDecision, ProjectVocabulary, Vocabulary
from umls_linker.services.canonical import project_names
from umls_linker.services.concepts import meaning_of
from umls_linker.services.decisions import decision_moved
from umls_linker.services.messages import send
from umls_linker.services.project_vocabulary import index_of, vocabulary_of
from umls_linker.services.sight import Sight


class Change(StrEnum):
    """What became of a decided concept, worst first."""

    RETIRED = "retired"
    MERGED = "merged"
    RENAMED = "renamed"
    SAME = "same"


@dataclass(frozen=True, slots=True)
class Difference:
    """A standing decision beside the other vocabulary; `now` is the concept that has its place there, if one has."""

    decision: Decision
    kind: Change
    now: Concept | None
    sentence: str


def vocabulary_difference(project: Project, *, to: Vocabulary, sight: Sight | None = None) -> list[Difference]:
    """Every standing decision on a concept (in `sight`), as it would look in the vocabulary `to`: retired ones first,
    the same last, and none that a doctor has kept under that vocabulary.

    Raises Refused when that vocabulary is not on this machine any more.
    """
    index = _index(to)
    kept = KeptDecision.objects.filter(decision=OuterRef("pk"), vocabulary=to, revoked_at=None)
    rows = (sight or Sight(project)).decisions().filter(kind=DecisionKind.CONCEPT).standing()
    rows = rows.annotate(kept_now=Subquery(kept.values("pk")[:1])).filter(kept_now=None)
    found = [_difference(row, index) for row in rows.select_related("surface_form", "decided_by", "vocabulary")]
    order = list(Change)
    return sorted(found, key=lambda one: (order.index(one.kind), one.decision.surface_form.key, one.decision.pk))


@transaction.atomic
def vocabulary_switch(*, project: Project, to: Vocabulary, actor: User) -> ProjectVocabulary:
    """Have the project's candidates come from `to` from now on; workers find them anew. Decisions stay as they are.

    Raises Refused for an archived project and a vocabulary that is not on this machine; PermissionDenied for everybody
    but supervisors and doctors.
    """
    require(actor, project.pk, ANSWERING)
    if project.archived_at:
        raise Refused("This project is archived; restore it before choosing another vocabulary.")
    _index(to)
    row, _ = ProjectVocabulary.objects.update_or_create(
        project=project, defaults={"vocabulary": to, "chosen_by": actor}
    )
    project_id = project.pk
    transaction.on_commit(lambda: send("link_project", project_id))
    return row


def migration_accept(*, decision: Decision, actor: User, cui: str) -> Decision:
    """Put a decision on this concept of the project's vocabulary in the place of an older one, exceptions and all.

    Reverting it brings the older one back. Raises as `decision_take` does.
    """
    return decision_moved(decision=decision, actor=actor, meaning=meaning_of(decision.surface_form, cui))


@transaction.atomic
def migration_keep(*, decision: Decision, actor: User) -> KeptDecision:
    """Leave a decision as it is under the project's present vocabulary; again, it changes nothing.

    Raises Refused when the decision does not stand, in an archived project and without a vocabulary; PermissionDenied
    for everybody but the project's doctors.
    """
    project = decision.surface_form.project
    vocabulary = _vocabulary_for(project, actor)
    if not Decision.objects.standing().filter(pk=decision.pk).exists():
        raise Refused("This decision does not stand any more; somebody has taken it back or replaced it.")
    same = {"decision": decision, "vocabulary": vocabulary, "revoked_at": None}
    return KeptDecision.objects.get_or_create(**same, defaults={"kept_by": actor})[0]


@transaction.atomic
def migration_keep_revoke(*, decision: Decision, actor: User) -> None:
    """Have a decision that was kept looked at again; where it was not kept, nothing is done. Raises as `migration_keep`
    does."""
    vocabulary = _vocabulary_for(decision.surface_form.project, actor)
    rows = KeptDecision.objects.filter(decision=decision, vocabulary=vocabulary, revoked_at=None)
    rows.update(revoked_by=actor, revoked_at=timezone.now())


def decisions_kept(project: Project, *, sight: Sight) -> QuerySet[KeptDecision]:
    """The standing decisions that were kept under the project's present vocabulary, the latest first."""
    rows = KeptDecision.objects.filter(vocabulary=vocabulary_of(project), revoked_at=None)
    rows = rows.filter(decision__in=sight.decisions().standing())
    return rows.select_related("decision__surface_form", "kept_by")


@dataclass(frozen=True, slots=True)
class Renaming:
    """A concept that stands under several names: `decided` are those of the decisions with how many have each, and
    `name` is what files call it."""

    cui: str
    name: str
    decided: tuple[tuple[str, int], ...]


def concepts_of_several_names(project: Project, *, sight: Sight) -> list[Renaming]:
    """The concepts that some standing decision (in `sight`) calls otherwise than files do, by their names."""
    rows = sight.decisions().exclude(kind=DecisionKind.NIL).standing().order_by()
    counts: dict[str, dict[str, int]] = {}
    for cui, name in rows.order_by("name").values_list("cui", "name"):
        counts.setdefault(cui, {}).setdefault(name, 0)
        counts[cui][name] += 1
    names = project_names(project.pk)
    found = [Renaming(cui, names.get(cui, ""), tuple(each.items())) for cui, each in counts.items()]
    several = (one for one in found if any(name != one.name for name, _ in one.decided))
    return sorted(several, key=lambda one: (fold(one.name), one.cui))


def _vocabulary_for(project: Project, actor: User) -> Vocabulary:
    require(actor, project.pk, DOCTOR)
    if project.archived_at:
        raise Refused("This project is archived; its concepts can be read but not changed.")
    vocabulary = vocabulary_of(project)
    if vocabulary is None:
        raise Refused("This project has no vocabulary yet, so there is nothing to compare with.")
    return vocabulary


def differences_left(project: Project, *, sight: Sight | None = None) -> list[Difference]:
    """What the project's present vocabulary has otherwise than it was decided; [] while there is no vocabulary."""
    vocabulary = vocabulary_of(project)
    if vocabulary is None or index_of(vocabulary) is None:
        return []
    return [one for one in vocabulary_difference(project, to=vocabulary, sight=sight) if one.kind is not Change.SAME]


def _index(vocabulary: Vocabulary) -> VocabularyIndex:
    index = index_of(vocabulary)
    if index is None:
        raise Refused(f"The vocabulary {vocabulary} is not on this machine any more; build it again.")
    return index


def _difference(decision: Decision, index: VocabularyIndex) -> Difference:
    now = index.concept(decision.cui)
    called, cui = f"“{decision.name}” ({decision.cui})", decision.cui
    if now is not None and surface_key(now.name) == surface_key(decision.name):
        return Difference(decision, Change.SAME, now, f"{called} is the same there.")
    if now is not None:
        return Difference(decision, Change.RENAMED, now, f"{called} is called “{now.name}” there.")
    heir = _heir(decision, index)
    if heir is not None:
        concept, why = heir
        return Difference(decision, Change.MERGED, concept, f"{called} is not there; {why}.")
    return Difference(
        decision, Change.RETIRED, None, f"There is no {cui} there, and no concept called “{decision.name}”."
    )


def _heir(decision: Decision, index: VocabularyIndex) -> tuple[Concept, str] | None:
    """What has the place of a concept that is gone, and why: what the source says is the same concept, or has the
    decided name, or what the source says is closest."""
    cui, relation = index.replacement(decision.cui) or ("", "")
    said, named = index.concept(cui), _namesake(decision, index)
    if said is not None and relation == "SY":
        return said, f"the source has merged it into “{said.name}” ({said.cui})"
    if named is not None:
        return named, f"the name now belongs to “{named.name}” ({named.cui})"
    if said is not None:
        return said, f"the source names “{said.name}” ({said.cui}) as the closest"
    return None


def _namesake(decision: Decision, index: VocabularyIndex) -> Concept | None:
    """The concept that has the decided name now: as its own name rather than as a synonym, of one semantic type with
    the decided one rather than of another."""
    found: dict[str, Concept] = {}
    for term in index.exact(fold(decision.name)):
        for meaning in index.term(term).concepts:
            concept = index.concept(meaning.cui)
            if concept is not None:
                found[concept.cui] = concept
    wanted, types = fold(decision.name), set(decision.semantic_types)
    ranked = sorted(
        found.values(), key=lambda one: (fold(one.name) != wanted, not types & set(one.semantic_types), one.cui)
    )
    return ranked[0] if ranked else None
