"""`build_vocabulary` from the shell's side: what it prints, what it refuses, and what can be looked up afterwards."""

from __future__ import annotations

import gzip
import json
import subprocess
import sys
from collections.abc import Callable
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from tests.rrf import conso, sty, texts_of, write_folder
from umls_linker.services.vocabularies import vocabulary_manifest, vocabulary_names, vocabulary_open

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture(autouse=True)
def data_folder(settings: Any, tmp_path: Path) -> Path:
    settings.DATA_DIR = tmp_path / "data"
    return tmp_path / "data"


@pytest.fixture
def rrf(tmp_path: Path) -> Path:
    strings = [
        conso("C0010200", "Cough", source="MSH"),
        conso("C0010200", "Tos", language="SPA", source="MSHSPA"),
        conso("C0022742", "Knee", source="FMA"),
        "C0010200|ENG\n",
    ]
    return write_folder(tmp_path / "rrf", strings, [sty("C0010200", "T184"), sty("C0022742", "T023")])


def run(*arguments: str) -> dict[str, Any]:
    out = StringIO()
    call_command("build_vocabulary", *arguments, "--json", stdout=out)
    [line] = out.getvalue().splitlines()
    result: dict[str, Any] = json.loads(line)
    return result


def test_a_metathesaurus_is_built_under_its_name(rrf: Path) -> None:
    result = run("--rrf", str(rrf), "--name", "umls-2031", "--release", "2031AA")
    assert (result["name"], result["version"]) == ("umls-2031", "2031AA")
    assert (result["concepts"], result["terms"], result["strings"], result["faults"]) == (2, 2, 2, 1)
    assert result["fault_list"] == ["MRCONSO.RRF, line 4: It has 2 of 18 columns."]
    assert result["seconds"] >= 0
    assert result["peak_mb"] > 10
    index = vocabulary_open("umls-2031")
    assert texts_of(index, index.alike("coughs", 0.5)) == ["Cough"]


@pytest.mark.parametrize(
    ("options", "terms"),
    [
        (["--languages", "SPA"], ["Tos"]),
        (["--languages", "ENG,SPA", "--semantic-types", "T184"], ["Tos", "Cough"]),
        (["--sources", "FMA"], ["Knee"]),
        (["--semantic-types", "T023"], ["Knee"]),
    ],
)
def test_languages_sources_and_types_are_selected(rrf: Path, options: list[str], terms: list[str]) -> None:
    run("--rrf", str(rrf), *options)
    index = vocabulary_open("umls")
    assert texts_of(index, range(len(index))) == terms


def test_without_a_licence_the_embedded_vocabulary_is_built(rrf: Path) -> None:
    result = run()
    assert result["name"] == "embedded"
    assert result["version"].startswith("HPO 20")
    assert result["concepts"] > 13_000
    assert result["faults"] == 0
    run("--rrf", str(rrf))
    assert vocabulary_names() == ["embedded", "umls"]
    assert run()["digest"] == result["digest"]
    assert "Human Phenotype Ontology" in vocabulary_manifest().attribution


def test_people_are_told_counts_faults_and_licences(rrf: Path) -> None:
    out = StringIO()
    call_command("build_vocabulary", "--rrf", str(rrf), stdout=out)
    text = out.getvalue()
    assert "The vocabulary umls (unknown release) is in use: 2 concepts with 2 terms, from 2 strings." in text
    assert "1 entry was left out: too few columns 1." in text
    assert "MRCONSO.RRF, line 4" in text
    assert "UMLS" in text


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--rrf", "nowhere"], "nowhere: there is no such folder."),
        (["--name", "My words"], "A vocabulary's name has up to 50 small letters, digits and hyphens."),
        (["--semantic-types", "symptom"], "“symptom” is not a semantic type; one looks like T184."),
        (["--languages", "SPA"], "--languages, --sources, --semantic-types and --release belong to --rrf."),
    ],
)
def test_what_cannot_be_done_is_said_in_one_sentence(arguments: list[str], sentence: str, data_folder: Path) -> None:
    with pytest.raises(CommandError) as error:
        call_command("build_vocabulary", *arguments)
    assert str(error.value) == sentence
    assert not data_folder.exists()


def only(folder: Path, *names: str) -> None:
    for path in folder.iterdir():
        if path.name not in names:
            path.unlink()


def packed(folder: Path, name: str, ending: str = ".gz") -> None:
    (folder / f"{name}{ending}").write_bytes(gzip.compress((folder / name).read_bytes()))
    if ending:
        (folder / name).unlink()


@pytest.mark.parametrize(
    ("spoil", "sentence"),
    [
        (lambda folder: only(folder, "MRSTY.RRF"), "{folder}: there is no MRCONSO.RRF in it."),
        (only, "{folder}: there is no MRCONSO.RRF and no MRSTY.RRF in it."),
        (lambda folder: (folder / "MRSTY.RRF").write_bytes(b""), "{folder}/MRSTY.RRF: it is empty."),
        (
            lambda folder: (folder / "MRCONSO.RRF").write_bytes(b"\n\r\n"),
            "UMLS Metathesaurus: it has no concept that was asked for, so nothing was built.",
        ),
        (
            lambda folder: packed(folder, "MRCONSO.RRF"),
            "{folder}: unpack MRCONSO.RRF.gz first; only unpacked files are read.",
        ),
        (
            lambda folder: packed(folder, "MRCONSO.RRF", ""),
            "{folder}/MRCONSO.RRF: it is packed (gzip); unpack it first.",
        ),
        (
            lambda folder: packed(folder, "MRCONSO.RRF", ".aa.gz"),
            "{folder}: unpack MRCONSO.RRF.aa.gz first; only unpacked files are read.",
        ),
    ],
)
def test_a_folder_that_is_of_no_use_is_said_to_be_in_one_sentence(
    spoil: Callable[[Path], None], sentence: str, rrf: Path, data_folder: Path
) -> None:
    spoil(rrf)
    with pytest.raises(CommandError) as error:
        call_command("build_vocabulary", "--rrf", str(rrf))
    assert str(error.value) == sentence.format(folder=rrf)
    assert not list(data_folder.rglob("building-*"))
    assert vocabulary_names() == []


@pytest.mark.parametrize("name", ["MRSTY.RRF", "MRCUI.RRF"])
def test_a_file_that_may_not_be_read_is_named(name: str, rrf: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (rrf / name).touch()
    opened = Path.open

    def locked(path: Path, *arguments: Any, **options: Any) -> Any:
        if path.name == name:  # rights would not stop the superuser
            raise PermissionError(13, "Permission denied", str(path))
        return opened(path, *arguments, **options)

    monkeypatch.setattr(Path, "open", locked)
    with pytest.raises(CommandError) as error:
        call_command("build_vocabulary", "--rrf", str(rrf))
    assert str(error.value) == f"{rrf / name}: it cannot be read (Permission denied)."


def test_line_ends_of_windows_change_nothing(rrf: Path) -> None:
    plain = run("--rrf", str(rrf))
    for path in rrf.iterdir():
        path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))
    assert run("--rrf", str(rrf))["digest"] == plain["digest"]


def test_retired_concepts_of_the_folder_are_known(rrf: Path) -> None:
    (rrf / "MRCUI.RRF").write_text("C0000001|2020AA|SY|||C0010200|Y|\nC0000002|2020AA|SY\n")
    result = run("--rrf", str(rrf))
    assert "MRCUI.RRF, line 2: It has 3 of 7 columns." in result["fault_list"]
    assert vocabulary_open("umls").replacement("C0000001") == ("C0010200", "SY")


def test_other_commands_do_not_load_the_matcher() -> None:
    script = (
        "import os, sys; os.environ['DJANGO_SETTINGS_MODULE'] = 'portal.settings_test'; import django; django.setup();"
        "from django.core.management import call_command; call_command('check');"
        "from django.urls import get_resolver; get_resolver().url_patterns;"
        "import umls_linker.services.vocabularies;"
        "heavy = ('spacy', 'quickumls', 'nltk', 'unqlite', 'quickumls_simstring');"
        "print(*(name for name in heavy if name in sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1].strip() == ""
