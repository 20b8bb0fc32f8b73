"""What the search finds, in three languages, and when it says that there is nothing."""

import asyncio
import itertools
import os
import shutil
import sys
from pathlib import Path

import msgspec
import pytest

from actors.evidence.passages import SearchHits
from runtime.knowledge import FILE
from runtime.knowledge.find_passages import SHOWN, go_on
from runtime.knowledge.index_search import find, find_named, read
from runtime.knowledge.indexing import index
from runtime.knowledge.knowledge_index import KnowledgeFailed, KnowledgeIndex
from runtime.processes.pool import Workers
from runtime.settings import KnowledgeSettings
from tests import ROOT
from tests.runtime.knowledge.kit import library

WITHIN = 20.0


@pytest.mark.parametrize(
    ("question", "source", "words"),
    [
        ("My VPN session key expires all the time. How do I renew it?", "library/vpn.md", "Renew automatically"),
        ("What does error 809 mean?", "library/vpn.md", "UDP port 4500"),
        ("How do I connect a printer?", "library/printer.txt", "Add a printer"),
        ("My account is locked. What can I do?", "library/sub/account.html", "twenty minutes"),
        ("忘记密码了怎么办？", "library/sub/chinese.md", "自助门户"),
        ("报销要多久？", "library/sub/chinese.md", "三十天内"),
        ("비밀번호를 어떻게 재설정하나요?", "library/sub/korean.md", "사번을 입력"),
        ("휴가는 며칠 전에 신청해야 하나요?", "library/sub/korean.md", "3일 전"),
        ("My account is locked, my colleague Priya has it too.", "library/sub/account.html", "twenty minutes"),
        ("I was on a train to Lisbon. How do I connect a printer?", "library/printer.txt", "Add a printer"),
        ("我出差回来了，报销单多久内要交？", "library/sub/chinese.md", "三十天内"),
        ("휴가를 쓰고 싶은데 어떻게 신청하나요?", "library/sub/korean.md", "3일 전"),
    ],
)
def test_the_right_passage_comes_first(database: str, question: str, source: str, words: str) -> None:
    findings = find(database, question, 8)
    assert findings.abstain == ""
    assert findings.passages[0].source == source
    assert words in findings.passages[0].text


@pytest.mark.parametrize(
    ("text", "source"),
    [
        ("Please read library/vpn.md for me.", "library/vpn.md"),
        ("请看vpn.md的内容", "library/vpn.md"),
        ("Is sub/account.html right?", "library/sub/account.html"),
        ("Is /srv/docs/printer.txt right?", "library/printer.txt"),
        ("Is myvpn.md right, or vpn.mdx, or the VPN handbook?", ""),
        ("Is it vpn.md or printer.txt?", ""),
        ("Is it library/vpn.md or printer.txt?", "library/vpn.md"),
    ],
)
def test_a_document_is_known_by_as_much_of_its_path_as_a_text_names(database: str, text: str, source: str) -> None:
    named = find_named(database, text)
    assert (named.source if named else "") == source
    if named:
        assert named.text == read(database, source)[0]
        assert named.title


@pytest.mark.parametrize(
    "question",
    [
        "Who won the football world cup?",
        "怎么安装数据库？",
        "서버 백업은 어떻게 하나요?",
    ],
)
def test_what_the_documents_have_no_word_of_is_not_found(database: str, question: str) -> None:
    findings = find(database, question, 8)
    assert findings.passages == ()
    assert findings.abstain == "The documents hold nothing on this."


@pytest.mark.parametrize("question", ["It does not work any more. Please help!!!", "the of and", "???", ""])
def test_a_question_that_says_nothing_is_not_told_that_the_documents_lack_it(database: str, question: str) -> None:
    findings = find(database, question, 8)
    assert findings.passages == ()
    assert findings.abstain.startswith("This says too little to look anything up.")


def test_a_passage_goes_on_down_its_page_and_none_is_shown_twice(database: str) -> None:
    findings = find(database, "How do I install the VPN client and enrol a tablet?", 8)

    first = findings.passages[0]
    assert first.source == "library/vpn.md"
    assert first.text == read(database, first.source)[0][first.start : first.end]
    assert len(first.text) <= SHOWN
    spans = sorted((each.start, each.end) for each in findings.passages if each.source == first.source)
    assert all(end <= start for (_, end), (start, _) in itertools.pairwise(spans))


async def test_passages_come_best_first_and_say_where_they_stand(knowledge: KnowledgeIndex) -> None:
    findings = await knowledge.search("How do I renew the VPN session?", within=WITHIN, limit=3)
    assert 0 < len(findings.passages) <= 3
    best = findings.passages[0]
    assert best.id.startswith("library/vpn.md#")
    assert best.title == "VPN handbook"
    assert best.heading.startswith("VPN handbook > ")
    assert best.anchor
    for passage in findings.passages:
        assert passage.end - passage.start == len(passage.text)
    scores = [passage.score for passage in findings.passages]
    assert scores == sorted(scores, reverse=True)


async def test_without_an_index_the_user_hears_how_to_make_one(tmp_path: Path, workers: Workers) -> None:
    findings = await KnowledgeIndex(tmp_path, workers).search("How do I install it?", within=WITHIN)
    assert findings.passages == ()
    assert "python -m runtime index FOLDER" in findings.abstain
    assert not (tmp_path / FILE).exists()


async def test_an_empty_index_says_the_same(tmp_path: Path, workers: Workers) -> None:
    (tmp_path / "empty").mkdir()
    await index([tmp_path / "empty"], tmp_path, workers, KnowledgeSettings())
    assert "index FOLDER" in (await KnowledgeIndex(tmp_path, workers).search("Anything?", within=WITHIN)).abstain


async def test_a_changed_index_is_noticed_by_a_process_that_has_it_open(tmp_path: Path) -> None:
    folder, store = library(tmp_path / "library"), tmp_path / "store"
    reading, writing = Workers(1), Workers(1)
    try:
        await index([folder], store, writing, KnowledgeSettings())
        knowledge = KnowledgeIndex(store, reading)
        assert (await knowledge.search("Where is the parking garage?", within=WITHIN)).abstain
        (folder / "parking.md").write_text("# Parking\n\nThe parking garage is below the main building.\n")
        await index([folder], store, writing, KnowledgeSettings())
        found = await knowledge.search("Where is the parking garage?", within=WITHIN)
        assert found.passages[0].source == "library/parking.md"
        shutil.rmtree(store)
        assert "index FOLDER" in (await knowledge.search("Where is the parking garage?", within=WITHIN)).abstain
    finally:
        reading.close()
        writing.close()


async def test_a_damaged_index_fails_with_a_sentence(tmp_path: Path, workers: Workers) -> None:
    (tmp_path / FILE).write_bytes(b"this is no database at all " * 100)
    with pytest.raises(KnowledgeFailed, match=r"could not be searched: .*Delete .*index. again"):
        await KnowledgeIndex(tmp_path, workers).search("How do I install it?", within=WITHIN)


async def test_a_search_over_its_time_fails_with_a_sentence(knowledge: KnowledgeIndex, workers: Workers) -> None:
    held = [
        asyncio.ensure_future(workers.call("tests.runtime.jobs:sleep", 60.0, within=60, returns=int)) for _ in range(2)
    ]
    await asyncio.sleep(0)  # no process is free any more

    with pytest.raises(KnowledgeFailed, match=r"^The search took longer than 0\.1 s\.$"):
        await knowledge.search("How do I install it?", within=0.1)

    for each in held:
        each.cancel()
    await asyncio.wait(held)


@pytest.mark.parametrize(
    "question", ["a" * 100_000, "word " * 50_000, '"; DROP TABLE terms; --', "NEAR(a b) * ^", "\0\1"]
)
def test_hostile_questions_do_no_harm(database: str, question: str) -> None:
    assert len(find(database, question, 8).passages) <= 8
    assert find(database, "How do I connect a printer?", 8).abstain == ""


ANSWERS = """
import sys, msgspec
from runtime.knowledge.index_search import find
for question in sys.argv[2:]:
    sys.stdout.buffer.write(msgspec.json.encode(find(sys.argv[1], question, 8)) + b"\\n")
"""


async def test_the_same_question_has_the_same_answer_in_every_process(database: str) -> None:
    questions = ["How do I renew the VPN session key?", "忘记密码了怎么办？", "Which printer is on the third floor?"]
    said = set()
    for seed in ("1", "2", "3"):
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-c", ANSWERS, database, *questions, env={**os.environ, "PYTHONHASHSEED": seed},
            stdout=asyncio.subprocess.PIPE, cwd=ROOT,
        )  # fmt: skip
        said.add((await process.communicate())[0])
    assert len(said) == 1
    answers = [msgspec.json.decode(line, type=SearchHits) for line in said.pop().splitlines()]
    assert [len(answer.passages) > 0 for answer in answers] == [True, True, True]


STORY = (
    "My name is Anna Miller and I work in the Berlin office since last spring. Yesterday morning, after a meeting with "
    "our customer from Norway, I noticed something strange, and my colleague Peter could not help me either, although "
    "he tried for two hours. We have a presentation on Thursday and my manager is getting nervous. "
)


@pytest.mark.parametrize("form", ["{story}{question}", "{question} {story}", "{story}\n\n{question}\n\n{story}"])
def test_a_story_around_the_question_changes_nothing(database: str, form: str) -> None:
    asked = form.format(story=STORY, question="How do I connect a printer on the third floor?")
    findings = find(database, asked, 8)
    assert findings.abstain == ""
    assert findings.passages[0].source == "library/printer.txt"


def test_a_time_of_day_is_no_subject(database: str) -> None:
    assert find(database, "The printer connects since 5 o'clock", 8).abstain == ""


PAGE = """<html><body><h1>Files</h1><h2>Making folders</h2><pre>$ mkdir attic
$ ls
attic</pre><p>{more}</p><h3>With a name of two words</h3><p>{more} Put it between quotes.</p>
<h2>Removing them</h2><p>Use rmdir for a folder that is empty.</p></body></html>"""
TERMS = """<html><body><h1>Files</h1><dl><dt>mkdir</dt><dd>{more} That is all.</dd>
<dt>rmdir</dt><dt>rm -d</dt><dd>{more}</dd></dl></body></html>"""


async def test_a_place_ends_with_its_section_and_code_keeps_its_form(tmp_path: Path, workers: Workers) -> None:
    (tmp_path / "manual").mkdir()
    page = PAGE.format(more="An attic is made below the folder in which you are. " * 4)
    (tmp_path / "manual" / "files.html").write_text(page, encoding="utf-8")
    await index([tmp_path / "manual"], tmp_path, workers, KnowledgeSettings())

    first, *others = find(str(tmp_path / FILE), "mkdir attic", 8).passages

    assert first.heading == "Files > Making folders"
    assert first.text.startswith("    $ mkdir attic\n    $ ls\n    attic\n")
    assert first.text.endswith("Put it between quotes.")
    assert first.text == read(str(tmp_path / FILE), first.source)[0][first.start : first.end]
    assert not [each for each in others if each.start < first.end]


async def test_a_place_does_not_end_with_the_names_of_what_is_explained_next(tmp_path: Path, workers: Workers) -> None:
    (tmp_path / "manual").mkdir()
    page = TERMS.format(more="An attic is below the folder in which you are. " * 5)
    (tmp_path / "manual" / "files.html").write_text(page, encoding="utf-8")
    await index([tmp_path / "manual"], tmp_path, workers, KnowledgeSettings())

    (first,) = (p for p in find(str(tmp_path / FILE), "mkdir attic", 8).passages if p.heading == "Files > mkdir")

    assert first.text.endswith("That is all.")


async def test_two_places_of_a_page_do_not_run_into_each_other(tmp_path: Path, workers: Workers) -> None:
    (tmp_path / "manual").mkdir()
    steps = [f"Step {n} of the lathe takes a while, and nobody should leave it alone meanwhile." for n in range(20)]
    steps[2], steps[12] = f"{steps[2]} The belt is on.", f"{steps[12]} The chuck turns."
    (tmp_path / "manual" / "lathe.md").write_text("# Lathe\n\n" + "\n\n".join(steps), encoding="utf-8")
    await index([tmp_path / "manual"], tmp_path, workers, KnowledgeSettings())

    found = find(str(tmp_path / FILE), "chuck chuck belt", 8).passages

    assert len(found) == 2
    assert "chuck" in found[0].text
    spans = sorted((each.start, each.end) for each in found)
    assert all(end <= start for (_, end), (start, _) in itertools.pairwise(spans))


@pytest.mark.parametrize(
    ("said", "ends"),
    [
        ("NOTE If speed matters…", "of it."), ("Do as follows:", "of it."), ("## The next one", "of it."),
        ("- the oil", "- the oil"), ("Oil — 3 litres", "Oil — 3 litres"), ("    $ oil --now", "    $ oil --now"),
        ("It is oiled.", "It is oiled."),
    ],
)  # fmt: skip
def test_a_place_does_not_end_where_something_is_announced(said: str, ends: str) -> None:
    text = "\n\n".join(("The lathe turns, and that is all of it.", said, "More of this. " * 200))
    assert text[: go_on(text, 0, text.index("More of this"), len(text))].endswith(ends)
    assert text[: go_on(text, 0, 40, len(text))].endswith(ends)
