"""What a ticket asks is told from what it only tells."""

import pytest

from actors.text.tokenizer import tokens
from runtime.knowledge.query.query_focus import core

DOCUMENTS = (
    "my vpn disconnects often; connect a printer or a phone; the account is locked; session key expires; error code"
)
KNOWN = frozenset(tokens(DOCUMENTS))


@pytest.mark.parametrize(
    ("text", "kept", "dropped"),
    [
        ("My vpn disconnects, my colleague Jens has it too. What can we do?", "disconnects", "Jens"),
        ("I was in Oslo last week. How do I connect a printer?", "printer", "Oslo"),
        ("How do I connect a printer for Mr. Tanaka?", "printer", "Tanaka"),
        ("Is the printer locked (the one of Acme GmbH)?", "locked", "Acme"),
        ("How do I connect my phone on a trip to Rome?", "phone", "Rome"),
    ],
)
def test_what_is_only_told_is_left_out(text: str, kept: str, dropped: str) -> None:
    asked = core(text, KNOWN.__contains__)

    assert kept in asked
    assert dropped not in asked


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("How do I connect a printer in Excel?", "Excel"),
        ("My Windows account is locked. How do I get it back?", "Windows"),
        ("The telescope hangs, how do I restart it?", "telescope"),
        ("My Outlook calendar does not sync with my phone.", "Outlook"),
        ("", ""),
    ],
)
def test_what_is_asked_about_is_kept(text: str, word: str) -> None:
    assert word in core(text, KNOWN.__contains__)
