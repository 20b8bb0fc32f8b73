"""Bytes of a page as text: by mark, header, the page's own word, strict UTF-8, and only then by guessing."""

import codecs
import re
from collections.abc import Iterator

from runtime.crawl.responses import is_binary

_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"), (codecs.BOM_UTF32_LE, "utf-32"), (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)  # fmt: skip
_DECLARED = re.compile(rb"(?:charset|encoding)\s{0,9}=\s{0,9}[\"']?\s{0,9}([\w.:-]{2,40})", re.IGNORECASE | re.ASCII)
_SINGLE = frozenset(("ascii", "us-ascii", "iso-8859-1", "iso8859-1", "latin-1", "latin1", "windows-1252", "cp1252"))
"""Names that servers give by habit, and that fit any bytes: UTF-8 that is valid beats them."""
_AS_BROWSERS_DO = dict.fromkeys(_SINGLE, "cp1252") | {"gb2312": "gb18030", "gbk": "gb18030", "ks_c_5601-1987": "cp949",
                                                      "euc-kr": "cp949", "shift_jis": "cp932"}  # fmt: skip
_NOT_OF_PAGES = ("utf-7", "utf7", "utf-16", "utf-32", "idna", "punycode", "unicode_escape", "raw_unicode_escape")
"""Encodings that no page is in, whatever it says: one of several bytes a character would have shown itself by zeros."""
_SAMPLE = 65_536
_SIGNS = 2_048
"""Bytes in which a page must say its encoding."""


class NoText(Exception):
    """What a server sent is no text. The sentence says so to the user."""


def decode(body: bytes, charset: str) -> str:
    """
    Bytes as text.

    :param charset: what the header says; empty when it says nothing.
    :raises NoText: it is something else under the name of a text.
    """
    wide = _find_wide(body)
    if not wide and is_binary(body):
        raise NoText("The file is not text, although its server says so.")
    if encoding := wide or next((encoding for mark, encoding in _MARKS if body.startswith(mark)), ""):
        return body.decode(encoding, "replace")
    for encoding in _declared_encodings(body, charset):
        if (text := _decode_strictly(body, encoding)) is not None:
            return text
    return _guess(body)


def _declared_encodings(body: bytes, charset: str) -> Iterator[str]:
    """The encodings to try, the most trusted first."""
    said = [charset, *(found.decode("ascii") for found in _DECLARED.findall(body[:_SIGNS])[:2])]
    for name in (each.strip(" \"'").lower() for each in said):
        if name in _SINGLE:
            yield "utf-8"
        if name and not name.startswith(_NOT_OF_PAGES):
            yield _AS_BROWSERS_DO.get(name, name)
    yield "utf-8"


def _decode_strictly(body: bytes, encoding: str) -> str | None:
    """None too when only the last character was cut off by a limit on bytes: then it is decoded without it."""
    try:
        return body.decode(encoding)
    except UnicodeDecodeError as error:
        if len(body) - error.start < 4 and error.start > _SIGNS:
            return body[: error.start].decode(encoding, "replace")
        return None
    except (LookupError, ValueError):  # LookupError, too, where it is a codec of bytes, such as base64
        return None


def _find_wide(body: bytes) -> str:
    """UTF-16 that does not say so has a zero in every second byte of its markup."""
    head = body[:400]
    for offset, encoding in ((1, "utf-16-le"), (0, "utf-16-be")):
        zeros, others = head[offset::2].count(0), head[1 - offset :: 2].count(0)
        if len(head) > 20 and zeros > len(head) * 0.4 and not others:
            return encoding
    return ""


def _guess(body: bytes) -> str:
    try:
        from charset_normalizer import from_bytes  # comes with the extra [research]
    except ImportError:
        return body.decode("cp1252", "replace")
    best = from_bytes(body[:_SAMPLE]).best()
    return body.decode(best.encoding if best is not None else "cp1252", "replace")
