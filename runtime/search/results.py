"""Cleans what a source returned: it comes from strangers, whatever it says."""

from collections.abc import Sequence
from datetime import date

from actors.evidence.sources import SearchResult
from actors.evidence.summarize import KEY_POINTS, SUMMARY_CHARACTERS
from actors.text.normalize import remove_controls
from actors.text.sentences import split_sentences
from actors.text.truncate import shorten
from actors.text.urls import web_address

TITLE_CHARACTERS = 300
DETAIL_CHARACTERS = 200
TEXT_CHARACTERS = 20_000
"""Longer texts are not even looked at beyond this."""


def validate(
    source: str, query: str, *, title: object, url: object, text: object = "", quality: object = 0.0,
    published: object = "",
) -> SearchResult | None:  # fmt: skip
    """One hit as a result, cleaned and cut; None when its URL may not be shown or read."""
    address = web_address(url)
    if not address:
        return None
    said = points(line(text, TEXT_CHARACTERS))
    summary = shorten(said[0], SUMMARY_CHARACTERS) if said else ""
    return SearchResult(
        source, shorten(line(title, 4 * TITLE_CHARACTERS), TITLE_CHARACTERS) or address, address, summary,
        tuple(shorten(each, SUMMARY_CHARACTERS) for each in said[1 : KEY_POINTS + 1]),
        quality=_share(quality), query=query, published=day(published),
    )  # fmt: skip


def points(text: str) -> Sequence[str]:
    """A text as its sentences, short ones joined while they fit into a summary; at most those that are shown."""
    joined: list[str] = []
    for sentence in split_sentences(text):
        if joined and len(joined[-1]) + len(sentence) < SUMMARY_CHARACTERS:
            joined[-1] += f" {sentence}"
        elif len(joined) > KEY_POINTS:
            break
        else:
            joined.append(sentence)
    return joined


def line(text: object, most: int) -> str:
    """One line without characters that cannot be seen; empty when it is no text."""
    if not isinstance(text, str):
        return ""
    return " ".join(remove_controls(text[:most]).split())


def quote_error(said: object, secret: str = "") -> str:
    """What a service says of an error, as a short piece of a sentence that never shows the secret."""
    text = line(said, 10 * DETAIL_CHARACTERS)
    return shorten(text.replace(secret, "***") if secret else text, DETAIL_CHARACTERS).rstrip(".")


def day(text: object) -> str:
    """The date in a timestamp of ISO 8601; empty when there is none."""
    try:
        return date.fromisoformat(text[:10]).isoformat() if isinstance(text, str) else ""
    except ValueError:
        return ""


def _share(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
        return 0.0
    return round(float(value), 3)
