"""Which template a request names: by names that templates declare, and never by what only looks like one."""

import pytest

from actors.documents.find_template import find_templates
from runtime.documents.template_folder import load_templates
from runtime.settings import Settings

TEMPLATES = tuple(load_templates(Settings()).values())

ASKED = {
    "请帮我起草一份房屋租赁合同": "lease_zh",
    "租房合同": "lease_zh",
    "写一份我和房东的租赁合同": "lease_zh",
    "写个辞职信": "resignation_zh",
    "帮我写封辞职报告给公司": "resignation_zh",
    "劳动仲裁答辩书": "defence_zh",
    "帮我写劳动仲裁答辩书": "defence_zh",
    "我收到对方的起诉状，帮我写答辩状": "defence_zh",
    "我不服一审判决，要写上诉状": "appeal_zh",
    "授权委托书怎么写": "power_of_attorney_zh",
    "写份委托书，让我妈去办过户": "power_of_attorney_zh",
    "帮我写一份借款合同纠纷的起诉状": "complaint_zh",
    "帮我写个起诉状": "complaint_zh",
    "写一份劳动仲裁申请书": "labour_arbitration_zh",
    "请起草律师函催款": "lawyers_letter_zh",
    "起草一份借款合同": "loan_agreement_zh",
    "I need a lease": "lease_en",
    "Draft a residential lease agreement for my flat": "lease_en",
    "Please write a letter of resignation": "resignation_en",
    "I want to write my Resignation Letter to my boss": "resignation_en",
    "prepare a defense for me": "defence_en",
    "Draft a statement of defence to the claim of Ann Lee": "defence_en",
    "I need help with an appeal against the judgment": "appeal_en",
    "write a power of attorney for my mother": "power_of_attorney_en",
    "Please draft a complaint. Plaintiff: Ann Lee": "complaint_en",
    "일반 서신을 작성해 주세요": "letter_ko",
    "Schreiben Sie mir bitte einen formlosen Brief an den Vermieter": "letter_de",
    "A lease, please": "lease_en",
}
MENTIONED = {
    "写一份解除租赁合同的通知": "lease_zh",
    "租赁合同解除通知书": "lease_zh",
    "帮我写刑事上诉状": "appeal_zh",
    "行政起诉状": "complaint_zh",
    "我收到一份起诉状，请帮我写封信": "complaint_zh",
    "Draft a termination notice for my lease": "lease_en",
    "My lease ends in June, write a letter to the landlord": "lease_en",
}
"""Requests for something else, in which the name of a template stands."""
NEITHER = (
    "劳动合同", "遗嘱", "离婚协议书", "帮我写一个租房的合同", "I want to quit, write the letter", "write a will",
    "please release me", "Widerspruch", "사직서를 써 주세요", "",
)  # fmt: skip


@pytest.mark.req("LG-13")
@pytest.mark.parametrize("text", ASKED)
def test_a_template_is_asked_for_by_its_title_or_another_name_of_its_own(text: str) -> None:
    assert [each.name for each in find_templates(text, TEMPLATES).asked] == [ASKED[text]]


@pytest.mark.req("LG-12")
@pytest.mark.parametrize("text", MENTIONED)
def test_a_name_within_something_else_is_known_but_not_taken_for_what_is_asked(text: str) -> None:
    found = find_templates(text, TEMPLATES)

    assert ([each.name for each in found.asked], [each.name for each in found.mentioned]) == ([], [MENTIONED[text]])


@pytest.mark.req("LG-12")
@pytest.mark.parametrize("text", NEITHER)
def test_what_no_template_is_called_finds_none(text: str) -> None:
    assert find_templates(text, TEMPLATES) == ((), ())


def test_two_that_are_asked_for_are_both_found_and_none_is_without_templates() -> None:
    assert len(find_templates("写一份起诉状，再写一份授权委托书", TEMPLATES).asked) == 2
    assert find_templates("写一份起诉状", ()) == ((), ())
