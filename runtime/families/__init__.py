"""The families of agents that this installation runs. A family is one record; the tuple below is all that knows it."""

from collections.abc import Mapping

import msgspec

from actors.extractive import Extractive
from bus import Event
from runtime.families import helpdesk, legal, research
from runtime.families.family import Family
from runtime.observe.span import FoundIntent
from runtime.service_error import ServiceError
from runtime.settings import Settings
from runtime.user_text import display, nearest, safe

FAMILIES: tuple[Family, ...] = (helpdesk.FAMILY, research.FAMILY, legal.FAMILY)


def find(workflow: str) -> Family:
    """
    The family of this name.

    :raises ServiceError: there is none; the text names the nearest.
    """
    for family in FAMILIES:
        if family.name == workflow:
            return family
    raise ServiceError(
        f"There is no workflow {display(workflow)}. {nearest(workflow, [each.name for each in FAMILIES])}"
    )


def read_options(
    workflow: str, given: Mapping[str, object], settings: Settings, dash: str = "--"
) -> msgspec.Struct | None:
    """
    The options of a ticket, of what was given for it by name.

    :param dash: how names are spelled where they were given.
    :raises ServiceError: there is no such workflow, or it does not take that.
    """
    family = find(workflow)
    order = family.order or family.options
    if order is None:
        if given:
            names = " and ".join(f"{dash}{name}" for name in given)
            raise ServiceError(f"A {family.label} takes no options: leave {names} away.")
        return None
    try:
        return family.make_options(msgspec.convert(given, order), settings, dash)
    except msgspec.ValidationError as error:
        names = ", ".join(order.__struct_fields__)
        raise ServiceError(f"The options of a {family.label} are {names}: {safe(str(error))}.") from None


def find_intent(event: Event) -> FoundIntent | None:
    """What a ticket asks for, where an event tells it."""
    for family in FAMILIES:
        if read := family.intents.get(type(event)):
            return read(event)
    return None


def writes_report(workflow: str) -> bool:
    """Whether the outcome of a run is a report; of a workflow that is not known here it is shown as a resolution."""
    return any(family.name == workflow and family.report is not None for family in FAMILIES)


def makes_document(workflow: str) -> bool:
    """Whether a run may hold a document beside its outcome."""
    return any(family.name == workflow and family.document is not None for family in FAMILIES)


def extractive() -> Extractive:
    """The model without a model, with the answers of every family."""
    return Extractive({schema: module for family in FAMILIES for schema, module in family.answers.items()})
