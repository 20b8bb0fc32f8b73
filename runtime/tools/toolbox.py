"""The tools of a process, as answers in the making borrow them."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

import structlog

from actors.ports import Trace
from runtime.processes.pool import Workers
from runtime.replay.recorded_tool import record_tool
from runtime.tools.tool import Tool, ToolContext, ToolPorts

if TYPE_CHECKING:
    from runtime.storage.effects import Effects

log = structlog.get_logger()

AT_ONCE = 2
"""Processes for functions of the user's own: one that hangs must not hold up a search."""


class OfferedTools(NamedTuple):
    """Those that one answer may call."""

    tools: tuple[Tool, ...]
    own: ToolContext


class Toolbox:
    """One a process. Nothing is started before the first call needs it."""

    def __init__(self, ports: ToolPorts, tools: Mapping[str, Tool]) -> None:
        self._ports = ports
        self._tools = tools
        self._workers = Workers(AT_ONCE)

    def offer(
        self, names: Sequence[str], *, run: str, agent: str, trace: Trace, effects: "Effects | None" = None,
        said: str = "",
    ) -> OfferedTools:  # fmt: skip
        """
        Of the tools that an agent names those that can be called here.

        :param said: what the person wrote.
        """
        known = [self._tools[name] for name in names if name in self._tools]
        tools = tuple(record_tool(each) for each in known if each.configured(self._ports.settings))
        if len(tools) < len(names):
            missing = sorted(set(names) - {each.name for each in tools})
            log.debug("tools.not_offered", agent=agent, tools=missing)
        return OfferedTools(tools, ToolContext(run, agent, self._ports, self._workers, trace, effects, said))

    async def close(self) -> None:
        """End the processes."""
        self._workers.close()
