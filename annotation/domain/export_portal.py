"""The portal's own files, two a dialogue: `RES0001.dialogue.json` and `RES0001.labels.json`.

They say everything that this portal knows of a dialogue's words and labels, and can be imported again.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

from annotation.domain.exported import ONE_PIECE, Exported, Piece
from annotation.domain.file_names import file_stem
from annotation.domain.json_writing import compact, one_a_line
from annotation.domain.strict_json import BadJson, read_json

FOLDER = "portal"


def dialogue_path(dialogue_id: str, stem: str = "") -> str:
    """`stem` where the id alone does not say what its files are called."""
    return f"{FOLDER}/{stem or file_stem(dialogue_id)}.dialogue.json"


def labels_path(dialogue_id: str, stem: str = "") -> str:
    return f"{FOLDER}/{stem or file_stem(dialogue_id)}.labels.json"


def listed_stem(dialogue_id: str, stem: str, listed: Collection[str], prefix: str = "") -> str:
    """What the dialogue's files are called among the paths of a manifest. `stem` is what they would be called today;
    exports of before had reserved names, and such as differ in case only."""
    known = (one for one in (stem, file_stem(dialogue_id), dialogue_id) if prefix + dialogue_path("", one) in listed)
    return next(known, stem)


def stated_specialty(data: bytes) -> str:
    """The specialty that a dialogue's own file states. An id may look as if it named one (`RES0001`), which counts
    where somebody brings a dialogue, but not in an export, which says what the portal knows."""
    try:
        document = read_json(data)
    except BadJson:
        return ""
    stated = document.get("specialty", "") if isinstance(document, dict) else ""
    return stated.strip() if isinstance(stated, str) else ""


def portal_pieces(item: Exported) -> Iterator[Piece]:
    head = compact({"dlg_id": item.id, **({"specialty": item.specialty} if item.specialty else {})})[:-1]
    spoken = one_a_line(map(compact, item.spoken), "[", "]")
    yield Piece(dialogue_path(item.id, item.stem), f'{head}, "utterances": {spoken}}}\n', ONE_PIECE)
    yield Piece(labels_path(item.id, item.stem), one_a_line(map(compact, item.labels), "[", "]") + "\n", ONE_PIECE)
