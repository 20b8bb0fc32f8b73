"""
Whether an earlier answer may be repeated, by the documents as they are and by who could answer; and where it is from.

With an answer is kept what it rests on: digests of the sections that it cites, and of those that a search for its
ticket found. A section that has changed, or one that was not known then and is found as early, makes it stale.
"""

import asyncio
from collections.abc import Sequence
from typing import Literal, NamedTuple

import msgspec

from actors.evidence.claims import Citation, Resolution
from actors.evidence.earlier_answers import names_ticket
from actors.ports import Documents, PortFailed
from actors.text.catalogue import say
from actors.text.truncate import shorten
from runtime.storage.records import Served
from runtime.times import local

OWN_DOCUMENTS = "knowledge:"
"""What a research puts before the source of a document of one's own."""
QUOTE_CHARACTERS = 80
FOUND = 10
"""So many passages that a search finds are known with an answer."""
SHOWN = 3
"""Of so many that it finds now, none may be of a section that was not known then."""


class Basis(msgspec.Struct, frozen=True, gc=False):
    """What an answer rested on when it was given, as digests of sections."""

    sections: tuple[str, ...]
    """Of each citation of a document, in their order."""
    found: tuple[str, ...]
    """Of what a search for its ticket found."""


class KeptAnswer(Resolution, frozen=True, gc=False):
    """An answer as it is stored."""

    basis: Basis | None = None
    """None: nobody knows, for it was stored by an earlier version, or the documents could not be read."""

    @property
    def resolution(self) -> Resolution:
        return Resolution(self.text, self.citations, self.grade)


class EarlierAnswer(NamedTuple):
    """An answer that memory holds, and how the ticket that it answered is like the one at hand."""

    served: Served
    resolution: Resolution
    basis: Basis | None
    verdict: Literal["hit", "suggestion"]
    """If nothing speaks against it."""
    alike: str
    """How much the tickets are alike, in a few words; empty: it is the very same text."""


def _is_web_page(citation: Citation) -> bool:
    return "://" in citation.source


def list_cited(answer: Resolution) -> list[Citation]:
    """The citations of documents: of these it can be told whether they still say so."""
    return [each for each in answer.citations if not _is_web_page(each) and not names_ticket(each)]


async def find_basis(answer: Resolution, text: str, documents: Documents | None, within: float) -> Basis | None:
    """
    What an answer rests on now; None where that cannot be told.

    :param text: of the ticket that it answers.
    """
    cited = list_cited(answer)
    if documents is None or not cited:
        return None
    try:
        now = await _look(cited, text, documents, within)
    except PortFailed:
        return None
    return Basis(now.sections, now.found)


def choose_basis(answer: EarlierAnswer, chosen: Resolution) -> Basis | None:
    """What some of an answer's places rested on when it was given; None where that is not known of each."""
    if answer.basis is None:
        return None
    known = {
        (each.source, each.quote): section
        for each, section in zip(list_cited(answer.resolution), answer.basis.sections, strict=False)
    }
    sections = tuple(known.get((each.source, each.quote), "") for each in list_cited(chosen))
    return Basis(sections, answer.basis.found) if all(sections) else None


async def choose(
    answers: Sequence[EarlierAnswer], documents: Documents | None, *, has_model: bool, language: str, within: float
) -> tuple[EarlierAnswer, str]:
    """
    The first of some answers that may be repeated; if none may, the first of all, and why not in one sentence.

    :param has_model: answers are made by a model now; one that was made without is no reason not to ask it.
    :param within: seconds for looking all up.
    """
    until, why = asyncio.get_running_loop().time() + within, ""
    for answer in answers:
        left = max(0.0, until - asyncio.get_running_loop().time())
        reason = await _find_reason(answer, documents, has_model=has_model, language=language, within=left)
        if not reason:
            return answer, ""
        why = why or reason
    return answers[0], why


async def _find_reason(
    answer: EarlierAnswer, documents: Documents | None, *, has_model: bool, language: str, within: float
) -> str:
    """Why an answer is not to be repeated; nothing where it may be."""
    served, cited = answer.served, list_cited(answer.resolution)
    # a person's word stands though a model could be asked, and a model's own
    if has_model and served.state != "confirmed" and served.origin not in {"model", "person"}:
        return say("stale_no_model", language)
    if documents is None or not cited:
        return ""
    try:
        now = await _look(cited, answer.served.text, documents, within)
    except PortFailed as error:
        return say("stale_unchecked", language, why=str(error).rstrip("."))
    for each, section in zip(cited, now.sections, strict=True):
        if not section:
            quote = shorten(" ".join(each.quote.split()), QUOTE_CHARACTERS)
            return say("stale_gone", language, quote=quote, source=_name(each))
    then = answer.basis
    if then is None:  # all that can be told is whether a search leads there first
        leads = now.found[:1] and now.found[0] in now.sections
        return "" if leads else say("stale_unfound", language, source=_name(cited[0]))
    for each, before, section in zip(cited, then.sections, now.sections, strict=False):
        if before != section:
            return say("stale_changed", language, source=_name(each))
    known = {*then.sections, *then.found}
    newer = next((n for n, section in enumerate(now.found[:SHOWN]) if section not in known), None)
    return say("stale_newer", language, source=now.sources[newer]) if newer is not None else ""


class _Now(NamedTuple):
    """As a basis, of the documents as they are."""

    sections: tuple[str, ...]
    found: tuple[str, ...]
    sources: tuple[str, ...]
    """Of what was found."""


async def _look(cited: Sequence[Citation], text: str, documents: Documents, within: float) -> _Now:
    loop = asyncio.get_running_loop()
    until = loop.time() + within
    hits = (await documents.search(text, within=within, limit=FOUND)).passages[:FOUND]
    places = [(_name(each), each.quote) for each in cited] + [(each.source, each.text) for each in hits]
    digests = await documents.digest_sections(places, within=max(0.0, until - loop.time()))
    return _Now(tuple(digests[: len(cited)]), tuple(digests[len(cited) :]), tuple(each.source for each in hits))


def _name(citation: Citation) -> str:
    return citation.source.removeprefix(OWN_DOCUMENTS)


def tell_origin(answer: EarlierAnswer, language: str, stale: str) -> str:
    """For who wrote the ticket: what is alike, whose answer it was, how old its pages are, why it is stale."""
    served, day = answer.served, tell_day(answer)
    if served.origin == "person":
        origin = say("origin_person", language, person=served.person or say("a_person", language), day=day)
    else:
        origin = say("origin_confirmed" if served.state == "confirmed" else "origin_unconfirmed", language)
    told = [say("alike" if answer.alike else "same_text", language, ticket=served.ticket, origin=origin)]
    if day and any(map(_is_web_page, answer.resolution.citations)):  # nobody looks whether they still say the same
        told.append(say("pages_read_on", language, day=day))
    return " ".join([*told, stale] if stale else told)


def explain_origin(answer: EarlierAnswer, stale: str) -> str:
    """The same for log and trace, in English and with the measure."""
    told = tell_origin(answer, "en", stale)
    return f"{told} It is alike: {answer.alike}." if answer.alike else told


def tell_day(answer: EarlierAnswer) -> str:
    """The day on which it was given, here; empty where nobody knows."""
    return local(answer.served.created)[:10] if answer.served.created else ""
