"""Metathesaurus folders and small indexes for the tests of the vocabulary."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from umls_linker.domain.vocabulary import Atom, Entry, Faults, Kind, TypeOf
from umls_linker.index.builder import build
from umls_linker.index.manifest import Manifest, write_manifest
from umls_linker.index.reader import VocabularyIndex


def conso(
    cui: str,
    text: str,
    *,
    language: str = "ENG",
    status: str = "P",
    form: str = "PF",
    preferred: str = "Y",
    source: str = "SRC",
    sort: str = "PT",
    suppress: str = "N",
) -> str:
    """A line of MRCONSO.RRF."""
    return f"{cui}|{language}|{status}|L1|{form}|S1|{preferred}|A1||||{source}|{sort}|1|{text}|0|{suppress}||\n"


def sty(cui: str, code: str) -> str:
    """A line of MRSTY.RRF."""
    return f"{cui}|{code}|A1|Type|AT1||\n"


def write_folder(folder: Path, strings: Iterable[str | bytes], types: Iterable[str | bytes]) -> Path:
    folder.mkdir(exist_ok=True)
    for name, lines in (("MRCONSO.RRF", strings), ("MRSTY.RRF", types)):
        (folder / name).write_bytes(b"".join(line if isinstance(line, bytes) else line.encode() for line in lines))
    return folder


SMALL: Sequence[tuple[str, str, tuple[tuple[str, Kind], ...]]] = (
    ("C0013404", "T184", (("Dyspnea", Kind.NAME), ("Shortness of breath", Kind.LAYPERSON), ("SOB", Kind.ABBREVIATION))),
    ("C0018681", "T184", (("Headache", Kind.NAME), ("Head pain", Kind.LAYPERSON), ("Cephalgia", Kind.SYNONYM))),
    ("C0003862", "T184", (("Arthralgia", Kind.NAME), ("Joint pain", Kind.LAYPERSON))),
    ("C0231749", "T184", (("Knee pain", Kind.NAME), ("Pain in knee", Kind.SYNONYM))),
    ("C0009443", "T047", (("Common cold", Kind.NAME), ("Cold", Kind.LAYPERSON))),
    ("C0009264", "T070", (("Cold temperature", Kind.NAME), ("COLD", Kind.SYNONYM))),
    ("C0025281", "T047", (("Ménière disease", Kind.NAME),)),
)


def small_atoms() -> list[Entry]:
    atoms: list[Entry] = []
    for cui, code, strings in SMALL:
        atoms.append(TypeOf(cui, code))
        atoms += [Atom(text, cui, kind is Kind.NAME, "SRC", kind) for text, kind in strings]
    return atoms


def make_index(folder: Path, atoms: Iterable[Entry] | None = None) -> VocabularyIndex:
    """An index of these, opened."""
    folder.mkdir(exist_ok=True)
    built = build(small_atoms() if atoms is None else atoms, folder, faults=Faults())
    write_manifest(
        folder, Manifest("small", "1", "test", counts=built.counts, digest=built.digest, sources=built.sources)
    )
    return VocabularyIndex.open(folder)


def texts_of(index: VocabularyIndex, numbers: Iterable[int]) -> list[str]:
    return [index.term(number).text for number in numbers]
