"""What memory says of the same text, and what people's verdicts do to it. No model, no worker process."""

import msgspec
import pytest

from actors.evidence.claims import Citation, Resolution
from bench.solved_tickets import SolvedTicket, remember_all
from runtime.memory.ticket_memory import NotRemembered
from runtime.settings import MemorySettings
from tests.runtime.memory.conftest import QUIET, Open

TEXT = "My VPN does not connect"
ANSWER = Resolution("Renew the certificate. [1]", (Citation(1, "vpn.md", "VPN", "Certificates", "renew", 0, 5),))
WITHIN = 30.0


async def test_one_ticket_is_enough_for_the_same_text(opened: Open) -> None:
    memory = opened()
    await memory.store("run:1", "T1", TEXT, ANSWER)
    recall = await memory.recall(TEXT, within=WITHIN)
    assert (recall.verdict, recall.ticket_id, recall.resolution) == ("hit", "T1", ANSWER)
    assert "T1" in recall.why


@pytest.mark.parametrize("text", ["my vpn  does not CONNECT\n", "Ｍｙ VPN does not connect"])
async def test_the_same_text_may_differ_in_form_case_and_space(opened: Open, text: str) -> None:
    memory = opened()
    await memory.store("run:1", "T1", TEXT, ANSWER)
    assert (await memory.recall(text, within=WITHIN)).verdict == "hit"


async def test_another_text_is_a_miss_before_anything_was_learnt(opened: Open) -> None:
    memory = opened()
    await memory.store("run:1", "T1", TEXT, ANSWER)
    recall = await memory.recall("My VPN does not connect today", within=WITHIN)
    assert (recall.verdict, recall.resolution) == ("miss", None)
    assert "nothing was learnt yet" in recall.why


@pytest.mark.parametrize("text", ["", " \n\t"])
async def test_a_ticket_without_text_is_a_miss_even_if_one_was_stored(opened: Open, text: str) -> None:
    memory = opened()
    await memory.store("run:1", "T1", text, ANSWER)
    assert (await memory.recall(text, within=WITHIN)).verdict == "miss"


async def test_half_a_character_harms_nothing(opened: Open) -> None:
    memory = opened()
    await memory.store("run:1", "T1", "broken \ud800 text", ANSWER)
    assert (await memory.recall("broken \ud800 text", within=WITHIN)).verdict == "hit"
    assert (await memory.recall("other \udfff text", within=WITHIN)).verdict == "miss"


async def test_half_a_character_in_an_answer_is_shown_as_a_sign_for_it(opened: Open) -> None:
    memory = opened()
    broken = Resolution("Renew \ud800 it. [1]", (Citation(1, "vpn\udfff.md", "VPN", "", "renew", 0, 5),))
    await memory.store("run:\ud800", "T\ud800", TEXT, broken)
    recall = await memory.recall(TEXT, within=WITHIN)
    assert recall.resolution == Resolution(
        "Renew \ufffd it. [1]", (Citation(1, "vpn\ufffd.md", "VPN", "", "renew", 0, 5),)
    )
    # and feedback finds it
    assert await memory.feedback("T\ud800", right=False) == 1


async def test_what_was_stored_outlives_the_process(opened: Open) -> None:
    await opened().store("run:1", "T1", TEXT, ANSWER)
    assert (await opened().recall(TEXT, within=WITHIN)).resolution == ANSWER


async def test_the_same_key_again_changes_nothing(opened: Open) -> None:
    memory = opened()
    await memory.store("run:1", "T1", TEXT, ANSWER)
    await memory.store("run:1", "T2", TEXT, Resolution("Something else."))
    assert (await memory.recall(TEXT, within=WITHIN)).ticket_id == "T1"


async def test_a_newer_answer_to_the_same_text_wins_unless_the_older_is_confirmed(opened: Open) -> None:
    memory = opened()
    await memory.store("run:1", "T1", TEXT, ANSWER)
    await memory.store("run:2", "T2", TEXT, Resolution("Restart the client."))
    assert (await memory.recall(TEXT, within=WITHIN)).ticket_id == "T2"
    await memory.feedback("T1", right=True)
    assert (await memory.recall(TEXT, within=WITHIN)).ticket_id == "T1"


async def test_a_rejected_answer_never_comes_back(opened: Open) -> None:
    memory = opened()
    await memory.store("run:1", "T1", TEXT, ANSWER)
    assert await memory.feedback("T1", right=False) == 1
    recall = await memory.recall(TEXT, within=WITHIN)
    assert (recall.verdict, recall.resolution) == ("miss", None)


async def test_a_rejected_answer_does_not_come_back_through_another_ticket(opened: Open) -> None:
    memory = opened()
    same_words = Resolution("renew the  CERTIFICATE. [1]")
    await remember_all(memory, [SolvedTicket("T2", "VPN is down", same_words)])
    await memory.store("run:1", "T1", TEXT, ANSWER)
    await memory.feedback("T1", right=False)
    assert (await memory.recall("VPN is down", within=WITHIN)).verdict == "miss"
    # nor when a worker finds it once more
    await memory.store("run:3", "T3", TEXT, ANSWER)
    assert (await memory.recall(TEXT, within=WITHIN)).verdict == "miss"


async def test_another_answer_to_a_rejected_ones_text_is_served(opened: Open) -> None:
    memory = opened()
    await memory.store("run:1", "T1", TEXT, ANSWER)
    await memory.feedback("T1", right=False)
    await memory.store("run:2", "T2", TEXT, Resolution("Restart the client."))
    assert (await memory.recall(TEXT, within=WITHIN)).ticket_id == "T2"


async def test_who_looks_for_another_answer_is_told_which_were_rejected(opened: Open) -> None:
    memory = opened()
    await memory.store("run:1", "T1", TEXT, ANSWER)
    assert (await memory.recall(TEXT, within=WITHIN)).rejected == ()
    await memory.feedback("T1", right=False)
    assert (await memory.recall(TEXT, within=WITHIN)).rejected == (ANSWER.text,)
    assert (await memory.recall("Something else", within=WITHIN)).rejected == ()


async def test_the_last_word_counts(opened: Open) -> None:
    memory = opened()
    await memory.store("run:1", "T1", TEXT, ANSWER)
    await memory.feedback("T1", right=False)
    await memory.feedback("T1", right=True)
    assert (await memory.recall(TEXT, within=WITHIN)).verdict == "hit"


async def test_a_suggested_answer_stays_suggested_until_a_person_confirms_it(opened: Open) -> None:
    memory = opened()
    await memory.store("run:1", "T1", TEXT, msgspec.structs.replace(ANSWER, grade="suggested"))
    before = (await memory.recall(TEXT, within=WITHIN)).resolution
    await memory.feedback("T1", right=True)
    after = (await memory.recall(TEXT, within=WITHIN)).resolution
    assert before is not None
    assert after is not None
    assert (before.grade, after.grade) == ("suggested", "resolved")


async def test_unconfirmed_is_only_suggested_where_the_settings_say_never(opened: Open) -> None:
    memory = opened(MemorySettings(unconfirmed="never", learn_after=QUIET.learn_after))
    await memory.store("run:1", "T1", TEXT, ANSWER)
    assert (await memory.recall(TEXT, within=WITHIN)).verdict == "suggestion"
    await memory.feedback("T1", right=True)
    assert (await memory.recall(TEXT, within=WITHIN)).verdict == "hit"


async def test_feedback_on_an_unknown_ticket_says_what_to_do(opened: Open) -> None:
    with pytest.raises(NotRemembered, match=r"'T9'.*give the id"):
        await opened().feedback("T9", right=True)
