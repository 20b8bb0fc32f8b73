"""The agents of this process: those that ship with the product, and the specialists that a user adds as files."""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec

import actors
from actors.roster import COMMON_WORKER, HELPDESK, OTHER, AgentSpec, Roster
from actors.workflow.tables import ORCHESTRATOR
from runtime.agent_files import AgentFile
from runtime.settings import AgentsSettings, ConfigError, Settings
from runtime.tools.tool_registry import list_names
from runtime.user_text import display, nearest

FOLDER = Path(actors.__file__).parent / "prompts"
RULES = FOLDER / "shared"
"""What every agent of a family that solves tickets is told besides what is its own, a file a family."""
RESERVED = frozenset({ORCHESTRATOR, "folder", "tools", "organisation", "tone", "instructions", OTHER})
"""Names that mean something else where agents are named."""
SPECIALISTS = 64
"""All are named to each other and to the analysis of every ticket."""


def load_roster(settings: Settings, *besides: Path) -> Roster:
    """
    All agents.

    :param besides: files of specialists that are not in the user's folder, or not yet.
    :raises ConfigError: a file of the user's cannot be used; the sentence names file and line.
    """
    tools = list_names(settings)
    shipped = [AgentFile(file, tools) for file in sorted(FOLDER.glob("*.md"))]
    files = {Path(os.path.realpath(file)): file for file in (*_find_own(settings.agents.folder), *besides)}
    own = [AgentFile(file, tools) for place, file in files.items() if place.parent != FOLDER.resolve()]
    for number, file in enumerate(own):
        _check_specialist(file, [*shipped, *own[:number]])
    for file in (*shipped, *own):
        _check_colleagues(file, Roster(each.spec for each in (*shipped, *own)).of(file.spec.family))
    rules = {file.stem: file.read_text(encoding="utf-8").strip() for file in RULES.glob("*.md")}
    return Roster(_instruct(each.spec, rules, settings.agents) for each in (*shipped, *own))


def _check_specialist(file: AgentFile, others: Sequence[AgentFile]) -> None:
    """
    Whether an agent can solve tickets beside the others.

    :raises AgentFileError: with what is wrong.
    """
    spec = file.spec
    names = {each.spec.name: each.file for each in others}
    families = {each.spec.family for each in others if each.spec.handles}
    if spec.name in RESERVED:
        raise file.refuse(f"the name {display(spec.name)} is reserved. Choose another.", "name")
    if spec.name in names:
        raise file.refuse(f"the name {display(spec.name)} is that of {names[spec.name]}. Choose another.", "name")
    for key in ("handles", "intents"):
        if not getattr(spec, key):
            raise file.refuse(f"the key `{key}` is missing: without it no ticket reaches this agent.")
    intents = {intent.name: each.file for each in others for intent in each.spec.intents}
    for intent in spec.intents:
        if not intent.words:
            raise file.refuse("the key `words` is missing.", "intents", intent.name)
        if intent.name in intents or intent.name in RESERVED:
            whose = f"is one of {intents[intent.name]}" if intent.name in intents else "is reserved"
            raise file.refuse(f"the intent {display(intent.name)} {whose}. Choose another.", "intents", intent.name)
    if spec.family not in families:
        raise file.refuse(f"there is no family {display(spec.family)}. {nearest(spec.family, families)}", "family")
    file.check_words()
    if not spec.instructions:
        raise file.refuse(f"nothing stands below the keys. Say there what {spec.name} does, and by which rules.")


def _check_colleagues(file: AgentFile, roster: Roster) -> None:
    takers = roster.takers - {file.spec.name}
    for name in file.spec.hands_over_to or ():
        if name not in takers:
            raise file.refuse(f"{display(name)} takes no tickets from it. {nearest(name, takers)}", "hands_over_to")


def _find_own(folder: str) -> list[Path]:
    """The user's files, in the order of their names."""
    if not folder:
        return []
    try:
        found = sorted(each for each in Path(folder).iterdir() if each.suffix == ".md")
    except OSError as error:
        raise ConfigError(f"The folder [agents] folder names, {folder}, cannot be read ({error.strerror}).") from None
    if len(found) > SPECIALISTS:
        raise ConfigError(f"{folder} has {len(found)} agents, and there may be {SPECIALISTS}. Take some out.")
    return found


def _instruct(spec: AgentSpec, rules: Mapping[str, str], settings: AgentsSettings) -> AgentSpec:
    """
    An agent with its whole system prompt: first what its whole family is told, which servers find in their caches.

    The user's own part stands before the rules that nobody may change.
    """
    common = spec.handles and spec.family == HELPDESK
    limits = [settings.limits.get(name) for name in ((spec.name, COMMON_WORKER) if common else (spec.name,))]
    model = limits[0].model if limits[0] and limits[0].model else spec.model
    model = model or next((each.model for each in limits if each), "")
    if not spec.instructions:
        return msgspec.structs.replace(spec, model=model)
    house = [line for line in (
        f"You work for {settings.organisation}." if settings.organisation else "",
        f"Write to people in this tone: {settings.tone}." if settings.tone else "",
        f"The rules of the house:\n{settings.instructions.strip()}" if settings.instructions.strip() else "",
    ) if line]  # fmt: skip
    parts = [*house, *([rules[spec.family]] if spec.handles else ()), spec.instructions]
    return msgspec.structs.replace(spec, model=model, instructions="\n\n".join(parts))
