"""The limits of the configuration, put into the tables of the families."""

import msgspec

from actors.workflow.tables import MAX_HANDOFFS, Limits, Workflow
from actors.workflow.verify import InvalidWorkflow, TooFewHandoffs, verify
from runtime.config import ConfigError
from runtime.families.family import Family
from runtime.settings import Settings


def configure(family: Family, settings: Settings) -> Workflow:
    """
    The table of a family with the limits of the configuration.

    :raises ConfigError: no run could end well under them, or not at all.
    """
    run, flow = settings.run, family.flow
    flow = msgspec.structs.replace(
        flow, max_handoffs=run.max_handoffs, max_seconds=run.max_seconds, cancel_seconds=run.cancel_seconds,
        default_limits=Limits(run.agent_seconds, run.retries), limits=_limits(family, settings),
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


def _limits(family: Family, settings: Settings) -> dict[str, Limits]:
    """By role; one that a whole run plays has all the time there is, for it has limits of its own."""
    run, agents = settings.run, msgspec.structs.asdict(settings.agents)
    limits = {}
    for role in {name.rpartition("_")[0] for name in agents}:
        seconds, retries = agents[f"{role}_seconds"], agents[f"{role}_retries"]
        limits[role] = Limits(seconds or run.agent_seconds, run.retries if retries < 0 else retries)
    limits |= {role: limits[other] for role, other in family.limits_as.items()}
    return limits | dict.fromkeys(family.children, Limits(run.max_seconds, 0))
