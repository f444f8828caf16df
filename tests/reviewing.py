"""A small vocabulary and labels to link to it, for tests of the pages of concept linking."""

from __future__ import annotations

import json
import shutil
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path

from django.conf import settings

from annotation.models import Dialogue, LabelSet, Project, User
from tests import factory
from tests.factory import inform
from umls_linker.domain.vocabulary import Atom, Entry, Faults, Kind, Retired, TypeOf
from umls_linker.index.folders import CURRENT, clear_leftovers, current_build
from umls_linker.index.manifest import Licence, Manifest, read_manifest, write_manifest
from umls_linker.index.storage import write_durably
from umls_linker.models import SurfaceForm, Vocabulary
from umls_linker.services import canonical, project_vocabulary
from umls_linker.services.linking import forms_link
from umls_linker.services.mentions import mentions_find
from umls_linker.services.surface_forms import label_set_collect
from umls_linker.services.vocabularies import vocabularies_root, vocabulary_build

# CUI → semantic type and strings, the preferred name first.
CONCEPTS: dict[str, tuple[str, ...]] = {
    "C0013404": ("T184", "Dyspnea", "shortness of breath", "trouble breathing", "breathlessness"),
    "C0010200": ("T184", "Cough", "coughing"),
    "C0015967": ("T184", "Fever", "pyrexia", "high temperature"),
    "C0018681": ("T184", "Headache", "head pain", "cephalgia"),
    "C0027497": ("T184", "Nausea", "feeling sick"),
    "C0015672": ("T184", "Fatigue", "tiredness"),
    "C0028081": ("T184", "Night sweats"),
    "C0008031": ("T184", "Chest pain", "pain in chest", "thoracic pain"),
    "C0012833": ("T184", "Dizziness", "giddiness"),
    "C0015230": ("T184", "Rash", "skin eruption", "exanthema"),
    "C0013362": ("T184", "Dysarthria"),
    "C0004096": ("T047", "Asthma", "bronchial asthma"),
    "C0020740": ("T109", "Ibuprofen", "Advil"),
    "C0037369": ("T055", "Smoking", "tobacco smoking"),
}
NIGHTS = "C0028081"


@dataclass(frozen=True)
class Small:
    """A source of some concepts, as the services read one."""

    concepts: dict[str, tuple[str, ...]] = field(default_factory=lambda: CONCEPTS)
    version: str = "2026-01"
    description: str = "a few concepts for tests"
    licences: tuple[Licence, ...] = (Licence("Everything", "Made for tests.", "https://example.org/licence"),)
    wanted_types: frozenset[str] = frozenset()
    options: dict[str, list[str]] = field(default_factory=dict)
    retired: tuple[Retired, ...] = ()

    def atoms(self, faults: Faults) -> Iterator[Entry]:
        for cui, (semantic_type, name, *synonyms) in self.concepts.items():
            yield TypeOf(cui, semantic_type)
            yield Atom(name, cui, True, "TEST", Kind.NAME)
            for synonym in synonyms:
                yield Atom(synonym, cui, False, "TEST", Kind.SYNONYM)
        yield from self.retired


_built: dict[str, Path] = {}  # what this run has built, by source and name: a build takes seconds, a copy nothing


def make_vocabulary(source: Small | None = None, name: str = "embedded") -> Vocabulary:
    """Build one, or copy what was built of the same source before, and have its row; `embedded` is the one that
    projects use by themselves."""
    source = source or Small()
    key = repr((name, source))
    if key not in _built:
        root = Path(tempfile.mkdtemp(prefix="vocabulary-", dir=settings.DATA_DIR))
        vocabulary_build(source=source, name=name, root=root)
        _built[key] = current_build(root, name)
    manifest = put_in_place(_built[key], name)
    project_vocabulary.forget()
    canonical.forget()
    [row] = [
        row for row in project_vocabulary.vocabularies_register() if row.digest == manifest.digest and row.name == name
    ]
    return row


def put_in_place(build: Path, name: str) -> Manifest:
    """Copy a build to where the portal looks, as the newest one of its name."""
    home = vocabularies_root() / name
    home.mkdir(parents=True, exist_ok=True)
    folder = home / f"{time.time_ns():020}"
    shutil.copytree(build, folder)
    manifest = replace(read_manifest(folder), built_at=datetime.now(UTC).isoformat(timespec="seconds"))
    write_manifest(folder, manifest)
    write_durably(home / CURRENT, json.dumps({"build": folder.name}))
    clear_leftovers(home)
    return manifest


# What a patient says and what was labelled of it: eleven wordings, the first three of them twice.
SAID = [
    ("I get short of breath on the stairs.", "short of breath"),
    ("The cough keeps me awake.", "cough"),
    ("I had a temp last night.", "temp"),
    ("And my head hurts.", "head pain"),
    ("I feel sick in the morning.", "feeling sick"),
    ("This tiredness never goes.", "tiredness"),
    ("I sweat at night.", "sweats at night"),
    ("There is a pain in my chest.", "pain in the chest"),
    ("I am giddy when I stand up.", "giddy"),
    ("A rash came on Monday.", "rash"),
    ("My whatsit is odd.", "whatsit"),
]
AGAIN = 3


def make_values(project: Project, annotator: User, other: User | None = None) -> list[LabelSet]:
    """Two dialogues in which these are said and labelled, the second one with the first wordings only."""
    found = []
    for number, (person, said) in enumerate(((annotator, SAID), (other or annotator, SAID[:AGAIN])), start=1):
        turns = [turn for words, _ in said for turn in (("doctor", "What else?"), ("patient", words))]
        dialogue: Dialogue = factory.make_dialogue(project, f"VAL-{number}", [*turns, ("doctor", "Thank you.")])
        label_set = factory.make_label_set(dialogue, person)
        labels = [inform(2 * at + 1, "symptom", value, status="yes") for at, (_, value) in enumerate(said)]
        factory.make_labels(label_set, *labels)
        found.append(label_set)
    return found


def link(project: Project, *label_sets: LabelSet) -> None:
    """What the workers do: collect the values, find candidates and mentions."""
    for label_set in label_sets:
        label_set.refresh_from_db()
        label_set_collect(label_set=label_set)
    forms_link(project=project)
    mentions_find(project=project, seconds=60)


def form_of(project: Project, text: str) -> SurfaceForm:
    return SurfaceForm.objects.select_related("project").get(project=project, key=text)
