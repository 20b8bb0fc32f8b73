"""
What solved earlier tickets: recalled, stored, judged by people, learnt from.

The same text is found in the database; similar texts are judged in a worker process by what was learnt from the store,
which a process of its own does in the background. The database is the truth that every look-up is checked against.
"""

import asyncio
import contextlib
import time
import uuid
from typing import Literal, NamedTuple, TypeVar

import msgspec
import structlog

from actors.evidence.claims import Citation, Resolution
from actors.ports import Documents, PortFailed, Recall
from actors.text.languages import guess_language
from runtime.embeddings.embedder import Embedder, EmbeddingFailed
from runtime.memory.job_results import NOTHING_LEARNT, Learnt, Looked
from runtime.memory.staleness import (
    Basis,
    EarlierAnswer,
    KeptAnswer,
    choose,
    choose_basis,
    explain_origin,
    find_basis,
    tell_day,
    tell_origin,
)
from runtime.memory.ticket_text import READ_CHARACTERS, Digest, digest, whole
from runtime.processes.pool import WorkError, Workers
from runtime.settings import MemorySettings
from runtime.storage.port import MemoryStore
from runtime.storage.records import Remembered, Served

log = structlog.get_logger()
S = TypeVar("S", bound=msgspec.Struct)

MOST_REJECTED = 20
"""So many wrong answers to one text are kept in mind."""
TEXTS_AT_ONCE = 256
"""So many texts are on their way to the sentence model at once while memory learns."""
MOST_SAME = 5
"""So many answers to the very same text are looked at for one that may be repeated."""
NOTHING: tuple[int, int] = (0, 0)
"""Counts of a store that nothing was learnt from."""


class NotRemembered(PortFailed):
    """Feedback came for a ticket of which memory holds no answer."""


class LearningFailed(PortFailed):
    """No new model was made; the older one stays."""


class GivenAnswer(NamedTuple):
    """What a run answered, and the ticket that memory has the answer for, with its text."""

    ticket: str
    text: str
    answer: Resolution


class TicketMemory:
    """The port `Memory`."""

    def __init__(
        self, store: MemoryStore, workers: Workers, settings: MemorySettings, documents: Documents | None = None,
        *, has_model: bool = False, embedder: Embedder | None = None,
    ) -> None:  # fmt: skip
        """
        :param documents: where what an answer cites is looked up before it is used again; None: nowhere.
        :param has_model: whether a model answers tickets now.
        :param embedder: tells what texts mean; None: they are compared by their words.
        """
        self.documents = documents
        self._has_model = has_model
        self._embedder = embedder
        self._store = store
        self._workers = workers
        self._settings = settings
        self.model = store.path.with_name(f"{store.path.name}.memory")
        self._problem = ""
        """With what was learnt: it is learnt again once for each."""
        self._learning: asyncio.Task[None] | None = None
        self._closed = False
        self._counts = store.counts_at_start
        self._learnt = store.learnt if store.learnt and self.model.exists() else NOTHING
        self.learn_if_due()

    # Recalling

    async def recall(self, text: str, *, within: float) -> Recall:
        """Decide whether an earlier resolution answers this ticket."""
        if not text.strip():
            return Recall(verdict="miss", why="The ticket has no text.")
        until = asyncio.get_running_loop().time() + min(within, self._settings.lookup_seconds)
        same = digest(text)
        recalled = await self._find_same(text, same, until) or await self._find_similar(text, until)
        bodies = await self._store.wrong_answers(same, MOST_REJECTED)
        rejected = tuple(msgspec.msgpack.decode(body, type=Resolution).text for body in bodies)
        return msgspec.structs.replace(recalled, rejected=rejected) if rejected else recalled

    async def _find_same(self, text: str, same: Digest, until: float) -> Recall | None:
        """An answer to the very same text: nothing learnt is needed for it. `until`: by the loop's clock."""
        served = await self._store.same(same, MOST_SAME)
        return await self._choose([_unpack(each) for each in served], text, until)

    async def _find_similar(self, text: str, until: float) -> Recall:
        try:
            looked = await self._look_up(text, until)
        except WorkError as error:
            return Recall(verdict="miss", why=f"Similar tickets could not be looked up: {error}.")
        if looked.problem not in {"", NOTHING_LEARNT, self._problem}:
            log.warning("memory.model_unusable", error=looked.problem)
            self._problem, self._learnt = looked.problem, NOTHING
            self.learn_if_due()
        answers = [  # what was learnt is older than the truth: only what still stands is said
            _unpack(served, each.verdict, each.why)
            for each in looked.candidates
            if (served := await self._store.row(each.row, each.answer))
        ]
        if recalled := await self._choose(answers, text, until):
            return recalled
        why = looked.problem or looked.why or "what is like it is not to be used"
        return Recall(verdict="miss", why=f"No earlier ticket is alike: {why}.")

    async def _look_up(self, text: str, until: float) -> Looked:
        if self._learnt == NOTHING and not self.model.exists():
            return Looked(
                problem=NOTHING_LEARNT
            )  # a worker would say the same, and under load nobody has time for that
        clock, shown = asyncio.get_running_loop().time, whole(text[:READ_CHARACTERS])
        name, vector = "", b""
        if self._embedder is not None:
            name = self._embedder.name
            with contextlib.suppress(EmbeddingFailed):  # what is alike by its words is still suggested
                (vector,) = await self._embedder.embed([shown], kind="passage", within=max(0.0, until - clock()))
        arguments = (str(self.model), str(self._store.path), shown, vector, name)
        within = max(0.0, until - clock())
        return await self._workers.call("runtime.memory.learning:look_up", *arguments, within=within, returns=Looked)

    async def _choose(self, answers: list[EarlierAnswer], text: str, until: float) -> Recall | None:
        """The first of some answers that may be repeated; if none may, the first of all, with the reason."""
        if not answers:
            return None
        within, language = max(0.0, until - asyncio.get_running_loop().time()), guess_language(text)
        answer, stale = await choose(
            answers, self.documents, has_model=self._has_model, language=language, within=within
        )
        served, is_persons = answer.served, answer.served.origin == "person"
        is_confirmed, allowed = served.state == "confirmed", self._settings.unconfirmed
        may_be_hit = is_confirmed or allowed == "similar" or (allowed == "same_text" and not answer.alike)
        resolution = answer.resolution
        shown = msgspec.structs.replace(
            resolution,
            grade="resolved" if is_confirmed and not stale else resolution.grade,
            # a person's answer is given word for word: what it cites is to look it up by
            citations=() if is_persons and not stale else resolution.citations,
        )
        return Recall(
            answer.verdict if may_be_hit and not stale else "suggestion", shown, served.ticket,
            explain_origin(answer, stale), stale=stale, vouched=is_confirmed or served.origin == "model",
            answered=tell_day(answer), told=tell_origin(answer, language, stale),
        )  # fmt: skip

    # Storing, and what people say

    async def store(self, key: str, ticket_id: str, text: str, resolution: Resolution, degraded: str = "") -> None:
        """Remember what solved a ticket, unconfirmed, durably; `degraded`: why no model did, though there is one."""
        origin = "model" if self._has_model and not degraded else "rules"
        basis = await self._find_basis(resolution, text)
        row = to_row(key, ticket_id, text, resolution, basis)._replace(origin=origin, created=time.time())
        await self._store.remember(row)
        self._add_counts(1, 0)

    async def teach(
        self, ticket_id: str, text: str, answer: str, person: str = "", edited: GivenAnswer | None = None
    ) -> None:
        """
        Remember a person's answer to a ticket, confirmed, durably: the last one counts.

        :param person: who gave it, where that is known.
        :param edited: of which answer these are other words: they rest on the same places.
        """
        citations, basis = await self._find_rest(edited) if edited is not None else ((), None)
        row = to_row(f"{uuid.uuid4()}:taught", ticket_id, text, Resolution(answer, citations, "resolved"), basis)
        row = row._replace(state="confirmed", origin="person", person=whole(person), created=time.time())
        await self._store.teach(row)
        self._add_counts(1, 1)

    async def confirm(self, ticket_id: str, text: str, resolution: Resolution) -> None:
        """Remember only so much of the answer to a ticket, confirmed, durably."""
        rests = (choose_basis(known, resolution) for known in await self._find_kept(ticket_id, text))
        # what its places rested on when it was given: that is what a person has read
        basis = next(filter(None, rests), None) or await self._find_basis(resolution, text)
        row = to_row(f"{uuid.uuid4()}:confirmed", ticket_id, text, resolution, basis)
        await self._store.teach(row._replace(state="confirmed", origin="places", created=time.time()))
        self._add_counts(1, 1)

    async def feedback(self, ticket_id: str, right: bool, said: tuple[str, Resolution] | None = None) -> int:
        """
        Note what a person says of the answer to a ticket; the last word counts.

        :param said: what was asked and answered, for the case that memory did not keep it.
        :returns: how many remembered answers it touched.
        :raises NotRemembered: memory holds no answer for this ticket.
        """
        ticket_id, state = whole(ticket_id), "confirmed" if right else "rejected"
        count = await self._store.judge(ticket_id, state)
        if not count and said is not None:
            text, resolution = said
            basis = await self._find_basis(resolution, text)
            row = to_row(f"{uuid.uuid4()}:judged", ticket_id, text, resolution, basis)
            await self._store.remember(row._replace(state=state, created=time.time()))
            count = 1
        if not count:
            raise NotRemembered(
                f"Memory holds no answer for the ticket {ticket_id!r}: "
                "give the id of the ticket that the answer came from, or say what is right."
            )
        self._add_counts(0, 1)
        return count

    async def withdraw(self, ticket_id: str) -> int:
        """Who asked says that the answer was wrong: what nobody has judged of it is forgotten. Returns how many."""
        count = await self._store.forget_unjudged(whole(ticket_id))
        self._add_counts(-count, 0)
        return count

    async def judgement(self, ticket_id: str, answer: str) -> str:
        """
        What a person said of the answer to a ticket: `confirmed` or `rejected`; empty: nothing, or there is none.

        `taught`: the person gave another one. `confirmed_place`: one of its places was right.
        """
        state, other, origin = await self._store.judgement(whole(ticket_id)) or ("", b"", "")
        if state != "confirmed" or other in {b"", digest(answer)}:
            return state
        return "taught" if origin == "person" else "confirmed_place"

    async def is_taught(self, ticket_id: str) -> bool:
        """Whether a person has answered a ticket."""
        judged = await self._store.judgement(whole(ticket_id))
        return judged is not None and judged[2] == "person"

    async def _find_basis(self, resolution: Resolution, text: str) -> Basis | None:
        return await find_basis(resolution, text, self.documents, self._settings.lookup_seconds)

    async def _find_kept(self, ticket_id: str, text: str) -> list[EarlierAnswer]:
        """The answers that memory has for a ticket of this text."""
        served = await self._store.same(digest(text), MOST_SAME)
        return [_unpack(each) for each in served if each.ticket == whole(ticket_id)]

    async def _find_rest(self, edited: GivenAnswer) -> tuple[tuple[Citation, ...], Basis | None]:
        """What an answer cites, and what that rested on when it was given: memory knows more than was shown of it."""
        for known in await self._find_kept(edited.ticket, edited.text):
            if known.resolution.text == whole(edited.answer.text):
                return known.resolution.citations, known.basis
        return edited.answer.citations, await self._find_basis(edited.answer, edited.text)

    # Learning

    async def learn(self) -> Learnt:
        """
        Learn from everything that is remembered, now.

        :raises LearningFailed: the older model stays.
        """
        counts, clock = self._counts, asyncio.get_running_loop().time
        workers = Workers(size=1)  # of its own: look-ups never wait for it, and its memory goes with it
        similar, until = self._settings.unconfirmed == "similar", clock() + self._settings.learn_seconds
        embedder = self._embedder.name if self._embedder is not None else ""
        arguments = (str(self._store.path), str(self.model), similar, self._settings.false_hits, embedder)
        try:
            await self._embed_texts(until)
            left = max(0.0, until - clock())
            learnt = await workers.call("runtime.memory.learning:learn", *arguments, within=left, returns=Learnt)
        except (WorkError, EmbeddingFailed) as error:
            raise LearningFailed(
                f"Memory could not learn: {str(error).rstrip('.')}. Earlier answers to similar tickets stay."
            ) from error
        finally:
            workers.close()
        await self._store.note_learnt(counts)
        self._learnt, self._problem = counts, ""
        return learnt

    async def _embed_texts(self, until: float) -> None:
        """Have vectors made of all texts that have none of this sentence model yet, and keep them."""
        if self._embedder is None:
            return
        name, last = self._embedder.name, b""
        while lacking := await self._store.lacking_vectors(name, last, TEXTS_AT_ONCE):
            within = max(0.0, until - asyncio.get_running_loop().time())
            vectors = await self._embedder.embed([text for _, text in lacking], kind="passage", within=within)
            digests = [each for each, _ in lacking]
            await self._store.keep_vectors(name, list(zip(digests, vectors, strict=True)))
            last = digests[-1]

    def due(self) -> bool:
        """Enough is new that learning again is worth its while."""
        new = max(abs(now - then) for now, then in zip(self._counts, self._learnt, strict=True))
        return new >= max(self._settings.learn_after, self._learnt[0] // 10)

    def learn_if_due(self) -> None:
        """Learn in the background, once at a time."""
        running = self._learning is not None and not self._learning.done()
        if self.due() and not running and not self._closed:
            self._learning = asyncio.get_running_loop().create_task(self._learn_quietly(), name="memory learns")

    async def _learn_quietly(self) -> None:
        counts = self._counts
        try:
            learnt = await self.learn()
        except LearningFailed as error:
            self._learnt = counts  # not again until as much is new
            log.warning("memory.learning_failed", error=str(error))
        else:
            log.info("memory.learnt", **msgspec.to_builtins(learnt))

    def _add_counts(self, tickets: int, judged: int) -> None:
        self._counts = (self._counts[0] + tickets, self._counts[1] + judged)
        self.learn_if_due()

    async def learnt(self) -> None:
        """Return when no learning is under way."""
        if self._learning is not None:
            await asyncio.wait([self._learning])

    async def recount(self) -> None:
        """Rows were deleted by somebody else, and the model with them; with enough left, it is made again."""
        self._counts = await self._store.counts()
        if not self.model.exists():
            self._learnt = NOTHING
        self.learn_if_due()

    async def close(self) -> None:
        """Stop learning, whatever it is at; before the database closes. A model that is not whole is never used."""
        self._closed = True
        if self._learning is not None:
            self._learning.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._learning


def to_row(key: str, ticket_id: str, text: str, resolution: Resolution, basis: Basis | None = None) -> Remembered:
    """A solved ticket as it is stored, unconfirmed; the same key again changes nothing."""
    kept = KeptAnswer(resolution.text, resolution.citations, resolution.grade, basis)
    try:
        packed = msgspec.msgpack.encode(kept)
    except UnicodeEncodeError:
        citations = tuple(_mend(citation) for citation in kept.citations)
        packed = msgspec.msgpack.encode(msgspec.structs.replace(_mend(kept), citations=citations))
    same, answer = digest(text), digest(resolution.text)
    return Remembered(whole(ticket_id), whole(text), same, packed, answer, "unconfirmed", whole(key))


def _mend(struct: S) -> S:
    """With whole characters only."""
    texts = ((name, getattr(struct, name)) for name in struct.__struct_fields__)
    return msgspec.structs.replace(struct, **{name: whole(text) for name, text in texts if isinstance(text, str)})


def _unpack(served: Served, verdict: Literal["hit", "suggestion"] = "hit", alike: str = "") -> EarlierAnswer:
    kept = msgspec.msgpack.decode(served.resolution, type=KeptAnswer)
    return EarlierAnswer(served, kept.resolution, kept.basis, verdict, alike)
