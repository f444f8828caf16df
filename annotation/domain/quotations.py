"""Whether a text repeats what was said in a dialogue: guidelines must not tell which dialogue they come from."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence

RUN = 5  # as many words in a row are hardly said twice by chance; "about two weeks now" is
_WORD = re.compile(r"\w+(?:['’]\w+)*")
_WHOLE = 3  # a shorter utterance tells nothing even as a whole


def quoted(text: str, utterances: Iterable[str]) -> str:
    """The first words of the text, as it spells them, that repeat an utterance; "" where nothing is repeated.

    Repeated is a run of RUN words, or a whole utterance of at least three; case and punctuation do not count.
    """
    found = list(_WORD.finditer(text))
    words = [_plain(match.group()) for match in found]
    for utterance in utterances:
        said = [_plain(word) for word in _WORD.findall(utterance)]
        length = min(RUN, len(said))
        if length < _WHOLE:
            continue
        runs = {tuple(said[start : start + length]) for start in range(len(said) - length + 1)}
        for start in range(len(words) - length + 1):
            if tuple(words[start : start + length]) in runs:
                end = start + _same(words[start:], said, length)
                return text[found[start].start() : found[end - 1].end()]
    return ""


def _same(words: Sequence[str], said: Sequence[str], length: int) -> int:
    """How many words from the first on stand in the same row in the utterance."""
    best = length
    for start in range(len(said) - length + 1):
        count = 0
        while count < len(words) and start + count < len(said) and words[count] == said[start + count]:
            count += 1
        best = max(best, count)
    return best


def _plain(word: str) -> str:
    return unicodedata.normalize("NFKC", word).replace("’", "'").casefold()
