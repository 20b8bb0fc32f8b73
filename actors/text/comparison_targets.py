"""What a task compares with what, and on what: the names in it, however they are listed. Pure."""

import re
from collections.abc import Sequence
from typing import NamedTuple

from actors.text.comparison_forms import criteria_after, forms_in
from actors.text.keywords import terms
from actors.text.word_patterns import compile_words

SIDES = 6
CRITERIA = 6
PARTS = 6
"""So many sentences of a task are looked at."""
CELLS = 16
"""So many pairs of a side and a criterion are asked for; with more sides there are fewer criteria."""
SIDE_CHARACTERS, SIDE_WORDS = 80, 8
CRITERION_CHARACTERS, CRITERION_WORDS = 60, 6

_FLAGS = re.IGNORECASE | re.VERBOSE
LEADING = re.compile(r"^(?:the|an?|using|use|main|key|between|both|either|their|its)\s+", re.IGNORECASE)
"""What stands before a thing and is not its name."""
_PLURAL_HEAD = re.compile(r"^[a-z][a-z-]+$")
_LINK = compile_words(r"\s+(?:(?:compared\s+)?(?:with|to)|from|against|versus|vs\.?)\s+|\s*(?:还是|对比|vs)\s*", _FLAGS)
_COMMA = compile_words(r"\s*[,，、]\s*")
_AND = compile_words(
    r"\s+(?:and|or|&|및|그리고)\s+|(?<=\S)(?:와|과|하고|랑|이랑)\s+|\s*(?:以及|和|与|跟|及|或)\s*", _FLAGS
)
_OPENS = compile_words(r"^(?:(?:and|or|&|그리고|및)\s+|(?:以及|和|与|及)\s*)", _FLAGS)
_PARTICLE = re.compile(r"(?<=[^\s])(?:을|를|은|는|의)$")
_ASKS = re.compile(r"^(?:what|how|when|where|which|who|whether|if|why|two|these|those|this|that|them|it)\b", _FLAGS)
_ARTICLE = compile_words(r"\s*(?:the|an?)\s", re.IGNORECASE)
_LOW = re.compile(r"^[a-z\u0080-\uffff]|^[A-Z]{2,}\b")


class Compared(NamedTuple):
    """Nothing, or at least two sides; the criteria may be none."""

    sides: tuple[str, ...] = ()
    criteria: tuple[str, ...] = ()

    @property
    def cells(self) -> tuple[tuple[str, str], ...]:
        """Each criterion of each side, criterion by criterion."""
        return tuple((side, criterion) for criterion in self.criteria for side in self.sides)


NOTHING = Compared()


def compared_in(parts: Sequence[str]) -> Compared:
    """What the first of these sentences that compares anything compares; one after it may say on what."""
    for place, part in enumerate(parts[:PARTS]):
        for form in forms_in(part):
            sides = _sides(form.things)
            criteria = _criteria(form.criteria)
            if len(sides) < 2 or (form.criteria and not criteria):
                continue
            if not criteria:
                criteria = next(filter(None, (_criteria(criteria_after(each)) for each in parts[place + 1 :])), ())
            return Compared(sides, criteria[: max(1, CELLS // len(sides))])
    return NOTHING


def question_on(side: str, criterion: str) -> str:
    """What is asked of one cell of a comparison."""
    return f"{side}: {criterion}"


def list_targets(text: str) -> list[str]:
    """The items of a list: with commas they separate, and `and` only the last two."""
    items = _COMMA.split(text.strip())
    if len(items) == 1:
        found = _AND.split(text)
    else:
        last = _OPENS.sub("", items[-1])
        found = [*items[:-1], *([last] if last != items[-1] else _AND.split(last))]
        if any(re.search("[\u4e00-\u9fff가-힣]", each) for each in items):  # 、 and 和 do the same there
            found = [part for each in found for part in _AND.split(each)]
    return [_OPENS.sub("", each).strip() for each in found if each.strip()]


def _sides(text: str) -> tuple[str, ...]:
    items = [item for each in _LINK.split(text) for item in list_targets(each)]
    found = [LEADING.sub("", LEADING.sub("", _PARTICLE.sub("", each.strip(" \"'“”‘’()")))) for each in items]
    if len(found) < 2 or not all(map(_is_name, found)):
        return ()
    own = any(_ARTICLE.match(each) for each in items[1:])  # `the VPN and the web desktop` are two things by themselves
    headed = tuple(found[:SIDES]) if own else _add_head(found[:SIDES])
    return headed if len({terms(each) or each.casefold() for each in headed}) == len(headed) else ()


def _is_name(text: str) -> bool:
    """Whether this can be looked for: it says something, and is no clause."""
    if not text or len(text) > SIDE_CHARACTERS or len(text.split()) > SIDE_WORDS:
        return False
    return not _ASKS.match(text) and bool(terms(text) or re.fullmatch(r"[A-Z][\w+#.]{0,3}", text))


def _add_head(sides: list[str]) -> tuple[str, ...]:
    """`streaming vs logical replication`: the first one is short of its noun."""
    last = sides[-1].split()
    single = [each for each in sides[:-1] if len(each.split()) == 1 and each not in last]
    plural = last[-1].endswith("s") and not any(each.endswith("s") for each in single)
    if len(single) == len(sides) - 1 and len(last) > 1 and _PLURAL_HEAD.match(last[-1]) and (len(sides) == 2 or plural):
        return (*(f"{each} {last[-1]}" for each in single), sides[-1])
    return tuple(sides)


def _criteria(text: str) -> tuple[str, ...]:
    """What things are compared on; a single name, such as a place or a year, is no criterion."""
    items = [LEADING.sub("", _PARTICLE.sub("", each.strip(" .\"'“”()"))) for each in list_targets(text)]
    items = [each for each in dict.fromkeys(items) if each][:CRITERIA]
    if not all(len(each) <= CRITERION_CHARACTERS and len(each.split()) <= CRITERION_WORDS for each in items):
        return ()
    if not all(terms(each) for each in items) or any(map(_ASKS.match, items)):
        return ()
    return tuple(items) if len(items) > 1 or all(map(_LOW.match, items)) else ()
