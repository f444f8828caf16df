"""How MediTOD's `dialogs.json` names things, where that differs from this project; nothing else knows these names.

A slot, field, status or rating that no table lists goes out by a general rule: spaces become underscores, a status
becomes a prefix, a rating a prefix of its field. Source: MediTOD (arXiv 2410.14204), its released dialogues.
"""

from __future__ import annotations

from functools import lru_cache

from annotation.domain.questionnaire import Field, Kind, Meaning, Questionnaire, Slot

PREFIXES = {Meaning.YES: "positive", Meaning.NO: "negative", Meaning.UNSURE: "unknown"}
SLOT_PREFIXES = {"medical_test": {Meaning.YES: "avail", Meaning.NO: "unavail", Meaning.UNSURE: "unknown"}}
PREFIX_ORDER = ("", "positive", "avail", "negative", "unavail", "unknown")
# Slots whose status stays an attribute of the entry, with its words.
STATUS_WORDS = {
    "residence": {Meaning.YES: "living", Meaning.NO: "not_living"},
    "occupation": {Meaning.YES: "true", Meaning.NO: "false"},
    "travel": {Meaning.YES: "traveled", Meaning.NO: "not_traveled"},
    "disease": {Meaning.YES: "yes", Meaning.NO: "no", Meaning.UNSURE: "maybe"},
}
# (slot or "" for all, field) → attribute
ATTRIBUTES = {
    ("", "response_to"): "respone_to",  # so spelled in the published file
    ("basic_information", "sex"): "gender",
    ("travel", "when"): "date",
}
RATED = {
    "ana_factors": {
        "yes alleviating": "alleviating_factor",
        "no alleviating": "not_alleviating_factor",
        "yes aggravating": "aggravating_factor",
        "no aggravating": "not_aggravating_factor",
        "neither": "not_alleviating_aggravating_factor",
        "may be": "unknown_factor",
    }
}
# Fields with several values that the dataset writes as one text; all others are lists.
AS_TEXT = {"response_to"}
INTENTS = {"salutations": "nod_prompt_salutations", "nod_prompt": "nod_prompt_salutations"}
READ_INTENTS = {"nod_prompt_salutations": "nod_prompt"}
# Intents that stand alone in the dataset, whatever slot their labels have.
BARE_INTENTS = {"chit-chat"}
# Actions whose entries carry nothing but their value.
VALUE_ONLY_INTENTS = {"diagnosis"}
NO_HEAD = "other"
NO_HEAD_OF = {"basic_information": "none"}
SLOT_ORDER = (
    "symptom",
    "medical_history",
    "family_history",
    "habit",
    "exposure",
    "medication",
    "medical_test",
    "residence",
    "occupation",
    "travel",
    "basic_information",
    "disease",
)


def slot_name(slot: Slot) -> str:
    """A slot without head is filed under the slot that its implied value is one of: skin findings are symptoms."""
    name = slot.name.split(" (", maxsplit=1)[0] if slot.implied_value else slot.name
    return name.replace(" ", "_")


def attribute_name(slot: Slot, field: Field) -> str:
    if field.name == slot.head:
        return "value"
    for key in ((slot_name(slot), field.name), ("", field.name)):
        if key in ATTRIBUTES:
            return ATTRIBUTES[key]
    return field.name


def status_words(name: str) -> dict[Meaning, str] | None:
    """The words for a status that is an attribute; None where it is a prefix."""
    return STATUS_WORDS.get(name)


def prefix_of(name: str, meaning: Meaning) -> str:
    return SLOT_PREFIXES.get(name, PREFIXES)[meaning]


def split_name(name: str) -> tuple[str, str]:
    """`positive_symptom` is ("positive", "symptom"); a name without prefix has ""."""
    prefix, underscore, rest = name.partition("_")
    return (prefix, rest) if underscore and prefix in PREFIX_ORDER and rest else ("", name)


def meaning_of_prefix(name: str, prefix: str) -> Meaning | None:
    table = SLOT_PREFIXES.get(name, PREFIXES)
    return next((meaning for meaning, word in table.items() if word == prefix), None)


def rated_name(field: Field, rating: str) -> str:
    """The attribute that holds the values with this rating; the field's own name for values without one."""
    listed = RATED.get(field.name, {}).get(rating)
    if listed:
        return listed
    meaning = field.meaning_of(rating)
    return f"{PREFIXES[meaning]}_{field.name}" if meaning else field.name


def rating_of(field: Field, name: str) -> str | None:
    """The rating whose values stand under this attribute, "" for none; None when it is not this field's."""
    if name == field.name:
        return ""
    # Choices that are still offered win over older ones with the same meaning.
    for choice in sorted(field.choices, key=lambda choice: choice.older):
        if rated_name(field, choice.name) == name:
            return choice.name
    return None


def is_list(field: Field) -> bool:
    return field.kind is Kind.RATED_VALUES or (field.kind is Kind.VALUES and field.name not in AS_TEXT)


def find_slot(questionnaire: Questionnaire, name: str) -> Slot | None:
    """The slot of this name, one with a head field rather than one with an implied value."""
    found = [slot for slot in questionnaire.slots if slot_name(slot) == name]
    return min(found, key=lambda slot: bool(slot.implied_value), default=None)


@lru_cache(maxsize=1024)
def slot_sort_key(name: str) -> tuple[int, int]:
    """The published order of a state's keys; those of other slots follow as they were first named."""
    prefix, slot = split_name(name)
    place = SLOT_ORDER.index(slot) if slot in SLOT_ORDER else len(SLOT_ORDER)
    return place, PREFIX_ORDER.index(prefix)
