"""The day whose law a question is about: the latest that it tells of, as far as that has come. Pure."""

import datetime
import re
from collections.abc import Iterator

_YEAR = r"(?P<y>(?:19|20)\d{2})"
_MONTHS = "january|february|march|april|may|june|july|august|september|october|november|december"
_BIRTHS = re.compile(
    r"(?i)(?:born (?:in|on)|geboren|出生于|生于|身份证号?)[^，。,.;；]{0,24}"
    r"|(?:19|20)\d{2}\s*[年년-][^，。,;；]{0,12}?(?:出生|生人|생(?!활)|태어)"
)
"""When somebody was born says nothing of the law that counts."""
_DAYS = (
    re.compile(rf"(?<!\d){_YEAR}\s*[年년](?:\s*(?P<m>\d{{1,2}})\s*[月월](?:\s*(?P<d>\d{{1,2}})\s*[日号일])?)?"),
    re.compile(rf"(?<![\d.-]){_YEAR}[-/.](?P<m>\d{{1,2}})(?:[-/.](?P<d>\d{{1,2}}))?(?![\d-]|\s*[万元만원])"),
    re.compile(rf"(?i)\b(?:(?P<d>\d{{1,2}})(?:st|nd|rd|th)? )?(?P<name>{_MONTHS}),? {_YEAR}\b"),
    re.compile(rf"(?i)\b(?:in|since|until|before|from|im jahr|seit) {_YEAR}\b"),
)
_YEARS_AGO = (
    (re.compile(r"(?i)前年|재작년|\byear before last\b|\bvorletztes jahr\b"), 2),
    (re.compile(r"(?i)去年|(?<!재)작년|\blast year\b|\bletztes jahr\b"), 1),
)
_LATELY = re.compile(
    r"(?i)今年|本月|上个?月|这个?月|上周|这周|昨天|前天|今天|现在|刚刚|最近|올해|지난달|지난주|어제|오늘|지금|최근"
    r"|\b(?:this (?:year|month|week)|last (?:month|week)|yesterday|today|now|recently|gestern|heute|dieses jahr)\b"
)
_NAMES = re.compile(
    r"《[^《》]{1,80}》|「[^「」]{1,80}」|[（(][^（）()]{0,40}(?:修[正订改]|公布|号)[^（）()]{0,10}[)）]|[（(]\d{4}[)）]"
)
"""A year in the name of a law or in the number of a case is no day of the question's."""
CHARACTERS = 20_000


def find_question_day(question: str, today: str) -> str:
    """
    The latest day that a question tells of; of a year or a month, its last day, or today while it lasts.

    :param today: ISO 8601, as what is returned; empty: it tells of none.
    """
    text = _BIRTHS.sub(" ", _NAMES.sub(" ", question[:CHARACTERS]))
    if _LATELY.search(text):
        return today
    begun = ((first, last) for first, last in _list_periods(text, int(today[:4])) if first <= today)
    return max((min(last, today) for _, last in begun), default="")


def _list_periods(text: str, year: int) -> Iterator[tuple[str, str]]:
    """The first and the last day of whatever a text names."""
    for pattern in _DAYS:
        for found in pattern.finditer(text):
            yield from _read_period(found)
    for pattern, ago in _YEARS_AGO:
        if pattern.search(text):
            yield f"{year - ago}-01-01", f"{year - ago}-12-31"


def _read_period(found: re.Match[str]) -> Iterator[tuple[str, str]]:
    said = found.groupdict()
    month = int(said.get("m") or 0)
    if name := said.get("name"):
        month = _MONTHS.split("|").index(name.lower()) + 1
    try:
        first = datetime.date(int(said["y"]), month or 1, int(said.get("d") or 1))
        last = datetime.date(int(said["y"]), month or 12, int(said.get("d") or 1))
    except ValueError:
        return
    if not said.get("d"):
        following = last.replace(day=28) + datetime.timedelta(days=4)
        last = following - datetime.timedelta(days=following.day)
    yield first.isoformat(), last.isoformat()
