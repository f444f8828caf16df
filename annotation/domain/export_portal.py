"""The portal's own files, two a dialogue: `RES0001.dialogue.json` and `RES0001.labels.json`.

They say everything that this portal knows of a dialogue's words and labels, and can be imported again.
"""

from __future__ import annotations

from collections.abc import Iterator

from annotation.domain.exported import ONE_PIECE, Exported, Piece, file_stem
from annotation.domain.json_writing import compact, one_a_line

FOLDER = "portal"


def dialogue_path(dialogue_id: str) -> str:
    return f"{FOLDER}/{file_stem(dialogue_id)}.dialogue.json"


def labels_path(dialogue_id: str) -> str:
    return f"{FOLDER}/{file_stem(dialogue_id)}.labels.json"


def portal_pieces(item: Exported) -> Iterator[Piece]:
    head = compact({"dlg_id": item.id, **({"specialty": item.specialty} if item.specialty else {})})[:-1]
    spoken = one_a_line(map(compact, item.spoken), "[", "]")
    yield Piece(dialogue_path(item.id), f'{head}, "utterances": {spoken}}}\n', ONE_PIECE)
    yield Piece(labels_path(item.id), one_a_line(map(compact, item.labels), "[", "]") + "\n", ONE_PIECE)
