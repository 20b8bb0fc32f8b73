"""Of whom a question speaks, and who acts in it: an article on what the other side may do is no answer. Pure."""

import functools
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import msgspec

from actors.legal.intent_rules import WordCompiler, Words, read_table

FILES = Path(__file__).parent / "parties"
"""A file a language, named by its code; a language may have none."""
_SENTENCE = re.compile(r"[。；;\n]")


class PartyTable(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    said: Words
    writer: Words = ()
    law: Words


class RelationTable(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    acts: Words
    acts_in_law: Words
    about: Words
    party: tuple[PartyTable, ...]


class PartyFile(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """As it is written; the files say what each key means."""

    object: str = ""
    relation: tuple[RelationTable, ...]


class Relation(NamedTuple):
    acts: re.Pattern[str]
    acts_in_law: re.Pattern[str]
    about: re.Pattern[str]
    """What a question says that is of this relation."""
    said: tuple[re.Pattern[str], ...]
    """Of each party, as people call it; never where something is done to it."""
    law: tuple[re.Pattern[str], ...]
    """The same, as the law calls it."""
    named_in_law: re.Pattern[str]
    """Either of them, whatever is done."""


@functools.cache
def load_relations(language: str) -> tuple[Relation, ...]:
    """
    What is known of parties in a language.

    :raises RuleFileError: a file that ships is wrong; tests see to it that none is.
    """
    file = FILES / f"{language}.toml"
    if not file.exists():
        return ()
    table = read_table(file, PartyFile)
    compiler = WordCompiler(file.name, language, {})
    behind = f"(?<![{re.escape(table.object)}])" if table.object else ""

    def compile_party(words: Words) -> re.Pattern[str]:
        return re.compile(behind + compiler.compile(words).pattern)

    return tuple(
        Relation(
            compiler.compile(each.acts),
            compiler.compile(each.acts_in_law),
            compiler.compile(each.about),
            tuple(compile_party((*party.said, *party.writer)) for party in each.party),
            tuple(compile_party(party.law) for party in each.party),
            compiler.compile([word for party in each.party for word in party.law]),
        )
        for each in table.relation
    )


def choose_bearing(question: str, articles: Sequence[str], language: str) -> list[int]:
    """
    Which articles speak of those of whom a question speaks: the places of them; all of them where none does.

    Of an act that both parties may do, those on the other one's are left out.
    """
    places = list(range(len(articles)))
    for relation in load_relations(language):
        if relation.about.search(question):
            act = relation.acts.search(question)
            actor = _find_last(relation.said, question[: act.start()]) if act else None
            own = [n for n in places if _bears(relation, actor, articles[n])]
            places = own or places
    return places


def _bears(relation: Relation, actor: int | None, article: str) -> bool:
    actors = {found for found in _find_actors(relation, article) if found is not None}
    if actor is not None and actors and actor not in actors:
        return False
    return relation.named_in_law.search(article) is not None


def _find_actors(relation: Relation, article: str) -> Iterator[int | None]:
    """Who does each such act that an article names, sentence by sentence."""
    for sentence in _SENTENCE.split(article):
        for act in relation.acts_in_law.finditer(sentence):
            yield _find_last(relation.law, sentence[: act.start()])


def _find_last(parties: tuple[re.Pattern[str], ...], text: str) -> int | None:
    """The party that is named last, and to which nothing is done; None: none is."""
    places = [(match.start(), n) for n, each in enumerate(parties) for match in each.finditer(text)]
    return max(places)[1] if places else None
