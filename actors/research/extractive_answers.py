"""A research without a model: a plan by rules, and for each question the places that come closest. Deterministic."""

from collections.abc import Callable

import msgspec

from actors.evidence.places import list_places
from actors.ports import Completion, ModelRequest
from actors.research.output_schemas import Answer, Overview, PlanDraft, Points
from actors.research.planning import draft_plan
from actors.research.product import PART_OF, list_points

OF_A_PAGE = 2
"""So many places are shown of one page, where there are others."""


def _fill(answer: Callable[[ModelRequest], msgspec.Struct]) -> Callable[[ModelRequest], Completion]:
    def fill(task: ModelRequest) -> Completion:
        return Completion(answer(task), task.findings.passages if task.findings else ())

    return fill


ANSWERS = {
    PlanDraft: _fill(lambda task: draft_plan(task.material)),
    Answer: _fill(
        lambda task: Answer(list_places(task.findings.passages if task.findings else (), of_a_page=OF_A_PAGE))
    ),
    Points: _fill(
        lambda task: Points(
            list_points(
                tuple(dict.fromkeys(PART_OF[kind] for kind in task.material.wanted)),
                task.findings.passages if task.findings else (),
                task.material.product,
            )
        )
    ),
    Overview: _fill(lambda _: Overview()),  # a report shows places where their question is answered
}
