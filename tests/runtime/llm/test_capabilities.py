"""Looking for a form that a server takes ends, and goes the shortest way when the server says what it minds."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runtime.llm.capabilities import FIRST, Capabilities, simpler


@pytest.mark.parametrize(
    ("detail", "expected"),
    [
        ("'response_format' of type json_schema is not supported", Capabilities(format="json_object")),
        ("Unsupported parameter: 'max_completion_tokens'", Capabilities(limit="max_tokens")),
        (
            "'max_completion_tokens' is too large; maximum context length is 8192",
            Capabilities(limit="max_tokens"),
        ),
        ("registry/llama does not support tools", Capabilities(tools=False)),
        ("Bad Request", Capabilities(format="json_object")),
        ("Invalid schema for function 'search_knowledge'", Capabilities(format="json_object")),
    ],
)
def test_what_the_server_minds_is_left_out_first(detail: str, expected: Capabilities) -> None:
    assert simpler(FIRST, detail, tools=True) == expected


@pytest.mark.parametrize(
    "detail",
    ["context_length_exceeded: This model's maximum context length is 8192 tokens", "the prompt is too long"],
)
def test_where_no_other_form_helps_none_is_tried(detail: str) -> None:
    assert simpler(FIRST, detail, tools=True) is None


@given(
    st.lists(
        st.sampled_from(["", "tools", "function schema", "response_format", "max_tokens", "max_completion_tokens"]),
        min_size=8,
        max_size=8,
    ),
    st.booleans(),
)
def test_each_form_is_tried_once_at_most(details: list[str], tools: bool) -> None:
    form: Capabilities | None = FIRST
    seen = set()
    for detail in details:
        assert form not in seen
        seen.add(form)
        assert form is not None
        form = simpler(form, detail, tools=tools)
        if form is None:
            return
    pytest.fail(f"still looking after {len(details)} refusals")
