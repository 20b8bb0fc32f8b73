"""An earlier ticket's answer as a source: how it is cited, and how such a citation is known. Pure."""

from actors.evidence.claims import Citation, Resolution
from actors.text.catalogue import every_form, say

SOURCE = "ticket "
"""How the source of such a citation begins, in any language."""


def cite_ticket(ticket_id: str, answer: Resolution, language: str) -> Citation:
    """A citation of what a ticket was answered, with the number after those of the answer."""
    number = 1 + max((each.number for each in answer.citations), default=0)
    return Citation(
        number, f"{SOURCE}{ticket_id}", say("earlier_ticket", language), "", answer.text, 0, len(answer.text)
    )


def names_ticket(citation: Citation) -> bool:
    """Whether it names an earlier ticket, not a document."""
    return citation.title in every_form("earlier_ticket") and citation.source.startswith(SOURCE)
