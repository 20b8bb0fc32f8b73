"""Two lanes, both bounded, and nothing held while it is empty."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bus import Event, LocalBus, MailboxFull
from bus.mailbox import LIMIT, Mailbox
from tests.bus.parts import Hears, Said, Waits
from tests.clock import settle


@pytest.mark.req("SY-1")
def test_control_overtakes_work_in_its_own_order_and_both_lanes_are_bounded() -> None:
    box: Mailbox[str] = Mailbox()
    for letter in "ab":
        box.put(letter)
    for letter in "XY":
        box.put(letter, urgent=True)
    assert [box.take() for _ in range(5)] == ["X", "Y", "a", "b", None]

    for lane in (False, True):
        for _ in range(LIMIT):
            box.put("letter", urgent=lane)
        with pytest.raises(MailboxFull):
            box.put("one too many", urgent=lane)


@given(st.lists(st.sampled_from(["put", "put urgent", "take"]), max_size=60))
def test_a_mailbox_is_two_queues_of_which_the_urgent_one_is_emptied_first(calls: list[str]) -> None:
    box: Mailbox[int] = Mailbox()
    urgent: list[int] = []
    work: list[int] = []
    for n, call in enumerate(calls):
        if call == "take":
            assert box.take() == (urgent.pop(0) if urgent else work.pop(0) if work else None)
        else:
            box.put(n, urgent=call == "put urgent")
            (urgent if call == "put urgent" else work).append(n)
        assert (box.first is not None) == bool(urgent or work)


async def test_a_receiver_that_is_too_slow_is_refused_more_work_but_not_control() -> None:
    slow = Waits()
    bus = LocalBus({"slow": lambda: slow})
    bus.post("slow", Said(what="first"))
    await settle()
    for n in range(LIMIT):
        bus.post("slow", Said(what=str(n)))

    with pytest.raises(MailboxFull):
        bus.post("slow", Said(what="one too many"))
    bus.post("slow", Said(what="control"), urgent=True)
    await settle()

    assert slow.heard == ["first", "control"]
    bus.seal()
    await settle()


async def test_messages_from_one_sender_arrive_in_order() -> None:
    hears = Hears()
    bus = LocalBus({"hears": lambda: hears})

    for n in range(LIMIT):
        bus.post("hears", Said(what=str(n)))
    await settle()

    assert hears.words == [str(n) for n in range(LIMIT)]


def test_a_message_is_frozen_and_carries_its_kind() -> None:
    with pytest.raises(AttributeError):
        Said(what="a").what = "b"  # type: ignore[misc]
    assert issubclass(Said, Event)
