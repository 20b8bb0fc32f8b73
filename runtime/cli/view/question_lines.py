"""What a run asks of the person behind its ticket, as lines. Pure."""

from collections.abc import Iterator

from actors.text.catalogue import say
from actors.workflow.outcome import Outcome
from actors.workflow.user_input import Question
from runtime.cli.view.printing import Line
from runtime.program import command
from runtime.user_text import safe


def describe_questions(outcome: Outcome) -> Iterator[Line]:
    """The questions of an outcome, numbered, and the command that answers them; nothing when there are none."""
    if not outcome.questions:
        return
    yield Line("")
    if outcome.status != "needs_input":
        yield Line(say("still_missing", outcome.language), "strong")
    for number, each in enumerate(outcome.questions, 1):
        yield Line(f"{number}. {each.name}: {each.ask}", indent=2)
        if hint := describe_form(each, outcome.language):
            yield Line(hint, "faint", 5)
    if outcome.status == "needs_input":
        answers = command(f"answer {safe(outcome.ticket)}")
        yield Line(say("answer_them", outcome.language, command=answers), "strong")


def describe_form(question: Question, language: str) -> str:
    """What an answer looks like, as far as the question says."""
    parts = (
        say("question_choices", language, choices=", ".join(question.choices)) if question.choices else "",
        say("question_example", language, example=question.example) if question.example else "",
        say("question_optional", language) if question.optional else "",
    )
    return "; ".join(filter(None, parts))
