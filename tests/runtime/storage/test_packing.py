"""What is stored compressed is read as it was; what is damaged is known."""

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.evidence.claims import Resolution
from actors.helpdesk.messages import ResolutionObtained
from runtime.storage.packing import MOST_PLAIN, pack, unpack


def event(text: str) -> bytes:
    return msgspec.msgpack.encode(ResolutionObtained(Resolution(text, (), "resolved"), (), ""))


@given(st.text(max_size=4_000), st.integers(1, 20))
def test_any_event_is_read_as_it_was_and_never_takes_more_room(text: str, times: int) -> None:
    body = event(text * times)

    stored = pack(body)

    assert unpack(stored) == body
    assert len(stored) <= len(body)


def test_only_what_would_take_a_page_of_its_own_is_compressed() -> None:
    small, large = event("a" * (MOST_PLAIN - 200)), event("The spooler was restarted. " * 100)

    assert pack(small) is small
    assert len(pack(large)) < len(large) / 4


@pytest.mark.parametrize("harm", [lambda body: body[:-5], lambda body: body[:20] + b"\xff" * 8 + body[28:]])
def test_what_is_damaged_is_not_taken_for_an_event(harm: object) -> None:
    assert callable(harm)
    with pytest.raises(msgspec.DecodeError, match=r"damaged|cut off"):
        unpack(harm(pack(event("The spooler was restarted. " * 100))))
