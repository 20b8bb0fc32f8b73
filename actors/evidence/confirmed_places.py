"""Which of the places that an answer shows was right: what a person can choose from, and what is kept of it. Pure."""

from collections.abc import Collection

import msgspec

from actors.evidence.claims import Citation, Resolution
from actors.evidence.earlier_answers import names_ticket
from actors.evidence.places import name_place, quote_place
from actors.text.catalogue import say
from actors.text.normalize import settle_code


def shown_places(answer: Resolution) -> tuple[Citation, ...]:
    """
    The places that an answer shows, and an earlier answer that is told below them; nothing of one that argues itself.

    A choice is to be made where these are several.
    """
    lines = answer.text.splitlines()
    places = [each for each in answer.citations if name_place(each) in lines]
    repeated = {line for each in answer.citations if names_ticket(each) for line in each.quote.splitlines()}
    if not places or any(name_place(each) in repeated for each in places):
        return tuple(places)
    return (*places, *filter(names_ticket, answer.citations))


def keep_places(answer: Resolution, numbers: Collection[int], language: str) -> Resolution:
    """An answer with nothing but those of its places that have these numbers, told as what a person confirmed."""
    shown = shown_places(answer)
    if len(shown) < 2:
        return answer
    chosen = [each for each in shown if each.number in numbers]
    kept = [msgspec.structs.replace(each, number=number) for number, each in enumerate(chosen, 1)]
    lead = [] if all(map(names_ticket, kept)) else [say("places_confirmed", language)]
    return Resolution(settle_code("\n\n".join((*lead, *map(_render, kept)))), tuple(kept), answer.grade)


def _render(place: Citation) -> str:
    return place.quote if names_ticket(place) else quote_place(place)
