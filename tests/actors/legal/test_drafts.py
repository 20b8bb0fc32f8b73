"""What a specialist's model writes is told while it writes, and then what of it did not stand; only to who looks on."""

from typing import Any

import msgspec
import pytest

from actors.drafting.drafts import HandoverRequest
from actors.evidence.claims import Claim
from actors.legal.output_schemas import IntentDraft, LegalDraft, Reply
from actors.ports import Completion, ModelRequest, PortFailed
from actors.workflow.outcome import AnswerReady, Outcome
from actors.workflow.progress import AnswerText, DraftChecked
from tests.actors.legal.answering import DISMISSED, TWO_FIELDS, Model, legal_stage
from tests.actors.legal.test_legal_runs import GOOD, QUOTE, STATED
from tests.fakes import Stage

INVENTED = "公司应当支付九十九个月工资。"
MIXED = LegalDraft((*GOOD.claims, Claim(INVENTED, 1, QUOTE)))
SURE = IntentDraft("legal_consultation", ("social_labor_law",), 0.9)


class Writes(Model):
    """Writes each draft, a statement at a time, while somebody reads along."""

    def __init__(self, **answers: Any) -> None:
        super().__init__(IntentDraft=SURE, **answers)
        self.read_along: list[str] = []

    async def fill(self, shape: type[Any], task: ModelRequest, *, within: float) -> Completion:
        filled = await super().fill(shape, task, within=within)
        if task.on_text is not None:
            self.read_along.append(shape.__name__)
            start = 0
            for text in [each.text for each in filled.value.claims] if hasattr(filled.value, "claims") else ["你好！"]:
                task.on_text(start, text)
                start += len(text)
        return filled


async def hear(stage: Stage, *, live: bool = True) -> tuple[list[Any], Outcome]:
    heard: list[Any] = []
    stage.live.watch(heard.append, live=live)
    return heard, await stage.end()


@pytest.mark.req("LG-16")
async def test_a_statement_that_is_dropped_was_shown_and_is_named() -> None:
    heard, outcome = await hear(legal_stage(DISMISSED, model=Writes(LegalDraft=MIXED)))

    told = [each for each in heard if isinstance(each, AnswerText | DraftChecked | AnswerReady)]
    agent = "legal_research"
    assert told[:2] == [AnswerText(agent, 0, STATED), AnswerText(agent, len(STATED), INVENTED)]
    assert told[2] == DraftChecked(agent, (INVENTED,))
    assert isinstance(told[3], AnswerReady)
    assert outcome.resolution is not None
    assert INVENTED not in outcome.resolution.text


async def test_a_statement_that_cites_what_is_not_there_is_named_too() -> None:
    stage = legal_stage(
        DISMISSED, model=Writes(LegalDraft=GOOD), miscited=lambda text: ("第九百条",) if text == STATED else ()
    )
    heard, _ = await hear(stage)

    assert DraftChecked("legal_research", (STATED,)) in heard


async def test_where_everything_stands_nothing_is_named() -> None:
    heard, _ = await hear(legal_stage(DISMISSED, model=Writes(LegalDraft=GOOD)))

    assert [each for each in heard if isinstance(each, DraftChecked)] == [DraftChecked("legal_research")]


@pytest.mark.req("LG-16", "LG-18")
async def test_of_several_specialists_each_tells_its_own() -> None:
    heard, _ = await hear(legal_stage(TWO_FIELDS, model=Writes(LegalDraft=GOOD)))

    agents = {each.agent for each in heard if isinstance(each, AnswerText)}
    assert agents == {each.agent for each in heard if isinstance(each, DraftChecked)}


async def test_talk_is_told_while_it_is_written() -> None:
    chat = Writes(Reply=Reply("你好！"))
    chat.answers["IntentDraft"] = IntentDraft("general_chat", (), 0.9)

    heard, _ = await hear(legal_stage("嗯嗯", model=chat))

    assert [each for each in heard if isinstance(each, AnswerText | DraftChecked)] == [
        AnswerText("legal_general", 0, "你好！"), DraftChecked("legal_general"),
    ]  # fmt: skip


@pytest.mark.req("LG-16", "LG-32")
@pytest.mark.parametrize("fails", [False, True])
async def test_a_draft_that_no_answer_comes_of_is_concluded_all_the_same(fails: bool) -> None:
    class Gives(Writes):
        """Writes, and then passes it on or breaks down."""

        async def fill(self, shape: type[Any], task: ModelRequest, *, within: float) -> Completion:
            filled = await super().fill(shape, task, within=within)
            if task.agent != "legal_research" or shape is not LegalDraft:
                return filled
            if fails:
                raise PortFailed("It broke off.")
            pass_on = HandoverRequest(to="case_analysis", reason="It asks for judgments.")
            return msgspec.structs.replace(filled, value=LegalDraft(pass_on=pass_on))

    general = IntentDraft("legal_consultation", (), 0.9)
    model = Gives(LegalDraft=GOOD)
    model.answers["IntentDraft"] = general
    heard, outcome = await hear(legal_stage(DISMISSED, model=model))

    told = [each for each in heard if isinstance(each, AnswerText | DraftChecked)]
    assert told[:2] == [AnswerText("legal_research", 0, STATED), DraftChecked("legal_research", (STATED,))]
    assert outcome.resolution is not None


async def test_who_only_keeps_what_is_said_has_nothing_written_for_it() -> None:
    model = Writes(LegalDraft=MIXED)

    heard, _ = await hear(legal_stage(DISMISSED, model=model), live=False)

    assert model.read_along == []
    assert not [each for each in heard if isinstance(each, AnswerText | DraftChecked)]


async def test_a_repair_is_not_told_as_an_answer() -> None:
    model = Writes(LegalDraft=MIXED, Draft=LegalDraft((Claim(STATED, 1, QUOTE),)))

    await hear(legal_stage(DISMISSED, model=model))

    assert [shape for shape, _ in model.asked].count("Draft") == 1, "it was asked to put it right"
    assert model.read_along == ["LegalDraft"]
