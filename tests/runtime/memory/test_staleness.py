"""An earlier answer is used again only as long as its quotes stand in the documents, and nobody better can be asked."""

import asyncio
from collections.abc import Callable, Sequence

import msgspec
import pytest

from actors.evidence.claims import Citation, Resolution
from actors.evidence.earlier_answers import cite_ticket
from actors.ports import PortFailed
from actors.text.normalize import find_span
from runtime.memory.ticket_memory import TicketMemory
from tests.runtime.memory.conftest import Open

TEXT = "My VPN does not connect"
QUOTE = "Renew the certificate in the settings."
ANSWER = Resolution(f"{QUOTE} [1]", (Citation(1, "vpn.md", "VPN", "Certificates", QUOTE, 10, 48),))
WITHIN = 30.0


class Texts:
    """Documents by their source, as an index holds them."""

    def __init__(self, **texts: str) -> None:
        self.texts = {f"{name}.md": text for name, text in texts.items()}
        self.asked: list[tuple[str, str]] = []

    async def find_missing(self, quotes: Sequence[tuple[str, str]], *, within: float) -> list[int]:
        await asyncio.sleep(0)
        assert within > 0
        self.asked += quotes
        return [i for i, (source, quote) in enumerate(quotes) if not find_span(quote, self.texts.get(source, ""))]


class Unreadable:
    async def find_missing(self, quotes: Sequence[tuple[str, str]], *, within: float) -> list[int]:
        raise PortFailed("No documents are indexed yet")


@pytest.fixture
async def memory(opened: Open) -> TicketMemory:
    found = opened()
    found.documents = Texts(vpn=f"# VPN\n\n{QUOTE}\n")
    return found


async def verdict(memory: TicketMemory) -> str:
    return (await memory.recall(TEXT, within=WITHIN)).verdict


async def test_an_answer_whose_quotes_stand_is_a_hit_wherever_they_stand_now(memory: TicketMemory) -> None:
    await memory.store("run:1", "T1", TEXT, ANSWER)
    assert await verdict(memory) == "hit"
    memory.documents = Texts(vpn="Something new above.\n\nRenew the\ncertificate in  the settings.\n")
    assert await verdict(memory) == "hit"


@pytest.mark.parametrize(
    "documents", [Texts(vpn="Ask the help desk for a certificate."), Texts(other=QUOTE), Texts()],
    ids=["changed", "renamed", "removed"],
)  # fmt: skip
async def test_an_answer_whose_quote_is_gone_is_only_suggested_and_says_so(
    memory: TicketMemory, documents: Texts
) -> None:
    await memory.store("run:1", "T1", TEXT, ANSWER)
    await memory.feedback("T1", right=True)
    memory.documents = documents

    recall = await memory.recall(TEXT, within=WITHIN)

    assert (recall.verdict, recall.ticket_id) == ("suggestion", "T1")
    assert recall.stale == f"“{QUOTE}” does not stand in vpn.md any more."
    assert recall.stale in recall.why


async def test_one_quote_of_several_that_is_gone_is_enough(memory: TicketMemory) -> None:
    other = Citation(2, "vpn.md", "VPN", "", "Then restart the client.", 50, 74)
    await memory.store("run:1", "T1", TEXT, msgspec.structs.replace(ANSWER, citations=(*ANSWER.citations, other)))
    assert "Then restart the client." in (await memory.recall(TEXT, within=WITHIN)).stale


async def test_without_an_index_that_can_be_read_nothing_is_a_hit(memory: TicketMemory) -> None:
    await memory.store("run:1", "T1", TEXT, ANSWER)
    memory.documents = Unreadable()
    recall = await memory.recall(TEXT, within=WITHIN)
    assert recall.verdict == "suggestion"
    assert recall.stale == "Its quotes could not be looked up in the documents: No documents are indexed yet."


async def test_an_older_answer_that_still_stands_is_better_than_a_newer_one_that_does_not(memory: TicketMemory) -> None:
    await memory.store("run:1", "T1", TEXT, ANSWER)
    gone = Resolution("Old. [1]", (Citation(1, "gone.md", "Gone", "", "It was so.", 0, 10),))
    await memory.store("run:2", "T2", TEXT, gone)
    assert (await memory.recall(TEXT, within=WITHIN)).ticket_id == "T1"


async def test_a_document_that_a_research_read_is_found_under_its_own_name(memory: TicketMemory) -> None:
    (citation,) = ANSWER.citations
    source = msgspec.structs.replace(citation, source="knowledge:vpn.md")
    await memory.store("run:1", "T1", TEXT, msgspec.structs.replace(ANSWER, citations=(source,)))
    assert await verdict(memory) == "hit"


async def test_web_pages_are_not_looked_up_and_their_age_is_told(memory: TicketMemory) -> None:
    page = Citation(1, "https://example.org/vpn", "VPN", "", "Renew it.", 0, 9)
    await memory.store("run:1", "T1", TEXT, Resolution("Renew it. [1]", (page,)))
    recall = await memory.recall(TEXT, within=WITHIN)
    assert recall.verdict == "hit"
    assert "The web pages that it cites were read on 20" in recall.why
    assert isinstance(memory.documents, Texts)
    assert memory.documents.asked == []


async def test_an_earlier_ticket_that_is_cited_is_no_document(memory: TicketMemory) -> None:
    wrapped = msgspec.structs.replace(ANSWER, citations=(*ANSWER.citations, cite_ticket("T0", ANSWER, "en")))
    await memory.store("run:1", "T1", TEXT, wrapped)
    assert await verdict(memory) == "hit"


@pytest.fixture
def with_model(opened: Open) -> Callable[[], TicketMemory]:
    """The same store in a process that has a model."""
    return lambda: opened(has_model=True)


async def test_an_answer_without_a_model_never_keeps_one_from_being_asked(
    opened: Open, with_model: Callable[[], TicketMemory]
) -> None:
    await opened().store("run:1", "T1", TEXT, ANSWER)
    recall = await with_model().recall(TEXT, within=WITHIN)
    assert (recall.verdict, recall.stale) == ("suggestion", "No model made it, and one is configured now.")


async def test_nor_does_one_that_was_made_when_the_model_failed(with_model: Callable[[], TicketMemory]) -> None:
    memory = with_model()
    await memory.store("run:1", "T1", TEXT, ANSWER, "The model did not answer.")
    assert await verdict(memory) == "suggestion"


async def test_a_models_own_answer_is_used_again(with_model: Callable[[], TicketMemory], opened: Open) -> None:
    await with_model().store("run:1", "T1", TEXT, ANSWER)
    assert await verdict(with_model()) == "hit"
    assert await verdict(opened()) == "hit"


async def test_what_a_person_confirmed_stands_though_no_model_made_it(
    opened: Open, with_model: Callable[[], TicketMemory]
) -> None:
    memory = opened()
    await memory.store("run:1", "T1", TEXT, ANSWER)
    await memory.feedback("T1", right=True)
    assert await verdict(with_model()) == "hit"
