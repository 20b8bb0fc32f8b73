"""Patterns of words, whose blanks are bounded: a text of nothing but blanks would hold the process for hours."""

import re

MOST_BLANKS = 20
"""Between two words, where people write one; a search from each of n blanks to their end takes n * n steps."""


def compile_words(pattern: str, flags: int = 0, blanks: int = MOST_BLANKS) -> re.Pattern[str]:
    r"""A pattern in which `\s*` and `\s+` stand for at most so many blanks."""
    bounded = pattern.replace(r"\s*", rf"\s{{0,{blanks}}}").replace(r"\s+", rf"\s{{1,{blanks}}}")
    return re.compile(bounded, flags)
