"""What a person answers is given word for word, until it is taken back."""

import random

from actors.evidence.claims import Citation, Resolution
from runtime.settings import MemorySettings
from tests.runtime.memory.conftest import QUIET, Open
from tests.runtime.memory.kit import ANSWERS, text, topics

TEXT = "My VPN does not connect"
FOUND = Resolution("Renew the certificate. [1]", (Citation(1, "vpn.md", "VPN", "Certificates", "renew", 0, 5),))
TAUGHT = "Call Ann, extension 12.\n\nShe resets the token."
WITHIN = 30.0


async def test_a_persons_answer_is_a_hit_word_for_word_and_says_who_gave_it(opened: Open) -> None:
    memory = opened(MemorySettings(unconfirmed="never", learn_after=QUIET.learn_after))
    await memory.teach("T1", TEXT, TAUGHT, "ann")
    recall = await memory.recall(TEXT.upper(), within=WITHIN)
    assert (recall.verdict, recall.resolution) == ("hit", Resolution(TAUGHT, grade="resolved"))
    assert "ann answered it on 20" in recall.why


async def test_it_takes_the_place_of_what_the_ticket_was_answered(opened: Open) -> None:
    memory = opened()
    await memory.store("run:1", "T1", TEXT, FOUND)
    await memory.feedback("T1", right=True)
    await memory.teach("T1", TEXT, TAUGHT)
    recall = await memory.recall(TEXT, within=WITHIN)
    assert recall.resolution is not None
    assert recall.resolution.text == TAUGHT
    assert await memory.judgement("T1", FOUND.text) == "taught"
    assert await memory.judgement("T1", TAUGHT) == "confirmed"


async def test_the_last_answer_of_a_person_counts(opened: Open) -> None:
    memory = opened()
    for answer in ("Call Bob.", TAUGHT):
        await memory.teach("T1", TEXT, answer)
    recall = await memory.recall(TEXT, within=WITHIN)
    assert recall.resolution is not None
    assert recall.resolution.text == TAUGHT


async def test_it_can_be_taken_back_and_given_again(opened: Open) -> None:
    memory = opened()
    await memory.teach("T1", TEXT, TAUGHT)
    assert await memory.feedback("T1", right=False) == 1
    taken_back = await memory.recall(TEXT, within=WITHIN)
    assert (taken_back.verdict, taken_back.rejected) == ("miss", (TAUGHT,))
    await memory.teach("T1", TEXT, TAUGHT)
    assert (await memory.recall(TEXT, within=WITHIN)).verdict == "hit"


async def test_what_was_called_wrong_before_stays_so_when_the_persons_answer_is_called_right(opened: Open) -> None:
    memory = opened()
    await memory.store("run:1", "T1", TEXT, FOUND)
    await memory.feedback("T1", right=False)
    await memory.teach("T1", TEXT, TAUGHT)
    assert await memory.feedback("T1", right=True) == 1
    assert (await memory.recall(TEXT, within=WITHIN)).rejected == (FOUND.text,)


async def test_an_answer_that_memory_did_not_keep_is_kept_with_what_is_said_of_it(opened: Open) -> None:
    memory = opened()
    assert await memory.feedback("T1", right=True, said=(TEXT, FOUND)) == 1
    assert (await memory.recall(TEXT, within=WITHIN)).verdict == "hit"
    assert await memory.feedback("T1", right=False, said=(TEXT, FOUND)) == 1
    assert (await memory.recall(TEXT, within=WITHIN)).rejected == (FOUND.text,)


async def test_it_is_suggested_for_almost_the_same_text_at_once(learnt: Open) -> None:
    memory, near = learnt(), f"{TEXT} since this morning"
    assert (await memory.recall(near, within=WITHIN)).verdict == "miss"
    await memory.teach("T1", f"{TEXT} again", TAUGHT)
    await memory.store("run:2", "T2", near.upper(), FOUND)
    recall = await memory.recall(f"{TEXT} today again", within=WITHIN)
    assert (recall.verdict, recall.ticket_id) == ("suggestion", "T1")
    assert "of the words agree" in recall.why
    await memory.feedback("T1", right=False)
    assert (await memory.recall(f"{TEXT} today again", within=WITHIN)).verdict == "miss"


async def test_similar_tickets_get_a_persons_answer_once_it_was_learnt(learnt: Open) -> None:
    memory, dice, (*_, topic) = learnt(), random.Random(9), topics(ANSWERS + 1, seed=7)
    for number in range(30):
        await memory.teach(f"N{number}", text(topic, dice), TAUGHT)
    await memory.learn()
    recalls = [await memory.recall(text(topic, dice), within=WITHIN) for _ in range(5)]
    assert {each.resolution.text for each in recalls if each.resolution} == {TAUGHT}
    assert "hit" in {each.verdict for each in recalls}


async def test_of_a_confirmed_answer_only_the_part_that_was_right_is_given_and_it_can_be_taken_back(
    opened: Open,
) -> None:
    memory, part = opened(), Resolution("[1] Certificates\nrenew", FOUND.citations)
    await memory.store("run:1", "T1", TEXT, FOUND)
    await memory.confirm("T1", TEXT, part)
    recall = await memory.recall(TEXT, within=WITHIN)
    assert recall.resolution is not None
    assert (recall.verdict, recall.resolution.text, recall.resolution.grade) == ("hit", part.text, "resolved")
    assert await memory.judgement("T1", FOUND.text) == "confirmed_place"
    assert await memory.judgement("T1", part.text) == "confirmed"
    assert not await memory.is_taught("T1")
    assert await memory.feedback("T1", right=False) == 1
    assert (await memory.recall(TEXT, within=WITHIN)).verdict == "miss"
    assert await memory.judgement("T1", FOUND.text) == "rejected"
