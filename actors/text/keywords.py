"""Which words carry a text, so that two texts can be compared: stems, pairs for Chinese, Japanese and Korean."""

import functools
import re

from actors.text.normalize import casefold
from actors.text.stop_words import LIGHT
from actors.text.tokenizer import is_cjk, runs, stem

CHARACTERS = 4000
"""So much of a text is looked at."""

_CJK_STOP = re.compile(
    "请问|为什么|怎么样|怎么办|怎么|怎样|如何|什么|哪里|哪个|哪些|是否|可以|能否|需要|应该|我们|以及|关于|研究|报告|"
    "[的了吗呢吧啊么和与在是有把被就都也]"
)


def terms(text: str) -> frozenset[str]:
    """The terms of a text that say what it is about."""
    return frozenset(in_order(text))


@functools.lru_cache(4096)
def in_order(text: str) -> tuple[str, ...]:
    """The same, each once, in the order of the text."""
    found: dict[str, None] = {}
    for run in runs(casefold(text[:CHARACTERS])):
        if is_cjk(run):
            for word in _CJK_STOP.split(run):
                found.update(dict.fromkeys(word[i : i + 2] for i in range(max(1, len(word) - 1)) if word))
        elif run not in LIGHT and (len(run) > 1 or run.isdigit()):
            found[stem(run.removesuffix("'s").removesuffix("’s"))] = None
    return tuple(found)


def share(wanted: frozenset[str], have: frozenset[str]) -> float:
    """How much of what is wanted is there, 0 to 1; nothing wanted is no share."""
    return len(wanted & have) / len(wanted) if wanted else 0.0


def alike(one: frozenset[str], other: frozenset[str]) -> float:
    """How much two texts have in common, by the shorter one, 0 to 1."""
    return len(one & other) / min(len(one), len(other)) if one and other else 0.0


def keywords(text: str, most: int = 12) -> str:
    """A question without its filler, for a search engine: its words of weight as they are written."""
    wanted, found = frozenset(in_order(text)), list[str]()
    for word in re.findall(r"[.'-]{0,3}\w+(?:[.'-]+\w+)*", text[:CHARACTERS]):
        if terms(word) & wanted and word not in found:
            found.append(word)
    return " ".join(found[:most])
