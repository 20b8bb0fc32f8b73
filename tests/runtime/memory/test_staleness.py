"""An earlier answer is used again only as long as its quotes stand in the documents, and nobody better can be asked."""

import asyncio
from collections.abc import Callable, Sequence

import msgspec
import pytest

from actors.evidence.claims import Citation, Resolution
from actors.evidence.earlier_answers import cite_ticket
from actors.evidence.passages import NamedDocument, Passage, SearchHits
from actors.ports import PortFailed
from actors.text.normalize import find_span
from runtime.memory.ticket_memory import TicketMemory
from tests.runtime.memory.conftest import Open

TEXT = "My VPN does not connect"
QUOTE = "Renew the certificate in the settings."
ANSWER = Resolution(f"{QUOTE} [1]", (Citation(1, "vpn.md", "VPN", "Certificates", QUOTE, 10, 48),))
WITHIN = 30.0


class Texts:
    """Documents by their source, as an index holds them; each line is a section, and the first document comes first."""

    def __init__(self, **texts: str) -> None:
        self.texts = {f"{name}.md": text for name, text in texts.items()}
        self.asked: list[tuple[str, str]] = []
        self.searched: list[str] = []

    async def search(self, question: str, *, within: float, limit: int | None = None, **_: object) -> SearchHits:
        await asyncio.sleep(0)
        assert within > 0
        self.searched.append(question)
        said = ((source, line) for source, text in self.texts.items() for line in filter(None, text.split("\n\n")))
        return SearchHits(tuple(Passage("", source, "", "", line, 0, len(line)) for source, line in said)[:limit])

    async def find_named(self, text: str, *, within: float) -> NamedDocument | None:
        assert within > 0
        return next((NamedDocument(name, name, said) for name, said in self.texts.items() if name in text), None)

    async def digest_sections(self, quotes: Sequence[tuple[str, str]], *, within: float) -> list[str]:
        await asyncio.sleep(0)
        assert within > 0
        self.asked += quotes
        return [self._digest(self.texts.get(source, ""), quote) for source, quote in quotes]

    def _digest(self, text: str, quote: str) -> str:
        return next((" ".join(line.split()) for line in text.split("\n\n") if find_span(quote, line)), "")


class Unreadable(Texts):
    async def digest_sections(self, quotes: Sequence[tuple[str, str]], *, within: float) -> list[str]:
        raise PortFailed("No documents are indexed yet")


@pytest.fixture
async def memory(opened: Open) -> TicketMemory:
    found = opened()
    found.documents = Texts(vpn=f"# VPN\n\n{QUOTE}\n")
    return found


async def verdict(memory: TicketMemory) -> str:
    return (await memory.recall(TEXT, within=WITHIN)).verdict


async def test_an_answer_whose_sections_stand_is_a_hit_wherever_they_stand_now(memory: TicketMemory) -> None:
    await memory.store("run:1", "T1", TEXT, ANSWER)
    assert await verdict(memory) == "hit"
    memory.documents = Texts(vpn="# VPN\n\nRenew the\ncertificate in  the settings.\n")
    assert await verdict(memory) == "hit"


async def test_words_that_are_added_to_a_section_make_its_answer_stale(memory: TicketMemory) -> None:
    await memory.store("run:1", "T1", TEXT, ANSWER)
    await memory.feedback("T1", right=True)
    memory.documents = Texts(vpn=f"# VPN\n\n{QUOTE} From May 2026 this no longer applies.")

    recall = await memory.recall(TEXT, within=WITHIN)

    assert (recall.verdict, recall.stale) == ("suggestion", "What vpn.md says there has changed since.")


async def test_a_section_that_was_not_there_and_is_found_as_early_makes_it_stale(memory: TicketMemory) -> None:
    await memory.store("run:1", "T1", TEXT, ANSWER)
    memory.documents = Texts(new="Certificates are renewed by themselves.", vpn=f"# VPN\n\n{QUOTE}")
    assert (await memory.recall(TEXT, within=WITHIN)).stale == "new.md says something on this that was not there then."
    memory.documents = Texts(vpn=f"# VPN\n\n{QUOTE}\n\nOne.\n\nTwo.\n\nThree.")
    assert await verdict(memory) == "suggestion"
    await memory.store("run:2", "T2", TEXT, ANSWER)
    assert await verdict(memory) == "hit", "now it is known with what stands beside it"


async def test_of_a_similar_ticket_the_search_is_asked_again_with_what_was_answered_then(memory: TicketMemory) -> None:
    await memory.store("run:1", "T1", TEXT, ANSWER)
    await memory.recall(f"  {TEXT.upper()} ", within=WITHIN)
    assert isinstance(memory.documents, Texts)
    assert memory.documents.searched == [TEXT, TEXT]


async def test_an_answer_of_before_is_used_where_a_search_leads_to_it_first(memory: TicketMemory) -> None:
    documents, memory.documents = memory.documents, None
    await memory.store("run:1", "T1", TEXT, ANSWER)
    memory.documents = documents
    assert (await memory.recall(TEXT, within=WITHIN)).stale == "A search for that ticket does not lead to vpn.md first."
    memory.documents = Texts(vpn=QUOTE)
    assert await verdict(memory) == "hit"


async def test_chosen_places_rest_on_what_the_person_has_read(memory: TicketMemory) -> None:
    await memory.store("run:1", "T1", TEXT, ANSWER)
    memory.documents = Texts(vpn=f"# VPN\n\n{QUOTE} From May 2026 this no longer applies.")
    await memory.confirm("T1", TEXT, ANSWER)
    assert await verdict(memory) == "suggestion"


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
