"""The folders of an index as `index` shows them."""

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import TYPE_CHECKING

from runtime.cli.view.printing import Line
from runtime.times import local
from runtime.user_text import pluralize, safe

if TYPE_CHECKING:
    from runtime.knowledge.index import Ignored, IndexedFolder

SHOWN = 20
KINDS_SHOWN = 8


def describe_folder(folder: "IndexedFolder") -> Iterator[Line]:
    """One folder: what it is called, how much of it is indexed, and what was left out."""
    yield Line(safe(folder.name), "strong")
    yield Line(safe(folder.path) + ("" if folder.is_there else "  (not there now)"), indent=2)
    when = f", read {_when(folder.record.indexed)}" if folder.record.indexed else ""
    found = f"{pluralize(folder.documents, 'document')}, {pluralize(folder.passages, 'passage')}{when}"
    yield Line(found, indent=2)
    yield from describe_skipped(folder.record.skipped)
    yield from describe_ignored(folder.record.ignored)


def describe_skipped(skipped: Sequence[tuple[str, str]]) -> Iterator[Line]:
    """Files that could not be read, each with its reason."""
    if skipped:
        yield Line("")
        yield Line(f"Skipped ({len(skipped)})", "strong")
        yield from list_first([f"{source}: {reason}" for source, reason in skipped])


def describe_ignored(kinds: "Sequence[Ignored]") -> Iterator[Line]:
    """What was ignored, a line a kind."""
    if not kinds:
        return
    yield Line("")
    yield Line(f"Ignored ({sum(kind.count for kind in kinds)})", "strong")
    for kind in kinds[:KINDS_SHOWN]:
        more = ", ..." if kind.count > len(kind.examples) else ""
        yield Line(f"{kind.count} {safe(kind.kind)}: {', '.join(map(safe, kind.examples))}{more}", indent=2)
    if len(kinds) > KINDS_SHOWN:
        yield Line(f"and {len(kinds) - KINDS_SHOWN} more kinds; `--json` lists them all", "faint", 2)


def _when(indexed: str) -> str:
    """A moment as the clock on the wall shows it; `indexed` is in ISO 8601."""
    try:
        return local(datetime.fromisoformat(indexed).timestamp())
    except (ValueError, OverflowError, OSError):  # somebody else's words
        return safe(indexed)


def list_first(lines: Sequence[str]) -> Iterator[Line]:
    """The first of many lines."""
    for line in lines[:SHOWN]:
        yield Line(line, indent=2)
    if len(lines) > SHOWN:
        yield Line(f"and {len(lines) - SHOWN} more; `--json` lists them all", "faint", 2)
