"""The forms in which people ask for a comparison: what is compared, and on what. English, Chinese, Korean."""

import re
from collections.abc import Iterator
from typing import NamedTuple

from actors.text.word_patterns import compile_words

_FLAGS = re.IGNORECASE | re.VERBOSE
REST = 300
"""So many characters of a sentence are looked at for what is compared."""

DENSE = 100
"""The same where a character is a syllable or a word."""


class Form(NamedTuple):
    """What a sentence names, as it stands there."""

    things: str
    criteria: str = ""


_SAID = rf"(?:[^?？。;；\n.]|\.(?=\w)){{3,{REST}}}"
_LINKED = r"(?:with|to|from|against|versus|vs\.?)"
_END = r"\s*(?:[?？;:。]|\.(?!\w)|\bfor\b|\bwhen\b|$)"
_ENGLISH = tuple(
    compile_words(pattern, _FLAGS, 1)
    for pattern in (
        # an order, not a question on how something is compared: "How do I compare two dates?"
        (
            rf"(?:^|[.!?:]\s+|\b(?:want|need|like|trying|going|plan|have|please|help\s+(?:me|us))\s+(?:you\s+)?(?:to\s+)?)"
            rf"(?:(?:research|analy[sz]e|review|examine|evaluate|find|list)\s+and\s+)?"
            rf"(?:compare(?:\s+and\s+contrast)?|contrast)(?:\s+between)?\s+(?P<said>{_SAID})"
        ),
        rf"(?:^|\b(?:report|overview|analysis|study|paper|article|table|summary|research)\s+)comparing\s+(?P<said>{_SAID})",
        rf"\bcomparisons?(?:\s+(?:of|between|among)|\s*:)\s+(?P<said>{_SAID})",
        rf"\b(?:differences?|distinctions?)\s+(?:in\s+(?P<on>[\w\s,-]{{3,100}}?)\s+)?(?:between|among)\s+(?P<said>{_SAID})",
        rf"\bhow\s+(?:do|does|did)\s+(?P<said>{_SAID}?)\s+(?:compare|differ)\b(?P<more>{_SAID})?",
        rf"\b(?:choos(?:e|ing)|decid(?:e|ing)|choice)\s+(?:between|among)\s+(?P<said>{_SAID})",
        rf"\bshould\s+(?:i|we|one)\s+(?:use|choose|pick|prefer|take)\s+(?P<any>{_SAID}?){_END}",
        rf"^(?P<any>{_SAID}?)\s*[:,–—-]\s+which\s+(?:one\s+)?(?:is|are|has|should|would)\b",
        rf"\bwhat\s+distinguishes\s+(?P<said>{_SAID})",
        rf"^(?P<said>{_SAID}?\s+compared\s+(?:to|with)\s+{_SAID})",
        rf"\b(?:which|what)\s+is\s+(?:better|faster|best)(?:\s+for\s+[^,:?]{{2,60}})?[,:]?\s+(?P<any>{_SAID}?){_END}",
        rf"\bwhich\s+(?:one\s+)?of\s+(?P<any>{_SAID}?)\s+(?:is|has|are|should|costs?|offers?|performs?|works?)\b",
        (
            rf"(?:^|^.{{1,{REST}}}?\b(?:is|are|of|on|about)\s+)"
            rf"(?P<said>(?:(?!\b(?:is|are|of|on|about)\s)[^?？。;；\n:]){{1,{REST}}}?\s(?:vs\.?|versus)\s{_SAID})"
        ),
    )
)
_ON = compile_words(
    r"[,:(\s–—-]{1,9}(?:in\s+terms\s+of|with\s+(?:regard|respect)s?\s+to|when\s+it\s+comes\s+to|regarding|concerning|"
    r"according\s+to|based\s+on|focus(?:ing|ed)?\s+on|consider(?:ing)?|covering|looking\s+at)\s+(?:their\s+|the\s+)?",
    _FLAGS,
)
_MAYBE_ON = compile_words(r"\s+(?:on|by|in|for|across)\s+(?:their\s+|the\s+)?|\s*[:：]\s*", _FLAGS)
_PURPOSE = compile_words(r"\s+(?:for|in|across)\b", re.IGNORECASE)
"""A single thing behind these is what the sides are for, or where: nothing to compare them on."""
_SEVERAL = re.compile(r",|\band\b|&")
_OF = compile_words(
    r"^(?:the\s+)?(?P<on>[a-z][a-z\s,/-]{2,100}?)\s+(?:of|between|across|among)\s+(?P<said>.+)$", re.DOTALL
)
"""`compare the price and speed of A and B`; a name before it is a thing, not what things are compared on."""
_ENDS_ON = compile_words(r"\s*(?:,?\s*please|,?\s*thanks?(?:\s+you)?|\))?\s*[.!]?\s*$", re.IGNORECASE, 1)
_AFTERWARDS = compile_words(
    r"^(?:(?:the\s+)?(?:criteria|dimensions|aspects|points)(?:\s+are)?\s*:?|consider|focus\s+on|look\s+at|cover|"
    r"标准|维度|方面|기준|항목)\s*[:：은는]?\s+(?P<on>.{3,200}?)[.。]?$",
    _FLAGS,
)

_ZH = r"[^，。？?；;\n]"
_ZH_BEGINS = r"(?<![^，。？?；;\n])"
"""A part of a sentence: to begin anywhere within one would cost its length once more for each of its characters."""
_ZH_COMPARE = "(?:比较(?![好大小多少常新贵]|容易|适合|合适|重要|简单|便宜|喜欢)|对比)(?:一下|下)?"
_ZH_ON = r"(?P<on>[^。？?；;\n的]{1,40}?)(?:等?(?:这?[几两二三四]个)?(?:方面|角度|维度)|上|[，,])"
_CHINESE = tuple(
    compile_words(pattern, 0, 1)
    for pattern in (
        rf"(?:^|[，。：:]|请|帮我|帮忙|想要?|需要)(?:从|在|按照?){_ZH_ON}来?{_ZH_COMPARE}\s*(?P<said>{_ZH}{{2,60}})",
        (
            rf"(?:^|[，。：:]|请|帮我|帮忙|想要?|需要|研究并?|分析并){_ZH_COMPARE}\s*"
            rf"(?P<said>[^，。？?；;：:\n的在]{{2,60}}?)\s*(?:在|的|[，,]?从|[，,]?包括|[:：])\s*(?P<on>[^。？?；;\n]{{1,80}})"
        ),
        (rf"(?:^|[，。：:]|请|帮我|帮忙|想要?|需要|研究并?|分析并){_ZH_COMPARE}\s*(?P<said>{_ZH}{{2,60}})"),
        (
            rf"{_ZH_BEGINS}(?P<said>{_ZH}{{2,60}}?)\s*(?:之间)?在{_ZH_ON}?\s*(?:的|有什么|有何|有哪些|之间)+"
            r"(?:区别|差异|差别|不同|比较|对比|优缺点)"
        ),
        (
            rf"{_ZH_BEGINS}(?P<said>{_ZH}{{2,60}}?)\s*(?:的(?P<on>[^，。？?；;\n的]{{1,40}}?))?(?:的|之间|有什么|有何|有哪些)+"
            r"(?:区别|差异|差别|不同|比较|对比|优缺点)"
        ),
        rf"{_ZH_BEGINS}(?P<said>{_ZH}{{2,60}}?)[，,]?\s*(?:哪个|哪一个|哪种|谁)更?(?:好|快|便宜|适合|安全|稳定)",
    )
)
_ZH_ENDS = re.compile(
    r"(?:等?(?:这?[几两二三四]个)?(?:方面|角度|维度)|上)?(?:的?(?:区别|差异|差别|不同|表现|对比|比较|优缺点))?$"
)

_KO = r"[^.?!。\n]"
_KO_BEGINS = r"(?<![^.?!。\n])"
_KO_ON = r"\s*(?:측면|관점|면|기준|항목|점)(?:에서|으로|에)?\s*"
_KOREAN = tuple(
    compile_words(pattern, 0, 1)
    for pattern in (
        rf"{_KO_BEGINS}(?P<said>{_KO}{{2,80}}?)(?:을|를)\s+(?P<on>{_KO}{{1,40}}?){_KO_ON}(?:서로\s*)?비교",
        rf"{_KO_BEGINS}(?P<on>{_KO}{{1,40}}?){_KO_ON}(?P<said>{_KO}{{2,80}}?)(?:을|를)?\s*(?:서로\s*)?비교",
        rf"{_KO_BEGINS}(?P<said>{_KO}{{2,80}}?)의\s+(?P<on>{_KO}{{1,40}}?)(?:을|를)?\s*(?:서로\s*)?(?:비교|차이)",
        rf"{_KO_BEGINS}(?P<said>{_KO}{{2,80}}?)(?:을|를|의|은|는|이|가)?\s*(?:서로\s*)?(?:비교|차이|다른\s*점|장단점)",
        rf"{_KO_BEGINS}(?P<said>{_KO}{{2,80}}?)\s*중(?:에서?)?\s*(?:어느|어떤|무엇|뭐)",
    )
)
_KO_NOT = compile_words(r"비교\s*(?:하는|할)\s*(?:방법|법|함수|연산자|명령)|비교하려면|어떻게\s*비교|비교\s*연산자")
_COMPARES = re.compile("比较|对比|区别|差异|差别|不同|优缺点|哪|谁|비교|차이|다른|장단점|중")
_HANGUL, _HAN = re.compile("[가-힣]"), re.compile("[\u4e00-\u9fff]")


def forms_in(part: str) -> Iterator[Form]:
    """Each way in which one sentence can be read as asking for a comparison, the likeliest first."""
    cjk = bool(_HANGUL.search(part) or _HAN.search(part))
    part = " ".join(part.split())[: DENSE if cjk else REST]
    if cjk and not _COMPARES.search(part):
        return
    if _HANGUL.search(part):
        if not _KO_NOT.search(part):
            yield from _match(_KOREAN, part)
    elif cjk:
        for form in _match(_CHINESE, part):
            yield form._replace(criteria=_ZH_ENDS.sub("", form.criteria))
    else:
        yield from _english(part)


def criteria_after(part: str) -> str:
    """What things are compared on, where a sentence of its own says so."""
    found = _AFTERWARDS.match(" ".join(part.split())[:REST])
    return found["on"] if found else ""


def _match(patterns: tuple[re.Pattern[str], ...], part: str) -> Iterator[Form]:
    for pattern in patterns:
        if found := pattern.search(part):
            said = found.groupdict()
            yield Form(said["said"], said.get("on") or "")


def _english(part: str) -> Iterator[Form]:
    for pattern in _ENGLISH:
        if found := pattern.search(part):
            said = found.groupdict()
            text = _ENDS_ON.sub("", said.get("said") or said.get("any") or "")
            if more := said.get("more"):
                text += more if re.match(rf"\s+{_LINKED}\s", more, re.IGNORECASE) or _on(more) else ""
            yield from _read(text, said.get("on") or "")


def _on(text: str) -> re.Match[str] | None:
    return _ON.search(text) or _MAYBE_ON.search(text)


def _read(text: str, on: str) -> Iterator[Form]:
    if found := _ON.search(text):
        yield Form(text[: found.start()], text[found.end() :])
    perhaps = list(_MAYBE_ON.finditer(text))
    for found in perhaps:
        if not _PURPOSE.match(found.group()) or _SEVERAL.search(text, found.end()):
            yield Form(text[: found.start()], text[found.end() :])
    if before := _OF.match(text):
        yield Form(before["said"], before["on"])
    for found in perhaps:  # where and when, which is nothing to compare things on
        yield Form(text[: found.start()], on)
    yield Form(text, on)
