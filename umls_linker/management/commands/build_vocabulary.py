"""Build a vocabulary: from a UMLS folder, or from what can be had without a licence."""

from __future__ import annotations

import re
import time
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser

from annotation.management.commands._base import PortalCommand, refuse_broken_text
from umls_linker.domain.rrf import Selection
from umls_linker.domain.vocabulary import SEMANTIC_TYPE
from umls_linker.index.manifest import Manifest
from umls_linker.index.sources import Embedded, Metathesaurus, Source, SourceUnusable
from umls_linker.services.vocabularies import DEFAULT, vocabulary_build

SHOWN_FAULTS = 20
SAY_SECONDS = 5.0


class Command(PortalCommand):
    help = (
        "Build the vocabulary that values are linked to: from MRCONSO.RRF and MRSTY.RRF with --rrf, otherwise from the "
        "Human Phenotype Ontology and the portal's own table. The one in use stays in use until the new one is whole."
    )

    def arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--rrf", type=Path, metavar="DIR", help="folder of a licensed UMLS Metathesaurus")
        parser.add_argument("--name", default="", help=f"name of the vocabulary (“{DEFAULT}”, or “umls” with --rrf)")
        parser.add_argument(
            "--release", default="", metavar="TEXT", help="release of the Metathesaurus, such as 2025AA"
        )
        parser.add_argument("--languages", default="ENG", metavar="CODE,…", help="languages to take (ENG)")
        parser.add_argument(
            "--sources", default="", metavar="CODE,…", help="sources to take, such as SNOMEDCT_US (all)"
        )
        parser.add_argument("--semantic-types", default="", metavar="T…,…", help="semantic types to take (all)")

    def run(self, **options: Any) -> None:
        refuse_broken_text(**options)
        source = self._source(options)
        name = options["name"] or ("umls" if options["rrf"] else DEFAULT)
        last = [time.monotonic()]

        def progress(stage: str, done: int) -> None:
            if time.monotonic() - last[0] >= SAY_SECONDS:
                self.say(f"{stage}: {done:,}")
                last[0] = time.monotonic()

        manifest = vocabulary_build(source=source, name=name, progress=progress)
        self.finish(_result(manifest), lines=_lines(manifest))

    def _source(self, options: dict[str, Any]) -> Source:
        languages, sources, types = (_codes(options[key]) for key in ("languages", "sources", "semantic_types"))
        for code in sorted(types):
            if not SEMANTIC_TYPE.fullmatch(code):
                raise CommandError(f"“{code}” is not a semantic type; one looks like T184.")
        if not options["rrf"] and (sources or types or options["release"] or languages != {"ENG"}):
            raise CommandError("--languages, --sources, --semantic-types and --release belong to --rrf.")
        try:
            if not options["rrf"]:
                return Embedded.find()
            return Metathesaurus.find(options["rrf"], Selection(languages, sources, types), options["release"])
        except SourceUnusable as error:
            raise CommandError(str(error)) from error


def _codes(text: str) -> frozenset[str]:
    return frozenset(code for code in re.split(r"[,\s]+", text) if code)


def _result(manifest: Manifest) -> dict[str, Any]:
    counts = manifest.counts
    return {
        "name": manifest.name,
        "version": manifest.version,
        "concepts": counts.concepts,
        "terms": counts.terms,
        "strings": counts.strings,
        "words": counts.words,
        "seconds": manifest.seconds,
        "peak_mb": manifest.peak_mb,
        "faults": counts.faults,
        "fault_counts": dict(manifest.fault_counts),
        "fault_list": list(manifest.faults),
        "digest": manifest.digest,
    }


def _lines(manifest: Manifest) -> list[str]:
    counts = manifest.counts
    lines = [
        f"The vocabulary {manifest.name} ({manifest.version}) is in use: {counts.concepts:,} concepts with "
        f"{counts.terms:,} terms, from {counts.strings:,} strings.",
        f"It took {manifest.seconds:,} seconds and {manifest.peak_mb:,.0f} MB of memory at most.",
    ]
    if manifest.fault_counts:
        kinds = ", ".join(f"{kind} {count:,}" for kind, count in sorted(manifest.fault_counts.items()))
        left_out = "1 entry was" if counts.faults == 1 else f"{counts.faults:,} entries were"
        lines.append(f"{left_out} left out: {kinds}.")
        lines += [f"  {fault}" for fault in manifest.faults[:SHOWN_FAULTS]]
        if counts.faults > SHOWN_FAULTS:
            lines.append(f"  … and {counts.faults - SHOWN_FAULTS:,} more; manifest.json lists up to 100 of each kind.")
    return [*lines, *(f"{licence.text} {licence.address}".strip() for licence in manifest.licences)]
