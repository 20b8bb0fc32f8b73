"""A ticket as it came in, whichever door it came through."""

import msgspec

HELPDESK = "helpdesk"
"""The workflow of a ticket that asks for no other."""


class Ticket(msgspec.Struct, frozen=True, kw_only=True):
    """One unit of work as it came in."""

    text: str
    id: str = ""
    """Given by the helpdesk it comes from; made up when empty."""
    subject: str = ""
    requester: str = ""
    workflow: str = HELPDESK
    """The family that works on it."""
    options: msgspec.Struct | None = None
    """How it is to be done, as the type that its family declares; None: as configured."""

    @property
    def whole(self) -> str:
        """What its run is asked."""
        return whole(self.subject, self.text)


def whole(subject: str, text: str) -> str:
    """A ticket as one text, with its subject above it."""
    return f"{subject}\n\n{text}".strip() if subject else text
