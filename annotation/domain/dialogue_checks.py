"""What holds for every dialogue, whatever file it comes from: its id, its speakers, its utterances, its size."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from annotation.domain.dialogues import ParsedDialogue
from annotation.domain.json_text import RepeatedKeys
from annotation.domain.labels import Utterance
from annotation.domain.notices import Notice, Severity, quoted
from annotation.domain.speaker_marks import SpeakerMarks

MAX_ID_LENGTH = 100
MAX_TEXT_LENGTH = 20_000  # characters of one utterance
MAX_UTTERANCES = 5_000  # of one dialogue
MAX_ERRORS = 5  # reported of one dialogue; the rest is counted
CONTROL = "control"  # the closing turn of a portal dialogue, spoken by nobody

_SPECIALTIES = {
    "RES": "respiratory",
    "MSK": "musculoskeletal",
    "CAR": "cardiac",
    "DER": "dermatology",
    "GAS": "gastrointestinal",
}
# Spaces without width and marks that turn the writing direction: two ids would look the same, or one like another.
_HIDDEN = re.compile("[\u00ad\u061c\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff]")
_SPECIALTY_CODE = re.compile(rf"(?<![A-Za-z])({'|'.join(_SPECIALTIES)})(?![A-Za-z])")


@dataclass(frozen=True, slots=True)
class RawTurn:
    """An utterance as the file gives it. `line` counts from 1 (0 in JSON), `key` is its place in JSON."""

    values: Any
    line: int = 0
    key: str = ""


@dataclass(frozen=True, slots=True)
class RawDialogue:
    """A dialogue before its checks; `numbered` says that the format demands a `uttr_id` of every utterance."""

    external_id: str
    turns: Sequence[RawTurn]
    specialty: Any = ""
    numbered: bool = False


def specialty_of(external_id: str) -> str:
    """The specialty that an id names by its code (`RES0001`, `DEMO-MSK-02`), "" where it names none."""
    found = _SPECIALTY_CODE.search(external_id)
    return _SPECIALTIES[found.group(1)] if found else ""


def id_problem(external_id: str) -> str:
    """What is wrong with a dialogue's id, in one sentence; "" when nothing is."""
    if not external_id.strip() or external_id in (".", ".."):
        return "The dialogue has no id; give it one."
    if len(external_id) > MAX_ID_LENGTH:
        shown = quoted(external_id, 30)
        return f"The dialogue id {shown} has {len(external_id)} characters; at most {MAX_ID_LENGTH} are allowed."
    if any(unicodedata.category(sign) in ("Cc", "Cs", "Zl", "Zp") for sign in external_id):
        return f"The dialogue id {quoted(external_id)} holds a control character; remove it."
    if _HIDDEN.search(external_id):
        return f"The dialogue id {quoted(external_id)} holds a character that cannot be seen; remove it."
    if "/" in external_id:
        return f'The dialogue id {quoted(external_id)} holds a "/"; use another sign.'
    return ""


def text_problem(text: str) -> str:
    """What is wrong with an utterance's text (or a keyword), as the end of a sentence; "" when nothing is."""
    if len(text) > MAX_TEXT_LENGTH:
        return f"has {len(text):,} characters; at most {MAX_TEXT_LENGTH:,} are allowed in one utterance"
    if "\0" in text:
        return "holds a NUL character; remove it"
    if re.search("[\ud800-\udfff]", text):
        return "holds half of a character (a lone surrogate); write the whole character"
    return ""


def too_many_utterances(file: str, external_id: str, line: int = 0, key: str = "") -> Notice:
    message = f"The dialogue has more than {MAX_UTTERANCES:,} utterances; split it into several dialogues."
    return Notice(Severity.ERROR, file, line, message, external_id, key)


def checked_dialogue(
    raw: RawDialogue, *, file: str, speakers: SpeakerMarks, line: int = 0, key: str = ""
) -> tuple[ParsedDialogue | None, list[Notice]]:
    """The dialogue, or None where anything in it is wrong (all or nothing), with what is to be said about it."""
    dialogue_id = raw.external_id
    if problem := id_problem(dialogue_id):
        return None, [Notice(Severity.ERROR, file, line, problem, key=key)]
    if not raw.turns:
        message = f"Dialogue {quoted(dialogue_id)} has no utterances; add them or remove the dialogue."
        return None, [Notice(Severity.ERROR, file, line, message, dialogue_id, key)]
    if len(raw.turns) > MAX_UTTERANCES:
        return None, [too_many_utterances(file, dialogue_id, line, key)]
    utterances, notices = _utterances(raw, file, speakers)
    specialty, problem = _specialty(raw)
    if problem:
        notices.append(Notice(Severity.ERROR, file, line, problem, dialogue_id, key))
    if any(notice.severity is Severity.ERROR for notice in notices):
        return None, shortened_errors(notices)
    notices += silent_speakers(utterances, file, dialogue_id)
    return ParsedDialogue(dialogue_id, tuple(utterances), specialty), notices


def _utterances(raw: RawDialogue, file: str, speakers: SpeakerMarks) -> tuple[list[Utterance], list[Notice]]:
    """The good utterances, an error for each bad one, and a warning for each that has no words."""
    utterances: list[Utterance] = []
    notices: list[Notice] = []
    for position, turn in enumerate(raw.turns):
        try:
            utterance = _utterance(position, turn.values, numbered=raw.numbered, speakers=speakers)
        except _Problem as problem_found:
            place = ".".join(part for part in (turn.key, problem_found.key) if part) if turn.key else ""
            notices.append(Notice(Severity.ERROR, file, turn.line, str(problem_found), raw.external_id, place))
            continue
        if not utterance.text.strip():
            message = f"Utterance {position} has no words; it is kept as an empty turn."
            utterance = replace(utterance, warning=message)
            notices.append(Notice(Severity.WARNING, file, turn.line, message, raw.external_id, turn.key))
        utterances.append(utterance)
    return utterances, notices


def shortened_errors(notices: Iterable[Notice]) -> list[Notice]:
    """The first errors of one dialogue that is left out, and one more that counts the others."""
    errors = [notice for notice in notices if notice.severity is Severity.ERROR]
    if len(errors) <= MAX_ERRORS:
        return errors
    count = len(errors) - MAX_ERRORS
    more = "is 1 more problem" if count == 1 else f"are {count:,} more problems"
    message = f"There {more} in this dialogue from here on; correct the first ones and try again."
    return [*errors[:MAX_ERRORS], replace(errors[MAX_ERRORS], message=message)]


def silent_speakers(utterances: Iterable[Utterance], file: str, external_id: str) -> list[Notice]:
    """A warning where fewer than two people say something."""
    heard = {turn.speaker for turn in utterances if turn.text.strip()} - {CONTROL}
    if len(heard) > 1:
        return []
    who = f"Only the {heard.pop()} speaks" if heard else "Nobody says a word"
    message = f"{who} in dialogue {quoted(external_id)}; check that the speakers are marked as they should be."
    return [Notice(Severity.WARNING, file, 0, message, external_id)]


class _Problem(ValueError):
    """One thing that is wrong with an utterance; `key` is the key at fault."""

    def __init__(self, message: str, key: str = "") -> None:
        super().__init__(message)
        self.key = key


def _utterance(position: int, values: Any, *, numbered: bool, speakers: SpeakerMarks) -> Utterance:
    """The checked utterance; raises `_Problem`."""
    name = f"Utterance {position}"
    if not isinstance(values, Mapping):
        raise _Problem(f'{name} is not an object; write {{"speaker": …, "text": …}}.')
    if isinstance(values, RepeatedKeys):
        raise _Problem(f"{name} gives {quoted(values.repeated[0])} twice; keep one.", values.repeated[0])
    for key in ("speaker", "text", "uttr_id") if numbered else ("speaker", "text"):
        if key not in values:
            raise _Problem(f'{name} has no "{key}"; add it.', key)
    text = _string(values["text"], "text", name)
    if problem := text_problem(text):
        raise _Problem(f"The text of utterance {position} {problem}.", "text")
    speaker = _speaker(_string(values["speaker"], "speaker", name), name, speakers)
    if "uttr_id" in values:
        _check_number(values["uttr_id"], position)
    return Utterance(position, speaker, text, _keywords(values.get("keywords"), name))


def _string(value: Any, key: str, name: str) -> str:
    if not isinstance(value, str):
        raise _Problem(f'The "{key}" of {name.lower()} is {kind_of(value)}; it must be text in quotation marks.', key)
    return value


def _speaker(mark: str, name: str, speakers: SpeakerMarks) -> str:
    known = speakers.speaker(mark.strip())
    if known:
        return known
    if mark.strip().casefold() == CONTROL:
        return CONTROL
    message = f'{name} has the unknown speaker {quoted(mark, 30)}; known are {speakers.listed()} and "{CONTROL}".'
    raise _Problem(message, "speaker")


def _check_number(number: Any, position: int) -> None:
    if isinstance(number, bool) or not isinstance(number, int):
        message = f'The "uttr_id" of utterance {position} is {kind_of(number)}; it must be the number {position}.'
        raise _Problem(message, "uttr_id")
    if number != position:
        message = f'Utterance {position} has "uttr_id" {number}; they must be 0, 1, 2, … in the order of the dialogue.'
        raise _Problem(message, "uttr_id")


def _keywords(keywords: Any, name: str) -> tuple[str, ...]:
    if keywords is None:
        return ()
    if not isinstance(keywords, list) or not all(isinstance(word, str) for word in keywords):
        raise _Problem(f'The "keywords" of {name.lower()} are not a list of words; write ["…", "…"].', "keywords")
    for word in keywords:
        if problem := text_problem(word):
            raise _Problem(f"A keyword of {name.lower()} {problem}.", "keywords")
    return tuple(keywords)


def _specialty(raw: RawDialogue) -> tuple[str, str]:
    """(the stated specialty, or the one that the id names; what is wrong with it)."""
    stated = raw.specialty
    if stated is None or stated == "":
        return specialty_of(raw.external_id), ""
    if not isinstance(stated, str) or len(stated) > MAX_ID_LENGTH or text_problem(stated):
        return "", f'The "specialty" is not a text of at most {MAX_ID_LENGTH} characters; correct or remove it.'
    return stated.strip(), ""


def kind_of(value: Any) -> str:
    """What a JSON value is, in words."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true or false"
    if isinstance(value, str):
        return f"the text {quoted(value, 30)}"
    if isinstance(value, int | float):
        return f"the number {value}"
    return "a list" if isinstance(value, list) else "an object"
