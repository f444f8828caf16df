"""Bytes become text with the right encoding, or one sentence that says why not."""

from __future__ import annotations

import random

import pytest

from annotation.domain.notices import Severity
from annotation.domain.text_decoding import UnreadableFile, decode, encoding_notice

DIALOGUE = "D: Any fever?\nP: No, a café visit – nothing “else”.\n"


def refusal(data: bytes) -> UnreadableFile:
    with pytest.raises(UnreadableFile) as caught:
        decode(data, "talk.txt")
    assert caught.value.notice.severity is Severity.ERROR
    assert caught.value.notice.file == "talk.txt"
    assert caught.value.notice.message.endswith(".")
    return caught.value


@pytest.mark.parametrize(
    ("codec", "name"),
    [
        ("utf-8", "utf-8"),
        ("utf-8-sig", "utf-8 with BOM"),
        ("utf-16", "utf-16"),
        ("utf-16-le", "utf-16"),
        ("utf-16-be", "utf-16"),
        ("cp1252", "windows-1252"),
    ],
)
def test_every_encoding_gives_the_same_text(codec: str, name: str) -> None:
    assert decode(DIALOGUE.encode(codec), "talk.txt") == (DIALOGUE, name)


def test_utf_16_big_endian_with_a_mark_is_read() -> None:
    assert decode(b"\xfe\xff" + DIALOGUE.encode("utf-16-be"), "talk.txt") == (DIALOGUE, "utf-16")


@pytest.mark.parametrize("codec", ["utf-16-le", "utf-16-be"])
def test_chinese_in_utf_16_without_a_mark_is_read(codec: str) -> None:
    text = "D: 你哪里不舒服一点\nP: 我胸口疼一周了\n"
    assert decode(text.encode(codec), "talk.txt") == (text, "utf-16")


def test_all_line_ends_become_one_and_count_as_in_an_editor() -> None:
    text, _ = decode(b"a\r\nb\nc\rd\n\r\ne", "talk.txt")
    assert text == "a\nb\nc\nd\n\ne"


def test_separators_that_editors_do_not_count_as_lines_stay() -> None:
    text = "a\u2028b\u2029c\x0bd\x0ce\x85f"
    assert decode(text.encode(), "talk.txt")[0] == text


def test_unicode_survives_without_normalisation() -> None:
    text = "D: e\u0301 \U0001f469\u200d\u2695\ufe0f שלום 你好 ﬁ\n"
    assert decode(text.encode(), "talk.txt")[0] == text


@pytest.mark.parametrize("data", [b"", b" \n\t\r\n ", b"\xef\xbb\xbf", b"\xff\xfe", "\u00a0\u3000".encode()])
def test_a_file_without_words_is_empty(data: bytes) -> None:
    assert "empty" in refusal(data).notice.message


@pytest.mark.parametrize(
    ("data", "word"),
    [
        (b"PK\x03\x04rest", "zip"),
        (b"\x89PNG\r\n\x1a\n" + bytes(40), "PNG"),
        (b"%PDF-1.7 text all the way", "PDF"),
        (b"{\\rtf1 D: hello}", "RTF"),
        (b"\x01\x02\x03\x04", "not text"),
        (bytes(300), "not text"),
        (b"\x00\x01\x02\x03" * 50, "not text"),
        (b"\xff\xfe\x00\x00D\x00\x00\x00", "UTF-32"),
        ("\x01\x02 D: hi".encode("utf-16"), "not text"),
        (("D: ab\ue123\u0a00\n" * 9).encode("utf-16-le"), "not text"),
    ],
)
def test_what_is_not_text_is_refused_by_name(data: bytes, word: str) -> None:
    assert word in refusal(data).notice.message


def test_random_bytes_are_never_taken_for_text() -> None:
    source = random.Random(5)
    for _ in range(200):
        refusal(source.randbytes(source.randint(300, 3000)))


def test_a_nul_in_a_text_is_refused_with_its_line() -> None:
    error = refusal(b"D: one\r\nP: two and some more words\r\nD: th\x00ree\r\n")
    assert error.notice.line == 3
    assert "NUL" in error.notice.message


def test_a_single_odd_control_character_does_no_harm() -> None:
    text = "D: Hello there, how do you do?\x07 Fine.\n"
    assert decode(text.encode(), "talk.txt")[0] == text


def test_damaged_utf_8_is_not_guessed_to_be_another_encoding() -> None:
    whole = "D: où est la douleur à présent, là ?\nP: là, à gauche, et où ça descend\n".encode()
    damaged = whole.replace(b"gauche", b"gau\xff\xfeche")
    assert refusal(damaged).notice.line == 2


def test_utf_16_that_breaks_off_within_a_character_is_refused_with_its_line() -> None:
    error = refusal("D: one\nP: two".encode("utf-16") + b"\x00")
    assert error.notice.line == 2


def test_a_byte_that_windows_1252_lacks_is_named_with_its_line() -> None:
    error = refusal(b"D: hi\nP: caf\xe9 \x81 and more\n")
    assert error.notice.line == 2
    assert "0x81" in error.notice.message


def test_only_a_guessed_encoding_is_warned_of_and_at_the_line_to_look_at() -> None:
    text, encoding = decode("D: hi\nP: all the café\n".encode("cp1252"), "talk.txt")
    notice = encoding_notice(text, encoding, "talk.txt")
    assert notice is not None
    assert (notice.severity, notice.line) == (Severity.WARNING, 2)
    assert encoding_notice(DIALOGUE, "utf-8", "talk.txt") is None


@pytest.mark.parametrize("codec", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "cp1252"])
def test_truncated_and_corrupted_text_is_decoded_or_refused(codec: str) -> None:
    source = random.Random(11)
    for _ in range(300):
        data = bytearray((DIALOGUE * 5).encode(codec)[: source.randint(0, 300)])
        for _ in range(source.randint(0, 4) if data else 0):
            data[source.randrange(len(data))] = source.randrange(256)
        try:
            text, encoding = decode(bytes(data), "talk.txt")
        except UnreadableFile:
            continue
        assert encoding in ("utf-8", "utf-8 with BOM", "utf-16", "windows-1252")
        assert "\r" not in text
        assert "\0" not in text
        assert text.encode()
