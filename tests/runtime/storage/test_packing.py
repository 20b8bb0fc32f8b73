"""What is stored compressed is read as it was; what is damaged is known."""

import zlib

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.evidence.claims import Resolution
from actors.helpdesk.messages import ResolutionObtained
from runtime.storage.packing import DICTIONARY, MOST_PLAIN, SMALL, pack, unpack


def event(text: str) -> bytes:
    return msgspec.msgpack.encode(ResolutionObtained(Resolution(text, (), "resolved"), (), ""))


@given(st.text(max_size=4_000), st.integers(1, 20))
def test_any_event_is_read_as_it_was_and_never_takes_more_room(text: str, times: int) -> None:
    body = event(text * times)

    stored = pack(body)

    assert unpack(stored) == body
    assert len(stored) <= len(body)


def test_only_what_is_large_is_compressed() -> None:
    small, large = event("a" * (MOST_PLAIN - 200)), event("The spooler was restarted. " * 100)

    assert pack(small) is small
    assert len(pack(large)) < len(large) / 4


def test_what_an_earlier_version_packed_is_read() -> None:
    body = event("The spooler was restarted. " * 100)

    assert unpack(zlib.compress(body, 1)) == body


def test_the_dictionary_is_the_one_that_stored_bodies_were_packed_with() -> None:
    """Where this fails, an edit has made every stored outcome unreadable."""
    assert zlib.adler32(DICTIONARY) == 0xA88144C8


@pytest.mark.parametrize("size", [MOST_PLAIN * 2, SMALL * 2])
def test_names_of_fields_take_next_to_no_room_in_a_body_of_any_size(size: int) -> None:
    text = "".join(chr(33 + n * n % 89) for n in range(size))
    body = event(text)

    assert unpack(pack(body)) == body
    assert len(pack(body)) < len(zlib.compress(body, 1)) - 30


@pytest.mark.parametrize("harm", [lambda body: body[:-5], lambda body: body[:20] + b"\xff" * 8 + body[28:]])
def test_what_is_damaged_is_not_taken_for_an_event(harm: object) -> None:
    assert callable(harm)
    with pytest.raises(msgspec.DecodeError, match=r"damaged|cut off"):
        unpack(harm(pack(event("The spooler was restarted. " * 100))))
