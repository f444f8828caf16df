"""How often the right concept is found for a phrase: by stock QuickUMLS, a plain TF-IDF, and the portal's search.

All three look in the same embedded vocabulary, built in a temporary folder. The search is measured whole and without
each of its ways of finding. Exit status 1 when it falls short of `LEAST`.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

LEAST = {"1": 0.75, "5": 0.88}
OWN = Path(__file__).resolve().parent.parent / "tests" / "data" / "lay_phrases.csv"
REAL = "vocabulary/lay_phrases_dev.csv"
STOCK_THRESHOLDS = (0.7, 0.6, 0.5, 0.4, 0.3)
TOP = 10
Find = Callable[[str], Sequence[str]]


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.linking", description=__doc__)
    parser.add_argument(
        "--phrases", action="append", type=Path, help="CSV with the columns phrase and cui; may be repeated"
    )
    parser.add_argument(
        "--no-stock", action="store_true", help="leave out stock QuickUMLS, which takes most of the time"
    )
    parser.add_argument("--json", action="store_true", help="print the figures as one JSON object")
    options = parser.parse_args(argv)
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "benchmarks.settings")
    import django

    django.setup()
    files = options.phrases or _default_files()
    with tempfile.TemporaryDirectory(prefix="linking-") as folder:
        result: dict[str, dict[str, dict[str, float]]] = {str(file): {} for file in files}
        for name, find in _ways(Path(folder), stock=not options.no_stock):
            for file in files:
                result[str(file)][name] = _measured(file, find)
                if not options.json:
                    _print(file, name, result[str(file)][name])
    if options.json:
        print(json.dumps(result))
    short = [
        file
        for file, figures in result.items()
        if any(figures["search"][depth] < least for depth, least in LEAST.items())
    ]
    for file in short:
        print(f"{file}: recall is below {LEAST['1']} at 1 or {LEAST['5']} at 5", file=sys.stderr)
    return 1 if short else 0


def _default_files() -> list[Path]:
    real = Path(os.environ.get("PORTAL_REAL_DATA", "")) / REAL
    return [OWN, *([real] if os.environ.get("PORTAL_REAL_DATA") and real.is_file() else [])]


def _ways(folder: Path, *, stock: bool) -> Iterator[tuple[str, Find]]:
    """Names and ways of finding, each ready when it is reached."""
    from umls_linker.domain.vocabulary import Atom, Faults, TypeOf
    from umls_linker.index.search import CHANNELS, search
    from umls_linker.index.sources import Embedded
    from umls_linker.services.vocabularies import vocabulary_build, vocabulary_open

    source = Embedded.find()
    rows = list(source.atoms(Faults()))
    atoms = [row for row in rows if isinstance(row, Atom)]
    if stock:
        types: dict[str, list[str]] = {}
        for row in rows:
            if isinstance(row, TypeOf):
                types.setdefault(row.cui, []).append(row.semantic_type)
        yield from _stock(folder / "stock", atoms, types)
    yield "TF-IDF", _tfidf(atoms)
    vocabulary_build(source=source, name="embedded", root=folder)
    index = vocabulary_open("embedded", root=folder)

    def finder(channels: frozenset[str]) -> Find:
        return lambda phrase: [candidate.cui for candidate in search(index, phrase, limit=TOP, channels=channels)]

    yield "search", finder(CHANNELS)
    for channel in sorted(CHANNELS):
        yield f"search without {channel}", finder(CHANNELS - {channel})


def _stock(folder: Path, atoms: Sequence[Any], types: dict[str, list[str]]) -> Iterator[tuple[str, Find]]:
    """QuickUMLS as it installs itself (lower case, unqlite), without its downloads of words and of a language model."""
    from umls_linker.index.native import simstring

    simstring()
    import nltk
    import spacy
    from quickumls import install
    from quickumls.core import QuickUMLS

    from umls_linker.index.matcher import STOP_WORDS

    nltk.corpus.stopwords = type("Words", (), {"words": staticmethod(lambda *_: sorted(STOP_WORDS))})
    spacy.load = lambda *_, **__: spacy.blank("en")
    folder.mkdir()
    (folder / "lowercase.flag").touch()
    (folder / "database_backend.flag").write_text("unqlite")
    strings = dict.fromkeys((atom.text.strip().lower(), atom.cui, atom.preferred) for atom in atoms)
    rows = ((text, cui, set(types.get(cui, [])), int(preferred)) for text, cui, preferred in strings if text)
    with contextlib.redirect_stdout(io.StringIO()):
        install.parse_and_encode_ngrams(
            rows, str(folder / "umls-simstring.db"), str(folder / "cui-semtypes.db"), "unqlite"
        )
    for threshold in STOCK_THRESHOLDS:
        matcher = QuickUMLS(str(folder), threshold=threshold, accepted_semtypes=None)
        yield f"stock QuickUMLS at {threshold}", partial(_best_of_stock, matcher)


def _best_of_stock(matcher: Any, phrase: str) -> list[str]:
    """The CUIs that QuickUMLS finds anywhere in the phrase, the most similar first, of equals those of longer spans.

    Asked for all candidates and not only the best of overlapping ones, which is what stock does best.
    """
    found = [each for group in matcher._match(matcher.nlp(phrase), best_match=False) for each in group]
    found.sort(key=lambda each: (-each["similarity"], each["start"] - each["end"], each["cui"]))
    return list(dict.fromkeys(each["cui"] for each in found))


def _tfidf(atoms: Sequence[Any]) -> Find:
    """Cosine of TF-IDF over the character n-grams of stems, the best term of each concept counting."""
    import numpy as np
    from sklearn.feature_extraction.text import TfidfVectorizer  # type: ignore[import-untyped]

    from umls_linker.domain.normalise import word_keys

    vectorizer = TfidfVectorizer(analyzer="char_wb", ngram_range=(2, 4), sublinear_tf=True)
    strings = [" ".join(word_keys(atom.text)) for atom in atoms]
    matrix = vectorizer.fit_transform(strings)

    def find(phrase: str) -> list[str]:
        scores = (matrix @ vectorizer.transform([" ".join(word_keys(phrase))]).T).toarray().ravel()
        best = np.argsort(-scores, kind="stable")[: 30 * TOP]
        return list(dict.fromkeys(atoms[place].cui for place in best))

    return find


def _measured(file: Path, find: Find) -> dict[str, float]:
    """Recall, and the median milliseconds of the processor for a phrase."""
    from umls_linker.domain.recall import read_phrases, recall

    answers, times = [], []
    for phrase in read_phrases(file.read_text(encoding="utf-8")):
        begun = time.process_time()
        found = find(phrase.text)
        times.append(time.process_time() - begun)
        answers.append((phrase.cui, found))
    return {**recall(answers), "ms": round(1000 * statistics.median(times), 2), "phrases": len(answers)}


def _print(file: Path, name: str, figures: dict[str, float]) -> None:
    shares = "  ".join(f"@{depth} {figures[depth]:.3f}" for depth in ("1", "5", "10"))
    print(f"{file.name:24} {name:32} {shares}  {figures['ms']:7.2f} ms  ({figures['phrases']:.0f} phrases)", flush=True)


if __name__ == "__main__":
    sys.exit(main())
