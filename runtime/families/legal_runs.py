"""The runs of the legal family in one process: who plays which role, and what each specialist may search."""

import asyncio
from collections.abc import Callable, Sequence
from typing import Any

from actors.legal.drafter import Drafter
from actors.legal.intent_classifier import Classifier
from actors.legal.intent_rules import LanguageRules, load_rules
from actors.legal.merger import Merger
from actors.legal.registrar import Registrar
from actors.legal.specialist import Specialist, Specialty
from actors.legal.workflow import CLASSIFIER, GENERAL, LEGAL, MERGER, REGISTRAR
from actors.ports import Statutes
from bus import Actor
from runtime.engine.run import LiveRun
from runtime.families.family import FamilyRuns, RunDependencies, SharedPorts
from runtime.families.legal import FIELDS, RESEARCH
from runtime.families.legal_sources import list_sources, make_creator, plan_form
from runtime.knowledge.knowledge_index import StatuteIndex
from runtime.observe.recording import record_port
from runtime.settings import Settings
from runtime.tools.shipped.create_document import list_templates

DRAFTER = "document_draft"


class LegalRuns(FamilyRuns):
    """Its runs have no ports of their own."""

    @staticmethod
    def prepare(settings: Settings) -> None:
        list_templates(settings.documents)

    def __init__(self, shared: SharedPorts) -> None:
        roster, twice = shared.roster.of(LEGAL.name), shared.settings.model.second_reading
        statutes: Statutes = record_port(StatuteIndex(shared.folder, shared.workers), Statutes)
        templates = list_templates(shared.settings.documents)

        async def check(texts: Sequence[str], question: str, within: float) -> Sequence[Sequence[str]]:
            return await statutes.find_miscited(texts, question, within=within)

        rules = RuleLoader()

        def specialist(name: str, field: str = "") -> Callable[[RunDependencies], Actor[Any]]:
            spec, colleagues = roster[name], {} if field else roster.colleagues_of(name)

            def make(own: RunDependencies) -> Specialist:
                offered = shared.tools.offer(
                    spec.tools, run=own.run, agent=field or name, trace=own.trace, effects=own.effects
                )
                sources = list_sources(offered)
                plan = None if field else plan_form(spec, sources, shared.documents)
                its = Specialty(spec, sources, colleagues, field, chats=name == GENERAL, plan=plan)
                return Specialist(own.model, its, check, second_reading=twice, trace=own.trace)

            return make

        def draft(own: RunDependencies) -> Drafter:
            spec = roster[DRAFTER]
            offered = shared.tools.offer(spec.tools, run=own.run, agent=DRAFTER, trace=own.trace, effects=own.effects)
            return Drafter(own.model, spec, templates, make_creator(offered))

        super().__init__({
            CLASSIFIER: lambda own: Classifier(own.model, roster, FIELDS, prepare=rules.load),
            MERGER: lambda own: Merger(own.model, roster[MERGER], second_reading=twice),
            REGISTRAR: lambda own: Registrar(shared.tickets, own.run),
            **{field: specialist(RESEARCH, field) for field in FIELDS},
            **{name: specialist(name) for name in roster.workers - {DRAFTER}},
            DRAFTER: draft,
        })  # fmt: skip

    def follow(self, live: LiveRun) -> None:
        """Keep what its agents say of their work for those who begin to watch later."""
        live.remember()


class RuleLoader:
    """
    Loads the rules of a language off the loop, which it would hold up for a third of a second.

    Expressions cannot be handed over by another process, so a thread does it.
    """

    def __init__(self) -> None:
        self._loads: dict[str, asyncio.Future[LanguageRules]] = {}

    async def load(self, language: str) -> LanguageRules:
        """The rules of a language, once they are there; whoever asks meanwhile waits for the same."""
        if (loads := self._loads.get(language)) is None:
            loads = self._loads[language] = asyncio.get_running_loop().run_in_executor(None, load_rules, language)
        return await asyncio.shield(loads)
