"""What a replay does otherwise than then: it asks another model, or one with the edited prompt of an agent."""

from collections.abc import Sequence
from pathlib import Path

import msgspec

from actors.roster import Roster
from runtime.agent_folder import load_roster
from runtime.front_matter import InvalidFrontMatter, split
from runtime.llm.model_choice import chosen
from runtime.service_error import ServiceError
from runtime.settings import Settings
from runtime.user_text import display, nearest

FORMS = "model=NAME or prompt=AGENT:FILE"


class Change(msgspec.Struct, frozen=True):
    """Nothing of it: all is answered as it was recorded."""

    model: str = ""
    """Is asked in place of every recorded answer of a model."""
    prompts: dict[str, str] = {}
    """Instructions by agent; these agents ask the configured model."""

    def __bool__(self) -> bool:
        return bool(self.model or self.prompts)

    def asks(self, agent: str) -> bool:
        """Whether what an agent thinks is asked of a model now."""
        return bool(self.model) or agent in self.prompts

    def apply(self, settings: Settings) -> Settings:
        """With the model that is to be asked."""
        if not self.model:
            return settings
        return msgspec.structs.replace(settings, model=msgspec.structs.replace(settings.model, name=self.model))


def read_change(words: Sequence[str], settings: Settings) -> Change:
    """
    What `--with` names.

    :raises ServiceError: it is none of the forms, there is no such agent or file, or no model is configured.
    """
    model, prompts = "", dict[str, str]()
    for word in words:
        kind, _, value = word.partition("=")
        agent, _, file = value.partition(":")
        if kind == "model" and value:
            model = value
        elif kind == "prompt" and agent and file:
            prompts[agent] = _read_prompt(agent, file, load_roster(settings))
        else:
            raise ServiceError(f"--with takes {FORMS}, not {display(word)}.")
    if words and chosen(settings.model) != "openai":
        raise ServiceError("A model is asked for this, and none is configured: set OPENAI_API_KEY or OPENAI_BASE_URL.")
    return Change(model, prompts)


def _read_prompt(agent: str, file: str, roster: Roster) -> str:
    """The instructions in a file: all of it, or what stands below the keys of an agent's file."""
    thinking = [name for name, spec in roster.specs.items() if spec.instructions]
    if agent not in thinking:
        raise ServiceError(f"No agent that a model thinks for is called {display(agent)}. {nearest(agent, thinking)}")
    try:
        text = Path(file).read_text(encoding="utf-8")
    except (OSError, UnicodeError) as error:
        raise ServiceError(f"{display(file)} cannot be read as text ({type(error).__name__}).") from None
    if text.startswith("---\n"):
        try:
            text = "\n".join(split(text)[1])
        except InvalidFrontMatter as error:
            raise ServiceError(f"{file}, line {error.line}: {error.sentence}") from None
    if not text.strip():
        raise ServiceError(f"{display(file)} is empty. Write what {agent} does.")
    return text.strip()
