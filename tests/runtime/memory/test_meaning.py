"""With a sentence model similar texts are found that share no word; its vectors are made once and kept."""

import random

import msgspec
import pytest

from bench.solved_tickets import SolvedTicket, remember_all
from runtime.memory import ticket_memory
from runtime.memory.ticket_memory import LearningFailed, TicketMemory
from tests.runtime.memory.conftest import QUIET, Open
from tests.runtime.memory.kit import ANSWERS, TopicEmbedder, solved, text, topics

WITHIN = 30.0
KNOWN = topics(ANSWERS + 4)


def worded(half: slice) -> list[SolvedTicket]:
    """Tickets that use some of the words of their topic only."""
    dice, found = random.Random(3), solved()
    return [ticket._replace(text=text(KNOWN[number // 30][half], dice)) for number, ticket in enumerate(found)]


STORED, ASKED = worded(slice(4)), worded(slice(4, 8))[::30]


async def ask(memory: TicketMemory, asked: list[SolvedTicket] = ASKED) -> list[str]:
    """The verdicts; what is a hit is right."""
    recalls = [await memory.recall(each.text, within=WITHIN) for each in asked]
    for ticket, recall in zip(asked, recalls, strict=True):
        if recall.verdict == "hit":
            assert recall.resolution is not None
            assert recall.resolution.text == ticket.resolution.text
    return [recall.verdict for recall in recalls]


async def test_a_ticket_in_other_words_is_a_hit_by_its_meaning(opened: Open) -> None:
    by_words, by_meaning = opened(), opened(embedder=TopicEmbedder(KNOWN))
    await remember_all(by_words, STORED)
    await by_words.learn()
    assert (await ask(by_words)).count("hit") <= 1
    await by_meaning.learn()
    assert (await ask(by_meaning)).count("hit") >= ANSWERS * 3 // 4
    # and nothing of a topic that was never stored
    dice = random.Random(1)
    new = [ASKED[0]._replace(text=text(topic, dice)) for topic in KNOWN[ANSWERS:]]
    assert "hit" not in await ask(by_meaning, new)


async def test_vectors_are_made_in_bounded_batches_and_once(opened: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    sizes, embedder = list[int](), TopicEmbedder(KNOWN)
    embed = embedder.embed

    async def counting(texts: list[str], **more: object) -> list[bytes]:
        sizes.append(len(texts))
        return await embed(texts, **more)  # type: ignore[arg-type]

    monkeypatch.setattr(embedder, "embed", counting)
    monkeypatch.setattr(ticket_memory, "TEXTS_AT_ONCE", 100)
    memory = opened(embedder=embedder)
    await remember_all(memory, STORED)
    await memory.learn()
    assert sorted(set(embedder.texts)) == sorted({each.text for each in STORED})
    assert (max(sizes), sum(sizes)) == (100, len(set(embedder.texts)))
    # learning again, even by another process, makes those of new texts only
    await remember_all(memory, [SolvedTicket("N", "brand new words", STORED[0].resolution)])
    embedder.texts.clear()
    again = opened(embedder=embedder)
    await again.learn()
    assert embedder.texts == ["brand new words"]


async def test_vectors_of_another_model_are_made_anew_and_until_then_words_do(opened: Open) -> None:
    first = opened(embedder=TopicEmbedder(KNOWN))
    await remember_all(first, STORED)
    await first.learn()
    # given another model, which does not know these topics
    other = TopicEmbedder([["unheard"]], "topics/2")
    memory = opened(msgspec.structs.replace(QUIET, learn_after=20), embedder=other)
    near = f"{STORED[0].text} again"
    recall = await memory.recall(near, within=WITHIN)
    assert (recall.verdict, recall.ticket_id) == ("suggestion", STORED[0].ticket_id)
    # when a look-up has shown that
    await memory.learnt()
    # then it was learnt again, with vectors of its own only
    assert len(other.texts) >= len({each.text for each in STORED})
    assert (await ask(memory)).count("hit") <= 1


async def test_a_model_that_fails_leaves_what_was_learnt_and_is_not_tried_at_each_look_up(
    opened: Open,
) -> None:
    memory = opened()
    await remember_all(memory, STORED)
    await memory.learn()
    before = memory.model.read_bytes()
    embedder = TopicEmbedder(KNOWN)
    embedder.fails = True
    memory = opened(msgspec.structs.replace(QUIET, learn_after=20), embedder=embedder)
    with pytest.raises(LearningFailed, match=r"server of vectors is down\. Earlier answers"):
        await memory.learn()
    assert memory.model.read_bytes() == before
    near = f"{STORED[0].text} again"
    for _ in range(3):  # what was learnt by words is asked by words
        assert (await memory.recall(near, within=WITHIN)).verdict == "hit"
        await memory.learnt()
    learning = memory._learning
    await memory.recall(near, within=WITHIN)
    assert memory._learning is learning


async def test_a_look_up_that_gets_no_vector_suggests_by_words(opened: Open) -> None:
    embedder = TopicEmbedder(KNOWN)
    memory = opened(embedder=embedder)
    await remember_all(memory, STORED)
    await memory.learn()
    near = f"{STORED[0].text} again"
    assert (await memory.recall(near, within=WITHIN)).verdict == "hit"
    embedder.fails = True
    assert (await memory.recall(near, within=WITHIN)).verdict == "suggestion"
    assert (await memory.recall(ASKED[0].text, within=WITHIN)).verdict == "miss"
