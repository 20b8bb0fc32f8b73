"""Which words carry a text, so that two texts can be compared: light stems, pairs for Chinese, Japanese and Korean."""

import functools
import re

from actors.text.normalize import casefold

CHARACTERS = 4000
"""So much of a text is looked at."""

_CJK = "\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3"
_RUN = re.compile(rf"[{_CJK}]+|[^\W_{_CJK}]+(?:['’](?:s|t|re|ll|ve|m|d)\b)?")
_STOP = frozenset(
    """
    a about above across after again against all almost alone along already also although always am among an and
    another any anyone are aren't around as ask at away be became because been before being below between both brief
    but by came can can't cannot come compare compared compares comparing comparison could describe detailed did
    difference differences different do does doesn't doing don't done down during each either else enough etc even
    ever every example explain few find first for from full gave general get give given go goes going good got had
    happen happens has have having he help her here him his how however i i'm if important in including into is isn't
    it it's its itself just keep kind know less let like ll look made main make makes many matter may me mean means
    might more most much must my need needs never next no nor not now of off often on once one only onto or other our
    out over overview own part per please possible put question rather re really report research same say says see
    seem seen several shall she should show since so some something still such summary sure take taken takes tell
    terms than that the their them then there these they thing things this those though through to today together too
    toward try two under until up upon us use used uses using usually various ve versus very via vs want wants was way
    ways we well went were what what's when where whether which while who whole whom whose why will with within
    without won't work works would write yes yet you your
    """.split()  # noqa: SIM905
)
_CJK_STOP = re.compile(
    "请问|为什么|怎么样|怎么办|怎么|怎样|如何|什么|哪里|哪个|哪些|是否|可以|能否|需要|应该|我们|以及|关于|研究|报告|"
    "[的了吗呢吧啊么和与在是有把被就都也]"
)
_ENDINGS = ("ations", "ation", "ings", "ing", "ies", "ied", "ers", "ed", "es", "er", "ly", "s", "e", "y")
_SHORTEST = 4
"""A stem is at least so long."""


def terms(text: str) -> frozenset[str]:
    """The terms of a text that say what it is about."""
    return frozenset(in_order(text))


@functools.lru_cache(4096)
def in_order(text: str) -> tuple[str, ...]:
    """The same, each once, in the order of the text."""
    found: dict[str, None] = {}
    for run in _RUN.findall(casefold(text[:CHARACTERS])):
        if run[0] >= "\u3040" and re.match(f"[{_CJK}]", run):
            for word in _CJK_STOP.split(run):
                found.update(dict.fromkeys(word[i : i + 2] for i in range(max(1, len(word) - 1)) if word))
        elif run not in _STOP and (len(run) > 1 or run.isdigit()):
            found[_stem(run.removesuffix("'s").removesuffix("’s"))] = None
    return tuple(found)


def share(wanted: frozenset[str], have: frozenset[str]) -> float:
    """How much of what is wanted is there, 0 to 1; nothing wanted is no share."""
    return len(wanted & have) / len(wanted) if wanted else 0.0


def alike(one: frozenset[str], other: frozenset[str]) -> float:
    """How much two texts have in common, by the shorter one, 0 to 1."""
    return len(one & other) / min(len(one), len(other)) if one and other else 0.0


def _stem(word: str) -> str:
    if not word.isalpha() or not word.isascii():
        return word
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= _SHORTEST and not word.endswith("ss"):
            return _single(word.removesuffix(ending))
    return word


def _single(stem: str) -> str:
    """`running` and `run` alike."""
    return stem[:-1] if len(stem) >= _SHORTEST and stem[-1] == stem[-2] and stem[-1] not in "lsz" else stem
