"""The loader: a small questionnaire is read as written, and each kind of fault is named by file, line and key."""

from __future__ import annotations

import random
import time
from pathlib import Path
from textwrap import dedent

import pytest

from annotation import questionnaires
from annotation.domain.questionnaire import Check, Kind, Meaning, Questionnaire
from annotation.domain.questionnaire_file import RESERVED_KEYS, QuestionnaireError, load_questionnaire
from annotation.domain.yaml_tree import MAX_BYTES, read_tree

SMALL = dedent("""\
    name: small
    version: "1"
    about: utterance
    speakers:
      doctor: {usual_intent: ask, other_intent: tell}
      patient: {usual_intent: tell, other_intent: nod}
    intents:
      ask: {speakers: [doctor], asks: true}
      tell: {speakers: [doctor, patient]}
      nod: {speakers: [doctor, patient], slotless: true, key: g}
    lists:
      aches: [headache, {value: belly ache, synonyms: [stomach ache]}]
      all: [{include: [aches]}, fever]
    slots:
      symptom:
        intents: [ask, tell]
        head: value
        status: status
        key: s
        fields:
          value: {question: Which symptom?, kind: values, values: all}
          status:
            question: Is it there?
            kind: choice
            choices: [yes, {name: no, portal: Nope, meaning: no, spellings: [none]}]
            default: {patient: yes}
          severity:
            question: How bad?
            kind: scale
            minimum: 1
            maximum: 5
          peak_flow: {question: Peak flow?, kind: text}
    special_cases:
      - title: All at once
        rule: Write “all”.
        slots: [symptom]
    unlabelled_reasons: [unclear]
    """)


def load(text: str) -> Questionnaire:
    return load_questionnaire(text, file="small.yaml")


def faults_of(text: str) -> list[str]:
    with pytest.raises(QuestionnaireError) as caught:
        load(text)
    return [str(notice) for notice in caught.value.notices]


def line_of(text: str, part: str) -> int:
    return text[: text.index(part)].count("\n") + 1


def test_a_question_needs_only_a_question_and_a_kind():
    field = load(SMALL).slot("symptom").field("peak_flow")
    assert (field.kind, field.portal, field.check, field.choices) == (Kind.TEXT, "peak flow", Check.WITH_VALUE, ())
    assert load(SMALL).slot("symptom").head_field.check == Check.NONE


def test_a_choice_may_be_just_a_text_and_yes_and_no_are_words():
    status = load(SMALL).slot("symptom").status_field
    yes, no = status.choices
    assert (yes.name, yes.title, yes.portal, yes.meaning) == ("yes", "yes", "yes", None)
    assert (no.name, no.title, no.portal, no.spellings, no.meaning) == ("no", "no", "Nope", ("none",), Meaning.NO)
    assert status.default == {"patient": "yes"}


def test_titles_and_marks_default_to_the_name():
    small = load(SMALL)
    assert small.title == "small"
    assert (small.speaker("doctor").title, small.speaker("doctor").mark) == ("doctor", "D")
    assert small.intent("ask").title == "ask"
    assert small.slot("symptom").title == "symptom"


def test_an_included_list_brings_its_values_and_synonyms():
    values = load(SMALL).lists["all"]
    assert [(value.value, value.synonyms) for value in values] == [
        ("headache", ()),
        ("belly ache", ("stomach ache",)),
        ("fever", ()),
    ]


def test_a_value_in_two_included_lists_appears_once_with_the_synonyms_of_both():
    text = SMALL.replace("fever]", "fever, {value: headache, synonyms: [sore head]}]")
    values = load(text).lists["all"]
    assert (values[0].value, values[0].synonyms) == ("headache", ("sore head",))
    assert len(values) == 3


def test_a_byte_order_mark_and_windows_line_ends_are_read():
    assert load("\ufeff" + SMALL.replace("\n", "\r\n")) == load(SMALL)


def test_the_order_of_the_file_is_kept():
    assert [field.name for field in load(SMALL).slot("symptom").fields] == ["value", "status", "severity", "peak_flow"]


# (what is replaced, by what, key path that is named, a part of the sentence)
FAULTS = [
    pytest.param("name: small\n", "", "name", "is missing", id="missing key"),
    pytest.param("name: small", "name: Small one", "name", "must begin with", id="unusable file name"),
    pytest.param('version: "1"', "version: 1.0", "version", "must be text, but it is the number 1.0; put it in quotes"),
    pytest.param("about: utterance", "about: dialogue", "about", "can only be about an utterance", id="about"),
    pytest.param("about: utterance", "abuot: utterance", "abuot", "did you mean `about`?", id="unknown key at the top"),
    pytest.param("maximum: 5", "maximun: 5", "slots.symptom.fields.severity.maximun", "did you mean `maximum`?",
                 id="unknown key of a field"),
    pytest.param("maximum: 5", "maximum: 1", "slots.symptom.fields.severity.maximum", "must be greater than",
                 id="range"),
    pytest.param(
        "maximum: 5", "maximum: five", "slots.symptom.fields.severity.maximum", "must be a whole number", id="number"
    ),
    pytest.param("kind: scale", "kind: slider", "slots.symptom.fields.severity.kind", "can't be the text “slider”"),
    pytest.param("kind: scale\n        minimum: 1\n        maximum: 5", "kind: choice",
                 "slots.symptom.fields.severity.choices", "needs `choices`", id="choices"),
    pytest.param("choices: [yes,", "choices: [] #", "slots.symptom.fields.status.choices", "needs `choices`"),
    pytest.param("[yes, {", "[no, {", "slots.symptom.fields.status.choices.no", "already stands for", id="same choice"),
    pytest.param("meaning: no,", "meaning: nay,", "slots.symptom.fields.status.choices.no.meaning", "can't be"),
    pytest.param("default: {patient: yes}", "default: {patient: yep}", "slots.symptom.fields.status.default.patient",
                 "did you mean `yes`?", id="default is no choice"),
    pytest.param("default: {patient", "default: {nurse", "slots.symptom.fields.status.default.nurse", "no speaker"),
    pytest.param("head: value", "head: name", "slots.symptom.head", "There is no field “name”", id="head"),
    pytest.param("head: value", "head: severity", "slots.symptom.head", "of kind `values` or `text`", id="head kind"),
    pytest.param("status: status", "status: state", "slots.symptom.status", "did you mean `status`?", id="status"),
    pytest.param("status: status", "status: severity", "slots.symptom.status", "of kind `choice`", id="status kind"),
    pytest.param("intents: [ask, tell]", "intents: [ask, tell, guess]", "slots.symptom.intents", "no intent “guess”"),
    pytest.param("intents: [ask, tell]", "intents: [ask, tell, nod]", "slots.symptom.intents", "is slotless"),
    pytest.param("intents: [ask, tell]", "intents: [tell]", "intents.ask", "No slot takes the intent",
                 id="unused intent"),
    pytest.param("values: all", "values: al", "slots.symptom.fields.value.values", "did you mean `all`?", id="list"),
    pytest.param("include: [aches]", "include: [ache]", "lists.all[1].include", "did you mean `aches`?", id="include"),
    pytest.param("[headache,", "[{include: [all]},", "lists.aches", "includes itself", id="circular lists"),
    pytest.param("[headache,", "[belly ache,", "lists.aches[2]", "already in the list", id="value listed twice"),
    pytest.param("[headache,", "[7,", "lists.aches[1]", "must be text, but it is the number 7", id="value is a number"),
    pytest.param("[stomach ache]", "[belly ache]", "lists.aches[2].synonyms", "synonym of itself", id="own synonym"),
    pytest.param("speakers: [doctor], asks", "speakers: [dcotor], asks", "intents.ask.speakers", "mean `doctor`?"),
    pytest.param("usual_intent: ask", "usual_intent: asc", "speakers.doctor.usual_intent", "did you mean `ask`?"),
    pytest.param("other_intent: nod", "other_intent: ask", "speakers.patient.other_intent", "There is no intent of",
                 id="intent of another speaker"),
    pytest.param("asks: true", "asks: perhaps", "intents.ask.asks", "must be true or false", id="flag"),
    pytest.param("key: s", "key: g", "slots.symptom.key", "already used by `intents.nod`", id="key used twice"),
    pytest.param("key: s", "key: ss", "slots.symptom.key", "one letter from a to z", id="long key"),
    pytest.param("key: s", 'key: "?"', "slots.symptom.key", "one letter from a to z", id="sign as key"),
    pytest.param("key: s", "key: 5", "slots.symptom.key", "must be text", id="digit as key"),
    pytest.param("asks: true", "asks: true, key: a", "intents.ask.key", "Only an intent that is `slotless",
                 id="slot key"),
    pytest.param("head: value", "head: value\n    implied_value: x", "slots.symptom.implied_value", "from there"),
    pytest.param("slots: [symptom]", "slots: [symptoms]", "special_cases[1].slots", "did you mean `symptom`?"),
    pytest.param("slots: [symptom]", "intents: [inform]", "special_cases[1].intents", "no intent “inform”"),
    pytest.param("rule: Write “all”.", "rule: ", "special_cases[1].rule", "must be text, but it is nothing"),
    pytest.param("peak_flow", "Peak-flow", "slots.symptom.fields.Peak-flow", "must begin with a-z", id="field name"),
    pytest.param("Peak flow?, kind: text", "Flow?, kind: text, portal: severity",
                 "slots.symptom.fields.peak_flow.portal",
                 "already used by `severity`", id="portal name used twice"),
    pytest.param("Peak flow?, kind: text", "Flow?, kind: text, portal: uid", "slots.symptom.fields.peak_flow.portal",
                 "already used by every label", id="portal name of the file"),
    pytest.param("Peak flow?, kind: text", "Flow?, kind: text, minimum: 1", "slots.symptom.fields.peak_flow.minimum",
                 "means nothing for the kind `text`", id="key of another kind"),
    pytest.param("question: Peak flow?, kind: text", "kind: text", "slots.symptom.fields.peak_flow.question",
                 "is missing"),
    pytest.param("unlabelled_reasons: [unclear]", "unlabelled_reasons: [3]", "unlabelled_reasons", "list of texts"),
    pytest.param("maximum: 5", "maximum: 5\n        maximum: 6", "slots.symptom.fields.severity.maximum",
                 "is already on line", id="key written twice"),
]  # fmt: skip


@pytest.mark.parametrize(("old", "new", "key", "sentence"), FAULTS)
def test_a_fault_is_named_by_file_line_and_key(old: str, new: str, key: str, sentence: str):
    text = SMALL.replace(old, new, 1)
    assert text != SMALL
    with pytest.raises(QuestionnaireError) as caught:
        load(text)
    notices = caught.value.notices
    assert len(notices) <= 2, notices  # the fault, and at most one that follows from it
    fault = next(notice for notice in notices if notice.key == key)
    assert fault.file == "small.yaml"
    assert fault.line > 0
    assert sentence in fault.message


def test_the_line_is_the_line_of_the_key():
    text = SMALL.replace("maximum: 5", "maximum: 1")
    with pytest.raises(QuestionnaireError) as caught:
        load(text)
    assert caught.value.notices[0].line == line_of(text, "maximum: 1")


def test_all_faults_are_reported_at_once_in_the_order_of_the_file():
    text = SMALL.replace("kind: scale", "kind: slider").replace("key: s", "key: q").replace("asks: true", "aks: true")
    faults = faults_of(text)
    assert [fault.split(", ")[2].split(":")[0] for fault in faults] == [
        "intents.ask.aks",
        "slots.symptom.key",
        "slots.symptom.fields.severity.kind",
    ]


@pytest.mark.parametrize("key", sorted(RESERVED_KEYS))
def test_the_keys_of_the_workbench_are_refused(key: str):
    assert "uses the key" in faults_of(SMALL.replace("key: s\n", f"key: {key}\n"))[0]


def test_the_reserved_keys_are_those_of_the_workbench():
    assert "".join(sorted(RESERVED_KEYS)) == "jknquyz"


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        pytest.param("", "empty", id="empty file"),
        pytest.param("# only a comment\n", "empty", id="only a comment"),
        pytest.param("just a word", "keys with values are expected", id="not a mapping"),
        pytest.param("name: [unclosed", "not valid YAML", id="broken YAML"),
        pytest.param("name: a\x00b", "not valid YAML", id="control character"),
        pytest.param("name: a\ud800b", "half of a two-part character", id="lone surrogate"),
        pytest.param("a: 1\n---\nb: 2\n", "not valid YAML", id="two documents"),
        pytest.param("name: &x small\nversion: *x\n", "&x is not allowed", id="anchor"),
        pytest.param("name: !!python/name:os.system x\n", "tag", id="tag"),
        pytest.param("? [a, b]\n: c\n", "A key must be a word", id="list as key"),
        pytest.param("a: " + "[" * 100, "nested more than", id="deep nesting"),
        pytest.param("a: " + "[" * 50_000, "nesting", id="very deep nesting"),
        pytest.param("a: x\n" + "#" * MAX_BYTES, "bytes", id="too large"),
    ],
)
def test_what_is_no_plain_yaml_is_refused(text: str, sentence: str):
    faults = faults_of(text)
    assert faults[0].startswith("small.yaml")
    assert sentence in faults[0]


def test_an_alias_bomb_is_refused_at_once():
    bomb = "a0: &a0 [x, x]\n" + "".join(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]\n" for n in range(1, 30))
    started = time.monotonic()
    faults = faults_of(bomb)
    assert time.monotonic() - started < 2
    assert any("alias *a0 is not allowed" in fault for fault in faults)


def test_only_true_and_false_are_booleans_and_only_plain_decimals_are_numbers():
    text = "a: [yes, no, on, off, true, false, 10, 010, 0x1F, 1:30, 1.5, 2024-01-01, ~, '10']"
    tree, faults = read_tree(text)
    assert not faults
    assert [node.value for node in tree.value["a"].value] == [
        "yes", "no", "on", "off", True, False, 10, 10, "0x1F", "1:30", 1.5, "2024-01-01", None, "10",
    ]  # fmt: skip


def test_a_damaged_file_gives_notices_and_never_another_error():
    source = (Path(questionnaires.__file__).parent / "cmas.yaml").read_text(encoding="utf-8")[:30_000]
    rng = random.Random(7)
    refusals = [error for error in (refusal_of(damaged(source, rng)) for _ in range(120)) if error]
    assert len(refusals) > 100
    for error in refusals:
        assert error.notices
        assert all(notice.file == "small.yaml" for notice in error.notices)
        assert all(notice.message.endswith((".", "?")) for notice in error.notices)


def damaged(text: str, rng: random.Random) -> str:
    """The text cut short or not, with a few signs put in the place of others."""
    text = text[: rng.randrange(len(text))] if rng.random() < 0.3 else text
    for _ in range(rng.randrange(1, 6)):
        at = rng.randrange(len(text) + 1)
        text = text[:at] + rng.choice(["", "\n", ": ", "[", "}", "- ", "\t", "'", "*a", "\x07", "7"]) + text[at + 3 :]
    return text


def refusal_of(text: str) -> QuestionnaireError | None:
    try:
        load(text)
    except QuestionnaireError as error:
        return error
    return None


# ------------------------------------------------------------------------------------------- finding questionnaires


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A registered folder; the registration is forgotten after the test."""
    monkeypatch.setattr(questionnaires, "_SHELF", questionnaires._Shelf())
    monkeypatch.setattr(questionnaires, "LOOK_SECONDS", 0)
    questionnaires.register_folder(tmp_path)
    return tmp_path


def write(folder: Path, name: str, text: str = SMALL) -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def test_the_questionnaires_of_a_registered_folder_are_available(folder: Path):
    path = write(folder, "small.yaml")
    assert questionnaires.available()["small"] == path.resolve()
    assert "cmas" in questionnaires.available()
    assert questionnaires.get_questionnaire("small").version == "1"


def test_a_questionnaire_is_read_once_and_again_when_its_file_changes(folder: Path):
    write(folder, "small.yaml")
    first = questionnaires.get_questionnaire("small")
    assert questionnaires.get_questionnaire("small") is first
    write(folder, "small.yaml", SMALL.replace('"1"', '"1.0.1"'))
    assert questionnaires.get_questionnaire("small").version == "1.0.1"


def test_old_versions_are_served_beside_the_current_one(folder: Path):
    write(folder, "small.yaml", SMALL.replace('"1"', '"2"'))
    write(folder, "small-1.yaml")
    assert "small-1" not in questionnaires.available()
    assert questionnaires.get_questionnaire("small").version == "2"
    assert questionnaires.get_questionnaire("small", "2").version == "2"
    assert questionnaires.get_questionnaire("small", "1").version == "1"


def test_a_folder_may_bring_a_newer_version_of_a_questionnaire_that_is_shipped(folder: Path):
    shipped = (Path(questionnaires.__file__).parent / "cmas.yaml").read_text(encoding="utf-8")
    version = questionnaires.get_questionnaire("cmas").version
    write(folder, "cmas.yaml", shipped.replace(f'version: "{version}"', 'version: "9"'))
    assert questionnaires.get_questionnaire("cmas").version == "9"
    assert questionnaires.get_questionnaire("cmas", version).version == version


def test_an_unknown_questionnaire_or_version_names_what_exists(folder: Path):
    write(folder, "small.yaml")
    with pytest.raises(questionnaires.UnknownQuestionnaire, match="“smal”; there is cmas, small"):
        questionnaires.get_questionnaire("smal")
    with pytest.raises(
        questionnaires.UnknownQuestionnaire, match="no version 3 of the questionnaire “small”; there is 1"
    ):
        questionnaires.get_questionnaire("small", "3")


def test_a_faulty_old_file_does_not_hide_another_version(folder: Path):
    write(folder, "small.yaml", SMALL.replace('"1"', '"2"'))
    write(folder, "small-0.yaml", "name: [")
    write(folder, "small-1.yaml")
    assert questionnaires.get_questionnaire("small", "1").version == "1"
    with pytest.raises(QuestionnaireError, match=r"small-0\.yaml"):
        questionnaires.get_questionnaire("small", "7")


def test_a_file_that_is_named_otherwise_than_its_questionnaire_is_refused(folder: Path):
    write(folder, "other.yaml")
    with pytest.raises(QuestionnaireError, match=r"name the file small\.yaml"):
        questionnaires.get_questionnaire("other")


def test_a_file_that_is_not_utf_8_is_refused(folder: Path):
    (folder / "latin.yaml").write_bytes("name: caf\xe9".encode("latin-1"))
    with pytest.raises(QuestionnaireError, match=r"latin\.yaml: The file is not UTF-8"):
        questionnaires.get_questionnaire("latin")


def test_a_folder_that_does_not_exist_can_not_be_registered(folder: Path):
    with pytest.raises(NotADirectoryError, match="does not exist"):
        questionnaires.register_folder(folder / "missing")
