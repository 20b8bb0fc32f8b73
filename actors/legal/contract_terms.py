"""What contracts should say and which articles bear on their clauses, as lawyers wrote it down: a file a language."""

import functools
import re
from pathlib import Path
from typing import NamedTuple

import msgspec

from actors.legal.intent_rules import ENGLISH, RuleFileError, WordCompiler, Words, read_table

FILES = Path(__file__).parent / "contracts"
"""A file a language, named by its code."""
BEFORE = r"(?:^|(?<=[。；;])|(?<=[.] ))[ \t　]*"
"""Where a clause may begin."""


class PartTable(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    name: str
    title: str
    any: Words
    articles: Words = ()


class KindTable(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    title: str
    any: Words
    needs: Words
    articles: Words = ()
    parts: dict[str, Words] = {}


class ContractFile(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """As it is written; the files say what each key means."""

    clause: Words
    watch: Words
    part: tuple[PartTable, ...]
    kind: tuple[KindTable, ...]


class ArticleRule(NamedTuple):
    """An article that bears on something, by its name, and words that must stand in it."""

    citation: str
    says: str


class Part(NamedTuple):
    """Something that a contract settles."""

    name: str
    title: str
    any: re.Pattern[str]
    articles: tuple[ArticleRule, ...]


class Kind(NamedTuple):
    """A kind of contract."""

    title: str
    any: re.Pattern[str]
    needs: tuple[Part, ...]
    articles: tuple[ArticleRule, ...]
    """What requires these parts."""
    parts: dict[str, tuple[ArticleRule, ...]]
    """On a part for this kind, in the place of those that are named there."""


class ContractTerms(NamedTuple):
    """All that is known of contracts in one language."""

    clause: tuple[re.Pattern[str], ...]
    watch: re.Pattern[str]
    parts: tuple[Part, ...]
    kinds: tuple[Kind, ...]

    def find_kind(self, text: str) -> Kind:
        """The kind of which a text says most; the last where it says nothing of any other."""
        counts = [len(set(each.any.findall(text))) for each in self.kinds[:-1]]
        best = max(range(len(counts)), key=lambda n: counts[n], default=-1)
        return self.kinds[best] if best >= 0 and counts[best] else self.kinds[-1]


@functools.cache
def load_terms(language: str) -> ContractTerms:
    """
    What is known of contracts in a language; in English where it has no file.

    :raises RuleFileError: a file that ships is wrong; tests see to it that none is.
    """
    file = FILES / f"{language}.toml"
    if not file.exists():
        return load_terms(ENGLISH)
    table = read_table(file, ContractFile)
    compiler = WordCompiler(file.name, language, {})
    parts = {each.name: Part(each.name, each.title, compiler.compile(each.any), _read(each.articles))
             for each in table.part}  # fmt: skip
    for kind in table.kind:
        if unknown := {*kind.needs, *kind.parts} - parts.keys():
            raise RuleFileError(f"{file.name}: {kind.title} names parts that are not there: {sorted(unknown)}")
    kinds = tuple(
        Kind(
            each.title, compiler.compile(each.any), tuple(parts[name] for name in each.needs), _read(each.articles),
            {name: _read(articles) for name, articles in each.parts.items()},
        )
        for each in table.kind
    )  # fmt: skip
    clause = tuple(re.compile(f"{BEFORE}(?:{each})", re.MULTILINE) for each in table.clause)
    return ContractTerms(clause, compiler.compile(table.watch), tuple(parts.values()), kinds)


def _read(articles: Words) -> tuple[ArticleRule, ...]:
    parts = (each.partition(":") for each in articles)
    return tuple(ArticleRule(citation.strip(), says.strip()) for citation, _, says in parts)
