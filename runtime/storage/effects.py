"""What a research did to the world and got from it, durable before it is used: after a crash nothing is done twice."""

import asyncio
import uuid
from collections import defaultdict
from typing import Any

import msgspec
import structlog

from actors.workflow.outcome import Spent
from runtime.storage.port import EffectStore

SWEPT = 1_000
"""Rows in one transaction."""
SPENT = "spent"
CALLS = ("calls", "tokens_in", "tokens_out", "estimated")
"""The fields of `Spent`, as they are added up."""

log = structlog.get_logger()


class Effects:
    """The effects of one run, the runs of its deeper rounds included."""

    __slots__ = ("_known", "_over", "_run", "_spent", "_store")

    def __init__(self, store: EffectStore, run: str) -> None:
        """:param run: the id of the outermost run. Of one that is resumed, `load` comes first."""
        self._store = store
        self._run = run
        self._known: dict[tuple[str, str], bytes] = {}
        """By kind and key, encoded; all of it is durable."""
        self._spent: defaultdict[str, float] = defaultdict(float)
        self._over = False

    async def load(self) -> None:
        """Know what an earlier process did."""
        for kind, key, value in await self._store.load(self._run):
            if kind == SPENT:
                thing, amount = msgspec.msgpack.decode(value, type=tuple[str, float])
                self._spent[thing] += amount
            else:
                self._known[kind, key] = value

    def get(self, kind: str, key: str, type_: Any) -> Any:
        """What was got before, of this type (which may be a union), or nothing."""
        known = self._known.get((kind, key))
        return None if known is None else msgspec.msgpack.decode(known, type=type_)

    def all(self, kind: str, type_: Any) -> list[Any]:
        """Everything of a kind, in the order of the keys."""
        keys = sorted(key for known, key in self._known if known == kind)
        return [self.get(kind, key, type_) for key in keys]

    async def put(self, kind: str, key: str, value: Any) -> None:
        """Return when it is durable; the same key again changes nothing."""
        if self._over:
            return
        body = msgspec.msgpack.encode(value)

        async def keep() -> None:
            await self._store.put(self._run, kind, key, body)
            self._known.setdefault((kind, key), body)

        await asyncio.shield(asyncio.ensure_future(keep()))

    def spent(self, thing: str) -> float:
        """How much of something was used up, by this process and by those before it."""
        return self._spent.get(thing, 0.0)

    def spend(self, thing: str, amount: float) -> None:
        """Add to that, with the next commit: nobody waits for it."""
        if self._over:
            return  # an answer that came after the end
        self._spent[thing] += amount
        self._store.put_lazily(self._run, SPENT, uuid.uuid4().hex, msgspec.msgpack.encode((thing, amount)), _log_error)

    def forget(self) -> None:
        """The run has ended: its journal holds all that is of use."""
        self._over = True
        if self._known or self._spent:
            self._store.forget(self._run, _log_error)


class ModelAccount:
    """`runtime.llm.model_choice.Account` over the effects of a run."""

    __slots__ = ("_effects",)

    def __init__(self, effects: Effects) -> None:
        self._effects = effects

    def spent(self) -> Spent:
        calls, tokens_in, tokens_out, estimated = (int(self._effects.spent(each)) for each in CALLS)
        return Spent(calls, tokens_in, tokens_out, bool(estimated))

    def note(self, spent: Spent) -> None:
        for name, amount in zip(CALLS, msgspec.structs.astuple(spent), strict=True):
            if amount:
                self._effects.spend(name, float(amount))


def _log_error(error: Exception | None) -> None:
    if error is not None:
        log.error("effect.not_written", error=repr(error))
