"""What belongs to the law of one country: how its articles are named, and which words people use instead. Data."""

import functools
import re
import tomllib
import unicodedata
from pathlib import Path

import msgspec

from actors.text.word_patterns import compile_words

_MARKS = re.compile(r"[\s()（）《》〈〉“”\"]")
FILES = Path(__file__).parent / "jurisdictions"


class Numerals(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Numerals made of ten digits and the names of 10, 100 and 1000; without them numbers stand in digits."""

    pattern: str = r"\d{1,4}"
    """A regular expression of a number as it is written."""
    digits: str = ""
    """Those of 0 to 9, in their order."""
    powers: str = ""
    """The names of 10, 100 and 1000, in their order."""
    same: dict[str, int] = {}
    """Other characters for a digit."""


class Rank(msgspec.Struct, frozen=True):
    """How much an article of such a law counts beside one of another."""

    weight: float
    ends: tuple[str, ...] = ()
    has: tuple[str, ...] = ()

    def fits(self, law: str) -> bool:
        return law.endswith(self.ends) or any(each in law for each in self.has)


class Lines(msgspec.Struct, frozen=True):
    lines: str = ""


class Citations(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """
    How texts name articles: regular expressions, in which {n} is a number, {joined} what stands between two numbers of
    a list or range, and {numbers} a list or range.
    """

    article: str
    """With the groups `numbers` and, where a country has them, `sub`, `paragraph` and `item`: all lists but `sub`."""
    joins: str = ","
    """What stands between the numbers of a list."""
    spans: str = "-"
    """What stands between the first and the last of a range."""
    named: str = r"(?!)"
    """The name of a law in marks, as group 1, up to the end of what stands before the article."""
    behind: str = r"(?!)"
    """The name of a law as group 1, where it stands behind the article."""
    boundary: str = r"\s"
    """What a name without marks cannot hold."""
    goes_on: str = r"^\s*,?\s*$"
    """What may stand between two articles of one law."""


class Layout(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How files of laws are laid out: regular expressions of lines, in which {n} is a number."""

    article: str
    """Begins an article: the groups `number`, `text` and, where a country has them, `sub`."""
    chapter: str = r"(?!)"
    """Begins a chapter, which is group 1."""
    paragraph: str = ""
    """Begins a paragraph, with its `number`; empty: each line that is no item is one, in their order."""
    item: str = r"(?!)"
    """Begins an item, with its `number`."""
    day: str = r"(\d{4})-(\d{1,2})-(\d{1,2})"
    """A day as three groups: year, month, day."""
    title_marks: str = ""
    """What stands around a title: the first and the last character."""
    example: str = ""
    """Beginnings of articles, for who wrote a file without any."""


class Jurisdiction(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One file of `jurisdictions/`; it says what each key means."""

    name: str
    language: str
    prefixes: tuple[str, ...] = ()
    editions: tuple[str, ...] = ()
    """What a bracket behind a title says of its version, not of its name."""
    citation: str
    sub: str = ""
    paragraph: str = ""
    item: str = ""
    numerals: Numerals = Numerals()
    citations: Citations
    layout: Layout
    short_names: dict[str, str] = {}
    ranks: tuple[Rank, ...] = ()
    categories: dict[str, str] = {}
    groups: Lines = Lines()
    everyday: Lines = Lines()

    def compile(self, pattern: str, flags: int = 0) -> re.Pattern[str]:
        """One of its regular expressions, with what numbers look like put in."""
        each = f"(?:{self.numerals.pattern})"
        joined = rf"\s*(?:{self.citations.joins}|{self.citations.spans})\s*"
        pattern = pattern.replace("{numbers}", "{n}(?:{joined}{n})*").replace("{joined}", joined)
        return compile_words(pattern.replace("{n}", each), flags)

    def strip_prefix(self, law: str) -> str:
        """The name of a law without what stands before every name, and in full where it is a short one."""
        for prefix in self.prefixes:
            law = law.removeprefix(prefix)
        return self.short_names.get(law, law)

    def squeeze(self, law: str) -> str:
        """A name as it is compared: 宪法修正案（2004年） and 宪法修正案2004年 are one."""
        return _MARKS.sub("", self.strip_prefix(law)).casefold()

    def weigh(self, law: str) -> float:
        return next((rank.weight for rank in self.ranks if rank.fits(law)), 1.0)

    def is_law(self, name: str) -> bool:
        """Whether a name has the form of a law's, and not of a contract's."""
        return any(rank.fits(name) for rank in self.ranks)

    def pair_groups(self) -> tuple[tuple[tuple[str, ...], tuple[str, ...]], ...]:
        """Of laws for one group of people or things: words of their names, and words of questions about that group."""
        return _pairs(self.groups.lines)

    def translate(self, question: str) -> tuple[str, ...]:
        """What the law calls the things that a question names in everyday words, and does not call so itself."""
        found = dict.fromkeys(
            term
            for said, meant in _pairs(self.everyday.lines)
            if any(each in question for each in said)
            for term in meant
        )
        return tuple(term for term in found if term not in question)


class InvalidJurisdiction(ValueError):
    """The file cannot be used. The text says which, and why."""


@functools.cache
def load_jurisdictions() -> tuple[Jurisdiction, ...]:
    """
    All that ship, in the order of their files' names.

    :raises InvalidJurisdiction: one cannot be used.
    """
    files = sorted(FILES.glob("*.toml"))
    return tuple(parse_jurisdiction(each.read_text(encoding="utf-8"), each.name) for each in files)


def parse_jurisdiction(text: str, file: str) -> Jurisdiction:
    """
    A jurisdiction of its file.

    :raises InvalidJurisdiction: it lacks a key, has an unknown one, or a pattern that cannot be used.
    """
    try:
        read = msgspec.convert(tomllib.loads(text), Jurisdiction)
    except (tomllib.TOMLDecodeError, msgspec.ValidationError) as error:
        raise InvalidJurisdiction(f"{file} cannot be read: {error}.") from None
    for table, key, groups in _PATTERNS:
        try:
            has = read.compile(getattr(getattr(read, table), key)).groupindex
        except re.error as error:
            raise InvalidJurisdiction(f"{file}: `{key}` of [{table}] is no regular expression: {error}.") from None
        if lost := [each for each in groups if each not in has]:
            raise InvalidJurisdiction(f"{file}: `{key}` of [{table}] needs a group named `{lost[0]}`.")
    if read.numerals.digits and (len(read.numerals.digits) != 10 or len(read.numerals.powers) != 3):
        raise InvalidJurisdiction(f"{file}: [numerals] needs ten `digits` and three `powers`.")
    return read


_PATTERNS: tuple[tuple[str, str, tuple[str, ...]], ...] = (
    ("numerals", "pattern", ()),
    ("citations", "joins", ()), ("citations", "spans", ()), ("citations", "article", ("numbers",)),
    ("citations", "named", ()), ("citations", "behind", ()), ("citations", "boundary", ()),
    ("citations", "goes_on", ()),
    ("layout", "article", ("number", "text")), ("layout", "chapter", ()), ("layout", "paragraph", ()),
    ("layout", "item", ()), ("layout", "day", ()),
)  # fmt: skip


@functools.cache
def _pairs(lines: str) -> tuple[tuple[tuple[str, ...], tuple[str, ...]], ...]:
    """Of lines such as `老板 公司=用人单位`: the words on either side."""
    parts = (line.partition("=") for line in lines.split("\n") if "=" in line)
    return tuple((tuple(said.split()), tuple(meant.split())) for said, _, meant in parts)


def read_number(written: str | None, numerals: Numerals) -> int:
    """The number that is written; 0 where there is none."""
    written = unicodedata.normalize("NFKC", written or "").strip()
    if written.isdecimal():
        return int(written)
    values = {each: value for value, each in enumerate(numerals.digits)} | numerals.same
    if len(written) > 1 and all(each in values for each in written):
        return int("".join(str(values[each]) for each in written))
    whole = digit = 0
    for each in written:
        if each in values:
            digit = values[each]
        elif each in numerals.powers:
            whole += (digit or 1) * 10 ** (numerals.powers.index(each) + 1)
            digit = 0
    return whole + digit


def write_number(number: int, numerals: Numerals) -> str:
    """A number below 10,000 as articles are numbered."""
    if not numerals.digits:
        return str(number)
    parts, gap = list[str](), False
    for power in range(len(numerals.powers), -1, -1):
        digit = number // 10**power % 10
        if digit:
            name = numerals.powers[power - 1] if power else ""
            parts.append((numerals.digits[0] if gap and parts else "") + numerals.digits[digit] + name)
        gap = bool(parts) and not digit
    written = "".join(parts)
    return written[1:] if written.startswith(numerals.digits[1] + numerals.powers[0]) else written
