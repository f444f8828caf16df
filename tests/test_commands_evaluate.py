"""The three commands that score predictions, from files to the exit status."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError

from annotation.domain.unrolling import unroll_nlu
from annotation.models import Label, LabelSet, Project
from tests.conftest import People
from tests.evaluating import (
    Json,
    dataset,
    edited_actions,
    edited_nlu,
    line,
    own_predictions,
    patient,
    write_lines,
)
from tests.exporting import make_gold_project, write
from tests.test_commands_files import run, run_json, shell

TASKS = [
    ("evaluate_nlu", "patient", "nlu"),
    ("evaluate_pol", "doctor", "actions"),
    ("evaluate_nlg", "doctor", "text"),
]


@pytest.fixture
def gold(tmp_path: Path) -> Path:
    path = tmp_path / "dialogs.json"
    path.write_text(json.dumps(dataset()), encoding="utf-8")
    return path


def evaluated(command: str, gold: Path, lines: list[Any], *words: str) -> Json:
    pred = write_lines(gold.parent / "pred.jsonl", lines)
    return run_json(command, "--gold", str(gold), "--pred", str(pred), *words)


def test_the_released_dialogues_against_themselves_score_1_on_all_three_tasks(real_data: Path, tmp_path: Path) -> None:
    path = real_data / "meditod" / "dialogs.json"
    released = json.loads(path.read_text(encoding="utf-8"))
    found = {}
    for command, speaker, key in TASKS:
        pred = write_lines(tmp_path / f"{key}.jsonl", own_predictions(released, speaker, key))
        words = ["--comparator", "exact"] if key != "text" else []
        found[key] = run_json(command, "--gold", str(path), "--pred", str(pred), *words)
    for key in ("nlu", "actions"):
        for part in ("overall", "medical", "non_medical"):
            assert found[key][part] == {"precision": 1, "recall": 1, "f1": 1}
    assert [one["precision"] for one in found["actions"]["precision_at"].values()] == [1, 1, 1, 1]
    figures = [found["text"][name] for name in ("bleu_2", "bleu_4", "rouge_1", "rouge_l")]
    assert figures == pytest.approx([1, 1, 1, 1])


def test_the_released_dialogues_with_known_edits_score_what_was_counted(real_data: Path, tmp_path: Path) -> None:
    """In dialogue 115 the onset of turn 3 is reworded, the blood of turn 11 turned into a wrong symptom, and turn 13
    (a symptom and its onset) left out."""
    path = real_data / "meditod" / "dialogs.json"
    released = json.loads(path.read_text(encoding="utf-8"))
    turns = {turn["uttr_id"]: turn for turn in released["115"]["utterances"]}
    assert turns[3]["nlu"][0]["slots"]["positive_symptom"][0]["onset"] == "two months ago"
    lines = own_predictions(released, "patient", "nlu")
    for one in lines:
        if (one["dialogue_id"], one["uttr_id"]) == ("115", 3):
            one["nlu"][0]["slots"]["positive_symptom"][0]["onset"] = "2 months earlier"
        if (one["dialogue_id"], one["uttr_id"]) == ("115", 11):
            one["nlu"][0]["slots"] = {"negative_symptom": [{"value": "blood"}]}
    lines = [one for one in lines if (one["dialogue_id"], one["uttr_id"]) != ("115", 13)]
    pred = write_lines(tmp_path / "pred.jsonl", lines)
    words = ["evaluate_nlu", "--gold", str(path), "--pred", str(pred)]
    counts = run_json(*words)["counts"]
    assert counts["medical"] == {"matched": 150, "missed": 2, "wrong": 1}
    assert counts["non_medical"] == {"matched": 49, "missed": 1, "wrong": 0}
    exact = run_json(*words, "--comparator", "exact")
    assert exact["counts"]["non_medical"] == {"matched": 48, "missed": 2, "wrong": 1}
    assert exact["predictions"]["missing"] == 1


@pytest.mark.parametrize("file", ["dialogs.json", "utterances.jsonl"])
@pytest.mark.parametrize("command", [one for one, _, _ in TASKS])
def test_the_portal_s_own_files_are_predictions_as_they_are(
    project: Project, people: People, tmp_path: Path, command: str, file: str
) -> None:
    """Gold against itself, and one annotator who left a turn out against gold."""
    make_gold_project(project, people.annotator, people.second, people.supervisor)
    write(project, tmp_path / "gold")
    first = LabelSet.objects.filter(annotator=people.annotator, dialogue__external_id="RES-1")
    Label.objects.filter(label_set__in=first, utterance__position=3).delete()
    write(project, tmp_path / "alice", source="annotator", annotator="alice")
    named = ["--gold", str(tmp_path / "gold/dialogs.json"), "--pred"]
    own = run_json(command, *named, str(tmp_path / "gold" / file))
    assert own["predictions"] | {"not_scored": 0, "lines": 0, "turns": 0, "predicted": 0} == {
        "lines": 0,
        "turns": 0,
        "predicted": 0,
        "missing": 0,
        "malformed": 0,
        "malformed_share": 0.0,
        "repeated": 0,
        "unknown": 0,
        "not_scored": 0,
    }
    hers = run_json(command, *named, str(tmp_path / "alice" / file))
    if command == "evaluate_nlg":
        assert own["bleu_4"] == hers["bleu_4"] == own["rouge_l"] == 1
        return
    assert own["overall"] == {"precision": 1, "recall": 1, "f1": 1}
    counts = {name: hers["counts"]["overall"][name] for name in ("missed", "wrong")}
    lost = len(unroll_nlu(gold_turn(tmp_path / "gold/dialogs.json", "RES-1", 3)["nlu"]))
    assert lost > 0
    assert counts == {"missed": lost if command == "evaluate_nlu" else 0, "wrong": 0}


def gold_turn(path: Path, dialogue: str, number: int) -> Json:
    turns = json.loads(path.read_text(encoding="utf-8"))[dialogue]["utterances"]
    found: Json = next(turn for turn in turns if turn["uttr_id"] == number)
    return found


def test_the_released_file_itself_is_a_prediction_of_itself(real_data: Path) -> None:
    path = str(real_data / "meditod" / "dialogs.json")
    for command, _, _ in TASKS:
        found = run_json(command, "--gold", path, "--pred", path)
        assert found["predictions"]["missing"] == found["predictions"]["malformed"] == 0
        assert found.get("rouge_l", found.get("overall")) in (1, {"precision": 1, "recall": 1, "f1": 1})


def test_known_edits_of_what_is_understood(gold: Path) -> None:
    found = evaluated("evaluate_nlu", gold, edited_nlu())
    assert found["medical"] == {"precision": 0.6, "recall": 0.6, "f1": 0.6}
    assert found["comparator"] == {"name": "normalised"}
    assert found["predictions"]["missing"] == 2


def test_known_edits_of_what_is_done(gold: Path) -> None:
    found = evaluated("evaluate_pol", gold, edited_actions())
    assert found["overall"]["precision"] == 0.2
    assert found["precision_at"]["4"]["precision"] == 0.8


def test_known_edits_of_what_is_said(gold: Path) -> None:
    """Two of three sentences are right, the third is missing: ROUGE is a mean over the three."""
    lines = own_predictions(dataset(), "doctor", "text")[:-1]
    found = evaluated("evaluate_nlg", gold, lines)
    assert found["rouge_1"] == pytest.approx(2 / 3)
    assert 0 < found["bleu_4"] < 1
    assert found["predictions"]["not_scored"] == 1
    assert found["predictions"]["missing"] == 1


@pytest.mark.parametrize(("command", "speaker", "key"), TASKS)
def test_a_malformed_prediction_counts_as_wrong_and_is_listed(gold: Path, command: str, speaker: str, key: str) -> None:
    lines: list[Any] = own_predictions(dataset(), speaker, key)
    right = evaluated(command, gold, lines)
    lines[1] = {**lines[1], key: {"symptom": "cough"}}
    found = evaluated(command, gold, [*lines, "{half a line"])
    assert found["predictions"]["malformed"] == 2
    assert found["predictions"]["malformed_share"] == 2 / (len(lines) + 1)
    assert [(one["kind"], one["line"]) for one in found["problems"]] == [
        ("malformed", 2),
        ("malformed", len(lines) + 1),
    ]
    figure = (lambda one: one["rouge_1"]) if key == "text" else (lambda one: one["overall"]["recall"])
    assert figure(found) < figure(right)
    if key != "text":
        assert found["malformed_counts_as"] == "wrong"
        empty = evaluated(command, gold, [*lines, "{half a line"], "--malformed", "empty")
        assert (found["counts"]["overall"]["wrong"], empty["counts"]["overall"]["wrong"]) == (1, 0)
        assert (empty["overall"]["recall"], empty["overall"]["precision"]) == (found["overall"]["recall"], 1)
        assert (empty["predictions"], empty["malformed_counts_as"]) == (found["predictions"], "empty")


def test_people_read_figures_intervals_and_the_first_problems(gold: Path) -> None:
    pred = write_lines(gold.parent / "pred.jsonl", [*edited_nlu(), *["{"] * 25])
    text = run("evaluate_nlu", "--gold", str(gold), "--pred", str(pred))
    lines = text.splitlines()
    assert [one.split()[:4] for one in lines if one.startswith(("overall", "medical ", "non_medical"))] == [
        ["overall", "0.6667", "0.5714", "0.6154"],
        ["medical", "0.6000", "0.6000", "0.6000"],
        ["non_medical", "1.0000", "0.5000", "0.6667"],
    ]
    assert "27 predictions; 25 malformed (92.59%)" in text
    assert "  line 3: It is no JSON (column 2)." in lines
    assert "and 5 more" in lines[-1]


def test_policy_and_sentences_are_shown_in_words_too(gold: Path) -> None:
    pred = write_lines(gold.parent / "pred.jsonl", edited_actions())
    text = run("evaluate_pol", "--gold", str(gold), "--pred", str(pred))
    assert "Precision@∞: 0.8000 (–), 4 of 5" in text
    pred = write_lines(gold.parent / "pred.jsonl", own_predictions(dataset(), "doctor", "text"))
    text = run("evaluate_nlg", "--gold", str(gold), "--pred", str(pred))
    assert "BLEU-4     1.0000" in text
    assert "BERTScore  left out: no local model was given" in text


def test_the_seed_of_the_intervals_is_chosen_and_stated(tmp_path: Path) -> None:
    said = [{"intent": "inform", "slots": {"travel": [{"status": "traveled"}]}}]
    many = {str(n): {"utterances": [patient(0, "x", *said)]} for n in range(12)}
    gold = tmp_path / "dialogs.json"
    gold.write_text(json.dumps(many), encoding="utf-8")
    lines = [line(0, str(n), nlu=said) for n in range(0, 12, 3)]
    found = [evaluated("evaluate_nlu", gold, lines, "--random-seed", seed) for seed in ("1", "1", "2")]
    assert found[0] == found[1]
    assert found[0]["resampling"]["seed"] == 1
    assert found[0]["intervals"] != found[2]["intervals"]


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--comparator", "chat"], "--comparator chat needs --chat-url"),
        (["--comparator", "chat", "--chat-timeout", "nan"], "seconds above 0"),
        (["--comparator", "chat", "--chat-timeout", "inf"], "seconds above 0"),
        (["--comparator", "chat", "--chat-model", "m", "--chat-url", "http://[::1/x"], "no http or https address"),
        (["--chat-key-variable", "PATH"], "--chat-key-variable needs --comparator chat"),
        (["--comparator", "chat", "--chat-url", "http://127.0.0.1:9"], "Name the model"),
        (["--chat-url", "http://127.0.0.1:9"], "needs --comparator chat"),
        (["--comparator", "chat", "--chat-key-variable", "NO_SUCH"], "no environment variable NO_SUCH"),
        (["--comparator", "chat", "--chat-timeout", "0"], "seconds above 0"),
        (["--comparator", "like"], "invalid choice"),
    ],
)
def test_a_comparator_that_cannot_work_is_refused(gold: Path, words: list[str], sentence: str) -> None:
    with pytest.raises(CommandError, match=sentence):
        evaluated("evaluate_nlu", gold, edited_nlu(), *words)


def test_a_chat_endpoint_that_is_not_there_ends_the_command(gold: Path) -> None:
    pred = write_lines(gold.parent / "pred.jsonl", edited_nlu())
    cache = gold.parent / "cache.jsonl"
    words = ["--comparator", "chat", "--chat-url", "http://127.0.0.1:9/v1", "--chat-model", "m"]
    done = shell(
        "evaluate_nlu", "--gold", str(gold), "--pred", str(pred), *words, "--chat-cache", str(cache), "--json",
        no_proxy="127.0.0.1",
    )  # fmt: skip
    assert done.returncode == 1
    assert json.loads(done.stdout)["error"] == done.stderr.strip()
    assert "Connection refused" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("gold_text", "lines", "sentence"),
    [
        ("[]", edited_nlu(), "dialogs.json: A dataset is a JSON object"),
        ('{"7": {"utterances": []}}', edited_nlu(), "dialogs.json: it has no utterance that this task predicts"),
        ('{"7": ', edited_nlu(), "dialogs.json, line 1: The JSON breaks off"),
        ('{"7": ' + "9" * 6000 + "}", edited_nlu(), "dialogs.json, line 1: The number"),
        ('{"7": {"utterances": [{"n": NaN}]}}', edited_nlu(), 'dialogs.json, line 1: The number "NaN"'),
        ('{"7": {"utterances": [{"n": 1e999}]}}', edited_nlu(), 'dialogs.json, line 1: The number "1e999"'),
        ('{"7": {"utterances": [{"text": "\\ud800"}]}}', edited_nlu(), "dialogs.json: It holds half of a character"),
        ('{"id": "7", "uttr_id": 0}\n{"id": "7", "uttr_id": 1}\n', edited_nlu(), "dialogs.json: These are JSON lines"),
        ('{"id": "7", "uttr_id": 0}', edited_nlu(), "dialogs.json: These are JSON lines, such as utterances.jsonl; a"),
        (None, [line(2, actions=[])], "pred.jsonl holds “actions”, not “nlu”; score it with evaluate_pol"),
        (None, [{"dlg_id": "7", **dataset()["7"]}], "pred.jsonl is no file of predictions"),
        (None, [line(1, "8", nlu=[])], "none of its 1 lines predicts"),
        (None, [], "pred.jsonl is empty"),
    ],
)
def test_a_wrong_file_is_said_in_one_sentence(
    gold: Path, gold_text: str | None, lines: list[Any], sentence: str
) -> None:
    if gold_text is not None:
        gold.write_text(gold_text)
    with pytest.raises(CommandError) as error:
        evaluated("evaluate_nlu", gold, lines)
    assert sentence in str(error.value)
    assert "\n" not in str(error.value)


def test_a_missing_file_is_named(gold: Path) -> None:
    with pytest.raises(CommandError, match=r"nowhere\.jsonl: No such file"):
        call_command("evaluate_nlu", "--gold", str(gold), "--pred", "nowhere.jsonl")


def test_no_database_is_needed(gold: Path, tmp_path: Path) -> None:
    """In a real process whose data folder stays empty."""
    pred = write_lines(tmp_path / "pred.jsonl", edited_nlu())
    data = tmp_path / "data"
    own = {"DJANGO_SETTINGS_MODULE": "portal.settings", "PORTAL_DATA_DIR": str(data)}
    done = shell("evaluate_nlu", "--gold", str(gold), "--pred", str(pred), "--json", **own)
    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads(done.stdout.splitlines()[-1])["medical"]["f1"] == 0.6
    assert not data.exists(), "nor a folder"


def test_memory_does_not_grow_with_the_length_of_a_predictions_file(gold: Path, tmp_path: Path) -> None:
    """100 MB in one line, and then a fine one."""
    pred = tmp_path / "pred.jsonl"
    with pred.open("w", encoding="utf-8") as stream:
        for _ in range(100):
            stream.write("x" * 1_000_000)
        stream.write("\n" + json.dumps(edited_nlu()[0]) + "\n")
    script = (
        "import resource, sys, django, os\n"
        "os.environ['DJANGO_SETTINGS_MODULE'] = 'portal.settings_test'\n"
        "django.setup()\n"
        "from django.core.management import call_command\n"
        "before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss\n"
        "call_command('evaluate_nlu', '--gold', sys.argv[1], '--pred', sys.argv[2], '--json')\n"
        "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, str(gold), str(pred)],
        capture_output=True,
        text=True,
        check=True,
        cwd=Path(__file__).parent.parent,
    )
    result, grown = done.stdout.splitlines()[-2:]
    assert json.loads(result)["predictions"]["malformed"] == 1
    assert int(grown) < 90_000  # KiB; SciPy alone is 50 MB
