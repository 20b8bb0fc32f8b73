"""How the time of a call grows with its text: measured in a process that is killed when it takes too long."""

import math
import multiprocessing
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parent.parent.parent
SERVE = "import sys; from bench.hostile.growth import serve; serve(int(sys.argv[1]))"
SIZES = (2_000, 4_000, 8_000, 16_000)
"""Characters at which the growth is taken."""
LARGER = (16_000, 32_000, 64_000, 128_000)
"""Where what looked too fast is measured again: there a square shows, and chance does not."""
STEPS = (60, 250, 2_000, 8_000)
"""Characters at which a text is looked at first, so that what never ends is noticed early."""
NOTICED = 0.000_5
"""Seconds: below, at the last of the steps, no text is worth a measurement: a square takes 0.1 s for 128,000 then."""
ENOUGH = 0.3
"""Seconds: a measurement that took longer is not repeated, and no larger one is made."""
LOOKED_AT = 3.0
"""Seconds: no more texts are looked at when those of a pattern took so long."""
SLOWEST = 3
"""So many texts of those that were looked at are measured."""
FAST = 1.5
"""Above this exponent a growth is no longer taken for a linear one: n log n has 1.1, a square 2."""
SUSPECT = 1.2
"""Above this one it is measured again: where a line costs more than a square at first, the square wins later."""
MOST = 500.0
"""Milliseconds of CPU that 16,000 characters may take a pattern: they grow with their text, but by too much."""
WEIGHTY = 20.0
"""Milliseconds: a growth that is told from less is one of the clock's."""
SECONDS = 20.0
"""A process that has not answered for so long is killed."""


class Growth(NamedTuple):
    """What the worst text costs a call."""

    exponent: float
    """1: twice the text takes twice the time; infinite: it did not end."""
    milliseconds: float
    """At the largest size that was reached."""
    characters: int
    """That size; 0: no text took long enough to be measured."""
    text: str
    """How it is made."""

    @property
    def per_size(self) -> float:
        """Milliseconds of 16,000 characters."""
        return self.milliseconds * SIZES[-1] / self.characters if self.characters else self.milliseconds

    @property
    def is_bad(self) -> bool:
        """Whether a pattern like this may not see a text from outside."""
        return self.is_fast or self.per_size > MOST

    @property
    def is_fast(self) -> bool:
        """Whether it is worse than linear, and long enough to tell."""
        return self.exponent > FAST and self.milliseconds > WEIGHTY


QUICK = Growth(0.0, 0.0, 0, "")


def find_worst(call: Callable[[Any], object], makes: Mapping[str, Callable[[int], Any]]) -> Growth:
    """
    What the worst of some texts costs a call: all are looked at, the slowest are measured.

    :param makes: by how it is told, what makes a text of so many characters.
    """
    slow, spent = list[tuple[float, str]](), 0.0
    for told, make in makes.items():
        taken = _look(call, make)
        if taken > NOTICED:
            slow.append((taken, told))
        spent += taken
        if taken > ENOUGH or spent > LOOKED_AT:
            break  # what has been seen is bad enough
    slow.sort(reverse=True)
    worst = QUICK
    for _, told in slow[:SLOWEST]:
        found = measure(call, makes[told], told, SIZES)
        if found.exponent > SUSPECT and found.milliseconds < ENOUGH * 1000:
            found = measure(call, makes[told], told, LARGER)
        worst = max(worst, found)
        if worst.is_fast:
            break
    return worst


def measure(call: Callable[[Any], object], make: Callable[[int], Any], told: str, sizes: Sequence[int]) -> Growth:
    """The growth over the largest sizes, from the least of some times of each: a busy machine only adds."""
    times = list[tuple[int, float]]()
    for size in sizes:
        text = make(size)
        again = 1 if times and times[-1][1] > ENOUGH / 4 else 3
        times.append((size, min(_time(call, text) for _ in range(again))))
        if times[-1][1] > ENOUGH:
            break
    (large, most), (small, least) = times[-1], times[max(0, len(times) - 3)]
    if len(sizes) > 1 and large == small:
        return Growth(math.inf, most * 1000, large, told)
    exponent = math.log(max(most, 1e-6) / max(least, 1e-6)) / math.log(large / small) if large > small else 0.0
    return Growth(exponent, most * 1000, large, told)


def _look(call: Callable[[Any], object], make: Callable[[int], Any]) -> float:
    """Seconds that a text takes at the last of the steps, or at the first one that is slow."""
    taken = 0.0
    for size in STEPS:
        taken = _time(call, make(size))
        if taken > ENOUGH / 60:
            break
    return taken


def _time(call: Callable[[Any], object], text: Any) -> float:
    start = time.thread_time()
    call(text)
    return time.thread_time() - start


class DidNotEnd(Exception):
    """A call took longer than it may, or its process died; the process is gone."""


class Killable:
    """Calls functions in a process of its own, which is started when it is needed and ended when one does not end."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._pipe: Connection | None = None

    def call(self, function: Callable[..., Any], *arguments: Any, seconds: float = SECONDS) -> Any:
        """:raises DidNotEnd: there was no answer in time."""
        if self._pipe is None:
            self._pipe, theirs = multiprocessing.Pipe()
            words = [sys.executable, "-c", SERVE, str(theirs.fileno())]
            self._process = subprocess.Popen(words, pass_fds=[theirs.fileno()], cwd=ROOT)
            theirs.close()
        self._pipe.send((function, arguments))
        try:
            if self._pipe.poll(seconds):
                error, answer = self._pipe.recv()
                if error is not None:
                    raise error
                return answer
        except EOFError:
            pass
        self.close()
        raise DidNotEnd

    def close(self) -> None:
        if self._pipe is not None and self._process is not None:
            self._process.kill()
            self._process.wait()
            self._pipe.close()
            self._pipe = None


def serve(descriptor: int) -> None:
    """Answers calls until the other side is gone."""
    pipe = Connection(descriptor)
    while True:
        try:
            function, arguments = pipe.recv()
        except EOFError:
            return
        try:
            pipe.send((None, function(*arguments)))
        except Exception as error:
            pipe.send((error, None))
