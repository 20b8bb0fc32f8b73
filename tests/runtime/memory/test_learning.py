"""Similar texts: what is learnt from the store, when it may be a hit, and what goes wrong without harm."""

import asyncio
import random

import msgspec
import pytest

from actors.evidence.claims import Resolution
from bench.solved_tickets import SolvedTicket, remember_all
from runtime.memory.ticket_memory import LearningFailed
from tests.runtime.memory.conftest import QUIET, Open
from tests.runtime.memory.kit import ANSWERS, COMMON, solved, text, topics

WITHIN = 30.0


def similar(topic: int, seed: int = 99) -> str:
    return text(topics(ANSWERS)[topic], random.Random(seed))


async def test_a_confirmed_answer_is_a_hit_for_a_similar_text(learnt: Open) -> None:
    memory = learnt()
    recalls = [await memory.recall(similar(topic), within=WITHIN) for topic in range(ANSWERS)]
    assert [r.verdict for r in recalls].count("hit") >= ANSWERS * 3 // 4
    for topic, recall in enumerate(recalls):
        if recall.verdict == "hit":
            assert recall.resolution == Resolution(f"Answer {topic}.", grade="resolved")
            assert recall.ticket_id.startswith(f"T{topic}-")


async def test_a_text_about_something_never_stored_is_no_hit(learnt: Open) -> None:
    memory = learnt()
    dice = random.Random(5)
    for topic in topics(ANSWERS, seed=1234):
        assert (await memory.recall(text(topic, dice), within=WITHIN)).verdict != "hit"


async def test_words_that_everybody_uses_are_no_hit(learnt: Open) -> None:
    assert (await learnt().recall(" ".join(COMMON), within=WITHIN)).verdict != "hit"


async def test_in_a_writing_that_was_not_rehearsed_nothing_is_a_hit(learnt: Open) -> None:
    memory = learnt()
    chinese = "我的信用卡无法激活，请帮帮我"
    await remember_all(memory, (SolvedTicket(f"Z{i}", f"{chinese}{i}", Resolution("去银行。")) for i in range(5)))
    await memory.learn()
    recall = await memory.recall(chinese, within=WITHIN)
    assert (recall.verdict, recall.resolution) == ("suggestion", Resolution("去银行。", grade="resolved"))


async def test_a_small_store_suggests_but_never_hits(opened: Open) -> None:
    memory = opened()
    await remember_all(memory, solved(4, 5))
    report = await memory.learn()
    assert (report.answers, report.scripts) == (4, ())
    ticket = solved(4, 5)[0]
    recall = await memory.recall(f"{ticket.text} again", within=WITHIN)
    assert (recall.verdict, recall.ticket_id) == ("suggestion", ticket.ticket_id)


async def test_an_answer_of_three_tickets_is_suggested_and_of_more_a_hit(learnt: Open) -> None:
    memory, dice, (*_, topic) = learnt(), random.Random(9), topics(ANSWERS + 1, seed=7)
    verdicts = []
    for tickets in (3, 27):
        new = (SolvedTicket(f"N{tickets}-{i}", text(topic, dice), Resolution("New.")) for i in range(tickets))
        await remember_all(memory, new)
        await memory.learn()
        recalls = [await memory.recall(text(topic, dice), within=WITHIN) for _ in range(8)]
        assert {each.resolution.text for each in recalls if each.resolution} == {"New."}
        verdicts.append({each.verdict for each in recalls})
    assert "hit" not in verdicts[0]
    assert "suggestion" in verdicts[0]
    assert "hit" in verdicts[1]


async def test_a_text_that_came_often_is_one_ticket_and_what_was_confirmed_of_it_counts(opened: Open) -> None:
    memory = opened()
    words = "please reset the password of my account"
    for number, confirmed in enumerate((False, True, False)):
        ticket = SolvedTicket(f"T{number}", f"{words}{' ' * number}", Resolution("It is reset."), confirmed)
        await remember_all(memory, [ticket])
    report = await memory.learn()
    assert (report.texts, report.answers) == (1, 1)
    recall = await memory.recall(f"{words} today", within=WITHIN)
    assert (recall.verdict, recall.ticket_id) == ("suggestion", "T1")


async def test_answers_that_nobody_confirmed_are_only_suggested_for_similar_texts(opened: Open) -> None:
    memory = opened()
    await remember_all(memory, solved(confirmed=False))
    assert (await memory.learn()).answers == 0
    ticket = solved()[0]
    recall = await memory.recall(f"{ticket.text} thanks", within=WITHIN)
    assert (recall.verdict, recall.resolution) == ("suggestion", ticket.resolution)


async def test_they_may_be_hits_where_the_settings_say_so(opened: Open) -> None:
    memory = opened(msgspec.structs.replace(QUIET, unconfirmed="similar"))
    await remember_all(memory, solved(confirmed=False))
    await memory.learn()
    verdicts = [(await memory.recall(similar(topic), within=WITHIN)).verdict for topic in range(ANSWERS)]
    assert verdicts.count("hit") >= ANSWERS * 3 // 4


async def test_what_was_rejected_after_learning_is_not_served(learnt: Open) -> None:
    memory = learnt()
    ticket_id = (await memory.recall(similar(0), within=WITHIN)).ticket_id
    assert ticket_id.startswith("T0-")
    await memory.feedback("T0-1", right=False)
    after = await memory.recall(similar(0), within=WITHIN)
    assert after.resolution is None or after.resolution.text != "Answer 0."


async def test_it_learns_in_the_background_when_enough_is_new(opened: Open) -> None:
    memory = opened(msgspec.structs.replace(QUIET, learn_after=20))
    await remember_all(memory, solved(2, 9))
    assert memory.due() is False
    await remember_all(memory, solved(4, 9))
    # while it learns, the same text is found
    recall = await memory.recall(solved(2, 9)[0].text, within=WITHIN)
    assert recall.verdict == "hit"
    assert not memory.model.exists()
    await memory.learnt()
    assert memory.model.exists()
    near = f"{solved(4, 9)[0].text} again"
    assert (await memory.recall(near, within=WITHIN)).verdict == "suggestion"


async def test_what_was_learnt_is_not_learnt_again_after_a_restart(learnt: Open) -> None:
    memory = learnt(msgspec.structs.replace(QUIET, learn_after=20))
    before = memory.model.stat()
    await memory.learnt()
    assert memory.model.stat().st_mtime_ns == before.st_mtime_ns
    assert (await memory.recall(similar(0), within=WITHIN)).ticket_id.startswith("T0-")


@pytest.mark.parametrize("harm", ["flipped", "short", "empty", "foreign"])
async def test_a_damaged_model_is_recognised(learnt: Open, harm: str) -> None:
    memory = learnt()
    whole = memory.model.read_bytes()
    middle = len(whole) // 2
    memory.model.write_bytes(
        {
            "flipped": whole[:middle] + bytes([whole[middle] ^ 1]) + whole[middle + 1 :],
            "short": whole[:middle],
            "empty": b"",
            "foreign": b"SQLite format 3\0" + whole[16:],
        }[harm]
    )
    recall = await memory.recall(similar(0), within=WITHIN)
    assert (recall.verdict, "cannot be read" in recall.why) == ("miss", True)


async def test_a_damaged_model_is_learnt_again(learnt: Open) -> None:
    memory = learnt(msgspec.structs.replace(QUIET, learn_after=20))
    memory.model.write_bytes(b"damaged")
    await memory.recall(similar(0), within=WITHIN)
    await memory.learnt()
    assert (await memory.recall(similar(0), within=WITHIN)).ticket_id.startswith("T0-")


async def test_learning_that_is_cut_off_leaves_the_older_model(learnt: Open) -> None:
    memory = learnt(msgspec.structs.replace(QUIET, learn_seconds=0.01))
    before = memory.model.read_bytes()
    with pytest.raises(LearningFailed, match="took longer"):
        await memory.learn()
    assert memory.model.read_bytes() == before
    assert [path.name for path in memory.model.parent.glob("*.new")] == []
    assert (await memory.recall(similar(0), within=WITHIN)).ticket_id.startswith("T0-")


async def test_closing_ends_a_learning_that_is_under_way(opened: Open) -> None:
    memory = opened(msgspec.structs.replace(QUIET, learn_after=1))
    await remember_all(memory, solved())
    await asyncio.wait_for(memory.close(), WITHIN)
    assert not memory.model.exists()
    # nor does it begin again
    await memory.store("run:1", "T1", "one more", Resolution("One more."))
    await memory.learnt()
    assert not memory.model.exists()


async def test_a_look_up_that_takes_too_long_is_a_miss(learnt: Open) -> None:
    recall = await learnt().recall(similar(0), within=0.001)
    assert (recall.verdict, "took longer" in recall.why) == ("miss", True)
