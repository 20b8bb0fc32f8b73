"""What was said in a ticket before what is asked now: context for who answers it, and no question itself."""

from typing import Literal

import msgspec

NEXT_MESSAGE = "\n\n* * *\n\n"
"""Between messages that are one question: nobody answered the first before the next one came."""


class EarlierMessage(msgspec.Struct, frozen=True, gc=False):
    """One contribution that the customer has seen or written."""

    role: Literal["customer", "person", "terminus"]
    """`person`: somebody of the helpdesk; `terminus`: what was answered by us."""
    at: str
    """When, as the helpdesk writes it; empty: it does not say."""
    text: str
