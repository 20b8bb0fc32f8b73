"""The families of agents as this installation runs them: their roles, their limits, their answers without a model."""

from actors.extractive.model import Extractive
from actors.helpdesk.output_schemas import Analysis, Draft, Summary
from actors.research.output_schemas import Answer, Landscape, Overview, PlanDraft


def extractive() -> Extractive:
    """The model without a model, with the answers of every family."""
    return Extractive(
        dict.fromkeys((Analysis, Draft, Summary), "actors.helpdesk.extractive_answers")
        | dict.fromkeys((PlanDraft, Answer, Landscape, Overview), "actors.research.extractive_answers")
    )
