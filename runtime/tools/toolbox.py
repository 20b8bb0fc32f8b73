"""The tools of a process, as answers in the making borrow them."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

import msgspec
import structlog

from actors.evidence.trace_steps import make_tool_step
from actors.ports import PortFailed, Trace
from bus import Clock
from runtime.observe.recording import record_tool
from runtime.processes.pool import Workers
from runtime.resilience.limiters import Deadline
from runtime.tools.tool import InvalidArguments, Tool, ToolContext, ToolPorts, ToolResult

if TYPE_CHECKING:
    from runtime.storage.effects import Effects


log = structlog.get_logger()

TRIES = 2
LEAST_SECONDS = 0.05
"""With less than that nothing is tried again."""
TIME_UP, BROKE = "Its time was up.", "It failed: the log says why."


class CalledTool(NamedTuple):
    """What came of a call."""

    result: ToolResult | None
    """None: it failed twice, or its time was up, and the tool is done without."""
    failed: str = ""
    """Why, in a sentence."""


async def call_tool(
    tool: Tool, given: msgspec.Struct, own: ToolContext, seconds: float, clock: Clock, written: str = ""
) -> CalledTool:
    """
    Call a tool with arguments of its type.

    :param seconds: what it may take, with another try.
    :param written: the arguments as a model wrote them; empty: as they are given.
    :raises InvalidArguments: they make no sense, and nothing was done.
    """
    begun, called = clock.time(), CalledTool(None)
    for number in range(TRIES):
        left = begun + seconds - clock.time()
        if number and left < LEAST_SECONDS:
            break
        called = await _try(tool, given, own, left, clock)
        if called.result is not None:
            break
    result, took = called.result or ToolResult(), clock.time() - begun
    arguments = written or msgspec.json.encode(given).decode()
    step = make_tool_step(own.agent, tool.name, arguments, took, result.text, len(result.passages), called.failed)
    own.trace.note(step)
    return called


async def _try(tool: Tool, given: msgspec.Struct, own: ToolContext, seconds: float, clock: Clock) -> CalledTool:
    try:
        async with Deadline(clock, seconds):
            return CalledTool(await tool.call(given, own, seconds))
    except TimeoutError:
        return CalledTool(None, TIME_UP)
    except PortFailed as error:
        return CalledTool(None, str(error))
    except InvalidArguments:
        raise
    except Exception as error:  # whatever the tool is made of: the answer goes on without it
        log.warning("tool.failed", tool=tool.name, error=repr(error))
        return CalledTool(None, BROKE)


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
