"""What people may read of an answer while it is written: the same wherever its pieces are cut."""

import itertools
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.drafting.drafts import Draft
from actors.legal.output_schemas import LegalDraft, Reply
from runtime.llm.output_schema import DRAFT_CHARACTERS, TextReader, list_shown, schema_of

CLAIMS = list_shown(Draft)
texts = st.text(st.characters(codec="utf-8") | st.sampled_from('"\\{}[]:,\n\t/😀ü的'), max_size=30)
claims = st.lists(st.fixed_dictionaries({"passage": st.integers(), "quote": texts, "text": texts}), max_size=4)


def read(*pieces: str, shown: Any = CLAIMS) -> str:
    reader = TextReader(shown)
    for each in pieces:
        reader.feed(each)
    return reader.text


def cut(text: str, places: list[int]) -> list[str]:
    edges = sorted({0, len(text), *(place % (len(text) + 1) for place in places)})
    return [text[start:end] for start, end in itertools.pairwise(edges)]


@pytest.mark.req("LG-16")
@given(claims, st.booleans(), st.sampled_from([None, 1]), st.lists(st.integers(0, 10_000), max_size=30))
def test_an_answer_in_pieces_is_read_as_the_whole_is(
    written: list[dict[str, Any]], escaped: bool, indent: int | None, places: list[int]
) -> None:
    text = json.dumps({"claims": written, "pass_on": None}, ensure_ascii=escaped, indent=indent)

    assert read(*cut(text, places)) == read(text) == "\n".join(each["text"] for each in written if each["text"])
    assert [each.text for each in schema_of(Draft).decode(text).claims] == [each["text"] for each in written]


@given(st.text(st.sampled_from('{}[]":,\\u0d8 claimstext1\n'), max_size=60), st.lists(st.integers(0, 99), max_size=9))
def test_whatever_a_model_writes_cuts_change_nothing(text: str, places: list[int]) -> None:
    assert read(*cut(text, places)) == read(text)


@pytest.mark.parametrize(
    ("text", "seen"),
    [
        ('<think>{"a": b} I look {at} it</think>```json\n{"claims": [{"text": "Yes."}]}\n```', "Yes."),
        ('{"Draft": {"claims": [{"text": "Yes."}]}}', "Yes."),
        ('{"claims": [{"text": "For instance."}]} No: {"claims": [{"text": "Yes."}]}', "Yes."),
        ('{"claims": [{"text": "Yes."}]} {"note": "done"}', "Yes."),
        ('{"claims": [{"text": "Ye', "Ye"),
        ('{"claims": [{"text": "smile \\ud83d', "smile "),
        ('{"claims": [{"text": "smile \\ud83d\\ude00 half \\ud83d."}]}', "smile 😀 half ?."),
        ('{"claims": [{"text": "Yes."},]}', "Yes."),
        ('{"claims": [{"quote": "no", "text": "Yes.", "deep": {"text": "no"}}]}', "Yes."),
        ('{"text": "no", "claims": [["no"], {"claims": [{"text": "no"}]}]}', ""),
        ("No JSON at all.", ""),
        ("", ""),
    ],
)
def test_only_what_the_schema_shows_is_read(text: str, seen: str) -> None:
    assert read(text) == seen
    assert read(*text) == seen


def test_what_is_read_is_bounded() -> None:
    long = '{"claims": [{"text": "' + "x" * DRAFT_CHARACTERS + 'y"}, {"text": "z"}]}'

    assert read(long) == read(*cut(long, [777, 4000, 20_010])) == "x" * DRAFT_CHARACTERS
    assert read("{" * 100_000 + '{"claims": [{"text": "Yes."}]}') in ("", "Yes.")


def test_quotes_and_names_are_not_shown() -> None:
    assert CLAIMS == list_shown(LegalDraft) == {("claims", None, "text")}
    assert list_shown(Reply) == {("text",)}
    assert b"shown" not in bytes(schema_of(Draft).json_schema), "servers need not know"
