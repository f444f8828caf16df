"""Files with one utterance a row: JSON lines and CSV.

The rows of a dialogue stand together. A row that cannot be read may belong to the dialogue before or after it, so these
are left out with it, unless the row still names its dialogue.
"""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from annotation.domain.dialogue_checks import (
    RawDialogue,
    RawTurn,
    checked_dialogue,
    id_problem,
    kind_of,
    shortened_errors,
)
from annotation.domain.dialogues import ParsedDialogue
from annotation.domain.json_text import RepeatedKeys, parse_json, refuse_too_many_values
from annotation.domain.notices import Notice, Severity, quoted
from annotation.domain.speaker_marks import SpeakerMarks
from annotation.domain.text_decoding import UnreadableFile, numbered_lines

MAX_ROWS = 200_000
NEEDED = ("id", "speaker", "text")
OPTIONAL = ("uttr_id", "specialty", "keywords")
_DELIMITERS = (",", ";", "\t")
_ID_OF_BROKEN_LINE = re.compile(r'"id"\s*:\s*("(?:[^"\\]|\\.){1,200}")')


@dataclass(frozen=True, slots=True)
class Row:
    """One utterance's row; `dialogue` is "" where the row does not tell, `problem` says why it cannot be used."""

    line: int
    dialogue: str
    values: Mapping[str, Any] = field(default_factory=dict)
    problem: str = ""


@dataclass(frozen=True, slots=True)
class Header:
    """The first row of a CSV file: its line, the sign between the cells, and the names of the columns in lower case."""

    line: int
    delimiter: str
    columns: tuple[str, ...]


def jsonl_rows(text: str, file: str) -> Iterator[Row]:
    """The rows of JSON lines; raises `UnreadableFile` where all lines together are too much."""
    refuse_too_many_values(text, file)
    for number, line in numbered_lines(text):
        if not line.strip("\ufeff").strip():
            continue
        try:
            values = parse_json(line.strip("\ufeff"), file, first_line=number)
        except UnreadableFile as error:
            yield Row(number, _id_of_broken(line), problem=error.notice.message)
            continue
        if not isinstance(values, dict):
            message = f'The line is {kind_of(values)}; it must be an object with "id", "speaker" and "text".'
            yield Row(number, "", problem=message)
            continue
        yield _jsonl_row(number, values)


def _jsonl_row(number: int, values: dict[str, Any]) -> Row:
    dialogue = values.get("id")
    if isinstance(dialogue, int) and not isinstance(dialogue, bool):
        dialogue = str(dialogue)  # "115" is often written as a number
    if "id" not in values:
        return Row(number, "", problem='The line has no "id"; add the id of its dialogue.')
    if not isinstance(dialogue, str) or not dialogue.strip():
        shown = "empty" if isinstance(dialogue, str) else kind_of(dialogue)
        return Row(number, "", problem=f'The "id" is {shown}; it must be the id of the dialogue.')
    problem = ""
    if isinstance(values, RepeatedKeys):
        problem = f"The line gives {quoted(values.repeated[0])} twice; keep one."
    return Row(number, dialogue.strip(), values, problem)


def _id_of_broken(line: str) -> str:
    """The dialogue that a broken line of JSON still names."""
    found = _ID_OF_BROKEN_LINE.search(line)
    try:
        return str(json.loads(found[1])).strip() if found else ""
    except ValueError:
        return ""


def csv_header(text: str) -> Header | None:
    """The header, where the first row that is not empty names at least two of the columns `id`, `speaker`, `text`."""
    words = re.search(r"[^\s\ufeff]", text)
    number = text.count("\n", 0, words.start()) + 1 if words else 1
    first = text[words.start() :].split("\n", 1)[0] if words else ""
    best: tuple[int, Header | None] = (1, None)
    for delimiter in _DELIMITERS:
        try:
            cells = next(csv.reader([first], delimiter=delimiter), [])
        except csv.Error:
            continue
        columns = tuple(cell.strip().casefold() for cell in cells)
        score = len(set(columns) & set(NEEDED))
        if score > best[0]:
            best = (score, Header(number, delimiter, columns))
    return best[1]


def header_problem(header: Header) -> str:
    for name in NEEDED:
        if name not in header.columns:
            return f'The header lacks the column "{name}"; it must name {_listed(NEEDED)}.'
    for name in (*NEEDED, *OPTIONAL):
        if header.columns.count(name) > 1:
            return f'The header names the column "{name}" twice; keep one.'
    return ""


def csv_rows(text: str, header: Header) -> Iterator[Row]:
    stream = io.StringIO(text, newline="\n")
    for _ in range(header.line):
        stream.readline()
    reader = csv.reader(stream, delimiter=header.delimiter, strict=True)
    while True:
        line = header.line + reader.line_num + 1
        try:
            cells = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            what = "a quotation mark that is not closed, or not doubled inside a cell"
            if "limit" in str(error):
                what = (
                    f"a cell of more than {csv.field_size_limit():,} characters, perhaps by a quotation mark too many"
                )
            message = f"The row has {what}, and the file cannot be read from here on; correct it."
            yield Row(line, "", problem=message)
            return
        if any(cell.strip() for cell in cells):
            yield _csv_row(line, cells, header)


def _csv_row(line: int, cells: list[str], header: Header) -> Row:
    place = header.columns.index("id")
    dialogue = cells[place].strip() if place < len(cells) else ""
    if len(cells) != len(header.columns):
        message = (
            f"The row has {len(cells)} cells and the header {len(header.columns)}; "
            "put cells that contain the delimiter in quotation marks."
        )
        return Row(line, dialogue, problem=message)
    if not dialogue:
        return Row(line, "", problem='The "id" is empty; it must be the id of the dialogue.')
    values: dict[str, Any] = {name: cell for name, cell in zip(header.columns, cells, strict=True) if name}
    number = values.pop("uttr_id", "").strip()
    if number:
        values["uttr_id"] = int(number) if re.fullmatch(r"[0-9]{1,9}", number) else number
    keywords = re.split(r"[|;,]", values.get("keywords", ""))
    values["keywords"] = [word.strip() for word in keywords if word.strip()]
    return Row(line, dialogue, values)


@dataclass(slots=True)
class _Group:
    """The rows of one dialogue id so far. `neighbour` is the line of an unreadable row beside them."""

    rows: list[Row] = field(default_factory=list)
    errors: list[Notice] = field(default_factory=list)
    neighbour: int = 0


def dialogues_of_rows(
    rows: Iterable[Row], *, file: str, speakers: SpeakerMarks
) -> tuple[list[ParsedDialogue], list[Notice]]:
    """The dialogues whose rows are all good, in the order of the file, with the errors of the others."""
    groups, notices = _grouped(rows, file)
    dialogues: list[ParsedDialogue] = []
    for dialogue_id, group in groups.items():
        dialogue, said = _dialogue(dialogue_id, group, file, speakers)
        notices += said
        if dialogue is not None:
            dialogues.append(dialogue)
    if ignored := sorted({key for group in groups.values() for row in group.rows for key in row.values} - _KNOWN):
        names = _listed(ignored[:5]) + ("" if len(ignored) <= 5 else f" and {len(ignored) - 5} more")
        notices.append(Notice(Severity.NOTE, file, 0, f"Not read, because a dialogue has no place for it: {names}."))
    return dialogues, notices


def _grouped(rows: Iterable[Row], file: str) -> tuple[dict[str, _Group], list[Notice]]:
    groups: dict[str, _Group] = {}
    notices: list[Notice] = []
    current, unreadable = "", 0  # the dialogue of the row before; the line of an unreadable row since
    for count, row in enumerate(rows, 1):
        if count > MAX_ROWS:
            message = f"The file has more than {MAX_ROWS:,} rows; split it."
            return {}, [Notice(Severity.ERROR, file, row.line, message)]
        if not row.dialogue:
            notices.append(Notice(Severity.ERROR, file, row.line, row.problem))
            if current:
                groups[current].neighbour = groups[current].neighbour or row.line
            unreadable = unreadable or row.line
            continue
        if row.dialogue in groups and row.dialogue != current:
            message = f"Dialogue {quoted(row.dialogue)} is in the file twice: it begins again here, after another one."
            groups[row.dialogue].errors.append(_error(file, row, message))
        group = groups.setdefault(row.dialogue, _Group())
        group.neighbour = group.neighbour or unreadable
        if row.problem:
            group.errors.append(_error(file, row, row.problem))
        group.rows.append(row)
        current, unreadable = row.dialogue, 0
    return groups, notices


def _dialogue(
    dialogue_id: str, group: _Group, file: str, speakers: SpeakerMarks
) -> tuple[ParsedDialogue | None, list[Notice]]:
    first = group.rows[0].line
    if group.errors:
        return None, shortened_errors(group.errors)
    if group.neighbour:
        shown = quoted(dialogue_id)
        message = f"Dialogue {shown} is left out, because line {group.neighbour} cannot be read and may belong to it."
        return None, [_error(file, group.rows[0], message)]
    stated = [row for row in group.rows if row.values.get("specialty")]
    turns = [RawTurn(row.values, row.line) for row in group.rows]
    specialty = stated[0].values["specialty"] if stated else ""
    for row in stated:
        if row.values["specialty"] != specialty:
            message = f"Dialogue {quoted(dialogue_id)} has another specialty here than before; give it one."
            return None, [_error(file, row, message)]
    return checked_dialogue(RawDialogue(dialogue_id, turns, specialty), file=file, speakers=speakers, line=first)


def _error(file: str, row: Row, message: str) -> Notice:
    known = "" if id_problem(row.dialogue) else row.dialogue  # an unfit id may hold what no database stores
    return Notice(Severity.ERROR, file, row.line, message, known)


def _listed(names: Iterable[str]) -> str:
    return ", ".join(quoted(name, 30) for name in names)


_KNOWN = {*NEEDED, *OPTIONAL}
