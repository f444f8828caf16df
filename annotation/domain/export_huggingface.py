"""A folder that `datasets.load_dataset` of Hugging Face reads: JSON lines for each split, and a card.

What has the same shape in every utterance is a column; `annotation` and `dialog_state`, whose keys differ from one
utterance to the next, are JSON in text, which no reader of tables has to guess a type for.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import yaml

from annotation.domain.concepts import Outcome
from annotation.domain.export_concepts import CANONICAL
from annotation.domain.export_utterances import intents_of
from annotation.domain.exported import ONE_PIECE, Exported, Piece, TurnText
from annotation.domain.json_writing import compact
from annotation.domain.manifest import Manifest, Part
from annotation.domain.splits import Split
from annotation.domain.unrolling import Unrolled

FOLDER = "huggingface"
CARD_PATH = f"{FOLDER}/README.md"
SPLIT_NAMES = {Split.TRAIN: "train", Split.VALID: "validation", Split.TEST: "test", Split.OOD_TEST: "ood_test"}
_TEXT = "string"
_COLUMNS = """\
## One row, one utterance

- `dialogue_id`, `uttr_id`: the dialogue, and the place of the utterance in it, counted from 0
- `speaker`, `text`, `keywords`: who says what, and the words that a reader marked in it
- `intents`: the intents of the utterance, each once
- `labels`: its labels as flat tuples; what does not apply is empty
- `annotation`: JSON, the doctor's `actions` or the patient's `nlu` in MediTOD's form (arXiv 2410.14204)
- `dialog_state`: JSON, the patient's state after the turn; empty on the doctor's turns"""


def data_path(split: str) -> str:
    return f"{FOLDER}/{SPLIT_NAMES[Split(split)]}.jsonl"


def huggingface_pieces(item: Exported) -> Iterator[Piece]:
    """Raises Malformed for labels that are not of the dataset's form."""
    labelled = zip(item.turns, item.written, item.unrolled, strict=True)
    lines = [compact(record(item.id, *one)) for one in labelled]
    if lines:
        yield Piece(data_path(item.split), "\n".join(lines) + "\n")


def record(dialogue_id: str, turn: Mapping[str, Any], written: TurnText, tuples: Iterable[Unrolled]) -> dict[str, Any]:
    """One utterance as a row of the table."""
    return {
        "dialogue_id": dialogue_id,
        "uttr_id": turn["uttr_id"],
        "speaker": turn["speaker"],
        "text": turn["text"],
        "keywords": list(turn["keywords"]),
        "intents": intents_of(turn),
        "labels": [one._asdict() for one in tuples],
        "annotation": written.labels,
        "dialog_state": written.state,
    }


def card_piece(manifest: Manifest, part: Part) -> Piece:
    """The card of one reading of the dialogues. It follows from the manifest, whose list of files it does not read."""
    present = [split for split in Split if part.counts["utterances_by_split"].get(split)]
    head: dict[str, Any] = {"pretty_name": manifest.title}
    if manifest.licence:
        head["license"] = manifest.licence
    files = [{"split": SPLIT_NAMES[split], "path": f"{SPLIT_NAMES[split]}.jsonl"} for split in present]
    head["configs"] = [{"config_name": "default", "data_files": files}]
    head["dataset_info"] = {"features": _features()}
    front = yaml.safe_dump(head, sort_keys=False, allow_unicode=True, width=1000)
    return Piece(CARD_PATH, f"---\n{front}---\n\n{_body(manifest, part, present)}", ONE_PIECE)


def _features() -> list[dict[str, Any]]:
    columns: list[dict[str, Any]] = [{"name": "dialogue_id", "dtype": _TEXT}, {"name": "uttr_id", "dtype": "int32"}]
    columns += [{"name": name, "dtype": _TEXT} for name in ("speaker", "text")]
    columns += [{"name": name, "list": _TEXT} for name in ("keywords", "intents")]
    columns.append({"name": "labels", "list": [{"name": name, "dtype": _TEXT} for name in Unrolled._fields]})
    return columns + [{"name": name, "dtype": _TEXT} for name in ("annotation", "dialog_state")]


def _body(manifest: Manifest, part: Part, present: list[Split]) -> str:
    dialogues, utterances = (part.counts[f"{what}_by_split"] for what in ("dialogues", "utterances"))
    rows = "\n".join(f"| {SPLIT_NAMES[one]} | {dialogues[one]:,} | {utterances[one]:,} |" for one in present)
    parts = [
        f"# {_one_line(manifest.title)}",
        "Doctor–patient dialogues, labelled utterance by utterance: what the doctor does, what the patient says, and "
        f"what is known of the patient after each of their turns. The labels are {_whose(manifest, part)}; they answer "
        f"the questionnaire {manifest.questionnaire['name']} {manifest.questionnaire['version']}.",
        f"| split | dialogues | utterances |\n|---|---:|---:|\n{rows}",
        _COLUMNS,
    ]
    parts += _concepts(manifest, part)
    if manifest.citation:
        parts.append(f"## Citation\n\n{manifest.citation.strip()}")
    return "\n\n".join(parts) + "\n"


def _concepts(manifest: Manifest, part: Part) -> list[str]:
    """Which concepts the values are linked to, and what the makers of their vocabularies want to be said."""
    found, used = part.concepts, manifest.vocabulary or ()
    if not found["concepts"] + found["proposed"]:
        return []
    names = "have the names of their concepts" if manifest.values == CANONICAL else "are as they were written"
    linked = sum(found["occurrences"][one] for one in (Outcome.CONCEPT, Outcome.PROPOSED))
    text = (
        f"Doctors decided which concepts medical values mean: {linked:,} of {sum(found['occurrences'].values()):,} are "
        f"linked to {found['concepts'] + found['proposed']:,} concepts, of which this project proposed "
        f"{found['proposed']:,}. The values here {names}; `medical_values.csv` beside this folder has both, and "
        "`concepts.csv` counts the concepts."
    )
    stated = [f"- {one['name']} {one['version']}: {one['attribution']}".removesuffix(": ") for one in used]
    return ["## Concepts", text, *(["\n".join(map(_one_line, stated))] if stated else [])]


def _whose(manifest: Manifest, part: Part) -> str:
    known = {"gold": "the gold, which adjudicators decided", "annotator": "those of one annotator"}
    return known.get(manifest.source) or f"those of one annotator ({part.folder})"


def _one_line(text: str) -> str:
    return " ".join(text.split())
