"""The tables: accounts, corpus, labels, jobs."""

from annotation.models.accounts import Membership, Role, User
from annotation.models.corpus import Dialogue, Project, Utterance
from annotation.models.jobs import ImportJob, JobStatus, Worker
from annotation.models.labels import EventKind, Label, LabelEvent, LabelSet, Owner, Purpose, Status

__all__ = [
    "Dialogue",
    "EventKind",
    "ImportJob",
    "JobStatus",
    "Label",
    "LabelEvent",
    "LabelSet",
    "Membership",
    "Owner",
    "Project",
    "Purpose",
    "Role",
    "Status",
    "User",
    "Utterance",
    "Worker",
]
