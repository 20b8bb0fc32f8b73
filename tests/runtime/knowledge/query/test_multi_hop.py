"""Names in questions and in passages lead to the documents that are called so."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.evidence.passages import SearchHits
from runtime.knowledge.index import index_jobs
from runtime.knowledge.knowledge_index import FILE
from runtime.knowledge.query import search
from runtime.knowledge.query.multi_hop import NAMED_BY, NAMED_IN_A_TEXT, TITLES, Titles

FILM = """---
title: The Glass Ferry
---

The Glass Ferry is a 1987 drama film directed by Ilka Varnholt. It tells of a winter on the lake.
"""
DIRECTOR = """---
title: Ilka Varnholt (director)
---

Ilka Varnholt was born in Norrby. She studied in Lund and made nine films.
"""
TOWN = """---
title: Norrby
---

Norrby is a town of forty thousand on the river Sava. Its paper works closed in 2003.
"""
OTHER = "# Paper works {n}\n\nThe works number {n} makes paper and glass for the towns on the lake in winter.\n"


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder = tmp_path_factory.mktemp("hops")
    library = folder / "films"
    library.mkdir()
    for name, text in (("film", FILM), ("director", DIRECTOR), ("town", TOWN)):
        (library / f"{name}.md").write_text(text)
    for n in range(30):
        (library / f"other{n}.md").write_text(OTHER.format(n=n))
    path = str(folder / FILE)
    listed = index_jobs.listing(path, str(library))
    for each in listed.files:
        assert index_jobs.take(path, listed.folder, listed.root, each, 20.0, 10.0).status == "read"
    yield path
    index_jobs.close()
    search.close()


def sources(findings: SearchHits) -> list[str]:
    return list(dict.fromkeys(Path(each.source).stem for each in findings.passages))


def test_who_is_named_by_the_document_that_the_question_names_is_found(database: str) -> None:
    question = "Where was the director of The Glass Ferry born?"

    found = search.find(database, question, 10, None, True)

    assert set(sources(found)[:2]) == {"film", "director"}
    assert found.abstain == ""
    said = [each.place.of(found.passages[each.passage - 1]) for each in found.sentences]
    assert "The Glass Ferry is a 1987 drama film directed by Ilka Varnholt." in said
    assert "Ilka Varnholt was born in Norrby." in said


def test_a_name_leads_on_from_the_document_that_it_led_to(database: str) -> None:
    assert "town" in sources(search.find(database, "How big is the birthplace of Ilka Varnholt?", 10, None, True))


REVIEW = """---
title: Winter on screen
---

Critics met in Sollund. The prize of the jury went to The Glass Ferry in the end.
"""


def library(folder: Path, documents: dict[str, str]) -> str:
    (folder / "films").mkdir()
    for name, text in documents.items():
        (folder / "films" / f"{name}.md").write_text(text)
    path = str(folder / FILE)
    listed = index_jobs.listing(path, str(folder / "films"))
    for each in listed.files:
        assert index_jobs.take(path, listed.folder, listed.root, each, 20.0, 10.0).status == "read"
    return path


@pytest.fixture
def closed() -> Iterator[None]:
    yield
    index_jobs.close()
    search.close()


@pytest.mark.usefixtures("closed")
def test_a_document_that_names_what_was_found_is_found_though_it_shares_no_word_with_the_question(
    tmp_path: Path,
) -> None:
    others = {f"other{n}": OTHER.format(n=n) for n in range(30)}
    path = library(tmp_path, {"film": FILM, "review": REVIEW, **others})

    found = search.find(path, "What did the drama film directed by Ilka Varnholt win?", 10, None, True)

    assert sources(found)[:2] == ["film", "review"]


@pytest.mark.usefixtures("closed")
def test_what_everybody_names_leads_to_nobody(tmp_path: Path) -> None:
    others = {f"review{n}": REVIEW.replace("screen", f"screen {n}") for n in range(NAMED_BY + 1)}
    path = library(tmp_path, {"film": FILM, **others})

    found = search.find(path, "What did the drama film directed by Ilka Varnholt win?", 20, None, True)

    assert sources(found) == ["film"]


def test_without_hops_a_search_is_what_it_was(database: str) -> None:
    found = search.find(database, "Who directed The Glass Ferry?", 10)

    assert found == search.find(database, "Who directed The Glass Ferry?", 10, None, False)
    assert found.sentences == ()


def test_names_do_not_lead_out_of_the_documents_that_may_be_looked_into(database: str) -> None:
    allowed = ["films/film.md", "films/other1.md"]

    found = search.find(database, "Where was the director of The Glass Ferry born?", 10, allowed, True)

    assert sources(found)[0] == "film"
    assert {passage.source for passage in found.passages} <= set(allowed)


@pytest.mark.parametrize("hops", [False, True])
@pytest.mark.parametrize("allowed", [[], ["films/none.md"]])
def test_of_no_documents_nothing_is_found(database: str, allowed: list[str], hops: bool) -> None:
    found = search.find(database, "Who directed The Glass Ferry?", 10, allowed, hops)
    assert found.passages == ()
    assert found.abstain


@pytest.mark.parametrize("question", ["How do I reset my Netflix password?", "Who won the World Cup?", "", "???"])
def test_names_of_nothing_lead_nowhere(database: str, question: str) -> None:
    assert search.find(database, question, 10, None, True).abstain


def test_quotes_and_sentences_stand_in_their_passages(database: str) -> None:
    found = search.find(database, "Where was the director of The Glass Ferry born?", 10, None, True)
    for each in found.sentences:
        passage = found.passages[each.passage - 1]
        assert 0 <= each.place.start < each.place.end <= len(passage.text)
    scores = [each.place.score for each in found.sentences]
    assert scores == sorted(scores, reverse=True)


@pytest.mark.parametrize(
    ("title", "text"),
    [
        ("The Glass Ferry", "We saw The Glass Ferry yesterday."),
        ("The Glass Ferry", "we saw The glass ferry"),
        ("Ilka Varnholt (director)", "It was made by Ilka Varnholt."),
        ("Orrin, Duke of Sava", "Orrin reigned for a year."),
        ("I'll Be Back", "Who made I'Ll Be Back?"),
        ("7 Days", "It takes 7 Days."),
        ("石桥", "关于石桥的历史"),
        ("Café Noir", "In Café Noir there is music."),
    ],
)
def test_a_name_is_known_in_a_text(title: str, text: str) -> None:
    assert set(Titles([(1, title)]).find_names(text)) == {1}


@pytest.mark.parametrize(
    ("title", "text"),
    [
        ("Again", "Again it rained."),
        ("It", "It rained."),
        ("Ferry", "the ferry is late"),
        ("The Glass Ferry", "The Glass is full."),
        ("", "Anything."),
        ("???", "???"),
    ],
)
def test_what_is_no_name_is_not_taken_for_one(title: str, text: str) -> None:
    assert Titles([(1, title)]).find_names(text) == {}


def test_the_longest_name_counts() -> None:
    titles = Titles([(1, "Glass"), (2, "Glass Ferry"), (3, "The Glass Ferry")])
    assert set(titles.find_names("We saw The Glass Ferry.")) == {3}


def test_a_name_that_several_bear_tells_less() -> None:
    titles = Titles([(n, f"Ilka Varnholt ({n})") for n in range(4)])
    assert [name.bearers for name in titles.find_names("Ilka Varnholt").values()] == [4, 4, 4, 4]


def test_of_a_text_full_of_names_only_so_many_are_taken() -> None:
    names = [f"Tower {n}" for n in range(500)]
    assert len(Titles(enumerate(names)).find_names(", ".join(names))) == NAMED_IN_A_TEXT
    assert TITLES >= 100_000


@given(st.lists(st.text(max_size=30), max_size=8), st.text(max_size=200))
def test_no_title_and_no_text_is_too_strange(titles: list[str], text: str) -> None:
    known = Titles(enumerate(titles))
    assert all(0 <= number < len(titles) for number in known.find_names(text + " ".join(titles)))
