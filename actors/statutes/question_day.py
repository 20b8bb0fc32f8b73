"""The day whose law a question is about: the latest that it tells of, as far as that has come. Pure."""

import datetime
import re
from collections.abc import Iterator

_YEAR = r"(?P<y>(?:19|20)\d{2})"
_MONTHS = "january|february|march|april|may|june|july|august|september|october|november|december"
_BORN = r"(?!\s*(?:出生|生[，。,]|年?생|born))"
_DAYS = (
    re.compile(rf"(?<!\d){_YEAR}\s*[年년](?:\s*(?P<m>\d{{1,2}})\s*[月월](?:\s*(?P<d>\d{{1,2}})\s*[日号일])?)?{_BORN}"),
    re.compile(rf"(?<![\d.-]){_YEAR}[-/.](?P<m>\d{{1,2}})(?:[-/.](?P<d>\d{{1,2}}))?(?![\d-])"),
    re.compile(rf"(?i)\b(?:(?P<d>\d{{1,2}})(?:st|nd|rd|th)? )?(?P<name>{_MONTHS}),? {_YEAR}\b"),
    re.compile(rf"(?i)\b(?:in|since|until|before|from|im jahr|seit) {_YEAR}\b"),
)
_YEARS_AGO = (
    (re.compile(r"(?i)前年|재작년|\byear before last\b|\bvorletztes jahr\b"), 2),
    (re.compile(r"(?i)去年|(?<!재)작년|\blast year\b|\bletztes jahr\b"), 1),
)
_NAMES = re.compile(
    r"《[^《》]{1,80}》|「[^「」]{1,80}」|[（(][^（）()]{0,40}(?:修[正订改]|公布|号)[^（）()]{0,10}[)）]|[（(]\d{4}[)）]"
)
"""A year in the name of a law or in the number of a case is no day of the question's."""
CHARACTERS = 20_000


def find_question_day(question: str, today: str) -> str:
    """
    The latest day that a question tells of, today at most; of a year or a month that is named, its last day.

    :param today: ISO 8601, as what is returned; empty: it tells of none.
    """
    text = _NAMES.sub(" ", question[:CHARACTERS])
    return max((each for each in _list_days(text, int(today[:4])) if each <= today), default="")


def _list_days(text: str, year: int) -> Iterator[str]:
    for pattern in _DAYS:
        for found in pattern.finditer(text):
            yield from _end_of(found)
    for pattern, ago in _YEARS_AGO:
        if pattern.search(text):
            yield f"{year - ago}-12-31"


def _end_of(found: re.Match[str]) -> Iterator[str]:
    said = found.groupdict()
    month = int(said.get("m") or 0)
    if name := said.get("name"):
        month = _MONTHS.split("|").index(name.lower()) + 1
    try:
        first = datetime.date(int(said["y"]), month or 12, int(said.get("d") or 1))
    except ValueError:
        return
    if said.get("d"):
        yield first.isoformat()
    else:
        following = first.replace(day=28) + datetime.timedelta(days=4)
        yield (following - datetime.timedelta(days=following.day)).isoformat()
