"""Documents: what a ticket plainly says is found, nothing else ever stands in a place, and a value stays a value."""

import time

import pytest

from actors.documents.field_values import escape_value, is_amount, is_date, stands_in
from actors.documents.fill import ask_for, fill
from actors.documents.find_fields import find_fields
from actors.documents.template import Document, Field, Template
from actors.documents.template_body import BLANK, MOST_PLACES, InvalidBody, check_body

KOREAN_DAY = {"day": "2026년 3월 1일"}
NAMES = ("who", "amount", "day", "size", "note", "number")
FIELDS = (
    Field(name="who", ask="Who pays?", kind="party", labels=("Payer", "付款人", "지급인")),
    Field(name="amount", ask="How much?", kind="money", labels=("Amount", "金额", "금액"), example="USD 5"),
    Field(name="day", ask="When?", kind="date", required=False, labels=("Date", "日期", "날짜")),
    Field(name="size", ask="Which?", kind="choice", required=False, labels=("Size",), choices=("small", "large")),
    Field(name="note", ask="What else?", required=False, labels=("Note", "备注")),
    Field(name="number", ask="Which number?", required=False, pattern=r"\d{3}"),
)
BODY = """\
Paid by {{ who }}: {{ amount }} on {{ day }}.
{% if note %}
Note:

{{ note }}
{% else %}
No note.
{% endif %}
{{ size }} {{ number }}{% if not day %} undated{% endif %}
"""


def template(body: str = BODY) -> Template:
    return Template(name="receipt", title="Receipt", kind="letter", language="en", fields=FIELDS, body=body)


def found(text: str) -> dict[str, str]:
    return {name: each.value for name, each in find_fields(template(), text).items()}


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("Payer: Ann Lee, of Northgate\nAmount: USD 12,000", {"who": "Ann Lee", "amount": "USD 12,000"}),
        (
            "付款人：张三，男。金额 12,000 元，日期为2026年3月1日。",
            {"who": "张三", "amount": "12,000 元", "day": "2026年3月1日"},
        ),
        (
            "지급인: 홍길동\n금액 1,200만 원\n날짜: 2026년 3월 1일",
            {"who": "홍길동", "amount": "1,200만 원", "day": "2026년 3월 1일"},
        ),
        ("Date: 3 May 2026. Size: Large.", {"day": "3 May 2026", "size": "large"}),
        ("Amount is $5 million", {}),
        ("Amount: 12", {}),
        ("金额12,000元左右，日期2026年3月1日前", {}),
        ("Date: 31 February 2026", {}),
        ("Payer: Ann Lee\nPayer: Bob Roe", {}),
        ("Payer: Ann Lee\nlater: payer: ann lee", {"who": "Ann Lee"}),
        ("Taxpayer: Ann Lee. The payer Ann Lee is away.", {}),
        ("Payer:\nAmount: USD 5\n", {"amount": "USD 5"}),
        ("Size: largest", {}),
        ("Size: Large Date: 3 May 2026", {"size": "large", "day": "3 May 2026"}),
        ("지급인: 홍길동 금액: 5,000원 날짜: 2026년 3월 1일.", {"who": "홍길동", "amount": "5,000원"} | KOREAN_DAY),
        ("제2 지급인: 홍길동", {}),
        ("지급인: 홍길동은 돈을 갚지 않았다.", {}),
        ("지급인: 홍길동입니다", {}),
        ("지급인: 홍길동, 김철수", {}),
        ("지급인: 미정", {}),
        ("Payer: Ann Lee Amount: USD 5 Note: new. Thanks.", {"who": "Ann Lee", "amount": "USD 5", "note": "new"}),
        ("Note: it broke Payer: Ann Lee", {"who": "Ann Lee"}),
        ("Note: I told him: no", {}),
        ("Date: 3 May 2026 or 4 May 2026", {}),
        ("Date: 3 May 2026?", {}),
        ("Amount: USD 5/month", {}),
        ("Amount: USD 5 (about)", {}),
        ("Amount: USD 5, USD 6", {}),
        ("Total amount: USD 5", {}),
        ("The amount is USD 5.", {"amount": "USD 5"}),
        ("Amount:\nUSD 5", {}),
    ],
)  # fmt: skip
def test_only_what_is_plainly_said_is_found(text: str, values: dict[str, str]) -> None:
    assert found(text) == values


def test_what_is_found_is_quoted_from_the_text() -> None:
    text = "Hello.\nPayer: Ann Lee; thank you."
    payer = find_fields(template(), text)["who"]
    assert (payer.quote, text[payer.start : payer.end]) == ("Payer: Ann Lee", "Payer: Ann Lee")


HOSTILE = (
    "金额", "Payer:", "Payer: ", "Payer: Ann Lee ", "Payer: a. ", "Payer: (", "付款人：（", "Amount ", "Amount 1,",
    "1,", "Date: 1" + " " * 50, "May ", " ", "\n", "*", ":", "-", "\ufdfa", "Payer: Ann, ", "a" * 199 + ".",
)  # fmt: skip


@pytest.mark.parametrize("unit", HOSTILE)
def test_four_times_the_text_takes_no_more_than_some_four_times_the_time(unit: str) -> None:
    def measure(characters: int) -> float:
        text = "Payer: Amount: 1" + unit * (characters // len(unit))
        began = time.process_time()
        found(text)
        return time.process_time() - began

    short, long = min(measure(16_000) for _ in range(3)), min(measure(64_000) for _ in range(3))

    assert long < max(0.2, 8 * short)


@pytest.mark.parametrize("unit", ["1", "1,", "1,111", " ", "\n", "May ", "1 ", "2026年 ", "+\n", "a", "a "])
def test_values_are_checked_and_escaped_in_linear_time(unit: str) -> None:
    text = unit * (64_000 // len(unit))
    began = time.process_time()
    for each in (text, f"5{text}元", f"May{text}5"):
        is_amount(each)
        is_date(each)
        escape_value(each)
    assert not stands_in("a" * 2_000, "a" * 64_000, "a" * 64_000)
    assert time.process_time() - began < 2


def test_a_document_is_made_of_what_is_known_and_blanks_are_seen() -> None:
    made = fill(template(), {"who": "Ann Lee", "amount": "USD 5", "stranger": "x"})

    assert isinstance(made, Document)
    assert made.markdown == f"# Receipt\n\nPaid by Ann Lee: USD 5 on {BLANK}.\nNo note.\n{BLANK} {BLANK} undated\n"
    assert made.blanks == ("day", "size", "note", "number")


def test_what_is_missing_or_cannot_stand_there_is_asked_for() -> None:
    known = {"amount": "a lot", "day": "2026-02-30", "size": "huge", "number": "12", "note": "x" * 5000}
    missing = fill(template(), known)

    assert isinstance(missing, tuple)
    assert [each.field.name for each in missing] == ["who", "amount", "day", "size", "note", "number"]
    asked = ask_for(template(), missing, known)
    assert [(each.name, each.optional) for each in asked][:3] == [("who", False), ("amount", False), ("day", True)]
    assert [each.ask for each in asked] == [
        "Who pays?",
        "“a lot” is no amount in digits. How much?",
        "“2026-02-30” is no day of the calendar. When?",
        "“huge” is none of the choices. Which?",
        "It is over 4,000 characters. What else?",
        "“12” is not of the form that is needed. Which number?",
    ]
    only = fill(template(), {"who": "Ann Lee"})
    assert isinstance(only, tuple)
    assert [each.name for each in ask_for(template(), only, {"who": "Ann Lee"})] == [
        "amount",
        "day",
        "size",
        "note",
        "number",
    ]


@pytest.mark.parametrize(
    ("value", "written"),
    [
        ("# Title", r"\# Title"),
        ("- item\n1. one\n> quote", "\\- item\n\n1\\. one\n\n\\> quote"),
        ("<b>*x*</b> [a](b) `c` | ~~d~~ &lt;", r"\<b\>\*x\*\</b\> \[a\](b) \`c\` \| \~\~d\~\~ &amp;lt;"),
        ("{{ who }} {% if who %}", r"\{\{ who \}\} \{% if who %\}"),
        ("a\x1b[2J\u202eb\x00", r"a\[2Jb"),
        ("    code", "code"),
        ("---", r"\---"),
    ],
)
def test_a_value_stays_a_value(value: str, written: str) -> None:
    made = fill(template("{{ note }}{{ who }}{{ amount }}"), {"who": "A", "amount": "1", "note": value})
    assert isinstance(made, Document)
    assert made.markdown == f"# Receipt\n\n{written}A1\n"


@pytest.mark.parametrize(
    ("body", "line", "sentence"),
    [
        ("\n{{ stranger }}", 2, "there is no field `stranger`"),
        ("{% if stranger %}{% endif %}", 1, "there is no field `stranger`"),
        ("{{ who.__class__ }}", 1, "the name of a field and nothing else"),
        ("{{ ''.__class__.__mro__[1].__subclasses__() }}", 1, "the name of a field and nothing else"),
        ("{{ 'a' * 999999999 }}", 1, "the name of a field"),
        ("{{ who|attr('__class__') }}", 1, "the name of a field"),
        ("{{ who|upper }}", 1, "the name of a field"),
        ("{{ 9 ** 9 ** 9 }}", 1, "the name of a field"),
        ("{% if who.__class__ %}{% endif %}", 1, "getattr is not known"),
        ("{% if who() %}{% endif %}", 1, "call is not known"),
        ("{% if who < 'a' %}{% endif %}", 1, "compared by `==` and `!=` only"),
        ("a\n{% for x in who %}{% endfor %}", 2, "for is not known"),
        ("{% set who = 'x' %}", 1, "assign is not known"),
        ("{% macro m() %}{% endmacro %}", 1, "macro is not known"),
        ("{% include '/etc/passwd' %}", 1, "include is not known"),
        ("{% import 'os' as os %}", 1, "import is not known"),
        ("{% extends 'x' %}", 1, "extends is not known"),
        ("{% do who %}", 1, "unknown tag 'do'"),
        ("a\n\n{% if who %}\nb", 4, "'endif'"),
        ("{% endif %}", 1, "unknown tag 'endif'"),
        ("{% if who %}{% else %}{% else %}{% endif %}", 1, "unknown tag 'else'"),
        ("x\n{{ who", 2, "unexpected end of template"),
        ("{% if who %}" * 6 + "{% endif %}" * 6, 1, "within each other"),
        ("{% if " + "not " * 6 + "who %}{% endif %}", 1, "within each other"),
        ("{% if " + "(" * 20_000 + "who" + ")" * 20_000 + " %}{% endif %}", 1, "nested too deeply"),
        ("{% if who %}" * 4_000 + "{% endif %}" * 4_000, 1, "nested too deeply"),
        ("{{ who }}" * (MOST_PLACES + 1), 1, "places for values"),
        ("{% if who %}{% endif %}" * 300, 1, "conditions"),
    ],
)
def test_a_body_says_nothing_but_values_and_conditions(body: str, line: int, sentence: str) -> None:
    with pytest.raises(InvalidBody) as refused:
        check_body(body, NAMES)
    assert (refused.value.line, sentence in refused.value.sentence) == (line, True), refused.value.sentence


@pytest.mark.parametrize(
    ("body", "written"),
    [
        ("{% if size == 'small' %}S{% elif size == 'large' %}L{% else %}?{% endif %}\n", "L"),
        ("{% if note and not day %}N{% endif %}{% if size != 'small' or day %}X{% endif %}", "X"),
        ("a {% if who %}b{% endif %}\nc\n", "a b\nc"),
        ("a\n  {% if who %}  \nb\n{% endif %}\nc {# not said #}\nd\n", "a\nb\nc \nd"),
        ("{% raw %}{{ who }}{% endraw %}", "{{ who }}"),
    ],
)
def test_conditions_choose_and_a_tag_alone_on_its_line_leaves_none(body: str, written: str) -> None:
    check_body(body, NAMES)
    made = fill(template(body), {"who": "A", "amount": "1", "size": "large"})
    assert isinstance(made, Document)
    assert made.markdown == f"# Receipt\n\n{written}\n"


@pytest.mark.parametrize(
    ("value", "day", "amount"),
    [
        ("2026年3月1日", True, False), ("2026-03-01", True, False), ("2026-13-01", False, False),
        ("2026-03/01", False, False), ("May 3rd, 2026", True, False), ("3 Mayor 2026", False, False),
        ("12,000元", False, True), ("¥5", False, True), ("1,2", False, False), ("5 万元整", False, True),
        ("about 5 dollars", False, False), ("5 dollars", False, True), ("soon", False, False),
    ],
)  # fmt: skip
def test_days_and_amounts_are_known(value: str, day: bool, amount: bool) -> None:
    assert (is_date(value), is_amount(value)) == (day, amount)


def test_a_value_must_stand_in_its_quote_and_the_quote_in_the_text() -> None:
    assert stands_in("张三", "原告张三", "原告张三，被告李四")
    assert not stands_in("王五", "原告张三", "原告张三，被告李四")
    assert not stands_in("张三", "被告张三", "原告张三，被告李四")
    assert not stands_in(" ", "原告张三", "原告张三")
    assert stands_in("12", "12", "工资120元\n12"), "though it stands in a longer number before"
    assert not stands_in("5", "在15天内", "在15天内付清")
    assert stands_in("Li", "defendant: Li", "plaintiff: Wang, defendant: Li, for liability")
    assert not stands_in("Li", "for liability", "plaintiff: Wang, defendant: Li, for liability")
