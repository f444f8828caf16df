"""What an import would do, and the writing of dialogues."""

from __future__ import annotations

import pytest
from django.utils import timezone

from annotation.domain.dialogues import ParsedDialogue
from annotation.domain.labels import Utterance as UtteranceData
from annotation.domain.notices import Severity
from annotation.models import Dialogue, Project, Utterance
from annotation.services.errors import Refused
from annotation.services.imports import Fate, dialogues_import, plan
from tests import factory
from tests.uploads import source, talk

pytestmark = pytest.mark.django_db

# --------------------------------------------------------------------------- the plan


def test_a_plan_tells_new_from_same_from_clashing(project: Project) -> None:
    dialogues_import(project=project, files=[source("old.txt", talk("A"), talk("B"))], actor=None)
    planned = plan(project=project, files=[source("new.txt", talk("A"), talk("B", "Bad."), talk("C"))])
    assert {item.external_id: item.fate for item in planned.dialogues} == {
        "A": Fate.SAME,
        "B": Fate.CLASH,
        "C": Fate.NEW,
    }
    (error,) = planned.notices_of(Severity.ERROR)
    assert (error.file, error.dialogue) == ("new.txt", "B")
    assert "already has" in error.message


def test_a_plan_writes_nothing(project: Project) -> None:
    plan(project=project, files=[source("a.txt", talk("A"))])
    assert not Dialogue.objects.exists()


def test_other_projects_do_not_matter(project: Project) -> None:
    other = factory.make_project("Elsewhere")
    dialogues_import(project=other, files=[source("a.txt", talk("A", "Bad."))], actor=None)
    assert plan(project=project, files=[source("a.txt", talk("A"))]).counts()["new"] == 1


def test_one_id_with_other_turns_in_two_files_is_refused_twice_naming_both(project: Project) -> None:
    files = [source("one.txt", talk("A")), source("two.txt", talk("A", "Bad.")), source("three.txt", talk("B"))]
    planned = plan(project=project, files=files)
    assert [item.fate for item in planned.dialogues] == [Fate.CLASH, Fate.CLASH, Fate.NEW]
    (error,) = planned.notices_of(Severity.ERROR)
    assert '"one.txt"' in error.message
    assert '"two.txt"' in error.message


def test_the_same_dialogue_in_two_files_is_imported_once_and_said(project: Project) -> None:
    files = [source("one.txt", talk("A")), source("two.txt", talk("A"))]
    result = dialogues_import(project=project, files=files, actor=None)
    assert (result.created, len(result.errors)) == (1, 1)
    assert "imported once" in result.errors[0].message
    assert Dialogue.objects.get().source_name == "one.txt"


def test_a_speaker_whom_the_questionnaire_does_not_know_is_refused(project: Project) -> None:
    result = dialogues_import(
        project=project, files=[source("a.txt", talk("A", speaker="nurse"), talk("B"))], actor=None
    )
    assert [row.external_id for row in Dialogue.objects.all()] == ["B"]
    assert '"nurse"' in result.errors[0].message
    assert "patient" in result.errors[0].message


# --------------------------------------------------------------------------- the writing


def test_everything_that_was_read_is_stored(project: Project) -> None:
    turns = (
        UtteranceData(0, "doctor", "Any  pain?", ("pain",)),
        UtteranceData(1, "patient", "Nein \U0001f642 \u5934\u75db", warning="The mark was odd."),
    )
    dialogues_import(
        project=project, files=[source("x.txt", ParsedDialogue("X", turns, "cardiac", {"a": 1}))], actor=None
    )
    row = Dialogue.objects.get()
    assert (row.external_id, row.specialty, row.metadata) == ("X", "cardiac", {"a": 1})
    assert (row.source_name, row.source_hash, row.utterance_count) == ("x.txt", "ab" * 32, 2)
    assert row.fingerprint == ParsedDialogue("X", turns).fingerprint
    assert tuple(utterance.as_data() for utterance in row.utterances.all()) == turns


def test_importing_again_writes_nothing_and_counts_what_is_there(project: Project) -> None:
    files = [source("a.txt", talk("A"), talk("B", "One.", "Two."))]
    first = dialogues_import(project=project, files=files, actor=None)
    ids = set(Utterance.objects.values_list("pk", flat=True))
    second = dialogues_import(project=project, files=files, actor=None)
    assert (first.dialogues, first.created, first.same, first.utterances) == (2, 2, 0, 5)
    assert (second.dialogues, second.created, second.same, second.utterances) == (2, 0, 2, 5)
    assert set(Utterance.objects.values_list("pk", flat=True)) == ids


def test_a_dialogue_that_cannot_be_written_whole_is_not_written_at_all(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_turns = Utterance.objects.bulk_create

    def broken(rows: object) -> object:
        made = list(rows)  # type: ignore[call-overload]
        if made[0].dialogue.external_id == "B":
            write_turns(made[:1])
            raise OSError("disk full")
        return write_turns(made)

    monkeypatch.setattr(Utterance.objects, "bulk_create", broken)
    with pytest.raises(OSError, match="disk full"):
        dialogues_import(project=project, files=[source("a.txt", talk("A"), talk("B"))], actor=None)
    assert [row.external_id for row in Dialogue.objects.all()] == ["A"]
    assert Utterance.objects.count() == 2


def test_a_dialogue_that_somebody_else_wrote_meanwhile_counts_as_there(project: Project) -> None:
    files = [source("a.txt", talk("A"), talk("B"))]
    planned = plan(project=project, files=files)
    dialogues_import(project=project, files=[source("z.txt", talk("A"), talk("B", "Bad."))], actor=None)
    result = dialogues_import(project=project, files=files, actor=None, planned=planned)
    assert (result.created, result.same, len(result.errors)) == (0, 1, 1)


def test_an_import_stops_between_dialogues(project: Project) -> None:
    written: list[int] = []
    result = dialogues_import(
        project=project,
        files=[source("a.txt", talk("A"), talk("B"), talk("C"))],
        actor=None,
        progress=written.append,
        should_stop=lambda: len(written) == 2,
    )
    assert result.stopped
    assert written == [2, 2]
    assert Dialogue.objects.count() == 2


def test_an_archived_project_takes_nothing(project: Project) -> None:
    project.archived_at = timezone.now()
    with pytest.raises(Refused, match="archived"):
        dialogues_import(project=project, files=[source("a.txt", talk("A"))], actor=None)
