"""The two forms of a file of predictions: JSON lines, and a whole dataset (MediTOD's `dialogs.json`).

A dataset is what an annotator or an export gives; its utterances are handed on as lines, so that everything after this
knows one form only. `utterances.jsonl` of an export has lines already.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, BinaryIO

from annotation.domain.dataset_writing import DatasetError
from annotation.domain.evaluation_gold import parse_dataset
from annotation.domain.notices import quoted
from annotation.domain.predictions import WrongFile, bounded_lines
from annotation.domain.text_decoding import UnreadableFile, decode

# A dataset is held whole. One of 22,500 utterances has 22 MB and 0.6 million objects and lists.
LARGEST_DATASET = 256 * 2**20  # bytes
MOST_CONTAINERS = 3_000_000  # objects and lists, which can be two bytes long and need dozens
_HEAD = 4096  # bytes; an id is far shorter
# {"115": {"utterances": …, which no line of predictions begins with
_DATASET = re.compile(rb'(?:\xef\xbb\xbf)?\s*\{\s*"(?:[^"\\]|\\.)*"\s*:\s*\{\s*"utterances"\s*:')


def utterance_lines(stream: BinaryIO, file: str) -> Iterator[bytes | None]:
    """The lines of a file that can be sought in, one an utterance; None for one that is too long to be read.

    Of a dataset each utterance is a line, counted from 1. Raises WrongFile for a dataset that cannot be read.
    """
    if is_dataset(stream):
        yield from _dataset_lines(stream.read(LARGEST_DATASET + 1), file)
    else:
        yield from bounded_lines(stream)


def is_dataset(stream: BinaryIO) -> bool:
    """Whether a file that can be sought in begins like a dataset, which can only be read whole."""
    start = stream.tell()
    head = stream.read(_HEAD)
    stream.seek(start)
    return bool(_DATASET.match(head))


def _dataset_lines(data: bytes, file: str) -> Iterator[bytes]:
    if len(data) > LARGEST_DATASET:
        raise WrongFile(f"{file} is larger than {LARGEST_DATASET // 2**20} MB; send it as JSON lines.")
    try:
        text, _ = decode(data, file)
        if text.count("{") + text.count("[") > MOST_CONTAINERS:
            raise WrongFile(f"{file} has more than {MOST_CONTAINERS:,} objects and lists; send it as JSON lines.")
        dataset = parse_dataset(text, file)
    except UnreadableFile as error:
        raise WrongFile(str(error.notice)) from error
    except DatasetError as error:
        raise WrongFile(f"{file}: {error}") from error
    for name, dialogue in dataset.items():
        turns = dialogue.get("utterances") if isinstance(dialogue, Mapping) else None
        if not isinstance(turns, list):
            raise WrongFile(f"{file}: dialogue {quoted(name)} has no list “utterances”.")
        for position, turn in enumerate(turns):
            yield json.dumps(_entry(name, position, turn)).encode()


def _entry(name: str, position: int, turn: Any) -> Any:
    """An utterance as a line says it; its number is its place where it gives none, as in the gold."""
    return {"uttr_id": position, **turn, "dialogue_id": name} if isinstance(turn, dict) else turn
