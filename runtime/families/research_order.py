"""What may be ordered of a research: it becomes the options of its ticket, or one sentence that says why not."""

from collections.abc import Iterable

import msgspec

from actors.research.models import ResearchOptions
from actors.text.urls import split
from runtime.llm.model_choice import chosen
from runtime.search.source_registry import explain_refusal
from runtime.service_error import ServiceError
from runtime.settings import Settings
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
