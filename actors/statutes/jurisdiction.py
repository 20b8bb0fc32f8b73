"""What belongs to the law of one country: how its articles are named, and which words people use instead. Data."""

import functools
import re
import tomllib
from pathlib import Path

import msgspec

_MARKS = re.compile(r"[\s()（）《》〈〉“”\"]")
FILES = Path(__file__).parent / "jurisdictions"


class Rank(msgspec.Struct, frozen=True):
    """How much an article of such a law counts beside one of another."""

    weight: float
    ends: tuple[str, ...] = ()
    has: tuple[str, ...] = ()

    def fits(self, law: str) -> bool:
        return law.endswith(self.ends) or any(each in law for each in self.has)


class Lines(msgspec.Struct, frozen=True):
    lines: str = ""


class Words(msgspec.Struct, frozen=True):
    words: str = ""


class Jurisdiction(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One file of `jurisdictions/`; it says what each key means."""

    name: str
    language: str
    prefixes: tuple[str, ...] = ()
    editions: tuple[str, ...] = ()
    """What a bracket behind a title says of its version, not of its name."""
    citation: str
    sub: str = ""
    short_names: dict[str, str] = {}
    ranks: tuple[Rank, ...] = ()
    categories: dict[str, str] = {}
    stop: Words = Words()
    everyday: Lines = Lines()

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

    def translate(self, question: str) -> tuple[str, ...]:
        """What the law calls the things that a question names in everyday words, and does not call so itself."""
        found = dict.fromkeys(
            term
            for said, meant in _pairs(self.everyday.lines)
            if any(each in question for each in said)
            for term in meant
        )
        return tuple(term for term in found if term not in question)


@functools.cache
def load_jurisdictions() -> tuple[Jurisdiction, ...]:
    """All that ship, in the order of their files' names."""
    return tuple(
        msgspec.convert(tomllib.loads(file.read_text(encoding="utf-8")), Jurisdiction)
        for file in sorted(FILES.glob("*.toml"))
    )


@functools.cache
def _pairs(lines: str) -> tuple[tuple[tuple[str, ...], tuple[str, ...]], ...]:
    """Of lines such as `老板 公司=用人单位`: what people say, and what the law calls it."""
    parts = (line.partition("=") for line in lines.split("\n") if "=" in line)
    return tuple((tuple(said.split()), tuple(meant.split())) for said, _, meant in parts)
