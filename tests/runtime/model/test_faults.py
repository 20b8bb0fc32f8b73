"""What the server wants is understood, and what it says is shown without keys."""

import pytest

from runtime.model.faults import _detail, retry_after

TODAY = 1_795_000_000.0


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry-after": "7"}, 7.0),
        ({"retry-after": "0.5"}, 0.5),
        ({"retry-after-ms": "250", "retry-after": "9"}, 0.25),
        ({"retry-after-ms": "soon", "retry-after": "9"}, 9.0),
        ({"retry-after": "Wed, 18 Nov 2026 11:06:50 GMT"}, 10.0),
        ({"retry-after": "Wed, 18 Nov 2020 11:06:50 GMT"}, 0.0),
        ({"retry-after": "-3"}, None),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "inf"}, None),
        ({"retry-after": "tomorrow"}, None),
        ({}, None),
    ],
)
def test_retry_after_in_all_its_forms(headers: dict[str, str], seconds: float | None) -> None:
    assert retry_after(headers, TODAY) == seconds


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
