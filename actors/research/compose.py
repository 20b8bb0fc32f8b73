"""From a case to a report: which statement stands where, and which number each source has. Pure."""

from actors.evidence import Citation
from actors.research.messages import CloseResearch
from actors.research.ports import Statement
from actors.research.records import Block, Line, Listed, Report


def compose(case: CloseResearch) -> Report:
    """The report of all that the case holds."""
    numbers: dict[str, int] = {}

    def line(said: Statement) -> Line:
        number = numbers.setdefault(said.page, len(numbers) + 1)
        return Line(said.text, (number,), "" if said.text == said.quote else said.quote)

    sections = tuple(
        Block(each.question, tuple(line(said) for said in each.statements), each.note) for each in case.sections
    )
    pages = {page.key: page for page in case.pages}
    sources = tuple(
        Listed(number, page.title, page.url, page.source, page.sha256, page.read_at, len(page.text), page.full_length)
        for key, number in numbers.items()
        if (page := pages.get(key)) is not None
    )
    return Report(
        title=case.text, question=case.text, sections=sections, missed=case.missed, sources=sources,
        further=() if case.is_complete else case.directions, partial=case.partial or case.detail,
        unanswered=tuple(each.question for each in case.sections if not each.statements),
    )  # fmt: skip


def citations(case: CloseResearch, report: Report) -> tuple[Citation, ...]:
    """What stands behind the numbers, sentence by sentence."""
    numbers = {listed.url: listed.number for listed in report.sources}
    pages = {page.key: page for page in case.pages}
    passages = {passage.id: passage for passage in case.passages}
    cited = []
    for section in case.sections:
        for said in section.statements:
            passage, page = passages.get(said.passage), pages.get(said.page)
            if passage is None or page is None:
                continue
            start = passage.start + max(0, passage.text.find(said.quote))
            cited.append(
                Citation(
                    numbers[page.url],
                    page.url,
                    page.title,
                    passage.heading,
                    said.quote,
                    start,
                    start + len(said.quote),
                    passage.anchor,
                )
            )
    return tuple(cited)
