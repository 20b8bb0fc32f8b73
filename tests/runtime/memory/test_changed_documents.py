"""A confirmed answer over real documents: what happens to it when these change."""

from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest

from actors.workflow.outcome import Outcome
from runtime.engine.node import Node
from runtime.settings import EmbeddingsSettings, Settings, StorageSettings
from runtime.tickets import Ticket

LIMITS = """\
# Expenses

## Receipts

Hand in receipts within 30 days after the trip in the tool Tally.

## Limit for a dinner with customers

The limit for a dinner with customers is 120 euros for each person. A manager has to approve it.

## Trains

Trains are booked in the second class, and in the first class above four hours.
"""
QUESTION = "What is the limit for a dinner with customers?"
LAPSED = "From May 2026 this no longer applies: the limit is now 95 euros.\n"


class Desk:
    """A node over a folder of documents, with one answer that a person has confirmed."""

    def __init__(self, node: Node, folder: Path) -> None:
        self.node = node
        self.folder = folder

    async def ask(self, ticket: str) -> Outcome:
        return await (await self.node.submit(Ticket(id=ticket, text=QUESTION))).outcome()

    async def write(self, name: str, text: str) -> None:
        (self.folder / name).write_text(text, encoding="utf-8")
        await self.index()

    async def index(self) -> None:
        await self.node.index([str(self.folder)], lambda _: None)


@pytest.fixture
async def desk(tmp_path: Path) -> AsyncIterator[Desk]:
    folder = tmp_path / "docs"
    folder.mkdir()
    settings = Settings(
        storage=StorageSettings(folder=str(tmp_path / "data")), embeddings=EmbeddingsSettings(provider="none")
    )
    async with Node.open(settings) as node:
        desk = Desk(node, folder)
        await desk.write("limits.md", LIMITS)
        first = await desk.ask("T-1")
        assert first.resolution is not None
        assert "120 euros" in first.resolution.text
        await node.feedback("T-1", right=True)
        yield desk


async def test_it_is_given_again_while_nothing_has_changed_that_it_rests_on(desk: Desk) -> None:
    assert (await desk.ask("T-2")).status == "resolved"

    await desk.write("limits.md", LIMITS.replace("second class, and", "second class,\nand"))
    await desk.write("vpn.md", "# VPN\n\n## Connecting\n\nStart the client and sign in with your badge.\n")

    assert (await desk.ask("T-3")).status == "resolved"


def append(text: str) -> str:
    return text.replace("approve it.\n", f"approve it.\n\n{LAPSED}")


def append_below(text: str) -> str:
    return text.replace("approve it.\n", f"approve it.\n\n### Since May\n\n{LAPSED}")


def lapse(text: str) -> str:
    return text.replace("# Expenses\n", "# Expenses\n\nThis page is out of date. See the new one.\n")


@pytest.mark.parametrize("change", [append, append_below, lapse])
async def test_a_section_that_was_changed_is_looked_up_anew(desk: Desk, change: Callable[[str], str]) -> None:
    await desk.write("limits.md", change(LIMITS))

    outcome = await desk.ask("T-2")

    assert outcome.status == "suggested"
    assert outcome.resolution is not None
    assert LAPSED.strip() in outcome.resolution.text or change is not append


async def test_a_newer_section_elsewhere_that_is_found_as_early_makes_it_a_suggestion(desk: Desk) -> None:
    await desk.write(
        "limits-2026.md", "# Limits from May 2026\n\n## Limit for a dinner with customers\n\nThe limit is 95 euros.\n"
    )

    outcome = await desk.ask("T-2")

    assert outcome.status == "suggested"
    assert "95 euros" in str(outcome.resolution)


async def test_an_answer_from_a_document_that_was_removed_is_told_as_such_only(desk: Desk) -> None:
    (desk.folder / "limits.md").unlink()
    await desk.write("vpn.md", "# VPN\n\n## Connecting\n\nStart the client and sign in with your badge.\n")

    outcome = await desk.ask("T-2")

    assert outcome.status == "suggested"
    assert outcome.resolution is not None
    assert outcome.resolution.text.startswith("This was the answer to an earlier ticket. “")
    assert "does not stand in docs/limits.md any more" in outcome.resolution.text


EDITED = "Up to 120 euros, dear colleague.\n\nYour manager approves it."


async def test_a_persons_other_words_for_it_rest_on_the_same_sections_also_when_they_are_changed_again(
    desk: Desk,
) -> None:
    await desk.node.teach("T-1", EDITED, "ann", edits=True)
    second = await desk.ask("T-2")
    assert second.resolution is not None
    assert (second.status, second.resolution.text, second.resolution.citations) == ("resolved", EDITED, ())
    await desk.node.teach("T-2", f"{EDITED} Enjoy!", "bob", edits=True)
    assert (await desk.ask("T-3")).status == "resolved"

    await desk.write("limits.md", append(LIMITS))

    assert (await desk.ask("T-4")).status == "suggested"
    (desk.folder / "limits.md").unlink()
    await desk.write("vpn.md", "# VPN\n\n## Connecting\n\nStart the client and sign in with your badge.\n")
    gone = await desk.ask("T-5")
    assert gone.status == "suggested"
    assert "does not stand in docs/limits.md any more" in str(gone.resolution)


async def test_what_a_person_answers_in_words_of_their_own_rests_on_nothing(desk: Desk) -> None:
    await desk.node.teach("T-1", EDITED, "ann")
    await desk.write("limits.md", append(LIMITS))
    assert (await desk.ask("T-2")).status == "resolved"
