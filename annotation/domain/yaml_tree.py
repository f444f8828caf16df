"""YAML text as a plain tree that remembers on which line everything stands.

Only the part of YAML that a questionnaire needs is read, and what would surprise an author is left out on purpose:

- `true` and `false` are the only booleans. `yes`, `no`, `on` and `off` are words, so a choice can be named `yes`
  without quotes.
- Numbers are plain decimal ones (`10`, `1.5`); `0o17`, `1:30`, dates and the like are words.
- Anchors, aliases, tags and merge keys are refused: they let a small file grow without end, and hide what a line means.
- A key that is written twice is refused; YAML itself would silently keep the last one.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

import yaml

MAX_BYTES = 1024 * 1024
MAX_DEPTH = 20

# libyaml's parser is about ten times faster; the tree is the same without it.
_LOADER: type = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_WHOLE = re.compile(r"[-+]?[0-9]{1,15}")
_DECIMAL = re.compile(r"[-+]?[0-9]{1,15}\.[0-9]{1,15}")
_BOOLEANS = {"true": True, "True": True, "false": False, "False": False}
_EMPTY = {"", "~", "null", "Null", "NULL"}

Scalar = str | int | float | bool | None


@dataclass(frozen=True, slots=True)
class Node:
    """One value of the file. `line` counts from 1; under a key it is the line of the key."""

    value: Scalar | list[Node] | dict[str, Node]
    line: int


@dataclass(frozen=True, slots=True)
class Fault:
    """What is wrong with the text as YAML, in one sentence."""

    line: int
    message: str
    key: str = ""


def read_tree(text: str) -> tuple[Node | None, list[Fault]]:
    """The tree of one YAML document, and its faults. The tree is None where the text can't be read at all."""
    refusal = _too_large(text)
    if refusal:
        return None, [refusal]
    try:
        refusals = _forbidden(text)
        if refusals:
            return None, refusals
        root = yaml.compose(text, Loader=_LOADER)
    except yaml.YAMLError as error:
        return None, [_syntax_fault(error, text)]
    if root is None:
        return None, [Fault(0, "The file is empty.")]
    faults: list[Fault] = []
    return _node(root, root.start_mark.line + 1, "", faults), faults


def _too_large(text: str) -> Fault | None:
    try:
        size = len(text.encode("utf-8"))
    except UnicodeEncodeError as error:
        line = text.count("\n", 0, error.start) + 1
        return Fault(line, "The line holds half of a two-part character; save the file as UTF-8 again.")
    if size > MAX_BYTES:
        return Fault(0, f"The file has {size:,} bytes, but a questionnaire may have {MAX_BYTES:,} at most.")
    return None


def _forbidden(text: str) -> list[Fault]:
    """Constructions that are refused before a tree is built, found without recursion."""
    faults: list[Fault] = []
    depth = 0
    for event in yaml.parse(text, Loader=_LOADER):
        line = event.start_mark.line + 1 if event.start_mark else 0
        anchor, tag = getattr(event, "anchor", None), getattr(event, "tag", None)
        if isinstance(event, yaml.AliasEvent):
            faults.append(Fault(line, f"The alias *{anchor} is not allowed; name a list under `lists` instead."))
            continue
        if anchor:
            faults.append(Fault(line, f"The anchor &{anchor} is not allowed; name a list under `lists` instead."))
        if tag not in (None, "!"):
            faults.append(Fault(line, f"The tag {tag} is not allowed; write the value without it."))
        if isinstance(event, yaml.CollectionStartEvent):
            depth += 1
        elif isinstance(event, yaml.CollectionEndEvent):
            depth -= 1
        if depth > MAX_DEPTH:
            return [*faults, Fault(line, f"The file is nested more than {MAX_DEPTH} levels deep.")]
    return faults


def _syntax_fault(error: yaml.YAMLError, text: str) -> Fault:
    """One sentence for an error of the YAML parser, which may or may not know its place."""
    mark = getattr(error, "problem_mark", None) or getattr(error, "context_mark", None)
    problem = getattr(error, "problem", None) or getattr(error, "reason", None) or "it can't be understood"
    if mark is not None:
        return Fault(mark.line + 1, f"This is not valid YAML at column {mark.column + 1}: {problem}.")
    position = getattr(error, "position", None)
    line = text.count("\n", 0, position) + 1 if isinstance(position, int) else 0
    return Fault(line, f"This is not valid YAML: {problem}.")


def _node(node: yaml.Node, line: int, path: str, faults: list[Fault]) -> Node:
    if isinstance(node, yaml.MappingNode):
        return Node(_mapping(node, path, faults), line)
    if isinstance(node, yaml.SequenceNode):
        items = [
            _node(item, item.start_mark.line + 1, f"{path}[{number}]", faults)
            for number, item in enumerate(node.value, start=1)
        ]
        return Node(items, line)
    return Node(_scalar(str(node.value), plain=not getattr(node, "style", None)), line)


def _mapping(node: yaml.MappingNode, path: str, faults: list[Fault]) -> dict[str, Node]:
    result: dict[str, Node] = {}
    for key, value in node.value:
        line = key.start_mark.line + 1
        if not isinstance(key, yaml.ScalarNode):
            faults.append(Fault(line, "A key must be a word, not a list or a mapping.", path))
            continue
        name = str(key.value)
        place = f"{path}.{name}" if path else name
        if name in result:
            first = result[name].line
            faults.append(Fault(line, f"The key `{name}` is already on line {first}; remove one of the two.", place))
            continue
        result[name] = _node(value, line, place, faults)
    return result


def _scalar(text: str, *, plain: bool) -> Scalar:
    """What a scalar stands for; quoted text and blocks of text are never anything but text."""
    if not plain:
        return text
    if text in _EMPTY:
        return None
    if text in _BOOLEANS:
        return _BOOLEANS[text]
    if _WHOLE.fullmatch(text):
        return int(text)
    if _DECIMAL.fullmatch(text):
        return float(text)
    return text
