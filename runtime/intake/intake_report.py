"""What became of helpdesks' tickets in a while: answered, suggested, corrected, and what no document tells."""

import contextlib
import datetime
from collections import Counter
from collections.abc import Sequence

import msgspec

from actors.text.stop_words import EVERYDAY
from actors.text.tokenizer import is_cjk, spellings
from runtime.intake.inbox import Inbox
from runtime.intake.write_back import PREFIX, WriteBack
from runtime.storage.port import RunStore
from runtime.storage.records import ACTION, Action, Asked, StoredRun, Wanted

MOST_RUNS = 5_000
PAGE = 500
MOST_SHOWN = 20
TOPICS = 8
PUT_RIGHT = frozenset({"taught", "called wrong"})
UNKNOWN = "not_found"


class LackingTopic(msgspec.Struct, frozen=True):
    """A word that several questions have in common which no document answers."""

    word: str
    questions: int


class IntakeReport(msgspec.Struct, frozen=True, kw_only=True):
    """The runs of helpdesks' tickets since a moment, by what came of them: each counts in one of the first seven."""

    since: datetime.datetime
    answered: int = 0
    """The customer has an answer that nobody looked at before."""
    approved: int = 0
    """The customer has an answer that a person let through."""
    suggested: int = 0
    """People have a private note with a suggestion."""
    waiting: int = 0
    """The suggestion waits for a person's word."""
    not_sent: int = 0
    """A person refused the suggestion, or the ticket had moved on."""
    not_found: int = 0
    """The sources do not say it, as far as they were searched."""
    incomplete: int = 0
    """Of these: the search was not complete, so nobody knows whether they do."""
    others: int = 0
    """Still under way, failed, cancelled, or not written because the mode says so."""
    corrected: int = 0
    """Of all these: a person gave another answer, or called it wrong."""
    lacking: tuple[LackingTopic, ...] = ()
    unanswered: tuple[str, ...] = ()
    """Tickets of ours that nothing was found for, the newest first, twenty at most."""
    complete: bool = True
    """False: there were more runs, older ones, than are looked through."""


async def report_since(store: RunStore, inbox: Inbox, since: float) -> IntakeReport:
    """
    What became of tickets whose runs began since then.

    :param since: Unix seconds.
    """
    counts, terms, words, unanswered = Counter[str](), Counter[str](), dict[str, str](), list[str]()
    seen, before = 0, 0
    while seen < MOST_RUNS:
        found = await store.search(Wanted(search=PREFIX, since=since, before=before, count=PAGE))
        runs = [stored.id for stored, _ in found.runs if stored.ticket.startswith(PREFIX)]
        written, corrected = await inbox.find_write_backs(runs), await _find_corrected(store, runs)
        counts["corrected"] += len(corrected)
        for stored, asked in found.runs:
            if not stored.ticket.startswith(PREFIX):
                continue
            counts[classify(stored, written.get(stored.id))] += 1
            if stored.status == UNKNOWN and _was_incomplete(stored):
                counts["incomplete"] += 1
            elif stored.status == UNKNOWN:
                unanswered.append(stored.ticket)
                said = _read_words(asked)
                terms.update(said.keys())
                words = said | words
        seen += len(found.runs)
        before = found.last
        if not found.stopped and len(found.runs) < PAGE:
            break
    return IntakeReport(
        since=datetime.datetime.fromtimestamp(since, datetime.UTC), **counts,
        lacking=tuple(LackingTopic(words[term], n) for term, n in terms.most_common(TOPICS) if n > 1),
        unanswered=tuple(dict.fromkeys(unanswered))[:MOST_SHOWN], complete=seen < MOST_RUNS,
    )  # fmt: skip


class _Ending(msgspec.Struct):
    """Of an outcome only what is needed here."""

    incomplete: list[object] = []


def _was_incomplete(stored: StoredRun) -> bool:
    """Whether the search lacked something."""
    try:
        return bool(msgspec.msgpack.decode(stored.ending or b"", type=_Ending).incomplete)
    except msgspec.MsgspecError:  # of an earlier version
        return False


def classify(stored: StoredRun, written: WriteBack | None) -> str:
    """Which number of the report a run counts in."""
    if stored.status == UNKNOWN:
        return "not_found"
    for each in written.writes if written else ():
        if each.what == "reply" and each.state == "confirmed":
            return "approved" if each.by or each.tag else "answered"
        if each.what == "reply" and each.state in {"waiting", "planned", "sending"}:
            return "waiting"
        if each.what == "reply":
            return "not_sent"
    notes = [each for each in written.writes if each.what == "note"] if written else []
    suggested = stored.status in {"resolved", "suggested"} and any(each.state == "confirmed" for each in notes)
    return "suggested" if suggested else "others"


async def _find_corrected(store: RunStore, runs: Sequence[str]) -> set[str]:
    """Those of whose answers a person said that they were wrong, or gave another."""
    corrected = set()
    for each in await store.records_of(runs, ACTION):
        with contextlib.suppress(msgspec.MsgspecError):  # what cannot be read hides no others
            if msgspec.msgpack.decode(each.body, type=Action).what in PUT_RIGHT:
                corrected.add(each.run)
    return corrected


def _read_words(asked: Asked) -> dict[str, str]:
    """The terms of a question that tell what it is about, each as it may be shown."""
    found = spellings(f"{asked.subject}\n{asked.question}")
    return {
        term: term if is_cjk(word) else word
        for word, term in reversed(found)
        if word not in EVERYDAY and len(term) > 1 and not term.isdigit()
    }
