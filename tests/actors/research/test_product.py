"""A product: whose analysis is asked for in whatever words, and what stands of it without a model."""

import pytest

from actors.evidence.passages import Passage
from actors.evidence.sources import Page
from actors.research.output_schemas import Point
from actors.research.product import PARTS, find_flaw, find_parts, find_product, list_points, read_tables
from tests.actors.research.cases import page


def passage(text: str, heading: str = "", title: str = "Lumo") -> Passage:
    return Passage("p#1", "p", title, heading, text, 0, len(text))


@pytest.mark.req("PR-6")
@pytest.mark.parametrize(
    ("task", "parts"),
    [
        ("Product analysis of Lumo", PARTS),
        ("who else is there besides lumo?", ("competitors",)),
        ("What do people say against Lumo?", ("weaknesses",)),
        ("Lumo swot", ("strengths", "weaknesses", "opportunities", "threats")),
        ("Was kann „Lumo“?", ("features",)),
        ("Lumo 的优缺点", ("strengths", "weaknesses")),
        ("How does a tide mill open its gates?", ()),
        ("Which risks has a backup?", ()),
    ],
)
def test_any_wording_names_its_parts(task: str, parts: tuple[str, ...]) -> None:
    assert find_parts(task) == parts


@pytest.mark.req("PR-6")
@pytest.mark.parametrize(
    ("task", "text", "product"),
    [
        ("SWOT quillbase", "Quillbase is a logbook. Crews like Quillbase.", "quillbase"),
        ("Who are the competitors of Harrow Point?", "Harrow Point is sold in six towns.", "Harrow Point"),
        ("云梭的竞品分析", "云梭是维修班组使用的软件。", "云梭"),
    ],
)
def test_a_product_is_what_the_task_and_the_pages_have_in_common(task: str, text: str, product: str) -> None:
    pages: tuple[Page, ...] = (page("https://a.example/", text), page("https://b.example/", "The canteen opens at 11."))

    assert find_product(task, pages) == product


@pytest.mark.req("PR-6")
def test_without_a_model_a_quadrant_is_only_what_a_heading_says() -> None:
    headed = passage("It starts in seconds.", "Lumo > Strengths")
    worded = passage("Crews complain that its lists are slow.", "Lumo > From the workshop")

    points = list_points(("strengths", "weaknesses"), (headed, worded))

    assert [(each.kind, each.text) for each in points] == [("strength", headed.text), ("swot", worded.text)]


@pytest.mark.req("PR-6")
def test_without_a_model_the_strengths_of_another_product_are_not_of_one_that_its_page_only_names() -> None:
    of_lumo = passage("Its client portal, which Glim has not. Glim's portal is announced.", "Lumo > Strengths")
    of_glim = passage("It is cheap.", "Glim > Strengths")

    assert [each.text for each in list_points(("strengths",), (of_lumo, of_glim), "Glim")] == [of_glim.text]
    (place,) = list_points(("strengths",), (of_lumo,), "Glim")
    assert (place.kind, place.text) == ("swot", of_lumo.text), "nobody knows whose strength it is"
    assert list_points(("strengths",), (of_lumo, of_glim), "Blasebalg") == ()


@pytest.mark.req("PR-6")
def test_without_a_model_a_table_is_only_what_a_table_says() -> None:
    table = passage("| | Lumo | Glim |\n|---|---|---|\n| dimmer | yes | no |\n| timer | yes | |\n")

    found = read_tables("lumo", (passage("Lumo has a dimmer, and Glim has none."), table), 1)

    assert found is not None
    assert found.sides == ("Lumo", "Glim")
    assert [(row.attribute, [cell and cell.verdict for cell in row.cells]) for row in found.rows] == [
        ("dimmer", ["yes", "no"]),
        ("timer", ["yes", None]),
    ]
    assert all(cell.said.quote in table.text for row in found.rows for cell in row.cells if cell)
    assert read_tables("lumo", (passage("Lumo has a dimmer, and Glim has none."),), 1) is None


GLIM = "Glim is the closest rival of Lumo."


@pytest.mark.req("PR-6")
@pytest.mark.parametrize(
    ("point", "stands"),
    [
        (Point(GLIM, 1, GLIM, kind="competitor", product="Glim"), True),
        (Point("Zorvex is a rival.", 1, GLIM, kind="competitor", product="Zorvex"), False),
        (Point("Lumo is a rival.", 1, GLIM, kind="competitor", product="Lumo"), False),
        (Point(GLIM, 2, GLIM, kind="competitor", product="Glim"), False),
        (Point("Glim has no timer.", 1, GLIM, kind="lacks", product="Glim", feature="timer"), False),
        (Point("Orbit is a rival.", 1, GLIM, kind="lacks", product="Orbit", feature="rival"), False),
    ],
)
def test_a_point_is_about_the_product_that_it_names(point: Point, stands: bool) -> None:
    assert (find_flaw(point, (passage(GLIM),), "Lumo") == "") == stands
