"""Extractor: reads what was found, the most promising first, and nothing twice."""

from actors.progress import Worked
from actors.research.identity import key_of
from actors.research.messages import ExtractionCompleted, ExtractionFellShort, ReadSources
from actors.research.ports import Fetch, Missed, Page
from bus import Actor, Context

SHARE = 0.7


class Extractor(Actor[ReadSources]):
    """Mailbox: ReadSources."""

    __slots__ = ("_fetch",)

    def __init__(self, fetch: Fetch) -> None:
        self._fetch = fetch

    async def receive(self, message: ReadSources, ctx: Context) -> ExtractionCompleted | ExtractionFellShort:
        plan, brief = message.plan, message.brief
        assert plan is not None  # noqa: S101 - the table makes a plan first
        known = {page.key for page in message.pages} | {key_of(each.place) for each in message.missed}
        candidates = [each for each in message.results if key_of(each.url) not in known]
        candidates.sort(key=lambda each: -each.quality)
        pages, missed = list(message.pages), list(message.missed)
        before = len(pages)

        def done(read: Page | Missed) -> None:
            if isinstance(read, Missed):
                missed.append(read)
                item = f"{read.place}: {read.reason}"
            else:
                pages.append(read)
                item = read.title or read.url
            ctx.publish(Worked("extracting", "Reading", len(pages) - before, brief.breadth, item))

        await self._fetch.read(
            candidates, wanted=brief.breadth, query=brief.direction or message.text, within=ctx.time_left() * SHARE,
            done=done,
        )  # fmt: skip
        if len(pages) - before < plan.least_pages and not ctx.stopping:
            what = "None of the pages that were found could be read."
            return ExtractionFellShort(tuple(pages), tuple(missed), message.partial, what)
        return ExtractionCompleted(tuple(pages), tuple(missed), message.partial)
