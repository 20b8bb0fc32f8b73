"""An earlier ticket's answer as a source: how it is cited, and how such a citation is known. Pure."""

from actors.evidence.claims import Citation, Resolution

TITLE = "An earlier ticket"
SOURCE = "ticket "


def cite_ticket(ticket_id: str, answer: Resolution) -> Citation:
    """A citation of what a ticket was answered, with the number after those of the answer."""
    number = 1 + max((each.number for each in answer.citations), default=0)
    return Citation(number, f"{SOURCE}{ticket_id}", TITLE, "", answer.text, 0, len(answer.text))


def names_ticket(citation: Citation) -> bool:
    """Whether it names an earlier ticket, not a document."""
    return citation.title == TITLE and citation.source.startswith(SOURCE)
