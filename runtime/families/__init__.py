"""The families of agents that this installation runs. A family is one record; the tuple below is all that knows it."""

from actors.extractive.model import Extractive
from runtime.families import helpdesk, research
from runtime.families.family import Family
from runtime.messages import display, nearest
from runtime.tickets import InvalidTicket

FAMILIES: tuple[Family, ...] = (helpdesk.FAMILY, research.FAMILY)


def find(workflow: str) -> Family:
    """
    The family of this name.

    :raises InvalidTicket: there is none; the text names the nearest.
    """
    known = {family.name: family for family in FAMILIES}
    if workflow not in known:
        raise InvalidTicket(f"There is no workflow {display(workflow)}. {nearest(workflow, known)}")
    return known[workflow]


def extractive() -> Extractive:
    """The model without a model, with the answers of every family."""
    return Extractive({schema: module for family in FAMILIES for schema, module in family.answers.items()})
