"""What a task asks, taken apart by rules: its questions, and the sides of a comparison. English, Chinese, Korean."""

import re
from typing import NamedTuple

from actors.text.comparison_forms import criteria_after
from actors.text.comparison_targets import LEADING, Compared, compared_in, question_on
from actors.text.keywords import in_order, terms
from actors.text.sentences import split_requests
from actors.text.word_patterns import compile_words

QUESTIONS = 8
"""A task has at most so many."""
CHARACTERS = 4000
"""So much of a task is looked at."""
BESIDES = 2
"""So many other questions of a task stand beside those on the cells of a comparison."""
REPEATS = 0.8
"""A question that shares more of its terms with an earlier one only repeats it."""

_FLAGS = re.IGNORECASE | re.VERBOSE
_MARK = compile_words(r"^\s*(?:[-*•]|\d{1,2}[.)]|\#{1,6})\s+")
_ASKS = compile_words(r"[?？]\s*$")
_COURTESY = compile_words(
    r"^(?:please|pls|kindly|hi|hello|hey)\b[,!]?\s*|^(?:can|could|would)\ you\s+(?:please\s+)?(?=[a-z])|"
    r"^(?:i|we)(?:'d|\ would)?\s+(?:want|need|like)\s+(?:you\s+)?to\s+(?:know|understand|learn)?\s*|"
    r"^(?:请问|请帮我|请|帮我|麻烦)\s*",
    _FLAGS,
)
_BRIEF = compile_words(
    r"^(?:(?:write|prepare|create|produce|make|give\s+(?:me|us)|draft|do|conduct)\s+(?:me\s+|us\s+)?"
    r"(?:an?\s+|some\s+|the\s+)?(?:[a-z-]+\s+){0,3}?"
    r"(?:report|overview|summary|analysis|research|study|review|survey|paper|briefing|introduction|comparison)"
    r"\s+(?:on|about|of|into|to|between)\s+|"
    r"(?:do\s+(?:some\s+)?)?(?:research|investigate|analy[sz]e|study|explore|examine|summari[sz]e|review|describe|"
    r"explain(?:\s+to\s+me)?|find\s+out(?:\s+about)?|look\s+into|tell\s+(?:me|us)\s+(?:more\s+)?about|"
    r"report\s+on|learn\s+about)\s+(?:the\s+topic\s+(?:of\s+)?)?(?=\S)|"
    r"(?:研究一下|研究|调研一下|调研|调查|分析一下|分析|介绍一下|介绍|总结|写一[份篇](?:关于|有关)?)\s*)",
    _FLAGS,
)
_BRIEF_END = compile_words(
    r"的(?:研究)?报告[。.]?$|"
    r"에\s*(?:대해서?|관해서?|대한)\s*(?:자세히\s*)?(?:조사|분석|설명|연구|정리|알려|보고서|리포트)[^.?!]{0,20}[.!]?$|"
    r"(?:을|를)\s*(?:조사|분석|설명|연구|정리)(?:해|하)[^.?!]{0,12}[.!]?$"
)
_AND = compile_words(
    r"(?:,\s*|\s+)(?:and|or|but)\s+(?:also\s+)?(?=(?:how|what|why|when|which|where|who|whether)\b)|"
    r",\s+(?=(?:how|what|why|when|which|where|who)\s+(?:is|are|do|does|did|can|could|should|to|will|would)\b)|"
    r"[,，]\s*(?:以及|并且|而且)?(?=(?:如何|怎么|怎样|为什么|什么时候|哪些))",
    re.IGNORECASE,
)
_LEANS = re.compile(r"\b(?:(?<!worth )it|its|they|them|their|ones?)\b|它们?|이것|그것", re.IGNORECASE)
_INTERROGATIVE = re.compile(r"^(?:why|how|when|who|where)\b|为什么|如何|왜|어떻게", re.IGNORECASE)
_REFERS = re.compile(r"\b(?:it|they|them)\b|它们?|이것|그것", re.IGNORECASE)
_STATES = re.compile(
    r"\b(?:i|we|you|he|she|my|our|your|am|is|are|was|were|has|have|had|do|does|did|can|cannot|could|will|would|should|must)"
    r"(?:n't)?\b|^我|니다$",
    re.IGNORECASE,
)
"""What only a sentence has. "It" after one is no name of the whole sentence."""
_SUBJECT = compile_words(
    r"^(?:what|who)\s+(?:is|are|was|were)\s+(?P<is>[^?,]{2,80}?)\s*\??$|"
    r"^how\s+(?:do|does|did|is|are|can|should)\s+(?P<how>[^?,]{2,60}?)\s+"
    r"(?:work|works|behave|function|operate|differ|decide|handle|happen|perform|store|stored|used|implemented|made)\b|"
    r"^什么是(?P<cjk>[^?？，,]{1,40})[?？]?$|^(?P<end>[^?？，,]{1,40})是什么[?？]?$",
    re.IGNORECASE,
)
_ORDERS = re.compile(r"compare|contrast|比较|对比", re.IGNORECASE)
_LETTER = re.compile(r"\s[A-HJ-Z](?![\w'’])")
"""A name of one letter, which is no term."""
_TOGETHER = compile_words(
    r"\s*(?:[.:;–—-]\s*)?\b(?:focus(?:ing)?\s+on|cover(?:ing|s)?|includ(?:ing|e|es)|in\s+terms\s+of|with\s+regard\s+to|"
    r"with\s+respect\s+to|especially|in\s+particular)(?:\s*:)?\s++(?P<aspects>[^?]{3,200}?)[.?]?$",
    re.IGNORECASE,
)
_LISTED = compile_words(r"\s*,\s*(?:and\s+|or\s+)?|\s+and\s+|[、，；;]\s*")

_NAME = r"\b[A-Za-z][^\W_]*+_\w++"
_SEVERAL = compile_words(rf"{_NAME}(?:(?:,\s*(?:and\s+|or\s+)?|\s+and\s+|\s+or\s+){_NAME})+")
VAGUE = 2
"""With so few words a question does not say what it is about."""
TASK_WORDS = 8
"""So many words of the whole task then go with it."""


class Asked(NamedTuple):
    questions: tuple[str, ...]
    """Whole questions or topics, none of which repeats another; at least one unless the task is empty."""
    sides: tuple[str, ...] = ()
    """What is compared with what,"""
    criteria: tuple[str, ...] = ()
    """and on what, where the task says so."""


def decompose(task: str) -> Asked:
    """What must be answered, in the order of the task; then the sides of a comparison, or each on each criterion."""
    text = task[:CHARACTERS].strip()
    parts = _understood([_topic(part) for part in _parts(text)])
    chosen = [each for part in [part for part in parts if _ASKS.search(part)] or parts for each in _beside(part)]
    compared = compared_in(chosen)
    if not compared.sides:
        compared = compared_in([text, *parts])
    if compared.sides:
        found = _list_cells(compared, chosen)
    else:
        clauses = [clause for part in chosen for each in _clauses(part) for clause in _each_name(each)]
        found = [aspect for clause in clauses for aspect in _aspects(clause)]
    most = max(QUESTIONS, BESIDES + len(compared.cells))
    return Asked(deduplicate(found)[:most] or ((text,) if text else ()), *compared)


def _beside(part: str) -> list[str]:
    """A comparison and what its sentence asks beside it; "when should I use which?" names nothing, and adds none."""
    first, *others = [piece.strip(" ,") for piece in _AND.split(part)]
    asked = [each for each in others if terms(each) or _LETTER.search(each)]
    if not asked or not compared_in([first]).sides:
        return [part]
    ending = "" if _ORDERS.match(first) else "?"
    return [first + ending, *(_strip_opening(each.rstrip("?？ ") + "?") for each in asked)]


def _list_cells(compared: Compared, parts: list[str]) -> list[str]:
    """A question a cell of the table that is asked for, which is then the whole; else a topic a side beside it."""
    others = [each for each in parts if not criteria_after(each)]
    if compared.criteria:
        named = frozenset[str]().union(*map(terms, compared.sides))
        others = [each for each in others if not named <= terms(each)]
        return [*others[:BESIDES], *(question_on(*cell) for cell in compared.cells)]
    return [*(others or parts)[: QUESTIONS - len(compared.sides)], *map(_strip_opening, compared.sides)]


def deduplicate(texts: list[str] | tuple[str, ...]) -> tuple[str, ...]:
    """Without those that only say again what another one asks; texts without any term of weight go last of all."""
    kept: list[tuple[str, frozenset[str]]] = []
    for text in texts:
        said = terms(text) | _asking(text)
        if text and not any(_repeats(said, other) or text == each for each, other in kept):
            kept.append((text, said))
    weighty = tuple(text for text, _ in kept if terms(text))
    return weighty or tuple(text for text, _ in kept)


def keywords(text: str, most: int = 12) -> str:
    """A question without its filler, for a search engine: its words of weight as they are written."""
    wanted, found = frozenset(in_order(text)), list[str]()
    for word in re.findall(r"[.'-]{0,3}\w+(?:[.'-]+\w+)*", text):
        if terms(word) & wanted and word not in found:
            found.append(word)
    return " ".join(found[:most])


def in_task(question: str, task: str) -> str:
    """A question as it is looked up: with words of its task where it leans on them, or says too little by itself."""
    leans = _LEANS.search(question) or (len(terms(question)) <= VAGUE and not subject(question))
    if not _ASKS.search(question) or not leans:
        return question
    known = terms(question)
    words = [each for each in keywords(task, len(in_order(task))).split() if not terms(each) <= known]
    return " ".join((question, *words[:TASK_WORDS]))


def subject(question: str) -> str:
    """What a question is about, where its form tells; else empty."""
    return LEADING.sub("", _subject(question))


def _subject(question: str) -> str:
    """The same with its article, to stand in a sentence."""
    found = _SUBJECT.match(question.strip())
    return next(each for each in found.groups() if each).strip() if found else ""


def _asking(text: str) -> frozenset[str]:
    """What makes another question of the same terms: why something is so, and of what, where a name is no term."""
    name, colon, _ = text.partition(": ")
    of = {name.casefold()} if colon and not terms(name) else set()
    return frozenset(each.casefold() for each in _INTERROGATIVE.findall(text)[:1]) | of


def names(question: str) -> str:
    """The identifiers in a question; empty when there are none."""
    return " ".join(re.findall(_NAME, question))


def _repeats(said: frozenset[str], other: frozenset[str]) -> bool:
    return bool(said) and bool(other) and len(said & other) / len(said | other) >= REPEATS


def _parts(text: str) -> list[str]:
    parts = [_MARK.sub("", part).strip() for part in split_requests(text)]
    return [part for part in parts if len(part) > 1]


def _topic(part: str) -> str:
    """Without the words that only say that something is to be researched."""
    for _ in range(3):
        shorter = _BRIEF.sub("", _COURTESY.sub("", part)).strip()
        if shorter == part or not terms(shorter):
            break
        part = shorter
    part = _BRIEF_END.sub("", part).strip() or part
    return _strip_opening(part if _ASKS.search(part) else part.rstrip(".。!！:：;；, "))


def _understood(parts: list[str]) -> list[str]:
    """A question on "it" or "them" says what that is, or stays with the one before it."""
    found: list[str] = []
    about = ""
    for part in parts:
        asks, refers = _ASKS.search(part), _REFERS.search(part)
        if found and asks and refers and about:
            found.append(_replace_pronoun(part, _REFERS, _inner(about)))
        elif found and asks and refers:
            found[-1] = f"{found[-1]} {part}" if _ASKS.search(found[-1]) else f"{found[-1]}. {part}"
        else:
            found.append(part)
            about = _subject(part) or ("" if asks or _STATES.search(part) else part)
    return found


def _replace_pronoun(text: str, pronoun: re.Pattern[str], name: str) -> str:
    return pronoun.sub(lambda said: f"{name}'s" if said.group().lower() in {"its", "their"} else name, text, count=1)


def _inner(text: str) -> str:
    """A topic as it stands inside a sentence."""
    head = text.split()[0]
    return text[:1].lower() + text[1:] if head[1:].islower() else text


def _clauses(part: str) -> list[str]:
    """
    The questions of one sentence, each in its own words: beside the others they can be understood.

    Only a name that the sentence itself gives stands for "it"; `in_task` finds the words to look one up with.
    """
    pieces = [piece.strip(" ,") for piece in _AND.split(part)]
    if len(pieces) < 2 or any(not terms(piece) for piece in pieces):
        return [part]
    about = _subject(pieces[0])
    found = [pieces[0], *(_replace_pronoun(each, _REFERS, about) if about else each for each in pieces[1:])]
    ending = "?" if _ASKS.search(part) else ""
    return [_strip_opening(each.rstrip("?？ ") + ending) for each in found]


def _strip_opening(text: str) -> str:
    """With a capital letter, unless it begins with an identifier."""
    head = text.split()[0] if text else ""
    return text[:1].upper() + text[1:] if re.fullmatch(r"[a-z-]+", head) else text


def _each_name(part: str) -> list[str]:
    """A question on several identifiers is one on each."""
    found = _SEVERAL.search(part)
    several = names(found.group()).split() if found else []
    if found is None or len(several) < 2:
        return [part]
    return [f"{part[: found.start()]}{name}{part[found.end() :]}" for name in several]


def _aspects(part: str) -> list[str]:
    """`X, focusing on A, B and C` is X, and each of the three of X."""
    found = _TOGETHER.search(part)
    if found is None or not terms(part[: found.start()]):
        return [part]
    whole = part[: found.start()].strip(" ,.:;")
    listed = [each.strip() for each in _LISTED.split(found["aspects"]) if terms(each)]
    if len(listed) < 2:
        return [part]
    about = subject(whole) or _topic(whole)
    return [whole, *(f"{_strip_opening(about)}: {each}" for each in listed)]
