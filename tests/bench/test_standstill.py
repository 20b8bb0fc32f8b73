"""Large tickets do not hold the event loop: what measures it runs, and finds nothing far above its bound."""

from bench import standstill
from bench.standstill import MOST_MS, dense, listed, prose


async def test_no_step_of_a_large_ticket_holds_the_loop_for_long() -> None:
    figures = await standstill.measure(["dense 60 KB"])

    assert set(figures) >= {"dense 60 KB, rules", "dense 60 KB, model"}
    for name, each in figures.items():
        assert 0.0 < each["ms"] < 4 * MOST_MS, (name, each)  # other work shares the caches of the machine
    assert "dense 60 KB, model" in standstill.show(figures)


def test_texts_are_as_long_as_they_should_be() -> None:
    assert [len(make(60_000)) for make in (prose, dense, listed)] == [60_000] * 3
