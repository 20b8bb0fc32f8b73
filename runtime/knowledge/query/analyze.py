"""A question taken apart: which words carry it, how much, what they may be called, what kind of answer is asked."""

import re
from collections.abc import Iterable

import msgspec

from actors.text.languages import find_common_words
from actors.text.stop_words import EVERYDAY, STOP, word_set
from actors.text.tokenizer import is_cjk, runs, spellings, stem, tokens
from actors.text.word_patterns import compile_words
from runtime.knowledge.index.index_reader import IndexReader
from runtime.knowledge.query.query_focus import core
from runtime.knowledge.query.synonyms import SYNONYMS

SYNONYM = 0.9
"""Strength of a word that stands for another one."""
EVERYDAY_WEIGHT = 0.6
DIGITS_WEIGHT = 0.2
UNKNOWN_PAIR = 0.5
"""Two Chinese or Korean characters that no document has may be the end of a word and the start of the next."""
TYPO_LETTERS, TYPO_LONGEST, SUBSTITUTED_LETTERS, TYPOS = 5, 20, 7, 4
"""So long a word may be misspelt, or have a wrong letter (which often makes another word); so many are looked up."""
CHARACTERS = 4000
"""So much of a question is looked at."""
ENOUGH_WEIGHT = 40.0
"""In nats: a passage that says so much of a question, in the measure of its gate, need not say the rest."""
TERMS = 60
"""So many of its words: the others hardly change what is found."""

_NAME = re.compile(r"(?<![.?!:]\s)(?<!^)\b(?=\w*[A-Z])\w+(?:[._]\w+)*")
CODE_NUMBER = compile_words(
    r"(?:error|code|status|event|fehler|错误|代码|오류|에러)\s*(?:code|no\.?|number|#|:)?\s*#?(\d{2,})", re.IGNORECASE
)
"""A number that is called a code."""
_CJK_FILLER = re.compile(
    "请问|多久|多少|多长时间|几天|你好|您好|谢谢|为什么|怎么样|怎么办|怎么|怎样|如何|什么|哪里|哪个|哪些|是否|可以|能否|能不能|需要|应该|我们|你们|他们|"
    "我的|一个|这个|那个|已经|还是|但是|因为|所以|如果|的话|无法|不能|[我你您他她它的了吗呢吧啊么和与在是有把被要想请就都也很]"
)
_KOREAN_FILLER = word_set(
    """
    얼마나 얼마 몇 며칠 누구 누가 어느 어떤
    어떻게 무엇 무엇을 무엇이 뭐 왜 어디 어디서 어디에 언제 누가 제가 저는 저희 우리 나는
    내 제 그 이 저 있나요 있습니까 있어요 합니까 하나요 해요 되나요 됩니까 주세요 싶어요 싶습니다
    싶은데 싶은데요 싶은 하면 하는데 하는데요 같이
    안녕하세요 감사합니다 수 것 좀
    """
)
_PARTICLE = re.compile(
    "(?:에서는|에서|으로|에게|한테|까지|부터|처럼|보다|이나|마다|씩|이랑|랑|만|들|[을를이가은는에의로와과도])$"
)
_ENDING = re.compile(
    "(?:하려고|하려면|하나요|합니까|합니다|하세요|해야|했는데|하는데|하는|하면|하고|해도|해서|해요|했다|할|한|하게|"
    "되나요|됩니다|되는|되게|되면|돼서|된|될|"
    "(?:었|았|였|겠)?(?:습니다|습니까|는데요?|은데요?|더니|어요|아요|네요|나요|을까요|까요|지만|니까|다가|거나|면서|다고|는지|은지)|"
    "싶습니다|싶어요|싶은데요?|려고|려면요?|으면|면요?|도록|어서|아서|어야|아야|여야|게요?|고요?|지요?|죠|세요|니다|어|아)$"
)
"""Particles of nouns, and endings of verbs, of which an everyday question has others than a manual."""


class Term(msgspec.Struct, frozen=True, gc=False):
    """A word of the question."""

    weight: float
    gated: float
    """Its weight for the gate: numbers have none."""
    weak: bool
    """A number or an everyday word."""
    variants: dict[str, float]
    """The words that match it, with their strength; itself with 1."""


class Question(msgspec.Struct, frozen=True, gc=False):
    text: str
    core: str
    """What is asked, without the story around it. Only here an unknown name means that there is no answer."""
    terms: dict[str, Term]
    order: list[str]
    """The terms as they follow each other."""
    names: list[str]
    """Terms of words written like names."""
    words: dict[str, str]
    """Term -> the word as it was written."""
    total: float
    total_gated: float

    def matches(self, have: Iterable[str]) -> dict[str, float]:
        """The terms that are found among these, with their strength."""
        present = have if isinstance(have, set | frozenset | dict) else set(have)
        found = {}
        for term, each in self.terms.items():
            if term in present:
                found[term] = 1.0
            elif len(each.variants) > 1 and any(variant in present for variant in each.variants):
                found[term] = SYNONYM
        return found

    def coverage(self, matched: dict[str, float]) -> float:
        """How much of the question is matched, 0 to 1."""
        return sum(self.terms[term].weight * strength for term, strength in matched.items()) / self.total

    def evidence(self, matched: dict[str, float]) -> float:
        """As `coverage`, but of a long question nobody expects that one passage says all of it."""
        said = sum(self.terms[term].gated * strength for term, strength in matched.items())
        return min(1.0, said / min(self.total_gated, ENOUGH_WEIGHT))


def understand(text: str, shelf: IndexReader) -> Question:
    """Take a question apart against an index."""
    text = text[:CHARACTERS].strip()
    pairs, names = _content(text), _names(text)
    near = _near(pairs, names, shelf)
    asks = core(text, lambda term: shelf.frequency(term) > 0 or term in near)
    codes = set(CODE_NUMBER.findall(text))
    terms: dict[str, Term] = {}
    for word, term in pairs:
        if len(term) < 2 and not is_cjk(term):
            continue
        digits = term.isdigit() and term not in codes
        weak = digits or word in EVERYDAY or word.split("'")[0] in EVERYDAY
        share = DIGITS_WEIGHT if digits else EVERYDAY_WEIGHT if weak else 1.0
        weight = min(shelf.rarity(term), 4.5 if weak else 8.5) * share
        meant = near.get(term, term)
        variants = {term: 1.0, meant: SYNONYM if meant != term else 1.0}
        variants |= {v: SYNONYM for v in SYNONYMS.get(meant, ()) if shelf.frequency(v)}
        torn = not any(shelf.frequency(v) for v in variants)
        gated = 0.0 if digits else weight * (UNKNOWN_PAIR if torn else 1)
        terms.setdefault(term, Term(weight, gated, weak, variants))
    if len(terms) > TERMS:
        terms = dict(sorted(terms.items(), key=lambda item: -item[1].weight)[:TERMS])
    return Question(
        text=text,
        core=asks,
        terms=terms,
        order=[term for _, term in pairs if term in terms],
        names=[name for name in _names(asks) if name in terms],
        words={term: run for run in reversed(runs(text)) for term in tokens(run)},
        total=sum(each.weight for each in terms.values()) or 1.0,
        total_gated=sum(each.gated for each in terms.values()) or 1.0,
    )


def _content(text: str) -> list[tuple[str, str]]:
    """(word, term) of what carries the question; filler and particles of Chinese and Korean are left out."""
    pairs: list[tuple[str, str]] = []
    common = find_common_words(text)
    for run in runs(text):
        if not is_cjk(run):
            pairs += [] if run.lower() in common else spellings(run)
        elif "\uac00" <= run[0] <= "\ud7a3":
            word = _strip_endings(run)
            if run not in _KOREAN_FILLER and word not in _KOREAN_FILLER:
                pairs += [(word, term) for term in tokens(word)]
        else:
            for word in _CJK_FILLER.split(run):
                if len(word) > 1 or word == run:
                    pairs += [(word, term) for term in tokens(word)]
    return pairs


def _strip_endings(word: str) -> str:
    """A Korean word without what hangs on it, as far as something is left."""
    for endings in (_ENDING, _PARTICLE):
        bare = endings.sub("", word)
        word = bare if len(bare) > 1 else word
    return word


def _near(pairs: list[tuple[str, str]], names: list[str], shelf: IndexReader) -> dict[str, str]:
    """For an unknown word, the only one that differs by one letter left out, doubled, swapped or wrong."""
    found: dict[str, str] = {}
    words = [(word, term) for word, term in dict.fromkeys(pairs) if len(word) >= TYPO_LETTERS and term not in names]
    words = [each for each in words if each[0].isascii() and each[0].isalpha() and not shelf.frequency(each[1])]
    for word, term in words[:TYPOS]:
        known = shelf.find_known({stem(edit) for edit in _edits(word)})
        known = [each for each in known if abs(len(each) - len(term)) <= 1]  # one slip may make another ending, too
        if len(known) == 1:
            found[term] = known[0]
    return found


def _edits(word: str) -> set[str]:
    """The words that begin with the same letter and are one slip away."""
    letters = "abcdefghijklmnopqrstuvwxyz"
    cuts = [(word[:i], word[i:]) for i in range(1, min(len(word), TYPO_LONGEST) + 1)]
    edits = {a + b[1:] for a, b in cuts if b} | {a + b[1] + b[0] + b[2:] for a, b in cuts if len(b) > 1}
    edits |= {a + c + b for a, b in cuts for c in letters}
    if len(word) >= SUBSTITUTED_LETTERS:
        edits |= {a + c + b[1:] for a, b in cuts if b for c in letters}
    return edits


def _names(text: str) -> list[str]:
    found: dict[str, None] = {}
    for match in _NAME.finditer(text):
        for word in runs(match.group()):
            low = word.lower()
            if low not in STOP and low not in EVERYDAY and not is_cjk(low):
                found.update(dict.fromkeys(term for term in tokens(low) if len(term) > 1))
    return sorted(found)
