"""
A product: which parts of an analysis a task asks for, whose it is, and what stands of each part. Pure.

People ask in any words, and pages are written in others. So the words of each part are data (product_words.toml), and
the product's name is what a task and the pages that were read have in common.
"""

import functools
import re
import tomllib
from collections.abc import Collection, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from actors.evidence.claims import is_verbatim
from actors.evidence.passages import Passage, SearchHits, last_heading
from actors.evidence.sources import Page, Statement
from actors.evidence.support import are_comparable
from actors.research.models import Cell, Comparison, Competitor, Profile, Row, Swot
from actors.research.output_schemas import Kind, Point
from actors.text.catalogue import say
from actors.text.keywords import share, terms
from actors.text.normalize import casefold
from actors.text.source_text import flat
from actors.text.tokenizer import CJK, is_cjk
from actors.text.truncate import cut_at_paragraph, shorten

QUADRANTS = ("strengths", "weaknesses", "opportunities", "threats")
PARTS = ("competitors", "features", *QUADRANTS, "comparison")
GROUPS = {"competitors": ("competitors",), "features": ("features", "comparison"), "swot": QUADRANTS}
"""What is asked for together."""
KINDS: dict[str, tuple[Kind, ...]] = {
    "competitors": ("competitor",), "features": ("feature",), "strengths": ("strength",), "weaknesses": ("weakness",),
    "opportunities": ("opportunity",), "threats": ("threat",), "comparison": ("has", "lacks", "compares"),
}  # fmt: skip
"""The points that a part is made of."""
PART_OF = {kind: part for part, kinds in KINDS.items() for kind in kinds}
TASK_CHARACTERS = 2000
"""So much of a task is looked at,"""
PAGES, PAGE_CHARACTERS = 40, 2000
"""and so much of what was read, for the name that both have in common."""
CANDIDATES, NAME_PIECES = 200, 10
TITLED = 20
"""A name that stands in a title counts as often as one that stands in a text so many times."""
PLACES, PLACE_CHARACTERS = 6, 1500
"""Of a part without a model."""
SIDES, ROWS = 6, 20
ATTRIBUTE_CHARACTERS = 80

_WORD = re.compile(rf"[{CJK}]+|[^\W_{CJK}](?:[^\W{CJK}]|[+#.'’&-]){{0,60}}(?<![.'’&-])")
GAP = "~"
"""In the file of words: some words of whoever asks."""

_HEADING = re.compile(r"^#{1,6}\s{1,4}(?P<title>\S.{0,200})$|^\*\*(?P<bold>[^*\n]{2,100})\*\*:?$")
_RULE = re.compile(r"[|:\s-]+")
_CELLS = re.compile(r"(?<!\\)\|")


class Words(NamedTuple):
    """The words of one part."""

    said: re.Pattern[str]
    apart: re.Pattern[str]
    """The same, with nothing of what may stand between them."""


@functools.cache
def _load() -> dict[str, Any]:
    """The file of words."""
    return tomllib.loads(Path(__file__).with_name("product_words.toml").read_text(encoding="utf-8"))


@functools.cache
def _words(part: str) -> Words:
    words: list[str] = _load()[part]
    return Words(_compile(words), _compile(piece.strip() for each in words for piece in each.split(GAP)))


def _compile(words: Iterable[str]) -> re.Pattern[str]:
    forms = []
    for each in filter(None, words):
        form = r"\s{1,4}".join(map(re.escape, casefold(each).split()))
        form = form.replace(r"\*", r"\w{0,30}").replace(re.escape(GAP), r"(?:\S{1,40}\s{1,4}){0,3}\S{1,40}")
        forms.append(form if is_cjk(each) else rf"\b{form}\b")
    return re.compile("|".join(forms))


def find_parts(task: str) -> tuple[str, ...]:
    """The parts that a task asks for, in whatever words; none: it asks for no analysis of a product."""
    text = casefold(task[:TASK_CHARACTERS])
    if _words("whole").said.search(text):
        return PARTS
    found = tuple(part for part in PARTS if _words(part).said.search(text))
    return found if set(found) - {"opportunities", "threats"} else ()  # any system has risks


def group_parts(parts: Collection[str]) -> dict[str, tuple[str, ...]]:
    """The parts by what is asked for together."""
    of = {name: tuple(each for each in its if each in parts) for name, its in GROUPS.items()}
    return {name: its for name, its in of.items() if its}


def look_up(group: str, product: str) -> str:
    """What to ask a search of the pages that were read."""
    return f"{product} {_load()['lookups'][group]}".strip()


def guess_names(task: str) -> list[str]:
    """What in a task may be a name, in its order: runs of words that ask for nothing."""
    text = task[:TASK_CHARACTERS]
    for part in (*PARTS, "whole", "asking"):
        text = _blank(_words(part).apart, text)
    runs, end = [""], 0
    for found in _WORD.finditer(text):
        word, between = found.group(), text[end : found.start()]
        named = is_cjk(word) or bool(terms(word))
        if between.strip() or len(between) > 1 or not named:
            runs.append("")
        runs[-1] += f"{between if runs[-1] else ''}{word}" if named else ""
        end = found.end()
    return [each for each in runs if each]


def _blank(pattern: re.Pattern[str], text: str) -> str:
    """A text with marks that part words in the place of what a pattern finds."""
    folded = casefold(text)
    if len(folded) != len(text):
        text = folded
    for found in pattern.finditer(folded):
        text = text[: found.start()] + "|" * len(found.group()) + text[found.end() :]
    return text


def find_product(task: str, pages: Sequence[Page]) -> str:
    """The name that a task and the pages have in common, as the task spells it; what may be one where none is."""
    names = guess_names(task)
    titles = [casefold(page.title) for page in pages[:PAGES]]
    texts = [casefold(page.text[:PAGE_CHARACTERS]) for page in pages[:PAGES]]

    def count(name: str) -> int:
        folded = casefold(name)
        edges = re.compile(rf"(?<![a-z0-9]){re.escape(folded)}(?![a-z0-9])")
        titled = sum(bool(edges.search(each)) for each in titles if folded in each)
        return TITLED * titled + sum(len(edges.findall(each)) for each in texts if folded in each)

    best, most = "", 0
    candidates = dict.fromkeys(part for each in names for part in _sub_runs(each))
    for name in sorted(list(candidates)[:CANDIDATES], key=len):
        found = count(name)
        # a longer one that nearly always stands where a part of it does is the whole name
        if found > most or (best in name and found * 2 > most):
            best, most = name, found
    return best or next(iter(names), "")


def keep_naming(product: str, pages: Sequence[Page], found: Sequence[SearchHits]) -> tuple[SearchHits, ...]:
    """What was found on pages that name the product, where any does: others are on something else."""
    name = casefold(product)
    naming = {page.key for page in pages if name in casefold(f"{page.title}\n{page.text}")}
    if not naming:
        return tuple(found)
    return tuple(
        msgspec.structs.replace(
            hits, passages=tuple(each for each in hits.passages if each.source in naming), meaning=None
        )
        for hits in found
    )


def _sub_runs(name: str) -> Iterator[str]:
    """The parts of a name that may be the name: of some words, or of some characters where nothing parts these."""
    pieces = [found.span() for found in re.finditer(rf"[{CJK}]|[^\s{CJK}]+", name)]
    for start in range(len(pieces)):
        for end in range(start, min(start + NAME_PIECES, len(pieces))):
            part = name[pieces[start][0] : pieces[end][1]]
            if len(part) > 1:
                yield part


class SettledPoint(NamedTuple):
    """A point that stands."""

    point: Point
    said: Statement


def label(point: Point, language: str) -> str:
    """What a point says, the part that it stands under included: so it is checked whole."""
    if point.kind == "has" or point.kind == "lacks":
        return f"{point.product}: {point.feature}: {say('yes' if point.kind == 'has' else 'no', language)}"
    return f"{_lead(point, language)}{point.text}"


def _lead(point: Point, language: str) -> str:
    if point.kind == "compares":
        return f"{point.product}: {point.feature}: "
    part = PART_OF.get(point.kind)
    return f"{say(part, language)}: " if part else ""


def find_flaw(point: Point, passages: Sequence[Passage], product: str) -> str:
    """Why a point is not about what it says it is about, as far as names tell; empty: they do not."""
    if not 1 <= point.passage <= len(passages):
        return "there is no such passage"
    passage = passages[point.passage - 1]
    named, quote = casefold(point.product), casefold(point.quote)
    above = casefold(f"{passage.title} {passage.heading}")
    if point.kind == "competitor":
        if not named or named == casefold(product) or named not in casefold(point.text):
            return "it names no competitor"
        return (
            ""
            if named in quote or named in above or named in casefold(passage.text)
            else "its passage does not name it"
        )
    if point.kind in {"has", "lacks", "compares"}:
        if not named or not (named in quote or named in above):
            return "nothing says that it is about this product"
        about = share(terms(point.feature), terms(point.quote))
        if are_comparable(point.feature, point.quote) and not about:
            return "its quote does not speak of that"
    return ""


def settle(point: Point, passage: Passage, number: int, language: str) -> SettledPoint:
    """A point that was checked with its label, as a statement: in its own words, or those that a cell stands for."""
    text = point.text if point.kind in {"has", "lacks"} else point.text.removeprefix(_lead(point, language))
    return SettledPoint(point, Statement(text, point.quote, passage.id, passage.source, number))


def quote_point(point: Point, passages: Sequence[Passage], number: int) -> SettledPoint | None:
    """A point without a model: a place, word for word, with the heading that it stands under; None: it is none."""
    if not is_verbatim(point, passages):
        return None
    passage = passages[point.passage - 1]
    return SettledPoint(point, Statement(point.text, point.quote, passage.id, passage.source, number, point.feature))


def make_profile(
    found: Sequence[SettledPoint], product: str, parts: Sequence[str], tables: Comparison | None
) -> Profile:
    """What stands, part by part; a comparison of tables where nobody made another one."""
    of = {part: [each for each in found if PART_OF.get(each.point.kind) == part] for part in PARTS}
    rivals: dict[str, tuple[str, list[Statement]]] = {}
    for each in of["competitors"]:
        name = " ".join(each.point.product.split())
        rivals.setdefault(casefold(name), (name, []))[1].append(each.said)
    swot = Swot(
        **{part: tuple(each.said for each in of[part]) for part in QUADRANTS},
        unsorted=tuple(each.said for each in found if each.point.kind == "swot"),
    )
    return Profile(
        product, tuple(parts), tuple(Competitor(name, tuple(said)) for name, said in rivals.values()),
        tuple(each.said for each in of["features"]), swot, _compare(of["comparison"], product) or tables,
    )  # fmt: skip


def _compare(found: Sequence[SettledPoint], product: str) -> Comparison | None:
    """Product by feature; where two sources disagree nobody knows."""
    cells: dict[tuple[str, str], Cell | None] = {}
    sides, rows = {casefold(product): product}, dict[str, str]()
    for point, said in found:
        side, row = casefold(point.product), casefold(" ".join(point.feature.split()))
        sides.setdefault(side, point.product)
        rows.setdefault(row, shorten(point.feature, ATTRIBUTE_CHARACTERS))
        verdict = {"has": "yes", "lacks": "no"}.get(point.kind, "")
        cell = Cell(said, verdict)
        known = cells.setdefault((side, row), cell)
        if known is None or known.verdict != verdict:
            cells[side, row] = None
    shown = [each for each in sides if any((each, row) in cells for row in rows)][:SIDES]
    if not any(cells.values()):
        return None
    kept = (Row(name, tuple(cells.get((side, row)) for side in shown)) for row, name in list(rows.items())[:ROWS])
    return Comparison(tuple(sides[each] for each in shown), tuple(row for row in kept if any(row.cells)))


# ---- without a model: only what stands there, under the heading that it stands under


def list_points(parts: Sequence[str], passages: Sequence[Passage], product: str = "") -> tuple[Point, ...]:
    """
    The places that speak of each part: sections whose heading says so, then paragraphs whose words do.

    What stands on a page that is titled after something else is not of the product: its strengths are
    another's. Where no page is titled after it, the sections that name it are shown, in no quadrant.
    `feature` has the heading that a place stands under in its source.
    """
    name = casefold(product)
    titled = any(name in casefold(f"{each.title} {each.heading}") for each in passages)
    headed, worded = list[Point](), list[Point]()
    for number, passage in enumerate(passages, 1):
        for heading, block in split_blocks(passage):
            above = f"{passage.title} {passage.heading} {heading}"
            if name not in casefold(above if titled else f"{above} {block}"):
                continue
            spoken = _spoken(heading, parts)
            if spoken and heading != passage.title:
                headed.append(_place(spoken, block, number, heading, sure=titled))
                continue
            for paragraph in block.split("\n\n"):
                if said := _spoken(paragraph, parts):
                    worded.append(_place(said, paragraph, number, heading, sure=False))
    kept, count = list[Point](), dict[str, int]()
    for point in (*headed, *worded):
        if point.text and not any(point.text in each.text for each in kept if each.kind == point.kind):
            count[point.kind] = count.get(point.kind, 0) + 1
            kept += [point] if count[point.kind] <= PLACES else []
    return tuple(kept)


def _spoken(text: str, parts: Sequence[str]) -> list[str]:
    folded = casefold(text)
    return [part for part in parts if part != "comparison" and _words(part).said.search(folded)]


def _place(parts: Sequence[str], text: str, number: int, heading: str, *, sure: bool) -> Point:
    """:param sure: its heading says so; of a quadrant, words alone do not."""
    part = parts[0]
    text = cut_at_paragraph(text.strip("\n").rstrip(), PLACE_CHARACTERS)
    sorted_ = part not in QUADRANTS or (sure and len(parts) == 1)
    return Point(text, number, text, KINDS[part][0] if sorted_ else "swot", feature=heading)


def split_blocks(passage: Passage) -> Iterator[tuple[str, str]]:
    """The sections that a passage consists of: the heading above each, and its text as it stands there."""
    heading, start, at = last_heading(passage), 0, 0
    for line in passage.text.splitlines(keepends=True):
        if found := _HEADING.match(line.rstrip()):
            yield heading, passage.text[start:at]
            heading, start = found["title"] or found["bold"], at + len(line)
        at += len(line)
    yield heading, passage.text[start:]


def read_tables(product: str, passages: Iterable[Passage], number: int) -> Comparison | None:
    """
    The largest table in which the product stands beside others; each cell as the table has it.

    :param number: of the round.
    """
    found = (_read_table(rows, product, passage, number) for passage in passages for rows in _tables(passage.text))
    return max(filter(None, found), key=lambda each: len(each.rows) * len(each.sides), default=None)


def _tables(text: str) -> Iterator[list[str]]:
    rows = list[str]()
    for line in (*text.split("\n"), ""):
        if line.lstrip().startswith("|"):
            rows.append(line.strip())
            continue
        if len(rows) > 2:
            yield rows
        rows = []


def _read_table(rows: Sequence[str], product: str, passage: Passage, number: int) -> Comparison | None:
    lines = [each for each in rows if not _RULE.fullmatch(each)]
    cells = [[flat(cell).strip() for cell in _CELLS.split(line.strip("|"))] for line in lines]
    if not product or len(cells) < 2 or len({len(row) for row in cells}) > 1 or len(cells[0]) < 2:
        return None
    said = [Statement(line, line, passage.id, passage.source, number) for line in lines]
    head, first, name = cells[0], [row[0] for row in cells[1:]], casefold(product)
    if any(name in casefold(each) for each in head[1:]):
        made = [
            Row(row[0], tuple(Cell(said[n], cell) if cell else None for cell in row[1 : SIDES + 1]))
            for n, row in enumerate(cells[1:], 1)
        ]
        return Comparison(tuple(head[1 : SIDES + 1]), tuple(made[:ROWS]))
    if len(first) > 1 and any(name in casefold(each) for each in first):
        sides = cells[1 : SIDES + 1]
        made = [
            Row(title, tuple(Cell(said[n], row[place]) if row[place] else None for n, row in enumerate(sides, 1)))
            for place, title in enumerate(head[1:], 1)
        ]
        return Comparison(tuple(row[0] for row in sides), tuple(made[:ROWS]))
    return None
