"""Templates as files: all that ship can be filled, the user's are refused with file and line; Word reads both."""

import io
import re
from pathlib import Path

import docx
import pytest

from actors.documents.fill import ask_for, fill
from actors.documents.find_fields import find_fields
from actors.documents.template import Document, Field
from runtime.documents.template_file import read_template
from runtime.documents.template_folder import FOLDER, load_templates
from runtime.reports import render
from runtime.reports.document_docx import read_spans
from runtime.settings import ConfigError, DocumentsSettings, Settings
from tests import ROOT

GOOD = """\
---
name: receipt
title: Receipt
kind: letter
language: en
fields:
  - name: payer
    ask: Who pays?
    kind: party
    labels: [Payer]
---

Paid by **{{ payer }}**.
"""
VALUES = {"party": "张三", "date": "2026年3月1日", "money": "12,000元", "text": "第一段\n第二段"}
SHIPPED = [each.stem for each in sorted(FOLDER.glob("*.md"))]


def value_for(field: Field) -> str:
    return field.choices[0] if field.choices else "110101199003070011" if field.pattern else VALUES[field.kind]


@pytest.mark.parametrize("name", SHIPPED)
def test_a_template_that_ships_asks_for_what_is_missing_and_is_filled_with_it(name: str) -> None:
    template = load_templates(Settings())[name]
    missing = fill(template, {})
    assert isinstance(missing, tuple)
    questions = ask_for(template, missing, {})
    assert [each.name for each in questions if not each.optional] == [f.name for f in template.fields if f.required]

    least = fill(template, {each.name: value_for(each) for each in template.fields if each.required})
    most = fill(template, {each.name: value_for(each) for each in template.fields})

    assert isinstance(least, Document)
    assert isinstance(most, Document)
    assert (most.blanks, "{" in most.markdown + least.markdown) == ((), False)
    assert set(least.blanks) == {each.name for each in template.fields if not each.required}
    words = docx.Document(io.BytesIO(render(most, ".docx")))
    shown = "\n".join(each.text for each in words.paragraphs)
    heading = next((value_for(each) for each in template.fields if each.name == template.heading), template.title)
    assert (words.paragraphs[0].text, "张三" in shown, "**" in shown) == (" ".join(heading.split()), True, False)
    assert render(most, ".md").decode() == most.markdown


def test_the_values_of_a_form_are_found_in_each_template_that_ships() -> None:
    for template in load_templates(Settings()).values():
        form = "\n".join(f"{each.labels[0]}: {value_for(each)}" for each in template.fields if each.kind != "text")
        found = find_fields(template, form)
        assert {name: each.value for name, each in found.items()} == {
            each.name: value_for(each) for each in template.fields if each.kind != "text"
        }, template.name


ANN, LAMP = {"plaintiff": "Ann Lee"}, {"defendant": "Lamp Ltd."}
SAID = {
    "Plaintiff: Ann Lee. Defendant: Lamp Ltd.": ANN | LAMP,
    "Plaintiff: Ann Lee Defendant: Lamp Ltd.": ANN | LAMP,
    "Plaintiff: Ann Lee, Defendant: Lamp Ltd., Amount: USD 500": ANN | LAMP | {"amount": "USD 500"},
    "Plaintiff： Ann Lee；Defendant： Lamp Ltd.": ANN | LAMP,
    "**Plaintiff:** Ann Lee\n- **Defendant**: Lamp Ltd.": ANN | LAMP,
    "Plaintiff: Ann Lee | Defendant: Lamp Ltd. | Damages: $500": ANN | LAMP | {"amount": "$500"},
    "Plaintiff: Ann Lee. I lent them money, and they never paid.": ANN,
    "Plaintiff: Ann Lee, of Northgate, lent them money": ANN,
    "Plaintiff: Dr. Ann B. Lee. She is away.": {"plaintiff": "Dr. Ann B. Lee"},
    "Defendant: Lamp (Northgate) Trading Co., Ltd.": {"defendant": "Lamp (Northgate) Trading Co., Ltd."},
    "Plaintiff: Ann Lee\n\nThe plaintiff is away, says the plaintiff.": ANN,
    "Plaintiff's address: 5 Main St. Apt. 4, Northgate. Plaintiff: Ann Lee": ANN
    | {"plaintiff_address": "5 Main St. Apt. 4, Northgate"},
    # asked, not guessed
    "Plaintiff: Ann Lee lives at 5 Main Street and wants her money": {},
    "Plaintiff: Ann Lee, Bob Roe": {},
    "Plaintiff: Ann Lee. Plaintiff: Bob Roe": {},
    "Plaintiff: Ann Lee. Plaintiff: the firm of Bob Roe": {},
    "Plaintiff: Ann Lee Second Defendant: Lamp Ltd.": {},
    "Former plaintiff: Ann Lee": {},
    "Co-defendant: Lamp Ltd.": {},
    "Plaintiff:\nI want my money": {},
    "Plaintiff: Defendant:": {},
    "Defendant: Claimant Ann": {},
    "Plaintiff: me. Defendant: n/a": {},
    "Plaintiff: Ing. Ann Lee": {},
    "Plaintiff: Ann Lee 2nd Defendant: Lamp Ltd.": {},
    "Plaintiff: Yahoo! Inc": {},
    "Plaintiff: " + "Ann " * 60: {},
    "原告：张三。被告：李四。": {"plaintiff": "张三", "defendant": "李四"},
    "原告：张三 被告：李四": {"plaintiff": "张三", "defendant": "李四"},
    "原告：张三，被告：灯具（上海）有限公司。": {"plaintiff": "张三", "defendant": "灯具（上海）有限公司"},
    "原告：张三，男，1980年生，住北京。": {"plaintiff": "张三"},
    "原告：张三（男）；原告代理人：王五": {"plaintiff": "张三"},
    "原告：张三要求被告还钱": {},
    "原告：张三、李四": {},
    "原告：张三，李四": {},
    "原告：本人。被告：不详": {},
    "原告张三诉被告李四": {},
}


@pytest.mark.parametrize("text", SAID)
def test_a_value_ends_where_the_next_label_a_sentence_or_a_line_does_and_what_is_uncertain_is_asked(text: str) -> None:
    template = load_templates(Settings())["complaint_en" if text.isascii() or "P" in text else "complaint_zh"]

    assert {name: each.value for name, each in find_fields(template, text).items()} == SAID[text]
    for each in find_fields(template, text).values():
        assert text[each.start : each.end] == each.quote
        assert each.quote.endswith(each.value)


def test_a_template_of_the_users_own_stands_beside_those_that_ship_or_in_the_place_of_one(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text(GOOD, encoding="utf-8")
    (tmp_path / "b.md").write_text(GOOD.replace("receipt", "complaint_zh"), encoding="utf-8")

    found = load_templates(Settings(documents=DocumentsSettings(templates=str(tmp_path))))

    assert set(found) == {*SHIPPED, "receipt"}
    made = fill(found["complaint_zh"], {"payer": "Ann *Lee*"})
    assert isinstance(made, Document)
    assert made.markdown == "# Receipt\n\nPaid by **Ann \\*Lee\\***.\n"
    assert read_spans(made.markdown.splitlines()[2]) == [("Paid by ", False), ("Ann *Lee*", True), (".", False)]


@pytest.mark.parametrize(
    ("old", "new", "line", "sentence"),
    [
        ("---\nname", "name", 1, "the file must begin with ---"),
        ("title: Receipt\n", "", 2, "the key `title` is missing."),
        ("kind: letter\n", "kind: letter\nkid: x\n", 5, "there is no key 'kid'."),
        ("kind: letter\n", "kind: letter\nheading: payee\n", 5, "there is no field 'payee'."),
        ("kind: letter\n", "kind: letter\nnames: [a, '']\n", 5, "`names` must be a list of up to 20 names"),
        ("language: en", "language: english", 5, "`language` must be a code of two letters, such as zh."),
        ("kind: party", "kind: person", 9, "`kind` must be text, date, money, party or choice"),
        ("    labels: [Payer]", "    choices: [a]", 7, "`choices` belong to a field of the kind `choice`"),
        ("    labels: [Payer]", "    phrases: [I am]", 7, "`phrases` are words before a value and its place"),
        ("    labels: [Payer]", "    story: maybe", 10, "`story` must be true or false."),
        ("    labels: [Payer]", "    pattern: (a+)+b*c*", 7, "could search one ticket for hours"),
        ("{{ payer }}", "{{ payee }}", 13, "there is no field `payee`."),
        ("{{ payer }}", "somebody", 7, "the field 'payer' stands nowhere in the text."),
        ("\n\nPaid", "\n\n{% if payer %}\nPaid", 14, "Unexpected end of template."),
        ("    ask: Who pays?", "    ask: Who pays?\n    ask: Who?", 9, "'ask' is given twice."),
    ],
)
def test_what_is_wrong_is_said_with_file_and_line(tmp_path: Path, old: str, new: str, line: int, sentence: str) -> None:
    assert GOOD.count(old) == 1
    (tmp_path / "a.md").write_text(GOOD.replace(old, new), encoding="utf-8")

    with pytest.raises(ConfigError) as refused:
        load_templates(Settings(documents=DocumentsSettings(templates=str(tmp_path))))

    assert str(refused.value).startswith(f"{tmp_path / 'a.md'}, line {line}: "), refused.value
    assert sentence in str(refused.value)


def test_the_example_of_the_page_is_a_template(tmp_path: Path) -> None:
    page = (ROOT / "docs" / "documents.md").read_text(encoding="utf-8")
    (example,) = re.findall(r"^```markdown\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    (tmp_path / "a.md").write_text(example, encoding="utf-8")

    template = load_templates(Settings(documents=DocumentsSettings(templates=str(tmp_path))))["receipt"]
    found = find_fields(template, "Payer: Ann Lee\nAmount: USD 1,200\n")
    made = fill(template, {name: each.value for name, each in found.items()})

    assert isinstance(made, Document)
    assert "Received from **Ann Lee**: USD 1,200, on ______." in made.markdown


def test_a_folder_that_cannot_be_used_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"The folder \[documents\] templates names, .*gone, cannot be read"):
        load_templates(Settings(documents=DocumentsSettings(templates=str(tmp_path / "gone"))))
    for name in ("a", "b"):
        (tmp_path / f"{name}.md").write_text(GOOD, encoding="utf-8")
    with pytest.raises(ConfigError, match=r"b\.md, line 1: .*a\.md has the name 'receipt', too\."):
        load_templates(Settings(documents=DocumentsSettings(templates=str(tmp_path))))
    (tmp_path / "big.md").write_bytes(b"x" * 70_000)
    with pytest.raises(ConfigError, match="is over 64 KB"):
        read_template(tmp_path / "big.md")
    (tmp_path / "latin.md").write_bytes(b"---\nname: \xe9\n---\n")
    with pytest.raises(ConfigError, match=r"latin\.md, line 2: this is not UTF-8"):
        read_template(tmp_path / "latin.md")
