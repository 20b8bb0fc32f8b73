"""A follow-up is looked for by its own words, and is not answered by what the customer has been told."""

import pytest

from actors.drafting.drafts import Draft, Excerpts
from actors.evidence.claims import Citation, Resolution
from actors.helpdesk.extractive_answers import analyze
from actors.helpdesk.output_schemas import AnalysisRequest
from actors.helpdesk.triage import add_context, question
from actors.helpdesk.worker import is_told
from actors.ports import ModelRequest
from actors.workflow.tables import NEXT_MESSAGE, EarlierMessage

QUOTE = "Set the *keep-alive* to 30 seconds."
BEFORE = (
    EarlierMessage("customer", "", "VPN drops\n\nHello, my VPN drops every hour. I use the router in the hall."),
    EarlierMessage("terminus", "", "The closest:\n\n[1] VPN > Drops\nSet the *keep-alive*\nto 30 seconds."),
)


@pytest.mark.parametrize(
    ("text", "looked_for"),
    [
        ("How long is the warranty of the printer?", "How long is the warranty of the printer?"),
        ("And on a Mac?", "VPN drops\n\nAnd on a Mac?"),
        ("Does it need a restart afterwards, or a new licence?",
         "VPN drops\n\nDoes it need a restart afterwards, or a new licence?"),
        ("Thank you, that helped. Which code does my phone ask for?",
         "Thank you, that helped. Which code does my phone ask for?"),
        ("It drops still. What now?", "VPN drops\n\nIt drops still. What now?"),
        ("Wie lange gilt die Garantie des Druckers?", "Wie lange gilt die Garantie des Druckers?"),
    ],
)  # fmt: skip
def test_a_follow_up_that_says_little_is_looked_for_with_the_first_subject(text: str, looked_for: str) -> None:
    assert add_context(text, BEFORE) == looked_for
    assert add_context(text, ()) == text
    analysis = analyze(ModelRequest(agent="ticketing", instructions="", material=AnalysisRequest(text, (), BEFORE)))
    assert analysis.value.question == looked_for


def test_of_messages_that_are_one_question_each_is_read_without_its_greeting_and_signature() -> None:
    first = "Hello,\nmy VPN drops.\n\nBest regards\nAnn"
    asked = question(NEXT_MESSAGE.join((first, "Hi,\nit says error 809.\n\nThanks\nAnn", "Thanks in advance!")))

    assert asked == "my VPN drops.\n\nit says error 809."


def test_what_the_customer_was_told_is_no_answer_to_a_follow_up() -> None:
    cited = Citation(1, "kb/vpn.md", "VPN", "VPN > Drops", QUOTE, 0, len(QUOTE))
    other = Citation(2, "kb/vpn.md", "VPN", "VPN > Mac", "On a Mac it stands elsewhere.", 0, 29)
    quoted = Resolution(f"Other words:\n\n[1] VPN › Drops\n{QUOTE}", (cited,))

    assert is_told(quoted, Excerpts(()), BEFORE)
    assert not is_told(quoted, Excerpts(()), BEFORE[:1]), "the customer's own words tell nothing"
    assert not is_told(quoted, Excerpts(()), ())
    assert not is_told(Resolution("Both.", (cited, other)), Excerpts(()), BEFORE)
    assert is_told(Resolution("Set the *keep-alive* to 30 seconds.", (cited,)), Draft(), BEFORE)
    assert not is_told(Resolution("Set the keep-alive to 60 seconds. [1]", (cited,)), Draft(), BEFORE)
