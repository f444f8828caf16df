"""A report in words for a paper, and as rows for a table."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from annotation.domain.agreement_classes import DECOMPOSITION, Kind
from annotation.domain.agreement_counts import Path
from annotation.domain.agreement_groups import Group
from annotation.domain.agreement_report import AgreementReport
from annotation.domain.numbers import counted, per_cent

UNDEFINED = "undefined"
CSV_HEADER = ("scope", "figure", "value", "low", "high", "interval_low", "interval_high")
_NO_ENDS = ("", "", "", "")
_KAPPA: Path = ("intents", "kappa_whole_set")
_ALPHA: Path = ("intents", "alpha_masi")
_F: Path = ("slot_values", "f")
_PAIR_KAPPA: Path = ("slot_values", "kappa")
_CLASS_WORDS = {
    Kind.INTENT: "the intent",
    Kind.OMISSION: "a label that only one annotator gave",
    Kind.SLOT: "the slot",
    Kind.STATUS: "the status",
    Kind.WORDING: "the wording of one concept",
    Kind.VALUE: "the value",
    Kind.ATTRIBUTE: "another answer",
}


def methods_paragraph(report: AgreementReport) -> str:
    """How agreement was measured and what came out, in sentences ready to be pasted into a paper."""
    if not report.n_used:
        return "No utterance is submitted by two annotators yet, so that there is no agreement to report."
    parts = [_material(report), _intents(report), _values(report), _state(report), _speakers(report), _classes(report)]
    parts += [report.resampling.sentence(), f"Definitions: version {report.definition}."]
    return " ".join(part for part in parts if part)


HEADLINES: tuple[tuple[str, Path], ...] = (
    ("κ of intents", _KAPPA),
    ("α of intents (MASI)", _ALPHA),
    ("F of slot-value pairs", _F),
    ("κ of slot-value pairs", _PAIR_KAPPA),
    ("F of state entries", ("state", "f")),
)


def headline_lines(report: AgreementReport) -> Iterator[str]:
    """The headline figures as a table for a terminal: mean over pairs, pooled, and the latter's interval."""
    yield f"{report.n_used:,} of {counted(report.n_total, 'utterance')} compared, in " + (
        f"{counted(report.resampling.dialogues, 'dialogue')} and {counted(len(report.compared), 'pair')} of annotators"
    )
    level = per_cent(report.resampling.level)
    yield f"{'figure':24} {'mean over pairs':>15} {'pooled':>10}  {level} interval of the pooled figure"
    for name, path in HEADLINES:
        found = report.intervals.get(".".join(path))
        span = _span("", found.interval.low, found.interval.high).strip() if found else ""
        mean = _text(report.headline[path].value) if path in report.headline else UNDEFINED
        yield f"{name:24} {mean:>15} {_figure(report.whole, path):>10}  {span or 'none'}"


def _material(report: AgreementReport) -> str:
    pairs, dialogues = len(report.compared), report.resampling.dialogues
    people = len({name for cell in report.compared for name in cell.annotators})
    text = (
        f"{counted(people, 'annotator')} independently labelled {counted(dialogues, 'dialogue')}, in "
        f"{counted(pairs, 'pair')}. Agreement was measured on the utterances that both annotators of a pair had "
        f"submitted ({report.n_used:,} of {report.n_total:,}), an utterance without labels counting as an answer and "
        "counts being pooled over dialogues."
    )
    if pairs > 1:
        text += (
            f" Means over the {pairs} pairs were {_mean(report, _KAPPA)} for κ on intents and {_mean(report, _F)} for "
            "F on slot-value pairs."
        )
    return text


def _intents(report: AgreementReport) -> str:
    return (
        f"With an utterance's whole set of intents as the category, Cohen's κ was {_with_range(report, _KAPPA)}; "
        f"Krippendorff's α with the MASI distance between sets was {_with_range(report, _ALPHA)}."
    )


def _values(report: AgreementReport) -> str:
    ladder = {rung: _figure(report.whole, ("slot_values", "ladder", rung, "f")) for rung in ("slot", "slot_cui")}
    strict = _figure(report.whole, ("slot_values", "ladder", "slot_value_attributes", "f"))
    return (
        f"For slot-value pairs, whose true negatives are unbounded, F was {_with_range(report, _F)} (slots alone "
        f"{ladder['slot']}, values compared by concept {ladder['slot_cui']}, all attributes equal {strict}); values "
        "were compared without regard to case and white space. Cohen's κ over the decisions whether an utterance has a "
        f"pair, for the pairs that either annotator used in the dialogue, was {_with_range(report, _PAIR_KAPPA)}."
    )


def _state(report: AgreementReport) -> str:
    counts = report.whole.counts
    turns = counts[("state", "equal")] + counts[("state", "different")]
    if not turns:
        return ""
    return (
        f"The patient states that follow from the labels were equal at {counts[('state', 'equal')]:,} of {turns:,} "
        f"patient turns, with F {_with_range(report, ('state', 'f'))} over their entries."
    )


def _speakers(report: AgreementReport) -> str:
    within = [f"{_figure(group, _KAPPA)} within {speaker} turns" for speaker, group in report.by_speaker.items()]
    if not within:
        return ""
    base = report.baseline.kappa_whole_set
    return (
        f"κ on intents was {_listed(within)}; an annotator who gave every turn its speaker's most frequent intents "
        f"would have reached {_text(base)} over all turns."
    )


def _classes(report: AgreementReport) -> str:
    counts = {kind: report.whole.counts[(*DECOMPOSITION, "classes", kind.value, "n")] for kind in Kind}
    total = sum(counts.values())
    if not total:
        return "The annotators' labels were the same throughout." if report.n_used else ""
    shares = [f"{_CLASS_WORDS[kind]} ({n:,})" for kind, n in sorted(counts.items(), key=lambda one: -one[1]) if n]
    return f"The {counted(total, 'disagreement')} concerned {_listed(shares)}."


def csv_rows(report: AgreementReport, names: Mapping[str, str] | None = None) -> list[tuple[str | int | float, ...]]:
    """A header and one row a figure: scope, name, value ("undefined" where it is), and two ends twice.

    `low` and `high` are those of the interval or, under ten dialogues, of the range of leaving one out;
    `interval_low` and `interval_high` are always those of the interval.

    `names` says what the annotators of a pair are called; without it they are called by their ids.
    """
    rows: list[tuple[str | int | float, ...]] = [CSV_HEADER]
    coverage: Mapping[str, Any] = report.as_json()["coverage"]
    rows += [("all", f"coverage.{name}", _cell(value), *_NO_ENDS) for name, value in coverage.items()]
    rows += _group_rows(report, "all", "", report.whole)
    for speaker, group in report.by_speaker.items():
        rows += _group_rows(report, speaker, f"by_speaker.{speaker}.", group)
    for cell in report.pairs:
        called = [(names or {}).get(one, one) for one in cell.annotators]
        rows += _group_rows(report, " – ".join(called), None, cell.group)
    for path, mean in report.headline.items():
        name = ".".join(path)
        rows.append(("mean over pairs", name, _cell(mean.value), *_all_ends(report, f"headline.{name}")))
    rows.append(("reads only the speaker", ".".join(_KAPPA), _cell(report.baseline.kappa_whole_set), *_NO_ENDS))
    return rows


def _group_rows(
    report: AgreementReport, scope: str, prefix: str | None, group: Group
) -> Iterator[tuple[str | int | float, ...]]:
    for values in (group.counts, group.figures):
        for path, value in values.items():
            name = ".".join(path)
            yield scope, name, _cell(value), *(_NO_ENDS if prefix is None else _all_ends(report, prefix + name))


def _all_ends(report: AgreementReport, name: str) -> tuple[str | float, ...]:
    """The ends of the interval or range, then those of the interval; empty where there are none."""
    found = report.intervals.get(name)
    if found is None:
        return _NO_ENDS
    ends = (found.low, found.high, found.interval.low, found.interval.high)
    return tuple("" if end is None else end for end in ends)


def _cell(value: float | None) -> str | int | float:
    return UNDEFINED if value is None else value


def _with_range(report: AgreementReport, path: Path) -> str:
    """ "0.82 (95 % interval 0.78 to 0.86)"; under ten dialogues the range follows: ", range 0.80 to 0.84)"."""
    text = _figure(report.whole, path)
    found = report.intervals.get(".".join(path))
    if found is None:
        return text
    spans = [_span(f"{per_cent(report.resampling.level)} interval", found.interval.low, found.interval.high)]
    if report.resampling.method == "leave_one_out":
        spans.append(_span("range", found.low, found.high))
    known = [span for span in spans if span]
    return f"{text} ({', '.join(known)})" if known else text


def _span(name: str, low: float | None, high: float | None) -> str:
    return "" if low is None or high is None else f"{name} {low:.2f} to {high:.2f}"


def _figure(group: Group, path: Path) -> str:
    return _text(group.figures[path])


def _mean(report: AgreementReport, path: Path) -> str:
    mean = report.headline[path]
    left_out = f" ({counted(mean.undefined, 'pair')} left out as undefined)" if mean.undefined else ""
    return _text(mean.value) + left_out


def _text(value: float | None) -> str:
    return UNDEFINED if value is None else f"{value:.2f}"


def _listed(parts: list[str]) -> str:
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"
