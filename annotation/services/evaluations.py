"""Evaluations from the upload to their scores, in the page or in a worker.

    queued → running → done
           ↘ cancelled, failed → queued (scored again)

A second scoring of a file that is cancelled or fails goes back to done, with the first one's scores. A run that another
has taken over from can no longer end the evaluation.

A step is one conditional update of the status. What was found is written in one transaction together with the last
step, so that an evaluation that is cut off has nothing, or what it had before.
"""

from __future__ import annotations

import hashlib
import logging
import shutil
import time
import uuid
from collections.abc import Iterable
from datetime import timedelta
from pathlib import Path
from typing import Any

from django.conf import settings
from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone
from kombu.exceptions import OperationalError

from annotation.domain.dataset_writing import DatasetError
from annotation.domain.prediction_files import is_dataset, utterance_lines
from annotation.domain.predictions import WrongFile, require_key
from annotation.models import EvaluatedTurn, Evaluation, EvaluationTask, JobStatus, Project, User
from annotation.services.errors import Refused
from annotation.services.evaluation_gold import (
    GoldChoice,
    ProjectGold,
    gold_sets,
    gold_stamp,
    gold_utterances,
    project_gold,
)
from annotation.services.evaluation_scoring import CHAT, Scored, comparator_named, score

logger = logging.getLogger(__name__)

STALLED_SECONDS = 60
BEAT_SECONDS = 1.0
_INLINE_BYTES = 512 * 2**10
_INLINE_LINES = 20_000
_PREDICTIONS = "predictions.jsonl"
_RUN = "run"  # in the options while it is scored: by whom
_ASKED = "asked"  # in the options: what a scoring that is not over yet is asked to go by instead


def evaluation_create(
    *,
    project: Project,
    actor: User,
    system: str,
    task: EvaluationTask,
    comparator: str,
    choice: GoldChoice,
    stored: Path,
    file_name: str,
    evaluation_id: uuid.UUID,
) -> Evaluation:
    """Take a file that was received (`stored`, in `evaluation_folder`) and score it: here when that is quick, by a
    worker otherwise. Raises Refused for a file that holds no predictions for the task, and where there is no gold."""
    system = " ".join(system.split())
    if not system:
        raise Refused("Name the system whose predictions these are.", field="system")
    comparator_named(comparator)
    utterances = gold_utterances(project=project, choice=choice)
    name = (file_name or _PREDICTIONS)[-255:]
    _refuse_other_files(stored, task, name)
    stored.rename(evaluation_folder(evaluation_id) / _PREDICTIONS)
    evaluation = Evaluation.objects.create(
        id=evaluation_id,
        project=project,
        created_by=actor,
        system=system[:100],
        task=task,
        file_name=name,
        options={**choice.as_json(), "comparator": comparator},
        **_measured(predictions_path(evaluation_id)),
    )
    quick = utterances <= settings.PORTAL_IMPORT_INLINE_UTTERANCES and _is_small(predictions_path(evaluation_id))
    if quick and comparator != CHAT:
        evaluation_run(evaluation=evaluation)
    else:
        _enqueue(evaluation)
    return evaluation


def evaluation_run(*, evaluation: Evaluation) -> None:
    """Score the file. Safe to call twice: one that is taken or over is left alone."""
    run = uuid.uuid4().hex
    options = {**evaluation.options, _RUN: run}
    if not _take(evaluation, [JobStatus.QUEUED], JobStatus.RUNNING, options=options) and not _take_over(
        evaluation, options
    ):
        return
    beat = _Beat(evaluation)
    try:
        options = _options_asked(evaluation)
        gold = project_gold(project=evaluation.project, choice=GoldChoice.from_json(options), tell=beat)
        with predictions_path(evaluation.pk).open("rb") as stream:
            scored = score(
                task=EvaluationTask(evaluation.task),
                dataset=gold.dataset,
                stream=stream,
                file=evaluation.file_name,
                comparator=comparator_named(options["comparator"], beat),
                tell=beat,
            )
        beat.look()
        _finish(evaluation, scored, gold, options)
    except _Cancelled:
        _end(evaluation, _stopped(evaluation), **_given_up(evaluation))
    except Exception as error:
        _fail(evaluation, error)


def evaluation_cancel(*, evaluation: Evaluation) -> None:
    """Stop the scoring: at once where nobody is at it, otherwise at the worker's next sign of life. Who has scores from
    before has them again."""
    waiting = [JobStatus.QUEUED, JobStatus.RUNNING] if stalled(evaluation) else [JobStatus.QUEUED]
    if _take(evaluation, waiting, _stopped(evaluation), **_given_up(evaluation)):
        return
    running = Evaluation.objects.filter(pk=evaluation.pk, status=JobStatus.RUNNING)
    if not running.update(cancel_requested=True):
        evaluation.refresh_from_db()
        state = JobStatus(evaluation.status).label
        raise Refused(f"There is nothing to cancel: this evaluation is {state}.")


def evaluation_again(*, evaluation: Evaluation, choice: GoldChoice | None = None, comparator: str = "") -> None:
    """Score the same file once more: against the gold as it is now or the export that it was scored against, or against
    another choice. Raises Refused, and leaves the scores, where there is no such gold.

    What is chosen anew takes the place of the old choice together with the new scores, so that a scoring that is
    stopped leaves both as they were.
    """
    if not may_run_again(evaluation):
        raise Refused(f"This evaluation is {JobStatus(evaluation.status).label}; wait until it is over.")
    asked = choice or GoldChoice.from_json(evaluation.options)
    if comparator:
        comparator_named(comparator)
    gold_utterances(project=evaluation.project, choice=asked)
    options = _settled(evaluation)
    if choice or comparator:
        options[_ASKED] = {**asked.as_json(), "comparator": comparator or options["comparator"]}
    given = {"error": "", "cancel_requested": False, "options": options}
    if not _take(evaluation, [JobStatus(evaluation.status)], JobStatus.QUEUED, **given):
        raise Refused("This evaluation has just been taken up again in another window.")
    _enqueue(evaluation)


def evaluation_delete(*, evaluation: Evaluation) -> None:
    """Delete an evaluation with its file. A worker that is at it notices when it wants to write."""
    folder = evaluation_folder(evaluation.pk)
    evaluation.delete()
    shutil.rmtree(folder, ignore_errors=True)


def evaluations_unfinished() -> list[Evaluation]:
    """Those that a worker should look at when it starts, in case their messages were lost with another one."""
    return list(Evaluation.objects.filter(status__in=[JobStatus.QUEUED, JobStatus.RUNNING]).order_by("created_at"))


def gold_has_changed(evaluation: Evaluation) -> bool:
    """Whether the project's gold is another one now than the one that was scored against. An export never changes."""
    return bool(outdated([evaluation]))


def outdated(evaluations: Iterable[Evaluation]) -> set[uuid.UUID]:
    """Those that are scored, against gold that has changed since."""
    stamps: dict[tuple[int, GoldChoice], str] = {}
    found = set()
    for one in evaluations:
        choice = GoldChoice.from_json(one.options)
        if choice.export or not one.gold:
            continue
        key = (one.project_id, choice)
        if key not in stamps:
            try:
                stamps[key] = gold_stamp(gold_sets(project=one.project, choice=choice), one.project)
            except Refused:
                stamps[key] = "no gold any more"
        if stamps[key] != one.gold.get("stamp"):
            found.add(one.pk)
    return found


def evaluation_folder(evaluation_id: uuid.UUID) -> Path:
    return Path(settings.PORTAL_EVALUATION_DIR) / str(evaluation_id)


def evaluation_folder_tidy(evaluation_id: uuid.UUID) -> None:
    """Delete what was received where no evaluation was made of it."""
    if not Evaluation.objects.filter(pk=evaluation_id).exists():
        shutil.rmtree(evaluation_folder(evaluation_id), ignore_errors=True)


def predictions_path(evaluation_id: uuid.UUID) -> Path:
    return evaluation_folder(evaluation_id) / _PREDICTIONS


def stalled(evaluation: Evaluation) -> bool:
    """Whether a running evaluation has not moved for a while: its worker was killed, or it is stuck."""
    late = timezone.now() - timedelta(seconds=STALLED_SECONDS)
    return evaluation.status == JobStatus.RUNNING and evaluation.changed_at < late


def may_run_again(evaluation: Evaluation) -> bool:
    return not JobStatus(evaluation.status).active or stalled(evaluation)


def _is_small(path: Path) -> bool:
    """Whether a file is scored while a person waits; one of a few bytes a line is not, however short."""
    if path.stat().st_size > _INLINE_BYTES:
        return False
    return path.read_bytes().count(b"\n") <= _INLINE_LINES


def _refuse_other_files(path: Path, task: EvaluationTask, name: str) -> None:
    """Raise Refused for what can be seen from the beginning of a file; the rest is found out when it is scored."""
    try:
        with path.open("rb") as stream:
            if is_dataset(stream) and path.stat().st_size > _INLINE_BYTES:
                return
            require_key(utterance_lines(stream, name), task.key, name)
    except WrongFile as error:
        if not error.holds:
            raise Refused(str(error), field="files") from error
        other = next(one for one in EvaluationTask if one.key == error.holds)
        raise Refused(
            f"{name} holds predictions for the task {other.label}; choose that task.", field="task"
        ) from error


def _measured(path: Path) -> dict[str, Any]:
    digest = hashlib.sha256()
    with path.open("rb") as stream:
        while chunk := stream.read(2**20):
            digest.update(chunk)
    return {"file_bytes": path.stat().st_size, "file_sha256": digest.hexdigest()}


def _enqueue(evaluation: Evaluation) -> None:
    """Tell the workers once it is stored. Without a broker it stays queued: a worker looks when it starts."""
    from annotation import tasks

    def send() -> None:
        try:
            tasks.run_evaluation.delay(str(evaluation.pk))
        except (OperationalError, OSError):
            logger.exception("Evaluation %s could not be handed to a worker", evaluation.pk)

    transaction.on_commit(send)


class _Cancelled(Exception):
    """Somebody wants the scoring to stop, has deleted the evaluation, or another run has taken it over."""


class _Beat:
    """Called now and then; about once a second it gives a sign of life, and raises _Cancelled where it is to stop."""

    def __init__(self, evaluation: Evaluation) -> None:
        self._evaluation = evaluation
        self._said = time.monotonic()

    def __call__(self) -> None:
        if time.monotonic() - self._said > BEAT_SECONDS:
            self.look()

    def look(self) -> None:
        self._said = time.monotonic()
        wanted = _of_run(self._evaluation).filter(cancel_requested=False)
        if not wanted.update(changed_at=timezone.now()):
            raise _Cancelled


@transaction.atomic
def _finish(evaluation: Evaluation, scored: Scored, gold: ProjectGold, options: dict[str, Any]) -> None:
    found = {"gold": gold.as_json(), "results": scored.results, "options": options, "error": ""}
    if not _end(evaluation, JobStatus.DONE, **found):
        return
    EvaluatedTurn.objects.filter(evaluation=evaluation).delete()
    EvaluatedTurn.objects.bulk_create(
        (
            EvaluatedTurn(
                evaluation=evaluation,
                utterance_id=gold.rows[turn.key],
                prediction=turn.prediction,
                wrong=turn.wrong,
                slots=turn.slots,
                found=turn.found,
            )
            for turn in scored.turns
            if turn.key in gold.rows  # an export may have dialogues that are not here any more
        ),
        batch_size=500,
    )


def _fail(evaluation: Evaluation, error: Exception) -> None:
    """Say on the evaluation what went wrong; whoever runs the portal finds the trace in the log."""
    if isinstance(error, Refused):
        sentence = error.message
    elif isinstance(error, WrongFile | DatasetError):
        sentence = str(error)
    elif isinstance(error, FileNotFoundError):
        sentence = "Its file is not on the portal any more; delete this evaluation and upload the file again."
    else:
        logger.error("Evaluation %s failed", evaluation.pk, exc_info=error)
        sentence = "The scoring stopped at an unexpected fault; tell whoever runs the portal."
    over = JobStatus.DONE if evaluation.results else JobStatus.FAILED  # the scores of before are still true
    _end(evaluation, over, error=sentence, options=_settled(evaluation))


def _take(evaluation: Evaluation, statuses: Iterable[JobStatus], to: JobStatus, **changes: Any) -> bool:
    """Move it to a status if it has one of `statuses`; `evaluation` then holds the new values."""
    return _change(Evaluation.objects.filter(pk=evaluation.pk, status__in=list(statuses)), evaluation, to, changes)


def _end(evaluation: Evaluation, to: JobStatus, **changes: Any) -> bool:
    """End it, unless another run has taken it over."""
    return _change(_of_run(evaluation), evaluation, to, changes)


def _of_run(evaluation: Evaluation) -> QuerySet[Evaluation]:
    """The evaluation, as long as it is that of the run that `evaluation` names."""
    run = evaluation.options.get(_RUN, "")
    return Evaluation.objects.filter(pk=evaluation.pk, status=JobStatus.RUNNING, options__run=run)


def _change(rows: QuerySet[Evaluation], evaluation: Evaluation, to: JobStatus, changes: dict[str, Any]) -> bool:
    changes = {"status": to, "changed_at": timezone.now(), **changes}
    if not rows.update(**changes):
        return False
    for name, value in changes.items():
        setattr(evaluation, name, value)
    return True


def _settled(evaluation: Evaluation) -> dict[str, Any]:
    """The options that its scores go by."""
    return {name: value for name, value in evaluation.options.items() if name not in (_ASKED, _RUN)}


def _options_asked(evaluation: Evaluation) -> dict[str, Any]:
    """The options that a scoring goes by."""
    return {**_settled(evaluation), **evaluation.options.get(_ASKED, {})}


def _given_up(evaluation: Evaluation) -> dict[str, Any]:
    return {"cancel_requested": False, "options": _settled(evaluation)}


def _stopped(evaluation: Evaluation) -> JobStatus:
    """What a scoring that is stopped leaves: the scores of an earlier one, or nothing."""
    return JobStatus.DONE if evaluation.results else JobStatus.CANCELLED


def _take_over(evaluation: Evaluation, options: dict[str, Any]) -> bool:
    """Take a running one from a worker that has not been heard of for a while."""
    late = timezone.now() - timedelta(seconds=STALLED_SECONDS)
    rows = Evaluation.objects.filter(pk=evaluation.pk, status=JobStatus.RUNNING, changed_at__lt=late)
    if not rows.update(options=options, changed_at=timezone.now()):
        return False
    evaluation.options = options
    return True
