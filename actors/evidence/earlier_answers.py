"""An earlier ticket's answer as a source: how it is cited and retold, and how such a citation is known. Pure."""

import re

from actors.evidence.claims import Citation, Resolution
from actors.evidence.places import name_place, strip_leads
from actors.text.catalogue import every_form, say
from actors.text.truncate import cut_at_paragraph

SOURCE = "ticket "
"""How the source of such a citation begins, in any language."""
RETOLD_CHARACTERS = 1200
RETOLD_PLACES = 5


def cite_ticket(ticket_id: str, answer: Resolution, language: str) -> Citation:
    """A citation of what a ticket was answered, with the number after those of the answer."""
    number = 1 + max((each.number for each in answer.citations), default=0)
    return Citation(
        number, f"{SOURCE}{ticket_id}", say("earlier_ticket", language), "", answer.text, 0, len(answer.text)
    )


def names_ticket(citation: Citation) -> bool:
    """Whether it names an earlier ticket, not a document."""
    return citation.title in every_form("earlier_ticket") and citation.source.startswith(SOURCE)


def retell(answer: Resolution, language: str) -> str:
    """
    What a ticket was answered, for a time when its places need not be there any more.

    Its own sentences without numbers of citations, at most RETOLD_CHARACTERS, and what its places were called.
    """
    documents = [each for each in answer.citations if not names_ticket(each)]
    names = {name_place(each): _name(each) for each in documents}
    marks = re.compile(rf" ?(?:\[(?:{'|'.join(str(each.number) for each in answer.citations) or '0'})\])+")
    told = strip_leads(answer.text)
    lines = [names[line] if line in names else marks.sub("", line) for line in told.splitlines()]
    whole = "\n".join(lines).strip()
    said = cut_at_paragraph(whole, RETOLD_CHARACTERS)
    if said != whole:
        said += " …"
    left = list(dict.fromkeys(_name(each) for each in documents if _name(each) not in lines))
    if not left:
        return said
    more = [say("more", language, more=len(left) - RETOLD_PLACES)] if len(left) > RETOLD_PLACES else []
    places = say("joined_by", language).join([*left[:RETOLD_PLACES], *more])
    return f"{said}\n\n{say('earlier_places', language, places=places)}"


def _name(citation: Citation) -> str:
    """A place without its number."""
    return name_place(citation).partition("] ")[2]
