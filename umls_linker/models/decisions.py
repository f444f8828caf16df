"""What doctors decided about surface forms, and what was asked before."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.db.models import Q

from annotation.models import User
from umls_linker.models.surface_forms import SurfaceForm
from umls_linker.models.vocabularies import Vocabulary


class DecisionKind(models.TextChoices):
    CONCEPT = "concept", "a concept"
    NIL = "nil", "no concept"
    PROPOSED = "proposed", "a proposed concept"


class ProposedConcept(models.Model):
    """A concept that no vocabulary has. `identifier` ("NEW0001", counted in its project) stands where a CUI would."""

    project = models.ForeignKey("annotation.Project", models.PROTECT, related_name="proposed_concepts")
    identifier = models.CharField(max_length=20)
    name = models.CharField(max_length=300)
    semantic_type = models.CharField(max_length=10, blank=True)
    definition = models.TextField(blank=True)
    proposed_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+")
    proposed_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["identifier"]
        constraints = [
            models.UniqueConstraint(fields=["project", "identifier"], name="proposed_concept_identifier_once"),
            models.UniqueConstraint(fields=["project", "name"], name="proposed_concept_name_once"),
        ]

    def __str__(self) -> str:
        return f"{self.name} ({self.identifier})"


class DecisionQuerySet(models.QuerySet["Decision"]):
    def standing(self) -> DecisionQuerySet:
        return self.filter(reverted_at=None)

    def of_forms(self) -> DecisionQuerySet:
        """Those about every occurrence of a surface form."""
        return self.filter(utterance=None)


class Decision(models.Model):
    """What a doctor decided: for every occurrence of a surface form, or with `utterance` for that utterance alone.

    The concept is written down as it was when it was decided (`cui`, `name`, `semantic_types`, and the vocabulary's
    name and version), so that neither a new vocabulary nor new candidates change it. A decision is never altered; it is
    reverted, and another one may follow. `replaces` is the one that it took the place of: when this one is reverted, a
    copy of that one stands again (origin "restored"). One that came with an export (origin "imported") is written down
    as the export says it, by who imported it, without a build of the vocabulary. `reverted_key` is the request that
    ended it: the same request again ends no other one.

    `label_id` is the label at which a decision about one utterance was made. It holds for all labels of the utterance
    that use the surface form, whoever made them: the words are the same, and gold is made of new labels.
    """

    surface_form = models.ForeignKey(SurfaceForm, models.PROTECT, related_name="decisions")
    label_id = models.UUIDField(null=True, blank=True)
    utterance = models.ForeignKey("annotation.Utterance", models.PROTECT, null=True, blank=True, related_name="+")
    kind = models.CharField(max_length=20, choices=DecisionKind)
    cui = models.CharField(max_length=20, blank=True)
    name = models.TextField(blank=True)
    semantic_types = models.JSONField(default=list, blank=True)
    proposed = models.ForeignKey(ProposedConcept, models.PROTECT, null=True, blank=True, related_name="decisions")
    vocabulary = models.ForeignKey(Vocabulary, models.PROTECT, null=True, blank=True, related_name="decisions")
    vocabulary_name = models.CharField(max_length=60, blank=True)
    vocabulary_version = models.CharField(max_length=120, blank=True)
    note = models.TextField(blank=True)
    origin = models.CharField(
        max_length=20,
        default="review",
        help_text="review, migration to a new vocabulary, restored, or imported with an export.",
    )
    replaces = models.ForeignKey("self", models.PROTECT, null=True, blank=True, related_name="replaced_by")
    decided_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+")
    decided_at = models.DateTimeField()
    reverted_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, null=True, blank=True, related_name="+")
    reverted_at = models.DateTimeField(null=True, blank=True)
    reverted_key = models.CharField(max_length=64, blank=True)

    objects = DecisionQuerySet.as_manager()

    class Meta:
        ordering = ["-id"]
        constraints = [
            models.UniqueConstraint(
                fields=["surface_form"], condition=Q(reverted_at=None, utterance=None), name="decision_one_stands"
            ),
            models.UniqueConstraint(
                fields=["surface_form", "utterance"],
                condition=Q(reverted_at=None, utterance__isnull=False),
                name="decision_one_stands_per_utterance",
            ),
            models.CheckConstraint(
                condition=Q(label_id=None, utterance=None) | Q(label_id__isnull=False, utterance__isnull=False),
                name="decision_label_has_utterance",
            ),
            models.CheckConstraint(condition=Q(kind__in=DecisionKind.values), name="decision_kind_known"),
            models.CheckConstraint(
                condition=Q(kind="nil", cui="") | (~Q(kind="nil") & ~Q(cui="") & ~Q(name="")),
                name="decision_names_its_concept",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.surface_form}: {self.name or self.get_kind_display()}"


class DecisionException(models.Model):
    """A label to which a decision about its surface form does not apply, nor to the others at its utterance."""

    decision = models.ForeignKey(Decision, models.PROTECT, related_name="exceptions")
    label_id = models.UUIDField()
    utterance = models.ForeignKey("annotation.Utterance", models.PROTECT, related_name="+")

    class Meta:
        constraints = [models.UniqueConstraint(fields=["decision", "label_id"], name="decision_exception_once")]

    def __str__(self) -> str:
        return f"{self.decision}, but not in {self.label_id}"


class KeptDecision(models.Model):
    """A doctor has seen that a vocabulary has the decided concept otherwise, or not at all, and leaves the decision as
    it is. Revoking that brings it back among the differences to be looked at."""

    decision = models.ForeignKey(Decision, models.PROTECT, related_name="kept")
    vocabulary = models.ForeignKey(Vocabulary, models.PROTECT, related_name="+")
    kept_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+")
    kept_at = models.DateTimeField(auto_now_add=True)
    revoked_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, null=True, blank=True, related_name="+")
    revoked_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-kept_at", "-id"]
        constraints = [
            models.UniqueConstraint(
                fields=["decision", "vocabulary"], condition=Q(revoked_at=None), name="decision_kept_once"
            )
        ]

    def __str__(self) -> str:
        return f"{self.decision}, kept under {self.vocabulary}"


class ConceptQuestionQuerySet(models.QuerySet["ConceptQuestion"]):
    def open(self) -> ConceptQuestionQuerySet:
        return self.filter(answered_at=None)

    def unseen_by(self, user: User) -> ConceptQuestionQuerySet:
        """The person's own that somebody else has answered since they last looked."""
        return self.filter(asked_by=user, answered_at__isnull=False, seen_at=None).exclude(answered_by=user)


class ConceptQuestion(models.Model):
    """Somebody asks a colleague about a surface form. Open until it is answered; `seen_at` is when the answer was seen
    by whoever asked."""

    surface_form = models.ForeignKey(SurfaceForm, models.PROTECT, related_name="questions")
    question = models.TextField()
    asked_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+")
    asked_of = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, null=True, blank=True, related_name="+")
    asked_at = models.DateTimeField(auto_now_add=True)
    answer = models.TextField(blank=True)
    answered_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, null=True, blank=True, related_name="+")
    answered_at = models.DateTimeField(null=True, blank=True)
    seen_at = models.DateTimeField(null=True, blank=True)

    objects = ConceptQuestionQuerySet.as_manager()

    class Meta:
        ordering = ["asked_at", "id"]

    def __str__(self) -> str:
        return f"{self.surface_form}: {self.question[:60]}"
