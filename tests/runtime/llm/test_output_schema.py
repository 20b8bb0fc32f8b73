"""Schemas that strict servers take, and answers read out of what models really write."""

from typing import Any, Literal

import msgspec
import pytest

from actors.drafting.drafts import Draft, HandoverRequest
from actors.evidence.claims import Claim
from actors.helpdesk.output_schemas import Analysis, Summary
from runtime.llm.output_schema import Malformed, schema_of, strict_schema


class Free(msgspec.Struct):
    scores: dict[str, int]


class Tree(msgspec.Struct):
    name: str
    kind: Literal["leaf", "branch"] = "leaf"
    children: tuple["Tree", ...] = ()


class Cat(msgspec.Struct, tag=True):
    lives: int = 9


class Dog(msgspec.Struct, tag=True):
    name: str = ""


class Owner(msgspec.Struct):
    pet: Cat | Dog
    age: int | None = None


def objects(node: Any) -> list[dict[str, Any]]:
    """Every object schema below a node."""
    if isinstance(node, list):
        return [each for item in node for each in objects(item)]
    if not isinstance(node, dict):
        return []
    here = [node] if node.get("type") == "object" else []
    return here + [each for item in node.values() for each in objects(item)]


@pytest.mark.parametrize("shape", [Draft, Analysis, Summary, Tree, Owner])
def test_every_object_is_closed_and_requires_all_its_keys(shape: type[msgspec.Struct]) -> None:
    schema, strict = strict_schema(shape)
    assert strict
    assert schema["type"] == "object"
    for each in objects(schema):
        assert each["additionalProperties"] is False
        assert each["required"] == list(each["properties"])
    text = msgspec.json.encode(schema)
    assert b'"default"' not in text
    assert b'"discriminator"' not in text


def test_a_shape_that_refers_to_itself_keeps_its_definition() -> None:
    schema, _ = strict_schema(Tree)
    assert schema["properties"]["children"]["items"] == {"$ref": "#/$defs/Tree"}
    assert schema["$defs"]["Tree"]["additionalProperties"] is False


def test_a_map_with_free_keys_is_not_called_strict() -> None:
    schema, strict = strict_schema(Free)
    assert not strict
    assert schema["properties"]["scores"]["additionalProperties"] == {"type": "integer"}


DRAFT = Draft(claims=(Claim(text="Restart it.", passage=1, quote="restart"),), pass_on=None)


@pytest.mark.parametrize(
    "text",
    [
        '{"claims": [{"text": "Restart it.", "passage": 1, "quote": "restart"}], "pass_on": null}',
        '{"claims": [{"text": "Restart it.", "passage": "1", "quote": "restart", "more": true}]}',
        '```json\n{"claims": [{"text": "Restart it.", "passage": 1, "quote": "restart"}]}\n```',
        'Here you are:\n{"claims": [{"text": "Restart it.", "passage": 1, "quote": "restart"}]}\nAnything else?',
        '<think>{"claims": []}? No {</think>{"claims":[{"text":"Restart it.","passage":1,"quote":"restart"}]}',
    ],
)
def test_an_answer_is_found_in_its_wrapping(text: str) -> None:
    assert schema_of(Draft).decode(text) == DRAFT


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "truncated"),
        ("I cannot do that.", "malformed"),
        ('{"claims": [{"text": "x", "passage": "first", "quote": ""}]}', "$.claims[0].passage"),
        ('{"pass_on": {"to": "network"}}', "reason"),
        ('{"claims": [', "truncated"),
        ("[" * 100_000, ""),
        ('{"claims": "\ud800"}', ""),
    ],
)
def test_what_is_no_answer_is_refused_with_the_place(text: str, reason: str) -> None:
    with pytest.raises(Malformed) as caught:
        schema_of(Draft).decode(text)
    assert reason in str(caught.value)
    assert len(str(caught.value)) <= 300


def test_a_reason_that_quotes_the_model_is_safe_to_print() -> None:
    with pytest.raises(Malformed) as caught:
        schema_of(Analysis).decode('{"urgency": "\\u001b[2J\\u202e", "intent": "other", "question": ""}')
    assert str(caught.value).isprintable()


def test_the_contract_of_a_shape_is_made_once() -> None:
    assert schema_of(HandoverRequest) is schema_of(HandoverRequest)


@pytest.mark.parametrize(
    ("shape", "answer"),
    [
        (Summary, {"summary": "Two sentences at most."}),
        (Draft, {"claims": [{"passage": 1, "quote": "Its words, letter by letter.", "text": "Press."}]}),
    ],
)
def test_a_description_of_a_field_is_no_value_of_it(shape: type[msgspec.Struct], answer: Any) -> None:
    with pytest.raises(Malformed, match="nothing but the description of its field"):
        schema_of(shape).decode(msgspec.json.encode(answer).decode())
