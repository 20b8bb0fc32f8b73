"""Which candidates are taken depends on their rank and on what they are, not on when they arrive."""

from hypothesis import given
from hypothesis import strategies as st

from actors.evidence.sources import FailedSource, Page
from runtime.crawl.duplicates import Fetched, ReadPages
from runtime.crawl.pages import SPARES, CandidateQueue

PAGE = Fetched(Page("k", "u", "t", "urls", "text", 4, "hash", "2026-01-01"))
GONE = Fetched(FailedSource("u", "dead", "Gone."))


def play(good: list[bool], wanted: int, arrivals: list[int]) -> tuple[list[int], int]:
    """The ranks that are taken when the candidates under way arrive like this, and how many were begun."""
    order, under_way, taken = CandidateQueue(len(good), wanted), list[int](), list[int]()
    for pick in arrivals:
        while order.may_start:
            under_way.append(order.started)
            order.started += 1
        if under_way:
            rank = under_way.pop(pick % len(under_way))
            order.settled[rank] = PAGE if good[rank] else GONE
        while (settled := order.next()) is not None:
            if settled is PAGE:
                taken.append(order.judged)
            order.judge(good=settled is PAGE)
    assert order.complete
    return taken, order.started


@given(st.lists(st.booleans(), max_size=20), st.integers(0, 6), st.lists(st.integers(0, 99), min_size=21, max_size=21))
def test_the_first_good_ones_are_taken_in_whatever_order_they_arrive(
    good: list[bool], wanted: int, arrivals: list[int]
) -> None:
    taken, started = play(good, wanted, arrivals)
    expected = [rank for rank, is_good in enumerate(good) if is_good][:wanted]

    assert taken == expected
    assert started <= wanted + SPARES + good[:started].count(False)


def begin(order: CandidateQueue) -> int:
    """How many may begin now."""
    before = order.started
    while order.may_start:
        order.started += 1
    return order.started - before


def test_two_more_than_are_wanted_are_begun_and_one_more_for_each_that_fails() -> None:
    order = CandidateQueue(20, 3)
    begun = [begin(order)]
    order.settled[3] = PAGE
    begun.append(begin(order))
    order.settled[4] = GONE
    begun.append(begin(order))

    assert begun == [3 + SPARES, 0, 1]


def test_those_that_others_wait_for_are_late_and_spares_are_not() -> None:
    order = CandidateQueue(7, 2)
    order.started = 4
    order.settled = {1: PAGE, 2: PAGE}

    assert (order.enough, order.late()) == (True, [0])
    order.settled = {1: PAGE}
    assert (order.enough, order.late()) == (False, [0, 2, 3])


def page(key: str, text: str, url: str = "", canonical: str = "", sketch: tuple[int, ...] = ()) -> Fetched:
    read = Page(key, url or key, "T", "urls", text, len(text), f"hash of {text}", "2026-01-01")
    return Fetched(read, canonical, sketch)


def test_what_is_seen_again_is_named_with_what_it_repeats() -> None:
    seen, sketch = ReadPages(), tuple(range(100))
    seen.add(page("http://a.example/1", "one", canonical="http://a.example/one", sketch=sketch))

    again = [
        page("http://b.example/", "other", url="http://a.example/1"),
        page("http://a.example/print?id=1", "other", canonical="http://a.example/one"),
        page("http://b.example/2", "one"),
        page("http://b.example/3", "nearly one", sketch=(*range(95), 200, 201, 202, 203, 204)),
    ]
    for each in again:
        judged = seen.judge(each, "http://place.example/")
        assert isinstance(judged, FailedSource)
        assert (judged.place, judged.reason) == ("http://place.example/", "duplicate")
        assert "http://a.example/1" in judged.detail


def test_what_is_new_is_kept_and_what_was_missed_stays_missed() -> None:
    seen = ReadPages()
    seen.add(page("http://a.example/1", "one", canonical="http://a.example/"))
    new = page("http://a.example/2", "two", canonical="http://a.example/", sketch=(1, 2, 3))

    assert seen.judge(new, "x") is new.read
    assert seen.judge(GONE, "x") is GONE.read
