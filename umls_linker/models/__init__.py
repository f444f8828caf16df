"""Vocabularies, the medical values found in labels, their candidates, and what a doctor decided."""

from umls_linker.models.decisions import (
    ConceptQuestion,
    Decision,
    DecisionException,
    DecisionKind,
    KeptDecision,
    ProposedConcept,
)
from umls_linker.models.surface_forms import (
    Candidate,
    DialogueMentions,
    LinkedLabelSet,
    Occurrence,
    Shortlisting,
    SurfaceForm,
    Verdict,
)
from umls_linker.models.vocabularies import ProjectVocabulary, StatedAttribution, Vocabulary

__all__ = [
    "Candidate",
    "ConceptQuestion",
    "Decision",
    "DecisionException",
    "DecisionKind",
    "DialogueMentions",
    "KeptDecision",
    "LinkedLabelSet",
    "Occurrence",
    "ProjectVocabulary",
    "ProposedConcept",
    "Shortlisting",
    "StatedAttribution",
    "SurfaceForm",
    "Verdict",
    "Vocabulary",
]
