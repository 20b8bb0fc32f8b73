"""Numbers and units in words, and words of which only one can be true: data, in several languages."""

import re
from decimal import Decimal

from actors.evidence.han_numbers import spell_han
from actors.text.normalize import casefold
from actors.text.stop_words import word_set

ENGLISH = word_set(
    "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen eighteen twenty "
    "thirty forty fifty sixty seventy eighty ninety hundred thousand twice thrice"
)
"""In an English text the number words of other languages are other words: "once", "dos", "sept"."""
WORDS = {
    casefold(word): number
    for numbers, words in (
        (range(2, 13), "zwei drei vier fünf sechs sieben acht neun zehn elf zwölf"),
        (range(20, 100, 10), "zwanzig dreißig vierzig fünfzig sechzig siebzig achtzig neunzig"),
        ((2, 3, 4, 5), "zweimal dreimal viermal fünfmal"),
        (range(2, 13), "deux trois quatre cinq six sept huit neuf dix onze douze"),
        (range(2, 13), "dos tres cuatro cinco seis siete ocho nueve diez once doce"),
        ((15, 20, 30, 40, 50), "quinze vingt trente quarante cinquante"),
        ((15, 20, 30, 40, 50), "quince veinte treinta cuarenta cincuenta"),
        (range(1, 13), "one two three four five six seven eight nine ten eleven twelve"),
        (range(20, 100, 10), "twenty thirty forty fifty sixty seventy eighty ninety"),
        ((13, 14, 15, 16, 18), "thirteen fourteen fifteen sixteen eighteen"),
        ((100, 1000, 2, 3), "hundred thousand twice thrice"),
    )
    for number, word in zip(numbers, words.split(), strict=True)
}
_HANGUL = dict(zip("한 두 세 네 다섯 여섯 일곱 여덟 아홉 열".split(), range(1, 11), strict=True))  # noqa: SIM905
_HANGUL_COUNT = re.compile(rf"(?<![가-힣])({'|'.join(_HANGUL)})\s?(?=(?:번|개|명|시간|달|주|가지|대|권|배|단계))")
_PHRASES = (
    (re.compile(r"\b(?:a )?quarter of an hour\b|\beine viertelstunde\b|\bun quart d'heure\b"), "15 minutes"),
    (re.compile(r"\bhalf an hour\b|\beine halbe stunde\b|\bune demi-heure\b|\bmedia hora\b"), "30 minutes"),
    (re.compile(r"\bhalf a minute\b"), "30 seconds"),
    (re.compile(r"\b(?:a|one) dozen\b|\bein dutzend\b"), "12"),
    (re.compile(r"\b(?:a|one) fortnight\b"), "14 days"),
    (re.compile(r"\bdouble(?:s|d)?\b|\bdoppelt\w*"), "2"),
)
_WEEKDAYS = (
    "mondays? montags? lundi lunes 周一 星期一 월요일",
    "tuesdays? dienstags? mardi martes 周二 星期二 화요일",
    "wednesdays? mittwochs? mercredi miércoles 周三 星期三 수요일",
    "thursdays? donnerstags? jeudi jueves 周四 星期四 목요일",
    "fridays? freitags? vendredi viernes 周五 星期五 금요일",
    "saturdays? samstags? samedi sábado 周六 星期六 토요일",
    "sundays? sonntags? dimanche domingo 周日 星期日 일요일",
)
_COLOURS = (
    "red rote?[nrsm]? rouge rojo 红色 빨간",
    "green grüne?[nrsm]? verte? verde 绿色 녹색 초록",
    "blue blaue?[nrsm]? bleue? azul 蓝色 파란",
    "yellow gelbe?[nrsm]? jaune amarillo 黄色 노란",
    "black schwarze?[nrsm]? noire? negr[oa] 黑色 검은",
    "white weiße?[nrsm]? blanc(?:he)? blanc[oa] 白色 흰",
)
_EXCLUSIVE_ROWS = {
    f"{family}_{number}": (family, number, casefold(words).split())
    for family, rows in (("weekday", _WEEKDAYS), ("colour", _COLOURS))
    for number, words in enumerate(rows, 1)
}
_EXCLUSIVE = re.compile(
    "|".join(
        rf"(?P<{name}>{'|'.join(word for word in words if ord(word[0]) > 0x3000)}|"
        rf"\b(?:{'|'.join(word for word in words if ord(word[0]) <= 0x3000)})\b)"
        for name, (_, _, words) in _EXCLUSIVE_ROWS.items()
    )
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
    ("share", "1", "% percent per_cent prozent 퍼센트"),
    ("money", "1", "$ € £ ¥ 元 원 dollars dollar euros euro usd eur"),
)
FACTORS = {name: (family, Decimal(factor)) for family, factor, names in _UNITS for name in names.split()}
"""The family of each unit, and how many of its smallest unit it is."""


def spell_numbers(text: str) -> str:
    """A folded text with digits for the numbers of phrases, and for Chinese and Korean ones before a counter."""
    for form, number in _PHRASES:
        text = form.sub(number, text)
    if text.isascii():
        return text
    text = _HANGUL_COUNT.sub(lambda found: str(_HANGUL[found[1]]), text)
    return spell_han(text)


def find_exclusive(text: str) -> frozenset[tuple[str, int]]:
    """(family, number) of what is one of a few and cannot be another: a weekday, a colour."""
    found = (_EXCLUSIVE_ROWS[each.lastgroup] for each in _EXCLUSIVE.finditer(text) if each.lastgroup)
    return frozenset((family, number) for family, number, _ in found)
