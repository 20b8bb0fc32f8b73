"""Ids that somebody may have meant who mistyped one."""

from runtime.storage.port import RunStore

MOST_IDS = 5_000
"""So many of the latest runs have ids that a mistyped one is compared with."""
MOST_NEAREST = 3
ID_CHARACTERS = 100
ALIKE = 0.75
"""Made-up ids share about half of their characters by chance."""


async def nearest_ids(runs: RunStore, some_id: str) -> list[str]:
    """Ids of tickets and runs that begin so, else those that are alike."""
    import difflib  # only a mistake leads here

    given = some_id[:ID_CHARACTERS].casefold()
    known = {each.casefold(): each for each in reversed(await runs.latest_ids(MOST_IDS))}
    begin = [folded for folded in reversed(known) if given and folded.startswith(given)]
    near = begin[:MOST_NEAREST] or difflib.get_close_matches(given, known, MOST_NEAREST, ALIKE)
    return [known[folded] for folded in near]
