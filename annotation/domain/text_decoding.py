"""The bytes of a file as text, or one sentence that says why they are none.

Line ends (CR LF, LF, CR) become LF, so that line numbers are those an editor shows. U+2028, U+2029, form feeds and
vertical tabs stay in the text: editors do not count them as lines.
"""

from __future__ import annotations

import codecs
import re
import unicodedata
from collections.abc import Iterator

from annotation.domain.notices import Notice, Severity

UTF_8 = "utf-8"
UTF_8_BOM = "utf-8 with BOM"
UTF_16 = "utf-16"
WINDOWS_1252 = "windows-1252"

# First bytes of the files people choose by mistake.
_KNOWN_KINDS = (
    (b"PK\x03\x04", "a zip file or an Office document"),
    (b"PK\x05\x06", "an empty zip file"),
    (b"\x89PNG\r\n", "a PNG picture"),
    (b"\xff\xd8\xff", "a JPEG picture"),
    (b"GIF87a", "a GIF picture"),
    (b"GIF89a", "a GIF picture"),
    (b"%PDF-", "a PDF document"),
    (b"{\\rtf", "an RTF document"),
    (b"\xd0\xcf\x11\xe0", "an older Office document"),
    (b"\x1f\x8b", "a gzip file"),
    (b"7z\xbc\xaf", "a 7z file"),
    (b"Rar!\x1a", "a RAR file"),
    (b"SQLite format 3\x00", "an SQLite database"),
    (b"\x7fELF", "a program"),
)
_CONTROLS = bytes([*range(0x00, 0x09), *range(0x0E, 0x20), 0x7F])
_MOST_CONTROLS = 0.05  # a text with a larger share of control characters is taken for binary data
_SAMPLE = 65_536  # characters looked at to tell UTF-16 without a byte order mark from binary data
_LEAST_ASCII = 0.1  # even Chinese dialogues have speaker marks, spaces and line ends


class UnreadableFile(ValueError):
    """The file cannot be read at all; `notice` says why in one sentence."""

    def __init__(self, notice: Notice) -> None:
        super().__init__(str(notice))
        self.notice = notice


def decode(data: bytes, file: str) -> tuple[str, str]:
    """(text with LF line ends, name of the encoding); `file` is named in errors.

    The encoding is one of `UTF_8`, `UTF_8_BOM`, `UTF_16` (with a byte order mark, or evident without one) and
    `WINDOWS_1252`, which is tried last. Raises `UnreadableFile` for an empty file and for data that is not text.
    """
    text, encoding = _decoded(data, file)
    if not text.strip("\ufeff").strip():
        raise _unreadable(file, "The file is empty; choose a file with a dialogue in it.")
    return text.replace("\r\n", "\n").replace("\r", "\n"), encoding


def numbered_lines(text: str) -> Iterator[tuple[int, str]]:
    """(number from 1, line without its LF), one at a time: a list of millions of lines needs a lot of memory."""
    number, start = 1, 0
    while (end := text.find("\n", start)) >= 0:
        yield number, text[start:end]
        number, start = number + 1, end + 1
    yield number, text[start:]


def encoding_notice(text: str, encoding: str, file: str) -> Notice | None:
    """A warning where the encoding was guessed, at the first line that would read differently in another one."""
    if encoding != WINDOWS_1252:
        return None
    guessed = re.search(r"[^\x00-\x7f]", text)
    line = _line_after(text[: guessed.start()]) if guessed else 0
    message = (
        "The file is not UTF-8 and was read as Windows-1252; check that letters with accents and quotation marks "
        "look right, and otherwise save the file as UTF-8."
    )
    return Notice(Severity.WARNING, file, line, message)


def _decoded(data: bytes, file: str) -> tuple[str, str]:
    for start, kind in _KNOWN_KINDS:
        if data.startswith(start):
            raise _unreadable(file, f"The file is not text but {kind}; save the dialogue as plain text (UTF-8).")
    if data.startswith((codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE)):
        raise _unreadable(file, "The file is UTF-32, which is not read; save it as UTF-8.")
    if data.startswith(codecs.BOM_UTF8):
        _refuse_binary(data, file)
        return _strictly(data, "utf-8-sig", file), UTF_8_BOM
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        text = _strictly(data, "utf-16", file)
    elif b"\0" in data and (guess := _utf_16_without_mark(data)):
        text = guess
    else:
        _refuse_binary(data, file)
        return _eight_bit(data, file)
    _refuse_binary(text.encode(), file)
    return text, UTF_16


def _eight_bit(data: bytes, file: str) -> tuple[str, str]:
    try:
        return data.decode("utf-8"), UTF_8
    except UnicodeDecodeError as error:
        if _is_damaged_utf_8(data):
            raise _broken(data[: error.start].decode("utf-8"), "UTF-8", file) from None
    try:
        return data.decode("cp1252"), WINDOWS_1252
    except UnicodeDecodeError as error:
        line = _line_after(data[: error.start].decode("cp1252"))
        message = f"Byte 0x{data[error.start]:02x} is neither UTF-8 nor Windows-1252; save the file as UTF-8."
        raise _unreadable(file, message, line) from None


def _is_damaged_utf_8(data: bytes) -> bool:
    """Whether more characters beyond ASCII are whole than bytes are broken, which text in Windows-1252 never shows."""
    text = data.decode("utf-8", "surrogateescape")
    broken = len(re.findall("[\udc80-\udcff]", text))
    return len(re.findall(r"[^\x00-\x7f]", text)) - broken > broken


def _strictly(data: bytes, codec: str, file: str) -> str:
    try:
        return data.decode(codec)
    except UnicodeDecodeError as error:
        name = "UTF-8" if codec == "utf-8-sig" else "UTF-16"
        raise _broken(data[: error.start].decode(codec, "ignore"), name, file) from None


def _utf_16_without_mark(data: bytes) -> str:
    """The text where the bytes are evidently UTF-16, else "": the byte order with more ASCII in it is the right one."""
    guesses = []
    for codec in ("utf-16-le", "utf-16-be"):
        try:
            guesses.append(data.decode(codec))
        except UnicodeDecodeError:
            continue
    best = max(guesses, key=lambda guess: _ascii_share(guess[:_SAMPLE]), default="")
    sample = best[:_SAMPLE]
    if _ascii_share(sample) < _LEAST_ASCII or any(unicodedata.category(sign) in ("Cn", "Co") for sign in sample):
        return ""
    return best


def _ascii_share(text: str) -> float:
    return len(re.findall(r"[\t\n\r -~]", text)) / len(text) if text else 0.0


def _refuse_binary(data: bytes, file: str) -> None:
    """Raises `UnreadableFile` where UTF-8 or other 8-bit text holds a NUL or many control characters."""
    controls = len(data) - len(data.translate(None, _CONTROLS))
    if controls > len(data) * _MOST_CONTROLS:
        raise _unreadable(file, "The file is not text; save the dialogue as plain text (UTF-8).")
    if (place := data.find(b"\0")) >= 0:
        line = _line_after(data[:place].decode("latin-1"))
        raise _unreadable(file, "The line holds a NUL character, which is not text; remove it.", line)


def _broken(before: str, encoding: str, file: str) -> UnreadableFile:
    message = f"The file is damaged here: this is not {encoding} like the rest; fetch or save the file again."
    return _unreadable(file, message, _line_after(before))


def _line_after(before: str) -> int:
    return len(re.findall(r"\r\n|\r|\n", before)) + 1


def _unreadable(file: str, message: str, line: int = 0) -> UnreadableFile:
    return UnreadableFile(Notice(Severity.ERROR, file, line, message))
