"""Large tickets do not hold the event loop: what measures it runs, and finds nothing far above its bound."""

from bench import standstill
from bench.standstill import HOSTILE, MOST_MS, dense, listed, prose

CROWDED_MS = 5 * MOST_MS
"""It is CPU time, so nobody else's work is in it; but caches that are shared and the collector triple it at times."""


async def test_no_step_of_a_large_ticket_holds_the_loop_for_long() -> None:
    figures = await standstill.measure(["dense 60 KB"])

    assert set(figures) >= {"dense 60 KB, rules", "dense 60 KB, model"}
    for name, each in figures.items():
        assert 0.0 < each["ms"] < CROWDED_MS, (name, each)
    assert "dense 60 KB, model" in standstill.show(figures)


async def test_no_step_of_a_hostile_text_holds_the_loop_for_long_whichever_way_it_comes() -> None:
    """A ticket of U+FDFA held it for 222 ms, a delivery of HTML for 38 ms with each message."""
    figures = await standstill.measure(["hostile"], ["U+FDFA", "squares", "a word a line", "Hangul"])

    assert set(figures) == {f"{name}, {by}" for name in HOSTILE for by in ("rules", "model")}
    slow = {name: each for name, each in figures.items() if not 0.0 < each["ms"] < CROWDED_MS}
    assert slow == {}


def test_texts_are_as_long_as_they_should_be() -> None:
    assert [len(make(60_000)) for make in (prose, dense, listed)] == [60_000] * 3
