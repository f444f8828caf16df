"""Raw transcripts: lines that open with `D:` or `P:` are turns, the lines after them continue the turn.

No word is lost: the words of the file are the marks (see `speaker_marks`) and the words of the turns, in order.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import islice

from annotation.domain.dialogue_checks import (
    MAX_UTTERANCES,
    id_problem,
    shortened_errors,
    silent_speakers,
    specialty_of,
    text_problem,
    too_many_utterances,
)
from annotation.domain.dialogues import ParsedDialogue
from annotation.domain.labels import Utterance
from annotation.domain.notices import Notice, Severity, quoted
from annotation.domain.speaker_marks import (
    DEFAULT_SPEAKERS,
    Before,
    Mark,
    Oddity,
    SpeakerMarks,
    counts,
    mark_of,
    possible_label,
    unknown_label,
)
from annotation.domain.text_decoding import numbered_lines

MAX_LINES = 200_000

__all__ = ["DEFAULT_SPEAKERS", "SpeakerMarks", "has_marks", "read_transcript", "specialty_of"]


def read_transcript(
    text: str, *, file: str, external_id: str, speakers: SpeakerMarks = DEFAULT_SPEAKERS
) -> tuple[ParsedDialogue | None, list[Notice]]:
    """The dialogue with notices; None where one of them is an error.

    `text` has LF line ends. The text of a turn is what follows its mark, stripped at both ends, its lines joined by one
    space, everything else as it is. An empty turn is kept with the text "". Errors: an id that is not allowed, words
    before the first turn, a speaker nobody knows, a turn or dialogue over the limits, no turn at all.
    Warnings (also on the utterance they are about): marks written oddly, lines that could be a mark and were read as
    words, empty turns. Others: fewer than two people speak. A note counts the lines that were joined.
    """
    if problem := id_problem(external_id):
        return None, [Notice(Severity.ERROR, file, 0, problem)]
    reader = _Reader(file, external_id, speakers)
    for number, line in numbered_lines(text):
        # Form feeds, vertical tabs, U+2028 and the like end a line of a transcript, but have no number of their own.
        for part in line.splitlines() or [""]:
            reader.read(part, number)
        if len(reader.turns) > MAX_UTTERANCES:
            return None, [too_many_utterances(file, external_id, number)]
        if number > MAX_LINES:
            message = f"The transcript has more than {MAX_LINES:,} lines; split it into several files."
            return None, [Notice(Severity.ERROR, file, number, message, external_id)]
    return reader.result()


def has_marks(text: str, speakers: SpeakerMarks = DEFAULT_SPEAKERS) -> bool:
    """Whether any line begins with a speaker's mark."""
    lines = islice(numbered_lines(text), MAX_LINES)
    marks = (mark_of(part, speakers) for _, line in lines for part in line.splitlines())
    return any(mark is not None and mark.oddity is not Oddity.BARE for mark in marks)


@dataclass(slots=True)
class _Turn:
    speaker: str
    line: int
    lines: list[str]
    warnings: list[str] = field(default_factory=list)


@dataclass(slots=True)
class _Reader:
    """Takes the lines in order and keeps the turns read so far."""

    file: str
    external_id: str
    speakers: SpeakerMarks
    turns: list[_Turn] = field(default_factory=list)
    notices: list[Notice] = field(default_factory=list)
    before: Before = field(default_factory=Before)
    joined: int = 0
    strays: list[tuple[int, str]] = field(default_factory=list)  # lines before the first turn
    strangers: dict[str, list[int]] = field(default_factory=dict)  # the lines of every unknown label

    def read(self, line: str, number: int) -> None:
        mark = mark_of(line, self.speakers)
        if not line.strip("\ufeff").strip():
            self.before = Before(self.before.speaker, empty_line=True)
            return
        if mark is not None and counts(mark, self.before):
            self.turns.append(_Turn(mark.speaker, number, [mark.text]))
            if mark.oddity is not Oddity.NONE:
                self.warn(number, _odd_mark(mark))
        elif mark is None and (label := unknown_label(line)):
            self.strangers.setdefault(label, []).append(number)
        elif not self.turns:
            self.strays.append((number, line))
        else:
            self.turns[-1].lines.append(line.strip())
            self.joined += 1
            self.warn_of_lookalikes(mark, line, number)
        speaker = self.turns[-1].speaker if self.turns else ""
        self.before = Before(speaker, empty_line=False, line=line)

    def warn_of_lookalikes(self, mark: Mark | None, line: str, number: int) -> None:
        """A warning where a line that was joined to a turn could be a turn of its own."""
        label = mark.read if mark is not None and mark.letter.isupper() else possible_label(line)
        if label:
            who = self.turns[-1].speaker
            message = (
                f"{quoted(label)} was read as words of the {who}'s turn; if somebody else speaks here, mark the line."
            )
            self.warn(number, message)

    def warn(self, number: int, message: str) -> None:
        self.turns[-1].warnings.append(message)
        self.notices.append(Notice(Severity.WARNING, self.file, number, message, self.external_id))

    def result(self) -> tuple[ParsedDialogue | None, list[Notice]]:
        utterances = [self._utterance(position, turn) for position, turn in enumerate(self.turns)]
        errors = self._structural_errors() + [item for item in self.notices if item.severity is Severity.ERROR]
        if errors:
            return None, shortened_errors(sorted(errors, key=lambda error: error.line))
        if self.joined:
            lines = "1 line was" if self.joined == 1 else f"{self.joined:,} lines were"
            message = f"{lines} joined to the turn before, because turns are wrapped over lines."
            self.notices.append(Notice(Severity.NOTE, self.file, 0, message, self.external_id))
        self.notices += silent_speakers(utterances, self.file, self.external_id)
        dialogue = ParsedDialogue(self.external_id, tuple(utterances), specialty_of(self.external_id))
        return dialogue, sorted(self.notices, key=lambda notice: (notice.line == 0, notice.line))

    def _utterance(self, position: int, turn: _Turn) -> Utterance:
        text = " ".join(part for part in turn.lines if part)
        if problem := text_problem(text):
            message = f"The turn that begins here {problem}."
            self.notices.append(Notice(Severity.ERROR, self.file, turn.line, message, self.external_id))
        if not text:
            message = f"The {turn.speaker} says nothing here; the turn is kept without words."
            turn.warnings.append(message)
            self.notices.append(Notice(Severity.WARNING, self.file, turn.line, message, self.external_id))
        return Utterance(position, turn.speaker, text, warning=" ".join(turn.warnings))

    def _structural_errors(self) -> list[Notice]:
        known = self.speakers.listed()
        errors = []
        for label, lines in self.strangers.items():
            more = f" (and {len(lines) - 1:,} more lines)" if len(lines) > 1 else ""
            message = (
                f"The speaker {quoted(label)}{more} is not known; known are {known}: "
                "change the mark, or join the line to the turn before if it is no speaker."
            )
            errors.append(self._error(lines[0], message))
        if not self.turns and not self.strangers:
            line = self.strays[0][0] if self.strays else 0
            errors.append(self._error(line, f"No line begins with a speaker; begin every turn with one of {known}."))
        elif self.strays:
            number, words = self.strays[0]
            message = f"{quoted(words.strip(), 40)} stands before the first turn; remove it or begin it with {known}."
            errors.append(self._error(number, message))
        return errors

    def _error(self, line: int, message: str) -> Notice:
        return Notice(Severity.ERROR, self.file, line, message, self.external_id)


def _odd_mark(mark: Mark) -> str:
    if mark.oddity is Oddity.BARE:
        how = f"{quoted(mark.read)}, which has no colon, was read as the {mark.speaker}'s mark"
    else:
        how = f"{quoted(mark.read)} was read as the {mark.speaker}'s mark"
    return f"{how}, with the words {quoted(mark.text, 40)}; check the turn."
