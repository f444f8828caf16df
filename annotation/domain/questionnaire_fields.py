"""One field of a questionnaire file with its choices.

A field needs only `question` and `kind` (and `choices` where the kind has them); everything else has a default that
fits most fields.
"""

from __future__ import annotations

from collections.abc import Collection

from annotation.domain.questionnaire import Check, Choice, Field, Kind, Meaning
from annotation.domain.questionnaire_sections import Section, listed, suggestion
from annotation.domain.yaml_tree import Node

NAME_RULE = "a name has 1 to 60 characters, no space at either end and no control characters"

# Keys that mean something for some kinds only.
_KINDS_WITH = {
    "choices": (Kind.CHOICE, Kind.RATED_VALUES),
    "values": (Kind.VALUES, Kind.RATED_VALUES, Kind.TEXT),
    "medical": (Kind.VALUES, Kind.RATED_VALUES, Kind.TEXT),
    "minimum": (Kind.SCALE,),
    "maximum": (Kind.SCALE,),
    "default": (Kind.CHOICE, Kind.SCALE, Kind.TEXT),
}


def usable_name(name: str) -> bool:
    return 0 < len(name) <= 60 and name == name.strip() and name.isprintable()


def read_field(
    name: str,
    section: Section,
    *,
    is_head: bool,
    lists: Collection[str],
    speakers: Collection[str],
    intents: Collection[str],
) -> Field:
    """The field at a section; `lists`, `speakers` and the slot's `intents` are the names it may refer to."""
    section.only(
        "question", "kind", "help", "values", "choices", "minimum", "maximum", "medical", "check", "criterion",
        "speakers", "intents", "default", "needed", "portal",
    )  # fmt: skip
    section.require("question", "kind")
    kind = section.one_of("kind", Kind, Kind.TEXT)
    _check_kind(section, kind)
    minimum, maximum = section.whole("minimum", 0), section.whole("maximum", 10)
    if kind == Kind.SCALE and minimum >= maximum:
        place = "maximum" if section.has("maximum") else "minimum"
        section.fault(place, f"The maximum ({maximum}) must be greater than the minimum ({minimum}).")
    choices = tuple(_choices(section))
    return Field(
        name=name,
        question=section.text("question", filled=True),
        kind=kind,
        help=section.text("help"),
        values=section.reference("values", lists, "list"),
        choices=choices,
        minimum=minimum,
        maximum=maximum,
        medical=section.flag("medical"),
        check=section.one_of("check", Check, Check.NONE if is_head else Check.WITH_VALUE),
        criterion=section.flag("criterion"),
        speakers=section.references("speakers", speakers, "speaker"),
        intents=section.references("intents", intents, "intent of this slot called"),
        default=_default(section, kind, choices, speakers, (minimum, maximum)),
        needed=section.flag("needed"),
        portal=section.text("portal", name.replace("_", " "), filled=True),
    )


def knows_kind(section: Section) -> bool:
    """Whether a field says a kind that exists. Where it doesn't, that alone is reported, not what follows from it."""
    return section.has("kind") and section.nodes["kind"].value in list(Kind)


def _check_kind(section: Section, kind: Kind) -> None:
    """Keys that don't go with the kind, and choices that are missing."""
    if not knows_kind(section):
        return
    for key, kinds in _KINDS_WITH.items():
        if section.has(key) and kind not in kinds:
            section.fault(key, f"`{key}` means nothing for the kind `{kind}`; it goes with {listed(kinds)}.")
    choices = section.nodes.get("choices")
    if kind in _KINDS_WITH["choices"] and (choices is None or choices.value in (None, [])):
        section.fault("choices", f"A field of kind `{kind}` needs `choices`; list one at least.")


def _choices(section: Section) -> list[Choice]:
    """The choices of a field. No two may be read from the same spelling."""
    choices: list[Choice] = []
    owner: dict[str, str] = {}
    for number, node in enumerate(section.items("choices"), start=1):
        choice, place = _choice(node, f"{section.at('choices')}[{number}]", section)
        if choice is None:
            continue
        for spelling in {word.casefold() for word in (choice.name, choice.portal, *choice.spellings)}:
            if spelling in owner:
                section.report.add(
                    node.line, place, f"“{spelling}” already stands for the choice `{owner[spelling]}`; change one."
                )
            owner.setdefault(spelling, choice.name)
        choices.append(choice)
    return choices


def _choice(node: Node, path: str, section: Section) -> tuple[Choice | None, str]:
    """A choice and its key path, which ends in its name where it has one. A text alone is a choice of that name."""
    if isinstance(node.value, str) and node.value.strip():
        name = node.value.strip()
        return Choice(name, name, portal=name), f"{section.at('choices')}.{name}"
    if not isinstance(node.value, dict):
        section.report.add(node.line, path, "A choice must be text or a mapping with a `name`; put a number in quotes.")
        return None, path
    named = node.value.get("name")
    if named is not None and isinstance(named.value, str) and named.value.strip():
        path = f"{section.at('choices')}.{named.value.strip()}"
    item = Section.of(node, path, section.report)
    item.only("name", "title", "portal", "spellings", "meaning", "older", "bare")
    item.require("name")
    name = item.text("name", filled=True)
    choice = Choice(
        name=name,
        title=item.text("title", name, filled=True),
        meaning=item.one_of("meaning", Meaning, Meaning.YES) if item.has("meaning") else None,
        portal=item.text("portal", name, filled=True),
        spellings=item.texts("spellings"),
        older=item.flag("older"),
        bare=item.flag("bare"),
    )
    return (choice if name else None), path


def _default(
    section: Section, kind: Kind, choices: tuple[Choice, ...], speakers: Collection[str], limits: tuple[int, int]
) -> dict[str, str]:
    """The answers that are filled in, by speaker."""
    if not section.has("default"):
        return {}
    part = section.inside("default")
    result: dict[str, str] = {}
    offered = [choice.name for choice in choices if not choice.older]
    for speaker in part.nodes:
        if speaker not in speakers:
            part.fault(speaker, f"There is no speaker “{speaker}”{suggestion(speaker, speakers) or '.'}")
            continue
        answer = str(part.whole(speaker, limits[0])) if kind == Kind.SCALE else part.text(speaker, filled=True)
        if kind == Kind.CHOICE and answer and offered and answer not in offered:
            hint = suggestion(answer, offered) or f"; use one of {listed(offered)}."
            part.fault(speaker, f"“{answer}” is no choice of this field{hint}")
        elif kind == Kind.SCALE and not limits[0] <= int(answer) <= limits[1]:
            part.fault(speaker, f"The default {answer} is not between {limits[0]} and {limits[1]}.")
        result[speaker] = answer
    return result
