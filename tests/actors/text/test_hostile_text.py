"""The pure rules over text that is made to be slow: each must be done before another ticket would notice."""

import time
from collections.abc import Callable

import pytest

from actors.evidence import result_scoring, summarize
from actors.evidence.dedup import sketch_of
from actors.evidence.entities import entities
from actors.evidence.facts import facts
from actors.evidence.sources import SearchResult, Statement
from actors.helpdesk import triage
from actors.helpdesk.summarization import is_supported
from actors.reporting import document, links, markdown, mermaid
from actors.reporting.measures import find_years
from actors.reporting.report import ReportSentence
from actors.research import comparison, follow_ups, learnings, planning, product, searcher
from actors.research.output_schemas import PlanRequest
from actors.text import source_text, urls
from actors.text.keywords import keywords
from actors.text.languages import guess_language
from actors.text.markdown_blocks import segments
from actors.text.normalize import normalize, sanitize_markdown, unescape_markdown
from actors.text.urls import key_of
from tests.fakes import ROSTER

SIZE = 250_000
STATEMENT = 50_000
"""Of one: no model's may be longer, by far."""
CPU_SECONDS = 6.0
"""Several times what the slowest of them needs on a slow machine, far below anything quadratic: that takes minutes."""

SHAPES = {
    "one word": "a" * SIZE,
    "hyphens": "a-" * (SIZE // 2),
    "version": "0." * (SIZE // 2),
    "digits": "7" * SIZE,
    "path": "/a" * (SIZE // 2),
    "mail": "a@" * (SIZE // 2),
    "dots": "." * SIZE,
    "underscores": "a_" * (SIZE // 2),
    "blanks": " " * SIZE,
    "lines": "\n" * SIZE,
    "questions": "?" * SIZE,
    "sentences": "A. " * (SIZE // 3),
    "brackets": "(" * SIZE,
    "ticks": "`" * SIZE,
    "thanks": "thanks, " * (SIZE // 8),
    "quotes": "> " * (SIZE // 2),
    "hangul": "\uac00" * SIZE,
    "han": "\u4e00\u3002" * (SIZE // 2),
    "marks": "\u0301" * SIZE,
}
RULES: dict[str, Callable[[str], object]] = {
    "facts": facts,
    "fold": normalize,
    "shown": sanitize_markdown,
    "unescaped": unescape_markdown,
    "borne_out": lambda text: is_supported(text[1:] + " 7", text),
    "question": triage.question,
    "intent": lambda text: triage.intent(text, ROSTER.intents),
    "urgency": triage.urgency,
    "language": guess_language,
}


LONG = 30_000
"""Half as much again as is kept of a page: what is quadratic takes many seconds for it."""
PAGES = {
    name: (unit * (LONG // len(unit) + 1))[:LONG]
    for name, unit in {
        "letters": "A", "words": "A ", "mixed": "aB", "foreign": "Be\u0301\u00e9", "links": "[a](", "strong": "**a ",
        "images": "![a](b) ", "stars": "*a", "code": "`a``b", "cells": "| a ", "rows": "| a | b |\n", "tags": "<a ",
        "headings": "# a\n", "items": "- a\n", "numbers": "1. a\n", "fences": "```\n", "lines": "- - ",
        "years": "in 2020, ", "versus": "A vs ", "rivals": "alternatives to A, and ", "built": "built with A and ",
        "slashes": "/../", "escapes": "%41&\\", "numbered": "[1, ", "directions": "\u202e\u200d", "dots": ".",
        "ask": "what a? and how b? ", "differ": "difference between a and ", "paragraphs": "a\n\n", "figures": "7",
        "indented": "    a\n", "breaks": "\r\x0b\u2028", "initials": "A. ",
    }.items()
} | {"late": " " * LONG + "x", "later": "\n" * LONG + "x", "apart": f"a{' ' * LONG}b"}  # fmt: skip


def result(text: str) -> SearchResult:
    return SearchResult("web", text, f"https://a.example/{text}", text, (text,), 0.5, text, text)


def said(text: str) -> Statement:
    return Statement(text, text, "a#1", "a")


RESEARCH: dict[str, Callable[[str], object]] = {
    "key": lambda text: key_of(f"http://a.example/{text}"),
    "sketch": sketch_of,
    "address": lambda text: (urls.web_address(text), links.link(text), links.publisher(f"https://{text}", "en")),
    "quality": lambda text: result_scoring.score_results((result(text),), text, prior=0.6),
    "essential": lambda text: summarize.essential(text, "What is a?"),
    "key points": lambda text: summarize.key_points(text, "What is a?"),
    "results": lambda text: searcher.results((result(text),) * 51),
    "segments": lambda text: list(segments(text)),
    "entities": entities,
    "list_questions": planning.list_questions,
    "keywords": keywords,
    "find_compared": comparison.find_compared,
    "plan": lambda text: planning.draft_plan(PlanRequest(question=text, breadth=5, open=(text,), shortfall=text)),
    "led": lambda text: planning.draft_plan(
        PlanRequest(question=text, breadth=5, direction=text, open=(text, "a"), learnings=(text, f"x {text}"))
    ),
    "direction": lambda text: follow_ups.limit((text,), (), ()),
    "tasks": lambda text: (product.find_parts(text), product.guess_names(text)),
    "learnings": lambda text: learnings.remove_repeats(
        (said(text[:STATEMENT]), said(f"{text[:STATEMENT]}y")), (said(f"{text[:STATEMENT]}x"),)
    ),
    "years": lambda text: list(find_years(text)),
    "label": mermaid.label,
    "moment": document.when,
    "prose": source_text.pieces,
    "escaped": markdown.escape,
    "line": lambda text: markdown._sentence_blocks(ReportSentence(text, (1,), text, text)),
}


@pytest.mark.parametrize("rule", RESEARCH)
def test_no_page_is_slow_for_the_rules_of_research(rule: str) -> None:
    slow = {}
    for shape, text in PAGES.items():
        began = time.process_time()
        RESEARCH[rule](text)
        if (took := time.process_time() - began) > CPU_SECONDS:
            slow[shape] = took

    assert slow == {}


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("shape", SHAPES)
def test_no_text_is_slow(rule: str, shape: str) -> None:
    began = time.process_time()

    RULES[rule](SHAPES[shape])

    assert time.process_time() - began < CPU_SECONDS
