"""Only what stands in a passage that was read reaches a person, with where it stands."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.evidence.claims import Claim, check, cite, relabel, verify
from actors.evidence.passages import Passage
from actors.evidence.support import Verdict
from tests.actors.evidence.retold_claims import TOLD, UNDECIDED, Told

TEXT = (
    "You must not run VACUUM FULL on a busy table. The default time\u00adout is 30 seconds, as of 12 March 2024. "
    "Set max_wal_size to 1GB, see [3]. It costs $1,500 a year. The key isn’t renewed by itself."
)
PASSAGE = Passage("kb/a.md#4", "kb/a.md", "Guide", "Guide > Limits", TEXT, 1000, 1000 + len(TEXT), "limits")
OTHER = Passage("kb/b.md#0", "kb/b.md", "Other", "Other", "密码必须至少12位，不能重复使用。重置密码需要工号。", 0, 24)
PASSAGES = (PASSAGE, OTHER)


def verdict(text: str, quote: str, passage: int = 1) -> Verdict:
    return verify(Claim(text, passage, quote), PASSAGES)


@pytest.mark.parametrize(
    "quote",
    [
        "The default timeout is 30 seconds",
        "the DEFAULT  timeout\n is 30 seconds",
        "The default time\u200bout is ３０ seconds",
        "The key isn't renewed by itself.",
    ],
)
def test_a_quote_may_differ_in_what_does_not_matter(quote: str) -> None:
    assert verdict(quote, quote) == "supported"


@pytest.mark.parametrize(
    ("quote", "passage"),
    [
        ("The default timeout is 30 minutes", 1),
        ("The default timeout was 30 seconds", 1),
        ("You must not run VACUUM FULL on a busy table", 2),
        ("You must not run VACUUM FULL on a busy table", 0),
        ("You must not run VACUUM FULL on a busy table", -1),
        ("You must not run VACUUM FULL on a busy table", 3),
        ("", 1),
        ("\u200b\u00ad", 1),
    ],
)
def test_a_quote_that_does_not_stand_in_its_passage_is_unverified(quote: str, passage: int) -> None:
    assert verdict(quote or "Words.", quote, passage) == "unverified"


@pytest.mark.parametrize(
    ("text", "quote", "expected"),
    [
        ("The timeout is 30 s by default.", "The default timeout is 30 seconds", "supported"),
        ("The timeout is half a minute: 0.5 minutes.", "The default timeout is 30 seconds", "supported"),
        ("The timeout is 60 seconds.", "The default timeout is 30 seconds", "contradicted"),
        ("The timeout is 30 minutes.", "The default timeout is 30 seconds", "contradicted"),
        ("The timeout: since 2024-03-12.", "The default timeout is 30 seconds, as of 12 March 2024", "supported"),
        ("The timeout is of March 13, 2024.", "The default timeout is 30 seconds, as of 12 March 2024", "contradicted"),
        ("It costs 1500 dollars a year.", "It costs $1,500 a year", "supported"),
        ("It costs $2,500 a year.", "It costs $1,500 a year", "contradicted"),
        ("It costs $1,500 for seven users.", "It costs $1,500 a year", "unverified"),
        ("Set max_wal_size to 1 GB.", "Set max_wal_size to 1GB", "supported"),
        ("Set min_wal_size to 1 GB.", "Set max_wal_size to 1GB", "unverified"),
        ("Set max_wal_size at https://evil.example/x", "Set max_wal_size to 1GB", "unverified"),
        ("Run VACUUM FULL on the table.", "You must not run VACUUM FULL on a busy table", "contradicted"),
        ("Never run VACUUM FULL on a busy table.", "You must not run VACUUM FULL on a busy table", "supported"),
        ("The time-out by default is 30 s.", "The default timeout is 30 seconds", "supported"),
        ("The timeout --default is 30 s.", "The default timeout is 30 seconds", "unverified"),
        ("Bananas are yellow fruit.", "The default timeout is 30 seconds", "unverified"),
        ("The timeout is fine.", "is 30", "unverified"),
    ],
)  # fmt: skip
def test_numbers_dates_names_and_negations_of_a_claim_must_be_those_of_its_quote(
    text: str, quote: str, expected: str
) -> None:
    assert verdict(text, quote) == expected


def test_a_negation_that_no_source_has_is_a_contradiction() -> None:
    passage = Passage("a#0", "a.md", "A", "A", "The backup copies all tables each night.", 0, 40)
    claim = Claim("The backup does not copy all tables.", 1, "The backup copies all tables each night.")
    assert verify(claim, (passage,)) == "contradicted"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("密码至少12位。", "supported"),
        ("密码至少8位。", "contradicted"),
        ("The password needs 12 characters.", "supported"),
    ],
)
def test_chinese_claims_are_held_to_the_same(text: str, expected: str) -> None:
    assert verdict(text, "密码必须至少12位", 2) == expected


def test_inventions_never_reach_the_text() -> None:
    claims = (
        Claim("The timeout is 30 seconds.", 1, "The default timeout is 30 seconds"),
        Claim("It can be raised to 99 seconds.", 1, "It can be raised to 99 seconds"),
        Claim("The timeout is 45 seconds.", 1, "The default timeout is 30 seconds"),
        Claim("Ask at https://evil.example", 7, "Ask"),
    )
    text, citations = cite(claims, PASSAGES)
    assert text == "The timeout is 30 seconds. [1]"
    assert [(each.number, each.source, each.anchor) for each in citations] == [(1, "kb/a.md", "limits")]


def test_a_citation_is_a_slice_of_the_document() -> None:
    _, (citation,) = cite((Claim("The timeout is 30 seconds.", 1, "the default timeout is 30 SECONDS"),), PASSAGES)
    assert citation.quote == "The default time\u00adout is 30 seconds"
    assert TEXT[citation.start - 1000 : citation.end - 1000] == citation.quote


def test_equal_citations_are_one_and_equal_statements_too() -> None:
    quote = "Set max_wal_size to 1GB, see [3]."
    claims = (
        Claim("Set max_wal_size to 1GB.", 1, quote),
        Claim("The max_wal_size is 1GB.", 1, quote),
        Claim("Set max_wal_size to 1GB.", 1, "Set max_wal_size to 1GB"),
    )
    text, citations = cite(claims, PASSAGES)
    assert text == "Set max_wal_size to 1GB. [1][2]\nThe max_wal_size is 1GB. [1]"
    assert [each.number for each in citations] == [1, 2]


def test_words_of_an_article_stand_under_its_name_and_not_under_its_version() -> None:
    text = "The employer shall pay compensation."
    article = Passage("statute:x", "statute:x", "Labour Act, art. 46", "version of 2012", text, 0, len(text))

    shown, _ = cite([Claim(text, 1, text)], [article])

    assert shown == f"Labour Act, art. 46:\n{text} [1]"


def test_what_only_quotes_stands_under_its_heading_and_code_keeps_its_lines() -> None:
    body = "Renew the key:\n\n    ctl renew\n    ctl check a[1]"
    passage = Passage("a#0", "a.md", "A", "A > Renewal", body, 0, len(body))
    text, citations = cite((Claim(body, 1, body), Claim("Renew the key:", 1, "Renew the key:")), (passage,))
    assert text == ("A > Renewal:\nRenew the key: [1]\n\n    ctl renew\n    ctl check a[1]\n\nRenew the key: [2]")
    assert citations[0].quote == body


def test_nothing_supported_is_an_empty_text() -> None:
    assert cite((), PASSAGES) == ("", ())
    assert cite((Claim("x", 1, "y"),), PASSAGES) == ("", ())


@pytest.mark.parametrize(
    ("said", "shown"),
    [
        ("Danger \x1b[31mred\x1b[0m and \u202egnp.exe here", "Danger [31mred[0m and gnp.exe here [1]"),
        (
            "See [the page](https://evil.example/x) and ![pic](http://e.example/p.png) now",
            "See the page and pic now [1]",
        ),
        ("As said in [2] and [3, 4] before", "As said in [ 2 ] and [ 3, 4 ] before [1]"),
        ("# No heading\nof this document", "\\# No heading of this document [1]"),
        ("Write <script>alert</script> words", "Write &lt;script>alert&lt;/script> words [1]"),
        ("Write \\<script> words", "Write \\&lt;script> words [1]"),
        ("See [[the page]](javascript:alert(1)) now", "See [[the page]\\](javascript:alert(1)) now [1]"),
        ("[home]: javascript:alert(1)", "\\[home]: javascript:alert(1) [1]"),
        ("- an item\n\n    <script>code</script>", "- an item [1]\n\n    &lt;script>code&lt;/script>"),
        ("An open ` backtick in words", "An open ' backtick in words [1]"),
        ("`AUTH_FAILED` means no code", "`AUTH_FAILED` means no code [1]"),
        ("~/.pgpass holds the password", "~/.pgpass holds the password [1]"),
        ("Two words\n---\nand more", "Two words --- and more [1]"),
        ("Before\r\n> quoted\r\n> words", "Before quoted words [1]"),
    ],
)
def test_text_from_outside_cannot_break_the_rendering(said: str, shown: str) -> None:
    passage = Passage("a#0", "a.md", "", "", said, 0, len(said))
    assert cite((Claim(said, 1, said),), (passage,))[0] == shown


@given(
    st.lists(st.tuples(st.text(max_size=60), st.integers(-1, 3), st.text(max_size=60)), max_size=6),
    st.text(max_size=200),
)
def test_whatever_is_claimed_the_marks_and_citations_agree(claims: list[tuple[str, int, str]], body: str) -> None:
    passage = Passage("a#0", "a.md", "A", "A > B", body + TEXT, 5, 5 + len(body + TEXT))
    text, citations = cite([Claim(*each) for each in claims], (passage, OTHER))
    assert [each.number for each in citations] == list(range(1, len(citations) + 1))
    marks = {int(number) for number in re.findall(r"\[(\d+)\]", re.sub(r"(?m)^    .*$", "", text))}
    assert marks <= {each.number for each in citations}
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e]", text)
    for each in citations:
        source = passage if each.source == "a.md" else OTHER
        assert source.text[each.start - source.start : each.end - source.start] == each.quote


@pytest.mark.parametrize("told", TOLD, ids=lambda told: f"{told.honest}-{told.kind}-{told.text[:30]}")
def test_what_rules_are_sure_of_holds_for_each_retold_claim(told: Told) -> None:
    passage = Passage("a#0", "a.md", "Guide", "", told.quote, 0, len(told.quote))
    finding = check(Claim(told.text, 1, told.quote), (passage,))

    assert (finding.verdict == "supported") == told.honest or told.text in UNDECIDED, finding.why
    assert bool(finding.why) == (finding.verdict != "supported")


def test_a_claim_finds_the_passage_that_holds_its_quote() -> None:
    quote = "The default timeout is 30 seconds"
    assert relabel(Claim("It is 30 s.", 2, quote), PASSAGES).passage == 1
    assert relabel(Claim("It is 30 s.", 2, quote), (*PASSAGES, PASSAGE)).passage == 2, "two of them hold it"
    assert relabel(Claim("It is 30 s.", 1, "Nobody wrote this."), PASSAGES).passage == 1


def test_the_tickets_own_numbers_and_names_may_be_spoken_of() -> None:
    quote = "Set max_wal_size to 1GB"
    claim = Claim("For your 12 databases on db_main, set max_wal_size to 1 GB.", 1, quote)

    assert verify(claim, PASSAGES) == "unverified"
    assert verify(claim, PASSAGES, "All 12 databases of db_main are slow.") == "supported"
    other = Claim("Set max_wal_size to 8 GB.", 1, quote)
    assert verify(other, PASSAGES, "May it be 8 GB?") == "contradicted", "the quote says another number"


def test_a_number_with_a_sharp_s_is_known_as_any_other() -> None:
    said, quote = "Die Frist beträgt dreißig Tage.", "Die Frist beträgt sechzig Tage."
    passage = Passage(id="a#1", source="a.md", title="A", heading="A", text=quote, start=0, end=len(quote))

    assert verify(Claim(said, 1, quote), [passage]) == "contradicted"
