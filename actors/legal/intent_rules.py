"""Reads what lawyers wrote down: which words speak for an intent, a domain or an entity. A wrong file is refused."""

import functools
import re
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Literal, NamedTuple, TypeVar, get_args

import msgspec
from msgspec import Meta

from actors.text.safe_patterns import find_problem

Intent = Literal[
    "legal_consultation", "case_search", "regulation_query", "document_draft", "contract_review", "general_chat"
]
INTENTS: tuple[Intent, ...] = get_args(Intent)
EntityKind = Literal["law", "article", "case", "party", "money", "date", "document", "other"]

INTENT_FILES = Path(__file__).parent / "intents"
"""A file a language, named by its code."""
DOMAIN_FILES = Path(__file__).parent / "domains"
"""A file a domain, named as the domain is."""
ENGLISH = "en"
BETWEEN_SPACES = frozenset({ENGLISH})
"""Languages whose words stand between spaces: `sue` is not in `issue`."""

_LIST_NAME = re.compile(r"<([a-z][a-z_]*)>")
Table = TypeVar("Table", bound=msgspec.Struct)
Words = tuple[Annotated[str, Meta(min_length=1)], ...]
Weight = Annotated[float, Meta(ge=-10, le=10)]


class RuleFileError(ValueError):
    """A rule file cannot be used. One sentence: which file, what is wrong in it."""


class RuleTable(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One rule as it is written."""

    name: str
    intent: Intent
    weight: Weight
    any: Words = ()
    also: Words = ()
    without: Words = ()
    at_least: Annotated[int, Meta(ge=1, le=9)] = 1
    longest: Annotated[int, Meta(ge=1)] = 0
    shortest: Annotated[int, Meta(ge=0)] = 0
    example: str
    not_this: str = ""


class IntentFile(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The rules of a language as they are written."""

    lists: dict[str, Words] = {}
    start: dict[Intent, Weight] = {}
    rule: tuple[RuleTable, ...] = ()
    entity: dict[EntityKind, Words] = {}


class TopicTable(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A part of a domain as it is written, such as family law within civil law."""

    category: str
    weight: Weight
    words: dict[str, Words]
    without: dict[str, Words] = {}


class DomainFile(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A domain as it is written."""

    means: str
    start: Weight
    yields: Weight = 0.0
    category: str
    topic: tuple[TopicTable, ...]
    against: tuple[TopicTable, ...] = ()


class SearchedText:
    """A text in which no expression is searched twice: many rules ask whether it is a question."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._found = dict[int, bool]()

    def has(self, words: re.Pattern[str]) -> bool:
        """Whether one of these words stands in it."""
        key = id(words)  # rules live as long as the process, and the hash of an expression takes longer than a search
        if key not in self._found:
            self._found[key] = words.search(self.text) is not None
        return self._found[key]

    def has_several(self, words: re.Pattern[str], count: int) -> bool:
        """Whether so many different ones of these words stand in it."""
        found = set[str]()
        for match in words.finditer(self.text):
            found.add(match[0].casefold())
            if len(found) >= count:
                return True
        return False


class Rule(NamedTuple):
    """What speaks for an intent, or against it where its weight is negative."""

    name: str
    intent: Intent
    weight: float
    """Log odds."""
    any: re.Pattern[str] | None
    also: re.Pattern[str] | None
    without: re.Pattern[str] | None
    at_least: int
    """So many different words of `any`."""
    shortest: int
    longest: int
    """Characters of the text; 0: as many as it likes."""

    def fits(self, read: SearchedText) -> bool:
        """Whether a text is as the rule says."""
        if len(read.text) < self.shortest or (self.longest and len(read.text) > self.longest):
            return False
        if self.any is not None and not read.has(self.any):
            return False
        if self.also is not None and not read.has(self.also):
            return False
        if self.without is not None and read.has(self.without):
            return False
        return self.any is None or self.at_least == 1 or read.has_several(self.any, self.at_least)


class Topic(NamedTuple):
    """Words of a part of a domain, in one language."""

    category: str
    weight: float
    words: re.Pattern[str]
    without: re.Pattern[str] | None

    def fits(self, text: str) -> bool:
        """Whether a text speaks of it."""
        return bool(self.words.search(text)) and (self.without is None or not self.without.search(text))


class DomainRules(NamedTuple):
    """How one domain is known in a text of one language."""

    name: str
    start: float
    """Log odds of a legal question of which nothing is known."""
    yields: float
    """Added where another domain is likely and no clause speaks of this one alone."""
    category: str
    """What it is called where no topic of it fits."""
    topics: tuple[Topic, ...]
    against: tuple[Topic, ...]


class LanguageRules(NamedTuple):
    """All that is known about texts of one language."""

    start: Mapping[Intent, float]
    rules: tuple[Rule, ...]
    entities: Mapping[EntityKind, re.Pattern[str]]
    domains: tuple[DomainRules, ...]


@functools.cache
def languages() -> frozenset[str]:
    """Codes of the languages that have rules."""
    return frozenset(file.stem for file in INTENT_FILES.glob("*.toml"))


@functools.cache
def load_rules(language: str) -> LanguageRules:
    """
    The rules of a language, read and compiled once.

    :param language: its code; one without rules has those of English.
    :raises RuleFileError: a file that ships is wrong; tests see to it that none is.
    """
    if language not in languages():
        return load_rules(ENGLISH)
    table = read_table(INTENT_FILES / f"{language}.toml", IntentFile)
    compiler = WordCompiler(f"{language}.toml", language, table.lists)
    return LanguageRules(
        start={intent: table.start.get(intent, 0.0) for intent in INTENTS},
        rules=tuple(_compile_rule(each, compiler) for each in table.rule),
        entities={kind: compiler.compile(words) for kind, words in table.entity.items()},
        domains=tuple(_load_domain(file, language) for file in sorted(DOMAIN_FILES.glob("*.toml"))),
    )


def read_table(file: Path, table: type[Table]) -> Table:
    """
    A rule file as it is written.

    :raises RuleFileError: it is no TOML, or has a key or a value that a rule has not.
    """
    try:
        return msgspec.convert(tomllib.loads(file.read_text(encoding="utf-8")), table)
    except (tomllib.TOMLDecodeError, msgspec.ValidationError, UnicodeDecodeError) as error:
        raise RuleFileError(f"{file.name}: {error}") from error


class WordCompiler:
    """Makes one expression of a list of words, which may name other lists as `<name>`."""

    def __init__(self, file: str, language: str, lists: Mapping[str, Sequence[str]]) -> None:
        self._file, self._lists = file, lists
        self._find_problem = functools.cache(find_problem)  # most rules ask for the same lists
        self._flags = re.IGNORECASE if language in BETWEEN_SPACES else re.NOFLAG  # ten times as slow
        self._edges = (r"(?<!\w)", r"(?!\w)") if language in BETWEEN_SPACES else ("", "")

    def compile(self, words: Sequence[str]) -> re.Pattern[str]:
        """:raises RuleFileError: a word that is no expression, that might search for hours, or that names no list."""
        for word in words:
            if not word.isalnum() and (problem := self._find_problem(self._expand(word))):
                raise RuleFileError(f"{self._file}: the word {word!r} {problem}")
        before, behind = self._edges
        return re.compile(f"{before}(?:{'|'.join(map(self._expand, words))}){behind}", self._flags)

    def _expand(self, word: str, depth: int = 0) -> str:
        def put(match: re.Match[str]) -> str:
            if match[1] not in self._lists or depth > 2:
                raise RuleFileError(f"{self._file}: {word!r} names a list that is not there, or one within itself")
            return f"(?:{'|'.join(self._expand(each, depth + 1) for each in self._lists[match[1]])})"

        return _LIST_NAME.sub(put, word)


def _compile_rule(table: RuleTable, compiler: WordCompiler) -> Rule:
    return Rule(
        name=table.name,
        intent=table.intent,
        weight=table.weight,
        any=compiler.compile(table.any) if table.any else None,
        also=compiler.compile(table.also) if table.also else None,
        without=compiler.compile(table.without) if table.without else None,
        at_least=table.at_least,
        shortest=table.shortest,
        longest=table.longest,
    )


def _load_domain(file: Path, language: str) -> DomainRules:
    table = read_table(file, DomainFile)
    compiler = WordCompiler(file.name, language, {})

    def compile_topics(topics: Sequence[TopicTable]) -> tuple[Topic, ...]:
        return tuple(
            Topic(
                each.category,
                each.weight,
                compiler.compile(each.words[language]),
                compiler.compile(each.without[language]) if language in each.without else None,
            )
            for each in topics
            if language in each.words
        )

    return DomainRules(
        file.stem, table.start, table.yields, table.category, compile_topics(table.topic), compile_topics(table.against)
    )
