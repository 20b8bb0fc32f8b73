"""What must not be invented in a statement: numbers with their units, dates, identifiers and denials. Pure."""

import functools
import re
import unicodedata
from decimal import Decimal, InvalidOperation
from typing import NamedTuple

from actors.text.languages import guess_language
from actors.text.normalize import casefold

_MONTH_NAMES = """
    january jan
    february feb
    march mar
    april apr
    may
    june jun
    july jul
    august aug
    september sep sept
    october oct
    november nov
    december dec
"""
_MONTHS = {name: number for number, names in enumerate(_MONTH_NAMES.strip().splitlines(), 1) for name in names.split()}
_MONTH = "|".join(sorted(_MONTHS, key=len, reverse=True))
_DATES = (
    re.compile(r"\b(?P<y>\d{4})-(?P<m>\d{1,2})-(?P<d>\d{1,2})\b"),
    re.compile(r"(?P<y>\d{4})\s*[年년]\s*(?P<m>\d{1,2})\s*[月월]\s*(?P<d>\d{1,2})\s*[日일]"),
    re.compile(rf"\b(?P<d>\d{{1,2}})(?:st|nd|rd|th)?\s+(?P<n>{_MONTH})\b\.?,?\s+(?P<y>\d{{4}})\b"),
    re.compile(rf"\b(?P<n>{_MONTH})\b\.?\s+(?P<d>\d{{1,2}})(?:st|nd|rd|th)?,?\s+(?P<y>\d{{4}})\b"),
)
_UNITS = (
    ("time", "0.001", "ms millisecond milliseconds 毫秒 밀리초"),
    ("time", "1", "s sec secs second seconds sekunde sekunden seconde secondes segundos 秒 秒钟 초"),
    ("time", "60", "min mins minute minutes minuten minutos 分钟 分 분"),
    ("time", "3600", "h hour hours hr hrs stunde stunden heure heures hora horas 小时 시간"),
    ("time", "86400", "day days tage tagen jour jours día días 天 日 일"),
    ("time", "604800", "week weeks woche wochen semaine semaines semana semanas 周 주"),
    ("month", "1", "month months monate monaten mois meses 个月 月 개월 월"),
    ("month", "12", "year years jahre jahren ans años 年 년"),
    ("size", "1", "byte bytes 字节"),
    ("size", "1024", "kb kib kilobytes kilobyte"),
    ("size", "1048576", "mb mib megabytes megabyte"),
    ("size", "1073741824", "gb gib gigabytes gigabyte"),
    ("size", "1099511627776", "tb tib terabytes terabyte"),
    ("share", "1", "% percent prozent 퍼센트"),
    ("money", "1", "$ € £ ¥ 元 원 dollars dollar euros euro usd eur"),
)
_FACTORS = {name: (family, Decimal(factor)) for family, factor, names in _UNITS for name in names.split()}
_UNIT = "|".join(sorted(map(re.escape, _FACTORS), key=len, reverse=True))
_NUMBER = re.compile(
    rf"(?P<front>[$€£¥])?\s?(?<![A-Za-z0-9_.])(?P<n>\d+(?:[.,:]\d+)*)(?:[\s-]?(?P<unit>{_UNIT})(?![a-z]))?",
    re.IGNORECASE,
)
_ENGLISH_NUMBERS = """
    two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen
    nineteen twenty thirty forty fifty sixty seventy eighty ninety hundred thousand twice
"""
_OTHER_NUMBERS = """
    zwei drei vier fünf sechs sieben acht neun zehn elf zwölf dreizehn vierzehn fünfzehn sechzehn siebzehn achtzehn
    neunzehn zwanzig dreißig vierzig fünfzig sechzig siebzig achtzig neunzig hundert tausend zweimal;
    deux trois quatre cinq six sept huit neuf dix onze douze treize quatorze quinze seize dix-sept dix-huit dix-neuf
    vingt trente quarante cinquante soixante soixante-dix quatre-vingts quatre-vingt-dix cent mille;
    dos tres cuatro cinco seis siete ocho nueve diez once doce trece catorce quince dieciséis diecisiete dieciocho
    diecinueve veinte treinta cuarenta cincuenta sesenta setenta ochenta noventa cien mil
"""
_VALUES = (*range(2, 21), *range(30, 100, 10), 100, 1000, 2)
"""What these words say, in their order."""
_ENGLISH = dict(zip(_ENGLISH_NUMBERS.split(), _VALUES, strict=True)) | {"one": 1}
_ANY = _ENGLISH | {
    casefold(word): value
    for words in _OTHER_NUMBERS.split(";")
    for word, value in zip(words.split(), _VALUES, strict=False)
}
_KOREAN = dict(zip("한 두 세 네 다섯 여섯 일곱 여덟 아홉 열".split(), range(1, 11), strict=True))  # noqa: SIM905
_KOREAN_COUNT = re.compile(rf"(?<![가-힣])({'|'.join(_KOREAN)})\s?(?=(?:번|개|명|시간|달|주|가지|대|권|배|단계))")


def _compile(words: dict[str, int]) -> re.Pattern[str]:
    longest = sorted(words.keys() - {"one"}, key=len, reverse=True)
    return re.compile(rf"\b(?:{'|'.join(longest)}|one(?=[\s-](?:{_UNIT})(?![a-z])))\b")


_ENGLISH_WORD, _ANY_WORD = _compile(_ENGLISH), _compile(_ANY)
_HAN = "零〇一二三四五六七八九两兩十百千万萬亿億"
_COUNTER = (
    "次|个|個|本|天|日|周|星期|月|年|倍|种|種|条|條|款|项|項|章|节|位|名|人|台|件|页|頁|步|分钟|分鐘|小时|小時|级|級|张|張|元|岁|歲|"
    "户|份|公里|千米|米|吨|以上|以下|以内"
)
_HAN_COUNT = re.compile(rf"(?<![\d.{_HAN}])(\d{{1,9}}(?:\.\d{{1,4}})?)?([{_HAN}]{{1,20}})(?={_COUNTER})")
_HAN_SHARE = re.compile(rf"百分之([{_HAN}]{{1,8}}|\d+(?:\.\d+)?)")

_ADDRESS = (
    r"https?://[^\s)\]>\"'，。]+|(?<![\w.+-])[\w.+-]+@[\w-]+(?:\.[\w-]+)+|"
    r"(?<![\w-])--?[a-z][\w-]*(?<=[a-z]{2})|(?<![\w/])/\w+(?:/[\w.-]+)+"
)
_NAME = r"\b\w+(?:_\w+)+\b|\b(?:[a-z]+\d|\d+[a-z]+\d)[a-z\d]*\b"
_IDENTIFIER = re.compile(rf"(?P<address>{_ADDRESS})|{_NAME}", re.ASCII | re.IGNORECASE)
_LIST_MARKER = re.compile(r"^\s*(?:\d{1,2}[.)]|[-*•])\s+|\[\d+\]")

_NEGATION = re.compile(
    r"\b(?:not(?! (?:only|just|merely|simply|necessarily))|no(?! (?:(?:longer|later|more|less) than|matter))|"
    r"never|none|nothing|nobody|nowhere|neither|nor|cannot|without|unable)\b|n't\b|"
    r"\b(?:nicht(?! nur)|kein(?:e[nmrs]?)?|nie|niemals|niemand(?:en|em)?|nichts|nirgends|weder|ohne)\b|"
    r"\b(?:ne\b|n'(?!t\b))(?! ?\w+ (?:\w+ )?qu)|\b(?:pas(?! seulement)|jamais|aucune?|sans(?! serif))\b|"
    r"\b(?:nunca|jamás|ning(?:ún|una|uno)|sin(?! embargo)|nadie|tampoco|não|sem|non(?!-| solo)|senza|nessun[oa]?)\b|"
    r"不(?!仅|但|过|同|断|久|只)|没|無|无|未|勿|别(?!的|人)|禁止|않|못|없|아니|말고|마십시오|마세요|금지|ない|ません|なし",
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
    """Names as programs know them: with an underscore or a digit, and all addresses."""
    addresses: frozenset[str]
    """URLs, mail addresses, paths and options."""
    negated: bool


@functools.lru_cache(256)
def facts(text: str) -> Facts:
    """What a text states that can be compared."""
    folded = casefold(text)
    text = _spell_numbers(_LIST_MARKER.sub(" ", folded))
    dates = set()
    for form in _DATES:
        for found in form.finditer(text):
            part = found.groupdict()
            month = int(part["m"]) if part.get("m") else _MONTHS[part["n"]]
            dates.add((int(part["y"]), month, int(part["d"])))
        text = form.sub(" ", text)
    named = [(found[0].rstrip(".,;:"), found["address"]) for found in _IDENTIFIER.finditer(text)]
    quantities = {
        _quantity(found["n"], found["unit"] or found["front"]) for found in _NUMBER.finditer(_IDENTIFIER.sub(" ", text))
    }
    return Facts(
        frozenset(quantities),
        frozenset(dates),
        frozenset(name for name, _ in named),
        frozenset(name for name, address in named if address),
        has_negation(folded),
    )


def has_negation(text: str) -> bool:
    """Whether a text denies anything."""
    return bool(_NEGATION.search(text))


def supplies(have: frozenset[Quantity], wanted: Quantity) -> bool:
    """Whether a quantity is among these; a bare number matches one with any unit."""
    return wanted in have or (not wanted.family and any(_bare(each, wanted.value) for each in have))


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


def _spell_numbers(text: str) -> str:
    """A folded text with digits for the numbers that it has in words; Chinese and Korean ones before a counter."""
    # In an English text the number words of other languages are other words: "once", "dos", "sept".
    form = _ENGLISH_WORD if guess_language(text) == "en" else _ANY_WORD
    text = form.sub(lambda found: str(_ANY[found[0]]), text)
    if text.isascii():
        return text
    text = _KOREAN_COUNT.sub(lambda found: str(_KOREAN[found[1]]), text)
    text = _HAN_SHARE.sub(lambda found: f"{found[1] if found[1].isascii() else _read_han(found[1])}%", text)
    return _HAN_COUNT.sub(lambda found: f"{_read_han(found[2], Decimal(found[1] or 0)):f}", text)


def _read_han(numeral: str, before: Decimal = Decimal(0)) -> Decimal:
    """
    The number that Chinese numerals say; digits in a row are read as such: `二〇一二` is 2012.

    :param before: what stands before them in digits: `5万` is 50,000.
    """
    values = [2 if each in "两兩" else int(unicodedata.numeric(each)) for each in numeral]
    if len(values) > 1 and max(values) < 10:
        return Decimal("".join(map(str, values)))
    whole, part, digit = Decimal(0), Decimal(0), before
    for value in values:
        if value < 10:
            digit = Decimal(value)
        elif value < 10_000:
            part += (digit or 1) * value
            digit = Decimal(0)
        else:
            whole += (part + digit or 1) * value
            part = digit = Decimal(0)
    return whole + part + digit
