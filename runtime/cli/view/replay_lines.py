"""What came of a replay, as lines for people: the same, or where it went another way, the first place first. Pure."""

from collections.abc import Iterator
from itertools import groupby
from typing import TYPE_CHECKING

from runtime.cli.view.printing import Line
from runtime.user_text import display, pluralize, safe, spell_out

if TYPE_CHECKING:
    from runtime.observe.replay import Difference, NotAsked, Replay

REPEATED = ("handoffs.", "children.")
"""What the outcome repeats of the events."""
TIMES = frozenset({"at", "seconds"})
"""Fields that are shown where nothing else differs."""
MOST_FIELDS = 6
"""Of one event; `--json` has all."""


def replay_lines(done: "Replay") -> Iterator[Line]:
    """The verdict, then what was asked otherwise, then events and outcome field by field."""
    head = f"Ticket {safe(done.ticket)}, run {safe(done.run)}: "
    if done.is_same:
        what = f"{pluralize(done.events, 'event')} and the outcome"
        yield Line(f"{head}the same, {what}, byte for byte.", "good")
        return
    yield Line(f"{head}it differs.", "bad")
    yield Line(f"Then: {spell_out(done.then.status)}. Now: {_status(done)}.")
    for asked in done.asked:
        yield from _asked(asked)
    told = [each for each in done.differences if each.event or not each.field.startswith(REPEATED)] or done.differences
    shown = [each for each in told if each.field.rpartition(".")[2] not in TIMES] or told
    for _, group in groupby(shown, key=lambda each: (each.run, each.event)):
        yield from _event(list(group), done.run)


def _status(done: "Replay") -> str:
    return "it comes to no end" if done.now is None else spell_out(done.now.status)


def _asked(asked: "NotAsked") -> Iterator[Line]:
    who = safe(asked.agent) or "the run"
    yield Line(f"{who} asks something else than then ({asked.name}): {display(asked.now)}", "unsure")
    yield Line(f"then: {display(asked.then)}" if asked.then else "then: nothing of the kind", "faint", 4)


def _event(group: "list[Difference]", outermost: str) -> Iterator[Line]:
    first = group[0]
    where = f"In {safe(first.run)}, " if first.run != outermost else ""
    name = f"event {first.event}, {safe(first.sender) or 'outside'}: {spell_out(first.kind)}"
    yield Line(f"{where}{name if first.event else 'the outcome'}", "strong")
    for each in group[:MOST_FIELDS]:
        field = f"{safe(each.field)}: " if each.field else ""
        yield Line(f"{field}then {safe(each.then)}", indent=4)
        yield Line(f"{' ' * len(field)}now {safe(each.now)}", indent=4)
    if len(group) > MOST_FIELDS:
        yield Line(f"and {pluralize(len(group) - MOST_FIELDS, 'more field')}", "faint", 4)
