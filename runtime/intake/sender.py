"""
Writes the ends of runs back to their helpdesk: planned, sent, confirmed by reading back, or left to
a person.

What is written is plain and in the ticket's language, for the customer or for the people of the
helpdesk.
"""

import re
import time
from collections.abc import Callable, Collection, Mapping
from typing import Any, Protocol

import msgspec
import structlog

from actors.evidence.claims import Citation
from actors.text.catalogue import say
from actors.text.languages import guess_language
from actors.text.normalize import unescape_markdown
from actors.workflow.outcome import Outcome, explain_incomplete, say_headline
from runtime.intake.adapter import Adapter
from runtime.intake.adapter_file import SIGNS
from runtime.intake.events import HelpdeskTicket, needs_reminder, read_due
from runtime.intake.helpdesk_client import HelpdeskError, HelpdeskUnavailable, TicketChanged
from runtime.intake.helpdesk_settings import HelpdeskSettings
from runtime.intake.inbox import Inbox
from runtime.intake.loop_rules import Reason
from runtime.intake.writes import (
    Decision,
    Origin,
    What,
    Write,
    WriteBack,
    add_write,
    choose_mode,
    decide,
    find_first_answer,
    find_stale,
    has_marker,
    is_written,
    look_at_tags,
    make_marker,
    plan,
    settle,
)
from runtime.storage.records import RUN_PREFIX

MOST_CHARACTERS = 30_000
DUE_CHARACTERS = 40
"""Of a time, as a helpdesk writes it."""
REFERENCE = re.compile(
    r"(?P<kept>\b(?:https?|ftp)://\S{1,2000}|`[^`\n]{1,300}`|^ {4}.*)"
    r"|#(?=\d)|(?<!\w)!(?=\d)|(?<=\w)#(?=[ \t]{1,2}\d)|(?<![\w/])@(?=\w)",
    re.MULTILINE,
)
"""What trackers act on in a text: `#12` notes it in ticket 12, `@name` tells somebody, `!12` is GitLab's."""
WIDE = {"#": "＃", "!": "！", "@": "＠"}


def escape_references(text: str, signs: Collection[str] = SIGNS) -> str:
    """
    A text of which no tracker makes a reference to another ticket, or a person's name: with the wide form of the sign.

    It is another character that people read as the same; an invisible one beside the sign would be copied unseen. Names
    such as `UTF-8` or `file1`, which some trackers link and none acts on, stay as they are; so do addresses and code,
    which are no longer what they were with another character, and are copied.

    :param signs: those that the system reads, by its adapter file.
    """
    return REFERENCE.sub(lambda found: found[0] if found["kept"] or found[0] not in signs else WIDE[found[0]], text)


def write_reply(outcome: Outcome, signs: Collection[str] = SIGNS) -> str:
    """To the customer: what is asked, or the answer and where it stands; `signs` as for `escape_references`."""
    if outcome.questions:
        return escape_references("\n".join(each.ask for each in outcome.questions), signs)
    if outcome.resolution is None:
        return ""
    text = unescape_markdown(outcome.resolution.text).strip()
    places = [
        f"[{each.number}] {each.heading or each.title}"
        for each in outcome.resolution.citations
        if not re.search(rf"^\[{each.number}\] ", text, re.MULTILINE)  # it stands there, above its words
    ]
    return escape_references("\n\n".join(filter(None, (text, "\n".join(places))))[:MOST_CHARACTERS], signs)


def write_note(outcome: Outcome, number: int, *, how: str = "", due: str = "", signs: Collection[str] = SIGNS) -> str:
    """
    To the people of the helpdesk: how it ended, the suggestion with the words that it rests on, and which run it was.

    :param number: of this writing among those of its run; with the run it is found again.
    :param how: how the suggestion is approved, where that is waited for.
    :param due: when the ticket is to be answered, as the helpdesk writes it.
    """
    language = outcome.language
    headline = say("headline_asks_customer", language) if outcome.questions else say_headline(outcome, language)
    parts = [headline, _describe_due(due, language), outcome.detail]
    parts += [explain_incomplete(outcome, language), *(each.ask for each in outcome.questions)]
    if outcome.resolution is not None:
        text = unescape_markdown(outcome.resolution.text).strip()
        parts += [text, *(_describe_place(each, text, signs) for each in outcome.resolution.citations)]
    if outcome.status in {"error", "not_found", "cancelled"}:
        parts.append(" → ".join([each.source for each in outcome.handoffs[:1]] + [h.target for h in outcome.handoffs]))
    marker = make_marker(outcome.run, number)
    body = escape_references("\n\n".join(each for each in (*parts, how) if each), signs)
    return f"{body[: MOST_CHARACTERS - len(marker)]}\n\n{marker}"


def write_reminder(outcome: Outcome, number: int, due: str, how: str, signs: Collection[str] = SIGNS) -> str:
    """To the people of the helpdesk: the ticket is due, and the suggestion waits for them; `how`: for what."""
    language = outcome.language
    parts = (say("suggestion_waits", language), _describe_due(due, language), how)
    return "\n\n".join((*(escape_references(each, signs) for each in parts), make_marker(outcome.run, number)))


def describe_approval(outcome: Outcome, tag: str) -> str:
    """How a suggestion is approved: on the page of its ticket, or by a tag where the helpdesk has tags."""
    ways = [say("approve_on_page", outcome.language, ticket=outcome.ticket)]
    return " ".join((*ways, say("approve_by_tag", outcome.language, tag=tag)) if tag else ways)


def explain_leaving(reason: Reason, ticket: HelpdeskTicket) -> str:
    """To the people of the helpdesk: why Terminus leaves a ticket to them, in the language that it is written in."""
    latest = ticket.latest_of_customer()
    return say(f"left_{reason.replace(' ', '_')}", guess_language(latest.text) if latest else "")


def _describe_due(due: str, language: str) -> str:
    return say("ticket_due", language, when=due[:DUE_CHARACTERS]) if due else ""


def _describe_place(citation: Citation, text: str, signs: Collection[str]) -> str:
    """Where a statement stands, and the words there unless they were just read; what is indented here is no code."""
    words = " ".join(citation.quote.split())
    page = citation.source
    if "://" in page:
        page = page.partition("#")[0]  # the place on a page may look like a ticket's number: `faq#12`
    place = f"[{citation.number}] {citation.heading or citation.title}\n    {escape_references(page, signs)}"
    is_read = words in " ".join(text.split())
    return place if is_read else f"{place}\n    “{escape_references(words, signs)}”"


log = structlog.get_logger()

MOST_TRIES = 5
AGAIN_SECONDS = 30.0
"""Before something that may have come is written once more: by then the helpdesk shows it if it did."""
IDLE_SECONDS = 3600.0
WORD_SECONDS = 30.0
"""How often the ticket of a suggestion that waits is looked at for a person's word."""
MOST_WORDS = 10
"""So many of these tickets are looked at before new ones have their turn."""
MOST_PROBLEMS = 3
"""Then it is the helpdesk that cannot be asked, and no more tickets are tried."""
TO_CUSTOMER = frozenset({"reply", "status"})


class Runs(Protocol):
    """What the sender asks of this process."""

    async def outcome(self, run: str) -> Outcome | None:
        """How a run ended; None: it is gone."""

    async def teach(self, some_id: str, answer: str, person: str, by: str, *, edits: bool = False) -> None:
        """A person's answer is remembered; `by`: the principal who gave it; `edits`: in the place of the run's own."""

    async def confirm(self, run: str, by: str) -> None:
        """The answer of a run is remembered as right."""


class Sender:
    """Of one helpdesk."""

    def __init__(
        self, adapter: Adapter, settings: HelpdeskSettings, inbox: Inbox, runs: Runs,
        clock: Callable[[], float] = time.time,
    ) -> None:  # fmt: skip
        self._adapter, self._settings, self._inbox, self._runs, self._clock = adapter, settings, inbox, runs, clock
        self._failed: dict[str, float] = {}
        """Until when a run is left alone whose ticket could not be read or written."""
        self._asked: dict[str, float] = {}
        """When it was asked for a person's word on a run's suggestion."""

    async def send(self) -> float:
        """
        Go on with all that is to be written: in how many seconds again, at most.

        :raises HelpdeskError: no ticket can be read or written, or not three; what was begun is read back first.
        """
        wait, now, decisions = IDLE_SECONDS, self._clock(), await self._inbox.decisions()
        found = await self._inbox.write_backs(self._adapter.name)
        open_now = dict(sorted(found, key=lambda each: (each[0] in self._failed, read_due(each[1].due))))
        self._failed = {run: until for run, until in self._failed.items() if run in open_now}
        self._asked = {run: at for run, at in self._asked.items() if run in open_now}
        words = self._choose_words(open_now, now)
        problems, done = list[HelpdeskError](), 0
        for run, write_back in open_now.items():
            if self._failed.get(run, 0.0) > now or len(problems) == MOST_PROBLEMS:
                continue
            try:
                wait = min(wait, await self._go_on(run, write_back, decisions.get(run), looks=run in words))
                done += 1
                self._failed.pop(run, None)
            except HelpdeskError as error:
                log.warning("helpdesk.write_back_failed", run=run, ticket=write_back.ticket, error=str(error))
                problems.append(error)
                self._failed[run] = now + AGAIN_SECONDS
        if problems and (not done or len(problems) == MOST_PROBLEMS):
            raise problems[0]
        return min(wait, AGAIN_SECONDS) if problems else wait

    def _choose_words(self, open_now: Mapping[str, WriteBack], now: float) -> set[str]:
        """Runs whose tickets are looked at now for a person's word: those that were looked at longest ago."""
        due = [
            run for run, each in open_now.items()
            if each.waits and now - self._asked.get(run, 0.0) >= WORD_SECONDS
        ]  # fmt: skip
        return set(sorted(due, key=lambda run: self._asked.get(run, 0.0))[:MOST_WORDS])

    async def _go_on(self, run: str, write_back: WriteBack, decision: Decision | None, *, looks: bool) -> float:
        """
        Go on with what one run writes: in how many seconds again, at most.

        :param looks: whether its ticket is looked at for a person's word, if it waits for one.
        """
        origin = await self._inbox.origin(write_back.ticket, run)
        outcome = await self._runs.outcome(run)
        if origin is None or outcome is None:
            await self._inbox.drop(run)
            return IDLE_SECONDS
        if not write_back.planned:
            write_back = self._plan(write_back, outcome, origin)
            await self._inbox.keep(run, write_back)
        if decision is not None:
            write_back = await self._settle(run, decide(write_back, decision))
        elif write_back.waits and looks and write_back.is_told:
            write_back = await self._ask_for_word(run, write_back, origin)
            self._asked[run] = self._clock()
        return await self._write_all(run, write_back, outcome, origin)

    def _plan(self, write_back: WriteBack, outcome: Outcome, origin: Origin) -> WriteBack:
        mode = choose_mode(self._settings, origin)
        solved = self._adapter.file.solved_status if self._settings.solve else ""
        texts: dict[What, str] = {
            "reply": write_reply(outcome, self._adapter.file.references),
            "status": solved,
            "assign": self._settings.fallback,
            "note": "",
        }
        can = self._adapter.can
        planned = [(what, state) for what, state in plan(outcome, mode, self._settings, solved) if can(what)]
        writes = tuple(
            Write(number=number, what=what, text=texts[what], state=state)
            for number, (what, state) in enumerate(planned, 1)
        )
        return msgspec.structs.replace(write_back, planned=True, writes=writes, mode=mode, status=outcome.status)

    async def _ask_for_word(self, run: str, write_back: WriteBack, origin: Origin) -> WriteBack:
        """Whether a person has approved a suggestion in the helpdesk, or the ticket has moved on."""
        ticket = await self._adapter.fetch(origin.ticket)
        if stale := find_stale(ticket, origin, self._settings):
            return await self._settle(run, settle(write_back, "stale", stale))
        tag = self._settings.send_tag
        if tag in ticket.tags and write_back.saw_no_tag:
            who = await self._adapter.find_tagger(ticket, tag)
            if not who or who != self._settings.bot:  # a rule of the helpdesk that acts for us is no person
                word = Decision(approved=True, by=who, tag=tag)
                return await self._settle(run, self._take_off(decide(write_back, word)))
        known = look_at_tags(write_back, ticket.tags, tag)
        if tag in ticket.tags and not any(each.what == "untag" for each in known.writes):
            known = self._take_off(known)
        known = self._remind(msgspec.structs.replace(known, due=ticket.due), origin)
        if known != write_back:
            await self._inbox.keep(run, known)
        return known

    def _take_off(self, write_back: WriteBack) -> WriteBack:
        """The tag that approves is taken off the ticket where the helpdesk lets us: it has been counted, or is old."""
        can = self._adapter.can("untag")
        return add_write(write_back, "untag", self._settings.send_tag) if can else write_back

    def _remind(self, write_back: WriteBack, origin: Origin) -> WriteBack:
        """What tells people, once, that the ticket is soon due."""
        minutes = self._settings.remind_minutes
        may = minutes and self._adapter.can("note") and not write_back.has_reminded
        if may and needs_reminder(write_back.due, origin.at, self._clock(), minutes):
            return add_write(write_back, "note", reminds=True)
        return write_back

    async def _settle(self, run: str, settled: WriteBack) -> WriteBack:
        """What waited for a word has it, and the word is not needed any more."""
        await self._inbox.keep(run, settled, decided=True)
        return settled

    async def _write_all(self, run: str, write_back: WriteBack, outcome: Outcome, origin: Origin) -> float:
        """Write what is to be, one after the other: in how many seconds again, at most."""
        while (write := next((w for w in write_back.writes if w.state in {"planned", "sending"}), None)) is not None:
            if write.next_at > self._clock():
                return write.next_at - self._clock()
            ticket = await self._adapter.fetch(origin.ticket)
            may_be = write.state == "sending" or write.what == "untag"  # somebody else may have taken it off
            if may_be and is_written(write, run, ticket, origin):
                done = msgspec.structs.replace(write, state="confirmed")
            elif write.what in TO_CUSTOMER and (stale := find_stale(ticket, origin, self._settings)):
                done = msgspec.structs.replace(write, state="stale", said=stale)
            elif write.tries >= MOST_TRIES:
                done = msgspec.structs.replace(write, state="left")
            else:
                begun = msgspec.structs.replace(write, state="sending", tries=write.tries + 1)
                write_back = await self._keep(run, _replace(write_back, begun))
                text = self._compose(begun, outcome, ticket.due, waits=write_back.waits)
                done, ticket = await self._write(begun, run, ticket, text, origin)
            write_back = _replace(write_back, done)
            if done.state == "confirmed":
                if write_back.status != "needs_input":  # a question is no answer
                    await self._teach(run, done)
                write_back = look_at_tags(write_back, ticket.tags, self._settings.send_tag)
            await self._inbox.keep(run, write_back)
            log.info("helpdesk.written", run=run, what=done.what, state=done.state, why=done.said)
        return IDLE_SECONDS

    async def _teach(self, run: str, write: Write) -> None:
        """What a person let through is a right answer; in their own words, where they changed it."""
        if write.what == "reply" and write.edited:
            person = write.by.partition(":")[2]
            await self._runs.teach(f"{RUN_PREFIX}{run}", write.text, person, write.by, edits=True)
        elif write.what == "reply" and (write.by or write.tag):
            who = write.by or f"tag {write.tag}"
            await self._runs.confirm(run, f"helpdesk:{who}" if write.tag else who)

    async def _write(
        self, write: Write, run: str, ticket: HelpdeskTicket, text: str, origin: Origin
    ) -> tuple[Write, HelpdeskTicket]:
        """One writing, and what reading back shows of it; and the ticket as it was read last."""
        values = self._fill(write, run, text, ticket)
        try:
            if write.what == "reply" and self._adapter.can("claim"):
                await self._adapter.write("claim", ticket, values)
                ticket = await self._adapter.fetch(origin.ticket)
            await self._adapter.write(write.what, ticket, values)
            ticket = await self._adapter.fetch(origin.ticket)
        except TicketChanged:
            # it is read again, and judged as it is then
            return msgspec.structs.replace(write, state="planned"), ticket
        except HelpdeskUnavailable as error:
            next_at = self._clock() + (error.seconds or AGAIN_SECONDS)
            return msgspec.structs.replace(write, said=str(error), next_at=next_at), ticket
        except HelpdeskError as error:
            return msgspec.structs.replace(write, state="failed", said=str(error)), ticket
        if is_written(write, run, ticket, origin):
            return msgspec.structs.replace(write, state="confirmed"), ticket
        said = "It was taken, but does not stand in the ticket."
        next_at = self._clock() + AGAIN_SECONDS
        return msgspec.structs.replace(write, said=said, next_at=next_at), ticket

    def _compose(self, write: Write, outcome: Outcome, due: str, *, waits: bool) -> str:
        """The words of one writing. `waits`: a reply waits for a person's word, and a note says how it is given."""
        if write.what != "note":
            return write.text
        how = describe_approval(outcome, self._settings.send_tag if self._adapter.file.ticket.tags else "")
        signs = self._adapter.file.references
        if write.reminds:
            return write_reminder(outcome, write.number, due, how, signs)
        return write_note(outcome, write.number, how=how if waits else "", due=due, signs=signs)

    def _fill(self, write: Write, run: str, text: str, ticket: HelpdeskTicket) -> dict[str, Any]:
        left = [each for each in ticket.tags if each != write.text]
        return {
            "text": text, "run": run, "key": f"<{run}.{write.number}@terminus>",
            "status": write.text, "person": write.text, "tag": write.text, "tags": left, "tag_list": ",".join(left),
            "now": time.strftime("%Y-%m-%d.%H:%M:%S", time.gmtime(self._clock())),
        }  # fmt: skip

    async def hand_over(self, ticket: HelpdeskTicket, why: str, said: str = "", *, notes: bool = True) -> None:
        """
        Say in a note why a ticket is left to people, once, and give it to whoever takes those.

        :param said: the sentence for people, where `why` is only a reason's name.
        :param notes: false: it is given to them without a word.
        """
        known = why.replace(" ", "-")
        if any(has_marker(each.text, known, 0) for each in ticket.messages):
            return
        if notes and self._adapter.can("note"):
            marker = make_marker(known, 0)
            text = f"{escape_references(said or why, self._adapter.file.references)}\n\n{marker}"
            await self._adapter.write("note", ticket, {"text": text, "run": "", "key": marker})
        if self._settings.fallback and self._adapter.can("assign"):
            await self._adapter.write("assign", ticket, {"person": self._settings.fallback})

    async def learn(self, name: str, ticket: HelpdeskTicket) -> None:
        """A person's answer that closed a ticket of ours is remembered as theirs."""
        said = find_first_answer(ticket)
        if ticket.closed and said is not None and said.text.strip():
            await self._runs.teach(name, said.text.strip(), said.author, f"helpdesk:{said.author}")

    async def _keep(self, run: str, write_back: WriteBack) -> WriteBack:
        await self._inbox.keep(run, write_back)
        return write_back


def _replace(write_back: WriteBack, write: Write) -> WriteBack:
    writes = tuple(write if each.number == write.number else each for each in write_back.writes)
    return msgspec.structs.replace(write_back, writes=writes)
