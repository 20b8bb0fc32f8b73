"""Documents: which one is meant, what is taken from the question, what is asked, and that nothing is invented."""

from typing import Any

import pytest

from actors.legal.drafter import Drafter
from actors.legal.output_schemas import FieldsDraft, FilledField, IntentDraft
from actors.workflow.outcome import Outcome
from actors.workflow.user_input import AnswerRound, GivenAnswer
from runtime.documents.template_folder import load_templates
from runtime.families.legal_sources import make_creator
from runtime.settings import Settings
from runtime.tools.toolbox import OfferedTools
from tests.actors.legal.answering import ROSTER, Model, legal_stage, make_context

TEMPLATES = tuple(load_templates(Settings()).values())
CREATE = make_creator(OfferedTools((), make_context(Settings())))
COMPLAINT = "请帮我写一份民事起诉状。原告：张三。被告：李四。"


def drafting(**answers: Any) -> Model:
    return Model(IntentDraft=IntentDraft("document_draft", (), 0.9), **answers)


async def end(text: str, model: Model, *rounds: AnswerRound) -> Outcome:
    stage = legal_stage(
        text, model=model, answers=rounds,
        roles={"document_draft": lambda: Drafter(model, ROSTER["document_draft"], TEMPLATES, CREATE)},
    )  # fmt: skip
    return await stage.end()


@pytest.mark.req("LG-12")
async def test_what_is_not_clear_is_asked_with_the_titles_to_choose_from() -> None:
    outcome = await end("请帮我起草一份文书。", drafting())

    assert outcome.status == "needs_input"
    (question,) = outcome.questions
    assert "民事起诉状" in question.choices


@pytest.mark.req("LG-12")
async def test_what_the_question_does_not_say_is_asked_and_what_it_says_is_not() -> None:
    outcome = await end(COMPLAINT, drafting())

    names = {each.name for each in outcome.questions}
    assert outcome.status == "needs_input"
    assert names.isdisjoint({"plaintiff", "defendant"})
    assert any(not each.optional for each in outcome.questions)


@pytest.mark.req("LG-12", "LG-13")
async def test_with_the_answers_the_document_is_made_of_what_was_given_and_of_nothing_else() -> None:
    asked = (await end(COMPLAINT, drafting())).questions
    given = tuple(GivenAnswer(each.name, f"值{n}号") for n, each in enumerate(asked) if not each.optional)

    outcome = await end(COMPLAINT, drafting(), AnswerRound("R-0", given))

    assert outcome.resolution is not None, outcome.questions
    text = outcome.resolution.text
    assert all(each.value in text for each in given)
    assert "张三" in text
    assert "______" in text, "what may stay blank is visibly blank"
    assert outcome.status == "suggested"


async def test_a_model_may_only_point_at_what_the_question_says() -> None:
    fields = FieldsDraft((
        FilledField("court", "向海淀区人民法院起诉", "海淀区人民法院"),
        FilledField("claims", "要求赔偿一百万元", "一百万元"),
    ))  # fmt: skip

    outcome = await end(COMPLAINT + "我想向海淀区人民法院起诉。", drafting(FieldsDraft=fields))

    names = {each.name for each in outcome.questions}
    assert "court" not in names
    assert "claims" in names, "that quote does not stand in the question"
