"""The searches of a research as its case tells of them: what each query found, and what of it was not read. Pure."""

from collections.abc import Mapping

from actors.evidence.sources import SearchResult
from actors.evidence.trace_steps import NAME_CHARACTERS, QUERY_CHARACTERS, Found, SearchStep, clip
from actors.research.workflow import ResearchCase
from actors.text.urls import key_of

SEARCHER = "searcher"
BETTER = "Others were read instead."


def list_searches(case: ResearchCase) -> tuple[SearchStep, ...]:
    """Each query with its results, the best first; those of a plan that brought nothing new, too."""
    tasks = {(each.source, each.query): each for each in case.searches}
    groups: dict[tuple[str, str], list[SearchResult]] = {each: [] for each in tasks}
    plan = case.plan
    for source in plan.sources if plan else ():
        for query in plan.queries if plan and source != "urls" else ():
            groups.setdefault((source, query), [])
    for each in case.results:
        groups.setdefault((each.source, each.query), []).append(each)
    silent = {each.place: each.detail for each in case.missed}
    failed = {each: task.detail if task.status == "failed" else "" for each, task in tasks.items()}
    why = {key_of(each.place): clip(each.detail) for each in case.missed}
    why |= {page.key: "" for page in case.pages}
    return tuple(
        SearchStep(
            SEARCHER, clip(query, QUERY_CHARACTERS), source,
            tuple(_describe(each, why) for each in sorted(found, key=lambda each: -each.quality)),
            failed=clip(failed.get((source, query), silent.get(source, ""))),
            pending=(source, query) in tasks and tasks[source, query].status == "pending",
        )
        for (source, query), found in groups.items()
    )  # fmt: skip


def _describe(result: SearchResult, why: Mapping[str, str]) -> Found:
    """
    One result.

    :param why: by its key why a page was not read; empty for one that was.
    """
    left_out = why.get(key_of(result.url), BETTER)
    place = clip(result.url.removeprefix(f"{result.source}:"), NAME_CHARACTERS)
    return Found(place, clip(result.title, NAME_CHARACTERS), quality=round(result.quality, 2), left_out=left_out)
