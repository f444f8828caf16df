"""One spelling for many: folding of text, and stems of words as the keys of the word index.

`fold` makes two strings equal that differ only in how they are written (case, accents, punctuation, possessive, British
or American spelling). `word_keys` goes further and keeps of a string only the stems of the words that carry meaning.
Both are pure, cheap and never raise: a vocabulary is folded string by string when it is built, a phrase when it is
looked up, and both must agree. What needs medical knowledge (abbreviations, everyday words, roots) is not here but in
`wordings.py`, on the side of the query.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

VERSION = 1  # Raised whenever a key changes: an index built with another version has to be built anew.


def _listed(text: str) -> list[str]:
    """The entries of a table that is written as text, between white space."""
    return text.split()


_APOSTROPHES = str.maketrans({"’": "'", "‘": "'", "ʼ": "'", "`": "'", "´": "'", "ʹ": "'"})
_GREEK = str.maketrans(
    {"α": " alpha ", "β": " beta ", "γ": " gamma ", "δ": " delta ", "κ": " kappa ", "μ": "u", "ω": " omega "}
)
_DOTTED = re.compile(r"\b(?:[^\W\d_]\.){2,}(?:[^\W\d_]\b)?")
_POSSESSIVE = re.compile(r"(?<=\w)'s\b")
_NOT_A_WORD = re.compile(r"[\W_]+")

# British spelling → American, which most vocabularies use. Fragments, not words: they are safe in any word that
# contains them.
_SPELLING_FRAGMENTS = (
    (re.compile(r"rrhoea|rrhoe(?=i)"), "rrhea"),
    (re.compile(r"pnoea|pnoe(?=i)"), "pnea"),
    (re.compile(r"oe(?=dem|soph|str|lia[ck])"), "e"),
    (re.compile(r"\bfoet"), "fet"),
    (re.compile(r"amoeb"), "ameb"),
    (re.compile(r"homoeo"), "homeo"),
    (re.compile(r"manoeuv(?:re|er)"), "maneuver"),
    (re.compile(r"ae(?=[a-z])(?![lr])"), "e"),
    (
        re.compile(r"\b(tum|col|discol|od|hum|behavi|lab|fav|flav|neighb|vap|rum|vig|rig|sav|hon|harb)our(?!i?ous|t)"),
        r"\1or",
    ),
    (re.compile(r"isation"), "ization"),
    (re.compile(r"lys(?=e[ds]?\b|ing\b)"), "lyz"),
    (re.compile(r"\b(cent|lit|fib|calib|theat|goit|[a-z]*met)re(?=s?\b)"), r"\1er"),
    (re.compile(r"sulph"), "sulf"),
    (re.compile(r"\bleuc(?=o|a?em)"), "leuk"),
    (re.compile(r"\bgrey"), "gray"),
    (re.compile(r"\bprogramme"), "program"),
    (re.compile(r"\bageing\b"), "aging"),
    (re.compile(r"\bmould"), "mold"),
    (re.compile(r"\b(trave|cance|labe|mode)ll(?=ed\b|ing\b|er\b)"), r"\1l"),
    (re.compile(r"(?<=[a-z]{4}[^aeiouw])is(?=e[ds]?\b|ing\b)"), "iz"),
)
# Words in -ise that are no verbs in -ize.
_ISE = frozenset(
    _listed(
        """
        advise compromise devise disguise enterprise excise exercise expertise franchise immunocompromise improvise
        incise merchandise otherwise precise premise promise revise supervise surprise televise circumcise likewise
        """
    )
)
# A word with none of these has no British form.
_BRITISH = re.compile(r"oe|ae|our|is[ae]|ising|lys|re|sulph|leuc|grey|programme|ageing|mould|ll")
# For plain text: letters in lower case, digits as they are, everything else as a space.
_PLAIN_WORDS = {code: chr(code).lower() if chr(code).isalnum() else " " for code in range(128)}


def fold(text: str) -> str:
    """`text` in lower case without accents and punctuation, words one space apart, in American spelling. Empty if
    nothing is left.

    "Crohn’s  disease" and "crohn disease" fold alike, "U.T.I." and "uti", "diarrhoea" and "diarrhea", "can't" and
    "cant". Letters of other scripts stay as they are.
    """
    return " ".join(map(american, plain_words(text)))


def plain_words(text: str) -> list[str]:
    """The words of `text` as `fold` has them, but for their spelling, which `american` brings in line."""
    if text.isascii() and text.isprintable():
        if "." in text or "'" in text:
            text = _joined(text.lower())
        return text.translate(_PLAIN_WORDS).split()
    text = unicodedata.normalize("NFKC", text).translate(_APOSTROPHES)
    text = "".join(
        letter for letter in unicodedata.normalize("NFD", text.casefold()) if not unicodedata.combining(letter)
    )
    text = _joined(unicodedata.normalize("NFC", text.translate(_GREEK)).lower())
    return [word for word in _NOT_A_WORD.split(text) if word]


def _joined(text: str) -> str:
    """Without the marks that divide no words: "u.t.i." is "uti ", "crohn's" is "crohn", "can't" is "cant"."""
    if "." in text:
        text = _DOTTED.sub(lambda dotted: dotted.group().replace(".", "") + " ", text)
    if "'" in text:
        text = _POSSESSIVE.sub("", text).replace("'", "")
    return text


@lru_cache(maxsize=1 << 14)
def american(word: str) -> str:
    """A folded word in American spelling, by rule; a word that has none of the British forms comes back as it is."""
    if len(word) < 4 or len(word) > 60 or not word.isascii() or not _BRITISH.search(word):
        return word
    for fragment, replacement in _SPELLING_FRAGMENTS:
        if replacement == "iz" and (
            word.removesuffix("d").removesuffix("s") in _ISE or word.removesuffix("ing") + "e" in _ISE
        ):
            continue
        word = fragment.sub(replacement, word)
    return word


# Words that say nothing about which concept is meant. "no", "not", "without", "up", "out", "off" do and are kept.
STOP_WORDS = frozenset(
    _listed(
        """
        a an the this that these those some any my your his her its our their i me you he she it we they him them us
        myself of in on at to for from by with and or as into onto per via am is are was were be been being has have
        had having do does did doing will would ll ve im ive there here s t d m re
        """
    )
)

# Form:word that it is a form of.
_IRREGULAR = dict(
    pair.split(":")
    for pair in _listed(
        """
        abdomen:abdomin ate:eat eaten:eat bitten:bite bled:bleed broke:break broken:break breakage:break burnt:burn
        caught:catch children:child criteria:criterion drank:drink drunk:drink feces:fecal feet:foot fell:fall
        fallen:fall felt:feel foramina:foramen gone:go goes:go going:go went:go got:get gotten:get getting:get
        kept:keep lose:loss loses:loss losing:loss lost:loss men:man ova:ovum shook:shake shaken:shake shaky:shake
        slept:sleep spat:spit stood:stand swollen:swell taken:take took:take teeth:tooth threw:throw thrown:throw
        tore:tear torn:tear varices:varix vertebrae:vertebra woke:wake woken:wake women:woman wore:wear worn:wear
        died:death dead:death dying:death die:death dies:death ii:2 iii:3 spinal:spine spines:spine lenses:lens
        """
    )
)
# Their stems are so far from them that a misspelling of the form is none of the stem.
IRREGULAR_FORMS = tuple(form for form in _IRREGULAR if len(form) > 4)
# Words that look inflected and are not, or whose stem would be that of another word.
_KEPT = frozenset(
    _listed(
        """
        news canted gas pus aids always herpes rabies scabies series menses biceps triceps forceps lens seed need feed
        red wing king nothing something anything during evening morning flatus spine spleen cancer fever extremity
        """
    )
)

# -ending:what replaces it:letters that must be left; by the last letter. The first that fits is taken; longer ones come
# before shorter ones.
_ENDINGS: dict[str, list[tuple[str, str, int]]] = {}
for _row in _listed(
    """
    lessness:less:3 fulness::3 iveness::4 ousness::4 iness::3 ness::3 ization::4 ational::4 ation::4 ative::4
    fully::3 ful::3 ically::3 ical::4 otic:osis:3 atic:at:3 ic::4 iety:i:3 ility::4 ity::4 ingly::3 edly::3
    ously::4 ally::3 ous::4 ency::4 ancy::4 ence::4 ance::4 ent::5 ant::5 ment::4 izing::4 ized::4 ize::4
    ating::4 ated::4 ate::4 ying:y:2 ing::3 ied::3 ed::3 ually::3 ual::3 ial::3 al::4 ism::4 sion:s:2 ion::4
    ive::4 ia::4 us::4 i::4 ly::3 y::3 e::3
    """
):
    _ending, _instead, _least = _row.split(":")
    _ENDINGS.setdefault(_ending[-1], []).append((_ending, _instead, int(_least)))
_VOWEL = re.compile(r"[aeiouy]")


@lru_cache(maxsize=1 << 14)
def stem(word: str) -> str:
    """The stem of a folded word: what its inflected and simply derived forms share. "aches", "aching" and "achy" give
    "ach".

    A stem is a key, not a word. Short words, words with digits and words of other scripts are their own stem.
    """
    word = _IRREGULAR.get(word, word)
    if word in _KEPT or len(word) < 4 or len(word) > 60 or not (word.isascii() and word.isalpha()):
        return word
    word = _singular(word)
    word = _IRREGULAR.get(word, word)
    if word in _KEPT:
        return word
    shorter = _without_ending(word)
    if word == f"{shorter}ness":  # a noun of an adjective, which may have an ending of its own
        shorter = _without_ending(shorter)
    return _trimmed(shorter)


def _without_ending(word: str) -> str:
    for ending, instead, least in _ENDINGS.get(word[-1], ()):
        if word.endswith(ending):
            kept = word[: -len(ending)]
            if len(kept) >= least and _VOWEL.search(kept) and not (ending == "ed" and kept.endswith("e")):
                return kept + instead
    return word


def _singular(word: str) -> str:
    """An English or Latin plural as its singular."""
    if word.endswith("ae") and len(word) > 5:
        return word[:-1]
    if not word.endswith("s") or word.endswith(("ss", "us", "is")):
        return word
    if len(word) > 6 and word.endswith(("oses", "stases", "lyses", "theses", "ereses")):
        return word[:-2] + "is"
    if word.endswith("ies"):
        return word[:-3] + "y" if len(word) > 4 else word[:-1]
    if word.endswith(("sses", "xes", "ches", "shes", "zzes")) and not word.endswith("aches"):
        return word[:-2]
    return word[:-1]


def _trimmed(word: str) -> str:
    """A stem without a last doubled consonant, "e" or "y": what endings leave behind in different ways."""
    if len(word) > 3 and word[-1] in "ey":
        word = word[:-1]
    doubled = len(word) > 3 and word[-1] == word[-2] and word[-1] not in "aeiou"
    if doubled and (len(word) > 4 or word[-1] not in "ls"):
        word = word[:-1]
    return word


def word_keys(text: str) -> tuple[str, ...]:
    """The stems of the meaningful words of `text`, in their order; a string of stop words alone keeps them all.

    "Pain in the ankles" and "ankle pain" have the same keys in another order. A word said twice is there twice.
    """
    return keys_of_folded(fold(text))


def keys_of_folded(folded: str) -> tuple[str, ...]:
    """`word_keys` of a string that is folded already, which need not be folded twice."""
    words = folded.split()
    return tuple(stem(word) for word in words if word not in STOP_WORDS) or tuple(stem(word) for word in words)
