"""The helpdesk workflow as this installation runs it: its limits, and who plays which role."""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, Protocol

import msgspec

from actors.helpdesk.memory import Memory
from actors.helpdesk.summarization import Summarization
from actors.helpdesk.ticketing import Ticketing
from actors.helpdesk.worker import Worker
from actors.helpdesk.workflow import RESEARCHER, WORKERS
from actors.ports import Knowledge, Model, Tickets
from actors.ports import Memory as MemoryPort
from actors.workflow.tables import MAX_HANDOFFS, Limits, Workflow
from actors.workflow.verify import InvalidWorkflow, TooFewHandoffs, verify
from bus import Actor
from runtime.child_workflow import Children
from runtime.config import ConfigError
from runtime.settings import Settings


def configure(flow: Workflow, settings: Settings) -> Workflow:
    """
    A workflow with the limits of the configuration.

    :raises ConfigError: no run could end well under them, or not at all.
    """
    run, agents = settings.run, msgspec.structs.asdict(settings.agents)
    limits: dict[str, Limits] = {}
    for role in {name.rpartition("_")[0] for name in agents}:
        seconds, retries = agents[f"{role}_seconds"], agents[f"{role}_retries"]
        own = Limits(seconds or run.agent_seconds, run.retries if retries < 0 else retries)
        limits |= dict.fromkeys(WORKERS if role == "worker" else {role}, own)
    limits[RESEARCHER] = Limits(run.max_seconds, 0)  # a whole run, with steps of its own
    flow = msgspec.structs.replace(
        flow, max_handoffs=run.max_handoffs, max_seconds=run.max_seconds, cancel_seconds=run.cancel_seconds,
        default_limits=Limits(run.agent_seconds, run.retries), limits=limits,
    )  # fmt: skip
    try:
        verify(flow)
    except TooFewHandoffs as error:
        raise ConfigError(
            f"[run] max_handoffs is {run.max_handoffs}, but a run of {flow.name} in which all goes well takes "
            f"{error.least}. Set it to a whole number from {error.least} to {MAX_HANDOFFS}."
        ) from None
    except InvalidWorkflow as error:
        raise ConfigError(f"The limits in [run] and [agents] cannot be used: {error}.") from None
    return flow


class RunDependencies(NamedTuple):
    """What is one run's own."""

    run: str
    ticket: str
    model: Model
    children: Children


Roles = Mapping[str, Callable[[RunDependencies], Actor[Any]]]


class SharedPorts(Protocol):
    """The ports that all runs share."""

    @property
    def memory(self) -> MemoryPort: ...
    @property
    def knowledge(self) -> Knowledge: ...
    @property
    def tickets(self) -> Tickets: ...


def helpdesk_roles(
    world: SharedPorts, told: Mapping[str, str], researcher: Callable[[RunDependencies], Actor[Any]]
) -> Roles:
    """
    Who plays which role in the runs of the helpdesk workflow; nobody exists before they are asked.

    :param told: each agent's instructions.
    :param researcher: takes the tickets that ask for a report.
    """

    def worker(role: str) -> Callable[[RunDependencies], Actor[Any]]:
        return lambda own: Worker(own.model, world.knowledge, told[role])

    return {
        "memory": lambda own: Memory(world.memory, own.run),
        "ticketing": lambda own: Ticketing(own.model, world.tickets, told["ticketing"], own.run),
        "summarization": lambda own: Summarization(own.model, told["summarization"]),
        **{role: worker(role) for role in WORKERS},
        RESEARCHER: researcher,
    }
