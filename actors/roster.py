"""How agents are declared: who each of them is, what it takes on, and to whom it may hand over. Pure."""

import dataclasses
import functools
import re
from collections.abc import Iterable, Mapping

import msgspec

HELPDESK = "helpdesk"
"""The family of agents whose file names none."""
COMMON_WORKER = "worker"
"""Takes the tickets that no specialist takes, and those of specialists that are gone."""
OTHER = "other"
"""The intent of a ticket that none of the declared ones fits."""
OUTWEIGHS = 7
"""One key word of a specialist's counts more than two of the general words, which count three at most."""
WITHOUT_SPACES = frozenset({"zh", "ja", "ko", "th"})
"""Languages in which a word may stand anywhere, not only between spaces."""


@dataclasses.dataclass(frozen=True, eq=False)
class Intent:
    """One kind of ticket: what it means for a model, and the words that speak for it where there is none."""

    name: str
    means: str
    words: Mapping[str, tuple[str, ...]]
    """By language; each a word, or a regular expression."""
    weight: int
    """What one of its words counts beside those of other intents."""
    agent: str
    """Who takes such tickets."""

    @functools.cached_property
    def pattern(self) -> re.Pattern[str]:
        """What finds its words in a text."""
        spaced = [each for language, its in self.words.items() if language not in WITHOUT_SPACES for each in its]
        anywhere = [each for language, its in self.words.items() if language in WITHOUT_SPACES for each in its]
        parts = [rf"\b(?:{'|'.join(spaced)})\b"] if spaced else []
        return re.compile("|".join([*parts, *anywhere]), re.IGNORECASE)

    def __str__(self) -> str:
        return f"{self.name}: {self.means}"


class AgentSpec(msgspec.Struct, frozen=True, kw_only=True):
    """One agent, as its Markdown file declares it."""

    name: str
    description: str
    family: str = HELPDESK
    """The family whose tickets it works on."""
    handles: str = ""
    """The tickets it solves, as its colleagues are told; empty: it solves none."""
    intents: tuple[Intent, ...] = ()
    tools: tuple[str, ...] = ()
    """What a model that thinks for it may call."""
    model: str = ""
    """The model that thinks for it; empty: the configured one."""
    seconds: float = 0.0
    """What one step of its may take; 0: what is configured for all."""
    retries: int = -1
    """How often it is asked again; -1: what is configured for all."""
    hands_over_to: tuple[str, ...] | None = None
    """None: to whoever takes tickets."""
    instructions: str = ""
    """Its system prompt; empty: no model thinks for it."""
    file: str = ""


class Roster:
    """All agents of a process. Who takes which ticket, and from whom, follows from it and from nothing else."""

    def __init__(self, specs: Iterable[AgentSpec]) -> None:
        self.specs: Mapping[str, AgentSpec] = {each.name: each for each in specs}
        self.workers = frozenset(name for name, each in self.specs.items() if each.handles)
        """Those that answer tickets from the knowledge base."""
        takers = [each for each in self.specs.values() if each.handles or each.intents]
        self.takers = frozenset(each.name for each in takers)
        """Those that a ticket may be handed to."""
        takers.sort(key=lambda each: each.name == COMMON_WORKER)  # of two that fit as well, the specialist
        self.intents = tuple(intent for each in takers for intent in each.intents)
        self._intents = {each.name: each for each in self.intents}

    def of(self, family: str) -> "Roster":
        """Those of one family: nobody else takes its tickets."""
        return Roster(each for each in self.specs.values() if each.family == family)

    def __getitem__(self, name: str) -> AgentSpec:
        return self.specs[name]

    def find_intent(self, name: str) -> Intent | None:
        """The intent of this name, as a model may write it."""
        return self._intents.get(name.strip().lower())

    def colleagues_of(self, name: str) -> dict[str, str]:
        """To whom an agent may hand a ticket over, and what each of them handles."""
        allowed = self.specs[name].hands_over_to
        names = self.takers if allowed is None else self.takers.intersection(allowed)
        return {each: self.specs[each].handles for each in sorted(names - {name})}
