"""What Kubernetes sets in every container for each service of its namespace, known by names and values."""

import re
from collections.abc import Mapping

_SERVICE = r"TERMINUS_(?:[A-Z0-9_]{1,200}_)?"
_LINK = re.compile(r"(?:tcp|udp|sctp)://[0-9A-Fa-f.:\[\]]+")
SERVICE_LINKS = (
    (re.compile(f"{_SERVICE}SERVICE_HOST"), re.compile(r"[0-9A-Fa-f.:]+")),
    (re.compile(f"{_SERVICE}SERVICE_PORT(?:_[A-Z0-9_]+)?"), re.compile(r"[0-9]{1,5}")),
    (re.compile(f"{_SERVICE}PORT(?:_[0-9]+_(?:TCP|UDP|SCTP))?"), _LINK),
    (re.compile(f"{_SERVICE}PORT_[0-9]+_(?:TCP|UDP|SCTP)_PROTO"), re.compile("tcp|udp|sctp")),
    (re.compile(f"{_SERVICE}PORT_[0-9]+_(?:TCP|UDP|SCTP)_PORT"), re.compile(r"[0-9]{1,5}")),
    (re.compile(f"{_SERVICE}PORT_[0-9]+_(?:TCP|UDP|SCTP)_ADDR"), re.compile(r"[0-9A-Fa-f.:]+")),
)
"""Names, and the values that go with them."""


def service_variables(environ: Mapping[str, str]) -> list[str]:
    """
    Variables that begin as ours do, but are Kubernetes' own for services called `terminus` or `terminus-...`.

    They are known by their whole form, value included: a misspelled variable of ours is refused all the same.
    """
    return sorted(name for name, value in environ.items() if any(_fits(name, value, *form) for form in SERVICE_LINKS))


def _fits(name: str, value: str, named: re.Pattern[str], valued: re.Pattern[str]) -> bool:
    return named.fullmatch(name) is not None and valued.fullmatch(value) is not None
