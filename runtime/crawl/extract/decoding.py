"""Bytes of a page as text: by mark, header, the page's own word, strict UTF-8, and only then by guessing."""

import re
from collections.abc import Iterator

_MARKS = (
    (b"\xef\xbb\xbf", "utf-8"),
    (b"\xff\xfe\x00\x00", "utf-32-le"),
    (b"\x00\x00\xfe\xff", "utf-32-be"),
    (b"\xff\xfe", "utf-16-le"),
    (b"\xfe\xff", "utf-16-be"),
)
_DECLARED = re.compile(rb"(?:charset|encoding)\s{0,9}=\s{0,9}[\"']?\s{0,9}([\w.:-]{2,40})", re.IGNORECASE | re.ASCII)
_SINGLE = frozenset(("ascii", "us-ascii", "iso-8859-1", "iso8859-1", "latin-1", "latin1", "windows-1252", "cp1252"))
"""Names that servers give by habit, and that fit any bytes: UTF-8 that is valid beats them."""
_AS_BROWSERS_DO = dict.fromkeys(_SINGLE, "cp1252") | {"gb2312": "gb18030", "gbk": "gb18030", "ks_c_5601-1987": "cp949",
                                                      "euc-kr": "cp949", "shift_jis": "cp932"}  # fmt: skip
_NOT_OF_TEXT = frozenset(("base64", "hex", "zlib", "bz2", "rot13", "rot_13", "uu", "quopri", "punycode", "idna",
                          "unicode_escape", "raw_unicode_escape", "undefined", "utf-7", "utf7"))  # fmt: skip
_SAMPLE = 65_536
_SIGNS = 2_048
"""Bytes in which a page must say its encoding."""
_CONTROL = re.compile(r"[\x00-\x08\x0e-\x1a\x1c-\x1f\x7f\ufffd]")
_CONTROL_SHARE = 0.02
_MAGIC = (
    b"%PDF-", b"\x89PNG\r\n", b"GIF8", b"\xff\xd8\xff", b"PK\x03\x04", b"\x1f\x8b", b"BZh", b"7z\xbc\xaf", b"Rar!",
    b"\x7fELF", b"MZ\x90", b"OggS", b"ID3", b"fLaC", b"\x00\x00\x01\x00", b"RIFF", b"wOFF", b"wOF2",
    b"\xd0\xcf\x11\xe0", b"SQLite format 3",
)  # fmt: skip


class NoText(Exception):
    """What a server sent is no text. The sentence says so to the user."""


def decode(body: bytes, charset: str) -> str:
    """
    Bytes as text.

    :param charset: what the header says; empty when it says nothing.
    :raises NoText: it is something else under the name of a text.
    """
    if body.startswith(_MAGIC):
        raise NoText("The file is no text, although its server calls it one.")
    for mark, encoding in _MARKS:
        if body.startswith(mark):
            return _checked(body[len(mark) :].decode(encoding, "replace"))
    if (wide := _wide(body)) is not None:
        return _checked(wide)
    for encoding in _declared(body, charset):
        if (text := _strictly(body, encoding)) is not None:
            return _checked(text)
    return _checked(_guessed(body))


def _declared(body: bytes, charset: str) -> Iterator[str]:
    """The encodings to try, the most trusted first."""
    said = [charset, *(found.decode("ascii") for found in _DECLARED.findall(body[:_SIGNS])[:2])]
    names = [each.strip(" \"'").lower() for each in said]
    for name in names:
        if name in _SINGLE:
            yield "utf-8"
        if name and name not in _NOT_OF_TEXT and not name.startswith(("utf-16", "utf-32")):
            yield _AS_BROWSERS_DO.get(name, name)
    yield "utf-8"


def _strictly(body: bytes, encoding: str) -> str | None:
    """None too when only the last character was cut off by a limit on bytes: then it is decoded without it."""
    try:
        return body.decode(encoding)
    except UnicodeDecodeError as error:
        if len(body) - error.start < 4 and error.start > _SIGNS:
            return body[: error.start].decode(encoding, "replace")
        return None
    except (LookupError, ValueError):
        return None


def _wide(body: bytes) -> str | None:
    """UTF-16 that does not say so has a zero in every second byte of its markup."""
    head = body[:400]
    for offset, encoding in ((1, "utf-16-le"), (0, "utf-16-be")):
        zeros, others = head[offset::2].count(0), head[1 - offset :: 2].count(0)
        if len(head) > 20 and zeros > len(head) * 0.4 and not others:
            return body.decode(encoding, "replace")
    return None


def _guessed(body: bytes) -> str:
    try:
        from charset_normalizer import from_bytes  # comes with the extra [research]
    except ImportError:
        return body.decode("cp1252", "replace")
    best = from_bytes(body[:_SAMPLE]).best()
    return body.decode(best.encoding if best is not None else "cp1252", "replace")


def _checked(text: str) -> str:
    if len(_CONTROL.findall(text[: 4 * _SAMPLE])) > _CONTROL_SHARE * len(text[: 4 * _SAMPLE]):
        raise NoText("The file is no text, although its server calls it one.")
    return text
