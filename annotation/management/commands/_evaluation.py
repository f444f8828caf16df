"""What the three commands that score predictions share: their files, the comparator, and how a result is shown."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

from django.core.management.base import CommandError, CommandParser

from annotation.domain.agreement_bootstrap import SEED
from annotation.domain.comparators import Comparator, Exact, Normalised
from annotation.domain.dataset_writing import DatasetError
from annotation.domain.evaluation_gold import (
    GoldDialogue,
    dialogues_json,
    known_turns,
    only_dialogues,
    parse_dataset,
    read_ids,
    refuse_half_characters,
)
from annotation.domain.export_dialogs import PATH as DIALOGS
from annotation.domain.notices import quoted
from annotation.domain.prediction_files import utterance_lines
from annotation.domain.predictions import Predictions, WrongFile, read_predictions
from annotation.domain.text_decoding import UnreadableFile, decode
from annotation.domain.unrolling import Unrolled
from annotation.management.commands._base import PortalCommand
from annotation.services.chat_comparator import LONGEST_TIMEOUT, TIMEOUT, ChatComparator, ChatEndpoint

T = TypeVar("T")
MOST_SHOWN = 20
WRONG, EMPTY = "wrong", "empty"
_LARGE_PARTS = ("overall", "medical", "non_medical")
_FIGURES = {"precision": 9, "recall": 6, "f1": 6}  # with the widths of their columns


class EvaluationCommand(PortalCommand):
    """Base of the commands that compare a model's predictions with a dataset. They use no database."""

    requires_system_checks: list[str] = []

    def arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--gold", required=True, help="the dataset (MediTOD's dialogs.json), or a folder that has it"
        )
        parser.add_argument(
            "--pred", required=True, help="the predictions: one JSON object an utterance and line, or a dataset"
        )
        parser.add_argument(
            "--ids",
            action="append",
            default=[],
            metavar="FILE",
            help="score only the dialogues in this list of ids, such as test_ids.json; may be given several times",
        )
        parser.add_argument("--dialogues", metavar="A,B", help="score only these dialogues")

    def comparing_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--comparator",
            choices=["exact", "normalised", "chat"],
            default="normalised",
            help="when two texts that are no medical terms are the same (default: normalised)",
        )
        parser.add_argument(
            "--malformed",
            choices=[WRONG, EMPTY],
            default=WRONG,
            help="what a malformed prediction counts as: wrong (default), or empty as in the published scripts",
        )
        parser.add_argument("--chat-url", default="", help="base address of an endpoint of the OpenAI chat protocol")
        parser.add_argument("--chat-model", default="", help="the model that the endpoint should use")
        parser.add_argument("--chat-cache", default="", help="file that keeps the endpoint's answers")
        parser.add_argument("--chat-key-variable", default="", help="environment variable with the endpoint's key")
        parser.add_argument(
            "--chat-timeout", type=float, default=TIMEOUT, help=f"seconds to wait (default: {TIMEOUT:g})"
        )
        parser.add_argument("--random-seed", type=int, default=SEED, help=f"of the intervals (default: {SEED})")

    def read_gold(
        self, name: str, turns: Callable[[Mapping[str, Any]], list[GoldDialogue]], options: Mapping[str, Any]
    ) -> list[GoldDialogue]:
        """The gold; where `--ids` or `--dialogues` name some dialogues, only those have turns that are predicted."""
        name = _dataset_of(name)
        try:
            text, _ = decode(Path(name).read_bytes(), Path(name).name)
            dataset = parse_dataset(text, Path(name).name)
            refuse_half_characters(dataset, text)
            found = turns(dataset)
        except UnreadableFile as error:
            raise CommandError(str(error.notice)) from error
        except DatasetError as error:
            raise CommandError(f"{Path(name).name}: {error}") from error
        if not any(dialogue.turns for dialogue in found):
            raise CommandError(f"{Path(name).name}: it has no utterance that this task predicts.")
        named = _named_dialogues(options)
        if not named:
            return found
        known = {dialogue.id for dialogue in found}
        for source, ids in named.items():
            if strange := [one for one in ids if one not in known]:
                more = f" and {len(strange) - 1:,} more" if len(strange) > 1 else ""
                raise CommandError(f"{source} names {quoted(strange[0])}{more}, which {Path(name).name} does not have.")
        found = only_dialogues(found, {one for ids in named.values() for one in ids})
        if not any(dialogue.turns for dialogue in found):
            raise CommandError("The dialogues that are named have no utterance that this task predicts.")
        return found

    def read_predictions(
        self, name: str, key: str, parse: Callable[[Any], T], gold: list[GoldDialogue]
    ) -> Predictions[T]:
        if Path(name).is_dir():
            raise CommandError(
                f"{Path(name).resolve().name} is a folder; --pred takes a file of it, such as utterances.jsonl."
            )
        with Path(name).open("rb") as stream:
            try:
                lines = utterance_lines(stream, Path(name).name)
                return read_predictions(lines, key, parse, known_turns(gold), Path(name).name)
            except WrongFile as error:
                raise CommandError(str(error)) from error

    def comparator(self, options: Mapping[str, Any]) -> Comparator:
        if options["comparator"] != "chat":
            given = [name for name in ("chat_url", "chat_model", "chat_cache", "chat_key_variable") if options[name]]
            if given:
                raise CommandError(f"--{given[0].replace('_', '-')} needs --comparator chat.")
            return Exact() if options["comparator"] == "exact" else Normalised()
        variable = options["chat_key_variable"]
        if variable and variable not in os.environ:
            raise CommandError(f"There is no environment variable {variable} with the endpoint's key.")
        if not 0 < options["chat_timeout"] <= LONGEST_TIMEOUT:
            raise CommandError(f"--chat-timeout takes a number of seconds above 0 and up to {LONGEST_TIMEOUT:,.0f}.")
        if not options["chat_url"]:
            raise CommandError("--comparator chat needs --chat-url, such as http://localhost:8000/v1.")
        key = os.environ[variable] if variable else ""
        endpoint = ChatEndpoint(options["chat_url"], options["chat_model"], key, options["chat_timeout"])
        return ChatComparator(endpoint, Path(options["chat_cache"]) if options["chat_cache"] else None)


def as_counted(
    predictions: Predictions[frozenset[Unrolled]], options: Mapping[str, Any]
) -> Predictions[frozenset[Unrolled]]:
    """The predictions as they are scored: what is malformed is wrong, or empty where that is asked for."""
    if options["malformed"] == WRONG:
        return predictions
    return replace(predictions, by_turn={turn: given or frozenset() for turn, given in predictions.by_turn.items()})


def predictions_json(predictions: Predictions[T], gold: list[GoldDialogue]) -> dict[str, Any]:
    """What was read, and what is wrong with it."""
    return {
        "predictions": predictions.summary(sum(len(dialogue.turns) for dialogue in gold)),
        "dialogues": dialogues_json(gold, predictions.by_turn),
        "problems": [one.as_json() for one in predictions.problems],
    }


def _dataset_of(name: str) -> str:
    """The dataset's file: what is named, or the `dialogs.json` of a folder that is named."""
    if not Path(name).is_dir():
        return name
    if not (Path(name) / DIALOGS).is_file():
        raise CommandError(f"The folder {Path(name).resolve().name} has no {DIALOGS}; name the dataset's file.")
    return str(Path(name) / DIALOGS)


def _named_dialogues(options: Mapping[str, Any]) -> dict[str, list[str]]:
    """The ids that each file, or the option itself, names."""
    named: dict[str, list[str]] = {}
    for path in options["ids"]:
        file = Path(path).name
        try:
            named[file] = [*named.get(file, []), *read_ids(decode(Path(path).read_bytes(), file)[0], file)]
        except UnreadableFile as error:
            raise CommandError(str(error.notice)) from error
        except DatasetError as error:
            raise CommandError(f"{file}: {error}") from error
    if options["dialogues"] is not None:
        named["--dialogues"] = [one.strip() for one in options["dialogues"].split(",") if one.strip()]
        if not named["--dialogues"]:
            raise CommandError("--dialogues names no dialogue.")
    return named


def score_lines(result: Mapping[str, Any]) -> Iterator[str]:
    """Precision, recall and F1 of every part, in columns, with the interval of F1."""
    slots = result["by_attribute"]
    rows: list[tuple[str, tuple[str, ...]]] = [(name, (name,)) for name in _LARGE_PARTS]
    rows += [(slot, ("by_slot", slot)) for slot in result["by_slot"]]
    rows += [
        (f"  {slot} · {name}", ("by_attribute", slot, name))
        for slot, attributes in slots.items()
        for name in attributes
        if len(attributes) > 1
    ]
    width = max(len(title) for title, _ in rows)
    yield f"{''.ljust(width)}  precision  recall      F1  {'95 % interval of F1':<22} matched  missed   wrong"
    for title, part in rows:
        figures, counts, ends = (_at(whole, part) for whole in (result, result["counts"], result["intervals"]))
        shown = "  ".join(figure_text(figures[name]).rjust(wide) for name, wide in _FIGURES.items())
        numbers = " ".join(f"{counts[name]:>7,}" for name in ("matched", "missed", "wrong"))
        yield f"{title.ljust(width)}  {shown}  {interval_text(ends['f1']):<22} {numbers}"
    yield ""
    yield result["resampling"]["note"]


def prediction_lines(result: Mapping[str, Any]) -> Iterator[str]:
    """What was read in words, and the first problems."""
    read = result["predictions"]
    share = f" ({read['malformed_share']:.2%})" if read["malformed"] else ""
    yield (
        f"{read['lines']:,} predictions; {read['malformed']:,} malformed{share}, {read['repeated']:,} repeated, "
        f"{read['unknown']:,} of unknown utterances, {read['not_scored']:,} of utterances not scored here; "
        f"{read['missing']:,} of {read['turns']:,} utterances without a prediction"
    )
    dialogues = result["dialogues"]
    if dialogues["without_prediction"]:
        verb = "has" if dialogues["without_prediction"] == 1 else "have"
        yield (
            f"{dialogues['without_prediction']:,} of {dialogues['scored']:,} dialogues {verb} no prediction at all; "
            "what they say counts as missed. --ids or --dialogues score only those that were predicted."
        )
    problems = result["problems"]
    yield from (f"  {one['text']}" for one in problems[:MOST_SHOWN])
    if len(problems) > MOST_SHOWN:
        yield f"  … and {len(problems) - MOST_SHOWN:,} more; --json lists them"


def figure_text(value: float | None) -> str:
    return "–" if value is None else f"{value:.4f}"


def interval_text(found: Mapping[str, Any]) -> str:
    ends = found["interval"]
    if ends["low"] is None or ends["high"] is None:
        return "–"
    return f"{ends['low']:.4f} to {ends['high']:.4f}"


def _at(whole: Mapping[str, Any], part: tuple[str, ...]) -> Any:
    for name in part:
        whole = whole[name]
    return whole
