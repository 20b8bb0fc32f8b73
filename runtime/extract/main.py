"""The main text of a page as Markdown: by trafilatura where it is installed, else by our own reader of manuals."""

import logging

from runtime.knowledge.document import Unreadable
from runtime.knowledge.html import read_html


def main_text(html: str, url: str, *, forum: bool) -> str:
    """
    Markdown without scripts, styles and what surrounds the text; empty when there is none.

    :param html: tamed before (`guard.tamed`).
    :param forum: it is a thread, whose comments are the text.
    """
    try:
        from trafilatura import extract
    except ImportError:
        return plain_reading(html)
    logging.getLogger("trafilatura").setLevel(logging.CRITICAL)
    found = extract(
        html, url=url or None, output_format="markdown", include_comments=forum, include_tables=True,
        include_links=False, include_formatting=True, with_metadata=False,
    )  # fmt: skip
    return found or plain_reading(html)


def plain_reading(html: str) -> str:
    """A simpler reading, by the page's own structure."""
    try:
        return read_html(html).text
    except Unreadable:
        return ""
