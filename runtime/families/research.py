"""The research as a family: how a ticket becomes one, and how a round deeper is begun and ends."""

from collections.abc import Iterable

import msgspec

from actors.evidence.trace_steps import SearchStep
from actors.research import messages as m
from actors.research.models import ResearchOptions
from actors.research.output_schemas import Answer, Overview, PlanDraft, Points
from actors.research.workflow import RESEARCH, ResearchCase
from actors.text.languages import guess_language
from actors.text.urls import split
from actors.workflow.outcome import Outcome
from actors.workflow.tables import Run
from runtime.engine.runs import RunHandle
from runtime.families.family import ChildRole, Family, Round, SharedPorts
from runtime.llm.model_choice import chosen
from runtime.search.source_registry import explain_refusal
from runtime.service_error import ServiceError
from runtime.settings import Settings
from runtime.tickets import Ticket
from runtime.user_text import display

MOST_BREADTH = 20
MOST_DEPTH = 5
MOST_PAGES = 50
"""In one pass, which is what a depth alone orders."""
MOST_URLS = 50
URL_CHARACTERS = 2_000


class ResearchOrder(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a research is to be. With neither breadth nor depth it is as configured."""

    breadth: int | None = None
    """Pages a round, 1 to 20."""
    depth: int | None = None
    """Rounds at most, 1 to 5; without a breadth: pages of one single pass, 1 to 50."""
    sources: tuple[str, ...] = ()
    """Names of sources; empty: all that are configured."""
    urls: tuple[str, ...] = ()
    """Pages that are read in any case, at most 50."""


def make_options(order: ResearchOrder, settings: Settings, dash: str = "--") -> ResearchOptions:
    """
    What the research is ordered to do.

    :param dash: how the options are spelled where they were given.
    :raises ServiceError: with a sentence that names the option.
    """
    _countable(settings)
    breadth, depth = _size(order, settings, dash)
    sources = _sources(order.sources, settings, f"{dash}sources")
    if not order.sources:
        sources = _sources(settings.research.sources, settings, "[research] sources")
    return ResearchOptions(breadth=breadth, depth=depth, sources=sources, urls=_urls(order.urls))


def _countable(settings: Settings) -> None:
    """A budget of money without prices would never be used up."""
    model = settings.model
    if settings.research.money and not (model.price_in or model.price_out) and chosen(model) == "openai":
        raise ServiceError(
            "[research] money is set, but the model has no price: set [model] price_in and price_out, or money to 0."
        )


def _size(order: ResearchOrder, settings: Settings, dash: str) -> tuple[int, int]:
    """Pages a round, and rounds."""
    if order.breadth is None and order.depth is not None:
        alone = f"{dash}depth without {dash}breadth is the number of pages of one pass and"
        return _within(order.depth, MOST_PAGES, alone), 1
    breadth = settings.research.breadth if order.breadth is None else order.breadth
    depth = settings.research.depth if order.depth is None else order.depth
    rounds = f"{dash}depth with {dash}breadth is the number of rounds and"
    return _within(breadth, MOST_BREADTH, f"{dash}breadth"), _within(depth, MOST_DEPTH, rounds)


def _within(number: int, most: int, what: str) -> int:
    if not 1 <= number <= most:
        raise ServiceError(f"{what} must be a whole number from 1 to {most}, not {display(number)}.")
    return number


def _sources(names: Iterable[str], settings: Settings, where: str) -> tuple[str, ...]:
    wanted = tuple(dict.fromkeys(each.strip().lower() for each in names if each.strip()))
    for name in wanted:
        if said := explain_refusal(name, settings):
            raise ServiceError(f"{where}: {said}")
    return wanted


def _urls(given: Iterable[str]) -> tuple[str, ...]:
    urls = tuple(dict.fromkeys(each.strip() for each in given))
    if len(urls) > MOST_URLS:
        raise ServiceError(f"At most {MOST_URLS} URLs can be named, not {len(urls)}. Leave some away.")
    for url in urls:
        _check(url)
    return urls


def _check(url: str) -> None:
    parts = split(url)
    known = parts is not None and parts.hostname is not None and parts.scheme in {"http", "https"} and parts.port != 0
    if parts is None or not known or not url.isprintable() or " " in url:
        meant = (
            f" Did you mean {display(f'https://{url}')}?" if "//" not in url and "." in url and " " not in url else ""
        )
        raise ServiceError(f"{display(url)} is no address of a web page, such as https://example.org/page.{meant}")
    if parts.username is not None or parts.password is not None:
        raise ServiceError("A URL with a user name or a password is not read. Leave them away.")
    if len(url) > URL_CHARACTERS:
        raise ServiceError(f"{display(url)} is over {URL_CHARACTERS} characters. Name a shorter URL.")


__all__ = ["FAMILY", "ResearchOptions"]


def make_case(ticket: Ticket, settings: Settings) -> ResearchCase:
    """The case of a question; without options it is as configured."""
    limits, options = settings.research, ticket.options
    if not isinstance(options, ResearchOptions):
        options = ResearchOptions(limits.breadth, limits.depth, sources=limits.sources)
    language = guess_language(ticket.whole)
    return ResearchCase(ticket_id=ticket.id, text=ticket.story, brief=options, language=language)


def make_round(request: m.ExploreDirections, run_id: str, _: Settings) -> ResearchCase:
    """The case that the next round begins with: all that is known, and what to explore."""
    known = {name: getattr(request, name) for name in request.__struct_fields__}
    number = request.brief.round + 1
    brief = msgspec.structs.replace(request.brief, round=number, direction=request.directions[0], urls=())
    known |= {"ticket_id": run_id, "brief": brief, "rounds": number, "read_before": len(request.pages)}
    return ResearchCase(**known)


def report_round(where: Run, outcome: Outcome) -> m.RoundCompleted:
    """All that a round deeper knows at its end, for the one above it."""
    case: ResearchCase = where.case
    partial = case.partial or (outcome.detail if outcome.status in {"error", "cancelled"} else "")
    known = {n: getattr(case, n) for n in m.RoundCompleted.__struct_fields__}
    return m.RoundCompleted(**(known | {"partial": partial}))


async def restore(shared: SharedPorts) -> tuple[list[RunHandle], list[str]]:
    """Go on with the researches of the state files."""
    from runtime.families.research_state import recovery  # only `resume` needs it

    return await recovery.restore(shared)


def list_searches(case: ResearchCase) -> tuple[SearchStep, ...]:
    """The searches that a case tells of."""
    from actors.research import search_steps  # only a trace needs it

    return search_steps.list_searches(case)


FAMILY = Family(
    flow=RESEARCH,
    label="research",
    runs="runtime.families.research_runs:ResearchRuns",
    make_case=make_case,
    order_of=lambda case: (case.text, case.brief),
    options=ResearchOptions,
    order=ResearchOrder,
    make_options=make_options,
    options_of=lambda case: case.brief,
    round_of=lambda case: Round(case.brief.round, case.brief.depth, case.brief.direction),
    answers=dict.fromkeys((PlanDraft, Answer, Points, Overview), "actors.research.extractive_answers"),
    children={"round": ChildRole(RESEARCH.name, make_round, report_round, lambda s: s.research.report_seconds)},
    report=lambda case: case.report,
    list_searches=list_searches,
    restore=restore,
)
