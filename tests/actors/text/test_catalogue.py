"""Our sentences: each in every language, with the same places, and none that nobody says."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import get_args

import pytest

from actors.evidence.sources import Reason as Missed
from actors.helpdesk.workflow import HELPDESK
from actors.legal.workflow import LEGAL
from actors.reporting.charts import SIGNS
from actors.research.workflow import RESEARCH
from actors.text.catalogue import (
    CATALOGUES,
    ENGLISH,
    every_form,
    html_language,
    load_catalogue,
    say,
    say_count,
    say_step,
)
from actors.workflow.outcome import EndReason
from actors.workflow.tables import Step
from runtime.user_text import spell_out
from tests import ROOT

SAME_ANYWHERE = {"swot", "judged", "joined_by", "full_stop"}
OTHERS = [each for each in CATALOGUES if each != ENGLISH]


def sentences(language: str) -> dict[str, str]:
    return load_catalogue(language).sentences


def places(sentence: str) -> list[str]:
    return sorted(re.findall(r"\{(.*?)\}", sentence))


def literals(file: Path) -> Iterator[str]:
    """All words in quotes of a module, and the beginnings of those that go on with a value."""
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value


@pytest.mark.parametrize("language", OTHERS)
def test_every_language_says_the_same_with_the_same_places(language: str) -> None:
    english, other = sentences(ENGLISH), sentences(language)

    assert list(other) == list(english)
    assert {key: places(each) for key, each in other.items()} == {key: places(each) for key, each in english.items()}
    assert {key for key, each in other.items() if each == english[key]} <= SAME_ANYWHERE, "left in English"
    assert all(each == each.strip() or key == "joined_by" for key, each in other.items())


@pytest.mark.parametrize("language", OTHERS)
def test_every_step_and_event_of_a_run_has_a_name_in_every_language(language: str) -> None:
    names = {
        spell_out(name)
        for flow in (HELPDESK, RESEARCH, LEGAL)
        for state, step in flow.steps.items()
        for name in (state, *(event.__name__ for event in (step.then if isinstance(step, Step) else ())))
    }
    named = load_catalogue(language).steps

    assert set(named) == names
    assert all(say_step(each, language) not in names for each in names)
    assert say_step("some other step", language) == "some other step"
    assert {say_step(each, ENGLISH) for each in names} == names


def test_no_sentence_is_kept_that_nobody_says() -> None:
    files = [file for room in ("actors", "runtime") for file in (ROOT / room).rglob("*.py")]
    said = {each for file in files for each in literals(file)}
    begun = {each for each in said if re.fullmatch(r"[a-z]+_", each)}

    unused = {key for key in sentences(ENGLISH) if not {key, key.removesuffix("_one")} & said}
    assert {key for key in unused if not any(key.startswith(each) for each in begun)} == set()


def test_what_is_named_by_a_value_is_there() -> None:
    known = sentences(ENGLISH).keys()

    ends = {each for each in EndReason if each is not EndReason.COMPLETED}
    assert {f"end_{each}" for each in ends} | {f"why_{each}" for each in ends} <= known
    assert {f"missed_{each}" for each in get_args(Missed)} <= known
    assert {*SIGNS.values()} <= known


@pytest.mark.parametrize(
    ("language", "told"),
    [
        ("en", "first 1,200 of 45,120 characters"),
        ("de", "die ersten 1.200 von 45.120 Zeichen"),
        ("zh", "全文 45,120 个字符中的前 1,200 个"),
        ("ko", "전체 45,120자 중 처음 1,200자"),
        ("fr", "first 1,200 of 45,120 characters"),
        ("", "first 1,200 of 45,120 characters"),
    ],
)
def test_numbers_are_written_as_the_language_writes_them_and_no_catalogue_is_english(language: str, told: str) -> None:
    assert say("first_characters", language, part=1200, whole=45120) == told


def test_a_count_has_its_form() -> None:
    assert [say_count("handoffs", "de", each) for each in (0, 1, 2)] == ["0 Übergaben", "1 Übergabe", "2 Übergaben"]
    closed = say("closed_by", "de", agent="a", seconds=1.25, handoffs="1 Übergabe", why="")
    assert closed == "Abgeschlossen von a nach 1,25 s und 1 Übergabe."


def test_what_is_put_in_is_never_taken_for_a_place() -> None:
    assert say("closest", "en", why="{why} {0} %s", places="x") == "{why} {0} %s What comes closest: x."


def test_a_sentence_is_known_again_in_any_language() -> None:
    assert every_form("end_cancelled") == {"It was cancelled.", "Es wurde abgebrochen.", "已取消。", "취소되었습니다."}


def test_a_page_names_the_language_of_our_sentences() -> None:
    assert [html_language(each) for each in ("en", "de", "zh", "ko", "fr", "")] == [
        "en", "de", "zh-Hans", "ko", "en", "en",
    ]  # fmt: skip
