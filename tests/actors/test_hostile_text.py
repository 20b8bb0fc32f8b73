"""The pure rules over text that is made to be slow: each must be done before another ticket would notice."""

import time
from collections.abc import Callable

import pytest

from actors.facts import facts
from actors.folding import fold, shown
from actors.helpdesk.questions import questions
from actors.helpdesk.summarization import borne_out
from runtime.model import triage

SIZE = 250_000
CPU_SECONDS = 2.0
"""Far above what they need, far below what anything quadratic takes: that is minutes."""

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
    "fold": fold,
    "shown": shown,
    "questions": questions,
    "borne_out": lambda text: borne_out(text[1:] + " 7", text),
    "question": triage.question,
    "intent": triage.intent,
    "urgency": triage.urgency,
    "language": triage.language,
}


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("shape", SHAPES)
def test_no_text_is_slow(rule: str, shape: str) -> None:
    began = time.process_time()

    RULES[rule](SHAPES[shape])

    assert time.process_time() - began < CPU_SECONDS


def test_a_number_or_a_hyphen_inside_a_question_is_part_of_it() -> None:
    asked = questions(
        "1. How do I set up two-factor login? - Where is release 3.2 of the client? 2) What is 5. for me?"
    )

    assert asked[0] == "How do I set up two-factor login?"
    assert asked[1] == "Where is release 3.2 of the client?"
