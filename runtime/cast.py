"""The helpdesk workflow as this installation runs it: its limits, and who plays which role."""

import functools
from collections.abc import Mapping

import msgspec

from actors.helpdesk.memory import Memory
from actors.helpdesk.summarization import Summarization
from actors.helpdesk.ticketing import Ticketing
from actors.helpdesk.worker import Worker
from actors.helpdesk.workflow import WORKERS
from actors.ports import Knowledge, Model, Tickets
from actors.ports import Memory as MemoryPort
from actors.workflow import Limits, Workflow
from bus import Cast
from runtime.settings import Settings


def configured(flow: Workflow, settings: Settings) -> Workflow:
    """A workflow with the limits of the configuration."""
    run, agents = settings.run, msgspec.structs.asdict(settings.agents)
    limits: dict[str, Limits] = {}
    for role in ("memory", "ticketing", "worker", "summarization"):
        seconds, retries = agents[f"{role}_seconds"], agents[f"{role}_retries"]
        own = Limits(seconds or run.agent_seconds, run.retries if retries < 0 else retries)
        limits |= dict.fromkeys(WORKERS if role == "worker" else {role}, own)
    return msgspec.structs.replace(
        flow, max_handoffs=run.max_handoffs, max_seconds=run.max_seconds, cancel_seconds=run.cancel_seconds,
        default_limits=Limits(run.agent_seconds, run.retries), limits=limits,
    )  # fmt: skip


def helpdesk_cast(
    run_id: str, model: Model, memory: MemoryPort, knowledge: Knowledge, tickets: Tickets, told: Mapping[str, str]
) -> Cast:
    """
    Who plays which role in one run of the helpdesk workflow; nobody exists before they are asked.

    :param told: each agent's instructions.
    """
    return {
        "memory": functools.partial(Memory, memory, run_id),
        "ticketing": functools.partial(Ticketing, model, tickets, told["ticketing"], run_id),
        "summarization": functools.partial(Summarization, model, told["summarization"]),
        **{role: functools.partial(Worker, model, knowledge, told[role]) for role in WORKERS},
    }
