"""Who worked on a run that has ended: read from its end alone, which is much smaller than its events."""

import msgspec


class _Handoff(msgspec.Struct):
    source: str
    target: str


class _Ending(msgspec.Struct):
    handoffs: list[_Handoff] = []
    children: "list[_Ending]" = []


def list_agents(ending: bytes) -> list[str]:
    """
    The agents of a run and of the runs within it, each once, in the order in which they came in.

    :param ending: as `StoredRun` has it.
    :raises msgspec.MsgspecError: it cannot be read.
    """
    return list(dict.fromkeys(_walk(msgspec.msgpack.decode(ending, type=_Ending))))


def _walk(ending: _Ending) -> list[str]:
    own = [name for each in ending.handoffs for name in (each.source, each.target)]
    return own + [name for child in ending.children for name in _walk(child)]
