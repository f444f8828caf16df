"""Exports that somebody built to break or to fool `verify_export`: one sentence for each, and never a pass."""

from __future__ import annotations

import copy
import csv
import io
import json
import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from annotation.domain.export_findings import Verification
from annotation.domain.export_utterances import csv_text
from annotation.domain.export_verification import sha256_of, stated_questionnaire, verify_export
from annotation.domain.manifest import BadManifest
from annotation.domain.manifest_reading import read_manifest
from annotation.models import Project
from annotation.questionnaires import get_questionnaire
from tests import factory
from tests.conftest import People
from tests.exporting import make_gold, make_gold_project, write
from tests.factory import inform

WRONG: list[Any] = [None, 7, -1, 1.5, True, "x", "", [], {}, [1], ["x"], [[1]], [{}], {"a": 1}, {"train": "1"}]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the export lies that all tests copy, once the first of them has made it."""
    return tmp_path_factory.mktemp("made") / "out"


@pytest.fixture
def export(made: Path, tmp_path: Path, request: pytest.FixtureRequest) -> Path:
    if not made.exists():
        project: Project = request.getfixturevalue("project")
        people: People = request.getfixturevalue("people")
        make_gold_project(project, people.annotator, people.second, people.supervisor)
        write(project, made, citation="One\r\ntwo\rthree", title="Coughs")
    return Path(shutil.copytree(made, tmp_path / "out"))


def checked(folder: Path) -> Verification:
    """What is found; every word of it can be printed."""
    name, version = stated_questionnaire(folder)
    found = verify_export(folder, questionnaire=get_questionnaire(name, version) if name == "cmas" else None)
    json.dumps(found.as_json(), ensure_ascii=False).encode()
    return found


def said(folder: Path) -> list[str]:
    return [str(one) for one in checked(folder).findings]


def manifest_of(folder: Path) -> Any:
    return json.loads((folder / "manifest.json").read_bytes())


def state(folder: Path, manifest: Any) -> None:
    (folder / "manifest.json").write_text(json.dumps(manifest), encoding="utf-8")


def forge(folder: Path, path: str, data: bytes) -> None:
    """Change a file, and its sum with it."""
    (folder / path).write_bytes(data)
    manifest = manifest_of(folder)
    for one in manifest["files"]:
        if one["path"] == path:
            one["bytes"], one["sha256"] = sha256_of(folder / path)
    state(folder, manifest)


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Every place in a value of JSON, of long lists the first."""
    pairs = value.items() if isinstance(value, dict) else enumerate(value[:1]) if isinstance(value, list) else ()
    for key, one in pairs:
        yield (*path, key)
        yield from places(one, (*path, key))


def changed(manifest: Any, path: tuple[Any, ...], change: Callable[[Any, Any], None]) -> Any:
    whole = copy.deepcopy(manifest)
    holder = whole
    for key in path[:-1]:
        holder = holder[key]
    change(holder, path[-1])
    return whole


def refused(manifest: Any) -> str:
    """Why the manifest cannot be read; "" where it can."""
    try:
        read_manifest(json.dumps(manifest).encode())
    except BadManifest as error:
        return str(error)
    return ""


def test_an_export_with_a_citation_of_several_lines_is_as_it_was_exported(export: Path) -> None:
    assert said(export) == []
    assert manifest_of(export)["citation"] == "One\ntwo\nthree"
    assert b"\r" not in (export / "huggingface/README.md").read_bytes()


# Lists and objects that may have other contents: whether these are true is asked of the files.
OPEN = {
    "annotators",
    "left_out",
    "files",
    "in_domain",
    "fixed",
    "agreement",
    "dialogues_by_split",
    "utterances_by_split",
}
NULL = {"newest_label", "vocabulary", "agreement"}


def may_be(own: Any, key: Any, value: Any) -> bool:
    """Whether the value is of the type that stands under the key, so that the files decide about it."""
    if isinstance(own, dict | list):
        return key in OPEN and type(value) is type(own) and value in ([], {}, *([["x"]] if key in TEXTS else []))
    return type(value) is type(own) and value != -1


TEXTS = {"in_domain", "fixed"}


def test_a_manifest_with_a_wrong_type_anywhere_is_refused_in_one_sentence(export: Path) -> None:
    manifest = manifest_of(export)
    manifest["left_out"] = [{"dialogue": "X", "folder": "", "split": "train", "reason": "none"}]
    manifest["vocabulary"] = [{"name": "HPO", "version": "1", "attribution": ""}]
    manifest["splits"]["fixed"] = ["RES-1"]
    manifest["agreement"] = {}
    assert refused(manifest) == ""
    tried = 0
    for path in places(manifest):
        for wrong in WRONG:
            known = False

            def put(holder: Any, key: Any, wrong: Any = wrong) -> None:
                nonlocal known
                known = (wrong is None and key in NULL) or may_be(holder[key], key, wrong)
                holder[key] = wrong

            sentence = refused(changed(manifest, path, put))
            if (
                known
                or (path[-1] == "random_seed" and wrong == -1)
                or (path[-1] == "agreement" and isinstance(wrong, dict))
            ):
                continue
            assert sentence.endswith("."), (path, wrong, sentence)
            assert "\n" not in sentence
            tried += 1
    assert tried > 500


def test_a_manifest_without_a_field_or_with_another_is_refused(export: Path) -> None:
    manifest = manifest_of(export)
    for path in places(manifest):
        if isinstance(path[-1], str) and path[-2:-1] not in (("dialogues_by_split",), ("utterances_by_split",)):
            assert refused(changed(manifest, path, lambda holder, key: holder.pop(key))), path
    assert "“more” is unknown" in refused({**manifest, "more": 1})
    assert "“splits.more” is unknown" in refused({**manifest, "splits": {**manifest["splits"], "more": 1}})


@pytest.mark.parametrize(
    ("path", "value", "expected"),
    [
        (("files", 0, "path"), "a\0b", "files[0].path"),
        (("files", 0, "path"), "\ud800", "half of a character"),
        (("files", 0, "path"), "/etc/passwd", "no file below the export"),
        (("files", 0, "path"), "a/../../b", "no file below the export"),
        (("files", 0, "path"), "a\\b", "no file below the export"),
        (("files", 0, "path"), "a" * 5_000, "but it is not there"),
        (("files", 1, "path"), "concepts.csv", "twice"),
        (("files", 0, "bytes"), float("inf"), "Infinity"),
        (("splits", "random_seed"), float("inf"), "Infinity"),
        (("splits", "shares", "train"), "1e9999999", "how the splits were drawn"),
        (("splits", "shares"), {"train": 1e300, "valid": 0, "test": 0}, "how the splits were drawn"),
        (("splits", "in_domain"), ["cardiac"], "the domain that the manifest states"),
        (("splits", "dialogues", "train"), 3, "but the manifest says 3"),
        (("splits", "seeds_are_test"), False, "it belongs into"),
        (("parts", 0, "folder"), "../base", "parts[0].folder"),
        (("parts", 0, "folder"), "/tmp", "parts[0].folder"),
        (("parts", 0, "folder"), "\ud800", "half of a character"),
        (("parts", 0, "counts"), {}, "parts[0].counts"),
        (("parts", 0, "concepts"), {}, "parts[0].concepts"),
        (("source",), "annotator", "does not say what the manifest says"),
        (("source",), "all", "parts[0].folder"),
        (("title",), "Colds", "does not say what the manifest says"),
        (("formats",), ["dialogs", "jsonl"], "its formats have no such file"),
        (("values",), "shown", "values"),
        (("newest_label",), "2026-02-30T00:00:00Z", "newest_label"),
        (("vocabulary",), [{"name": "HPO", "version": "1", "attribution": ""}], "under which nothing here was decided"),
        (("left_out",), [{"dialogue": "\ud800", "folder": "", "split": "train", "reason": ""}], "half of a character"),
        (("left_out",), [{"dialogue": [], "folder": "", "split": "train", "reason": ""}], "left_out[0].dialogue"),
        (("left_out",), [{"dialogue": "X", "folder": "y", "split": "train", "reason": ""}], "the folder of no part"),
    ],
)
def test_what_the_manifest_alone_says_otherwise_is_found(
    export: Path, path: tuple[Any, ...], value: Any, expected: str
) -> None:
    def put(holder: Any, key: Any) -> None:
        holder[key] = value

    state(export, changed(manifest_of(export), path, put))
    found = said(export)
    assert any(expected in one for one in found), found


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"{",
        b"\xff\xfe",
        b"[" * 100_000,
        b"9" * 6_000,
        b'{"form": "anamnesis-export-1", "form": "anamnesis-export-1"}',
        b'{"form": NaN}',
        b'{"form": "\\ud800"}',
    ],
)
def test_a_manifest_that_is_no_json_is_refused(export: Path, data: bytes) -> None:
    (export / "manifest.json").write_bytes(data)
    (one,) = said(export)
    assert one.startswith("manifest.json: It ")
    assert stated_questionnaire(export) == ("", "")


def _link(place: Path, to: str) -> None:
    place.unlink(missing_ok=True)
    place.symlink_to(to)


def _pipe(place: Path) -> None:
    place.unlink(missing_ok=True)
    os.mkfifo(place)


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (lambda place: _link(place / "x", "/etc"), "x: It is a symbolic link; an export has none."),
        (lambda place: _link(place / "x", "/nowhere"), "x: It is a symbolic link; an export has none."),
        (lambda place: _link(place / "x", "x"), "x: It is a symbolic link; an export has none."),
        (lambda place: _link(place / "tuples.csv", "tuples.csv"), "tuples.csv: It is a symbolic link"),
        (lambda place: _link(place / "tuples.csv", "concepts.csv"), "tuples.csv: It is a symbolic link"),
        (lambda place: _pipe(place / "x"), "x: It is no plain file; an export has none."),
        (lambda place: _pipe(place / "dialogs.json"), "dialogs.json: It is no plain file"),
        (lambda place: _pipe(place / "manifest.json"), "manifest.json: It is no plain file, so that"),
        (
            lambda place: _link(place / "manifest.json", "manifest.json"),
            "manifest.json: It is a symbolic link, so that",
        ),
        (lambda place: (place / "x").mkdir(), "x: This folder does not belong to the export"),
        (lambda place: (place / "portal/x/y").mkdir(parents=True), "portal/x/y: This folder does not belong"),
        (lambda place: Path(os.fsdecode(bytes(place) + b"/\xff")).touch(), "\\udcff: It does not belong to the export"),
    ],
)
def test_what_is_no_file_of_an_export_is_named_and_never_opened(
    export: Path, change: Callable[[Path], None], expected: str
) -> None:
    change(export)
    found = said(export)
    assert any(one.startswith(expected) for one in found), found


def test_a_folder_that_is_a_link_is_not_followed(export: Path, tmp_path: Path) -> None:
    shutil.move(export / "portal", tmp_path / "elsewhere")
    (export / "portal").symlink_to(tmp_path / "elsewhere")
    found = said(export)
    assert "portal: It is a symbolic link; an export has none." in found
    assert "portal/RES-2.labels.json: The manifest lists it, but it is not there." in found


def turn(text: str, change: Callable[[Any], None]) -> bytes:
    dialogs = json.loads(text)
    change(dialogs["RES-2"]["utterances"][0])
    return json.dumps(dialogs).encode()


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (lambda text: text.replace("{", '{"RES-2": {"utterances": []}, ', 1).encode(), "the key “RES-2” twice"),
        (lambda text: text.replace('"speaker"', '"speaker": "patient", "speaker"', 1).encode(), "“speaker” twice"),
        (lambda text: turn(text, lambda one: one.update(keywords=[1])), "no list of utterances with"),
        (lambda text: turn(text, lambda one: one.update(keywords=[None])), "no list of utterances with"),
        (lambda text: turn(text, lambda one: one.update(keywords=[{}])), "no list of utterances with"),
        (lambda text: turn(text, lambda one: one.update(text="\ud800")), "half of a character"),
        (lambda text: text.replace('"RES-2"', '"\\ud800"').encode(), "half of a character"),
        (lambda text: turn(text, lambda one: one.update(more=float("nan"))), "NaN"),
        (lambda text: b"9" * 6_000, "a number of 6,000 digits"),
        (lambda text: b"[" * 100_000, "nested too deeply"),
        (lambda text: b'{"\xe9": 1}', "no text in UTF-8"),
    ],
)
def test_dialogs_that_say_two_things_or_none_are_named(
    export: Path, change: Callable[[str], bytes], expected: str
) -> None:
    forge(export, "dialogs.json", change((export / "dialogs.json").read_text()))
    found = said(export)
    assert any(one.startswith("dialogs.json") and expected in one for one in found), found


@pytest.mark.parametrize(
    ("path", "data", "expected"),
    [
        ("train_ids.json", b'["\\ud800"]', "half of a character"),
        ("train_ids.json", b"3", "no list of dialogue ids"),
        ("train_ids.json", b"null", "no list of dialogue ids"),
        ("medical_values.csv", b'"' * 5, "medical_values.csv: It"),
        ("medical_values.csv", b"\xff", "no text in UTF-8"),
        ("portal/RES-2.labels.json", b"\xff", "no text in UTF-8"),
        ("portal/RES-2.labels.json", b'[{"a": 1, "a": 2}]', "the key “a” twice"),
        ("portal/RES-2.dialogue.json", b'{"dlg_id": "RES-3", "dlg_id": "RES-2"}', "the key “dlg_id” twice"),
    ],
)
def test_other_files_that_say_two_things_or_none_are_named(export: Path, path: str, data: bytes, expected: str) -> None:
    forge(export, path, data)
    found = said(export)
    assert any(one.startswith(path) or expected in one for one in found), found
    assert any(expected in one for one in found), found


def test_a_number_of_thousands_of_digits_in_a_table_is_named(export: Path) -> None:
    rows = list(csv.reader(io.StringIO((export / "medical_values.csv").read_text(), newline="")))
    rows[1][1] = "9" * 6_000
    forge(export, "medical_values.csv", csv_text(rows).encode())
    assert any("a row that is none of its form" in one for one in said(export))


@pytest.mark.parametrize("path", ["huggingface/README.md", "utterances.csv", "tuples.csv", "medical_values.csv"])
def test_other_line_ends_are_other_bytes(export: Path, path: str) -> None:
    forge(export, path, (export / path).read_bytes().replace(b"\n", b"\r\n"))
    assert any(one.startswith(path) for one in said(export))


def test_a_listed_file_that_the_manifest_forgets_is_missed(export: Path) -> None:
    manifest = manifest_of(export)
    gone = {"utterances.csv", "concepts.csv", "huggingface/README.md", "portal/RES-2.labels.json"}
    manifest["files"] = [one for one in manifest["files"] if one["path"] not in gone]
    state(export, manifest)
    for path in gone:
        (export / path).unlink()
    assert {one.file for one in checked(export).findings} == gone


def test_a_table_is_read_back_and_compared(export: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same writer would give the same wrong bytes again: what counts is what they read back as."""
    lines = (export / "utterances.csv").read_text()
    assert "\r" not in lines
    monkeypatch.setattr("annotation.domain.export_part_check.export_utterances.csv_cells", lambda text: [["cut"]])
    assert any("do not read back" in one for one in said(export))


def test_texts_with_carriage_returns_are_exported_and_verified(
    project: Project, people: People, tmp_path: Path
) -> None:
    turns = [("doctor", "How\rare you?"), ("patient", "A cough\r"), ("patient", "since\r\n\rMonday, “bad”")]
    dialogue = factory.make_dialogue(project, "CR", turns)
    labels = [inform(1, "symptom", "cough\rhard", status="yes", onset="\r")]
    make_gold(dialogue, people.annotator, people.second, people.supervisor, labels)
    write(project, tmp_path / "out")
    rows = list(csv.reader(io.StringIO((tmp_path / "out/utterances.csv").read_bytes().decode(), newline="")))
    assert {len(row) for row in rows} == {8}
    assert [row[4] for row in rows[1:]] == [text for _, text in turns]
    assert said(tmp_path / "out") == []


def test_thirds_are_drawn_stated_and_verified_and_older_manifests_too(
    project: Project, people: People, tmp_path: Path
) -> None:
    from annotation.domain.splits import Shares

    for number in range(7):
        dialogue = factory.make_dialogue(project, f"D{number}")
        make_gold(dialogue, people.annotator, people.second, people.supervisor)
    write(project, tmp_path / "out", shares=Shares.parse("1/3,1/3,1/3"))
    manifest = manifest_of(tmp_path / "out")
    assert manifest["splits"]["shares"] == {"train": "1/3", "valid": "1/3", "test": "1/3"}
    assert said(tmp_path / "out") == []
    manifest["splits"]["shares"] = dict.fromkeys(("train", "valid", "test"), 1 / 3)
    state(tmp_path / "out", manifest)
    assert said(tmp_path / "out") == []


def test_ids_that_only_differ_in_case_or_are_reserved_are_verified(
    project: Project, people: People, tmp_path: Path
) -> None:
    for name in ("A", "a", "con", "caf\u00e9", "cafe\u0301"):
        make_gold(factory.make_dialogue(project, name), people.annotator, people.second, people.supervisor)
    write(project, tmp_path / "out")
    assert said(tmp_path / "out") == []
    plain = {path.name.casefold() for path in (tmp_path / "out/portal").iterdir()}
    assert len(plain) == 10
    assert all("%" in name for name in plain)
    older = Path(shutil.copytree(tmp_path / "out", tmp_path / "older"))
    for path in older.glob("portal/%63on.*"):
        path.rename(path.with_name(path.name.replace("%63", "c")))
    state(older, json.loads((older / "manifest.json").read_text().replace("portal/%63on", "portal/con")))
    assert said(older) == []
    forge(tmp_path / "out", "portal/%63on.labels.json", b"[]\n")
    assert any(one.startswith("portal/%63on.labels.json, dialogue con") for one in said(tmp_path / "out"))
