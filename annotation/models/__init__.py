"""The tables: accounts, corpus, labels, jobs, evaluation, qualification, review."""

from annotation.models.accounts import Membership, Role, User
from annotation.models.assignment import AssignmentRun
from annotation.models.corpus import Dialogue, Project, Utterance
from annotation.models.evaluation import EvaluatedTurn, Evaluation, EvaluationTask
from annotation.models.jobs import ExportJob, ImportJob, JobStatus, Worker
from annotation.models.labels import EventKind, Label, LabelEvent, LabelSet, Owner, Purpose, Status
from annotation.models.qualification import (
    ExamDialogue,
    ExamKind,
    Explanation,
    ExtraAttempt,
    Feedback,
    QualificationOverride,
    TestAttempt,
)
from annotation.models.review import (
    AdjudicationDecision,
    AgreementSnapshot,
    Concern,
    ConcernMessage,
    ConcernStatus,
    GuidelineNote,
    NamesShown,
    ReturnedItem,
)

__all__ = [
    "AdjudicationDecision",
    "AgreementSnapshot",
    "AssignmentRun",
    "Concern",
    "ConcernMessage",
    "ConcernStatus",
    "Dialogue",
    "EvaluatedTurn",
    "Evaluation",
    "EvaluationTask",
    "EventKind",
    "ExamDialogue",
    "ExamKind",
    "Explanation",
    "ExportJob",
    "ExtraAttempt",
    "Feedback",
    "GuidelineNote",
    "ImportJob",
    "JobStatus",
    "Label",
    "LabelEvent",
    "LabelSet",
    "Membership",
    "NamesShown",
    "Owner",
    "Project",
    "Purpose",
    "QualificationOverride",
    "ReturnedItem",
    "Role",
    "Status",
    "TestAttempt",
    "User",
    "Utterance",
    "Worker",
]
