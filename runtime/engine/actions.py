"""Who did what to a run: named once where a request or a command comes in, and kept beside what it did."""

import contextlib
import os
import pwd
import time
from collections.abc import Iterator
from contextvars import ContextVar

import msgspec
import structlog

from runtime.storage.errors import StorageError
from runtime.storage.port import RunStore
from runtime.storage.records import ACTION, SUBMITTER, Action, Record
from runtime.times import iso

log = structlog.get_logger()

_acting: ContextVar[str] = ContextVar("acting", default="")
NAME_CHARACTERS = 220


@contextlib.contextmanager
def acting_as(by: str) -> Iterator[None]:
    """What is done within this is done by this principal."""
    token = _acting.set(by[:NAME_CHARACTERS])
    try:
        yield
    finally:
        _acting.reset(token)


def name_user(number: int | None = None) -> str:
    """Who works at the command line, by the system, which nobody can tell otherwise; of this process, or by number."""
    number = os.getuid() if number is None else number
    try:
        return pwd.getpwuid(number).pw_name
    except KeyError:  # as in a container
        return str(number)


def who_acts() -> str:
    """The principal who does what is done here; empty: nobody is named."""
    return _acting.get()


def make_records(what: str, run: str) -> tuple[Record, ...]:
    """
    The record of what whoever acts does to a run; none where nobody is named, as in a program that uses the library.

    The same by the same again takes the place of the last, so that there are never many.
    """
    if not (by := _acting.get()):
        return ()
    action = Action(what, by, iso(time.time()))
    name = f"{run}/{what}/{by}"
    return (Record(kind=ACTION, id=name, run=run, body=msgspec.msgpack.encode(action), replaces=True),)


def make_ownership(by: str, run: str) -> Record:
    """The record that says that a run is this principal's."""
    return Record(kind=SUBMITTER, id=f"{by}\n{run}", run=run, body=b"")


async def find_owners(store: RunStore, *runs: str) -> dict[str, set[str]]:
    """Whose runs these are; of one within a run its own id has to be left off."""
    owners: dict[str, set[str]] = {run: set() for run in runs}
    for each in await store.records_of(runs, SUBMITTER):
        owners[each.run].add(each.id.removesuffix(f"\n{each.run}"))
    return owners


async def note(store: RunStore, what: str, run: str) -> None:
    """Keep what was done to a run. A disk that does not take it undoes nothing: the log has it."""
    if records := make_records(what, run):
        try:
            await store.put(*records)
        except StorageError as error:
            log.warning("action.not_written", run=run, what=what, by=_acting.get(), error=str(error))
