"""The main text of a page as Markdown: by trafilatura where it is installed, else by our own reader of manuals."""

import logging

from runtime.knowledge.readers.html_reader import read_html
from runtime.knowledge.readers.parsed_document import Unreadable

SHORT_SHARE = 0.5
"""A text that is less than this share of what the page shows is read again in favour of recall,"""
LONGER = 1.2
"""
and replaced when the second one is so many times as long.

Without the second reading F1 over wcxb's 221 pages falls from .872 to .866 (bench.extraction).
"""
TWICE_CHARACTERS = 500_000
"""Markup of more characters is not read twice."""


def main_text(html: str, url: str, *, shown: int, forum: bool) -> str:
    """
    Markdown without scripts, styles and what surrounds the text; empty when there is none.

    :param html: from `sanitize_html`.
    :param shown: characters that the page shows in all.
    :param forum: it is a thread, whose comments are the text.
    """
    try:
        import trafilatura
    except ImportError:
        return plain_reading(html)
    logging.getLogger("trafilatura").setLevel(logging.CRITICAL)

    def extract(*, recall: bool) -> str:
        return trafilatura.extract(
            html, url=url or None, output_format="markdown", include_comments=forum, include_tables=True,
            include_links=False, include_formatting=True, with_metadata=False, favor_recall=recall,
        ) or ""  # fmt: skip

    found = extract(recall=False)
    if found and len(html) < TWICE_CHARACTERS and len(found) < SHORT_SHARE * shown:
        more = extract(recall=True)
        found = more if len(more) > LONGER * len(found) else found
    return found or plain_reading(html)


def plain_reading(html: str) -> str:
    """A simpler reading, by the page's own structure."""
    try:
        return read_html(html).text
    except Unreadable:
        return ""
