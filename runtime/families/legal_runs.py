"""The runs of the legal family in one process: who plays which role, and what each specialist may search."""

from collections.abc import Callable, Iterable
from typing import Any

from actors.evidence.passages import SearchHits
from actors.legal.gathering import LegalSource
from actors.legal.intent_classifier import Classifier
from actors.legal.merger import Merger
from actors.legal.registrar import Registrar
from actors.legal.specialist import Specialist, Specialty
from actors.legal.workflow import CLASSIFIER, GENERAL, LEGAL, MERGER, REGISTRAR
from actors.ports import Knowledge
from bus import Actor
from runtime.families.family import FamilyRuns, RunDependencies, SharedPorts
from runtime.families.legal import FIELDS

RESEARCH = "legal_research"
"""Who answers for one field of law where several are asked."""


class LegalRuns(FamilyRuns):
    """Its runs have no ports of their own."""

    def __init__(self, shared: SharedPorts) -> None:
        roster, twice = shared.roster.of(LEGAL.name), shared.settings.model.second_reading
        sources = {each.tool: each for each in _list_sources(shared.knowledge)}

        def specialist(name: str, field: str = "") -> Callable[[RunDependencies], Actor[Any]]:
            spec = roster[name]
            its = Specialty(
                spec, [sources[tool] for tool in spec.tools if tool in sources],
                {} if field else roster.colleagues_of(name), field, chats=name == GENERAL,
            )  # fmt: skip
            return lambda own: Specialist(own.model, its, find_miscited, second_reading=twice, trace=own.trace)

        super().__init__({
            CLASSIFIER: lambda own: Classifier(own.model, roster, FIELDS),
            MERGER: lambda _: Merger(),
            REGISTRAR: lambda own: Registrar(shared.tickets, own.run),
            **{field: specialist(RESEARCH, field) for field in FIELDS},
            **{name: specialist(name) for name in roster.workers},
        })  # fmt: skip


def find_miscited(text: str) -> Iterable[str]:  # noqa: ARG001
    return ()


def _list_sources(knowledge: Knowledge) -> list[LegalSource]:
    async def documents(question: str, within: float) -> SearchHits:
        return await knowledge.search(question, within=within)

    return [LegalSource("search_knowledge", "source_documents", documents)]
