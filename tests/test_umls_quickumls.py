"""What QuickUMLS finds, the index finds: beside a database that its own installer has made of the same strings."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import spacy

from tests.rrf import conso, make_index, sty, write_folder
from umls_linker.domain.rrf import Selection
from umls_linker.domain.vocabulary import Atom, Faults
from umls_linker.index.matcher import STOP_WORDS, Matcher, UnknownLanguageModel
from umls_linker.index.native import simstring
from umls_linker.index.reader import VocabularyIndex
from umls_linker.index.sources import Embedded, Metathesaurus

QUERIES = 2_000
THRESHOLD = 0.7


class Stock:
    """QuickUMLS as it is installed, over `folder`; only what it would download is put in place of the download."""

    def __init__(self, folder: Path, source: Path, patch: pytest.MonkeyPatch) -> None:
        simstring()
        import nltk
        from quickumls import install
        from quickumls.core import QuickUMLS

        options = SimpleNamespace(language="ENG", lowercase=True, normalize_unicode=False)
        found = install.extract_from_mrconso(str(source / "MRCONSO.RRF"), str(source / "MRSTY.RRF"), options)
        folder.mkdir()
        install.parse_and_encode_ngrams(
            found, str(folder / "umls-simstring.db"), str(folder / "cui-semtypes.db"), "unqlite"
        )
        (folder / "lowercase.flag").touch()
        (folder / "language.flag").write_text("ENG")
        (folder / "database_backend.flag").write_text("unqlite")
        words = SimpleNamespace(words=lambda *_: sorted(STOP_WORDS))
        patch.setattr(nltk.corpus, "stopwords", words)
        patch.setattr(spacy, "load", lambda *_, **__: spacy.blank("en"))
        self.matcher: Any = QuickUMLS(str(folder), threshold=THRESHOLD, accepted_semtypes=None)

    def candidates(self, text: str) -> set[tuple[str, str]]:
        """Strings and concepts found for the text as a whole."""
        strings = self.matcher.ss_db.get(text.lower())
        return {(string, cui) for string in strings for cui, _, _ in self.matcher.cuisem_db.get(string)}

    def mentions(self, text: str) -> list[list[dict[str, Any]]]:
        return list(self.matcher.match(text))


def texts_of_embedded() -> list[str]:
    return sorted({atom.text for atom in Embedded.find().atoms(Faults()) if isinstance(atom, Atom)})


@pytest.fixture(scope="module")
def patch() -> Iterator[pytest.MonkeyPatch]:
    with pytest.MonkeyPatch.context() as patch:
        yield patch


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The embedded vocabulary as a Metathesaurus folder, for the installer to read."""
    strings, types = [], set()
    for item in Embedded.find().atoms(Faults()):
        if isinstance(item, Atom):
            strings.append(conso(item.cui, item.text.replace("|", " "), preferred="Y" if item.preferred else "N"))
        else:
            types.add(sty(item.cui, item.semantic_type))
    return write_folder(tmp_path_factory.mktemp("rrf") / "embedded", strings, sorted(types))


@pytest.fixture(scope="module")
def stock(source: Path, tmp_path_factory: pytest.TempPathFactory, patch: pytest.MonkeyPatch) -> Stock:
    return Stock(tmp_path_factory.mktemp("stock") / "quickumls", source, patch)


@pytest.fixture(scope="module")
def index(source: Path, tmp_path_factory: pytest.TempPathFactory) -> VocabularyIndex:
    atoms = Metathesaurus.find(source, Selection()).atoms(Faults())
    return make_index(tmp_path_factory.mktemp("index") / "embedded", atoms)


def damaged(text: str, rng: random.Random) -> str:
    """The text as somebody might write it: with a typo, cut, in another order, in other case, or inside a sentence."""
    words, place = text.split(), rng.randrange(max(1, len(text)))
    choices = [
        text,
        text[:place] + text[place + 1 :],
        text[:place] + rng.choice("abcdefghijklmnopqrstuvwxyz") + text[place:],
        text[: place + 1] + text[place : place + 1] + text[place + 1 :],
        text[place:],
        " ".join(rng.sample(words, len(words))),
        " ".join(words[: rng.randint(1, len(words))]),
        text.upper(),
        f"{text}s",
        f"the {text} again",
    ]
    return rng.choice(choices)


@pytest.fixture(scope="module")
def queries() -> list[str]:
    rng, texts = random.Random(11), texts_of_embedded()
    # QuickUMLS asks for spans of words, which neither begin nor end with a space.
    asked = [damaged(text, rng).strip() for text in rng.sample(texts, QUERIES)]
    return [text for text in asked if text]


def test_every_candidate_of_stock_quickumls_is_a_candidate_here(
    stock: Stock, index: VocabularyIndex, queries: list[str]
) -> None:
    assert len(queries) > QUERIES * 0.99
    missed, found = [], 0
    for text in queries:
        theirs = stock.candidates(text)
        numbers = index.alike(text, THRESHOLD)
        ours = {
            (index.term(number).text.lower(), meaning.cui)
            for number in numbers
            for meaning in index.term(number).concepts
        }
        cuis = {cui for _, cui in ours}
        found += len(theirs)
        missed += [(text, string, cui) for string, cui in theirs if cui not in cuis]
        assert len(numbers) >= len({string for string, _ in theirs})
    assert found > QUERIES
    assert missed == []


def test_every_mention_of_stock_quickumls_is_a_mention_here(
    stock: Stock, index: VocabularyIndex, queries: list[str]
) -> None:
    quickumls = index.matcher().quickumls(THRESHOLD)
    differing, groups = [], 0
    for text in queries:
        theirs = stock.mentions(text)
        ours = quickumls.match(text)
        groups += len(theirs)
        if [_spans(group) for group in theirs] != [_spans(group) for group in ours]:
            differing.append((text, theirs, ours))
    assert groups > QUERIES
    assert differing == []


def _spans(group: list[dict[str, Any]]) -> tuple[int, int, float, set[str]]:
    first = group[0]
    return first["start"], first["end"], first["similarity"], {candidate["cui"] for candidate in group}


def test_overlapping_candidates_are_given_when_asked_for(index: VocabularyIndex) -> None:
    text = "abdominal pain"
    matcher = Matcher(index)
    best = matcher.mentions(text)
    every = matcher.mentions(text, best_match=False)
    assert len(every) > len(best)
    assert {(mention.start, mention.end) for mention in best} <= {(mention.start, mention.end) for mention in every}


def test_a_span_may_begin_with_any_word_when_syntax_is_ignored(index: VocabularyIndex) -> None:
    quickumls = index.matcher().quickumls()
    starts = {group[0]["start"] for group in quickumls.match("of dyspnea", best_match=False, ignore_syntax=True)}
    assert starts >= {3}


def test_a_language_model_that_is_not_installed_is_named(tmp_path: Path) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.undo()
        index = make_index(tmp_path / "small")
        from umls_linker.index import matcher

        patch.setattr(matcher.spacy, "load", spacy.util.load_model)
        with pytest.raises(UnknownLanguageModel, match="“xx_none” is not installed"):
            index.mentions("cough", language_model="xx_none")
