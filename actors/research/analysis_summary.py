"""An analysis as the Reporter gets it: a few lines of Markdown (PR-19). Pure."""

import re
from collections.abc import Iterable, Sequence

from actors.evidence.sources import Statement
from actors.reporting.markdown import escape
from actors.research.models import Analysis, Profile
from actors.text.normalize import sanitize_line
from actors.text.truncate import shorten

OVERVIEW_CHARACTERS = 499

NOT_FOUND = "_Not found in the sources._"

_SUMMARIZED = 12
"""Features, competitors and statements of a quadrant that a summary names."""

_BULLETS = re.compile(r"^(?:[-*+] )+")
_NUMBER = re.compile(r"^(\d{1,9})([.)] )")


def analysis_summary(analysis: Analysis) -> str:
    """An analysis as Markdown: overview of less than 500 characters, features, competitors, SWOT (PR-19)."""
    profile = analysis.profile or Profile("", ())
    parts = ["## Overview", _overview(analysis.overview), "## Features"]
    parts.append(_list(_line(each.text) for each in profile.features))
    parts.append("## Competitors")
    parts.append(_list(_rival(each.name, each.statements) for each in profile.competitors))
    parts.append("## SWOT")
    for name, said in profile.swot.lists.items():
        if said or name != "unsorted":
            parts += [f"### {name.capitalize()}", _list(_line(each.text) for each in said)]
    return "\n\n".join(parts) + "\n"


def _overview(said: Sequence[Statement]) -> str:
    """As many whole statements as fit."""
    text = ""
    for each in said:
        longer = f"{text} {_line(each.text)}".strip()
        if len(longer) <= OVERVIEW_CHARACTERS:
            text = longer
    return text or (shorten(_line(said[0].text), OVERVIEW_CHARACTERS) if said else NOT_FOUND)


def _line(text: str) -> str:
    """A statement without the bullet that it had in its source, and without what would begin a list of its own."""
    return _NUMBER.sub(r"\1\\\2", _BULLETS.sub("", sanitize_line(text)))


def _rival(name: str, said: Sequence[Statement]) -> str:
    told = " ".join(_line(each.text) for each in said)
    return ": ".join(filter(None, (f"**{escape(name)}**" if name else "", told)))


def _list(lines: Iterable[str]) -> str:
    kept = [f"- {line}" for line in lines if line][:_SUMMARIZED]
    return "\n".join(kept) or NOT_FOUND
