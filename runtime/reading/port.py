"""What was read, as agents ask it: passages of own documents from the index, of web pages from one made for them."""

import asyncio
from collections.abc import Sequence

import msgspec

from actors.evidence import Findings
from actors.ports import Knowledge
from actors.research.ports import Page
from runtime.workers import Workers


class Reader:
    """`actors.research.ports.Reading`, for all runs of a process."""

    def __init__(self, knowledge: Knowledge, workers: Workers) -> None:
        self._knowledge = knowledge
        self._workers = workers

    async def passages(self, questions: Sequence[str], pages: Sequence[Page], *, within: float) -> tuple[Findings, ...]:
        keys = {page.key for page in pages}

        async def one(question: str) -> Findings:
            found = await self._knowledge.search(question, within=within)
            kept = tuple(each for each in found.passages if each.source in keys)
            return msgspec.structs.replace(found, passages=kept)

        return tuple(await asyncio.gather(*(one(each) for each in questions)))
