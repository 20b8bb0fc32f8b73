"""Looking for a form that a server takes ends, and goes the shortest way when the server says what it minds."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runtime.llm.errors import ANEW_SECONDS, ELSEWHERE, FIRST, OLD, Capabilities, ServerForms, simpler
from tests.clock import Jumping


@pytest.mark.parametrize(
    ("detail", "expected"),
    [
        ("'response_format' of type json_schema is not supported", Capabilities(format="json_object")),
        ("Unsupported parameter: 'max_completion_tokens'", Capabilities(limits=("max_tokens",))),
        (
            "'max_completion_tokens' is too large; maximum context length is 8192",
            Capabilities(limits=()),
        ),
        ("registry/llama does not support tools", Capabilities(tools=False)),
        ("Bad Request", Capabilities(format="json_object")),
        ("Invalid schema for function 'search_knowledge'", Capabilities(tools=False)),
        ("json mode cannot be combined with tool calling", Capabilities(format="plain")),
        ("System role not supported", Capabilities(system=False)),
        ("Conversation roles must alternate user/assistant/user/assistant/...", Capabilities(system=False)),
        (
            "Unsupported value: 'messages[0].role' does not support 'system' with this model.",
            Capabilities(system=False),
        ),
        (
            "Unsupported value: 'temperature' does not support 0 with this model. Only the default (1) is supported.",
            Capabilities(temperature=False),
        ),
        ("extra_forbidden body max_completion_tokens Extra inputs are not permitted", Capabilities(limits=(OLD,))),
    ],
)
def test_what_the_server_minds_is_left_out_first(detail: str, expected: Capabilities) -> None:
    assert simpler(FIRST, detail, tools=True) == expected


@pytest.mark.parametrize(
    "detail",
    [
        "context_length_exceeded: This model's maximum context length is 8192 tokens",
        "the prompt is too long",
        "the request exceeds the available context size, try increasing it",
    ],
)
def test_where_no_other_form_helps_none_is_tried(detail: str) -> None:
    assert simpler(FIRST, detail, tools=True) is None


@given(
    st.lists(
        st.sampled_from(
            [
                "",
                "tools",
                "function schema",
                "response_format",
                "max_tokens",
                "max_completion_tokens",
                "system role",
                "stream_options",
                "stream is not supported",
            ]
        ),
        min_size=10,
        max_size=10,
    ),
    st.booleans(),
    st.booleans(),
)
def test_each_form_is_tried_once_at_most(details: list[str], tools: bool, stream: bool) -> None:
    form: Capabilities | None = FIRST
    seen = set()
    for detail in details:
        assert form not in seen
        seen.add(form)
        assert form is not None
        form = simpler(form, detail, tools=tools, stream=stream and bool(form.stream))
        if form is None:
            return
    pytest.fail(f"still looking after {len(details)} refusals")


PLAIN = Capabilities(format="plain")


async def test_a_form_is_kept_for_the_kind_of_request_that_it_was_found_with() -> None:
    forms = ServerForms(Jumping(), FIRST)
    assert forms.learn(PLAIN, tools=True, named=True)
    assert forms.best(tools=True) == PLAIN
    assert forms.best(tools=False) == FIRST


async def test_one_refusal_that_names_nothing_is_forgotten_and_the_second_in_a_row_is_not() -> None:
    forms = ServerForms(Jumping(), FIRST)
    assert not forms.learn(PLAIN, tools=False, named=False)
    assert forms.best(tools=False) == FIRST
    forms.confirm(tools=False)
    assert not forms.learn(PLAIN, tools=False, named=False), "what came in between went well"
    assert forms.learn(PLAIN, tools=False, named=False)
    assert forms.best(tools=False) == PLAIN


async def test_a_server_is_asked_in_the_fullest_form_again_later_and_later() -> None:
    clock = Jumping()
    forms = ServerForms(clock, ELSEWHERE)
    for wait in (ANEW_SECONDS, 2 * ANEW_SECONDS):
        forms.learn(PLAIN, tools=False, named=True)
        await clock.jump(wait - 1)
        assert forms.best(tools=False) == PLAIN
        await clock.jump(1)
        assert forms.best(tools=False) == ELSEWHERE
    forms.confirm(tools=False)
    forms.learn(PLAIN, tools=False, named=True)
    await clock.jump(ANEW_SECONDS)
    assert forms.best(tools=False) == ELSEWHERE, "it took the fullest form in between"
