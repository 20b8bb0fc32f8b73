"""What keeps a regular expression that a person wrote from being used: Python's cannot be stopped once they search."""

import itertools
import re
from re import _compiler, _parser  # type: ignore[attr-defined]  # the only reader of expressions that Python has
from typing import Any

CHARACTERS = 2000
"""So much of a ticket is searched; a test holds it to what the helpdesk reads."""
MOST_WAYS = 50_000
"""To match at one place: one `*` or `+`, and a few choices. With two of them, one ticket took nine seconds."""


def find_problem(word: str) -> str:
    """Why a word cannot be used, behind its name in a sentence; empty when it can."""
    if not word:
        return "is empty: ; stands between two words, and nowhere else"
    try:
        if re.search(word, ""):
            return "fits an empty text, and so every ticket"
        ways = _count_ways(_parser.parse(word))
    except re.error as error:
        return f"is no regular expression ({error.msg}): put a \\ before a character that is meant as it is"
    except (RecursionError, OverflowError):
        return "is nested too deeply or repeats too often: write several words"
    return "could search one ticket for hours: use * or + once at most, and not within another" * (ways > MOST_WAYS)


def _count_ways(items: Any) -> float:
    """In how many ways an expression can match at one place of the longest text, at most."""
    ways = 1.0
    for (operation, its), after in itertools.pairwise([*items, None]):
        match str(operation):
            case "MAX_REPEAT" | "MIN_REPEAT" | "POSSESSIVE_REPEAT":
                if not _must_end(its[2], after):
                    ways *= _count_repeats(int(its[0]), int(its[1]), _count_ways(its[2]))
            case "BRANCH":
                ways *= _count_choices(its[1])
            case "SUBPATTERN" | "ASSERT" | "ASSERT_NOT":
                ways *= _count_ways(its[-1])
            case "ATOMIC_GROUP":
                ways *= _count_ways(its)
            case "GROUPREF_EXISTS":
                ways *= sum(_count_ways(each) for each in its[1:] if each)
        ways = min(ways, MOST_WAYS + 1.0)
    return ways


def _count_choices(branches: Any) -> float:
    """Of `a|b|c`: words without anything to repeat fit one place together only where one begins with another."""
    begin = {chr(each[0][1]).lower() for each in branches if len(each) and str(each[0][0]) == "LITERAL"}
    if len(begin) == len(branches):
        return max(map(_count_ways, branches))
    words, others = list[str](), list[Any]()
    for each in branches:
        if all(str(operation) == "LITERAL" for operation, _ in each):
            words.append("".join(chr(character) for _, character in each).lower())
        else:
            others.append(each)
    together, within = 0, list[str]()
    for word in sorted(words):  # those that it begins with come right before it
        while within and not word.startswith(within[-1]):
            within.pop()
        within.append(word)
        together = max(together, len(within))
    return together + sum(map(_count_ways, others))


def _must_end(body: Any, after: Any) -> bool:
    """Whether a repeated character cannot be the one that must follow, as in `\\w+ `: then there is one way."""
    if len(body) != 1 or str(body[0][0]) not in ("IN", "LITERAL") or not after or str(after[0]) != "LITERAL":
        return False
    return not _compiler.compile(body, re.IGNORECASE).fullmatch(chr(after[1]))


def _count_repeats(least: int, most: int, once: float) -> float:
    most = max(least, min(most, CHARACTERS))
    if once == 1:
        return most - least + 1
    return sum(once**times if times < 32 else MOST_WAYS + 1.0 for times in range(min(least, 32), min(most, 32) + 1))
