"""
Which font shows which character of a PDF.

A font of the system with many scripts where there is one, else the one that comes with reportlab; for Chinese, Japanese
and Korean one of the system, too, else those that readers of PDF bring. What none has is named by its number, never
dropped.
"""

import functools
import itertools
from pathlib import Path
from typing import Literal, NamedTuple

from reportlab.pdfbase import pdfmetrics
from reportlab.pdfbase.cidfonts import UnicodeCIDFont
from reportlab.pdfbase.ttfonts import TTFError, TTFont

from actors.text.source_text import Span

Face = Literal["plain", "bold", "code", "wide"]

FOLDERS = tuple(
    map(
        Path,
        (
            "/usr/share/fonts/truetype/dejavu", "/usr/share/fonts/dejavu-sans-fonts", "/usr/share/fonts/TTF",
            "/usr/share/fonts/dejavu", "/usr/share/fonts/truetype/noto", "/usr/share/fonts/truetype/liberation",
            "/usr/share/fonts/truetype/droid", "/usr/share/fonts/truetype/wqy", "/opt/homebrew/share/fonts",
            "/Library/Fonts", "/System/Library/Fonts/Supplemental", "C:/Windows/Fonts",
        ),
    )
)  # fmt: skip
FILES: dict[Face, tuple[str, ...]] = {
    "plain": (
        "DejaVuSans.ttf", "NotoSans-Regular.ttf", "Arial Unicode.ttf", "segoeui.ttf", "LiberationSans-Regular.ttf",
    ),
    "bold": ("DejaVuSans-Bold.ttf", "NotoSans-Bold.ttf", "Arial Bold.ttf", "segoeuib.ttf", "LiberationSans-Bold.ttf"),
    "code": ("DejaVuSansMono.ttf", "NotoSansMono-Regular.ttf", "consola.ttf", "LiberationMono-Regular.ttf"),
    "wide": ("Arial Unicode.ttf", "DroidSansFallbackFull.ttf", "wqy-microhei.ttc", "msyh.ttc"),
}  # fmt: skip
BUNDLED = {"plain": "Vera.ttf", "bold": "VeraBd.ttf"}
CHINESE, JAPANESE, KOREAN = "STSong-Light", "HeiseiKakuGo-W5", "HYGothic-Medium"


class Run(NamedTuple):
    text: str
    font: str


class Fonts:
    """The fonts of one document."""

    def __init__(self, folders: tuple[Path, ...] = FOLDERS) -> None:
        self._folders = folders
        for name in (CHINESE, JAPANESE, KOREAN):
            pdfmetrics.registerFont(UnicodeCIDFont(name))
        self.plain = self._face("plain") or "Helvetica"
        self.bold = self._face("bold") or "Helvetica-Bold"
        self.code = self._face("code") or "Courier"
        self._others = tuple(filter(None, (self._face("plain"), self._face("wide"))))

    def runs(self, span: Span, *, bold: bool = False) -> list[Run]:
        """A text cut where the font changes."""
        main = self.code if span.code else self.bold if bold else self.plain
        kana = any(_is_kana(character) for character in span.text)
        named = ((each, self._font(each, main, kana=kana)) for each in span.text)
        runs = []
        for font, group in itertools.groupby(named, key=lambda each: each[1]):
            text = "".join(character for character, _ in group)
            runs.append(Run(text, font) if font else Run(_name(text), main))
        return runs

    def _font(self, character: str, main: str, *, kana: bool) -> str:
        """The name of the first font that has a character; empty when none has."""
        if character in _glyphs(main) or character.isspace():
            return main
        for other in self._others:
            if character in _glyphs(other):
                return other
        code = ord(character)
        if 0xAC00 <= code <= 0xD7A3 or 0x1100 <= code <= 0x11FF or 0x3130 <= code <= 0x318F:
            return KOREAN
        if _is_kana(character):
            return JAPANESE
        if 0x2E80 <= code <= 0x9FFF or 0xF900 <= code <= 0xFAFF or 0xFF00 <= code <= 0xFFEF:
            return JAPANESE if kana else CHINESE
        return CHINESE if 0x370 <= code <= 0x44F and _encodes(character, "gb2312") else ""  # Greek and Cyrillic

    def _face(self, face: Face) -> str:
        """The name under which the first font for it is known; empty when there is none."""
        found = (folder / name for name in FILES[face] for folder in self._folders)
        for path in (*(str(path) for path in found if path.is_file()), *([BUNDLED[face]] if face in BUNDLED else [])):
            name = f"{face}:{path}"
            try:
                if name not in pdfmetrics.getRegisteredFontNames():
                    pdfmetrics.registerFont(TTFont(name, path))
            except (TTFError, OSError):
                continue
            return name
        return ""


@functools.lru_cache(16)
def _glyphs(font: str) -> frozenset[str]:
    """The characters that a font has."""
    known = pdfmetrics.getFont(font)
    if isinstance(known, TTFont):
        return frozenset(chr(code) for code, glyph in known.face.charToGlyph.items() if glyph)
    return frozenset(chr(code) for code in (*range(32, 127), *range(160, 256)) if code != 173)


def _name(text: str) -> str:
    """Characters by their numbers; one that comes again and again once, for a name is eight times as long."""
    again = ((ord(each), sum(1 for _ in group)) for each, group in itertools.groupby(text))
    return "".join(f"[U+{code:04X}]" if count == 1 else f"[U+{code:04X} × {count}]" for code, count in again)


def _is_kana(character: str) -> bool:
    return "\u3040" <= character <= "\u30ff"


def _encodes(character: str, encoding: str) -> bool:
    try:
        character.encode(encoding)
    except UnicodeEncodeError:
        return False
    return True
