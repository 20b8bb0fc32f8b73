"""Secrets and personal data in text that is kept: each kind is one rule, and what only looks like one stays."""

import re
from collections.abc import Callable, Sequence
from datetime import date
from typing import NamedTuple

_NUMBER_OF_A_THING = re.compile(
    r"(?i)(?:\b(?:order|invoice|ticket|case|article|item|no|nr)|#|号|编号|订单|번호)\W{0,3}$"
)
_CONTEXT = 16
_FOLDED = bytes.maketrans(b"-ABCDEFGHIJKLMNOPQRSTUVWXYZ", b"_abcdefghijklmnopqrstuvwxyz")
_DIGITS = bytes.maketrans(b"123456789", b"000000000")
_BETWEEN_DIGITS = b" .()-"
_ZERO = ord("0")
_ID_WEIGHTS = (7, 9, 10, 5, 8, 4, 2, 1, 6, 3, 7, 9, 10, 5, 8, 4, 2)
_CARD = re.compile(
    r"4(?:\d{12}|\d{15}|\d{18})|5[1-5]\d{14}|2[2-7]\d{14}|3[47]\d{13}|35\d{14}|6(?:011|5\d\d)\d{12}|62\d{14,17}"
)
"""Numbers that card networks give out, by their beginning and length."""


class RedactionRule(NamedTuple):
    """One kind of text that is not kept."""

    name: str
    """It stands in place of what was taken out."""
    marks: tuple[bytes, ...]
    """
    Text with none of them has none of its kind: small letters in UTF-8, with `_` for `-`.

    Zeros mean so many digits with nothing but `_BETWEEN_DIGITS` between them.
    """
    pattern: re.Pattern[str]
    """Its group `value`, where it has one, is what goes; else all of it."""
    accepts: Callable[[re.Match[str]], bool] = lambda _: True
    """Whether it really is one."""


def redact(text: str) -> str:
    """The text, with the kind in brackets in place of each secret and of each piece of personal data."""
    return apply_rules(find_rules(text.encode("utf-8", "replace")), text)


def find_rules(encoded: bytes) -> list[RedactionRule]:
    """
    The rules that may find something in a text: to look for a mark is much cheaper than any pattern.

    :param encoded: in UTF-8; JSON that has letters as they are will do, too.
    """
    words, digits = encoded.translate(_FOLDED), encoded.translate(_DIGITS, _BETWEEN_DIGITS)
    found = []
    for rule in RULES:
        for mark in rule.marks:  # no generator: it would take as long as the search
            if mark in (digits if mark[0] == _ZERO else words):
                found.append(rule)
                break
    return found


def apply_rules(rules: Sequence[RedactionRule], text: str) -> str:
    """The text as these rules leave it."""
    for rule in rules:
        text = rule.pattern.sub(lambda match, rule=rule: _replace(rule, match), text)  # type: ignore[misc]
    return text


def _replace(rule: RedactionRule, match: re.Match[str]) -> str:
    if not rule.accepts(match):
        return match[0]
    value = match.groupdict().get("value", match[0])
    return f"{match[0].removesuffix(value)}[{rule.name}]"


def _is_identity(match: re.Match[str]) -> bool:
    """Whether a birthday and the check digit of GB 11643 are where they belong."""
    digits = match[0].upper()
    try:
        date(int(digits[6:10]), int(digits[10:12]), int(digits[12:14]))
    except ValueError:
        return False
    total = sum(weight * int(digit) for weight, digit in zip(_ID_WEIGHTS, digits, strict=False))
    return digits[17] == "10X98765432"[total % 11]


def _is_card(match: re.Match[str]) -> bool:
    """Whether a network gives out such numbers, and its Luhn checksum is right."""
    digits = re.sub(r"\D", "", match[0])
    if _CARD.fullmatch(digits) is None:
        return False
    doubled = (int(digit) * (1 + place % 2) for place, digit in enumerate(reversed(digits)))
    return sum(each - 9 if each > 9 else each for each in doubled) % 10 == 0


def _is_phone(match: re.Match[str]) -> bool:
    """Whether it is no number of an order or the like."""
    before = match.string[max(0, match.start() - _CONTEXT) : match.start()]
    return _NUMBER_OF_A_THING.search(before) is None and 7 <= sum(map(str.isdigit, match[0])) <= 15


_NAMES = r"(?:passw(?:or)?d|passphrase|pwd|secret|token|api[ _-]?key|密码|口令|비밀번호)"
RULES = (
    RedactionRule(
        "key", (b"private key",),
        re.compile(r"(?s)-----BEGIN [A-Z ]{0,30}PRIVATE KEY-----.*?(?:-----END [A-Z ]{0,30}-----|\Z)"),
    ),
    RedactionRule(
        "key",
        (b"sk_", b"pk_", b"rk_", b"ghp_", b"gho_", b"ghu_", b"ghs_", b"ghr_", b"github_pat_", b"akia", b"aiza",
         b"xox", b"eyj", b"tvly_", b"terminus_"),
        re.compile(
            r"(?<![A-Za-z0-9])(?:[spr]k[-_](?:[A-Za-z0-9]{1,12}[-_]){0,3}[A-Za-z0-9_-]{16,}|gh[pousr]_[A-Za-z0-9]{20,}"
            r"|github_pat_\w{20,}|AKIA[0-9A-Z]{16}|AIza[\w-]{30,}|xox[abprs]-[\w-]{10,}"
            r"|eyJ[\w-]{8,1500}+\.[\w-]{8,}(?:\.[\w-]*)?|tvly-[A-Za-z0-9_-]{16,}|terminus_[0-9a-f]{12}_[A-Za-z0-9_-]{43})"
        ),
    ),
    RedactionRule("token", (b"bearer",), re.compile(r"(?i)\bbearer\s+(?P<value>(?=[^\s\"',;]*\d)[^\s\"',;]{12,})")),
    RedactionRule(
        "token", (b"basic",),
        re.compile(r"(?i)\bauthorization\\?[\"']?\s?[:=]\s?\\?[\"']?basic\s+(?P<value>[A-Za-z0-9+/_-]{4,}={0,2})"),
    ),
    RedactionRule(
        "secret", (b"://",),
        re.compile(r"(?<=://)(?P<user>[^\s/?#@:\"'<>]{0,64}):(?P<value>[^\s/?#@\"'<>]{1,256})(?=@[A-Za-z0-9\[])"),
    ),
    RedactionRule(
        "secret",
        tuple(mark.encode() for mark in (
            "passw", "passphrase", "pwd", "secret", "token", "api key", "api_key", "apikey",
            "密码", "口令", "비밀번호",
        )),
        re.compile(
            rf"(?i){_NAMES}(?:\\?[\"']?\s?(?:=|[:：]\s?\\?[\"'])\s?|\s?(?:[:：]|是|为)\s?(?=[^\s\"',;]{{0,100}}[\d!#$%^&*]))"
            r"\\?[\"']?(?P<value>[^\s\"',;\\&，。；]{4,})"
        ),
    ),
    RedactionRule(
        "secret", (b"passw", b"passphrase", b"pwd"),
        re.compile(
            r"(?i)\b(?:passw(?:or)?d|passphrase|pwd)\s+(?:is|was)\s+(?:now\s+)?[\"'`]?"
            r"(?P<value>(?=[^\s\"'`,;]*(?:\d|[!#$%^&*][A-Za-z]))[^\s\"'`,;]{5,}(?<![.!?]))"
        ),
    ),
    RedactionRule(
        "e-mail", (b"@",),
        re.compile(r"(?<![\w.%+-])[\w.%+-]{1,64}@(?:[A-Za-z0-9-]{1,63}\.){1,6}[A-Za-z]{2,24}(?![A-Za-z0-9])", re.ASCII),
    ),
    RedactionRule(
        "identity number", (b"0" * 17,),
        re.compile(r"(?<![\dA-Za-z])\d{17}[\dXx](?![\dA-Za-z])", re.ASCII), _is_identity,
    ),
    RedactionRule(
        "card number", (b"0" * 13,), re.compile(r"(?<![\d.,-])\d(?:[ -]?\d){12,18}(?![\d-])", re.ASCII), _is_card
    ),
    RedactionRule(
        "phone number", (b"0" * 10, b"+"),
        re.compile(
            r"(?<![\w.+-])(?:\+\d{1,3}[ .-]?(?:\(\d{1,4}\)[ .-]?)?\d{1,4}(?:[ .-]?\d{2,4}){2,4}"
            r"|(?:86[ -]?)?1[3-9]\d(?:[ -]?\d{4}){2}|0\d{2,3}-\d{7,8}|01[016-9]-\d{3,4}-\d{4}"
            r"|(?:\(\d{3}\) ?|\d{3}[ .-])\d{3}[.-]\d{4})(?![\w-])",
            re.ASCII,
        ),
        _is_phone,
    ),
)  # fmt: skip
"""In this order: a secret may look like a number, never the other way round."""
