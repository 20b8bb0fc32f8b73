"""Calls as templates: whatever a value holds, it stays in its leaf, its segment, its header."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runtime.intake.adapter_file import fill, fill_header, fill_path, find_names

HOSTILE = '"}, "Status": "resolved", {"x": "{run}/../../admin?x=1#\r\nX-Evil: 1'


def test_a_value_goes_into_a_leaf_and_stays_text() -> None:
    filled = fill({"Content": "Hello {text}", "Tags": "{tags}", "n": 1}, {"text": HOSTILE, "tags": ["a", "b"]})

    assert filled == {"Content": f"Hello {HOSTILE}", "Tags": ["a", "b"], "n": 1}
    assert json.loads(json.dumps(filled)) == filled


def test_the_name_of_a_field_can_be_filled_too() -> None:
    assert fill({"CustomFields": {"{field}": "{value}"}}, {"field": "State", "value": 3}) == {
        "CustomFields": {"State": 3}
    }


@given(st.text(st.characters(codec="utf-8"), min_size=1).filter(lambda text: text.strip(".")))
def test_a_value_is_one_segment_of_a_path_whatever_it_is(value: str) -> None:
    path = fill_path("/ticket/{ticket}/comment", {"ticket": value})

    assert path.count("/") == 3
    assert not set(path) & set("?# \r\n")


@pytest.mark.parametrize("value", ["", ".", ".."])
def test_a_segment_that_would_lead_elsewhere_is_refused(value: str) -> None:
    with pytest.raises(ValueError, match="segment"):
        fill_path("/ticket/{ticket}/comment", {"ticket": value})


def test_a_header_is_one_line() -> None:
    assert fill_header("token {token}", {"token": "a\r\nX-Evil: 1"}) == "token a X-Evil: 1"


def test_what_is_missing_is_an_error_and_all_places_are_found() -> None:
    assert find_names({"{a}": ["{b}", {"c": "x {d} {e}"}], "n": None}) == {"a", "b", "d", "e"}
    with pytest.raises(KeyError):
        fill("{a}", {})


def test_a_number_is_one_only_where_it_is_asked_for_and_is_one() -> None:
    template = {"id": "{id:number}", "text": "{id}", "in": "no {id:number}"}

    assert fill(template, {"id": "17"}) == {"id": 17, "text": "17", "in": "no 17"}
    assert fill(template, {"id": "ann"})["id"] == "ann"
    assert find_names(template) == {"id"}
