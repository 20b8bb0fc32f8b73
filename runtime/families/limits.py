"""The agents that there are and the limits of the configuration, put into the tables of the families."""

from collections.abc import Iterable, Mapping

import msgspec

from actors.roster import COMMON_WORKER, HELPDESK, AgentSpec, Roster
from actors.workflow.tables import MAX_HANDOFFS, FanOut, Limits, Workflow
from actors.workflow.verify import InvalidWorkflow, TooFewHandoffs, verify
from runtime.agent_folder import load_roster
from runtime.config import ConfigError
from runtime.families.family import Family
from runtime.settings import Settings
from runtime.user_text import nearest


def configure_all(families: Iterable[Family], settings: Settings, roster: Roster) -> dict[str, Workflow]:
    """
    The tables of all families, by name.

    :raises ConfigError: no run could end well under the limits, or they are for an agent that there is not.
    """
    flows = {family.name: configure(family, settings, roster) for family in families}
    known = {role for flow in flows.values() for role in flow.limits}.difference(*(each.children for each in families))
    played_by = {role: agent for family in families for role, agent in family.played_by.items()}
    for name, given in settings.agents.limits.items():
        if name in played_by:
            raise ConfigError(f"[agents.{name}] is no agent's: {name} is asked as [agents.{played_by[name]}] says.")
        if name not in known:
            raise ConfigError(f"[agents.{name}] is for an agent that there is not. {nearest(name, known)}")
        if given.model and name in roster.specs and not roster[name].instructions:
            raise ConfigError(f"[agents.{name}] model: no model thinks for {name}. Remove the key.")
    return flows


def configure(family: Family, settings: Settings, roster: Roster | None = None) -> Workflow:
    """
    The table of a family with the agents that there are and the limits of the configuration.

    :raises ConfigError: no run could end well under them, or not at all.
    """
    run, roster = settings.run, roster or load_roster(settings)
    for name in roster.specs.keys() & family.played_by.keys():
        raise ConfigError(f"{roster[name].file}: the name {name} is that of a part of {family.name}. Choose another.")
    flow = family.staff(family.flow, roster)
    try:
        verify(msgspec.structs.replace(flow, max_handoffs=min(flow.max_handoffs, MAX_HANDOFFS)))
    except InvalidWorkflow as error:
        raise ConfigError(f"The table of {flow.name} cannot be used: {error}. Mend it where it is written.") from None
    limits = {role: limit(family.played_by.get(role, role), settings, roster) for role in roles_of(flow)}
    limits |= dict.fromkeys(family.children, Limits(run.max_seconds, 0))  # a whole run, with limits of its own
    flow = msgspec.structs.replace(
        flow, max_handoffs=run.max_handoffs, max_seconds=run.max_seconds, cancel_seconds=run.cancel_seconds,
        default_limits=Limits(run.agent_seconds, run.retries), limits=limits,
    )  # fmt: skip
    try:
        verify(flow, every_way=False)
    except TooFewHandoffs as error:
        raise ConfigError(
            f"[run] max_handoffs is {run.max_handoffs}, but a run of {flow.name} in which all goes well takes "
            f"{error.least}. Set it to a whole number from {error.least} to {MAX_HANDOFFS}."
        ) from None
    except InvalidWorkflow as error:
        raise ConfigError(f"The limits in [run] and [agents] cannot be used: {error}.") from None
    return flow


class AgentRecord(msgspec.Struct, frozen=True, kw_only=True):
    """One agent as it works here."""

    name: str
    workflow: str
    description: str
    intents: tuple[str, ...]
    tools: tuple[str, ...]
    seconds: float
    retries: int
    hands_over_to: tuple[str, ...]
    file: str
    """Empty: it is declared in code."""


def list_agents(families: Iterable[Family], flows: Mapping[str, Workflow], roster: Roster) -> list[AgentRecord]:
    """
    All agents of all tables, in the order in which a table asks them.

    :param flows: as `configure_all` has them.
    """
    return [
        _record(role, flows[family.name], roster)
        for family in families
        for role in roles_of(flows[family.name])
        if role not in family.played_by
    ]


def _record(role: str, flow: Workflow, roster: Roster) -> AgentRecord:
    its = roster.of(flow.name)
    limits, spec = (
        flow.limits.get(role, flow.default_limits),
        roster.specs.get(role, AgentSpec(name=role, description="")),
    )
    return AgentRecord(
        name=role, workflow=flow.name, description=spec.description, tools=spec.tools, file=spec.file,
        intents=tuple(each.name for each in spec.intents), seconds=limits.within, retries=limits.retries,
        hands_over_to=tuple(its.colleagues_of(role)) if role in its.workers else (),
    )  # fmt: skip


def roles_of(flow: Workflow) -> list[str]:
    """All roles of a table, in the order in which it asks them."""
    roles: dict[str, None] = {}
    for step in flow.steps.values():
        its = step.team if isinstance(step, FanOut) else (step.hand_to, *sorted(step.peers))
        roles |= dict.fromkeys(its)
    return list(roles)


def limit(name: str, settings: Settings, roster: Roster) -> Limits:
    """The limits of one agent: its own settings, else its file; of one that solves tickets, else the worker's."""
    names = (name, COMMON_WORKER) if name in roster.of(HELPDESK).workers else (name,)
    given = [each for one in names for each in (settings.agents.limits.get(one), roster.specs.get(one)) if each]
    seconds = next((each.seconds for each in given if each.seconds), settings.run.agent_seconds)
    retries = next((each.retries for each in given if each.retries >= 0), settings.run.retries)
    return Limits(seconds, retries)
