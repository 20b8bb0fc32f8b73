"""Things that were looked at, each with its remedy, as lines."""

from collections.abc import Iterable, Iterator
from typing import Literal

import msgspec

from runtime.cli.view.printing import Line

MARKS = {"ok": ("✔", "good"), "warning": ("!", "poor"), "problem": ("✘", "bad")}


class Check(msgspec.Struct, frozen=True):
    """One thing that was looked at."""

    name: str
    state: Literal["ok", "warning", "problem"]
    found: str
    remedy: str = ""


def check_lines(found: Iterable[Check]) -> Iterator[Line]:
    """A line for each, and one for its remedy."""
    checks = list(found)
    width = max((len(check.name) for check in checks), default=0)
    for check in checks:
        mark, style = MARKS[check.state]
        yield Line(f"{mark} {check.name:<{width}}  {check.found}", style if check.state != "ok" else "")
        if check.remedy:
            yield Line(f"→ {check.remedy}", "faint", width + 4)
