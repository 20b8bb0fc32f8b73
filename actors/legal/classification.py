"""What a legal question asks for, of which fields of law it is, and what it names: by rules alone. Pure."""

import math
from collections.abc import Mapping

import msgspec

from actors.legal.intent_rules import (
    INTENTS,
    DomainRules,
    EntityKind,
    Intent,
    LanguageRules,
    SearchedText,
    load_rules,
)
from actors.text.languages import guess_language

__all__ = ["SURE", "Classification", "Domain", "Entity", "classify"]

SURE = 0.85
"""From this confidence on no model is asked."""
HEAD, TAIL = 600, 400
"""Characters of a long text that are looked at: what is asked stands at its beginning or at its end."""
LIKELY = 0.5
"""A domain is named from this confidence on."""
MOST_ENTITIES = 40
MOST_CHARACTERS = 80
"""Of an entity."""
MOST_CONFIDENCE = 0.99
"""No rule knows more."""


class Entity(msgspec.Struct, frozen=True):
    """What a text names, in its own words."""

    kind: EntityKind
    text: str


class Domain(msgspec.Struct, frozen=True):
    """A field of law that a text is about."""

    name: str
    category: str
    """The part of it that fits best, such as `family_law` in civil law."""
    confidence: float


class Classification(msgspec.Struct, frozen=True):
    """What the rules make of a text. Below `SURE` it is their best guess, and a model should be asked."""

    intent: Intent
    category: str
    """Of the first domain; empty when it is about no law."""
    confidence: float
    """That the intent is right: 0 to 1."""
    entities: tuple[Entity, ...]
    domains: tuple[Domain, ...]
    """All that are likely, the likeliest first."""

    @property
    def is_sure(self) -> bool:
        """Whether the rules decide it without a model."""
        return self.confidence >= SURE


def classify(text: str, language: str = "") -> Classification:
    """
    The intent of a text with an honest confidence, its fields of law, and what it names.

    :param language: ISO 639-1 code of the text's language; empty: it is guessed.
    """
    seen = text if len(text) <= HEAD + TAIL else f"{text[:HEAD]}\n{text[-TAIL:]}"
    rules = load_rules(language or guess_language(seen))
    scores = _score_intents(seen, rules)
    intent = max(INTENTS, key=lambda each: scores[each])
    domains = () if intent == "general_chat" else _find_domains(seen, rules)
    return Classification(
        intent=intent,
        category=domains[0].category if domains else "",
        confidence=_weigh(scores, intent),
        entities=_find_entities(seen, rules),
        domains=domains,
    )


def _score_intents(text: str, rules: LanguageRules) -> dict[Intent, float]:
    scores = dict(rules.start)
    read = SearchedText(text.strip())
    for rule in rules.rules:
        if rule.fits(read):
            scores[rule.intent] += rule.weight
    return scores


def _weigh(scores: Mapping[Intent, float], intent: Intent) -> float:
    """The share of one intent, when scores are log odds."""
    best = scores[intent]
    share = 1 / sum(math.exp(each - best) for each in scores.values())
    return round(min(MOST_CONFIDENCE, share), 3)


def _find_domains(text: str, rules: LanguageRules) -> tuple[Domain, ...]:
    found = [_judge_domain(text, each) for each in rules.domains if not each.yields]
    is_special = any(each.confidence >= LIKELY for each in found)
    found += [_judge_domain(text, each, each.yields * is_special) for each in rules.domains if each.yields]
    found.sort(key=lambda each: -each.confidence)
    likely = [each for each in found if each.confidence >= LIKELY]
    return tuple(likely or found[:1])


def _judge_domain(text: str, domain: DomainRules, besides: float = 0.0) -> Domain:
    fitting = [each for each in domain.topics if each.fits(text)]
    score = domain.start + besides + sum(each.weight for each in fitting)
    score += sum(each.weight for each in domain.against if each.fits(text))
    category = max(fitting, key=lambda each: each.weight).category if fitting else domain.category
    confidence = round(min(MOST_CONFIDENCE, 1 / (1 + math.exp(-score))), 3)
    return Domain(domain.name, category, confidence)


def _find_entities(text: str, rules: LanguageRules) -> tuple[Entity, ...]:
    places = [
        (match.start(), -match.end(), Entity(kind, match[0][:MOST_CHARACTERS].strip()))
        for kind, pattern in rules.entities.items()
        for match in pattern.finditer(text)
    ]
    places.sort(key=lambda each: each[:2])
    found, free = dict[Entity, None](), 0
    for begin, negative_end, entity in places:
        if begin >= free:  # a contract within the name of a law is no document
            found[entity] = None
            free = -negative_end
    return tuple(found)[:MOST_ENTITIES]
