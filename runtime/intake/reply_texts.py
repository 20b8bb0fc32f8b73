"""What is written into a ticket, for the customer or the people of the helpdesk: plain, in the ticket's language."""

import re
from collections.abc import Collection

from actors.evidence.claims import Citation
from actors.text.catalogue import say
from actors.text.languages import guess_language
from actors.text.normalize import unescape_markdown
from actors.workflow.outcome import Outcome, explain_incomplete, say_headline
from runtime.intake.adapter_file import SIGNS
from runtime.intake.events import HelpdeskTicket
from runtime.intake.loop_rules import Reason
from runtime.intake.writes import make_marker

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
