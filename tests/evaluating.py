"""A small invented dialogue in the dataset's form, and predictions for it, whose scores are worked out by hand."""

from __future__ import annotations

import copy
import json
import uuid
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from annotation.domain.predictions import Predictions
from annotation.domain.unrolling import Unrolled
from annotation.models import EvaluationTask, Project, User
from annotation.services.evaluation_gold import GoldChoice, project_gold
from annotation.services.evaluations import evaluation_create, evaluation_folder

Json = dict[str, Any]

# The example of the paper: MediTOD (arXiv 2410.14204).
PAPER_NLU = [
    {
        "intent": "inform",
        "slots": {
            "positive_symptom": [
                {"value": "pharyngitis", "onset": "past four days"},
                {"value": "fever", "onset": "last two days"},
            ]
        },
    }
]


def doctor(number: int, text: str, *actions: Json) -> Json:
    return {"speaker": "doctor", "uttr_id": number, "text": text, "keywords": [], "actions": list(actions)}


def patient(number: int, text: str, *nlu: Json) -> Json:
    return {
        "speaker": "patient",
        "uttr_id": number,
        "text": text,
        "keywords": [],
        "dialog_state": {},
        "nlu": list(nlu),
    }


def dataset() -> Json:
    """One dialogue: 7 tuples of the patient (2 of them not medical) and 9 of the doctor (1 not medical)."""
    turns = [
        doctor(0, "What brings you in?", {"action": "nod_prompt_salutations"}),
        patient(1, "My throat, for four days. And a fever.", *copy.deepcopy(PAPER_NLU)),
        doctor(
            2,
            "Any cough? Dry or wet?",
            {
                "action": "inquire",
                "symptom": [
                    {
                        "value": "coughing",
                        "checks": [{"type": "onset"}, {"type": "characteristics", "values": ["dry or wet"]}],
                    }
                ],
            },
        ),
        patient(
            3,
            "No. I am 40.",
            {
                "intent": "inform",
                "slots": {"negative_symptom": [{"value": "coughing"}], "basic_information": [{"age": "40"}]},
            },
        ),
        doctor(
            4,
            "Does your chest hurt?",
            {
                "action": "inquire",
                "symptom": [{"value": "pain", "checks": [{"type": "location", "values": ["chest"]}]}],
            },
        ),
        patient(5, "The bus was late.", {"intent": "chit-chat"}),
        doctor(
            6,
            "It is a cold. Mind the steps.",
            {"action": "diagnosis", "disease": [{"value": "common cold"}]},
            {"action": "chit-chat"},
        ),
        patient(7, "Mm."),  # nobody labelled it
        {"speaker": "control", "uttr_id": 8, "text": "", "keywords": []},
    ]
    return {"7": {"utterances": turns}}


def edited_nlu() -> list[Json]:
    """The patient's turns with a rewording, an onset left out, a symptom too many, a wrong status, a turn missing."""
    return [
        line(
            1,
            nlu=[
                {
                    "intent": "inform",
                    "slots": {
                        "positive_symptom": [
                            {"value": "fever"},
                            {"value": "dyspnea"},
                            {"value": "pharyngitis", "onset": "the last 4 days"},
                        ]
                    },
                }
            ],
        ),
        line(
            3,
            nlu=[
                {
                    "intent": "inform",
                    "slots": {"basic_information": [{"age": "40"}], "positive_symptom": [{"value": "coughing"}]},
                }
            ],
        ),
    ]


def edited_actions() -> list[Json]:
    """What the doctor asks second comes first, what came first second, and the diagnosis is right."""
    gold = dataset()["7"]["utterances"]
    return [
        line(2, actions=gold[4]["actions"]),
        line(4, actions=[{"action": "inquire", "symptom": [{"value": "coughing"}]}]),
        line(6, actions=gold[6]["actions"][:1]),
    ]


def line(number: int, dialogue: str = "7", **given: Any) -> Json:
    return {"dialogue_id": dialogue, "uttr_id": number, **given}


def own_predictions(gold: Mapping[str, Any], speaker: str, key: str) -> list[Json]:
    """A dataset as predictions of itself."""
    return [
        line(turn["uttr_id"], name, **{key: turn[key]})
        for name, dialogue in gold.items()
        for turn in dialogue["utterances"]
        if turn["speaker"] == speaker
    ]


def write_lines(path: Path, lines: Iterable[Json | str]) -> Path:
    texts = [one if isinstance(one, str) else json.dumps(one) for one in lines]
    path.write_text("".join(f"{text}\n" for text in texts), encoding="utf-8")
    return path


def predicted(lines: Sequence[Json], unroll: Any, key: str) -> Predictions[frozenset[Unrolled]]:
    """Predictions as the reader gives them."""
    return Predictions({(one["dialogue_id"], one["uttr_id"]): frozenset(unroll(one[key])) for one in lines}, len(lines))


def project_predictions(project: Project, task: str, *, but: int = 0, extra: str = "") -> list[Json]:
    """The project's gold as predictions of itself, with the last `but` lines left out, and a symptom that nobody said
    added to the first line."""
    dataset = project_gold(project=project, choice=GoldChoice()).dataset
    speaker, key = ("patient", "nlu") if task == "nlu" else ("doctor", "actions" if task == "pol" else "text")
    lines = copy.deepcopy(own_predictions(dataset, speaker, key))
    if extra:
        lines[0][key].append({"intent": "inform", "slots": {"positive_symptom": [{"value": extra}]}})
    return lines[: len(lines) - but]


def jsonl(lines: Iterable[Json | str]) -> bytes:
    texts = [one if isinstance(one, str) else json.dumps(one) for one in lines]
    return "".join(f"{text}\n" for text in texts).encode()


def make_evaluation(
    project: Project, actor: User, lines: Iterable[Json | str], system: str = "S", **options: Any
) -> Any:
    """An evaluation of such a file, made by the service as the page makes it."""
    evaluation_id = uuid.uuid4()
    folder = evaluation_folder(evaluation_id)
    folder.mkdir(parents=True)
    (folder / "received").write_bytes(jsonl(lines))
    usual: dict[str, Any] = {"task": EvaluationTask.NLU, "comparator": "normalised", "choice": GoldChoice()}
    return evaluation_create(
        project=project,
        actor=actor,
        system=system,
        stored=folder / "received",
        file_name="predictions.jsonl",
        evaluation_id=evaluation_id,
        **{**usual, **options},
    )
