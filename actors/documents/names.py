"""
Whether words are plainly the name of somebody, and nothing else: rules that would rather say no.

What they refuse is asked for; what they let pass stands in a document above a signature.
"""

import itertools
import re

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
COMPANY_ENDS = word_set("ltd inc llc llp plc co corp gmbh ag sa s.a sas bv b.v nv oy ab pty limited jr sr")
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
_BEGINS_CLAUSE = word_set("I we want the")
"""Behind `and` these begin another clause, and no second name."""
_HAN_CLAUSE = re.compile(r"[\u3400-\u9fff·（）()]{2,80}(?=[，,。；;、！!？?\s]|$)")
_SURNAMES = frozenset(
    "王李张張刘劉陈陳杨楊黄黃赵趙吴吳周徐孙孫朱胡郭林罗羅郑鄭梁宋唐韩韓冯馮邓鄧曹彭袁肖潘蔡蒋蔣杜叶葉魏苏蘇吕呂丁沈姚卢盧姜崔"
    "钟鍾谭譚陆陸汪范廖韦韋贾夏邱侯邹熊秦薛阎闫雷龙陶贺毛郝龚邵钱覃赖洪莫孔汤"
)
"""Family names that hardly begin another word, of the hundred that most people bear."""
_TELLING = "说称讲问答借还付拒收违住诉告不没名之等方的"
"""Behind somebody's name the word that says what they did begins so, or it is no name."""
_NO_PEOPLE = word_set("陈述 陈诉 周转 周边 周围 张贴 张口 罗列 钱款 毛利 黄金 林地 龙头 雷同 汤水 宋体 夏天 杜绝")
"""Words of the law and of every day that begin as a family name does."""
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
    return not plain[:1].islower() or plain in _PARTICLES or plain in COMPANY_ENDS


def _is_han_name(words: str) -> bool:
    """In Chinese there is no capital and no space: only what is short, or ends as an organisation does, is a name."""
    whole = "".join(words.split())
    if any(each in _NEVER_HAN for each in whole):
        return False
    if whole.endswith(_ORGANISATIONS) and len(whole) > 2:
        return True
    return (len(whole) <= MOST_LETTERS or "·" in whole) and not any(each in _JOINING_HAN for each in whole[1:])


def read_name(prose: str) -> str:
    """The name with which running prose begins; empty where it may be none, or the first of several."""
    if found := _HAN_CLAUSE.match(prose):
        name = found[0]
        is_person = name[0] in _SURNAMES and len(name) < MOST_LETTERS
        is_person = is_person and name[-1] not in _TELLING and name not in _NO_PEOPLE
        is_one = is_name(name) and not may_begin_name(prose[len(name) + 1 :])
        return name if is_one and (is_person or name.endswith(_ORGANISATIONS)) else ""
    words, taken = prose.split(), list[str]()
    for word in words[: MOST_WORDS + 1]:
        if not _is_part(word) or word.casefold() in _NO_NAMES | {"and", "&"}:
            break
        taken.append(word)
        if word.endswith(",") or word.strip(".").casefold() in COMPANY_ENDS:
            break
    behind = words[len(taken) :]
    joined = behind[:1] in (["and"], ["&"])
    is_list = joined and len(behind) > 1 and behind[1] not in _BEGINS_CLAUSE
    name = " ".join(taken)
    if name.endswith(",") and not joined:
        is_list = may_begin_name(" ".join(behind[:1]))
    name = name.rstrip(",")
    return name if len(taken) > 1 and not is_list and is_name(name) else ""


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
