"""The review of a contract: clause by clause what bears on it, what is risky about it, and what the contract lacks."""

from collections.abc import Awaitable, Callable, Collection, Iterator, Sequence

from actors.evidence.claims import Claim, Resolution, relabel
from actors.evidence.passages import STATUTE, Passage, SearchHits
from actors.legal.answer_form import AnswerForm, CitedClaims, mark
from actors.legal.contract_clauses import (
    Clause,
    Contract,
    find_articles,
    list_articles,
    match_articles,
    read_contract,
    show_clauses,
)
from actors.legal.contract_terms import ArticleRule, load_terms
from actors.legal.opinion import render_sources
from actors.legal.output_schemas import ReviewDraft, ReviewRequest, UnjudgedClauses
from actors.ports import Documents, PortFailed
from actors.text.catalogue import say
from actors.text.normalize import sanitize_phrase
from actors.text.truncate import shorten

RISKS = 40
LOOK_UPS = 30
"""Articles that are looked up at once."""
FIRST_WORDS = 60
"""Characters by which a clause is known again."""

LookUp = Callable[[str], Awaitable[SearchHits]]
"""Of articles by their names; raises `PortFailed`."""


async def plan_review(
    question: str, language: str, context: str, look_up: LookUp | None, documents: Documents, within: float
) -> AnswerForm | None:
    """
    The review of the contract that stands in a question, or in the document that it names; None: there is none.

    :param look_up: None: no statutes can be asked.
    :param within: seconds that finding the document may take.
    """
    contract = read_contract(question, language) or await _read_named_contract(question, language, documents, within)
    if contract is None:
        return None
    rules = list_articles(contract)[:LOOK_UPS]
    found: tuple[Passage, ...] = ()
    if rules and look_up is not None:
        try:
            found = (await look_up("、".join(each.citation for each in rules))).passages
        except PortFailed:
            found = ()
    clauses, articles = show_clauses(contract), match_articles(rules, found)

    def render(draft: ReviewDraft, shown: Sequence[Passage], refused: Collection[str]) -> tuple[Resolution | None, int]:
        cited = CitedClaims(shown, question, refused)
        return Review(draft, contract, articles, shown, cited).render(), cited.lost

    passages = (*clauses, *dict.fromkeys(articles.values()))
    asked = question if contract.document else question[: contract.clauses[0].start]
    material = ReviewRequest(asked, contract.kind.title, len(clauses), context)
    return AnswerForm(ReviewDraft, material, passages, (), list_claims, render)


async def _read_named_contract(question: str, language: str, documents: Documents, within: float) -> Contract | None:
    """A contract that cannot be read is none: the question is answered without it."""
    try:
        document = await documents.find_named(question, within=within)
    except PortFailed:
        return None
    return read_contract(document.text, language, document) if document else None


def list_claims(draft: ReviewDraft) -> tuple[Claim, ...]:
    return tuple(claim for each in draft.risks[:RISKS] for claim in (each.says, each.rule))


class Review:
    """A review in the making."""

    def __init__(
        self, draft: ReviewDraft, contract: Contract, articles: dict[ArticleRule, Passage], shown: Sequence[Passage],
        cited: CitedClaims,
    ) -> None:  # fmt: skip
        """:param shown: the clauses, then the articles that were looked up, then those that a model found."""
        self._draft, self._contract, self._articles = draft, contract, articles
        self._shown, self._cited, self._language = shown, cited, contract.language
        self._numbers = {each.id: number for number, each in enumerate(shown, 1)}

    def render(self) -> Resolution:
        """Risks with the words of clause and article, else what bears on each clause; then what is missing."""
        contract = self._contract
        parts = [say("review_lead", self._language, kind=contract.kind.title, count=len(contract.clauses))]
        if contract.document is not None:
            parts.insert(0, sanitize_phrase(f"{contract.document.title} ({contract.document.source})"))
        if isinstance(self._draft, UnjudgedClauses):
            parts += [say("review_unjudged", self._language), *self._list_clauses()]
        else:
            parts += list(self._list_risks()) or [say("review_no_risk", self._language)]
            parts += self._list_watched()
        parts += self._list_missing()
        if contract.more:
            parts.append(say("review_more", self._language, count=contract.more))
        laws = [each for each in self._cited.citations if each.source.startswith(STATUTE)]
        if laws:
            parts.append(render_sources(laws, self._language))
        return Resolution("\n\n".join(parts), self._cited.citations)

    def _list_risks(self) -> Iterator[str]:
        clauses = self._contract.clauses
        order = {"high": 0, "medium": 1, "low": 2}
        for each in sorted(self._draft.risks[:RISKS], key=lambda each: (order[each.risk], each.says.passage)):
            article = relabel(each.rule, self._shown)
            if not 1 <= each.says.passage <= len(clauses) or not self._is_article(article):
                self._cited.lost += 1
                continue
            if shown := self._cited.show_together(each.says, article):
                says, rule = map(mark, shown)
                risk = say(f"risk_{each.risk}", self._language)
                head = say("review_risk", self._language, clause=clauses[each.says.passage - 1].label, risk=risk)
                yield "\n".join([head, say("review_says", self._language, text=says),
                                 say("review_rule", self._language, text=rule)])  # fmt: skip

    def _is_article(self, rule: Claim) -> bool:
        return 1 <= rule.passage <= len(self._shown) and self._shown[rule.passage - 1].source.startswith(STATUTE)

    def _list_clauses(self) -> Iterator[str]:
        bare = []
        for clause in self._contract.clauses:
            if lines := [*self._list_bearing(clause), *self._watch(clause)]:
                yield _head(clause, lines)
            else:
                bare.append(clause.label)
        if bare:
            yield say("review_bare", self._language, clauses=say("joined_by", self._language).join(bare))

    def _list_watched(self) -> list[str]:
        clauses = self._contract.clauses
        return [_head(each, [*self._list_bearing(each), *lines]) for each in clauses if (lines := self._watch(each))]

    def _list_bearing(self, clause: Clause) -> list[str]:
        named = self._name_articles(find_articles(clause, self._contract))
        return [say("review_bears", self._language, articles=named)] if named else []

    def _watch(self, clause: Clause) -> list[str]:
        found = dict.fromkeys(each[0] for each in load_terms(self._language).watch.finditer(clause.text))
        words = say("joined_by", self._language).join(sanitize_phrase(each) for each in found)
        return [say("review_watch", self._language, words=words)] if found else []

    def _list_missing(self) -> list[str]:
        if not self._contract.missing:
            return []
        titles = say("joined_by", self._language).join(each.title for each in self._contract.missing)
        named = self._name_articles(self._contract.kind.articles)
        said = say("review_missing", self._language, parts=titles)
        return [f"{said}\n{say('review_bears', self._language, articles=named)}" if named else said]

    def _name_articles(self, rules: Sequence[ArticleRule]) -> str:
        """Those that the statutes have, each with its number."""
        found = [self._articles[each] for each in rules if each in self._articles]
        marks = (
            f"{each.title} [{self._cited.cite(Claim(each.text, self._numbers[each.id], each.text))}]" for each in found
        )
        return say("joined_by", self._language).join(marks)


def _head(clause: Clause, lines: Sequence[str]) -> str:
    """What is said of a clause, below its first words."""
    return "\n".join([sanitize_phrase(shorten(clause.text, FIRST_WORDS)), *lines])
