"""An answer in blocks: statements with their sources beside them, places, lists, tables and code; nothing is a tag."""

from actors.evidence.claims import Citation, Resolution
from runtime.http.pages.ticket_page import Group, Mark, read_groups


def cite(number: int) -> Citation:
    return Citation(number, f"kb/{number}.md", f"Title {number}", f"Title {number} > Part", f"Quote {number}.", 0, 8)


def read(text: str, count: int = 2) -> tuple[Group, ...]:
    return read_groups(Resolution(text, tuple(cite(number) for number in range(1, count + 1))))


def kinds(groups: tuple[Group, ...]) -> list[list[str]]:
    return [[block.kind for block in group.blocks] for group in groups]


def test_each_statement_has_its_sources_beside_it_where_they_are_named_first() -> None:
    groups = read("One thing. [1][2]\nAnother. [1]")
    assert [[each.number for each in group.citations] for group in groups] == [[1, 2]]
    assert [part.number for part in groups[0].blocks[1].parts if isinstance(part, Mark)] == [1]


def test_a_place_and_its_words_are_one_group_and_the_lead_stands_apart() -> None:
    groups = read("These places come closest:\n\n[1] Title 1 › Part\nQuote 1.\nMore.\n\n[2] Title 2 › Part\nQuote 2.")
    assert kinds(groups) == [["heading"], ["place", "statement", "statement"], ["place", "statement"]]
    assert [group.is_quoted for group in groups] == [False, True, True]


def test_lists_tables_and_code_keep_their_form() -> None:
    text = "Steps:\n- first `a` [1]\n2. second\n\n    rm -rf\n    done\n\n| A | B |\n| --- | --- |\n| x | y [2] |"
    groups = read(text)
    blocks = [block for group in groups for block in group.blocks]
    assert [block.kind for block in blocks] == ["heading", "item", "item", "code", "table"]
    assert [(part.text, part.code) for part in blocks[1].parts if not isinstance(part, Mark)] == [
        ("first ", False),
        ("a", True),
    ]
    assert (blocks[2].mark, blocks[3].parts[0]) == ("2.", ("rm -rf\ndone", False))
    assert len(blocks[4].rows) == 2
    assert [each.number for each in groups[-1].citations] == [2]


def test_a_number_in_brackets_that_is_no_source_stays_text() -> None:
    blocks = read("See [7] there. [1]")[0].blocks
    assert "".join(part.text for part in blocks[0].parts if not isinstance(part, Mark)) == "See [ 7 ] there."


def test_what_a_person_gave_is_left_as_it_is() -> None:
    text = "| no table\n<b>no tag</b>\n\n    [1] no source"
    groups = read_groups(Resolution(text))
    assert (kinds(groups), groups[0].blocks[0].parts[0].text) == ([["given"]], text)  # type: ignore[union-attr] # a span


def test_a_document_of_ours_keeps_its_headings_and_what_is_said_of_it_stands_below_a_rule() -> None:
    groups = read_groups(Resolution("# Letter\n\n**To**: Ann\n\n---\nNo lawyer wrote it."), is_document=True)
    blocks = [block for group in groups for block in group.blocks]
    assert [block.kind for block in blocks] == ["heading", "statement", "rule", "statement"]
    assert blocks[1].parts == (("To: Ann", False),)
