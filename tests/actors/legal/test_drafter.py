"""Documents: which one is meant, what is taken from the question, what is asked, and that nothing is invented."""

from typing import Any

import pytest

from actors.legal.drafter import Drafter
from actors.legal.output_schemas import FieldsDraft, FilledField, IntentDraft
from actors.ports import PortFailed
from actors.text.catalogue import say
from actors.workflow.outcome import AnswerRound, GivenAnswer, Outcome
from runtime.documents.template_folder import load_templates
from runtime.families.legal_sources import make_creator
from runtime.settings import Settings
from runtime.tools.shipped.create_document import TOOL
from runtime.tools.toolbox import OfferedTools
from tests.actors.legal.answering import ROSTER, Model, legal_stage, make_context

TEMPLATES = tuple(load_templates(Settings()).values())
CREATE = make_creator(OfferedTools((TOOL,), make_context(Settings())))
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


@pytest.mark.req("LG-12", "LG-13")
async def test_a_complaint_told_in_running_prose_is_written_without_a_question() -> None:
    told = (
        "我叫张三，想起诉李四。2025年3月1日，他向我借款5万元，约定半年后归还，至今没有还。被告住在上海市浦东新区某某路1号。"
        "请求法院判令他返还借款5万元。我想向上海市浦东新区人民法院起诉，请帮我写一份民事起诉状。"
    )

    outcome = await end(told, drafting())

    assert outcome.status == "suggested", outcome.questions
    assert outcome.resolution is not None
    text = outcome.resolution.text
    assert text.startswith("# 民事起诉状")
    assert "**原告**：张三" in text
    assert "2025年3月1日，他向我借款5万元，约定半年后归还，至今没有还。" in text
    assert text.endswith(f"\n\n---\n{say('legal_disclaimer', 'zh')}"), "a document has the disclaimer, too"


@pytest.mark.req("LG-12")
async def test_a_name_within_another_document_is_asked_about_and_stands_first_of_the_choices() -> None:
    (question,) = (await end("写一份解除租赁合同的通知", drafting())).questions

    assert (question.ask, question.choices[0]) == (say("legal_which_document", "zh"), "房屋租赁合同")


@pytest.mark.req("LG-12", "LG-13")
async def test_what_no_template_is_for_is_said_and_a_plain_letter_is_offered() -> None:
    (question,) = (await end("请帮我起草一份离婚协议书。", drafting())).questions
    assert question.ask == say("legal_no_template", "zh")
    assert {"普通信函", "房屋租赁合同", "辞职信", "答辩状", "民事上诉状", "授权委托书"} <= set(question.choices)

    chosen = AnswerRound("R-0", (GivenAnswer("document", "普通信函"),))
    asked = (await end("请帮我起草一份离婚协议书。", drafting(), chosen)).questions

    letter = next(each for each in TEMPLATES if each.name == "letter_zh")
    assert {each.name for each in asked} <= {each.name for each in letter.fields}
    assert asked


@pytest.mark.req("LG-12")
async def test_two_documents_that_are_asked_for_at_once_are_not_chosen_between() -> None:
    (question,) = (await end("写一份起诉状，再写一份授权委托书", drafting())).questions

    assert set(question.choices[:2]) == {"民事起诉状", "授权委托书"}


@pytest.mark.req("LG-13")
@pytest.mark.parametrize("language", ["zh", "en"])
def test_what_people_ask_for_first_has_a_template_in_each_language(language: str) -> None:
    kinds = ("complaint", "defence", "appeal", "lease", "resignation", "power_of_attorney", "lawyers_letter", "letter")

    assert {f"{each}_{language}" for each in kinds} <= {each.name for each in TEMPLATES}


async def test_a_model_may_only_point_at_what_the_question_says() -> None:
    fields = FieldsDraft((
        FilledField("court", "向海淀区人民法院起诉", "海淀区人民法院"),
        FilledField("claims", "要求赔偿一百万元", "一百万元"),
    ))  # fmt: skip

    outcome = await end(COMPLAINT + "我想向海淀区人民法院起诉。", drafting(FieldsDraft=fields))

    names = {each.name for each in outcome.questions}
    assert "court" not in names
    assert "claims" in names, "that quote does not stand in the question"


async def test_an_agent_whose_file_does_not_name_the_tool_makes_no_document() -> None:
    create = make_creator(OfferedTools((), make_context(Settings())))

    with pytest.raises(PortFailed, match="put create_document among the agent's `tools`"):
        await create("complaint", {}, COMPLAINT, 1.0)
