"""What a vocabulary costs to build and to ask, beside QuickUMLS as it is installed, on a synthetic Metathesaurus.

Stock QuickUMLS (its own installer's functions, unqlite, lower case) and the portal's index read the same files one
after the other, each in a process of its own, and answer the same phrases warm. Then the index alone is built of five
times as many strings: its memory must hardly grow. Exit status 1 when a target is missed.

Look-ups are judged warm: phrases that were asked once before. What new phrases take is shown beside; a search takes
longer for them, because the terms that it brings up have to be read and compared in several readings.

At the default of 1,000,000 and 5,000,000 strings all this takes about a quarter of an hour on two processors and 6 GB
of disk in the temporary folder; `--strings 200000` takes two minutes and shows memory, but stock's time grows faster
than the number of strings.
"""

from __future__ import annotations

import argparse
import json
import random
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from benchmarks.make_rrf import write
from umls_linker.domain.rrf import Selection
from umls_linker.domain.vocabulary import Faults
from umls_linker.index.builder import build
from umls_linker.index.manifest import Manifest, write_manifest
from umls_linker.index.native import simstring
from umls_linker.index.reader import VocabularyIndex
from umls_linker.index.search import search
from umls_linker.index.sources import Metathesaurus

ROOT = Path(__file__).resolve().parent.parent
PHRASES = 1_000  # half of them are asked twice
MOST_TIME = 1 / 3
MOST_MEMORY = 1 / 4
MOST_GROWTH = 1.5
ASKED = ("match_ms", "match_new_ms", "search_ms", "search_new_ms")


def peak_mb() -> float:
    """The most that this process and the largest of its children have held, together."""
    return sum(resource.getrusage(who).ru_maxrss for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)) / 1024


def phrases(source: Path) -> list[str]:
    """Strings of the vocabulary with a letter left out, the same for everybody."""
    rng = random.Random(3)
    kept: list[str] = []
    with (source / "MRCONSO.RRF").open(encoding="utf-8") as lines:
        for number, line in enumerate(lines):
            if len(kept) < PHRASES:
                kept.append(line.split("|")[14])
            elif (place := rng.randrange(number + 1)) < PHRASES:
                kept[place] = line.split("|")[14]
    cuts = [rng.randrange(len(text)) for text in kept]
    return [text[:cut] + text[cut + 1 :] for text, cut in zip(kept, cuts, strict=True)]


def processor_seconds() -> float:
    """Time of the processors that this process and its children have taken."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(each.ru_utime + each.ru_stime for each in used)


def asked(match: Callable[[str], Any], texts: list[str]) -> tuple[float, float]:
    """Milliseconds of the processor for one phrase: of those asked the second time, and of others asked the first time
    by a process that is warm from these."""
    known, new = texts[: len(texts) // 2], texts[len(texts) // 2 :]
    _ask(match, known)
    return _ask(match, known), _ask(match, new)


def _ask(match: Callable[[str], Any], texts: list[str]) -> float:
    begun = time.process_time()
    for text in texts:
        match(text)
    return (time.process_time() - begun) / len(texts) * 1000


def build_ours(source: Path, folder: Path) -> dict[str, float]:
    folder.mkdir()
    begun = time.perf_counter()
    built = build(Metathesaurus.find(source, Selection()).atoms(Faults()), folder, faults=Faults())
    seconds = time.perf_counter() - begun
    write_manifest(folder, Manifest("benchmark", "", "", counts=built.counts, sources=built.sources))
    disk = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file()) / 2**20
    return {
        "seconds": seconds,
        "cpu_seconds": processor_seconds(),
        "peak_mb": peak_mb(),
        "disk_mb": disk,
        "terms": built.counts.terms,
    }


def ask_ours(source: Path, folder: Path) -> dict[str, float]:
    """`match` finds mentions in a text as QuickUMLS does; `search` is what candidates for a value come from."""
    index, texts = VocabularyIndex.open(folder), phrases(source)
    match_ms, match_new_ms = asked(index.matcher().quickumls().match, texts)
    search_ms, search_new_ms = asked(partial(search, index), texts)
    return {
        "match_ms": match_ms,
        "match_new_ms": match_new_ms,
        "search_ms": search_ms,
        "search_new_ms": search_new_ms,
        "peak_mb": peak_mb(),
    }


def build_stock(source: Path, folder: Path) -> dict[str, float]:
    simstring()
    from quickumls import install

    folder.mkdir()
    options = SimpleNamespace(language="ENG", lowercase=True, normalize_unicode=False)
    begun = time.perf_counter()
    rows = install.extract_from_mrconso(str(source / "MRCONSO.RRF"), str(source / "MRSTY.RRF"), options)
    install.parse_and_encode_ngrams(rows, str(folder / "umls-simstring.db"), str(folder / "cui-semtypes.db"), "unqlite")
    seconds = time.perf_counter() - begun
    for name, text in (("lowercase.flag", ""), ("language.flag", "ENG"), ("database_backend.flag", "unqlite")):
        (folder / name).write_text(text)
    disk = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file()) / 2**20
    return {"seconds": seconds, "cpu_seconds": processor_seconds(), "peak_mb": peak_mb(), "disk_mb": disk}


def ask_stock(source: Path, folder: Path) -> dict[str, float]:
    """What the constructor would fetch from the network is put in its place."""
    simstring()
    import nltk
    import spacy
    from quickumls.core import QuickUMLS

    from umls_linker.index.matcher import STOP_WORDS

    nltk.corpus.stopwords = SimpleNamespace(words=lambda *_: sorted(STOP_WORDS))
    spacy.load = lambda *_, **__: spacy.blank("en")
    quickumls = QuickUMLS(str(folder), accepted_semtypes=None)
    known, new = asked(quickumls.match, phrases(source))  # it has no other way to be asked
    return {
        "match_ms": known,
        "match_new_ms": new,
        "search_ms": known,
        "search_new_ms": new,
        "peak_mb": peak_mb(),
    }


STEPS: dict[str, Callable[[Path, Path], dict[str, float]]] = {
    step.__name__: step for step in (build_ours, ask_ours, build_stock, ask_stock)
}


def in_a_process(step: str, source: Path, folder: Path) -> dict[str, float]:
    command = [sys.executable, "-m", "benchmarks.vocabulary", "--step", step, str(source), str(folder)]
    done = subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True)
    result: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return result


def measure(strings: int, larger: int, rounds: int, say: Callable[[str], None]) -> dict[str, Any]:
    with tempfile.TemporaryDirectory(prefix="vocabulary-") as name:
        root, source = Path(name), Path(name) / "rrf"
        say(f"Writing {strings:,} strings …")
        write(strings, source)
        figures: dict[str, Any] = {"strings": strings}
        for who in ("stock", "ours"):
            say(f"Building: {who} …")
            figures[who] = in_a_process(f"build_{who}", source, root / who)
        for who in ("stock", "ours"):
            say(f"Asking: {who} …")
            asked_in = [in_a_process(f"ask_{who}", source, root / who) for _ in range(rounds)]
            for key in ASKED:
                figures[who][key] = statistics.median(one[key] for one in asked_in)
            figures[who]["asking_mb"] = max(one["peak_mb"] for one in asked_in)
        if larger:
            say(f"Writing and building {larger:,} strings …")
            write(larger, root / "larger-rrf")
            figures["larger"] = {"strings": larger, **in_a_process("build_ours", root / "larger-rrf", root / "larger")}
    return figures


def judged(figures: dict[str, Any]) -> dict[str, tuple[float, float]]:
    """What was asked for: measured ratio and the most that it may be."""
    ours, stock = figures["ours"], figures["stock"]
    ratios = {
        "build time, of stock's": (ours["seconds"] / stock["seconds"], MOST_TIME),
        "build memory, of stock's": (ours["peak_mb"] / stock["peak_mb"], MOST_MEMORY),
        "time to find mentions, of stock's": (ours["match_ms"] / stock["match_ms"], 1.0),
        "time to search, of stock's": (ours["search_ms"] / stock["search_ms"], 1.0),
    }
    if "larger" in figures:
        growth = figures["larger"]["peak_mb"] / ours["peak_mb"]
        ratios[f"build memory at {figures['larger']['strings']:,} strings, of that at {figures['strings']:,}"] = (
            growth,
            MOST_GROWTH,
        )
    return ratios


def table(figures: dict[str, Any]) -> list[str]:
    lines = [f"{figures['strings']:,} strings        stock      ours"]
    for key, words in (
        ("seconds", "build, s"),
        ("peak_mb", "build, MB"),
        ("cpu_seconds", "processors, s"),
        ("disk_mb", "disk, MB"),
        ("match_ms", "mentions, ms"),
        ("match_new_ms", "– of new texts"),
        ("search_ms", "search, ms"),
        ("search_new_ms", "– of new phrases"),
        ("asking_mb", "look-up, MB"),
    ):
        lines.append(f"{words:<18}{figures['stock'][key]:>10.2f}{figures['ours'][key]:>10.2f}")
    if larger := figures.get("larger"):
        lines.append(
            f"{larger['strings']:,} strings alone: {larger['seconds']:.0f} s, {larger['peak_mb']:.0f} MB, "
            f"{larger['disk_mb']:.0f} MB on disk"
        )
    for words, (ratio, most) in judged(figures).items():
        lines.append(f"{'met   ' if ratio <= most else 'MISSED'} {words}: {ratio:.2f} (at most {most:.2f})")
    return lines


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--strings", type=int, default=1_000_000)
    parser.add_argument(
        "--larger", type=int, default=None, help="strings of the build that runs alone (5 × --strings; 0: none)"
    )
    parser.add_argument("--rounds", type=int, default=3, help="processes that ask, of which the median counts")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--step", nargs=3, metavar=("STEP", "SOURCE", "FOLDER"), help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.step:
        step, source, folder = arguments.step
        print(json.dumps(STEPS[step](Path(source), Path(folder))))
        return 0
    larger = 5 * arguments.strings if arguments.larger is None else arguments.larger
    say = (lambda text: None) if arguments.json else (lambda text: print(text, flush=True))
    figures = measure(arguments.strings, larger, max(1, arguments.rounds), say)
    ratios = judged(figures)
    if arguments.json:
        print(json.dumps({**figures, "ratios": {words: ratio for words, (ratio, _) in ratios.items()}}))
    else:
        print("\n".join(table(figures)))
    return int(any(ratio > most for ratio, most in ratios.values()))


if __name__ == "__main__":
    sys.exit(main())
