"""What a search did not look at: carried from where it happened to the outcome, so that nobody takes it for a fact."""

from collections.abc import Iterable, Iterator
from typing import Literal

import msgspec

from actors.text.catalogue import say, say_name

Code = Literal["no_meaning", "no_vectors", "source_failed", "cut_short"]
"""
`no_meaning`: the sentence model did not answer, so it went by words alone; `no_vectors`: so it did for documents whose
vectors are not made yet; `source_failed`: a source could not be searched; `cut_short`: not all that was found was read.
"""


class Shortfall(msgspec.Struct, frozen=True, gc=False, omit_defaults=True):
    """One thing that a search lacked."""

    code: Code
    detail: str = ""
    """What exactly: the source, as people call it, or why, in an English sentence for who operates."""


class Searched(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """What rests on a search says what that lacked."""

    incomplete: tuple[Shortfall, ...] = ()


def merge_shortfalls(*lists: Iterable[Shortfall]) -> tuple[Shortfall, ...]:
    """All of them, each once."""
    return tuple(dict.fromkeys(each for one in lists for each in one))


def name_sources(incomplete: Iterable[Shortfall], language: str) -> Iterator[Shortfall]:
    """The same with sources as people call them, where tools tell them by keys of the catalogue."""
    for each in incomplete:
        named = each.code == "source_failed"
        yield msgspec.structs.replace(each, detail=say_name(each.detail, language)) if named else each


def name_shortfalls(incomplete: Iterable[Shortfall], language: str) -> str:
    """What a search lacked, each thing once, as part of a sentence."""
    named = dict.fromkeys(
        say(f"lacks_{each.code}", language, **({"what": each.detail} if each.code == "source_failed" else {}))
        for each in incomplete
    )
    return say("joined_by", language).join(named)


def explain_shortfalls(key: str, incomplete: Iterable[Shortfall], language: str) -> str:
    """A sentence of the catalogue that has a place for what the search lacked."""
    return say(key, language, why=name_shortfalls(incomplete, language))
