"""What a task compares with what, by the forms in which people say so. English, Chinese, Korean."""

import re

from actors.research.rules.terms import alike, terms

SIDES = 4
_FLAGS = re.IGNORECASE | re.VERBOSE
LEADING = re.compile(r"^(?:the|an?|using|use|main|key|between)\s+", re.IGNORECASE)
"""What stands before a thing and is not its name."""
_PLURAL_HEAD = re.compile(r"^[a-z][a-z-]+$")
_THING = r"[^?？.,;:。，]{1,80}?"
_COMPARES = tuple(
    re.compile(pattern, _FLAGS)
    for pattern in (
        rf"\b(?:differences?|distinction)\s+between\s+(?P<a>{_THING})\s+and\s+(?P<b>{_THING})\s*(?:[?？.,;:。]|$)",
        (
            rf"\bcompar(?:e|es|ing|ison\s+(?:of|between))\s+(?P<a>{_THING})\s+(?:and|with|to|against|versus|vs\.?)\s+"
            rf"(?P<b>{_THING})\s*(?:[?？.,;:。]|\bin\s+terms\b|\bwith\s+re|\bfor\b|\bin\b|\bon\b|\bregarding\b|$)"
        ),
        (
            rf"\bhow\s+(?:do|does)\s+(?P<a>{_THING})\s+(?:compare|differ)\s+(?:with|to|from|against)\s+(?P<b>{_THING})"
            r"\s*(?:[?？.,;:。]|$)"
        ),
        rf"\bhow\s+do\s+(?P<a>{_THING})\s+and\s+(?P<b>{_THING})\s+(?:compare|differ)\b",
        rf"\b(?:choose|decide|choosing|choice)\s+between\s+(?P<a>{_THING})\s+and\s+(?P<b>{_THING})\s*(?:[?？.,;:。]|$)",
        (
            rf"\b(?:should\s+(?:i|we|one)\s+(?:use|choose|pick|prefer|take)|(?:which|what)\s+is\s+(?:better|faster|best)"
            rf"(?:\s+for\s+[^,:?]{{2,60}})?[,:]?)\s+(?P<a>{_THING})\s+or\s+(?P<b>{_THING})\s*(?:[?？.,;:。]|\bfor\b|\bwhen\b|$)"
        ),
        (
            rf"(?:^|\b(?:is|are|of|on|about)\s+)(?P<a>{_THING})\s+(?:vs\.?|versus)\s+(?P<b>{_THING})"
            r"\s*(?:[?？.,;:。]|\bin\s+terms\b|\bfor\b|$)"
        ),
        r"(?:比较|对比)(?:一下)?\s*(?P<a>[^，。？?]{1,30}?)\s*(?:和|与|跟|、)\s*(?P<b>[^，。？?的]{1,30})",
        (
            r"(?P<a>[^，。？?]{1,30}?)\s*(?:和|与|跟)\s*(?P<b>[^，。？?]{1,30}?)\s*(?:的|之间|有什么|有何)\s*(?:的)?"
            r"(?:区别|差异|不同|比较|对比|优缺点)"
        ),
        (
            r"(?P<a>[^\s,.?][^,.?]{0,30}?)(?:와|과|하고|랑)\s+(?P<b>[^,.?]{1,30}?)(?:의|을|를|은|는)?\s*"
            r"(?:차이|비교|다른|장단점|중)"
        ),
    )
)


def compared_in(parts: list[str]) -> tuple[str, ...]:
    """The things that the first of these parts which compares any compares; none when none does."""
    for part in parts:
        for pattern in _COMPARES:
            found = pattern.search(part)
            if found is None:
                continue
            sides = [_side(found["a"]), _side(found["b"])]
            if not all(terms(each) for each in sides) or alike(terms(sides[0]), terms(sides[1])) == 1.0:
                continue
            return _headed(sides)
    return ()


def _side(text: str) -> str:
    """One side of a comparison, without what stands before it in its sentence."""
    text = re.split(r"\b(?:between|of|is|are|comparing|compare)\s+", text.strip())[-1] or text
    return LEADING.sub("", text.strip(" \"'“”"))


def _headed(sides: list[str]) -> tuple[str, ...]:
    """`streaming vs logical replication`: the first one is short of its noun."""
    one, other = sides[0].split(), sides[1].split()
    if len(one) == 1 and len(other) > 1 and _PLURAL_HEAD.match(other[-1]) and sides[0] not in other:
        return f"{sides[0]} {other[-1]}", sides[1]
    return tuple(sides)[:SIDES]
