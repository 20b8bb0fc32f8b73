"""Where an earlier answer comes from: in a sentence for the log, and in one for who wrote the ticket."""

import time

from actors.text.catalogue import say
from runtime.memory.staleness import EarlierAnswer, is_web_page
from runtime.times import ago, local


def explain_origin(answer: EarlierAnswer, stale: str) -> str:
    """For log and trace: how the tickets are alike, whose answer it was, how old its pages are, why it is stale."""
    age = (
        f"The web pages that it cites were read on {tell_day(answer)} ({_ago(answer)})." if _cites_pages(answer) else ""
    )
    said = f"Ticket {answer.served.ticket} {answer.how}; {_name_author(answer)}."
    return " ".join(filter(None, (said, age, stale)))


def tell_origin(answer: EarlierAnswer, language: str, stale: str) -> str:
    """The same for a person who knows nothing of measures."""
    served = answer.served
    if served.origin == "person":
        person = served.person or say("a_person", language)
        origin = say("origin_person", language, person=person, day=tell_day(answer))
    else:
        origin = say("origin_confirmed" if served.state == "confirmed" else "origin_unconfirmed", language)
    said = say("same_text" if answer.is_same else "alike", language, ticket=served.ticket, origin=origin)
    age = say("pages_read_on", language, day=tell_day(answer)) if _cites_pages(answer) else ""
    return " ".join(filter(None, (said, age, stale)))


def tell_day(answer: EarlierAnswer) -> str:
    """The day on which it was given, here; empty where nobody knows."""
    return local(answer.served.created)[:10] if answer.served.created else ""


def _name_author(answer: EarlierAnswer) -> str:
    served = answer.served
    if served.origin != "person":
        return f"its answer is {served.state}"
    return f"{served.person or 'a person'} answered it on {tell_day(answer)}"


def _cites_pages(answer: EarlierAnswer) -> bool:
    """Nobody looks whether web pages still say the same, so it is told when they were read."""
    return bool(answer.served.created) and any(map(is_web_page, answer.resolution.citations))


def _ago(answer: EarlierAnswer) -> str:
    return ago(answer.served.created, time.time())
