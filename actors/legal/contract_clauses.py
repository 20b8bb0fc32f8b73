"""A contract taken apart: its clauses, what each of them settles, and what it does not say. Pure."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from actors.evidence.passages import TICKET_SOURCE, NamedDocument, Passage
from actors.legal.contract_terms import ArticleRule, ContractTerms, Kind, Part, load_terms
from actors.text.catalogue import say

FEWEST = 2
"""One numbered line makes no contract."""
CLAUSES = 60
CLAUSE_CHARACTERS = 1500
ARTICLES = 4
"""So many are shown for one clause."""


class Clause(NamedTuple):
    label: str
    """As the contract numbers it: 第三条."""
    text: str
    """With its label, at most `CLAUSE_CHARACTERS`."""
    start: int
    """Where it begins in the text that it came in."""


class Contract(NamedTuple):
    """A contract as it was read."""

    kind: Kind
    clauses: tuple[Clause, ...]
    missing: tuple[Part, ...]
    """What contracts of its kind should settle and it does not."""
    more: int
    """Clauses beyond those that are looked at."""
    language: str
    document: NamedDocument | None = None
    """Where it stands; None: in the ticket."""


def read_contract(text: str, language: str, document: NamedDocument | None = None) -> Contract | None:
    """
    The contract that stands in a text, in numbered clauses; None: there is none.

    :param document: whose text it is; None: of the ticket.
    """
    terms = load_terms(language)
    found = list(_split(text, terms))
    if len(found) < FEWEST:
        return None
    kind = terms.find_kind(text)
    missing = tuple(each for each in kind.needs if not each.any.search(text))
    return Contract(kind, tuple(found[:CLAUSES]), missing, max(0, len(found) - CLAUSES), language, document)


def _split(text: str, terms: ContractTerms) -> Iterator[Clause]:
    """Its clauses, by the first way to number them that it uses twice."""
    for pattern in terms.clause:
        begins = list(pattern.finditer(text))
        if len(begins) >= FEWEST:
            ends = [each.start() for each in begins[1:]] + [len(text)]
            for begin, end in zip(begins, ends, strict=True):
                whole = text[begin.start() : end]
                start = begin.start() + len(whole) - len(whole.lstrip())
                yield Clause(begin[0].strip(), whole.strip()[:CLAUSE_CHARACTERS], start)
            return


def find_articles(clause: Clause, contract: Contract) -> tuple[ArticleRule, ...]:
    """The articles that bear on what a clause settles, those on what it says most of first."""
    parts = [(len(set(each.any.findall(clause.text))), each) for each in load_terms(contract.language).parts]
    parts.sort(key=lambda each: -each[0])
    rules = (rule for count, part in parts if count for rule in contract.kind.parts.get(part.name, part.articles))
    return tuple(dict.fromkeys(rules))[:ARTICLES]


def list_articles(contract: Contract) -> tuple[ArticleRule, ...]:
    """All that are to be looked up: what requires the parts of such a contract, then what bears on its clauses."""
    bearing = (rule for clause in contract.clauses for rule in find_articles(clause, contract))
    return tuple(dict.fromkeys([*contract.kind.articles, *bearing]))


def show_clauses(contract: Contract) -> tuple[Passage, ...]:
    """The clauses as passages."""
    title, source = say("review_contract", contract.language), TICKET_SOURCE
    if contract.document is not None:
        title, source = contract.document.title, contract.document.source
    return tuple(
        Passage(f"{source}#{n}", source, title, each.label, each.text, each.start, each.start + len(each.text))
        for n, each in enumerate(contract.clauses, 1)
    )


def match_articles(rules: Sequence[ArticleRule], found: Sequence[Passage]) -> dict[ArticleRule, Passage]:
    """Of the articles that were looked up those that say what they should."""
    by_name = {each.title: each for each in found}
    pairs = ((rule, by_name.get(rule.citation)) for rule in rules)
    return {rule: passage for rule, passage in pairs if passage is not None and rule.says in passage.text}
