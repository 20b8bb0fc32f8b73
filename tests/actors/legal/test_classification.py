"""What a question asks for: sure where a lawyer would be, unsure of bare facts, its fields of law, what it names."""

import time

import pytest

from actors.legal.classification import SURE, Classification, Entity, classify
from actors.legal.intent_rules import DOMAIN_FILES, DomainFile, EntityKind, read_table
from actors.roster import Intent

FACTS = (
    "2019年5月2日晚，被告人王某在杭州市某小区门口，趁被害人赵某不备，将其停放的电动自行车推走，后以八百元的价格卖给他人。"
    "经鉴定，该车价值人民币二千三百元。2019年5月9日，公安机关将被告人王某抓获归案，赃物已追回并发还被害人。"
)


@pytest.mark.req("LG-1")
@pytest.mark.parametrize(
    ("text", "intent"),
    [
        ("老板拖欠我们工资半年了，现在公司说没钱，我们可以申请仲裁吗？", "legal_consultation"),
        ("出租人提前收回房屋，承租人能否要求赔偿装修损失？", "legal_consultation"),
        ("饭店吃饭滑倒摔伤了，可以让饭店赔吗？", "legal_consultation"),
        ("有人在微信群里造谣骂我，我可以告他吗？", "legal_consultation"),
        ("帮我检索几个加班费争议的类似案例", "case_search"),
        ("（2021）浙02民终456号案件的争议焦点是什么？", "case_search"),
        ("原告是某某食品有限公司的案件，审理法院是哪家法院？", "case_search"),
        ("律师和律师事务所之间是劳动关系还是合同关系，法律怎么规定？", "legal_consultation"),
        ("公司法第二十条的规定是什么", "regulation_query"),
        ("《劳动合同法》第三十九条", "regulation_query"),
        ("请替我起草一份劳动仲裁申请书", "document_draft"),
        ("麻烦审查一下这份采购合同有没有对我方不利的条款", "contract_review"),
        ("你好！", "general_chat"),
        ("My employer fired me without notice, can I claim compensation?", "legal_consultation"),
        ("Find similar cases about unpaid overtime", "case_search"),
        ("What does article 39 of the Labor Contract Law say?", "regulation_query"),
        ("Please draft a demand letter to my tenant", "document_draft"),
        ("Could you review the attached lease for risks?", "contract_review"),
        ("Hello there!", "general_chat"),
        ("회사에서 석 달째 임금을 체불하는데 소송을 할 수 있나요?", "legal_consultation"),
        ("집주인이 보증금을 안 돌려주는데 어떻게 해야 하나요?", "legal_consultation"),
        ("부당해고 관련 판례를 찾아 주세요", "case_search"),
        ("근로기준법 제23조 내용을 알려 주세요", "regulation_query"),
        ("전세 보증금 반환 내용증명 좀 써 주세요", "document_draft"),
        ("이 근로계약서 검토해 주세요", "contract_review"),
        ("안녕하세요!", "general_chat"),
    ],
)
def test_what_leaves_no_doubt_is_decided_by_rules_alone(text: str, intent: str) -> None:
    found = classify(text)

    assert (found.intent, found.is_sure) == (intent, True), found


@pytest.mark.req("LG-2")
@pytest.mark.parametrize(
    "text",
    [
        FACTS,
        "根据案情，某甲将房屋出租给某乙，某乙又转租给某丙。",
        "嗯",
        "",
        "?",
        "On 3 May the defendant took a phone from the counter of a shop and left.",
        "他们签了合同。",
        "2022年3月，李某入职某公司，双方未签订书面劳动合同，2023年1月公司将其辞退。",
        "小王是一家个人独资企业的投资人，企业经营不善，无法偿还债务。根据哪条法律规定，小王要用自己的财产清偿？",
        "帮我翻译这份合同成英文",
        "一家公司招聘新员工，却要求员工在签订合同时放弃对生产安全事故中应负的责任。",
        "小明和同村的人发生了土地承包经营的纠纷，小明不确定如何处理。",
        "임대인과 임차인은 2021년 3월 전세 계약을 하였고 보증금은 아직 반환되지 않았다.",
    ],
)
def test_bare_facts_and_what_says_nothing_are_left_to_a_model(text: str) -> None:
    assert classify(text).confidence < SURE


@pytest.mark.req("LG-3")
def test_a_classification_says_intent_category_confidence_and_entities() -> None:
    found = classify("公司2021年3月辞退我，依据《劳动合同法》第三十九条，只肯付 5,000 元补偿，这样合法吗？")

    assert isinstance(found, Classification)
    assert (found.intent, found.category) == ("legal_consultation", "labor_law")
    assert 0 <= found.confidence <= 1
    assert [(each.kind, each.text) for each in found.entities] == [
        ("date", "2021年3月"),
        ("law", "《劳动合同法》"),
        ("article", "第三十九条"),
        ("money", "5,000 元"),
    ]


@pytest.mark.parametrize(
    ("text", "kind", "words"),
    [
        ("（2021）浙02民终456号的原告是谁", "case", "（2021）浙02民终456号"),
        ("原告主张返还定金", "party", "原告"),
        ("帮我写一份民事起诉状", "document", "民事起诉状"),
        ("欠我12.5万元不还", "money", "12.5万元"),
        ("第一百二十条第二款怎么规定", "article", "第一百二十条第二款"),
        ("my tenant owes me 2,400 dollars", "money", "2,400 dollars"),
        ("see section 12(3)", "article", "section 12(3)"),
        ("집주인이 3,000만 원을 안 줍니다", "money", "3,000만 원"),
        ("민법 제750조를 보여 주세요", "article", "제750조"),
    ],
)
def test_entities_are_the_texts_own_words(text: str, kind: EntityKind, words: str) -> None:
    assert Entity(kind, words) in classify(text).entities


@pytest.mark.req("LG-18")
@pytest.mark.parametrize(
    ("text", "domains"),
    [
        ("合伙开店，合伙人欠的债务我要承担责任吗？", {"civil_law", "commercial_law"}),
        ("公司拖欠工资，还把我们几个员工打成轻伤，老板会不会判刑？", {"social_labor_law", "criminal_law"}),
        ("劳动合同到期公司不续签，要付经济补偿吗？", {"social_labor_law"}),
        ("两家公司的商标近似，会构成侵权吗？", {"commercial_law"}),
        ("회사에서 해고당하고 사장에게 폭행까지 당했는데 고소할 수 있나요?", {"social_labor_law", "criminal_law"}),
        ("My employer fired me and the police arrested me for theft, can I sue?", {"social_labor_law", "criminal_law"}),
    ],
)
def test_all_fields_of_law_are_found_each_with_a_confidence(text: str, domains: set[str]) -> None:
    found = classify(text).domains

    assert {each.name for each in found} == domains
    assert [each.confidence for each in found] == sorted((each.confidence for each in found), reverse=True)


TWOFOLD = [
    ("单位没给我签劳动合同，我想辞职；另外前夫一直不付孩子的抚养费，能一起起诉吗？", {"social_labor_law", "civil_law"}),
    ("我在工地摔断了腿，包工头不认工伤，还欠着我借给他的两万块钱。", {"social_labor_law", "civil_law"}),
    ("室友偷了我的电脑卖掉，我能要求他赔偿损失吗？", {"criminal_law", "civil_law"}),
    ("我被网友诈骗了八万，用的是我跟父母借的钱，借款还要还吗？", {"criminal_law", "civil_law"}),
    ("公司破产清算，拖欠员工的工资能先拿到吗？", {"commercial_law", "social_labor_law"}),
    ("合伙人私自把店里的钱转走，合伙协议能解除吗，他构成犯罪吗？", {"commercial_law", "criminal_law", "civil_law"}),
    ("房子被拆迁了，开发商答应的违约金也不给，找谁要？", {"administrative_law", "civil_law"}),
    ("妻子去世前写了遗嘱，把她公司的股权留给了我，其他股东不让我进公司。", {"civil_law", "commercial_law"}),
    ("I was fired after I refused to lend my boss money, and he still has not repaid an older loan.",
     {"social_labor_law", "civil_law"}),
    ("The seller of our house hid the damp; his broker stole our deposit. Can he go to prison?",
     {"civil_law", "criminal_law"}),
    ("My neighbour built on my land without a permit, can the city make him tear it down and do I get damages?",
     {"administrative_law", "civil_law"}),
    ("Our shareholders want to dissolve the company, but the employees have not been paid their wages.",
     {"commercial_law", "social_labor_law"}),
]  # fmt: skip


@pytest.mark.req("LG-18")
def test_of_questions_that_touch_two_fields_almost_all_get_both_and_no_other() -> None:
    found = [{each.name for each in classify(text).domains} for text, _ in TWOFOLD]

    assert sum(its == fields for its, (_, fields) in zip(found, TWOFOLD, strict=True)) >= 11
    assert all(its <= fields for its, (_, fields) in zip(found, TWOFOLD, strict=True))


@pytest.mark.req("LG-3")
def test_every_category_is_a_field_or_a_part_of_one_as_the_law_is_divided() -> None:
    tables = [read_table(file, DomainFile) for file in DOMAIN_FILES.glob("*.toml")]
    topics = [each.category for table in tables for each in (*table.topic, *table.against)]

    names = {*topics, *(each.category for each in tables)}
    assert {"labor_law", "civil_law"} <= names
    assert [each for each in names if not each.endswith("_law")] == []


@pytest.mark.req("LG-30")
def test_the_words_of_an_agent_that_a_user_has_added_count_beside_those_that_ship() -> None:
    own = Intent("maritime", "ships", {"zh": ("船员", "提单")}, 7, "maritime")

    assert classify("船员的工资可以要求优先支付吗？", "zh", (own,)).intent == "maritime"
    assert classify("老板的工资可以要求优先支付吗？", "zh", (own,)).intent == "legal_consultation"


def test_chat_is_of_no_field_of_law() -> None:
    found = classify("给我讲个笑话吧")

    assert (found.intent, found.category, found.domains) == ("general_chat", "", ())


def test_what_is_asked_at_the_end_of_a_long_text_is_seen() -> None:
    facts = "原告与被告于2019年签订房屋买卖合同，被告逾期交房。" * 300

    assert classify(facts + "请你针对上述内容撰写一份答辩状。").intent == "document_draft"


@pytest.mark.parametrize(
    "part", ["帮我查找", "合同", "（2021）", "a" * 40 + " ", "第一百", "《", "根据什么", "my company "]
)
def test_a_hostile_text_costs_no_more_than_any_other(part: str) -> None:
    classify("合同"), classify("contract")  # the rules are read and compiled
    begin = time.process_time()

    classify(part * 20_000)

    assert time.process_time() - begin < 1.0
