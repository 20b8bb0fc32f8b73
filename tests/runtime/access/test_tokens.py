"""A token is shown once, kept as a hash, found by its id, and gone when it is revoked."""

import time
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest

from runtime.access import tokens
from runtime.access.tokens import KIND, SHAPE, WANTED, TokenBook, has_expired
from runtime.service_error import ServiceError
from runtime.storage.records import Record, RecordKey
from runtime.storage.sqlite.database import Database
from runtime.storage.sqlite.run_store import SqliteRuns
from runtime.storage.sqlite.schema import migrate


class FakeTime:
    """The module `time`, with a clock that is set by hand."""

    def __init__(self, now: list[float]) -> None:
        self.monotonic = lambda: now[0]
        self.time = time.time


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[SqliteRuns]:
    database = Database(tmp_path / "terminus.db", migrate=migrate)
    yield SqliteRuns(database)
    database.close()


async def test_it_is_found_by_its_text_alone_and_its_text_is_kept_nowhere(store: SqliteRuns, tmp_path: Path) -> None:
    text = await TokenBook(store).create("ann", "operate")

    assert SHAPE.fullmatch(text)
    found = await TokenBook(store).find(text)
    assert found is not None
    assert (found.name, found.role, found.expires) == ("ann", "operate", None)
    secret = text.split("_", 2)[2].encode()
    assert secret not in read_all(tmp_path)


def read_all(folder: Path) -> bytes:
    return b"".join(file.read_bytes() for file in folder.iterdir())


@pytest.mark.parametrize("change", [
    lambda text: text[:-1], lambda text: text + "A", lambda text: text.upper(), lambda text: text[:0],
    lambda text: text.replace("terminus_", ""), lambda text: text[:22] + "A" * 43, lambda text: " " + text,
    lambda text: "terminus_000000000000_" + text[22:], lambda text: text + "\udcff", lambda text: text * 1000,
])  # fmt: skip
async def test_nothing_else_is(store: SqliteRuns, change: Callable[[str], str]) -> None:
    text = await TokenBook(store).create("ann", "operate")
    assert await TokenBook(store).find(change(text)) is None


async def test_a_hash_is_compared_for_one_that_nobody_has_as_well(
    store: SqliteRuns, monkeypatch: pytest.MonkeyPatch
) -> None:
    compared = []

    def compare(one: bytes, other: bytes) -> bool:
        compared.append((len(one), len(other)))
        return one == other

    monkeypatch.setattr("runtime.access.tokens.hmac.compare_digest", compare)
    book = TokenBook(store)
    text = await book.create("ann", "submit")
    for each in (text, text[:22] + "A" * 43, "terminus_000000000000_" + "A" * 43, "x", ""):
        await book.find(each)
    assert compared == [(32, 32)] * 5


async def test_a_name_is_one_tokens_until_it_is_revoked(store: SqliteRuns) -> None:
    book = TokenBook(store)
    old = await book.create("ann", "admin")
    with pytest.raises(ServiceError, match="has the name ann already"):
        await book.create("ann", "submit")
    await book.revoke("ann")
    new = await book.create("ann", "submit")
    assert [each.role for each in await book.read_all()] == ["submit"]
    assert await book.find(old) is None
    assert await book.find(new) is not None
    with pytest.raises(ServiceError, match="There is no token 'bo'"):
        await book.revoke("bo")


@pytest.mark.parametrize("name", ["", "a b", "-x", "a/b", "x" * 65, "\u00e4", "a\n", "token:a"])
async def test_a_name_is_plain(store: SqliteRuns, name: str) -> None:
    with pytest.raises(ServiceError, match="A token's name is"):
        await TokenBook(store).create(name, "submit")


async def test_one_that_has_expired_is_known_as_such(store: SqliteRuns) -> None:
    book = TokenBook(store)
    late, early = await book.find(await book.create("a", "submit", -1)), await book.create("b", "submit", 3600)
    found = await book.find(early)
    assert late is not None
    assert found is not None
    assert (has_expired(late), has_expired(found)) == (True, False)


async def test_another_process_hears_of_it_soon(store: SqliteRuns, monkeypatch: pytest.MonkeyPatch) -> None:
    now = [100.0]
    monkeypatch.setattr("runtime.access.tokens.time", FakeTime(now))
    here, there = TokenBook(store), TokenBook(store)
    text = await here.create("ann", "submit")
    assert await there.find(text) is not None
    await here.revoke("ann")
    now[0] += tokens.FRESH_SECONDS + 0.01
    assert await there.find(text) is None
    assert not await there.exist()
    assert await there.are_wanted()
    assert await here.turn_off() == []
    now[0] += tokens.FRESH_SECONDS + 0.01
    assert not await there.are_wanted()


async def test_a_token_goes_on_being_wanted_after_the_last_also_where_an_earlier_version_made_it(
    store: SqliteRuns,
) -> None:
    assert not await TokenBook(store).are_wanted()
    await TokenBook(store).create("ann", "submit")
    await store.put(remove=(RecordKey(WANTED.kind, WANTED.id),))  # as an earlier version left it
    assert await TokenBook(store).are_wanted()
    assert await TokenBook(store).revoke("ann") == 0
    assert await TokenBook(store).are_wanted()
    await TokenBook(store).create("bob", "submit")
    assert await TokenBook(store).turn_off() == ["bob"]
    assert not await TokenBook(store).are_wanted()
    assert await store.records(KIND) == []


async def test_a_damaged_record_hides_no_other_opens_nothing_and_can_be_revoked(store: SqliteRuns) -> None:
    book = TokenBook(store)
    text = await book.create("ann", "submit")
    await store.put(Record(kind=KIND, id="bad", body=b"\xc1"))
    assert [each.name for each in await TokenBook(store).read_all()] == ["ann"]
    assert await book.find(text) is not None
    await book.revoke("ann")
    assert await book.exist()
    await book.revoke("bad")
    assert not await book.exist()
