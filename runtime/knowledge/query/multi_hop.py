"""Questions that no one document answers: what the question and the best passages name is found and ranked, too."""

import math
from collections.abc import Collection, Iterable
from weakref import WeakKeyDictionary

import msgspec

from actors.text.stop_words import EVERYDAY, STOP
from actors.text.tokenizer import is_cjk, runs, tokens
from actors.text.word_patterns import compile_words
from runtime.knowledge.index.index_reader import IndexReader, Stored
from runtime.knowledge.index.index_writer import StoredUnit
from runtime.knowledge.query.analyze import Question
from runtime.knowledge.query.ranking import Page, rank, rank_pages

TITLES = 200_000
"""So many titles are known by name,"""
TITLE_CHARACTERS = 120
"""none of them longer than this."""
NAME_LETTERS = 4
"""A name of one word has so many letters."""
READ_WORDS = 1000
"""So much of a text is searched for names,"""
NAMED_IN_A_TEXT = 24
"""and so many are taken from it."""
SEEDS, SEED_PASSAGES = 5, 2
"""The best documents, and of each the best passages, whose names are followed."""

UNMATCHED = 0.2
"""Share of the best score for a document that has nothing but its name."""
IN_QUESTION, SHORT_NAME, FULL_NAME_WORDS = 1.0, 0.5, 3
"""A name in the question counts for as much as the best score; one of fewer words for less, down to a share."""
ANY_WORD = 1.5
"""In nats: so much a word of a name tells, however frequent it is."""
LINKED, FADING = 0.8, 0.15
"""What a document gets of the score of the one that names it, and how much less with each rank of that one."""
NAMING, NAMED_BY = 0.5, 12
"""What a document gets of the score of the one that it names; of one that more passages name than this, nothing."""

DOCUMENTS, PASSAGES = 4, 3
"""The documents, and of each the passages, whose sentences are weighed."""
IN_TITLE, OPENING, OF_DOCUMENT, NAMES = 0.5, 0.25, 0.9, 0.35
"""
What counts beside the share of the question that a sentence says: what only its title says, that it is the first,
the rank of its document, and that it names another of the documents found.
"""

_BRACKETS = compile_words(r"\s*\([^()]*\)\s*$")


class Quoted(msgspec.Struct, frozen=True, gc=False):
    """A sentence of a passage with its score."""

    passage: Stored
    unit: StoredUnit
    score: float


class Name(msgspec.Struct, frozen=True, gc=False):
    """A name as it stands in a text."""

    words: list[str]
    bearers: int
    """So many documents are called so."""

    def telling(self, shelf: IndexReader) -> float:
        """
        How far it tells which document is meant: less when several bear it, or when its words are frequent.

        It is none by chance when its words, were they independent, stood together in no passage.
        """
        rarities = (max(map(shelf.rarity, tokens(word)), default=0.0) for word in self.words)
        mass = sum(max(ANY_WORD, each) for each in rarities)
        return min(1.0, mass / math.log(2 + shelf.passages)) / math.sqrt(self.bearers)


class Titles:
    """The titles of an index, to be found in texts. Without what stands in brackets or behind a comma, too."""

    def __init__(self, titles: Iterable[tuple[int, str]]) -> None:
        self._documents: dict[str, list[int]] = {}
        self._written: dict[int, str] = {}
        """By document: its title without what stands in brackets or behind a comma."""
        self._longest: dict[str, int] = {}
        """For the first word of names the words of the longest one."""
        for document, title in titles:
            short = title[:TITLE_CHARACTERS]
            bare = _BRACKETS.sub("", short)
            self._written[document] = bare.partition(",")[0]
            for name in dict.fromkeys((short, bare, short.partition(",")[0])):
                words = [word.lower() for word in _words(name)]
                if not words or len("".join(words)) < 2:
                    continue
                known = self._documents.setdefault(" ".join(words), [])
                if document not in known:
                    known.append(document)
                self._longest[words[0]] = max(self._longest.get(words[0], 0), len(words))

    def name_of(self, document: int) -> "tuple[str, Name] | None":
        """How other documents would name this one, as it is written and as a name; None if its title is no name."""
        written = self._written.get(document, "")
        words = _words(written)
        low = [word.lower() for word in words]
        if not words or not _like_a_name(words[0]) or (len(words) == 1 and not _name(low[0])):
            return None
        return written, Name(low, len(self._documents.get(" ".join(low), ())) or 1)

    def find_names(self, text: str) -> dict[int, "Name"]:
        """The documents whose names stand in a text, with the name; the longest name counts."""
        words = _words(text)[:READ_WORDS]
        low = [word.lower() for word in words]
        found: dict[int, Name] = {}
        i = 0
        while i < len(words) and len(found) < NAMED_IN_A_TEXT:
            step = 1
            longest = self._longest.get(low[i], 0)
            if longest and _like_a_name(words[i]):
                for n in range(min(longest, len(words) - i), 0, -1):
                    documents = self._documents.get(" ".join(low[i : i + n]))
                    if documents and (n > 1 or _name(low[i])):
                        name = Name(low[i : i + n], len(documents))
                        for document in documents[: NAMED_IN_A_TEXT - len(found)]:
                            found.setdefault(document, name)
                        step = n
                        break
            i += step
        return found


def _words(text: str) -> list[str]:
    """The words of a text as written; where no spaces part them, its characters."""
    words = runs(text.replace("'", " ").replace("’", " "))
    return [word for run in words for word in (run if not run.isascii() and is_cjk(run) else (run,))]


def _like_a_name(word: str) -> bool:
    """Whether a word is written as names begin."""
    return word[0].isupper() or word[0].isdigit() or is_cjk(word)


def _name(word: str) -> bool:
    """Whether a word alone may be a name."""
    return len(word) >= NAME_LETTERS and word not in EVERYDAY and word not in STOP


_titles: WeakKeyDictionary[IndexReader, tuple[int, Titles]] = WeakKeyDictionary()


def titles_of(shelf: IndexReader) -> Titles:
    """The titles of an index, read again when somebody has written."""
    known = _titles.get(shelf)
    if known is None or known[0] != shelf.version:
        known = shelf.version, Titles(shelf.titles(TITLES))
        _titles[shelf] = known
    return known[1]


class Trail(msgspec.Struct, frozen=True, gc=False):
    """Where following names has led."""

    pages: list[Page]
    """Those that were found, and those that the question and the best of them name; best first."""
    chain: list[Page]
    """The pages among the best ones that the question names, and those that these name; empty if it names none."""


def follow(
    shelf: IndexReader, question: Question, pages: list[Page], documents: Collection[int] | None = None
) -> Trail:
    """Follow the names in a question, and in the best pages that were found for it."""
    titles = titles_of(shelf)
    named = _restrict(titles.find_names(question.text), documents)
    found = {page.document: page for page in pages}
    _fetch(shelf, question, named, found)
    if not found:
        return Trail([], [])
    best = max((page.score for page in pages), default=0.0) or 1.0
    scores = {page.document: page.score / best for page in pages}
    for document, name in named.items():
        share = SHORT_NAME + (1 - SHORT_NAME) * min(len(name.words), FULL_NAME_WORDS) / FULL_NAME_WORDS
        scores[document] = scores.get(document, UNMATCHED) + IN_QUESTION * share * name.telling(shelf)
    linked: dict[int, float] = {}
    chained = set(named)
    for n, seed in enumerate(sorted(scores, key=lambda each: (-scores[each], each))[:SEEDS]):
        hits = found[seed].hits[:SEED_PASSAGES]
        text = "\n".join(passage.text for passage in shelf.load([hit.id for hit in hits]))
        links = _restrict(titles.find_names(text), documents)
        chained.update(links if seed in named else ())
        led = {each: LINKED * name.telling(shelf) for each, name in links.items()}
        for each, share in _naming(shelf, titles, found[seed], documents).items():
            led[each] = max(led.get(each, 0.0), share)
        for document, share in led.items():
            if document != seed:
                linked[document] = max(linked.get(document, 0.0), share * scores[seed] / (1 + FADING * n))
    _fetch(shelf, question, linked, found)
    for document, given in linked.items():
        scores[document] = scores.get(document, 0.0) + given
    ranked = [msgspec.structs.replace(page, score=scores[page.document] * best) for page in found.values()]
    ranked.sort(key=lambda page: (-page.score, page.hits[0].id))
    return Trail(ranked, [page for page in ranked[:DOCUMENTS] if page.document in chained])


def _naming(shelf: IndexReader, titles: Titles, page: Page, documents: Collection[int] | None) -> dict[int, float]:
    """The documents that name a page, with what each gets of its score: the less the more there are of them."""
    called = titles.name_of(page.document)
    by = shelf.saying(called[0], NAMED_BY + 1) if called else set()
    if called is None or len(by) > NAMED_BY:
        return {}
    by = {each for each in by if each != page.document and (documents is None or each in documents)}
    return {each: NAMING * called[1].telling(shelf) / math.sqrt(len(by)) for each in by}


def _restrict(named: dict[int, Name], documents: Collection[int] | None) -> dict[int, Name]:
    return named if documents is None else {each: name for each, name in named.items() if each in documents}


def _fetch(shelf: IndexReader, question: Question, documents: Iterable[int], found: dict[int, Page]) -> None:
    """Add the pages of documents that are not among those found: what bears on the question, or how they begin."""
    missing = [each for each in documents if each not in found]
    if not missing:
        return
    pages = rank(shelf, question, missing)
    silent = set(missing).difference(page.document for page in pages)
    for page in rank_pages(shelf, question, shelf.openings(silent)):
        hits = [msgspec.structs.replace(hit, score=UNMATCHED) for hit in page.hits]
        pages.append(msgspec.structs.replace(page, hits=hits))
    found.update((page.document, page) for page in pages)


def sentences(shelf: IndexReader, question: Question, pages: list[Page]) -> list[Quoted]:
    """The sentences of the best documents that bear most on the question, best first."""
    titles = titles_of(shelf)
    best = pages[0].score if pages else 1.0
    top = {page.document: page.score / best for page in pages[:DOCUMENTS]}
    found: list[tuple[float, int, Quoted]] = []
    for n, page in enumerate(pages[:DOCUMENTS]):
        for passage in shelf.load([hit.id for hit in page.hits[:PASSAGES]]):
            heading = question.matches(tokens(passage.title))
            words, at = passage.body_terms.split(), 0
            for i, unit in enumerate(passage.units):
                have = question.matches(words[at : at + unit.terms])
                at += unit.terms
                if unit.code:
                    continue
                full = {term: IN_TITLE * strength for term, strength in heading.items()} | have
                names = titles.find_names(passage.text[unit.start : unit.end])
                others = [top[each] for each in names if each != page.document and each in top]
                score = question.coverage(full) + OPENING * (i == 0 and passage.ordinal == 0)
                score += OF_DOCUMENT * top[page.document] + NAMES * max(others, default=0.0)
                found.append((-score, n, Quoted(passage, unit, score)))
    found.sort(key=lambda each: (each[0], each[1], each[2].passage.id, each[2].unit.start))
    return [quoted for _, _, quoted in found]
