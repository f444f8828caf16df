"""A synthetic Metathesaurus, to measure the vocabulary index at the size of the real one, which nobody may pass on.

    python -m benchmarks.make_rrf --strings 1000000 --out DIR

Words are made of medical-sounding parts and drawn by Zipf's law, new ones for as long as there are strings (their
number grows with the root of the strings'), so that common words are in very many strings and most words in few.
Concepts have 2.2 strings on average that vary one wording, as synonyms do: words in another order, a plural, a word
more, other case. Some strings are suppressible, in another language, or the same for two concepts. The same arguments
give the same files.
"""

from __future__ import annotations

import argparse
import itertools
import random
import sys
from collections.abc import Iterator
from pathlib import Path

ROOTS = """
    cardi hepat nephr gastr neur derm oste arthr my hem leuk pneum bronch rhin ot ophthalm enter col cyst ureter
    prostat hyster oophor mast thyroid adren pancreat splen lymph angi phleb arteri crani encephal mening myel
    chondr tend burs fasci cost stern brachi crur ped man dactyl onych trich seb hidr lip gluc glyc prote amyl
""".split()  # noqa: SIM905
JOINS = ("o", "i", "a", "")
ENDINGS = """
    itis osis emia uria algia pathy megaly plasty ectomy otomy ostomy scopy graphy gram oma rrhea rrhage penia
    cytosis trophy plasia lysis stasis spasm ptosis cele iasis malacia sclerosis stenosis ic al ar ous oid in ine ol
    ide ate
""".split()  # noqa: SIM905
COMMON = """
    of with disease syndrome disorder acute chronic pain left right and the infection abnormal due to type fracture
    deficiency congenital injury upper lower severe primary secondary neoplasm malignant benign in unspecified
    without blood vessel muscle nerve joint structure function product tablet oral mg injection test measurement
    finding observation history procedure complication recurrent familial hereditary progressive early late onset
    childhood adult bilateral multiple generalized localized
""".split()  # noqa: SIM905
SOURCES = (("SNOMEDCT_US", 40), ("MSH", 20), ("MDR", 12), ("RXNORM", 12), ("CHV", 8), ("ICD10CM", 5), ("HPO", 3))
TYPES = ("T047", "T033", "T184", "T121", "T061", "T023", "T060", "T191", "T046", "T037", "T109", "T116")
STRINGS_A_CONCEPT = 2.2


class Words:
    """Words in the order of their rank, made as they are needed; `draw` takes one by Zipf's law."""

    def __init__(self, rng: random.Random) -> None:
        self._rng = rng
        self._words = list(COMMON)
        self._known = set(self._words)

    def draw(self) -> str:
        # The inverse of a continuous Zipf distribution (exponent 1) over the words so far and one new one.
        rank = int((len(self._words) + 1) ** self._rng.random()) - 1
        if rank >= len(self._words) - 1 or self._rng.random() < 0.004:
            self._words.append(self._new())
        return self._words[rank]

    def rare(self) -> str:
        """A word of its own, as single words name one thing."""
        self._words.append(self._new())
        return self._words[-1]

    def _new(self) -> str:
        rng = self._rng
        while True:
            roots = [rng.choice(ROOTS) + rng.choice(JOINS) for _ in range(rng.choice((1, 1, 1, 2)))]
            word = "".join(roots) + rng.choice(ENDINGS)
            if rng.random() < 0.05:
                word += str(rng.randint(1, 999))
            if word not in self._known:
                self._known.add(word)
                return word


def concepts(strings: int, rng: random.Random) -> Iterator[tuple[str, list[str]]]:
    """CUIs with their strings, until there are that many strings."""
    words, made, kept = Words(rng), 0, "pain"
    for number in itertools.count(1):
        length = min(14, 1 + int(rng.expovariate(0.33)))
        base = [words.draw() for _ in range(length)] if length > 1 else [words.rare()]
        wanted = min(strings - made, 1 + min(20, int(rng.expovariate(1 / (STRINGS_A_CONCEPT - 0.62)))))
        texts = list(itertools.islice(variants(base, words, rng), wanted))
        if rng.random() < 0.01:
            texts[0] = kept  # a string that two concepts share
        kept = texts[-1]
        made += len(texts)
        yield f"C{number:07}", texts
        if made >= strings:
            return


def variants(base: list[str], words: Words, rng: random.Random) -> Iterator[str]:
    """The wording, then others for the same: endless, and not all of them different."""
    yield " ".join(base).capitalize()
    while True:
        changed, kind = list(base), rng.random()
        if kind < 0.25:
            rng.shuffle(changed)
        elif kind < 0.45:
            changed[-1] += "s"
        elif kind < 0.75:
            changed.insert(rng.randint(0, len(changed)), words.draw())
        elif kind < 0.85:
            changed = [*changed[1:], "of", changed[0]] if len(changed) > 1 else [*changed, "nos"]
        text = " ".join(changed)
        yield text.upper() if kind > 0.95 else text


def write(strings: int, out: Path, seed: int = 1) -> None:
    """MRCONSO.RRF and MRSTY.RRF. `strings` are the selectable English ones; a tenth as many others are among them."""
    rng = random.Random(seed)
    names, weights = [name for name, _ in SOURCES], [weight for _, weight in SOURCES]
    atom = 0
    out.mkdir(parents=True, exist_ok=True)
    with (out / "MRCONSO.RRF").open("w", encoding="utf-8") as conso, (out / "MRSTY.RRF").open("w") as sty:
        for cui, texts in concepts(strings, rng):
            for code in sorted(set(rng.choices(TYPES, k=rng.choice((1, 1, 1, 1, 2))))):
                sty.write(f"{cui}|{code}|A1.1|Some type|AT{atom:08}||\n")
            for place, text in enumerate(texts):
                source = rng.choices(names, weights)[0]
                atom += 1
                conso.write(line(cui, "ENG", "P" if place == 0 else "S", atom, source, text, "N"))
                if (extra := rng.random()) < 0.1:
                    atom += 1
                    language, suppress = ("ENG", "O") if extra < 0.06 else ("SPA", "N")
                    conso.write(line(cui, language, "S", atom, source, f"{text} alias", suppress))


def line(cui: str, language: str, status: str, atom: int, source: str, text: str, suppress: str) -> str:
    first = status == "P"
    sort, form, preferred = ("PT", "PF", "Y") if first else ("SY", "VO", "N")
    return (
        f"{cui}|{language}|{status}|L{atom:07}|{form}|S{atom:07}|{preferred}|A{atom:08}||||"
        f"{source}|{sort}|{atom}|{text}|0|{suppress}||\n"
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--strings", type=int, required=True, help="how many selectable strings")
    parser.add_argument("--out", type=Path, required=True, help="folder for MRCONSO.RRF and MRSTY.RRF")
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    if arguments.strings < 1:
        parser.error("--strings must be at least 1")
    write(arguments.strings, arguments.out, arguments.seed)
    print(f"{arguments.strings:,} strings in {arguments.out}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
