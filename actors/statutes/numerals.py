"""Whole numbers as the laws of a country write them: in digits, or in numerals of its own. Pure."""

import unicodedata

import msgspec


class Numerals(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Numerals made of ten digits and the names of 10, 100 and 1000; without them numbers stand in digits."""

    pattern: str = r"\d{1,4}"
    """A regular expression of a number as it is written."""
    digits: str = ""
    """Those of 0 to 9, in their order."""
    powers: str = ""
    """The names of 10, 100 and 1000, in their order."""
    same: dict[str, int] = {}
    """Other characters for a digit."""


def read_number(written: str | None, numerals: Numerals) -> int:
    """The number that is written; 0 where there is none."""
    written = unicodedata.normalize("NFKC", written or "").strip()
    if written.isdecimal():
        return int(written)
    values = {each: value for value, each in enumerate(numerals.digits)} | numerals.same
    if len(written) > 1 and all(each in values for each in written):
        return int("".join(str(values[each]) for each in written))
    whole = digit = 0
    for each in written:
        if each in values:
            digit = values[each]
        elif each in numerals.powers:
            whole += (digit or 1) * 10 ** (numerals.powers.index(each) + 1)
            digit = 0
    return whole + digit


def write_number(number: int, numerals: Numerals) -> str:
    """A number below 10,000 as articles are numbered."""
    if not numerals.digits:
        return str(number)
    parts, gap = list[str](), False
    for power in range(len(numerals.powers), -1, -1):
        digit = number // 10**power % 10
        if digit:
            name = numerals.powers[power - 1] if power else ""
            parts.append((numerals.digits[0] if gap and parts else "") + numerals.digits[digit] + name)
        gap = bool(parts) and not digit
    written = "".join(parts)
    return written[1:] if written.startswith(numerals.digits[1] + numerals.powers[0]) else written
