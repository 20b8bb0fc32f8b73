"""What a legal question asks for, of which fields of law it is, and what it names: by rules alone. Pure."""

import math
import re
from collections.abc import Mapping, Sequence

import msgspec

from actors.legal.intent_rules import INTENTS, DomainRules, EntityKind, LanguageRules, SearchedText, load_rules
from actors.roster import Intent
from actors.text.languages import guess_language

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
_BETWEEN_CLAUSES = re.compile(r"[，。；？！、,;?!.\n]")


class Entity(msgspec.Struct, frozen=True):
    """What a text names, in its own words."""

    kind: EntityKind
    """"other": a model found it, and no rule knows what it is."""
    text: str


class Domain(msgspec.Struct, frozen=True):
    """A field of law that a text is about."""

    name: str
    category: str
    """The part of it that fits best, such as `family_law` in civil law."""
    confidence: float


class Classification(msgspec.Struct, frozen=True):
    """What the rules make of a text. Below `SURE` it is their best guess, and a model should be asked."""

    intent: str
    """One of `INTENTS`, or of an agent that a user has added."""
    category: str
    """Of the first domain, such as `labor_law`; empty when it is about no law."""
    confidence: float
    """That the intent is right: 0 to 1."""
    entities: tuple[Entity, ...]
    domains: tuple[Domain, ...]
    """All that are likely, the likeliest first."""

    @property
    def is_sure(self) -> bool:
        """Whether the rules decide it without a model."""
        return self.confidence >= SURE


def classify(text: str, language: str = "", own: Sequence[Intent] = ()) -> Classification:
    """
    The intent of a text with an honest confidence, its fields of law, and what it names.

    :param language: ISO 639-1 code of the text's language; empty: it is guessed.
    :param own: intents besides those that ship, each known by its own words.
    """
    seen = text if len(text) <= HEAD + TAIL else f"{text[:HEAD]}\n{text[-TAIL:]}"
    rules = load_rules(language or guess_language(seen))
    scores = _score_intents(seen, rules) | {each.name: each.weight for each in own if each.pattern.search(seen)}
    intent = max(scores, key=lambda each: scores[each])
    domains = () if intent == "general_chat" else _find_domains(seen, rules)
    return Classification(
        intent=intent,
        category=domains[0].category if domains else "",
        confidence=_weigh(scores, intent),
        entities=_find_entities(seen, rules),
        domains=domains,
    )


def add_model_reading(
    guess: Classification, text: str, language: str, intent: str, confidence: float, fields: Sequence[str],
    named: Sequence[str],
) -> Classification:  # fmt: skip
    """
    A classification as a model has it: what it says counts; of what it names only what stands in the text.

    :param fields: those of the text, the weightiest first; the rules say how sure they are where they found one, too.
    """
    rules, known = load_rules(language), {each.name: each for each in guess.domains}
    categories = {each.name: each.category for each in rules.domains}
    domains = tuple(
        known.get(name, Domain(name, categories[name], confidence))
        for name in dict.fromkeys(fields)
        if name in categories
    )
    entities = list(guess.entities)
    for each in (name.strip()[:MOST_CHARACTERS] for name in named):
        if each and each in text and not any(each in one.text for one in entities):
            kinds = (kind for kind, pattern in rules.entities.items() if pattern.fullmatch(each))
            entities.append(Entity(next(kinds, "other"), each))
    category = domains[0].category if domains else ""
    return Classification(intent, category, confidence, tuple(entities[:MOST_ENTITIES]), domains)


def _score_intents(text: str, rules: LanguageRules) -> dict[str, float]:
    scores: dict[str, float] = {each: rules.start[each] for each in INTENTS}
    read = SearchedText(text.strip())
    for rule in rules.rules:
        if rule.fits(read):
            scores[rule.intent] += rule.weight
    return scores


def _weigh(scores: Mapping[str, float], intent: str) -> float:
    """The share of one intent, when scores are log odds."""
    best = scores[intent]
    share = 1 / sum(math.exp(each - best) for each in scores.values())
    return round(min(MOST_CONFIDENCE, share), 3)


def _find_domains(text: str, rules: LanguageRules) -> tuple[Domain, ...]:
    special = [each for each in rules.domains if not each.yields]
    found = [_judge_domain(text, each) for each in special]
    is_special = any(each.confidence >= LIKELY for each in found)
    for each in rules.domains:
        if each.yields:
            yields = is_special and not _has_clause_of_its_own(text, each, special)
            found.append(_judge_domain(text, each, each.yields * yields))
    found.sort(key=lambda each: -each.confidence)
    likely = [each for each in found if each.confidence >= LIKELY]
    return tuple(likely or found[:1])


def _has_clause_of_its_own(text: str, domain: DomainRules, others: Sequence[DomainRules]) -> bool:
    """Whether a clause speaks of it alone: of 12 fresh questions of two fields 11 get both with it, 7 without."""
    besides = [*domain.against, *(topic for other in others for topic in other.topics)]
    return any(
        any(topic.fits(clause) for topic in domain.topics) and not any(topic.fits(clause) for topic in besides)
        for clause in _BETWEEN_CLAUSES.split(text)
    )


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
