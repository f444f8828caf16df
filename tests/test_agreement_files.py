"""The command that compares two portal files."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError

COUGH = {"uid": "1", "intent": "inform", "slot": "symptom", "value": "cough", "status": "Yes"}
TRANSCRIPT = "D: What brings you in?\n\nP: A cough.\n\nD: Since when?\n\nP: Two days.\n"
GOLDEN_A = ["inform", "inform greet", "inquire", "", "inform", "diagnosis salutation", "inform", "inquire"]
GOLDEN_B = ["inform", "inform", "inquire", "", "inform inquire", "diagnosis", "chit_chat", "inquire"]


def write(path: Path, labels: list[dict[str, Any]]) -> str:
    path.write_text(json.dumps(labels), encoding="utf-8")
    return str(path)


def run(*words: str) -> str:
    out = io.StringIO()
    call_command("agreement_files", *words, stdout=out)
    return out.getvalue()


def run_json(*words: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(run(*words, "--json").splitlines()[-1])
    return found


def test_the_golden_fixture_as_two_files(tmp_path: Path) -> None:
    files = [
        write(
            tmp_path / name,
            [{"uid": str(place), "intent": one} for place, intents in enumerate(sets) for one in intents.split()],
        )
        for name, sets in (("a.json", GOLDEN_A), ("b.json", GOLDEN_B))
    ]
    found = run_json(*files)
    assert (found["coverage"]["n_used"], found["coverage"]["n_total"]) == (8, 8)
    assert round(found["intents"]["alpha_masi"], 6) == 0.540295
    assert round(found["intents"]["by_intent"]["inquire"]["kappa"], 6) == 0.714286
    assert round(found["intents"]["by_intent"]["greet"]["kappa"], 6) == 0.0
    assert found["by_speaker"] == {}
    assert "fewer than two dialogues" in found["methods"]


def test_with_the_dialogues_file_speakers_and_states_are_known(tmp_path: Path) -> None:
    dialogue = tmp_path / "RES1.txt"
    dialogue.write_text(TRANSCRIPT, encoding="utf-8")
    a, b = write(tmp_path / "a.json", [COUGH]), write(tmp_path / "b.json", [{**COUGH, "status": "No"}])
    found = run_json(a, b, "--dialogue", str(dialogue))
    assert found["coverage"]["n_total"] == 4
    assert list(found["by_speaker"]) == ["doctor", "patient"]
    assert (found["state"]["equal"], found["state"]["different"]) == (0, 2)
    assert found["decomposition"]["classes"]["status"]["n"] == 1


def test_the_length_can_be_given_without_a_file(tmp_path: Path) -> None:
    a = write(tmp_path / "a.json", [COUGH])
    assert run_json(a, a)["coverage"]["n_total"] == 2
    assert run_json(a, a, "--utterances", "5")["coverage"]["n_total"] == 5
    with pytest.raises(CommandError, match="last utterance is 0"):
        run(a, a, "--utterances", "1")


def test_people_read_a_paragraph_and_the_disagreements(tmp_path: Path) -> None:
    a, b = (
        write(tmp_path / "a.json", [{**COUGH, "mood": "low"}]),
        write(tmp_path / "b.json", [{**COUGH, "status": "No"}]),
    )
    text = run(a, b)
    assert "Cohen's κ" in text
    assert "utterance 1: another status" in text
    assert "a.json: Label 1" in text


@pytest.mark.parametrize("text", ["{", "{}", '[{"intent": "inform"}]'])
def test_a_file_that_is_none_is_refused_in_one_sentence(tmp_path: Path, text: str) -> None:
    good = write(tmp_path / "good.json", [COUGH])
    bad = tmp_path / "bad.json"
    bad.write_text(text, encoding="utf-8")
    with pytest.raises(CommandError, match=r"bad\.json"):
        run(good, str(bad))


def test_a_file_with_several_dialogues_needs_an_id(tmp_path: Path) -> None:
    dialogue = tmp_path / "both.json"
    turn = {"speaker": "patient", "uttr_id": 0, "text": "Hello."}
    dialogue.write_text(json.dumps({"1": {"utterances": [turn]}, "2": {"utterances": [turn]}}), encoding="utf-8")
    a = write(tmp_path / "a.json", [{"uid": "0", "intent": "salutations"}])
    with pytest.raises(CommandError, match="--dialogue-id"):
        run(a, a, "--dialogue", str(dialogue))
    assert run_json(a, a, "--dialogue", str(dialogue), "--dialogue-id", "2")["coverage"]["n_total"] == 1


def test_the_released_labels_agree_with_themselves(real_data: Path) -> None:
    labels = str(real_data / "meditod" / "RES0001.labels.json")
    found = run_json(labels, labels, "--dialogue", str(real_data / "meditod" / "RES0001.dialogue.json"))
    assert found["coverage"]["n_used"] == 112
    assert found["intents"]["kappa_whole_set"] == 1
    assert found["slot_values"]["f"] == 1
    assert found["state"]["share"] == 1
