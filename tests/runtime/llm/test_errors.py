"""What the server wants is understood, and what it says is shown without keys."""

import pytest

from runtime.llm.errors import _detail


@pytest.mark.parametrize(
    "body",
    [
        {"message": "Incorrect API key provided: sk-proj-AbCdEf123456."},
        {"error": {"message": "Incorrect API key provided: hunter2-own-form."}},
        "Bearer hunter2-own-form is not valid\n",
    ],
)
def test_a_key_that_the_server_repeats_is_not_shown(body: object) -> None:
    said = _detail(body, "hunter2-own-form")
    assert said
    assert "hunter2" not in said
    assert "AbCdEf" not in said
    assert "\n" not in said


def test_what_a_terminal_would_obey_is_not_passed_on() -> None:
    assert _detail({"message": "busy\x1b]0;owned\x07\u202e\r\nnow"}, "").isprintable()


def test_what_only_speaks_of_keys_stays() -> None:
    text = "Incorrect API key provided; unknown key max_completion_tokens; ask_for risk-assessment"
    assert _detail({"message": text}, "") == text


def test_what_is_no_message_is_not_shown() -> None:
    assert _detail({"message": {"deep": ["x"]}}, "") == ""
    assert _detail(None, "") == ""
    assert len(_detail("x" * 100_000, "")) <= 4000
