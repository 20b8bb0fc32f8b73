"""One call of a tool, whoever makes it: tried once more, then done without; traced."""

from typing import NamedTuple

import msgspec
import structlog

from actors.evidence.trace_steps import make_tool_step
from actors.ports import PortFailed
from bus import Clock
from runtime.resilience.deadline import Deadline
from runtime.tools.tool import InvalidArguments, Tool, ToolContext, ToolResult

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
