"""A legal run for tests: sources and models that say what a test wants them to."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

import msgspec

from actors.drafting.drafts import SecondReading
from actors.evidence.passages import NamedDocument, Passage
from actors.extractive import Extractive
from actors.legal.classification import Classification
from actors.legal.gathering import LegalSource
from actors.legal.intent_classifier import Classifier
from actors.legal.merger import Merger
from actors.legal.registrar import Registrar
from actors.legal.specialist import CASES, Specialist, Specialty
from actors.legal.workflow import GENERAL
from actors.ports import Completion, ModelRequest, PortFailed, Untraced
from actors.workflow.outcome import AnswerRound
from bus import Actor
from runtime.agent_folder import load_roster
from runtime.families.legal import FAMILY, FIELDS, LegalOptions
from runtime.families.legal_sources import make_source, plan_form
from runtime.families.limits import configure
from runtime.settings import Settings
from runtime.tickets import Ticket
from runtime.tools.shipped.regulation_search import TOOL
from runtime.tools.tool import ToolContext, ToolResult
from tests.fakes import Knows, Stage, TicketTable, approve

ROSTER = load_roster(Settings()).of("legal")
FLOW = configure(FAMILY, Settings(), load_roster(Settings()))
DISMISSED = "公司没有提前三十天通知就解除劳动合同，我能要求经济补偿吗？"
TWO_FIELDS = "公司拖欠工资还把我打伤了，经理会不会被判刑，工伤怎么赔偿？"
NOTICE = Passage(
    "statute:1", "statutes", "《劳动合同法》第四十条", "2012-12-28",
    "用人单位提前三十日以书面形式通知劳动者本人或者额外支付劳动者一个月工资后，可以解除劳动合同。", 0, 45,
)  # fmt: skip


def unsure(*_: object) -> Classification:
    """Rules that know nothing."""
    return Classification("general_chat", "", 0.1, (), ())


def make_context(settings: Settings) -> ToolContext:
    """Of calls that use nothing of a process but its settings."""
    ports: Any = type("Ports", (), {"settings": settings})
    return ToolContext("R-1", "a", ports, cast("Any", None), Untraced())


class Source:
    """Finds these passages, once it has failed so often."""

    def __init__(self, *passages: Passage, fails: int = 0) -> None:
        self.passages, self.fails = passages, fails
        self.asked: list[str] = []
        self.abstain = ""

    async def search(self, asked: Any, own: ToolContext, within: float) -> ToolResult:
        assert within > 0
        self.asked.append(asked.query)
        if len(self.asked) <= self.fails:
            raise PortFailed("It is down.")
        return ToolResult(self.abstain, self.passages)

    def offer(self, names: Sequence[str]) -> list[LegalSource]:
        """Itself as the search that an agent's file names first."""
        tool = TOOL._replace(name=CASES if CASES in names else TOOL.name, call=self.search, title="source_statutes")
        return [make_source(tool, make_context(Settings()))]


class Named(Knows):
    """`actors.ports.Documents` of which every text names this one."""

    def __init__(self, document: NamedDocument | None) -> None:
        super().__init__()
        self.document = document

    async def find_named(self, text: str, *, within: float) -> NamedDocument | None:
        assert text
        assert within > 0
        return self.document

    async def digest_sections(self, quotes: Sequence[tuple[str, str]], *, within: float) -> list[str]:
        assert within > 0
        text = self.document.text if self.document else ""
        return [text if quote in text else "" for _, quote in quotes]


class Model:
    """Says these answers by their type; without one, what is said without a model."""

    def __init__(self, **answers: Any) -> None:
        self.answers = answers
        self.asked: list[tuple[str, ModelRequest]] = []
        self.plain = Extractive(dict(FAMILY.answers))

    async def fill(self, shape: type[Any], task: ModelRequest, *, within: float) -> Completion:
        self.asked.append((shape.__name__, task))
        if shape is SecondReading and shape.__name__ not in self.answers:
            return Completion(approve(task), judged=True)
        if (answer := self.answers.get(shape.__name__)) is None:
            return await self.plain.fill(shape, task, within=within)
        passages = task.findings.passages if task.findings else ()
        return Completion(answer(task) if callable(answer) else answer, passages, judged=True)


def legal_stage(
    text: str, *, model: Any = None, source: Source | None = None,
    miscited: Callable[[str], tuple[str, ...]] = lambda _: (), rules: Any = unsure,
    document: NamedDocument | None = None,
    roles: Mapping[str, Callable[[], Actor[Any]]] | None = None, answers: tuple[AnswerRound, ...] = (),
    second_reading: bool = True, background: str = "",
) -> Stage:  # fmt: skip
    model, tickets, source = model or Model(), TicketTable(), source or Source(NOTICE)

    async def check(texts: Sequence[str], question: str, within: float) -> list[tuple[str, ...]]:
        assert question
        assert within > 0
        return [miscited(each) for each in texts]

    def make(name: str, field: str = "") -> Callable[[], Actor[Any]]:
        colleagues = {} if field else ROSTER.colleagues_of(name)
        sources = source.offer(ROSTER[name].tools)
        plan = None if field else plan_form(ROSTER[name], sources, Named(document))
        its = Specialty(ROSTER[name], sources, colleagues, field, chats=name == GENERAL, plan=plan)
        return lambda: Specialist(model, its, check, second_reading=second_reading)

    cast: dict[str, Callable[[], Actor[Any]]] = {
        "intent_classifier": lambda: Classifier(model, ROSTER, FIELDS, rules),
        "opinion_merger": lambda: Merger(model, ROSTER["opinion_merger"]),
        "registrar": lambda: Registrar(tickets, "R-1"),
        **{field: make("legal_research", field) for field in FIELDS},
        **{name: make(name) for name in ROSTER.workers},
        **(roles or {}),
    }
    ticket = Ticket(id="T-1", text=text, requester="li@firm.example", options=LegalOptions(background))
    case = FAMILY.make_case(ticket, Settings())
    case = msgspec.structs.replace(case, answers=answers)
    return Stage(flow=FLOW, case=case, tickets=tickets, cast=cast)
