"""Reading MRCONSO.RRF, MRSTY.RRF and MRCUI.RRF: what is selected, and that a bad line costs itself only."""

from __future__ import annotations

from io import BytesIO

import pytest

from tests.rrf import conso, sty
from umls_linker.domain.rrf import BLOCK, LONGEST_LINE, Selection, read_retired, read_strings, read_types
from umls_linker.domain.vocabulary import LISTED_FAULTS, Atom, Faults, Kind, Retired, TypeOf


def strings(*lines: str | bytes, selection: Selection | None = None) -> tuple[list[Atom], Faults]:
    faults = Faults()
    data = b"".join(line if isinstance(line, bytes) else line.encode() for line in lines)
    return list(read_strings(BytesIO(data), selection or Selection(), faults)), faults


def test_a_line_becomes_a_string_of_its_concept() -> None:
    [atom], faults = strings(conso("C0013404", "Dyspnea", source="MSH"))
    assert atom == Atom("Dyspnea", "C0013404", True, "MSH", Kind.NAME)
    assert faults.total == 0


@pytest.mark.parametrize(
    ("changes", "kind"),
    [
        ({"status": "S"}, Kind.SYNONYM),
        ({"form": "VO"}, Kind.SYNONYM),
        ({"preferred": "N"}, Kind.SYNONYM),
        ({"preferred": "N", "sort": "ACR"}, Kind.ABBREVIATION),
        ({"preferred": "N", "source": "CHV"}, Kind.LAYPERSON),
    ],
)
def test_what_a_string_is_to_its_concept(changes: dict[str, str], kind: Kind) -> None:
    [atom], _ = strings(conso("C0013404", "breathlessness", **changes))
    assert atom.kind is kind


@pytest.mark.parametrize("mark", ["O", "E", "Y"])
def test_suppressible_strings_are_left_out_and_are_no_faults(mark: str) -> None:
    atoms, faults = strings(
        conso("C0013404", "old", suppress=mark), conso("C0013404", "new"), conso("C0013404", "open", suppress="")
    )
    assert [atom.text for atom in atoms] == ["new", "open"]
    assert faults.total == 0


def test_languages_and_sources_are_selected() -> None:
    lines = [
        conso("C0013404", "Dyspnea", source="MSH"),
        conso("C0013404", "Disnea", language="SPA", source="MSHSPA"),
        conso("C0013404", "Dyspnoea", source="MDR"),
    ]
    assert [atom.text for atom in strings(*lines)[0]] == ["Dyspnea", "Dyspnoea"]
    spanish = Selection(frozenset({"SPA"}))
    assert [atom.text for atom in strings(*lines, selection=spanish)[0]] == ["Disnea"]
    one_source = Selection(frozenset({"ENG"}), frozenset({"MDR"}))
    assert [atom.text for atom in strings(*lines, selection=one_source)[0]] == ["Dyspnoea"]
    everything = Selection(frozenset())
    assert len(strings(*lines, selection=everything)[0]) == 3


def test_bad_lines_are_named_by_number_and_kind_and_the_others_are_read() -> None:
    atoms, faults = strings(
        conso("C0013404", "first"),
        "C0013404|ENG|P\n",
        conso("C0013404", "latin").encode().replace(b"latin", b"Meni\xe8re"),
        conso("CUI", "no code"),
        conso("C0013404", "  "),
        conso("C0013404", "x" * 1_000_000),
        conso("C0013404", "nul\0and\x1bescape"),
        conso("C0013404", "last"),
    )
    assert [atom.text for atom in atoms] == ["first", "last"]
    assert dict(faults.counts) == {
        "too few columns": 1,
        "bad UTF-8": 1,
        "a bad CUI": 1,
        "an empty string": 1,
        "a line too long": 1,
        "a control character": 1,
    }
    assert [(fault.file, fault.line) for fault in faults.listed] == [("MRCONSO.RRF", line) for line in range(2, 8)]
    assert str(faults.listed[0]) == "MRCONSO.RRF, line 2: It has 3 of 18 columns."


def test_a_file_of_nothing_but_one_endless_line_is_one_fault_and_never_held_whole() -> None:
    class Endless(BytesIO):
        longest = 0

        def readline(self, size: int | None = -1, /) -> bytes:
            part = super().readline(size)
            self.longest = max(self.longest, len(part))
            return part

    stream, faults = Endless(b"x" * (10 * LONGEST_LINE)), Faults()
    assert list(read_strings(stream, Selection(), faults)) == []
    assert faults.counts["a line too long"] == 1
    assert stream.longest <= LONGEST_LINE


def test_a_last_line_without_an_end_and_line_ends_of_windows_are_read() -> None:
    data = (conso("C0013404", "one").replace("\n", "\r\n") + "\n" + conso("C0013404", "two").rstrip("\n")).encode()
    atoms = list(read_strings(BytesIO(data), Selection(), Faults()))
    assert [atom.text for atom in atoms] == ["one", "two"]


def test_of_many_faults_of_a_kind_the_first_are_listed_and_all_counted() -> None:
    _, faults = strings(*(["short\n"] * (LISTED_FAULTS + 50)), conso("bad", "x"))
    assert faults.counts["too few columns"] == LISTED_FAULTS + 50
    assert len(faults.listed) == LISTED_FAULTS + 1


def test_types_are_read_and_bad_ones_are_faults() -> None:
    faults = Faults()
    data = (
        sty("C0013404", "T184") + "C0013404\n" + sty("X", "T184") + sty("C0013404", "184") + sty("C0013404", "T999")
    ).encode()
    assert list(read_types(BytesIO(data), faults)) == [TypeOf("C0013404", "T184")]
    assert dict(faults.counts) == {"too few columns": 1, "a bad CUI": 1, "a bad type": 2}


def test_lines_are_whole_wherever_a_block_ends() -> None:
    lines = [conso(f"C{number:07}", f"string {number}") for number in range(1, BLOCK // 20)]
    lines[100] = "x" * (LONGEST_LINE + 5) + "\n"
    atoms, faults = strings(*lines)
    assert [atom.text for atom in atoms] == [f"string {number}" for number in range(1, BLOCK // 20) if number != 101]
    [fault] = faults.listed
    assert (fault.line, fault.sentence) == (101, f"It has {LONGEST_LINE + 6:,} bytes; the limit is {LONGEST_LINE:,}.")


def test_retired_concepts_are_read_with_what_stands_for_them() -> None:
    faults = Faults()
    lines = (
        "C0000001|2020AA|SY|||C0000002|Y|",
        "C0000003|2020AA|RB|||C0000004|Y|\r",
        "C0000005|2020AA|DEL|||||",
        "C0000006|2020AA|SUBX|||||",
        "C0000007|2020AA|SY",
        "C0000008|2020AA|RO|||nothing|Y|",
        "C0000009|2020AA|SY|||C0000009|Y|",
    )
    found = list(read_retired(BytesIO("\n".join(lines).encode()), faults))
    assert found == [Retired("C0000001", "SY", "C0000002"), Retired("C0000003", "RB", "C0000004")]
    assert [str(fault) for fault in faults.listed] == [
        "MRCUI.RRF, line 5: It has 3 of 7 columns.",
        "MRCUI.RRF, line 6: “nothing” is not a CUI.",
    ]
