"""Bot checks, paywalls and pages with too little text, told by their structure, words and length."""

import re

from runtime.crawl.extract.patterns import CHALLENGES, GATE_TITLES, GATES, WALLS, any_of

GATE_CHARACTERS = 1_500
"""A page that shows more text than this is no bot check: it may well be an article about them."""
WALLED_CHARACTERS = 2_500
"""A page that says it is not free, and of which less than this could be read, shows its beginning only."""
THIN_CHARACTERS = 250
POOR_CHARACTERS = 500
POOR_SHARE = 0.3
_END = 300
_TRACE = 40

_GATE_TITLE = any_of(GATE_TITLES, r"\s{0,3}")
_GATE = any_of(GATES)
_CHALLENGE = any_of(CHALLENGES)
_WALL = any_of(WALLS)
_SENTENCE = re.compile(r"[^.!?。！？\n]+[.!?。！？\n]*")


def find_bot_challenge(title: str, shown: str, html: str) -> str:
    """
    Why a page is a bot check, in a sentence; empty when it is not.

    :param shown: all text that it shows, and what it tells browsers without JavaScript.
    """
    if len(shown) > GATE_CHARACTERS:
        return ""
    titled, words, marked = _GATE_TITLE.match(title), _GATE.search(shown), _CHALLENGE.search(html)
    if (titled and (words or marked or len(shown) < THIN_CHARACTERS)) or (words and (marked or _mostly(_GATE, shown))):
        return "The site shows a bot check instead of the text."
    return ""


def find_paywall(text: str, shown: str, *, paid: bool) -> str:
    """
    Why a page is a paywall or a log-in, in a sentence; empty when it is the text.

    :param text: the main text; :param shown: all text of the page; :param paid: the page says that it is not free.
    """
    if len(text) >= WALLED_CHARACTERS and not paid:
        return ""
    if paid and (len(text) < WALLED_CHARACTERS or _at_end(text)):
        return "The page says that its text is not free to read."
    short = len(text) < THIN_CHARACTERS
    if _at_end(text) or _follows(text, shown) or (short and _WALL.search(shown[:GATE_CHARACTERS])):
        return "The page asks to log in or to pay before it shows its text."
    return ""


def find_shortage(text: str, shown: int) -> str:
    """
    Why a text is too little to count as a page, in a sentence; empty when it counts.

    :param shown: characters of all text of the page.
    """
    size = len(text)
    if size < THIN_CHARACTERS:
        return f"The page has only {size} characters of text." if size else "The page has no text."
    if size < POOR_CHARACTERS and size < POOR_SHARE * shown:
        return f"Only {size} of the {shown} characters of the page are text, the rest is links and forms."
    return ""


def _mostly(sign: re.Pattern[str], shown: str) -> bool:
    """Whether the sentences that carry a sign are a good part of all, or nearly all there is."""
    said = sum(len(each) for each in _SENTENCE.findall(shown) if sign.search(each))
    return said > 0.25 * len(shown) or len(shown) < THIN_CHARACTERS


def _at_end(text: str) -> bool:
    """Whether the last words ask for a log-in or money: what comes before them is a beginning."""
    return bool(_WALL.search(text[-_END:]))


def _follows(text: str, shown: str) -> bool:
    """Whether the page asks for them right after the text."""
    last = " ".join(text[-_END:].split())[-_TRACE:]
    at = shown.rfind(last) if last else -1
    return at >= 0 and bool(_WALL.search(shown[at : at + len(last) + _END]))
