"""Building a vocabulary: it is whole or not there at all, whatever happens, and the same however it is read."""

from __future__ import annotations

import json
import random
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from multiprocessing import get_context
from pathlib import Path

import pytest

from annotation.services.errors import Refused
from tests.rrf import conso, make_index, small_atoms, sty, texts_of, write_folder
from umls_linker.domain.rrf import Selection
from umls_linker.domain.vocabulary import Atom, Entry, Kind, TypeOf
from umls_linker.index import lexicon, shards, sorting
from umls_linker.index.folders import current_build
from umls_linker.index.reader import VocabularyIndex
from umls_linker.index.shard_process import ShardsProcess
from umls_linker.index.shards import TRIGRAMS
from umls_linker.index.sorting import RecordSorter, grouped, write_inverted
from umls_linker.index.sources import Metathesaurus, SourceUnusable
from umls_linker.index.storage import Lists, ListsWriter
from umls_linker.services.vocabularies import vocabulary_build, vocabulary_names, vocabulary_open

ROOT = Path(__file__).resolve().parent.parent

# A build that says when it has come to a stage, and waits there to be killed.
STOPPING = """
import sys
from pathlib import Path
from umls_linker.domain.rrf import Selection
from umls_linker.index.sources import Metathesaurus
from umls_linker.services.vocabularies import vocabulary_build

root, folder, stage = Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3]

def progress(at, done):
    if at == stage:
        print("there", flush=True)
        sys.stdin.read()

class Slow(Metathesaurus):
    def atoms(self, faults):
        for number, atom in enumerate(super(Slow, self).atoms(faults)):
            if number == 3:
                progress("In the middle of the strings", number)
            yield atom

vocabulary_build(source=Slow(folder, Selection()), name="crash", progress=progress, root=root)
"""
STAGES = ["In the middle of the strings", "Sorting keys", "Sorting words", "Putting it into use"]


def metathesaurus(folder: Path, *names: str) -> Metathesaurus:
    """A concept for each name."""
    cuis = [f"C{number:07}" for number in range(1, len(names) + 1)]
    strings = [conso(cui, name) for cui, name in zip(cuis, names, strict=True)]
    return Metathesaurus.find(write_folder(folder, strings, [sty(cui, "T184") for cui in cuis]), Selection(), "1")


@contextmanager
def stopped_at(stage: str, root: Path, folder: Path) -> Iterator[subprocess.Popen[str]]:
    """A build in another process that stands still at this stage, killed at the end if not before."""
    command = [sys.executable, "-c", STOPPING, str(root), str(folder), stage]
    child = subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        assert child.stdout
        assert child.stdout.readline() == "there\n"
        yield child
    finally:
        child.kill()
        child.wait()
        for pipe in (child.stdin, child.stdout):
            if pipe:
                pipe.close()


def holds(root: Path, name: str = "crash") -> list[str]:
    index = vocabulary_open(name, root=root)
    return [index.term(number).text for number in range(len(index))]


@pytest.mark.parametrize("stage", STAGES)
def test_a_build_that_is_killed_leaves_the_old_vocabulary_and_the_next_clears_up(tmp_path: Path, stage: str) -> None:
    root = tmp_path / "vocabularies"
    vocabulary_build(source=metathesaurus(tmp_path / "old", "cough", "fever"), name="crash", root=root)
    new = metathesaurus(tmp_path / "new", "chills", "nausea", "headache")
    with stopped_at(stage, root, new.folder) as child:
        assert sorted(holds(root)) == ["cough", "fever"]
        child.kill()
        child.wait()
    assert sorted(holds(root)) == ["cough", "fever"]
    assert list((root / "crash").glob("building-*"))
    vocabulary_build(source=new, name="crash", root=root)
    assert sorted(holds(root)) == ["chills", "headache", "nausea"]
    assert not list((root / "crash").glob("building-*"))


def test_a_first_build_that_is_killed_leaves_no_vocabulary(tmp_path: Path) -> None:
    root = tmp_path / "vocabularies"
    with stopped_at("Sorting words", root, metathesaurus(tmp_path / "new", "chills", "nausea").folder):
        pass
    assert vocabulary_names(root=root) == []
    with pytest.raises(Refused, match="There is no vocabulary “crash”"):
        vocabulary_open("crash", root=root)


def test_two_builds_of_one_name_do_not_run_at_once(tmp_path: Path) -> None:
    root = tmp_path / "vocabularies"
    source = metathesaurus(tmp_path / "new", "chills", "nausea")
    with stopped_at("Sorting keys", root, source.folder):
        with pytest.raises(Refused, match="being built already"):
            vocabulary_build(source=source, name="crash", root=root)
        vocabulary_build(source=source, name="another", root=root)
    vocabulary_build(source=source, name="crash", root=root)
    assert vocabulary_names(root=root) == ["another", "crash"]


def test_an_error_in_the_source_leaves_nothing_behind(tmp_path: Path) -> None:
    root = tmp_path / "vocabularies"
    other = Selection(semantic_types=frozenset({"T999"}))
    empty = replace(metathesaurus(tmp_path / "empty", "cough"), selection=other)
    with pytest.raises(Refused, match="no concept"):
        vocabulary_build(source=empty, name="crash", root=root)
    assert [path.name for path in (root / "crash").iterdir()] == ["lock"]


def test_a_reader_sees_the_new_build_at_its_next_question_and_may_finish_with_the_old(tmp_path: Path) -> None:
    root = tmp_path / "vocabularies"
    vocabulary_build(source=metathesaurus(tmp_path / "a", "cough"), name="crash", root=root)
    old = vocabulary_open("crash", root=root)
    assert vocabulary_open("crash", root=root) is old
    vocabulary_build(source=metathesaurus(tmp_path / "b", "fever"), name="crash", root=root)
    assert holds(root) == ["fever"]
    assert texts_of(old, old.alike("cough")) == ["cough"]  # opened only now: its files are still there
    for text in ("chills", "nausea"):
        vocabulary_build(source=metathesaurus(tmp_path / text, text), name="crash", root=root)
    assert holds(root) == ["nausea"]
    builds = [path for path in (root / "crash").iterdir() if path.is_dir()]
    assert len(builds) == 2  # this one and the one before
    assert current_build(root, "crash") in builds


def _ask(folder: str) -> list[str]:
    index = VocabularyIndex.open(Path(folder))
    answers: list[str] = []
    for _ in range(50):
        found = texts_of(index, index.alike("hedache", 0.4))
        found += texts_of(index, index.exact("dyspnea") + index.with_words(["pain"], 10))
        found += [word for word, _ in index.words_like("hedache")]
        answers = answers or found
        assert found == answers
    return answers


def test_many_processes_read_one_index(tmp_path: Path) -> None:
    index = make_index(tmp_path / "small")
    with ProcessPoolExecutor(4, mp_context=get_context("spawn")) as pool:
        answers = list(pool.map(_ask, [str(index.folder)] * 8))
    assert answers == [_ask(str(index.folder))] * 8
    assert {"Dyspnea", "Knee pain", "headach"} <= set(answers[0])


def test_faults_are_counted_and_listed_in_the_report(tmp_path: Path) -> None:
    strings = [
        conso("C0000001", "cough"),
        "C1|ENG\n",
        conso("C0000002", "untyped"),
        conso("C0000002", "another"),
        b"\xff" * 40 + b"\n",
    ]
    folder = write_folder(tmp_path / "bad", strings, [sty("C0000001", "T184"), "x\n"])
    source = Metathesaurus.find(folder, Selection())
    manifest = vocabulary_build(source=source, name="bad", root=tmp_path / "vocabularies")
    assert dict(manifest.fault_counts) == {"too few columns": 2, "bad UTF-8": 1, "a CUI without a type": 1}
    assert manifest.counts.faults == 4
    assert "C0000002: It has no semantic type; left out: “another” and 1 more." in manifest.faults
    assert "MRCONSO.RRF, line 2: It has 2 of 18 columns." in manifest.faults
    stored = json.loads((current_build(tmp_path / "vocabularies", "bad") / "manifest.json").read_text(encoding="utf-8"))
    assert stored["fault_counts"] == dict(manifest.fault_counts)
    assert holds(tmp_path / "vocabularies", "bad") == ["cough"]


def test_concepts_are_selected_by_type_whole(tmp_path: Path) -> None:
    strings = [conso("C0000001", "cough"), conso("C0000002", "knee"), conso("C0000001", "tussis", status="S")]
    folder = write_folder(
        tmp_path / "rrf", strings, [sty("C0000001", "T184"), sty("C0000001", "T033"), sty("C0000002", "T023")]
    )
    source = Metathesaurus.find(folder, Selection(semantic_types=frozenset({"T033"})))
    manifest = vocabulary_build(source=source, name="few", root=tmp_path / "vocabularies")
    assert manifest.counts.concepts == 1
    assert dict(manifest.semantic_types) == {"T033": 1, "T184": 1}
    index = vocabulary_open("few", root=tmp_path / "vocabularies")
    concept = index.concept("C0000001")
    assert concept
    assert (concept.name, concept.synonyms, concept.semantic_types) == ("cough", ("tussis",), ("T033", "T184"))
    assert index.concept("C0000002") is None


def test_the_release_is_read_from_the_folder(tmp_path: Path) -> None:
    folder = write_folder(tmp_path / "META", [conso("C0000001", "cough")], [sty("C0000001", "T184")])
    (folder / "release.dat").write_text("umls.release.name=2031AB\numls.release.date=x\n")
    assert Metathesaurus.find(tmp_path, Selection()).version == "2031AB"
    assert Metathesaurus.find(tmp_path, Selection(), "mine").version == "mine"


def test_a_folder_without_the_files_is_named(tmp_path: Path) -> None:
    with pytest.raises(SourceUnusable, match=r"there is no MRCONSO\.RRF and no MRSTY\.RRF in it"):
        Metathesaurus.find(tmp_path, Selection())


@pytest.mark.parametrize("name", ["", "Up", "a/b", "..", "a b", "-a", "x" * 51])
def test_a_name_that_is_no_folder_s_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(Refused, match="small letters"):
        vocabulary_build(source=metathesaurus(tmp_path / "rrf", "cough"), name=name, root=tmp_path / "vocabularies")


def test_the_order_of_the_source_and_the_size_of_runs_change_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain = make_index(tmp_path / "plain")
    for name, value in (("RUN", 3), ("BLOCK", 2), ("LISTS", 4), ("PAIRS", 6)):
        monkeypatch.setattr(sorting, name, value)
    monkeypatch.setattr(lexicon, "REMEMBERED", 2)
    atoms = small_atoms()
    random.Random(5).shuffle(atoms)
    mixed = make_index(tmp_path / "mixed", atoms)
    assert mixed.manifest.digest == plain.manifest.digest
    files = {
        path.relative_to(plain.folder)
        for path in plain.folder.rglob("*")
        if path.suffix in {".text", ".starts", ".values"}
    }
    assert len(files) > 10
    for path in files:
        assert (mixed.folder / path).read_bytes() == (plain.folder / path).read_bytes(), path


def test_records_come_back_sorted_and_their_files_go(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sorting, "RUN", 7)
    monkeypatch.setattr(sorting, "BLOCK", 2)
    for records in (random.Random(1).sample(range(100), 100), list(range(100))):
        sorter = RecordSorter(tmp_path, "records")
        for number in records:
            sorter.add(f"{number:03}")
        assert list(sorter) == [f"{number:03}" for number in range(100)]
        assert list(tmp_path.iterdir()) == []


def test_records_are_grouped_by_what_stands_before_the_end() -> None:
    assert list(grouped([])) == []
    records = ["\0first", "a\0x", "a\0y", "a b\0z"]
    assert list(grouped(records)) == [("", ["first"]), ("a", ["x", "y"]), ("a b", ["z"])]


def test_lists_are_turned_round(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import numpy as np

    monkeypatch.setattr(sorting, "LISTS", 5)
    monkeypatch.setattr(sorting, "PAIRS", 8)
    rng = random.Random(2)
    wanted: dict[int, list[int]] = {group: [] for group in range(6)}
    writer = ListsWriter(tmp_path / "lists")
    for number in range(40):
        groups = rng.sample(range(5), rng.randint(0, 3))  # the last group stays empty
        writer.add(groups)
        for group in groups:
            wanted[group].append(number)
    writer.close()
    places = np.array([3, 0, 5, 1, 2, 4], dtype=np.uint32)
    out = tmp_path / "inverted"
    write_inverted(tmp_path / "lists", out, groups=6, group_of=lambda values: places[values], scratch=tmp_path)
    lists = Lists(out)
    assert {group: list(lists[int(places[group])]) for group in range(6)} == wanted
    assert not list(tmp_path.glob("*.pairs"))


def test_strings_of_one_length_are_found_in_several_shards(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = random.Random(7)
    texts = sorted({"".join(rng.choices("abcde", k=9)) for _ in range(60)})
    atoms: list[Entry] = [TypeOf("C0000001", "T184")]
    atoms += [Atom(text, "C0000001", False, "SRC", Kind.SYNONYM) for text in texts]
    whole = make_index(tmp_path / "whole", atoms)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    (tmp_path / "sitecustomize.py").write_text("import umls_linker.index.shards as shards\nshards.SHARD = 7\n")
    monkeypatch.setattr(shards, "SHARD", 7)
    divided = make_index(tmp_path / "divided", atoms)
    folders = [path for path in (divided.folder / "terms" / "shards").iterdir() if path.is_dir()]
    assert len(folders) == -(-len(texts) // 7)
    for number, text in enumerate(texts):
        assert divided.alike(text, 0.3) == whole.alike(text, 0.3)
        assert divided.shards.number(text) == number


def test_a_shard_process_that_fails_stops_the_build_and_says_why(tmp_path: Path) -> None:
    (tmp_path / "shards").mkdir()  # in the way
    writing = ShardsProcess(tmp_path / "shards", TRIGRAMS, tmp_path)
    with pytest.raises(OSError, match="FileExistsError"), writing as shards:
        shards.add("cough")
    assert list((tmp_path / "shards").iterdir()) == []


def test_shards_of_a_build_that_breaks_off_are_not_listed(tmp_path: Path) -> None:
    def build_half() -> None:
        with ShardsProcess(tmp_path / "shards", TRIGRAMS, tmp_path) as shards:
            shards.add("cough")
            raise KeyError

    with pytest.raises(KeyError):
        build_half()
    assert not (tmp_path / "shards" / "shards.json").exists()


AHEAD = """
import sys
from pathlib import Path
from umls_linker.index.shard_process import ShardsProcess
from umls_linker.index.shards import TRIGRAMS
folder = Path(sys.argv[1])
shards = ShardsProcess(folder / "shards", TRIGRAMS, folder)
for number in range(400_000):
    shards.add(f"{number:06}")
shards.flush()
print(shards._process.pid, flush=True)
sys.stdin.read()
"""


def test_shards_are_not_written_for_a_builder_that_was_killed(tmp_path: Path) -> None:
    command = [sys.executable, "-c", AHEAD, str(tmp_path)]
    with subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as builder:
        assert builder.stdout
        pid = int(builder.stdout.readline())
        builder.kill()
    waited = 0
    while _runs(pid) and waited < 600:
        time.sleep(0.1)
        waited += 1
    assert not _runs(pid)
    assert len([path for path in (tmp_path / "shards").iterdir() if path.is_dir()]) < 5  # of 80,000 strings each


def _runs(pid: int) -> bool:
    """Whether a process is there that has not ended; one that nobody has waited for has ended too."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False
