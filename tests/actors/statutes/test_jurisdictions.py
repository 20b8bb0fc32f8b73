"""Another country's law is a file: its articles are named, read and cited without a line of code."""

import pytest

from actors.statutes.jurisdiction import InvalidJurisdiction, parse_jurisdiction
from actors.statutes.references import Reference, find_references, quote_part, render_reference
from runtime.knowledge.law_reader import parse_law

GERMANY = r"""
name = "Germany"
language = "de"
citation = "§ {number}{parts} {law}"
paragraph = " Abs. {paragraph}"
item = " Nr. {item}"

[citations]
article = '§§?\s*(?P<numbers>{numbers})(?:\s*Abs\.\s*(?P<paragraph>{n}))?(?:\s*Nr\.\s*(?P<item>{n}))?'
joins = ',|und'
spans = '[-–]|bis'
behind = '\s*([A-ZÄÖÜ]\w{1,20})'

[layout]
article = '^#{2,6} § (?P<number>{n})\s*(?P<text>.*)$'
paragraph = '^\((?P<number>{n})\)'
item = '^(?P<number>{n})\.\s'
example = "## § 1"
"""
KOREA = r"""
name = "Korea"
language = "ko"
citation = "「{law}」 제{number}조"
paragraph = " 제{paragraph}항"
item = " 제{item}호"

[citations]
article = '제\s*(?P<numbers>{numbers})\s*조(?:\s*제\s*(?P<paragraph>{n})\s*항)?(?:\s*제\s*(?P<item>{n})\s*호)?'
spans = '[-~]|부터|에서'
named = '「([^「」]{1,80})」\s*$'
goes_on = '^\s*(?:,|및|와|과|부터)?\s*$'

[layout]
article = '^제(?P<number>{n})조\s*(?P<text>.*)$'
paragraph = '^(?P<number>[①-⑳])'
item = '^(?P<number>{n})\.\s'
title_marks = "「」"
"""


@pytest.mark.req("LG-9")
@pytest.mark.parametrize(
    ("file", "law", "text", "references", "rendered"),
    [
        (GERMANY, "BGB", "nach § 626 Abs. 1 BGB", [(626, 0, 1)], ["§ 626 Abs. 1 BGB"]),
        (GERMANY, "BGB", "§§ 433, 434 und 437 Nr. 2 BGB", [(433,), (434,), (437, 0, 0, 2)], None),
        (GERMANY, "BGB", "§§ 626-628 BGB", [(626,), (627,), (628,)], None),
        (KOREA, "민법", "민법 제39조 제1항", [(39, 0, 1)], ["「민법」 제39조 제1항"]),
        (KOREA, "민법", "「민법」 제3조, 제4조 제2호", [(3,), (4, 0, 0, 2)], None),
        (KOREA, "민법", "민법 제7조부터 제9조까지", [(7,), (8,), (9,)], None),
    ],
)  # fmt: skip
def test_articles_are_named_as_the_country_names_them(
    file: str, law: str, text: str, references: list[tuple[int, ...]], rendered: list[str] | None
) -> None:
    country = parse_jurisdiction(file, "a.toml")

    found = find_references(text, country, lambda name: law if name == law else "")

    assert list(found) == [Reference(law, *each) for each in references]
    assert rendered in (None, [render_reference(each, country) for each in found])


@pytest.mark.req("LG-9")
def test_a_law_is_read_and_its_parts_are_quoted() -> None:
    country = parse_jurisdiction(GERMANY, "germany.toml")
    text = "# BGB\n\n## § 626\n\n(1) Fristlos.\n(2) Binnen zwei Wochen:\n1. schriftlich;\n2. mit Grund.\n"

    (article,) = parse_law(text.encode(), "bgb", country).articles

    assert article.number == 626
    assert quote_part(article.text, 1, 0, country) == "(1) Fristlos."
    assert quote_part(article.text, 2, 2, country) == "(2) Binnen zwei Wochen:\n2. mit Grund."
    assert quote_part(article.text, 3, 0, country) == quote_part(article.text, 2, 9, country) == ""


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (("{numbers})", "{numbers}"), "`article` of \\[citations\\] is no regular expression"),
        (("P<numbers>", "P<number>"), "`article` of \\[citations\\] needs a group named `numbers`"),
        (('language = "de"', ""), "language"),
        (('language = "de"', 'language = "de"\nmotto = "x"'), "motto"),
        (("[layout]", '[numerals]\ndigits = "123"\n[layout]'), "ten `digits`"),
    ],
)
def test_a_file_that_cannot_be_used_is_refused_with_why(change: tuple[str, str], said: str) -> None:
    with pytest.raises(InvalidJurisdiction, match=f"germany.toml.*{said}"):
        parse_jurisdiction(GERMANY.replace(*change), "germany.toml")
