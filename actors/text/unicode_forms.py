"""Compatibility forms of Unicode as plain letters, for texts that do not grow by it."""

import unicodedata

MOST_GROWTH, ALWAYS = 2, 200
"""A text may become so many times as long, and so many characters longer. U+FDFA alone stands for 18 letters."""


def fold_forms(text: str) -> str:
    """The text in NFKC; as it is where it would grow beyond what any writing does."""
    folded = unicodedata.normalize("NFKC", text)
    return folded if len(folded) <= MOST_GROWTH * len(text) + ALWAYS else text
