"""Chinese numerals in digits, where they count something: `三十日` is `30日`, `百分之五` is `5%`. Pure."""

import re
from decimal import Decimal

_DIGITS = {character: number for number, character in enumerate("零一二三四五六七八九")} | {
    "〇": 0, "○": 0, "两": 2, "兩": 2,
}  # fmt: skip
_POWERS = {"十": 10, "百": 100, "千": 1000}
_GREAT = {"万": 10_000, "萬": 10_000, "亿": 100_000_000, "億": 100_000_000}
_HAN = "".join((*_DIGITS, *_POWERS, *_GREAT))
_COUNTER = (
    "次|个|個|本|天|日|周|星期|月|年|倍|种|種|条|條|款|项|項|章|节|位|名|人|台|件|页|頁|步|分钟|分鐘|小时|小時|级|級|张|張|元|岁|歲|"
    "户|份|公里|千米|米|吨|以上|以下|以内"
)
_COUNTED = re.compile(rf"(?<![{_HAN}])([{_HAN}]{{1,20}})(?={_COUNTER})")
_SHARE = re.compile(rf"百分之([{_HAN}]{{1,8}}|\d+(?:\.\d+)?)")
_FRACTION = re.compile(rf"([{_HAN}]{{1,4}})分之([{_HAN}]{{1,4}})")
_MIXED = re.compile(rf"(?<![\d.])(\d{{1,9}}(?:\.\d{{1,4}})?)([万萬亿億千百])(?={_COUNTER})")
_PLAIN = re.compile("[零〇○一二三四五六七八九两兩]+")


def spell_han(text: str) -> str:
    """The text with digits for the numerals that count; those that only are part of a word stay."""
    text = _SHARE.sub(lambda found: f"{_read_any(found[1])}%", text)
    text = _FRACTION.sub(_spell_fraction, text)
    text = _MIXED.sub(lambda found: f"{Decimal(found[1]) * (_GREAT | _POWERS)[found[2]]:f}", text)
    return _COUNTED.sub(lambda found: str(read_han(found[1])), text)


def read_han(numeral: str) -> int:
    """The number that a numeral says; digits in a row are read as such: `二〇一二` is 2012."""
    if _PLAIN.fullmatch(numeral) and len(numeral) > 1:
        return int("".join(str(_DIGITS[each]) for each in numeral))
    whole = part = digit = 0
    for each in numeral:
        if each in _DIGITS:
            digit = _DIGITS[each]
        elif each in _POWERS:
            part += (digit or 1) * _POWERS[each]
            digit = 0
        else:
            whole += (part + digit or 1) * _GREAT[each]
            part = digit = 0
    return whole + part + digit


def _read_any(number: str) -> str:
    return number if number[0].isascii() else str(read_han(number))


def _spell_fraction(found: re.Match[str]) -> str:
    below = read_han(found[1])
    return f"{Decimal(100 * read_han(found[2])) / below:.2f}%" if below else found.group()
