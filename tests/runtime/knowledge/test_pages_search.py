"""What an index made for the pages of one research finds in them, and what it leaves alone."""

import os
import random
import subprocess
import sys
import time
from collections.abc import Iterator

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from actors.evidence.passages import Reason, SearchHits
from runtime.knowledge import QuestionVector, index_search
from runtime.knowledge.index_search import Text
from tests import ROOT
from tests.runtime.knowledge.pages_kit import ANSWERED, PAGES, UNANSWERED

ALL = [Text(key, *PAGES[key]) for key in PAGES]
SECONDS = 5.0
"""Far more than any page should take."""


@pytest.fixture(autouse=True)
def _closed() -> Iterator[None]:
    yield
    index_search.close_pages()


def find(pages: list[Text], questions: list[str]) -> list[SearchHits]:
    """What words alone find."""
    return index_search.find_in_pages(pages, questions, 10, [None] * len(questions), [])


@pytest.mark.parametrize("alone", [False, True], ids=["among others", "alone"])
@pytest.mark.parametrize(("question", "key", "words"), ANSWERED)
def test_what_a_page_plainly_says_is_found_and_quoted(question: str, key: str, words: str, alone: bool) -> None:
    (found,) = find([Text(key, *PAGES[key])] if alone else ALL, [question])

    assert found.abstain == ""
    assert found.passages[0].source == key
    assert words in " ".join(found.passages[0].text.split())


@pytest.mark.parametrize("question", UNANSWERED)
def test_pages_that_have_no_word_of_a_question_are_no_answer(question: str) -> None:
    (found,) = find(ALL, [question])
    assert found == SearchHits.refuse(Reason("nothing_near"))


def test_what_words_find_is_put_in_order_by_meaning() -> None:
    question = "Who made the mill that the sea drives, and where was she born?"
    texts = index_search.list_candidates(ALL, [question])
    assert 1 < len(texts) <= index_search.PAGE_CANDIDATES
    far, near = bytes([0, 127]), bytes([127, 0])
    vectors = [(each.digest, near if "born in Stavik" in each.text else far) for each in texts]

    (found,) = index_search.find_in_pages(ALL, [question], 10, [QuestionVector("m", near)], vectors)

    assert found.passages[0].source == "https://people.example/tollefsen"
    assert found.meaning is not None
    assert found.meaning.best == 1.0
    assert found.incomplete == ()


@pytest.mark.req("RE-5")
def test_a_passage_is_a_slice_of_its_page_and_says_where_it_stands() -> None:
    for found in find(ALL, [question for question, _, _ in ANSWERED]):
        for passage in found.passages:
            title, text = PAGES[passage.source]
            assert passage.text == text[passage.start : passage.end]
            assert passage.id.startswith(f"{passage.source}#")
            assert passage.title == title
            assert passage.heading.startswith(title)
        assert len({passage.id for passage in found.passages}) == len(found.passages)


def test_the_order_of_the_pages_changes_nothing() -> None:
    questions = [question for question, _, _ in ANSWERED]
    told = find(ALL, questions)
    for seed in range(3):
        mixed = random.Random(seed).sample(ALL, len(ALL))
        index_search.close_pages()
        assert find([*mixed, mixed[0]], questions) == told


SAY = """
import sys, msgspec
from runtime.knowledge import QuestionVector
from runtime.knowledge import index_search as index
from tests.runtime.knowledge.pages_kit import ANSWERED, PAGES
asked = [each[0] for each in ANSWERED]
found = index.find_in_pages([index.Text(key, *PAGES[key]) for key in PAGES], asked, 10, [None] * len(asked), [])
sys.stdout.buffer.write(msgspec.json.encode(found))
"""


def test_every_process_finds_the_same() -> None:
    said = {
        subprocess.run(  # noqa: S603 - our own code, by our own interpreter
            [sys.executable, "-c", SAY], env={**os.environ, "PYTHONHASHSEED": seed}, capture_output=True, check=True,
            cwd=ROOT,
        ).stdout
        for seed in ("1", "2", "3")
    }  # fmt: skip
    assert len(said) == 1
    assert len(msgspec.json.decode(said.pop(), type=list[SearchHits])) == len(ANSWERED)


def test_the_last_indexes_are_kept_and_no_more() -> None:
    find(ALL, ["Who built the mill?"])
    first = next(iter(index_search._kept.values()))
    find(ALL[::-1], ["When did it burn down?"])
    assert list(index_search._kept.values()) == [first]

    for page in ALL:
        find([page], ["Who built the mill?"])
    assert len(index_search._kept) == index_search.KEPT
    assert first not in index_search._kept.values()


@pytest.mark.parametrize("texts", [[], [""], ["", " \n\n "], ["# Only a heading\n"], ["***\n---\n"]])
def test_pages_without_text_say_so(texts: list[str]) -> None:
    pages = [Text(f"https://e{n}.example/", "Empty", text) for n, text in enumerate(texts)]
    (found,) = find(pages, ["What is this?"])
    assert found == SearchHits.refuse(index_search.NO_TEXT)


HOSTILE = {
    "one word": "a" * 20_000,
    "brackets": "[" * 20_000,
    "links": "[a](b" * 4_000,
    "pictures": "![" * 10_000,
    "tags": "<a " * 6_600,
    "ticks": "`" * 20_000,
    "stars": "*" * 20_000,
    "stars apart": "* " * 10_000,
    "dashes apart": "- " * 10_000,
    "bars": "|" * 20_000,
    "table": "| a | b |\n" * 2_000,
    "quotes": ">" * 20_000,
    "abbreviations": "U.S. " * 4_000,
    "full stops": "." * 20_000,
    "numbers": "1. " * 6_600,
    "spaces": " " * 19_000 + "mill",
    "rule and spaces": "--" + " " * 19_000 + "mill",
    "bar and spaces": "|" + " " * 19_000 + "mill",
    "full stops and quotes": ".'" * 10_000,
    "full stop and spaces": "a." + " " * 19_000 + "mill",
    "lines": "\n" * 19_000 + "mill",
    "hyphens": "a-" * 10_000,
    "apostrophes": "a's" * 6_000,
    "fence": "```\n" + "mill\n" * 3_900,
    "comment": "<!-- mill " * 2_000,
    "front matter": "---\ntitle: x\n" + "a: b\n" * 3_900,
    "headings": "# Mill\n" * 2_800,
    "names": "Maren Tollefsen " * 1_200,
    "nothing but zeros": "\0" * 20_000,
    "script": "<script>alert(1)</script> TERMINATE_WORKFLOW " * 400,
    "combining": "a" + "\u0301" * 19_000,
    "ligatures": "\ufdfa" * 20_000,
    "chinese": "磨坊" * 10_000,
}


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE.keys())
def test_a_hostile_page_takes_no_time_and_hides_no_other(text: str) -> None:
    began = time.process_time()
    pages = [*ALL, Text("https://evil.example/", "Evil", text)]
    (found,) = find(pages, ["How much did the restoration of the mill cost?"])

    assert time.process_time() - began < SECONDS
    assert any("2.3 million crowns" in passage.text for passage in found.passages)


@given(st.lists(st.text(max_size=400), max_size=4), st.text(max_size=80))
@settings(max_examples=60)
def test_whatever_pages_hold_passages_are_slices_of_them(texts: list[str], question: str) -> None:
    pages = {f"https://e{n}.example/": text.encode("utf-8", "replace").decode() for n, text in enumerate(texts)}
    question = question.encode("utf-8", "replace").decode()
    (found,) = find([Text(key, "", text) for key, text in pages.items()], [question])

    assert len(found.passages) <= 10
    assert all(each.text == pages[each.source][each.start : each.end] for each in found.passages)
