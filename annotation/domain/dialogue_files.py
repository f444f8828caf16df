"""A file's bytes as dialogues: the format is recognised by what is in the file, and nothing is read by halves.

| format            | recognised by                                                   |
|-------------------|-----------------------------------------------------------------|
| `portal dialogue` | a JSON object with `dlg_id` or `utterances`                     |
| `dataset`         | a JSON object whose values are objects with `utterances`        |
| `jsonl`           | one JSON object a line, with `id`, `speaker`, `text`            |
| `csv`             | a first row that names two of the columns `id` `speaker` `text` |
| `transcript`      | everything else that is text                                    |
"""

from __future__ import annotations

from itertools import islice
from pathlib import PurePosixPath
from typing import Any

from annotation.domain.dialogue_checks import (
    MAX_UTTERANCES,
    RawDialogue,
    RawTurn,
    checked_dialogue,
    id_problem,
    kind_of,
    too_many_utterances,
)
from annotation.domain.dialogue_tables import csv_header, csv_rows, dialogues_of_rows, header_problem, jsonl_rows
from annotation.domain.dialogues import ParsedDialogue, ParsedFile
from annotation.domain.json_text import RepeatedKeys, parse_json, refuse_too_many_values
from annotation.domain.notices import Notice, Severity, quoted
from annotation.domain.speaker_marks import DEFAULT_SPEAKERS, SpeakerMarks
from annotation.domain.text_decoding import UnreadableFile, decode, encoding_notice, numbered_lines
from annotation.domain.transcripts import has_marks, read_transcript

MAX_FILE_BYTES = 20 * 1024 * 1024
MAX_NOTICES = 1_000  # of one file
TRANSCRIPT = "transcript"
PORTAL_DIALOGUE = "portal dialogue"
DATASET = "dataset"
JSONL = "jsonl"
CSV = "csv"

_LABEL_KEYS = ("nlu", "dialog_state", "actions")  # what a dataset says of an utterance beyond its words
_FIRST_LINES = 50  # looked at to tell JSON lines from one broken JSON text
_EXPECTED = (
    'expected is a dialogue ({"dlg_id": …, "utterances": […]}), a dataset ({"<id>": {"utterances": […]}}) '
    'or one {"id": …, "speaker": …, "text": …} a line'
)

_Read = tuple[list[ParsedDialogue], list[Notice]]


def read_dialogue_file(
    data: bytes, name: str, *, speakers: SpeakerMarks = DEFAULT_SPEAKERS, max_bytes: int = MAX_FILE_BYTES
) -> ParsedFile:
    """The dialogues of the file and everything that is to be said about it; never raises for what is in the file.

    `name` is shown in notices; its last part without the suffix is the id of a raw transcript. A dialogue with an error
    is left out, the others of the file are kept. A file over `max_bytes` is refused unread.
    """
    file = name.encode("utf-8", "replace").decode("utf-8")
    if len(data) > max_bytes:
        return _refused(file, _error(file, f"The file has {_mib(len(data))}; at most {_mib(max_bytes)} are read."))
    try:
        text, encoding = decode(data, file)
    except UnreadableFile as error:
        return _refused(file, error.notice)
    guessed = encoding_notice(text, encoding, file)
    notices = [guessed] if guessed else []
    form = ""
    try:
        form, document = recognise(text, file, speakers)
        dialogues, said = _READERS[form](text, document, file, speakers)
    except UnreadableFile as error:
        dialogues, said = [], [error.notice]
    return ParsedFile(file, form, encoding, tuple(dialogues), _limited([*notices, *said], file))


def recognise(text: str, file: str, speakers: SpeakerMarks = DEFAULT_SPEAKERS) -> tuple[str, Any]:
    """(format, what was parsed on the way to it); raises `UnreadableFile` where the text is none of the formats."""
    start = text.lstrip("\ufeff").lstrip()
    if start.startswith(("{", "[")) and not (start.startswith("[") and has_marks(text, speakers)):
        return _recognise_json(text.lstrip("\ufeff"), file)
    if header := csv_header(text):
        return CSV, header
    suffix = PurePosixPath(file).suffix.casefold()
    if suffix in (".csv", ".tsv") and not has_marks(text, speakers):
        message = 'The first row must name the columns "id", "speaker" and "text"; add it.'
        raise UnreadableFile(_error(file, message, 1))
    if suffix in (".json", ".jsonl") and not has_marks(text, speakers):
        raise UnreadableFile(_error(file, f"The file is not JSON, in spite of its name; {_EXPECTED}.", 1))
    return TRANSCRIPT, None


def _recognise_json(text: str, file: str) -> tuple[str, Any]:
    refuse_too_many_values(text, file)
    try:
        document = parse_json(text, file)
    except UnreadableFile:
        if _has_whole_lines(text):
            return JSONL, None
        raise
    if not isinstance(document, dict):
        labels = any(isinstance(item, dict) and "intent" in item for item in document)
        hint = "import it as labels of a dialogue" if labels else _EXPECTED
        what = "a file of labels, not of dialogues" if labels else "a list of another shape"
        raise UnreadableFile(_error(file, f"The JSON is {what}; {hint}."))
    if "dlg_id" in document or not isinstance(document.get("utterances", {}), dict):
        return PORTAL_DIALOGUE, document
    if len(document.keys() & {"id", "speaker", "text"}) > 1:
        return JSONL, None
    if any(isinstance(value, dict) and "utterances" in value for value in document.values()):
        return DATASET, document
    raise UnreadableFile(_error(file, f"The JSON is an object of another shape; {_EXPECTED}."))


def _has_whole_lines(text: str) -> bool:
    """Whether the text is JSON lines: one of the first lines is a whole object by itself."""
    if not text.lstrip().startswith("{"):
        return False
    lines = (line for _, line in numbered_lines(text) if line.strip())
    for line in islice(lines, _FIRST_LINES):
        try:
            if line.startswith("{") and isinstance(parse_json(line, ""), dict):
                return True
        except UnreadableFile:
            continue
    return False


def _read_transcript(text: str, _: Any, file: str, speakers: SpeakerMarks) -> _Read:
    external_id = PurePosixPath(file.replace("\\", "/")).stem
    dialogue, notices = read_transcript(text, file=file, external_id=external_id, speakers=speakers)
    return ([dialogue] if dialogue else []), notices


def _read_portal_dialogue(_: str, document: dict[str, Any], file: str, speakers: SpeakerMarks) -> _Read:
    if isinstance(document, RepeatedKeys):
        return [], [_error(file, f"The file gives {quoted(document.repeated[0])} twice; keep one.")]
    if "dlg_id" not in document:
        return [], [_error(file, 'The dialogue has no "dlg_id"; add its id.', key="dlg_id")]
    dialogue_id = document["dlg_id"]
    if isinstance(dialogue_id, int) and not isinstance(dialogue_id, bool):
        dialogue_id = str(dialogue_id)
    if not isinstance(dialogue_id, str):
        message = f'The "dlg_id" is {kind_of(dialogue_id)}; it must be text in quotation marks.'
        return [], [_error(file, message, key="dlg_id")]
    known = {"dlg_id", "utterances", "specialty"}
    dialogue, notices = _json_dialogue(dialogue_id, document, file, speakers, key="")
    if ignored := sorted(document.keys() - known):
        notices.append(_note(file, f"Not read, because a dialogue has no place for it: {_listed(ignored)}."))
    return ([dialogue] if dialogue else []), notices


def _read_dataset(_: str, document: dict[str, Any], file: str, speakers: SpeakerMarks) -> _Read:
    dialogues: list[ParsedDialogue] = []
    notices: list[Notice] = []
    twice = {name.strip() for name in getattr(document, "repeated", ())}
    seen: set[str] = set()
    for name in document:  # ids that differ by spaces only are the same id
        twice |= {name.strip()} & seen
        seen.add(name.strip())
    for name, entry in document.items():
        if name.strip() in twice:
            continue
        dialogue, said = _json_dialogue(name, entry, file, speakers, key=name)
        notices += said
        if dialogue:
            dialogues.append(dialogue)
    for name in sorted(twice):
        message = f"Dialogue {quoted(name)} is in the file twice; keep one."
        notices.append(_error(file, message, key=quoted(name)[1:-1]))
    return dialogues, notices


def _json_dialogue(
    name: str, entry: Any, file: str, speakers: SpeakerMarks, *, key: str
) -> tuple[ParsedDialogue | None, list[Notice]]:
    """One object with `utterances`; `key` is its own key in the file, "" for the whole file."""
    dialogue_id = name.strip()
    place = quoted(key)[1:-1] if key else ""
    turns_key = f"{place}.utterances" if place else "utterances"
    if not isinstance(entry, dict) or not isinstance(entry.get("utterances"), list):
        found = "an object without it" if isinstance(entry, dict) and "utterances" not in entry else "another shape"
        message = f'Dialogue {quoted(dialogue_id)} must be an object with a list of "utterances", and this is {found}.'
        return None, [_error(file, message, key=turns_key)]
    if isinstance(entry, RepeatedKeys):
        message = f"Dialogue {quoted(dialogue_id)} gives {quoted(entry.repeated[0])} twice; keep one."
        return None, [_error(file, message, key=place)]
    if len(entry["utterances"]) > MAX_UTTERANCES:
        return None, [too_many_utterances(file, "" if id_problem(dialogue_id) else dialogue_id, key=turns_key)]
    turns = [RawTurn(turn, key=f"{turns_key}[{index}]") for index, turn in enumerate(entry["utterances"])]
    raw = RawDialogue(dialogue_id, turns, entry.get("specialty", ""), numbered=True)
    dialogue, notices = checked_dialogue(raw, file=file, speakers=speakers, key=place)
    if dialogue and any(key in turn.values for turn in turns for key in _LABEL_KEYS):
        message = "The labels of the dialogue are not read here, only its utterances."
        notices.append(Notice(Severity.NOTE, file, 0, message, dialogue_id, place))
    return dialogue, notices


def _read_jsonl(text: str, _: Any, file: str, speakers: SpeakerMarks) -> _Read:
    return dialogues_of_rows(jsonl_rows(text, file), file=file, speakers=speakers)


def _read_csv(text: str, header: Any, file: str, speakers: SpeakerMarks) -> _Read:
    if problem := header_problem(header):
        return [], [_error(file, problem, header.line)]
    dialogues, notices = dialogues_of_rows(csv_rows(text, header), file=file, speakers=speakers)
    if not dialogues and not notices:
        notices = [_error(file, "The file has a header and no rows; add the utterances.", header.line)]
    return dialogues, notices


_READERS = {
    TRANSCRIPT: _read_transcript,
    PORTAL_DIALOGUE: _read_portal_dialogue,
    DATASET: _read_dataset,
    JSONL: _read_jsonl,
    CSV: _read_csv,
}


def _limited(notices: list[Notice], file: str) -> tuple[Notice, ...]:
    """Errors and warnings first where there are too many to be read, and their number in the place of the rest."""
    if len(notices) <= MAX_NOTICES:
        return tuple(notices)
    order = [Severity.ERROR, Severity.WARNING, Severity.NOTE]
    kept = sorted(notices, key=lambda notice: order.index(notice.severity))[: MAX_NOTICES - 1]
    worst = Severity.ERROR if kept[-1].severity is Severity.ERROR else Severity.WARNING
    rest = len(notices) - len(kept)
    return (*kept, Notice(worst, file, 0, f"{rest:,} more remarks on this file are not shown; correct these first."))


def _refused(file: str, notice: Notice) -> ParsedFile:
    return ParsedFile(file, "", "", (), (notice,))


def _error(file: str, message: str, line: int = 0, key: str = "") -> Notice:
    return Notice(Severity.ERROR, file, line, message, key=key)


def _note(file: str, message: str) -> Notice:
    return Notice(Severity.NOTE, file, 0, message)


def _listed(names: list[str]) -> str:
    return ", ".join(quoted(name, 30) for name in names[:5]) + (f" and {len(names) - 5} more" if len(names) > 5 else "")


def _mib(size: int) -> str:
    return f"{size:,} bytes" if size < 1024 * 1024 else f"{size / 1024 / 1024:,.1f} MiB"
