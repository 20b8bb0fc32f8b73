"""Extractor: reads what was found, the most promising first, and nothing twice."""

from collections.abc import Iterable

from actors.evidence.sources import FailedSource, Page, SearchResult
from actors.ports import Fetch
from actors.research.messages import ExtractionCompleted, ExtractionFellShort, ReadSources
from actors.research.models import Plan
from actors.text.urls import key_of
from actors.workflow.cancellation import run_until_stop
from actors.workflow.progress import StageProgress
from bus import Actor, Context

SHARE = 0.7
"""Of the time that is left: what reading may take."""
NOTHING_NEW = "No new page was found."


class Extractor(Actor[ReadSources]):
    """Mailbox: ReadSources. Asked again, it reads what it has not read yet."""

    __slots__ = ("_fetch",)

    def __init__(self, fetch: Fetch) -> None:
        self._fetch = fetch

    async def receive(self, message: ReadSources, ctx: Context) -> ExtractionCompleted | ExtractionFellShort:
        plan, brief = message.plan, message.brief
        assert plan is not None  # noqa: S101 - the table makes a plan first
        pages, missed = list(message.pages), list(message.missed)
        before, tried = len(pages), 0
        chosen = candidates(message.results, plan, {*(page.key for page in pages), *_keys(missed)})
        ordered = max(brief.breadth, len(brief.urls)) + message.read_before
        wanted = min(max(ordered - before, 0), len(chosen))
        shown: dict[str, Page | FailedSource] = {}

        def show(read: Page | FailedSource) -> None:
            """At once, whatever page is waited for; again only if it turns out to be something else."""
            key = read.key if isinstance(read, Page) else key_of(read.place)
            if shown.get(key) != read:
                shown[key] = read
                good = sum(isinstance(each, Page) for each in shown.values())
                ctx.publish(StageProgress("extracting", "Reading pages", min(good, wanted), wanted, _name_host(read)))

        def done(read: Page | FailedSource) -> None:
            nonlocal tried
            tried += 1
            if isinstance(read, Page):
                pages.append(read)
            else:
                missed.append(read)
            show(read)

        ctx.publish(StageProgress("extracting", "Reading pages", 0, wanted))
        seconds, question = ctx.remaining_seconds() * SHARE, brief.direction or message.text
        reading = self._fetch.read(chosen, wanted=wanted, query=question, within=seconds, done=done, arrived=show)
        await run_until_stop(reading, ctx, within=seconds + 1.0)
        pages[before:] = sorted(pages[before:], key=lambda page: _place(page, chosen))
        missed[len(message.missed) :] = sorted(missed[len(message.missed) :], key=lambda each: each.place)
        said, read = (tuple(pages), tuple(missed), message.partial or _partial(missed)), len(pages) - before
        used_up = len(pages) < ordered and read < tried == len(chosen)  # others are only to be had by another search
        few = len(pages) - message.read_before < plan.least_pages
        if (few or used_up) and not ctx.stopping and not said[2]:
            what = f"Of {tried} pages that were found {read or 'none'} could be read." if tried else NOTHING_NEW
            return ExtractionFellShort(*said, what)
        return ExtractionCompleted(*said)


def candidates(results: Iterable[SearchResult], plan: Plan, known: set[str]) -> list[SearchResult]:
    """What is still to be read, in order: ordered pages, then what this round's queries found, the poor ones last."""
    fresh = [each for each in results if key_of(each.url) not in known]

    def rank(result: SearchResult) -> tuple[bool, bool, bool]:
        return result.source != "urls", result.quality < plan.least_quality, result.query not in plan.queries

    return sorted(fresh, key=rank)


def _name_host(read: Page | FailedSource) -> str:
    """What came of a page, in a few words."""
    return read.title or read.url if isinstance(read, Page) else f"{read.place} ({read.reason.replace('_', ' ')})"


def _keys(missed: Iterable[FailedSource]) -> set[str]:
    """Pages that are not worth another try."""
    return {key_of(each.place) for each in missed if each.reason != "cancelled"}


def _partial(missed: Iterable[FailedSource]) -> str:
    return "pages_spent" if any(each.reason == "budget" for each in missed) else ""


def _place(page: Page, chosen: list[SearchResult]) -> int:
    """Where a page stood among the candidates: the order of reading must not depend on the network's."""
    return next((n for n, each in enumerate(chosen) if key_of(each.url) == page.key), len(chosen))
