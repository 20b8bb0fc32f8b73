"""Roles, each of which may do all that the one before it may, and the principals that have them."""

from typing import Literal, NamedTuple

Role = Literal["submit", "read", "operate", "admin"]
"""
`submit`: ask, and read and judge one's own tickets. `read`: read everybody's. `operate`: decide about others' tickets.
`admin`: change what all answers rest on.
"""
Access = Literal["open", "submit", "read", "operate", "admin"]
"""What a route needs: a role, or nothing."""
LADDER: tuple[Access, ...] = ("open", "submit", "read", "operate", "admin")


class Principal(NamedTuple):
    """Whoever asks, once it is known who that is."""

    by: str
    """Names it wherever it does something: `token:NAME`, `user:NAME`, `server-token` or `local`."""
    role: Role
    person: str = ""
    """The name of a person, where a proxy has told it."""


LOCAL = Principal("local", "admin")
"""A program of this machine, where nobody has to say who they are."""
SERVER_TOKEN = Principal("server-token", "admin")
"""Who has the one token of the configuration."""


def may(role: Role, access: Access) -> bool:
    """Whether a role is enough."""
    return LADDER.index(role) >= LADDER.index(access)
