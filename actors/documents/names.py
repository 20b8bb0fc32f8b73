"""
Whether words are plainly the name of somebody, and nothing else: rules that would rather say no.

What they refuse is asked for; what they let pass stands in a document above a signature.
"""

import itertools

from actors.text.stop_words import word_set

MOST_CHARACTERS = 80
MOST_WORDS = 10
MOST_LETTERS = 4
"""A person's name in Chinese characters; what is longer must end as organisations do, or be parted by `·`."""

_PARTICLES = word_set(
    "of the and de la le du des del della di da dos das van von der den ter ten zu bin ibn al el y e und et &"
)
"""Words in lower case that stand within names."""
_NO_NAMES = word_set("i me my he she it we us they our his her their this that there to at in on if see")
_ABBREVIATIONS = word_set(
    """
    mr mrs ms dr prof st sr jr hon rev gen col capt lt sgt messrs ltd inc co corp bros dept univ mfg intl assn no nos
    art arts sec vs approx ca cf ave rd blvd apt gov sen rep esq plc llc llp gmbh e.g i.e u.s u.k p.o
    jan feb mar apr jun jul aug sep sept oct nov dec
    """
)
_COMPANY_ENDS = word_set("ltd inc llc llp plc co corp gmbh ag sa s.a sas bv b.v nv oy ab pty limited jr sr")
"""What belongs to the name though a comma stands before it."""
_ORGANISATIONS = tuple(
    word_set(
        """
        公司 集团 集團 银行 銀行 厂 廠 店 局 院 社 行 校 会 會 部 中心 所 大学 委 政府 工作室 户 馆 館 协会
        站 段 处 团 室 合伙
        """
    )
)
_NEVER_HAN = "我你您他她它们是的了吗把被欠请要求、"
_JOINING_HAN = "在未不没有无就也还向因与和及或跟同于之"
"""Common in a company's name, the first of them in a family's; else they join two people, or make a sentence."""
_KOREAN_ENDS = ("다", "요", "까")
_KOREAN_PARTICLES = (*_KOREAN_ENDS, "은", "는", "을", "를", "에게", "에서", "와", "과", "및")
_PLACEHOLDERS = word_set(
    """
    unknown tbd tba tbc none nobody n/a na pending me myself i same ditto 不详 不詳 未知 待定 无 無 暂无 没有 本人
    我 同上 待补充 不清楚 不知道 미정 모름 없음 본인 저 불명 해당없음
    """
) | {
    "not known", "not known yet", "not yet known", "not sure", "see above", "as above", "same as above", "no idea",
    "don't know", "i don't know", "do not know", "to be confirmed", "해당 없음",
}  # fmt: skip


def is_name(words: str) -> bool:
    """Whether this is one name as it stands, of a person or an organisation."""
    if not words or len(words) > MOST_CHARACTERS or any(each in ':：=<>@#|\\/?？!！*_;；"' for each in words):
        return False
    if any("\u3040" <= each <= "\u9fff" for each in words):
        return _is_han_name(words)
    parts = words.split()
    if len(parts) > MOST_WORDS or parts[0].casefold() in _NO_NAMES or parts[0].strip(".,").isdigit():
        return False
    if any("\uac00" <= each <= "\ud7a3" for each in words):
        said = any(each.endswith(_KOREAN_PARTICLES) for each in parts[:-1]) or parts[-1].endswith(_KOREAN_ENDS)
        return len(parts) <= 3 and not said
    return parts[-1] not in _PARTICLES and all(map(_is_part, parts))


def _is_part(word: str) -> bool:
    plain = word.strip("().,")
    return not plain[:1].islower() or plain in _PARTICLES or plain in _COMPANY_ENDS


def _is_han_name(words: str) -> bool:
    """In Chinese there is no capital and no space: only what is short, or ends as an organisation does, is a name."""
    whole = "".join(words.split())
    if any(each in _NEVER_HAN for each in whole):
        return False
    if whole.endswith(_ORGANISATIONS) and len(whole) > 2:
        return True
    return (len(whole) <= MOST_LETTERS or "·" in whole) and not any(each in _JOINING_HAN for each in whole[1:])


def is_placeholder(words: str) -> bool:
    """Whether somebody wrote that there is nothing to be written yet, or whom they mean without a name."""
    plain = words.casefold().strip(" .。!！?？")
    return plain in _PLACEHOLDERS or not any(map(str.isalnum, plain))


def is_abbreviation(word: str) -> bool:
    """Whether a dot behind this word need not be the end of a sentence."""
    plain = word.casefold().lstrip("([\"'“‘").rstrip(".")
    if plain in _ABBREVIATIONS or len(plain) == 1 or "." in plain:
        return True
    return plain.isascii() and plain.isalpha() and not set(plain) & set("aeiouy")


def begins_company_end(behind: str) -> bool:
    """Whether what stands behind a comma belongs to the name before it, as in `Lamp Co., Ltd.`."""
    return _first_word(behind).casefold() in _COMPANY_ENDS


def may_begin_name(behind: str) -> bool:
    """Whether what stands behind a comma may be another name, or more of the one before it."""
    word = _first_word(behind)
    if not word or word[0].isdigit():
        return False
    if "\u3040" <= word[0] <= "\u9fff":
        return _may_be_han_name(word)
    if "\uac00" <= word[0] <= "\ud7a3":
        return len(word) <= MOST_LETTERS and not word.endswith(("생", "남", "여", *_KOREAN_PARTICLES))
    return word[0].isupper() or word.casefold() in {"and", "et", "und", "y"}


def _first_word(text: str) -> str:
    first = text[:MOST_CHARACTERS].split(maxsplit=1)[:1]
    return first[0].rstrip(".,;") if first else ""


_DESCRIBES = "男女住系现现生出汉族身电联年职法以下是在我他她其向要求请拖欠未不因于从公地统"
"""So what is said of somebody behind their name begins: sex, address, number, what they did."""


def _may_be_han_name(behind: str) -> bool:
    letters = itertools.takewhile(lambda each: "\u3040" <= each <= "\u9fff" or each == "·", behind)
    piece = "".join(letters)
    return len(piece) > 1 and piece[0] not in _DESCRIBES and is_name(piece)
