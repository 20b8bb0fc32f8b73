"""Which of the articles that words find fit a question: the rank of a law, its field, and what the best share. Pure."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from actors.statutes.articles import LawVersion
from actors.statutes.jurisdiction import Jurisdiction
from actors.text.tokenizer import is_cjk

FIELD = 0.5
"""How much more an article of a field counts that the question is surely of (bench.statutes: R@10 +.03)."""
OUTSIDE = 0.7
"""
What an article counts whose law is for a group that the question does not name, as women or ships (R@10 +.005). Without
it a man's dismissal found the law that protects women.
"""
SHORTLIST = 100
"""So many articles are ordered again by single characters, which say less than pairs do."""
BEST = 5
"""What so many of the best ones have in common says what is asked."""
SHARES = 0.6
"""
What an article gains that has most of the question's characters, and one that is most as the best ones are: R@10 of
STARD +.03. Chosen by one half of it, judged by the other (bench.statutes --half).
"""

Floats = NDArray[np.float64]


class Candidate(NamedTuple):
    """An article that words find."""

    law: LawVersion
    text: str
    score: float
    """How well its words fit, above 0."""


def score_articles(
    question: str, candidates: Sequence[Candidate], fields: Mapping[str, float], jurisdiction: Jurisdiction
) -> list[float]:
    """
    How well each article fits.

    :param fields: the fields of law that the question is of, each with how sure that is, 0 to 1.
    """
    outside = [
        names
        for names, said in jurisdiction.pair_groups()
        if not any(word in question for word in said)
    ]  # fmt: skip
    scores = np.array([each.score * _weigh(each.law, fields, outside, jurisdiction) for each in candidates])
    first = np.argsort(-scores, kind="stable")[:SHORTLIST]
    scores[first] = _compare(question, [candidates[place].text for place in first], scores[first])
    scored: list[float] = scores.tolist()
    return scored


def _weigh(
    law: LawVersion, fields: Mapping[str, float], outside: Sequence[Sequence[str]], jurisdiction: Jurisdiction
) -> float:
    its = 1 + FIELD * fields.get(jurisdiction.categories.get(law.category, ""), 0.0)
    groups = sum(any(word in law.name for word in names) for names in outside)
    return jurisdiction.weigh(law.name) * its * OUTSIDE**groups


def _compare(question: str, texts: Sequence[str], scores: Floats) -> Floats:
    """
    The scores of some articles by what they share with the question, and with the best of them.

    :param texts: of the articles, the best first.
    """
    columns = {letter: n for n, letter in enumerate(sorted(filter(is_cjk, {*"".join(texts)})))}
    has = np.zeros((len(texts), len(columns)))
    for row, text in enumerate(texts):
        has[row, [columns[letter] for letter in {*text} & columns.keys()]] = 1.0
    count = has.sum(axis=0)
    has *= np.log(1 + (len(texts) - count + 0.5) / (count + 0.5))
    asked = has[:, [columns[letter] for letter in {*question} & columns.keys()]].sum(axis=1)
    has /= np.maximum(np.linalg.norm(has, axis=1, keepdims=True), 1e-6)
    alike = has @ (scores[:BEST] @ has[:BEST])
    gains: Floats = sum((each / max(1e-6, each.max(initial=0.0)) for each in (asked, alike)), np.zeros(len(texts)))
    return scores * (1 + SHARES * gains)
