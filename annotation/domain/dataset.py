"""The published form of MediTOD's dialogues (`dialogs.json`), written, read and checked.

    {"115": {"utterances": [{"speaker", "uttr_id", "text", "keywords", "actions"},
                            {"speaker", "uttr_id", "text", "keywords", "dialog_state", "nlu"}, …]}}

The form knows less than a label: how a condition stands today ("still suffers"), whether a drug is taken now or was
before, the topic of chit-chat and the ratings inside a question have no place in it. The closing turn of the control
speaker is left out, as in the published file. Source: MediTOD (arXiv 2410.14204).
"""

from annotation.domain.dataset_reading import reading_from_dataset
from annotation.domain.dataset_tracking import Difference, TrackReport, track_dataset
from annotation.domain.dataset_writing import (
    DatasetError,
    DatasetState,
    actions_of,
    dialogue_to_dataset,
    mentions_of_nlu,
    nlu_of,
    state_to_dataset,
)

__all__ = [
    "DatasetError",
    "DatasetState",
    "Difference",
    "TrackReport",
    "actions_of",
    "dialogue_to_dataset",
    "mentions_of_nlu",
    "nlu_of",
    "reading_from_dataset",
    "state_to_dataset",
    "track_dataset",
]
