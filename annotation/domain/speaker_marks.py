"""How the first words of a transcript's line say who speaks.

A line begins a turn when it opens with a known mark: `D:` `P:`, `Doctor:` `Patient:` in any case, or the pair a project
names. Marks that are written oddly count as well and are reported, under rules that get looser or stricter with what
else the line could be:

- surely a mark (`Oddity.MARK`): more signs than one colon (`D::`, `D;`, `D :`), a quotation mark for a colon (`D" OK`),
  a one-letter mark in the other case (`p:`);
- perhaps a mark (`Oddity.BARE`): a one-letter mark with nothing, a full stop, a comma, a dash or a bracket after it
  (`P No.`). It counts only where a sentence can begin (after an empty line or the end of a sentence), where it
  changes the speaker, and where it does not begin a known term such as "D dimer" or "P wave". Otherwise the line
  continues the turn, so that no word is taken for a mark.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum
from functools import lru_cache

DOCTOR = "doctor"
PATIENT = "patient"

_USUAL_MARKS = {"D": DOCTOR, "Doctor": DOCTOR, "P": PATIENT, "Patient": PATIENT}
_COLON = "[:\uff1a]"  # the second is the full-width colon of Chinese and Japanese texts
_START = r"[\s\ufeff]*"  # a byte order mark stays in the middle where files were joined
_QUOTES = '"\u201c\u201d'

# What follows a letter that is no mark: "D dimer", "P wave", "D and C".
_TERMS = "dimer dimers wave waves value values pulmonale mitrale interval intervals and or & +"
_NO_MARK_BEFORE = frozenset(_TERMS.split())
_SENTENCE_END = re.compile(r"[.?!\u2026\u3002\uff1f\uff01][" + _QUOTES + r"'\u2019)\]]*\s*$")

_LABEL = re.compile(
    rf"{_START}(?P<label>[^\W\d_][\w.'\u2019-]{{0,40}}(?: [\w.'\u2019-]{{1,40}}){{0,3}}(?: ?\([^()]{{1,40}}\))?)"
    rf"\s?{_COLON}(?=\s|$|[^\W\d_]|[{_QUOTES}])"
)
_MAX_LABEL = 40
# Words that begin ordinary phrases with a colon ("So: …", "At 10: …"), so that the phrase names no speaker.
_PHRASE_WORDS = """
    a about after again also an and around at because before but by from hmm i in is it like my no nope note now oh
    ok okay on one or our plus question questions right since so that the their them then these they thing things this
    those to uh um until was we well with yeah yep yes you your
"""
_NEVER_IN_A_LABEL = frozenset(_PHRASE_WORDS.split())
# Words that name a speaker also when they are written in lower case: "Patient's mother:".
_ROLE_WORDS = """
    assistant aunt brother caregiver carer child clinician companion counsellor dad daughter dentist doctor
    father friend grandfather grandmother guardian husband interpreter interviewer member mom mother mum nurse
    paramedic parent partner patient pharmacist physician practitioner receptionist relative resident sister son
    speaker student therapist translator uncle wife
"""
_ROLES = frozenset(_ROLE_WORDS.split())


@dataclass(frozen=True, slots=True)
class SpeakerMarks:
    """A pair of labels that is read beside `D`/`P` and `Doctor`/`Patient`; it wins where it uses one of those itself.

    Raises `ValueError` with a sentence for the person who chose the pair.
    """

    doctor: str = "Doctor"
    patient: str = "Patient"

    def __post_init__(self) -> None:
        for mark in (self.doctor, self.patient):
            if not mark.strip() or mark != mark.strip() or len(mark) > _MAX_LABEL:
                raise ValueError(f"A speaker's label must have 1 to {_MAX_LABEL} characters and no space around it.")
            if not (mark[0].isalpha() and mark[-1].isalnum()) or re.search(rf"{_COLON}|[\n\r]", mark):
                raise ValueError(
                    "A speaker's label must begin with a letter, end with a letter or digit, have no colon."
                )
        if self.doctor.casefold() == self.patient.casefold():
            raise ValueError("The two speakers must have different labels.")

    def table(self) -> dict[str, str]:
        """Every mark as it is written, with the speaker it names."""
        own = {self.doctor: DOCTOR, self.patient: PATIENT}
        taken = {mark.casefold() for mark in own}
        return {mark: name for mark, name in _USUAL_MARKS.items() if mark.casefold() not in taken} | own

    def speaker(self, mark: str) -> str:
        """The speaker that a mark names in any case, "" for none; `doctor` and `patient` always name themselves."""
        wanted = mark.casefold()
        found = (name for known, name in self.table().items() if known.casefold() == wanted)
        return next(found, wanted if wanted in (DOCTOR, PATIENT) else "")

    def listed(self) -> str:
        """The marks for a message."""
        return ", ".join(f'"{mark}"' for mark in self.table())


DEFAULT_SPEAKERS = SpeakerMarks()


class Oddity(Enum):
    NONE = "none"
    MARK = "mark"
    BARE = "bare"


@dataclass(frozen=True, slots=True)
class Mark:
    """A mark at the beginning of a line: who speaks, the signs that were read as the mark, and what follows it."""

    speaker: str
    read: str
    text: str
    oddity: Oddity
    letter: str = ""  # the mark itself where it is one letter


@dataclass(frozen=True, slots=True)
class Before:
    """What stands before a line: who speaks ("" at the beginning), and whether a sentence can begin here."""

    speaker: str = ""
    empty_line: bool = True
    line: str = ""

    @property
    def sentence_ended(self) -> bool:
        return self.empty_line or not self.line.strip() or bool(_SENTENCE_END.search(self.line))


def mark_of(line: str, speakers: SpeakerMarks) -> Mark | None:
    """The mark that opens the line, a bare letter included (ask `counts` whether that one begins a turn)."""
    pattern, names = _pattern(speakers)
    found = pattern.match(line)
    if found is None:
        return None
    written = found["mark"]
    usual = names.get(written.casefold())
    if usual is None:
        return None  # a letter that only the pattern takes for another one, such as the dotless i
    one_letter = len(written) == 1
    form = found.lastgroup  # the name of the alternative that matched after the mark
    if not one_letter and form in ("semicolon", "quote", "bare"):
        return None  # "the doctor; he said" is no turn of the doctor
    if form == "bare":
        oddity = Oddity.BARE
    elif form == "regular" and (not one_letter or written == usual.mark):
        oddity = Oddity.NONE
    else:
        oddity = Oddity.MARK
    read = line[found.start("mark") : found.end()].strip()
    return Mark(usual.speaker, read, line[found.end() :].strip(), oddity, written if one_letter else "")


def counts(mark: Mark, before: Before) -> bool:
    """Whether the mark begins a turn; only bare ones may not (the rules are in the head of this module)."""
    if mark.oddity is not Oddity.BARE:
        return True
    words = mark.text.split()
    first = words[0] if words else ""
    if first.casefold().strip(".,;:!?") in _NO_MARK_BEFORE or re.fullmatch(r"[^\W\d_]\.", first):
        return False  # a term, or the initials of a name
    if mark.speaker == before.speaker or not before.sentence_ended:
        return False
    return before.empty_line or (mark.letter.isupper() and not first[:1].islower())


def unknown_label(line: str) -> str:
    """The label of a speaker whom nobody named ("Nurse", "N", "Patient's mother"), "" where the line has none.

    Capitalised labels of up to four words with a colon count, unless a word in them only begins a phrase.
    """
    label, words = _label_words(line)
    if not label or label[0].islower():
        return ""
    names_somebody = _plain(words[-1]) in _ROLES  # "Patient's mother", but not "Doctor said"
    return label if names_somebody or not any(word[0].islower() for word in words) else ""


def possible_label(line: str) -> str:
    """A label in lower case that could name a speaker ("nurse"); the line is read as part of the turn before it."""
    label, words = _label_words(line)
    return label if label and label[0].islower() and _plain(words[-1]) in _ROLES else ""


def _label_words(line: str) -> tuple[str, list[str]]:
    found = _LABEL.match(line)
    label = found["label"] if found else ""
    words = label.split("(")[0].split()
    is_phrase = len(label) > _MAX_LABEL or any(_plain(word) in _NEVER_IN_A_LABEL for word in words)
    if is_phrase and label not in ("I", "A"):  # a single capital is a label even where it is a word
        return "", []
    return label, words


def _plain(word: str) -> str:
    return re.sub(r"['\u2019]s$", "", word.casefold()).strip(".,'\u2019")


@dataclass(frozen=True, slots=True)
class _Usual:
    mark: str
    speaker: str


@lru_cache(maxsize=32)
def _pattern(speakers: SpeakerMarks) -> tuple[re.Pattern[str], dict[str, _Usual]]:
    table = speakers.table()
    marks = "|".join(re.escape(mark) for mark in sorted(table, key=len, reverse=True))
    pattern = re.compile(
        rf"{_START}(?P<mark>{marks})(?!\w)(?:"
        rf"(?P<regular>{_COLON})(?![:\uff1a;])"
        rf"|(?P<signs>\s*{_COLON}[:\uff1a;]*)"  # "D::", "D :"
        rf"|(?P<semicolon>\s*;[:\uff1a;]*)"
        rf"|(?P<quote>[{_QUOTES}])(?=\s|$)"  # 'D" OK'
        rf"|(?P<bare>[.,)\u2013\u2014-]?)(?=\s|$)"  # "P No.", "P. No."
        rf")",
        re.IGNORECASE,
    )
    return pattern, {mark.casefold(): _Usual(mark, name) for mark, name in table.items()}
