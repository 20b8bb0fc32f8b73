"""An answer without a model: the best places, named so that they can be found, with what stands there."""

import msgspec
import pytest

from actors.evidence.claims import Citation, Claim
from actors.evidence.passages import Passage
from actors.evidence.places import LEADS, PartPlaces, name_place, render_places, strip_leads
from actors.text.catalogue import say

TEXT = "Choose Insert.\n\nClick Break."
BREAKS = Passage("m/a.html#0", "m/a.html", "Breaks", "Breaks > To Insert One", TEXT, 10, 10 + len(TEXT), "ins")
STYLES = msgspec.structs.replace(
    BREAKS, id="m/b.html#0", source="m/b.html", title="Styles", heading="Use", text="Pick it."
)
PLACE = Citation(2, "m/a.html", "Breaks", "", "", 0, 0)


def test_each_place_is_named_and_quoted_under_a_sentence_that_says_how_sure_it_is() -> None:
    parts = [PartPlaces("", "perhaps", (Claim(TEXT, 1, TEXT), Claim("Pick it.", 2, "Pick it.")))]

    text, citations = render_places(parts, [BREAKS, STYLES], "en")

    assert text.startswith(f"{say(LEADS['perhaps'], 'en')}\n\n[1] Breaks › To Insert One\nChoose Insert.")
    assert text.endswith("\n\n[2] Styles › Use\nPick it.")
    assert [(each.number, each.source, each.anchor, each.start, each.quote) for each in citations] == [
        (1, "m/a.html", "ins", 10, TEXT), (2, "m/b.html", "ins", 10, "Pick it."),
    ]  # fmt: skip


def test_within_a_line_nothing_is_escaped_that_only_begins_a_block() -> None:
    assert name_place(msgspec.structs.replace(PLACE, title="#1", heading="> all > # of <pages>")) == (
        "[2] #1 › all › # of &lt;pages>"
    )
    quote = Claim("Pick it.", 2, "Pick it.")
    parts = [PartPlaces("## VPN?", "far"), PartPlaces("> What <now>?", "sure", (quote,))]
    text = render_places(parts, [BREAKS, STYLES], "en")[0]
    assert text.startswith("Nothing was found on “VPN?”.\n\nOn “What &lt;now>?”:\n")


def test_each_part_has_its_places_or_its_own_nothing_and_a_place_of_both_has_one_number() -> None:
    quote = Claim("Pick it.", 2, "Pick it.")
    parts = [PartPlaces("A *b*?", "sure", (quote,)), PartPlaces("C?", "far"), PartPlaces("D?", "perhaps", (quote,))]

    text, citations = render_places(parts, [BREAKS, STYLES], "en")

    assert text.split("\n\n") == [
        f"On “A *b*?”:\n{say(LEADS['sure'], 'en')}", "[1] Styles › Use\nPick it.", "Nothing was found on “C?”.",
        f"On “D?”:\n{say(LEADS['perhaps'], 'en')}", "[1] Styles › Use\nPick it.",
    ]  # fmt: skip
    assert [each.number for each in citations] == [1]


def test_where_no_part_has_a_place_there_is_no_answer() -> None:
    assert render_places([PartPlaces("A?", "far"), PartPlaces("B?", "far")], [], "en") == ("", ())


def test_what_does_not_stand_in_its_passage_is_not_shown() -> None:
    assert render_places([PartPlaces("", "sure", (Claim("Pick that.", 2, "Pick that."),))], [BREAKS, STYLES], "en") == (
        "",
        (),
    )


@pytest.mark.parametrize(
    ("title", "heading", "name"),
    [
        ("Breaks", "", "[2] Breaks"),
        ("Breaks", "Breaks", "[2] Breaks"),
        ("unaccent", "Modules > unaccent > Usage", "[2] Modules › unaccent › Usage"),
        ("Breaks", "Use", "[2] Breaks › Use"),
        ("", "", "[2] m/a.html"),
    ],
)
def test_a_place_is_named_by_its_document_and_section(title: str, heading: str, name: str) -> None:
    assert name_place(msgspec.structs.replace(PLACE, title=title, heading=heading)) == name


@pytest.mark.parametrize(
    ("text", "bare"),
    [
        ("On “A?”:\nHere:\n\n[1] A › B\nQuote:\n\n[2] C\nMore.", "[1] A › B\nQuote:\n\n[2] C\nMore."),
        ("以下内容：\n\n[1] A\nQuote.", "[1] A\nQuote."),
        ("Do this:\n\nSet it to 5. [1]", "Do this:\n\nSet it to 5. [1]"),
        ("Run:\n\n[1]\n    code", "Run:\n\n[1]\n    code"),
        ("", ""),
    ],
)
def test_only_what_stands_above_places_is_left_away_where_answers_are_compared(text: str, bare: str) -> None:
    assert strip_leads(text) == bare
