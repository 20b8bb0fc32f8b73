"""A family's own port is asked while its run goes on, and by no replay; a run that asks nobody can be replayed, too."""

import asyncio
import dataclasses
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import msgspec
import pytest

from actors.workflow.outcome import Status
from actors.workflow.tables import Case, Step, Workflow
from bus import Actor, Context, Event, Request
from runtime import families
from runtime.families.family import Family, FamilyRuns, RunDependencies, SharedPorts
from runtime.observe.recording import RecordedPort, record_ports
from runtime.observe.replay import replay
from tests.runtime.observe.recorded import run_and_record, settings


class Letter(msgspec.Struct, frozen=True):
    to: str
    stamps: int


class Post(Protocol):
    """A port that nobody but this family knows."""

    @property
    def town(self) -> str: ...
    async def weigh(self, letter: Letter, *, within: float) -> Letter: ...


class Office:
    """The real one."""

    def __init__(self) -> None:
        self.town = "Northgate"
        self.weighed = 0

    async def weigh(self, letter: Letter, *, within: float) -> Letter:
        assert within > 0
        self.weighed += 1
        return msgspec.structs.replace(letter, stamps=self.weighed)


OFFICE = Office()


class PostCase(Case, frozen=True, kw_only=True, gc=False):
    text: str


class LetterSent(Event, frozen=True):
    summary: str


class PostClosed(Event, frozen=True):
    status: Status


class SendLetter(Request[LetterSent], frozen=True):
    text: str


class ClosePost(Request[PostClosed], frozen=True):
    reason: str


TABLE = Workflow(
    name="post", case=PostCase, terminator="clerk", close=ClosePost, closed=PostClosed, final="sent",
    steps={
        "sending": Step("writer", SendLetter, {LetterSent: "closing"}),
        "closing": Step("clerk", ClosePost, {PostClosed: "sent"}),
    },
)  # fmt: skip


class Writer(Actor[SendLetter]):
    def __init__(self, own: RunDependencies) -> None:
        self._post: Post | None = own.ports.post if own.ports else None

    async def receive(self, message: SendLetter, ctx: Context) -> LetterSent:
        if self._post is None:
            return LetterSent(summary=message.text)
        letter = await self._post.weigh(Letter(message.text, 0), within=ctx.remaining_seconds())
        return LetterSent(summary=f"{letter.stamps} stamps, {self._post.town}")


class Clerk(Actor[ClosePost]):
    def receive(self, message: ClosePost, ctx: Context) -> PostClosed:
        return PostClosed(status="suggested")


class PostPorts(NamedTuple):
    post: Post
    letters: int = 0


class PostRuns(FamilyRuns):
    def __init__(self, shared: SharedPorts) -> None:
        super().__init__({"writer": Writer, "clerk": lambda _: Clerk()})

    def make_ports(self, run: str, ticket: str, effects: Any) -> PostPorts:
        return PostPorts(OFFICE)


class QuietRuns(PostRuns):
    def make_ports(self, run: str, ticket: str, effects: Any) -> None:  # type: ignore[override]
        return None


def family(runs: str) -> Family:
    return Family(
        flow=TABLE, label="letter", runs=f"{__name__}:{runs}",
        make_case=lambda ticket, _: PostCase(ticket_id=ticket.id, text=ticket.whole),
    )  # fmt: skip


async def test_a_port_of_a_familys_own_is_recorded_and_a_replay_asks_it_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(families, "FAMILIES", (*families.FAMILIES, family("PostRuns")))
    monkeypatch.setattr(OFFICE, "weighed", 0)

    recording = await run_and_record(settings(tmp_path), tmp_path, "Dear Ann", workflow="post")
    done = await asyncio.to_thread(replay, recording, settings(tmp_path / "elsewhere"))

    assert [call.name for call in recording.calls] == ["Post.weigh", "Post.town"]
    assert (done.differences, done.asked, done.is_same) == ((), (), True)
    assert done.then.summary == "1 stamps, Northgate"
    assert OFFICE.weighed == 1


async def test_a_run_without_any_call_is_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(families, "FAMILIES", (*families.FAMILIES, family("QuietRuns")))

    recording = await run_and_record(settings(tmp_path), tmp_path, "Dear Ann", workflow="post")
    done = await asyncio.to_thread(replay, recording, settings(tmp_path / "elsewhere"))

    assert recording.calls == ()
    assert done.is_same


class StructPorts(msgspec.Struct, frozen=True):
    post: Any


@dataclasses.dataclass(frozen=True)
class DataPorts:
    post: Post
    spare: Post | None = None


def test_ports_are_found_in_whatever_a_family_keeps_them_and_all_else_stays() -> None:
    assert isinstance(record_ports(PostPorts(OFFICE, 3)).post, RecordedPort)
    assert record_ports(PostPorts(OFFICE, 3)).letters == 3
    assert isinstance(record_ports(StructPorts(OFFICE)).post, RecordedPort)
    data = record_ports(DataPorts(OFFICE, OFFICE))
    assert isinstance(data.post, RecordedPort)
    assert isinstance(data.spare, RecordedPort)
    assert isinstance(record_ports({"post": OFFICE})["post"], RecordedPort)
    assert isinstance(record_ports(OFFICE), RecordedPort)
    assert (record_ports(None), record_ports(3)) == (None, 3)
