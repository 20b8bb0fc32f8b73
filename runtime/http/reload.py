"""SIGHUP: the daemon reads its configuration again and takes over what may change while tickets run."""

import asyncio
from collections.abc import Callable, Iterable

import msgspec
import structlog

from actors.roster import Roster
from runtime.agent_folder import load_roster
from runtime.config import ConfigError
from runtime.logs import set_level
from runtime.node import Node
from runtime.service_error import ServiceError
from runtime.settings import Settings, check

log = structlog.get_logger()

Setting = tuple[str, str]
"""A section and a key."""
LIVE: frozenset[Setting] = frozenset({
    ("log", "level"),
    ("server", "free_megabytes"),
    ("server", "max_streams"),
    ("server", "stop_seconds"),
    ("storage", "keep_days"),
    ("trace", "replay_days"),
})  # fmt: skip
"""Whoever needs one of these asks the node's settings each time; all others are built into what has been opened."""
AGENTS = "the files of agents"


async def reload(node: Node, read: Callable[[], Settings]) -> None:
    """
    Take over what can be, and log by name what waits for a restart. What may not be is refused as a whole.

    :param read: the settings as they stand now; it may raise `ConfigError` or `ServiceError`.
    """
    try:
        wanted = await asyncio.to_thread(read)
        check(wanted)
        roster = await asyncio.to_thread(load_roster, wanted)
    except (ConfigError, ServiceError) as error:
        log.warning("settings.refused", reason=str(error), remedy="mend it and send SIGHUP again; all stays as it was")
        return
    changed = find_changes(node.settings, wanted)
    node.settings = take_over(node.settings, wanted, changed & LIVE)
    set_level(node.settings.log.level)
    waiting = _name(changed - LIVE) + ([AGENTS] if _describe(roster) != _describe(node.roster) else [])
    log.warning("settings.reloaded", changed=_name(changed & LIVE), after_restart=waiting)


def find_changes(old: Settings, new: Settings) -> frozenset[Setting]:
    """Which settings differ."""
    return frozenset(
        (section, key)
        for section in Settings.__struct_fields__
        for key in getattr(old, section).__struct_fields__
        if getattr(getattr(old, section), key) != getattr(getattr(new, section), key)
    )


def take_over(old: Settings, new: Settings, which: Iterable[Setting]) -> Settings:
    """The old settings with some of the new ones."""
    for section, key in which:
        table = msgspec.structs.replace(getattr(old, section), **{key: getattr(getattr(new, section), key)})
        old = msgspec.structs.replace(old, **{section: table})
    return old


def _describe(roster: Roster) -> dict[str, str]:
    """Each agent with all that its file says: equality of two is that of their intents, each equal to itself alone."""
    return {name: repr(spec) for name, spec in roster.specs.items()}


def _name(settings: Iterable[Setting]) -> list[str]:
    """Names alone: a value may be a secret."""
    return sorted(f"[{section}] {key}" for section, key in settings)
