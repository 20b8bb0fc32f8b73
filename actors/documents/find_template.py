"""
Which template a request names: by its title or another name that it declares, and by nothing that looks like it.

A name counts as what is asked for where a verb of writing or the beginning of a clause leads up to it, and nothing
behind makes another document of it: `解除租赁合同的通知` asks for no lease. Of all else the person is asked.
"""

import re
from collections.abc import Sequence
from typing import NamedTuple

from actors.documents.template import Template
from actors.text.normalize import casefold

MOST_SEARCHED = 20_000
"""Characters of a request: what is asked for does not stand behind a whole contract."""
_AROUND = 60
_HAN_BEFORE = re.compile(
    r"(?:^|[，。；：！？、,.;:!?\s“\"《「(（]|写|拟|起草|撰|具|代书|做|弄|搞|整|来|要|求|给|出|生成|制作|准备|提供"
    r"|(?:写|拟|起草|撰)[^，。；：！？,.;:!?\s]{1,30}的)"
    r"(?:[一两]?[份个個封张篇]|一下|请|帮|我们|我|您|标准|正式|简单|完整|规范|通用|的){0,6}$"
)
_HAN_BEHIND = re.compile(
    r"$|[，。；：！？、,.;:!?\s”\"》」)）]|的?(?:模[板版]|范本|样本|样式|格式|范文)|怎么写|如何写"
    r"|[吗吧呢给向让交发寄由以为因并，]|用于|催|告(?!知)"
)
_BEFORE = re.compile(
    r"(?:^|[.,;:!?\n\"“(¿]|\b(?:write|draft|drafting|prepare|make|create|need|want|get|give|generate|compose|produce|file"
    r"|schreibe?n?|verfassen?|entwirf|entwerfen|erstellen?|brauche|möchte|will)\b)"
    r"(?:\s{0,3}\b(?:me|us|him|her|my|our|an?|the|one|please|up|for|with|to|also|help|formal|simple|short|standard|basic"
    r"|legal|written|sample|sie|mir|uns|einen?|einer?|den|die|das|bitte)\b){0,8}\s{0,3}$"
)
_BEHIND = re.compile(
    r"$|[.,;:!?\n)\"”]|\s{1,3}(?:for|to|against|between|because|please|on|with|from|in|so|and|as|template|form|addressed|by|who"
    r"|which|that|about|now|today|of|regarding|since|für|an|gegen|schreiben|erstellen|verfassen)\b"
)
_HANGUL_BEFORE = re.compile(r"(?:^|[\s.,;:!?\"“(])$")
_HANGUL_BEHIND = re.compile(
    r"$|[.,;:!?\n)\"”]|[을를이가은는도]?\s{0,3}(?:작성|써|쓰|만들|초안|부탁|필요|좀|하나|양식|서식)"
)


class NamedTemplates(NamedTuple):
    """What of the templates a request speaks of."""

    asked: tuple[Template, ...]
    """Those that it asks for by name."""
    mentioned: tuple[Template, ...]
    """Those whose name stands in it, whatever about; `asked`, too."""


def find_templates(text: str, templates: Sequence[Template]) -> NamedTemplates:
    """The templates whose names stand in a text: the longest name counts where one stands within another."""
    text = casefold(text[:MOST_SEARCHED])
    by_name: dict[str, list[Template]] = {}
    for template in templates:
        for name in {casefold(each) for each in (template.title, *template.names)}:
            by_name.setdefault(name, []).append(template)
    longest_first = "|".join(map(re.escape, sorted(by_name, key=len, reverse=True)))
    asked, mentioned = dict[str, Template](), dict[str, Template]()
    for found in re.finditer(longest_first, text) if by_name else ():
        before, behind = text[max(0, found.start() - _AROUND) : found.start()], text[found.end() :][:_AROUND]
        if _goes_on(before[-1:] + found[0][:1]) or _goes_on(found[0][-1:] + behind[:1]):
            continue
        named = {each.name: each for each in by_name[found[0]]}
        mentioned |= named
        if _is_asked(found[0], before, behind):
            asked |= named
    return NamedTemplates(tuple(asked.values()), tuple(mentioned.values()))


def _goes_on(letters: str) -> bool:
    """Whether a word of a script that parts words goes on between two letters."""
    return len(letters) == 2 and letters.isalnum() and max(letters) < "\u1100"


def _is_asked(name: str, before: str, behind: str) -> bool:
    if "\u3040" <= name[-1] <= "\u9fff":
        rules = _HAN_BEFORE, _HAN_BEHIND
    elif "\uac00" <= name[-1] <= "\ud7a3":
        rules = _HANGUL_BEFORE, _HANGUL_BEHIND
    else:
        rules = _BEFORE, _BEHIND
    return rules[0].search(before) is not None and rules[1].match(behind) is not None
