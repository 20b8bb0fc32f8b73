"""What decided cases are compared on, as lawyers wrote it down: a row of the table each, in one language. Data."""

import functools
import re
from pathlib import Path
from typing import NamedTuple

import msgspec

from actors.legal.intent_rules import ENGLISH, WordCompiler, Words, read_table

FILES = Path(__file__).parent / "criteria"
"""A file a language, named by its code."""


class StanceTable(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    title: str
    any: Words


class CriterionTable(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    name: str
    title: str
    under: Words = ()
    any: Words = ()
    rest: bool = False
    stance: tuple[StanceTable, ...] = ()


class CriteriaFile(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The criteria as they are written; the files say what each key means."""

    compare: Words
    heading: Words
    criterion: tuple[CriterionTable, ...]


class Criterion(NamedTuple):
    name: str
    title: str
    under: re.Pattern[str] | None
    """What the heading of a part of a case says that speaks of it."""
    any: re.Pattern[str] | None
    """What a sentence says that speaks of it."""
    rest: bool
    """Sentences that speak of no other criterion speak of this one."""
    stances: tuple[tuple[str, re.Pattern[str]], ...]
    """How cases may differ: the first whose words stand in a cell is its stance."""

    def count(self, text: str) -> int:
        """How many different words of it a text says."""
        return len(set(self.any.findall(text))) if self.any else 0

    def find_stance(self, cell: str) -> str:
        """Empty: none is known."""
        return next((title for title, words in self.stances if words.search(cell)), "")


class Criteria(NamedTuple):
    """All that is known of comparing cases in one language."""

    compare: re.Pattern[str]
    headings: tuple[re.Pattern[str], ...]
    rows: tuple[Criterion, ...]

    def find_heading(self, line: str) -> re.Match[str] | None:
        """The heading with which a line begins, its name in the first group; None: it begins with none."""
        return next((match for each in self.headings if (match := each.match(line))), None)


@functools.cache
def load_criteria(language: str) -> Criteria:
    """
    The criteria of a language; of English where it has none.

    :raises RuleFileError: a file that ships is wrong; tests see to it that none is.
    """
    file = FILES / f"{language}.toml"
    if not file.exists():
        return load_criteria(ENGLISH)
    table = read_table(file, CriteriaFile)
    compiler = WordCompiler(file.name, language, {})

    def compile_some(words: Words) -> re.Pattern[str] | None:
        return compiler.compile(words) if words else None

    rows = tuple(
        Criterion(
            each.name, each.title, compile_some(each.under), compile_some(each.any), each.rest,
            tuple((stance.title, compiler.compile(stance.any)) for stance in each.stance),
        )
        for each in table.criterion
    )  # fmt: skip
    return Criteria(compiler.compile(table.compare), tuple(map(re.compile, table.heading)), rows)
