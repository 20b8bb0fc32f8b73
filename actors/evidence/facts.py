"""What must not be invented in a statement: numbers with their units, dates, identifiers and negations. Pure."""

import re
from decimal import Decimal, InvalidOperation
from typing import NamedTuple

from actors.text.normalize import casefold

_MONTHS = {
    name: number
    for number, names in enumerate(
        ("january jan", "february feb", "march mar", "april apr", "may", "june jun", "july jul", "august aug",
         "september sep sept", "october oct", "november nov", "december dec"), 1)
    for name in names.split()
}  # fmt: skip
_MONTH = "|".join(sorted(_MONTHS, key=len, reverse=True))
_DATES = (
    re.compile(r"\b(?P<y>\d{4})-(?P<m>\d{1,2})-(?P<d>\d{1,2})\b"),
    re.compile(r"(?P<y>\d{4})\s*[年년]\s*(?P<m>\d{1,2})\s*[月월]\s*(?P<d>\d{1,2})\s*[日일]"),
    re.compile(rf"\b(?P<d>\d{{1,2}})(?:st|nd|rd|th)?\s+(?P<n>{_MONTH})\b\.?,?\s+(?P<y>\d{{4}})\b"),
    re.compile(rf"\b(?P<n>{_MONTH})\b\.?\s+(?P<d>\d{{1,2}})(?:st|nd|rd|th)?,?\s+(?P<y>\d{{4}})\b"),
)
_WORDS = {
    word: number
    for number, word in enumerate("zero one two three four five six seven eight nine ten eleven twelve".split())  # noqa: SIM905
}
_FACTORS: dict[str, tuple[str, Decimal]] = {}
for _family, _factor, _names in (
    ("time", "0.001", "ms millisecond milliseconds 毫秒 밀리초"), ("time", "1", "s sec secs second seconds 秒 秒钟 초"),
    ("time", "60", "min mins minute minutes 分钟 分 분"), ("time", "3600", "h hour hours hr hrs 小时 시간"),
    ("time", "86400", "day days 天 日 일"), ("time", "604800", "week weeks 周 주"),
    ("month", "1", "month months 个月 月 개월 월"), ("month", "12", "year years 年 년"),
    ("size", "1", "byte bytes 字节"), ("size", "1024", "kb kib kilobytes kilobyte"),
    ("size", "1048576", "mb mib megabytes megabyte"), ("size", "1073741824", "gb gib gigabytes gigabyte"),
    ("size", "1099511627776", "tb tib terabytes terabyte"), ("share", "1", "% percent per_cent 퍼센트"),
    ("money", "1", "$ € £ ¥ 元 원 dollars dollar euros euro usd eur"),
):  # fmt: skip
    _FACTORS.update({_name: (_family, Decimal(_factor)) for _name in _names.split()})
_UNIT = "|".join(sorted(map(re.escape, _FACTORS), key=len, reverse=True))
_NUMBER = re.compile(
    rf"(?P<front>[$€£¥])?\s?(?<![A-Za-z0-9_.])(?P<n>\d+(?:[.,:]\d+)*)(?:[\s-]?(?P<unit>{_UNIT})(?![a-z]))?",
    re.IGNORECASE,
)
_WORD_NUMBER = re.compile(rf"\b(?P<n>{'|'.join(_WORDS)})\b(?:[\s-](?P<unit>{_UNIT})(?![a-z]))?", re.IGNORECASE)
_IDENTIFIER = re.compile(
    r"https?://[^\s)\]>\"'，。]+|(?<![\w.+-])[\w.+-]+@[\w-]+(?:\.[\w-]+)+|(?<![\w-])--?[a-z][\w-]*(?<=[a-z]{2})|\b\w+(?:_\w+)+\b|(?<![\w/])/\w+(?:/[\w.-]+)+",
    re.ASCII | re.IGNORECASE,
)
_LIST_MARKER = re.compile(r"^\s*(?:\d{1,2}[.)]|[-*•])\s+|\[\d+\]")
_NEGATION = re.compile(
    r"\b(?:not(?! only)|no|never|none|nothing|nobody|neither|nor|cannot|without|unable)\b|n't\b|"
    r"不(?!仅|但|过|同|断|久)|没|無|无|未|勿|别(?!的|人)|禁止|않|못|없|아니|말고|마십시오|마세요|금지",
    re.IGNORECASE,
)


class Quantity(NamedTuple):
    """A number in its family's smallest unit, or a bare one."""

    value: Decimal
    family: str


class Facts(NamedTuple):
    quantities: frozenset[Quantity]
    dates: frozenset[tuple[int, int, int]]
    identifiers: frozenset[str]
    negated: bool


def facts(text: str) -> Facts:
    """What a text states that can be compared."""
    text = _LIST_MARKER.sub(" ", casefold(text))
    dates = set()
    for form in _DATES:
        for found in form.finditer(text):
            part = found.groupdict()
            month = int(part["m"]) if part.get("m") else _MONTHS[part["n"]]
            dates.add((int(part["y"]), month, int(part["d"])))
        text = form.sub(" ", text)
    identifiers = {found.group().rstrip(".,;:") for found in _IDENTIFIER.finditer(text)}
    rest = _IDENTIFIER.sub(" ", text)
    quantities = {_quantity(found["n"], found["unit"] or found["front"]) for found in _NUMBER.finditer(rest)}
    quantities |= {
        _quantity(str(_WORDS[found["n"]]), found["unit"])
        for found in _WORD_NUMBER.finditer(rest)
        if found["n"] not in ("zero", "one") or found["unit"]
    }
    return Facts(frozenset(quantities), frozenset(dates), frozenset(identifiers), bool(_NEGATION.search(text)))


def supplies(have: frozenset[Quantity], wanted: Quantity) -> bool:
    """Whether a quantity is among these; a bare number matches one with any unit, of whatever side."""
    return wanted in have or (not wanted.family and any(_bare(each, wanted.value) for each in have))


def negated_terms(text: str) -> list[frozenset[str]]:
    """For each negation of a text, the two words of weight behind it."""
    found = []
    text = casefold(text)
    for match in _NEGATION.finditer(text):
        words = [w for w in re.findall(r"[^\W\d_]{3,}", text[match.end() : match.end() + 60]) if w not in _LIGHT]
        if len(words) > 1:
            found.append(frozenset(words[:2]))
    return found


_LIGHT = frozenset(("the", "any", "this", "that", "you", "your", "have", "been", "with", "for", "and", "are", "was"))


def _quantity(number: str, unit: str | None) -> Quantity:
    thousands = re.fullmatch(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?", number)
    try:
        value = Decimal(number.replace(",", "" if thousands else ".")).normalize()
    except InvalidOperation:  # 10:30, 192.168.0.1
        return Quantity(Decimal(0), number)
    family, factor = _FACTORS.get((unit or "").casefold(), ("", Decimal(1)))
    return Quantity((value * factor).normalize(), family)


def _bare(each: Quantity, value: Decimal) -> bool:
    return any(each.value == value * factor for family, factor in _FACTORS.values() if family == each.family)
