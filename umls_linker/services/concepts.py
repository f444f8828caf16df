"""What a decision says a surface form means, found in a vocabulary or proposed by the project."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from unicodedata import category

from annotation.domain.concepts import surface_key
from annotation.models import Project, User
from annotation.services.checks import checked_text
from annotation.services.errors import Refused
from umls_linker.domain.vocabulary import SEMANTIC_TYPE
from umls_linker.models import Candidate, Decision, DecisionKind, ProposedConcept, SurfaceForm, Vocabulary
from umls_linker.services.project_vocabulary import index_of, vocabulary_of

LONGEST_NAME = 300
LONGEST_DEFINITION = 4000
_UNSEEN = frozenset({"Cc", "Cf", "Co", "Cs", "Cn"})  # Unicode categories: control, format, private use, unassigned
PROPOSED = "NEW"  # how the identifiers of proposed concepts begin


@dataclass(frozen=True, slots=True)
class Meaning:
    """A concept as a decision writes it down, or with the kind NIL none."""

    kind: DecisionKind
    cui: str = ""
    name: str = ""
    semantic_types: tuple[str, ...] = ()
    proposed: ProposedConcept | None = None
    vocabulary: Vocabulary | None = None

    def write(self, decision: Decision) -> None:
        """Set the decision's fields."""
        decision.kind, decision.cui, decision.name = self.kind, self.cui, self.name
        decision.semantic_types = list(self.semantic_types)
        decision.proposed, decision.vocabulary = self.proposed, self.vocabulary
        decision.vocabulary_name = self.vocabulary.name if self.vocabulary else ""
        decision.vocabulary_version = self.vocabulary.version if self.vocabulary else ""


def meaning_of(form: SurfaceForm, cui: str, name: str = "") -> Meaning:
    """The concept under this identifier, called `name` if that is one of its names, or as it is preferred.

    Raises Refused when neither the project's vocabulary, nor the form's candidates, nor the project knows it.
    """
    proposed = ProposedConcept.objects.filter(project_id=form.project_id, identifier=cui).first()
    if proposed is not None:
        return _of_proposed(proposed)
    vocabulary = vocabulary_of(form.project)
    index = index_of(vocabulary) if vocabulary else None
    concept = index.concept(cui) if index else None
    if concept is not None:
        called = _called(concept.name, concept.synonyms, name)
        return Meaning(DecisionKind.CONCEPT, cui, called, tuple(concept.semantic_types), vocabulary=vocabulary)
    candidate = Candidate.objects.filter(surface_form=form, cui=cui).first()
    if candidate is None or index is not None:  # a candidate from before stays one only while nothing can be looked up
        raise Refused(f"The project's vocabulary has no concept “{cui[:40]}”.", field="cui")
    called = _called(candidate.name, candidate.synonyms, name)
    return Meaning(DecisionKind.CONCEPT, cui, called, tuple(candidate.semantic_types), vocabulary=vocabulary)


def meaning_proposed(project: Project, actor: User, name: str, semantic_type: str, definition: str) -> Meaning:
    """The project's own concept of this name, written down if it is new. Raises Refused without a name."""
    name = " ".join(checked_text(name, field="name", what="The name", longest=LONGEST_NAME).split())
    if not is_visible_name(name):
        raise Refused("The name needs a letter or a digit, and no invisible signs.", field="name")
    if semantic_type and not SEMANTIC_TYPE.fullmatch(semantic_type):
        raise Refused("A semantic type is a code such as T184.", field="semantic_type")
    if definition.strip():
        definition = checked_text(definition, field="definition", what="The definition", longest=LONGEST_DEFINITION)
    known = {surface_key(row.name): row for row in ProposedConcept.objects.filter(project=project)}
    found = known.get(surface_key(name))
    if found is None:
        numbers = [int(row.identifier.removeprefix(PROPOSED)) for row in known.values()]
        found = ProposedConcept.objects.create(
            project=project,
            identifier=f"{PROPOSED}{max(numbers, default=0) + 1:04}",
            name=name,
            semantic_type=semantic_type,
            definition=definition.strip(),
            proposed_by=actor,
        )
    return _of_proposed(found)


def is_visible_name(name: str) -> bool:
    """Whether somebody can read it: it has a letter or a digit, and no invisible signs."""
    return any(one.isalnum() for one in name) and not any(category(one) in _UNSEEN for one in name)


def _of_proposed(proposed: ProposedConcept) -> Meaning:
    types = (proposed.semantic_type,) if proposed.semantic_type else ()
    return Meaning(DecisionKind.PROPOSED, proposed.identifier, proposed.name, types, proposed)


def _called(preferred: str, synonyms: Sequence[str], name: str) -> str:
    if not name.strip():
        return preferred
    found = next((one for one in (preferred, *synonyms) if surface_key(one) == surface_key(name)), None)
    if found is None:
        raise Refused(f"“{name[:80]}” is no name of “{preferred}” in the vocabulary.", field="name")
    return found
