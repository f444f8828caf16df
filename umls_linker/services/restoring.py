"""The decisions of an export, standing again in the project that it was imported into.

An export says what was decided of every value at every utterance. What most utterances of a wording have becomes the
decision about the wording; where another was decided, that is a decision for the utterance alone, and where nothing was
decided, the utterance is left out. So an export of the project says the same again.
"""

from __future__ import annotations

import re
import uuid
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from unicodedata import category

from django.db import transaction
from django.utils import timezone

from annotation.access import SUPERVISOR, require
from annotation.domain.concepts import UNDECIDED, DecidedConcept, Outcome, Place, surface_key
from annotation.domain.notices import quoted
from annotation.domain.numbers import counted
from annotation.models import User
from annotation.services.concept_linking import StatedDecision, StatedDecisions
from annotation.services.errors import Refused
from umls_linker.domain.vocabulary import CUI, SEMANTIC_TYPE
from umls_linker.models import Decision, DecisionException, DecisionKind, ProposedConcept, StatedAttribution
from umls_linker.services.agreement import agreement_outdated
from umls_linker.services.concepts import LONGEST_NAME, PROPOSED, is_visible_name
from umls_linker.services.decisions import IMPORTED
from umls_linker.services.surface_forms import forms_of

AT_ONCE = 500  # rows in one statement
LONGEST_CONCEPT = 10_000  # characters of a concept's name; vocabularies have long ones
LONGEST_VOCABULARY = 60
LONGEST_VERSION = 120
LONGEST_ATTRIBUTION = 200_000
MOST_TYPES = 50  # semantic types of a concept
_IDENTIFIER = re.compile(PROPOSED + "[0-9]{4,9}")


def decisions_restore(*, project_id: int, decisions: StatedDecisions, actor: User) -> list[str]:
    """Write the decisions as the actor's, with concept, name and vocabulary as stated, whatever is installed here.

    Returns sentences about what does not come back. Raises Refused for a concept that cannot be one, two names of one
    concept, and a project that has decisions or proposed concepts; PermissionDenied for everybody but its supervisors.
    """
    require(actor, project_id, SUPERVISOR)
    _check(decisions)
    if (
        Decision.objects.filter(surface_form__project_id=project_id).exists()
        or ProposedConcept.objects.filter(project_id=project_id).exists()
    ):
        raise Refused("The project has decisions about concepts; an export that has some is imported with --new.")
    by_place: defaultdict[Place, list[StatedDecision]] = defaultdict(list)
    for one in decisions.stated:
        by_place[one.place].append(one)
    of_forms = {place: _commonest(found) for place, found in by_place.items()}
    with transaction.atomic():
        proposed = _propose(project_id, (one.decided for one in decisions.stated), actor)
        writing = _Writing(proposed, actor, decisions.source)
        forms = forms_of(project_id, {place: found[0].text for place, found in by_place.items()})
        for place, found in by_place.items():
            writing.add(forms[place], of_forms[place], found)
        writing.store()
        StatedAttribution.objects.filter(project_id=project_id).delete()
        StatedAttribution.objects.bulk_create(
            StatedAttribution(project_id=project_id, name=name, version=version, attribution=text)
            for (name, version), text in decisions.attributions.items()
        )
        agreement_outdated(project_id=project_id)
    return list(_notes(proposed))


class _Writing:
    """The rows of decisions and exceptions on their way into the database."""

    def __init__(self, proposed: Mapping[str, ProposedConcept], actor: User, source: str) -> None:
        self._proposed, self._actor, self._source = proposed, actor, source
        self._at = timezone.now()
        self._decisions: list[Decision] = []
        self._exceptions: list[DecisionException] = []

    def add(self, form: int, of_form: DecidedConcept, found: Iterable[StatedDecision]) -> None:
        """What was decided of one surface form (its row number), everywhere and at single utterances."""
        general = self._decision(form, of_form) if of_form != UNDECIDED else None
        for one in found:
            if one.decided == of_form:
                continue
            if one.decided != UNDECIDED:
                self._decision(form, one.decided, uuid.UUID(one.label_id), one.utterance_id)
            elif general is not None:
                exception = DecisionException(
                    decision=general, label_id=uuid.UUID(one.label_id), utterance_id=one.utterance_id
                )
                self._exceptions.append(exception)

    def store(self) -> None:
        Decision.objects.bulk_create(self._decisions, batch_size=AT_ONCE)
        for one in self._exceptions:
            one.decision_id = one.decision.pk  # which it has only now
        DecisionException.objects.bulk_create(self._exceptions, batch_size=AT_ONCE)

    def _decision(
        self, form: int, decided: DecidedConcept, label_id: uuid.UUID | None = None, utterance_id: int | None = None
    ) -> Decision:
        decision = Decision(
            surface_form_id=form,
            label_id=label_id,
            utterance_id=utterance_id,
            kind=DecisionKind(decided.outcome.value),
            cui=decided.cui,
            name=decided.name,
            semantic_types=list(decided.semantic_types),
            proposed=self._proposed.get(decided.cui),
            vocabulary_name=decided.vocabulary,
            vocabulary_version=decided.version,
            note=self._source,
            origin=IMPORTED,
            decided_by=self._actor,
            decided_at=self._at,
        )
        self._decisions.append(decision)
        return decision


def _commonest(found: Sequence[StatedDecision]) -> DecidedConcept:
    """What holds at most of the utterances; of several the first that says something."""
    counts = Counter(one.decided for one in found)
    return max(counts, key=lambda one: (counts[one], one != UNDECIDED))  # a Counter keeps the order of the first ones


def _propose(project_id: int, decided: Iterable[DecidedConcept], actor: User) -> dict[str, ProposedConcept]:
    """The project's own concepts by their identifiers, each as it is named."""
    found = {one.cui: one for one in decided if one.outcome is Outcome.PROPOSED}
    return {
        cui: ProposedConcept.objects.create(
            project_id=project_id,
            identifier=cui,
            name=one.name,
            semantic_type="".join(one.semantic_types),
            proposed_by=actor,
        )
        for cui, one in sorted(found.items())
    }


def _notes(proposed: Mapping[str, ProposedConcept]) -> Iterable[str]:
    if proposed:
        yield (
            f"{counted(len(proposed), 'proposed concept')} (first {min(proposed)}) came without a definition: no file "
            "of an export has any, so that the data files are the same without."
        )


# --- what an export can say ---


def _check(decisions: StatedDecisions) -> None:
    names: dict[str, DecidedConcept] = {}
    called: dict[str, str] = {}
    checked: set[DecidedConcept] = set()
    for one in decisions.stated:
        decided = one.decided
        if decided in checked:
            continue
        where = f"Dialogue {quoted(one.dialogue)}, turn {one.position}"
        if fault := _fault(decided):
            raise Refused(f"{where}: the decision about {quoted(one.text)} {fault}.", field="folder")
        checked.add(decided)
        if not decided.cui:
            continue
        known = names.setdefault(decided.cui, decided)
        if known.name != decided.name:
            raise Refused(
                f"{where}: {decided.cui} is called {quoted(decided.name)}, but {quoted(known.name)} elsewhere; a "
                "concept has one name in an export.",
                field="folder",
            )
        if decided.outcome is not Outcome.PROPOSED:
            continue
        other = called.setdefault(surface_key(decided.name), decided.cui)
        if other != decided.cui or known.semantic_types != decided.semantic_types:
            raise Refused(
                f"{where}: the proposed concept {decided.cui} is said in two ways, or as another one is.",
                field="folder",
            )
    for (name, version), text in decisions.attributions.items():
        if not _is_vocabulary(name, version) or len(text) > LONGEST_ATTRIBUTION or "\0" in text:
            raise Refused(f"The vocabulary {quoted(name)} cannot be one, by its name or its texts.", field="folder")


def _fault(decided: DecidedConcept) -> str:
    """Why this cannot have been decided, as the end of a sentence; "" where it can."""
    if decided.outcome in (Outcome.OPEN, Outcome.NIL):
        bare = DecidedConcept(decided.outcome)
        return "" if decided == bare else f"says “{decided.outcome}”, and more of a concept"
    own = decided.outcome is Outcome.PROPOSED
    if not (_IDENTIFIER if own else CUI).fullmatch(decided.cui):
        return f"has {quoted(decided.cui)}, which identifies no {'proposed ' if own else ''}concept"
    if not _is_name(decided.name, own=own):
        return f"has a name of {decided.cui} that is empty, too long, or no plain text"
    types = decided.semantic_types
    if len(types) > (1 if own else MOST_TYPES) or not all(map(SEMANTIC_TYPE.fullmatch, types)):
        return f"has semantic types of {decided.cui} that are none"
    if own and (decided.vocabulary or decided.version):
        return f"names a vocabulary for {decided.cui}, which none has"
    if not _is_vocabulary(decided.vocabulary, decided.version):
        return f"has a vocabulary of {decided.cui} that cannot be one"
    return ""


def _is_name(name: str, *, own: bool) -> bool:
    if own:
        return len(name) <= LONGEST_NAME and name == " ".join(name.split()) and is_visible_name(name)
    return bool(name.strip()) and len(name) <= LONGEST_CONCEPT and _is_plain(name)


def _is_vocabulary(name: str, version: str) -> bool:
    if len(name) > LONGEST_VOCABULARY or len(version) > LONGEST_VERSION or (version and not name):
        return False
    return _is_plain(name + version)


def _is_plain(text: str) -> bool:
    return not any(category(one) in ("Cc", "Cs") for one in text)
