"""An answer without a model: the best places, named so that they can be found, with what stands there."""

import msgspec
import pytest

from actors.evidence.claims import Citation, Claim
from actors.evidence.passages import Passage
from actors.evidence.places import list_places, name_place, render_places, strip_leads

TEXT = "Choose Insert.\n\nClick Break."
BREAKS = Passage("m/a.html#0", "m/a.html", "Breaks", "Breaks > To Insert One", TEXT, 10, 10 + len(TEXT), "ins")
STYLES = msgspec.structs.replace(
    BREAKS, id="m/b.html#0", source="m/b.html", title="Styles", heading="Use", text="Pick it."
)
PLACE = Citation(2, "m/a.html", "Breaks", "", "", 0, 0)


def test_each_place_is_named_and_quoted_below_one_sentence() -> None:
    text, citations = render_places([Claim(TEXT, 1, TEXT), Claim("Pick it.", 2, "Pick it.")], [BREAKS, STYLES], "en")

    assert text.startswith("These places come closest:\n\n[1] Breaks › To Insert One\nChoose Insert.")
    assert text.endswith("\n\n[2] Styles › Use\nPick it.")
    assert [(each.number, each.source, each.anchor, each.start, each.quote) for each in citations] == [
        (1, "m/a.html", "ins", 10, TEXT), (2, "m/b.html", "ins", 10, "Pick it."),
    ]  # fmt: skip


def test_within_a_line_nothing_is_escaped_that_only_begins_a_block() -> None:
    assert name_place(msgspec.structs.replace(PLACE, title="#1", heading="> all > # of <pages>")) == (
        "[2] #1 › all › # of &lt;pages>"
    )


def test_code_keeps_its_form_and_a_section_within_a_place_is_seen() -> None:
    text = "    $ borg list\n    $ borg info\n\n### Next\n\nMore of it."
    passage = Passage("m#0", "m", "Borg", "Listing", text, 0, len(text))
    shown, (place,) = render_places(list_places((passage,)), (passage,), "en")

    assert place.quote == text
    assert shown.split("\n")[4:] == ["    $ borg list", "    $ borg info", "", "› Next", "More of it."]


def test_where_there_is_no_place_there_is_no_answer() -> None:
    assert render_places([], [], "en") == ("", ())


def test_what_does_not_stand_in_its_passage_is_not_shown() -> None:
    assert render_places([Claim("Pick that.", 2, "Pick that.")], [BREAKS, STYLES], "en") == ("", ())


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
