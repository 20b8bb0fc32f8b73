"""What research agents ask of a model, and the typed answers. A claim names a passage by its number and quotes it."""

from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from actors.evidence.claims import Claim


class PlanRequest(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    question: str
    breadth: int
    round: int = 1
    direction: str = ""
    open: tuple[str, ...] = ()
    learnings: tuple[str, ...] = ()
    shortfall: str = ""
    questions_so_far: tuple[str, ...] = ()
    searched_in_vain: tuple[str, ...] = ()
    sides: tuple[str, ...] = ()
    criteria: tuple[str, ...] = ()


class PlanDraft(msgspec.Struct, frozen=True, gc=False):
    """How to find out."""

    questions: Annotated[tuple[str, ...], Meta(description="Whole questions, at most `breadth`.")]
    """What must be answered, each a whole question; at most as many as asked for."""
    queries: Annotated[tuple[str, ...], Meta(description="Search terms, at least one a question.")]
    """What to type into a search engine, at least one a question, each under 400 characters."""
    sides: tuple[str, ...] = ()
    """The things that the task compares, if it compares any."""
    criteria: tuple[str, ...] = ()
    """What it compares them on, where it says so, such as price."""


class AnswerRequest(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    question: str
    task: str
    """The whole task, of which the question is a part."""
    explored: tuple[str, ...] = ()
    sides: tuple[str, ...] = ()
    learnings: tuple[str, ...] = ()


class Answer(msgspec.Struct, frozen=True, gc=False):
    """What the passages say on one question."""

    claims: tuple[Claim, ...] = ()
    directions: Annotated[tuple[str, ...], Meta(description="What stays open, in short phrases.")] = ()
    """What stays open and should be looked for next, each a short phrase."""
    answered: Annotated[bool, Meta(description="The claims answer all of the question.")] = False
    """The claims answer the question in full."""


Kind = Literal[
    "competitor", "feature", "strength", "weakness", "opportunity", "threat", "has", "lacks", "compares", "swot"
]


class PointsRequest(msgspec.Struct, frozen=True, gc=False):
    task: str
    product: str
    """Its name, as far as it is known."""
    wanted: tuple[Kind, ...]


class Point(Claim, frozen=True, gc=False):
    """A claim on a product, and where it stands in an analysis."""

    kind: Annotated[Kind, Meta(description="One of those wanted.", extra_json_schema={"order": 4})]
    product: Annotated[
        str, Meta(description="The name of the competitor, or of which product it is.", extra_json_schema={"order": 5})
    ] = ""
    feature: Annotated[
        str, Meta(description="The feature or criterion, in a few words.", extra_json_schema={"order": 6})
    ] = ""


class Points(msgspec.Struct, frozen=True, gc=False):
    """What the passages say of a product, each point of one of the kinds that are `wanted`."""

    claims: tuple[Point, ...] = ()


class OverviewRequest(msgspec.Struct, frozen=True, gc=False):
    question: str
    summary: str = ""
    learnings: tuple[str, ...] = ()


class Overview(msgspec.Struct, frozen=True, gc=False):
    """The few claims that a reader in a hurry needs, in order."""

    claims: tuple[Claim, ...] = ()
