"""Legal questions from the first handoff to the last: who answers, who stands in, what a person is shown."""

import re
from typing import Any

import msgspec
import pytest

from actors.drafting.drafts import SecondReading, StatementVerdict
from actors.evidence.claims import Citation, Claim, Resolution
from actors.evidence.shortfalls import Shortfall, explain_shortfalls
from actors.legal.classification import SURE, Classification, classify
from actors.legal.merger import merge
from actors.legal.messages import OpinionGiven, Stated
from actors.legal.output_schemas import Disagreement, IntentDraft, LegalDraft, MergedDraft, Reply
from actors.legal.workflow import LEGAL, SEATS, LegalCase, State
from actors.ports import BudgetSpent, Completion, ModelFailed, ModelRequest, PortFailed
from actors.text.catalogue import say, say_name
from actors.workflow.outcome import EndReason, Outcome
from actors.workflow.tables import FanOut, Limits, MemberResult
from actors.workflow.verify import verify
from runtime.agent_folder import load_roster
from runtime.families.legal import FAMILY, LegalOptions
from runtime.families.limits import configure
from runtime.settings import AgentSettings, AgentsSettings, Settings
from runtime.tickets import Ticket
from runtime.tools.shipped.regulation_search import Articles
from runtime.tools.tool import ToolContext, ToolResult
from tests.actors.legal.answering import DISMISSED, FLOW, NOTICE, TWO_FIELDS, Model, Source, legal_stage
from tests.fakes import Hangs, Says, targets

DISCLAIMER = say("legal_disclaimer", "zh")
QUOTE = "用人单位提前三十日以书面形式通知劳动者本人或者额外支付劳动者一个月工资后，可以解除劳动合同"
STATED = "提前三十日书面通知或者额外支付一个月工资后，用人单位可以解除劳动合同。"
GOOD = LegalDraft((Claim(STATED, 1, QUOTE),))


def sure(intent: str, *fields: str) -> Model:
    return Model(IntentDraft=IntentDraft(intent, fields, 0.9), LegalDraft=GOOD)


def state(*texts: str, source: str = "statute:1") -> OpinionGiven:
    """An opinion that says these, each borne out by an article with these words in it."""
    citations = tuple(
        Citation(n, f"{source}.{n}", f"《劳动合同法》第{n}条", "", f"第{n}条：{text}", 0, 40)
        for n, text in enumerate(texts, 1)
    )
    stated = tuple(Stated(text, n) for n, text in enumerate(texts, 1))
    resolution = Resolution("\n".join(texts), citations, "resolved")
    return OpinionGiven(resolution=resolution, advice=True, unavailable=(), degraded="", statements=stated)


def quote(*citations: Citation) -> OpinionGiven:
    """An opinion without a model: articles, quoted."""
    stated = tuple(Stated(each.quote, each.number) for each in citations)
    resolution = Resolution("\n".join(each.quote for each in citations), citations)
    return OpinionGiven(resolution=resolution, advice=True, unavailable=(), degraded="", statements=stated)


def merged(*opinions: OpinionGiven | None) -> str:
    """What rules make of these, of labour law, criminal law and civil law."""
    roles = ("social_labor_law", "criminal_law", "civil_law")
    found = merge(tuple(MemberResult(role, each) for role, each in zip(roles, opinions, strict=False)), "zh")
    return found.resolution.text if found.resolution else found.detail


async def end(text: str, **more: Any) -> Outcome:
    return await legal_stage(text, **more).end()


def text_of(outcome: Outcome) -> str:
    assert outcome.resolution is not None
    return outcome.resolution.text


@pytest.mark.req("LG-19")
def test_a_team_of_six_fits_in_the_handoffs_of_a_run() -> None:
    step = FLOW.steps[State.CONSULTING]

    assert isinstance(step, FanOut)
    assert step.seats == SEATS
    assert verify(FLOW) <= 21


@pytest.mark.req("LG-19", "SY-7")
def test_a_specialist_for_one_field_has_thirty_seconds_or_what_is_set_for_the_agent_whose_file_it_works_by() -> None:
    def limit(**limits: AgentSettings) -> Limits:
        flow = configure(FAMILY, Settings(agents=AgentsSettings(limits=limits)), load_roster(Settings()))
        return flow.limits_of(flow.steps[State.CONSULTING], "civil_law")

    assert limit() == Limits(30.0, 1)
    assert limit(legal_research=AgentSettings(seconds=7.0, retries=3)) == Limits(7.0, 3)
    assert limit(legal_research=AgentSettings(seconds=200.0)) == Limits(30.0, 1)


@pytest.mark.req("LG-8", "LG-9")
async def test_a_statement_stands_above_its_article_in_the_standard_form_with_its_words() -> None:
    outcome = await end(DISMISSED, model=sure("legal_consultation", "social_labor_law"))

    lines = text_of(outcome).split("\n")
    assert outcome.status == "resolved"
    assert lines[0] == f"{STATED} [1]"
    assert say("legal_basis", "zh") in lines
    assert "[1] 《劳动合同法》第四十条 › 2012-12-28" in lines
    assert lines[lines.index("[1] 《劳动合同法》第四十条 › 2012-12-28") + 1] == QUOTE


def read(verdict: str, *, answers: bool = True) -> Any:
    """A second reader that says this of every statement."""

    def fill(task: ModelRequest) -> SecondReading:
        return SecondReading(
            tuple(StatementVerdict(each.number, verdict, answers) for each in task.material.statements)  # type: ignore[arg-type]
        )

    return fill


@pytest.mark.parametrize("reader", [read("not_said"), read("contradicted"), read("entailed", answers=False)])
@pytest.mark.parametrize("claim", [Claim(STATED, 1, QUOTE), Claim(QUOTE, 1, QUOTE)])
async def test_where_a_reader_leaves_nothing_the_sources_are_shown_as_without_a_model(
    reader: Any, claim: Claim
) -> None:
    model = sure("legal_consultation")
    model.answers |= {"LegalDraft": LegalDraft((claim,)), "Draft": LegalDraft((claim,)), "SecondReading": reader}

    outcome = await end(DISMISSED, model=model)

    del model.answers["LegalDraft"]
    assert outcome.status == "suggested"
    assert text_of(outcome) == text_of(await end(DISMISSED, model=model))


async def test_what_nobody_reads_a_second_time_is_a_suggestion() -> None:
    outcome = await end(DISMISSED, model=sure("legal_consultation"), second_reading=False)

    assert outcome.status == "suggested"
    assert text_of(outcome).startswith(STATED)


@pytest.mark.req("LG-17")
async def test_advice_ends_with_a_disclaimer_apart_from_it_in_the_language_of_the_question() -> None:
    outcome = await end(DISMISSED, model=sure("legal_consultation"))

    assert text_of(outcome).endswith(f"\n\n---\n{DISCLAIMER}")


@pytest.mark.req("LG-17")
@pytest.mark.parametrize(
    ("language", "lawyer"),
    [("en", "qualified lawyer"), ("zh", "专业律师"), ("de", "Rechtsanwalt"), ("ko", "전문 변호사")],
)
def test_the_disclaimer_and_the_advice_after_a_failure_name_a_lawyer(language: str, lawyer: str) -> None:
    assert lawyer in say("legal_disclaimer", language)
    assert lawyer.split()[-1] in say("legal_ask_lawyer", language)


@pytest.mark.req("LG-17")
async def test_a_merged_answer_ends_with_the_disclaimer_once() -> None:
    outcome = await end(TWO_FIELDS, model=sure("legal_consultation", "social_labor_law", "criminal_law"))

    assert text_of(outcome).endswith(f"\n\n---\n{DISCLAIMER}")
    assert text_of(outcome).count(DISCLAIMER) == 1


ADDRESS = "The model server at http://127.0.0.1:9/v1 refused the key: set [model] key."


@pytest.mark.req("LG-24", "LG-25")
@pytest.mark.parametrize("down", [lambda: Says(PortFailed(ADDRESS)), lambda: Says(OSError("disk")), Hangs])
async def test_where_the_general_agent_fails_too_the_person_is_told_in_their_language_what_to_do(down: Any) -> None:
    roles = {"legal_research": down, "legal_general": down}

    outcome = await end(DISMISSED, model=sure("legal_consultation"), roles=roles)

    assert outcome.resolution is None
    for said in (outcome.detail, outcome.summary):
        assert "请稍后再试" in said
        assert say("legal_ask_lawyer", "zh") in said
        assert re.search("[A-Za-z0-9]", said) is None


@pytest.mark.parametrize("language", ["en", "zh", "de", "ko"])
@pytest.mark.parametrize("error", [PortFailed, ModelFailed, BudgetSpent])
def test_each_code_of_what_fails_is_a_sentence_of_each_language(error: type[PortFailed], language: str) -> None:
    said = say_name(error.code, language)

    assert said not in {error.code, ""}
    assert language == "en" or said != say_name(error.code, "en")


@pytest.mark.req("LG-4", "LG-5", "LG-6", "LG-7")
@pytest.mark.parametrize(
    ("intent", "agent"),
    [
        ("legal_consultation", "legal_research"), ("regulation_query", "legal_research"),
        ("case_search", "case_analysis"), ("document_draft", "document_draft"),
        ("contract_review", "contract_review"), ("general_chat", "legal_general"),
    ],
)  # fmt: skip
async def test_each_intent_goes_to_its_specialist(intent: str, agent: str) -> None:
    outcome = await end("这件事怎么办", model=sure(intent))

    assert targets(outcome) == ["intent_classifier", "orchestrator", agent, "orchestrator", "registrar"]


@pytest.mark.req("LG-7")
async def test_talk_gets_a_reply_that_says_it_rests_on_no_source_and_no_disclaimer() -> None:
    model = Model(IntentDraft=IntentDraft("general_chat", (), 0.9), Reply=Reply("你好！"))

    spoken = await end("嗯嗯", model=model)
    without = await end("嗯嗯", model=Model(IntentDraft=IntentDraft("general_chat", (), 0.9)))

    assert text_of(spoken) == f"你好！\n\n{say('legal_unsourced', 'zh')}"
    assert text_of(without) == say("legal_what_it_does", "zh")


@pytest.mark.req("LG-7")
async def test_who_is_taken_to_talk_by_a_guess_is_told_so_without_a_model() -> None:
    greeted, guessed = await end("你好！", rules=classify), await end("嗯嗯", rules=classify)

    assert text_of(greeted) == say("legal_what_it_does", "zh")
    assert text_of(guessed) == f"{say('legal_unrecognized', 'zh')}\n\n{say('legal_what_it_does', 'zh')}"


@pytest.mark.req("LG-18", "LG-19", "LG-21")
async def test_a_question_of_two_fields_is_answered_for_each_side_by_side_and_merged() -> None:
    outcome = await end(TWO_FIELDS, model=sure("legal_consultation", "social_labor_law", "criminal_law"))

    asked = [each.target for each in outcome.handoffs if each.reason == State.CONSULTING]
    assert set(asked) == {"social_labor_law", "criminal_law"}
    both = say("joined_by", "zh").join(say(f"field_{field}", "zh") for field in ("criminal_law", "social_labor_law"))
    assert f"{say('legal_on', 'zh', field=both)}\n{STATED} [1]\n\n" in text_of(outcome), (
        "both say it, and it stands once"
    )
    assert outcome.resolution is not None
    assert [each.number for each in outcome.resolution.citations] == [1]
    assert outcome.status == "resolved"


@pytest.mark.req("LG-21")
async def test_without_a_model_several_fields_are_one_list_of_articles_each_once_below_one_sentence() -> None:
    other = msgspec.structs.replace(
        NOTICE, id="statute:2", source="statutes.2", title="《刑法》第二百三十四条", text="故意伤害他人身体的。"
    )
    model = Model(IntentDraft=IntentDraft("legal_consultation", ("social_labor_law", "criminal_law"), 0.9))

    text = text_of(await end(TWO_FIELDS, model=model, source=Source(NOTICE, other)))

    assert text.count(NOTICE.title) == text.count(other.title) == 1
    assert text.count(say("legal_perhaps", "zh")) == text.count(DISCLAIMER) == 1
    assert say("legal_basis", "zh") not in text
    assert text.count(say("legal_on", "zh", field="").rstrip("：")) == 1


@pytest.mark.req("LG-21")
def test_articles_stand_below_the_fields_that_cite_them_and_what_is_missing_below_all() -> None:
    one, two = (Citation(n, f"statutes.{n}", f"《法》第{n}条", "", f"第{n}条的文字。", 0, 9) for n in (1, 2))

    text = merged(quote(one), quote(msgspec.structs.replace(one, number=3), two), None)

    lead, both, crime, silent = (say("legal_perhaps", "zh"), *(
        say("legal_on", "zh", field=each) for each in ("劳动与社会保障法；刑法", "刑法")
    ), say("legal_silent", "zh", fields="民法"))  # fmt: skip
    assert text.split("\n\n") == [
        lead,
        f"{both}\n[1] 《法》第1条\n第1条的文字。",
        f"{crime}\n[2] 《法》第2条\n第2条的文字。",
        silent,
    ]


@pytest.mark.req("LG-21")
async def test_a_model_makes_one_answer_of_several_and_says_where_they_disagree_and_why() -> None:
    thirty, sixty = "用人单位应当提前三十日书面通知劳动者。", "用人单位应当提前六十日书面通知劳动者。"
    opinions = {"criminal_law": state(thirty), "social_labor_law": state(sixty, source="statute:9")}
    first, second = Claim(thirty, 1, thirty), Claim(sixty, 2, sixty)
    draft = MergedDraft((second, first), disagreements=(Disagreement(first, second, Claim(sixty, 2, sixty)),))
    model = sure("legal_consultation", *opinions)
    model.answers |= {"MergedDraft": draft}

    roles: Any = {name: lambda said=said: Says(said) for name, said in opinions.items()}
    outcome = await end(TWO_FIELDS, model=model, roles=roles)

    (task,) = [task for name, task in model.asked if name == "MergedDraft"]
    assert task.material.opinions == (f"criminal_law: {thirty} [1]", f"social_labor_law: {sixty} [2]")
    assert len(task.material.contrary) == 1, "rules find it, too"
    text = text_of(outcome)
    assert text.startswith(f"{sixty} [1]\n{thirty} [2]\n\n{say('legal_disagree', 'zh')}\n- {thirty} [2]; {sixty} [1]")
    assert text.count(say("legal_basis", "zh")) == 1
    assert say("legal_on", "zh", field="刑法") not in text, "it reads as one"
    assert outcome.status == "resolved"


@pytest.mark.req("LG-21")
@pytest.mark.parametrize(
    "claims",
    [
        (),
        (Claim("六十日。", 1, "提前九十日书面通知"),),
        (Claim("提前三十日书面通知劳动者。", 1, "提前三十日书面通知劳动者"),),
    ],
)
async def test_an_answer_that_is_not_borne_out_or_leaves_a_field_out_is_none_and_rules_merge(claims: Any) -> None:
    opinions = {
        "criminal_law": state("应当提前三十日书面通知劳动者。"),
        "social_labor_law": state("可以仲裁。", source="s:9"),
    }
    model = sure("legal_consultation", *opinions)
    model.answers |= {"MergedDraft": MergedDraft(claims)}

    roles: Any = {name: lambda said=said: Says(said) for name, said in opinions.items()}
    text = text_of(await end(TWO_FIELDS, model=model, roles=roles))

    assert say("legal_on", "zh", field=say("field_criminal_law", "zh")) in text
    assert "可以仲裁。 [2]" in text


NURSE = "她是一家私立医院的护士，怀孕五个月。"


@pytest.mark.req("LG-31")
async def test_who_asks_is_known_to_each_agent_that_a_model_thinks_for() -> None:
    model = sure("legal_consultation", "social_labor_law", "criminal_law")
    model.answers |= {"MergedDraft": MergedDraft(GOOD.claims)}

    await end(TWO_FIELDS, model=model, background=NURSE)

    told = {name: str(task.material) for name, task in model.asked if name != "SecondReading"}
    assert told.keys() == {"IntentDraft", "LegalDraft", "MergedDraft"}
    for name, material in told.items():
        assert NURSE in material, name
        assert "li@firm.example" in material, name


@pytest.mark.req("LG-31")
def test_what_is_told_of_who_asks_is_part_of_the_order() -> None:
    asked = Ticket(id="T-1", text=DISMISSED, requester="li@firm.example", options=LegalOptions(NURSE))
    case = FAMILY.make_case(asked, Settings())

    assert isinstance(case, LegalCase)
    assert str(case.background) == f"asked by: li@firm.example\ntold of themselves: {NURSE}"
    assert FAMILY.options_of(case) == LegalOptions(NURSE)
    other = FAMILY.make_case(msgspec.structs.replace(asked, options=None), Settings())
    assert FAMILY.order_of(case) != FAMILY.order_of(other)


@pytest.mark.req("LG-20", "LG-22")
@pytest.mark.parametrize("down", [Hangs, lambda: Says(OSError("disk"))])
async def test_what_succeeded_is_shown_and_what_is_missing_is_named(down: Any) -> None:
    outcome = await end(
        TWO_FIELDS, model=sure("legal_consultation", "social_labor_law", "criminal_law"),
        roles={"criminal_law": down},
    )  # fmt: skip

    assert outcome.status == "suggested"
    assert STATED in text_of(outcome)
    assert say("legal_silent", "zh", fields="刑法") in text_of(outcome)
    assert outcome.unavailable == ("刑法",)
    assert outcome.seconds <= 31.0, "a specialist has 30 s, and the others are not waited for longer"


@pytest.mark.req("LG-24", "LG-25")
@pytest.mark.parametrize("down", [Hangs, lambda: Says(OSError("disk on fire"))])
async def test_the_general_agent_stands_in_for_a_specialist_that_failed_and_says_so(down: Any) -> None:
    outcome = await end(DISMISSED, model=sure("legal_consultation"), roles={"legal_research": down})

    assert "legal_general" in targets(outcome)
    assert outcome.status == "suggested"
    assert text_of(outcome).startswith(say("legal_stands_in", "zh"))
    assert "disk" not in text_of(outcome)


@pytest.mark.req("LG-24")
async def test_it_stands_in_for_a_whole_team_that_failed() -> None:
    outcome = await end(
        TWO_FIELDS, model=sure("legal_consultation", "social_labor_law", "criminal_law"),
        roles={"criminal_law": lambda: Says(OSError()), "social_labor_law": Hangs},
    )  # fmt: skip

    assert "legal_general" in targets(outcome)
    assert STATED in text_of(outcome)


@pytest.mark.req("LG-23")
async def test_a_source_that_fails_is_asked_once_more_and_then_skipped_which_the_outcome_says() -> None:
    once, always = Source(NOTICE, fails=1), Source(NOTICE, fails=99)

    good = await end(DISMISSED, source=once, model=sure("regulation_query"))
    bad = await end(DISMISSED, source=always, model=sure("legal_consultation"))

    assert (len(once.asked), good.status, good.unavailable) == (2, "resolved", ())
    assert len(always.asked) % 2 == 0
    assert bad.status == "not_found"


async def test_an_article_that_is_not_there_is_said_above_what_comes_closest() -> None:
    source = Source(NOTICE)
    source.abstain = "没有这一条。"

    outcome = await end("《劳动合同法》第九百条", model=sure("regulation_query"), source=source)

    assert text_of(outcome).startswith("没有这一条。\n\n")
    assert outcome.status == "suggested"


async def test_a_statement_that_cites_an_article_that_is_not_there_is_left_out_which_the_answer_says() -> None:
    draft = LegalDraft((*GOOD.claims, Claim(QUOTE[:20], 1, QUOTE)))

    outcome = await end(
        DISMISSED, model=Model(IntentDraft=IntentDraft("regulation_query", (), 0.9), LegalDraft=draft),
        miscited=lambda text: ("《劳动合同法》第九百条",) if text == QUOTE[:20] else (),
    )  # fmt: skip

    assert outcome.status == "suggested"
    assert say("lost_miscited", "zh") in text_of(outcome)


async def test_where_specialists_say_the_contrary_both_are_shown() -> None:
    opinions = {
        "criminal_law": state("用人单位应当提前三十日书面通知劳动者。"),
        "social_labor_law": state("用人单位应当提前六十日书面通知劳动者。", source="statute:9"),
    }
    outcome = await end(
        TWO_FIELDS, model=sure("legal_consultation", *opinions),
        roles={name: lambda said=said: Says(said) for name, said in opinions.items()},
    )  # fmt: skip

    apart = text_of(outcome).partition(say("legal_disagree", "zh"))[2]
    assert "刑法: 用人单位应当提前三十日" in apart
    assert "劳动与社会保障法: 用人单位应当提前六十日" in apart
    assert say("lost_number", "zh") in apart, "and why"


@pytest.mark.req("LG-32")
async def test_a_specialist_hands_over_with_what_the_next_one_needs() -> None:
    def draft(task: Any) -> LegalDraft:
        if task.agent == "legal_research":
            return msgspec.convert(
                {"pass_on": {"to": "contract_review", "reason": "It asks for judgments."}}, LegalDraft
            )
        assert "It asks for judgments.\nIt asked: regulation_search." in task.material.context
        assert NOTICE in task.findings.passages
        return GOOD

    model = Model(IntentDraft=IntentDraft("legal_consultation", (), 0.9), LegalDraft=draft)
    source = Source(NOTICE)

    outcome = await end(DISMISSED, model=model, source=source)

    assert len(source.asked) == 1, "what was asked is not asked again"

    assert ("legal_research", "contract_review") in [(each.source, each.target) for each in outcome.handoffs]
    assert outcome.status == "resolved"


async def test_what_is_there_is_shown_when_merging_fails() -> None:
    outcome = await end(
        TWO_FIELDS, model=sure("legal_consultation", "social_labor_law", "criminal_law"),
        roles={"opinion_merger": lambda: Says(OSError())},
    )  # fmt: skip

    assert STATED in text_of(outcome)
    assert outcome.why is EndReason.COMPLETED


@pytest.mark.req("LG-2", "LG-3")
async def test_what_a_model_makes_of_a_question_counts_and_what_it_names_is_kept_if_the_question_does() -> None:
    draft = IntentDraft("regulation_query", ("criminal_law", "weather"), 0.8, ("王某", "八百元", "李某"))
    model = Model(IntentDraft=draft, LegalDraft=GOOD)
    stage = legal_stage("王某偷了一辆车，卖了八百元。", model=model, rules=classify)

    await stage.end()

    found = stage.replayed().case.classification
    assert (found.intent, found.category, found.confidence) == ("regulation_query", "criminal_law", 0.8)
    assert [(each.kind, each.text) for each in found.entities] == [("money", "八百元"), ("other", "王某")]
    assert [each.name for each in found.domains] == ["criminal_law"]


@pytest.mark.req("LG-1", "LG-2")
@pytest.mark.parametrize(("confidence", "asked"), [(SURE, 0), (SURE - 0.01, 1)])
async def test_a_model_is_asked_where_the_rules_are_less_sure_than_the_seed_says(confidence: float, asked: int) -> None:
    model = sure("case_search")
    guess = Classification("legal_consultation", "", confidence, (), ())

    outcome = await end(DISMISSED, model=model, rules=lambda *_: guess)

    assert [name for name, _ in model.asked].count("IntentDraft") == asked
    assert ("case_analysis" in targets(outcome)) == bool(asked)


@pytest.mark.req("LG-2", "LG-31")
async def test_the_specialist_is_told_what_the_question_names() -> None:
    model = sure("legal_consultation", "social_labor_law")

    await end("依据《劳动合同法》第四十条，张三的工资怎么算？", model=model, rules=classify)

    task = next(task for name, task in model.asked if name == "LegalDraft")
    assert "《劳动合同法》" in task.material.key_points


def test_the_table_as_it_ships_ends() -> None:
    assert verify(LEGAL) <= 21


async def test_a_specialist_offers_its_tools_and_names_those_that_were_done_without() -> None:
    class DoesWithout(Model):
        async def fill(self, shape: type[Any], task: ModelRequest, *, within: float) -> Completion:
            filled = await super().fill(shape, task, within=within)
            failed = (Shortfall("source_failed", "web_search"),)
            return msgspec.structs.replace(filled, skipped=("web_search",), incomplete=failed) if task.tools else filled

    model = DoesWithout(**sure("legal_consultation", "social_labor_law").answers)

    outcome = await end(DISMISSED, model=model)

    assert [task.tools for name, task in model.asked if name == "LegalDraft"] == [("regulation_search", "web_search")]
    assert (outcome.status, outcome.unavailable) == ("resolved", ("网页搜索",))
    assert outcome.incomplete == (Shortfall("source_failed", "网页搜索"),)


async def test_nothing_found_by_a_search_that_was_not_complete_is_looked_for_once_more_and_is_no_fact() -> None:
    lacks = (Shortfall("no_vectors", "Some documents have no vectors yet."),)

    class Slow(Source):
        async def search(self, asked: Articles, own: ToolContext, within: float) -> ToolResult:
            self.asked.append(asked.query)
            return ToolResult(incomplete=lacks)

    source = Slow()
    outcome = await end(DISMISSED, model=Model(IntentDraft=IntentDraft("legal_consultation", (), 0.9)), source=source)

    assert (outcome.status, outcome.incomplete, len(source.asked)) == ("not_found", lacks, 2)
    lawyer = say("legal_ask_lawyer", "zh")
    assert outcome.detail == f"{explain_shortfalls('nothing_found_yet', lacks, 'zh')} {lawyer}"
    assert say("legal_nothing", "zh") not in outcome.detail
