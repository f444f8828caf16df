"""Agreement between annotators: every figure, from pairs of readings to a report.

    report = agreement(questionnaire, paired(readings))
    report.as_json()["intents"]["kappa_whole_set"]

The rooms: `agreement_pairs` (what is compared), `agreement_coding` (labels as numbers), `agreement_counts` (counts by
utterance), `agreement_figures` (formulas), `agreement_intents`, `agreement_values`, `agreement_state`,
`agreement_classes` (disagreements one by one), `agreement_bootstrap` (uncertainty), `agreement_report` (everything
put together) and `agreement_words` (a methods paragraph, a table).

Counts are pooled over dialogues; no figure is a mean of figures by dialogue. What is undefined is None.
"""

from annotation.domain.agreement_bootstrap import Interval, Resampling
from annotation.domain.agreement_classes import Disagreement, Kind
from annotation.domain.agreement_coding import Concepts
from annotation.domain.agreement_intents import masi_distance
from annotation.domain.agreement_pairs import PairedReading, SubmittedReading, paired, reads_only_the_speaker
from annotation.domain.agreement_report import DEFINITION, AgreementReport, agreement
from annotation.domain.agreement_words import csv_rows, methods_paragraph

__all__ = [
    "DEFINITION",
    "AgreementReport",
    "Concepts",
    "Disagreement",
    "Interval",
    "Kind",
    "PairedReading",
    "Resampling",
    "SubmittedReading",
    "agreement",
    "csv_rows",
    "masi_distance",
    "methods_paragraph",
    "paired",
    "reads_only_the_speaker",
]
