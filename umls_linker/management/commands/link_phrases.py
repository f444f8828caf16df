"""Candidates for the phrases of a file, and how often the right concept is among them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser

from annotation.management.commands._base import PortalCommand
from umls_linker.domain.rank import Candidate
from umls_linker.domain.recall import DEPTHS, BadPhrases, Phrase, read_phrases, recall
from umls_linker.domain.slots import type_name
from umls_linker.index.search import search
from umls_linker.services.vocabularies import DEFAULT, vocabulary_open

MOST = 100


class Command(PortalCommand):
    help = (
        "Looks up every phrase of a file in a vocabulary, as labels are linked, and writes its best concepts with the "
        "reasons for them. Where the file says which concept a phrase means, it also says how often that is the first, "
        "among the first five and among the first ten (recall)."
    )

    def arguments(self, parser: CommandParser) -> None:
        parser.add_argument("file", help="a CSV file with a column “phrase” and, if wanted, a column “cui”")
        parser.add_argument("--top", type=int, default=5, help=f"how many concepts to write, 1 to {MOST} (default: 5)")
        parser.add_argument("--vocabulary", default=DEFAULT, help=f"name of the vocabulary (default: {DEFAULT})")

    def run(self, *, file: str, top: int, vocabulary: str, **options: Any) -> None:
        if not 1 <= top <= MOST:
            raise CommandError(f"--top is a number from 1 to {MOST}.")
        phrases, index = _read(file), vocabulary_open(vocabulary)
        found = [(phrase, search(index, phrase.text, limit=max(top, *DEPTHS))) for phrase in phrases]
        answers = [(phrase.cui, [candidate.cui for candidate in candidates]) for phrase, candidates in found]
        with_cui = sum(bool(phrase.cui) for phrase in phrases)
        result = {
            "vocabulary": index.manifest.name,
            "version": index.manifest.version,
            "phrases": [_row(phrase, candidates[:top]) for phrase, candidates in found],
            "with_cui": with_cui,
            "recall": recall(answers),
        }
        self.finish(
            result, lines=_lines([(phrase, candidates[:top]) for phrase, candidates in found], with_cui, result)
        )


def _read(file: str) -> list[Phrase]:
    path = Path(file)
    if not path.is_file():
        raise CommandError(f"{file}: there is no such file.")
    try:
        return read_phrases(path.read_text(encoding="utf-8"))
    except UnicodeDecodeError:
        raise CommandError(f"{file}: it is not text in UTF-8.") from None
    except BadPhrases as error:
        raise CommandError(f"{file}: {error}" if str(error).startswith("there") else f"{file}, {error}") from error


def _row(phrase: Phrase, candidates: Sequence[Candidate]) -> dict[str, Any]:
    row: dict[str, Any] = {"phrase": phrase.text}
    if phrase.cui:
        row["cui"] = phrase.cui
    row["candidates"] = [
        {
            "cui": candidate.cui,
            "name": candidate.name,
            "score": candidate.score,
            "semantic_types": list(candidate.semantic_types),
            "matched": candidate.matched_text,
            "reasons": [
                {"kind": one.kind, "points": one.points, "sentence": one.sentence} for one in candidate.reasons
            ],
        }
        for candidate in candidates
    ]
    return row


def _lines(found: Sequence[tuple[Phrase, Sequence[Candidate]]], with_cui: int, result: dict[str, Any]) -> Iterator[str]:
    for phrase, candidates in found:
        yield f"{phrase.text}" if candidates else f"{phrase.text}: nothing found"
        for place, candidate in enumerate(candidates, start=1):
            types = ", ".join(type_name(code) for code in candidate.semantic_types)
            right = " ✓" if candidate.cui == phrase.cui else ""
            yield f"  {place}. {candidate.name} ({candidate.cui}; {types}) {candidate.score:.1f}{right}"
    if with_cui:
        shares = ", ".join(f"{share:.1%} among the first {depth}" for depth, share in result["recall"].items())
        yield f"The right concept of {with_cui:,} phrases: {shares}."
