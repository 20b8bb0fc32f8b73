"""
What a message costs on the bus: `tell`, `ask`, one hop in a ring of actors, and an actor that is idle.

Beside each stands the raw limit, taken in the same process and in turn: a task that waits at a deque. All times are
CPU.
"""

import asyncio
import functools
import itertools
import sys
from collections.abc import Callable, Mapping
from typing import Any

from bench.measure import Compared, Figures, Traced, arguments, compare, report, table
from bench.raw import Box
from bus import Actor, Cast, Context, Event, LocalBus, Request

PAUSE = 100
"""Messages after which the sender lets others run, so that no mailbox grows long."""
WITHIN = 30.0


class Tick(Event, frozen=True):
    last: bool = False


class Ping(Request[Tick], frozen=True):
    pass


class Counter(Actor[Tick | Ping]):
    """Counts, answers, and says when it had the last."""

    __slots__ = ("count", "done")

    def __init__(self) -> None:
        self.count = 0
        self.done: asyncio.Future[int] | None = None

    def receive(self, message: Tick | Ping, ctx: Context) -> Tick | None:  # noqa: ARG002
        if type(message) is Ping:
            return ANSWER
        self.count += 1
        if message is LAST and self.done is not None:
            self.done.set_result(self.count)
        return None


TICK, LAST, PING, ANSWER = Tick(), Tick(last=True), Ping(), Tick()


class Member(Actor[Tick]):
    """Passes a token on."""

    __slots__ = ("_to",)

    def __init__(self, to: str) -> None:
        self._to = to

    def receive(self, message: Tick, ctx: Context) -> None:
        ctx.tell(self._to, message)


class Quiet(Actor[Tick]):
    """Has heard one message, and waits."""

    __slots__ = ()
    heard = 0

    def receive(self, message: Tick, ctx: Context) -> None:  # noqa: ARG002
        Quiet.heard += 1


class Last(Actor[Tick]):
    """Where the token ends."""

    __slots__ = ("done",)

    def __init__(self) -> None:
        self.done: asyncio.Future[None] | None = None

    def receive(self, message: Tick, ctx: Context) -> None:  # noqa: ARG002
        if self.done is not None:
            self.done.set_result(None)


class Ours:
    """The product's bus."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._counter = Counter()
        self._last = Last()
        self._bus = LocalBus({"counter": lambda: self._counter})

    async def tell(self, count: int) -> None:
        self._counter.done = self._loop.create_future()
        post = self._bus.post
        for n in range(1, count):
            post("counter", TICK)
            if n % PAUSE == 0:
                await asyncio.sleep(0)
        post("counter", LAST)
        await self._counter.done

    async def ask(self, count: int) -> None:
        for _ in range(count):
            await self._bus.ask("counter", PING, within=WITHIN)

    async def idle(self, size: int) -> tuple[int, int]:
        """Bytes of an actor that was written to once, as that is when it is made, and tasks that all of them hold."""
        names = [f"a{n}" for n in range(size)]
        cast: Cast = dict.fromkeys(names, Quiet)
        tasks = len(asyncio.all_tasks())
        with Traced() as traced:
            bus = LocalBus(cast)
            for name in names:
                bus.post(name, TICK)
            while Quiet.heard < size:  # noqa: ASYNC110 - an event that is set would be measured too
                await asyncio.sleep(0)
        held = len(asyncio.all_tasks()) - tasks
        bus.seal()
        return round(traced.bytes / size), held

    def ring(self, size: int) -> None:
        names = [f"a{n}" for n in range(size)]
        cast: dict[str, Callable[[], Actor[Any]]] = {
            name: functools.partial(Member, to) for name, to in itertools.pairwise(names)
        }
        self._ring = LocalBus({**cast, names[-1]: lambda: self._last})
        self._hops = size

    async def laps(self, count: int) -> None:
        for _ in range(max(1, count // self._hops)):
            self._last.done = self._loop.create_future()
            self._ring.post("a0", TICK)
            await self._last.done

    def close(self) -> None:
        self._bus.seal()
        self._ring.seal()


class Raw:
    """A task that waits at a deque, for each actor."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._box: Box[asyncio.Future[int] | int] = Box()
        self._tasks = [self._loop.create_task(self._count())]
        self._done: asyncio.Future[int] = self._loop.create_future()

    async def _count(self) -> None:
        box, count = self._box, 0
        while True:
            message = await box.get()
            if isinstance(message, int):
                count += 1
                if message:
                    self._done.set_result(count)
            else:
                message.set_result(count)

    async def tell(self, count: int) -> None:
        self._done = self._loop.create_future()
        put = self._box.put
        for n in range(1, count):
            put(0)
            if n % PAUSE == 0:
                await asyncio.sleep(0)
        put(1)
        await self._done

    async def ask(self, count: int) -> None:
        for _ in range(count):
            answer: asyncio.Future[int] = self._loop.create_future()
            self._box.put(answer)
            await answer

    async def ring(self, size: int) -> int:
        """Bytes of an actor that waits."""
        with Traced() as traced:
            self._boxes: list[Box[asyncio.Future[None]]] = [Box() for _ in range(size)]
            self._tasks += [self._loop.create_task(self._member(n, size)) for n in range(size)]
            await asyncio.sleep(0)
        return round(traced.bytes / size)

    async def _member(self, number: int, size: int) -> None:
        mine, last = self._boxes[number], number == size - 1
        following = self._boxes[(number + 1) % size]
        while True:
            token = await mine.get()
            if last:
                token.set_result(None)
            else:
                following.put(token)

    async def laps(self, count: int) -> None:
        for _ in range(max(1, count // len(self._boxes))):
            token: asyncio.Future[None] = self._loop.create_future()
            self._boxes[0].put(token)
            await token

    async def close(self) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.wait(self._tasks)


def figures(compared: Compared) -> Figures:
    return {
        "ratio": round(compared.cpu_ratio, 2), "ours_us": round(compared.ours.cpu * 1e6, 3),
        "raw_us": round(compared.raw.cpu * 1e6, 3),
    }  # fmt: skip


async def measure(rounds: int, ring: int) -> Figures:
    ours, raw = Ours(), Raw()
    result: Figures = {
        "tell": figures(await compare(ours.tell, raw.tell, rounds=rounds)),
        "ask": figures(await compare(ours.ask, raw.ask, rounds=rounds)),
    }
    bytes_each, tasks = await ours.idle(ring)
    ours.ring(ring)
    result["idle_actor"] = {"bytes": bytes_each, "tasks": tasks, "raw_bytes": await raw.ring(ring)}
    result["hop"] = {"ring": ring, **figures(await compare(ours.laps, raw.laps, rounds=rounds, least=ring))}
    ours.close()
    await raw.close()
    return result


def show(result: Mapping[str, Any]) -> str:
    rows = [
        [name, f"{row['ours_us']:.2f} us", f"{row['raw_us']:.2f} us", f"{row['ratio']:.2f}"]
        for name, row in result.items()
        if name != "idle_actor"
    ]
    idle = result["idle_actor"]
    rows.append(["idle actor", f"{idle['bytes']} bytes", f"{idle['raw_bytes']} bytes", f"{idle['tasks']} tasks"])
    return table(("", "ours", "raw asyncio", "ratio"), rows)


def main() -> int:
    parser = arguments(__doc__, rounds=9)
    parser.add_argument("--ring", type=int, default=10_000, help="actors in the ring")
    options = parser.parse_args()
    return report(options, lambda: measure(options.rounds, options.ring), show)


if __name__ == "__main__":
    sys.exit(main())
