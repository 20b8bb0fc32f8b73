"""What an agent does at the moment, in the ticket's language. Pure."""

from actors.text.catalogue import say
from actors.workflow.progress import AgentSelected, StatusChanged


def describe_activity(event: StatusChanged | AgentSelected, language: str) -> str:
    """A few words, such as "Looking up sources"."""
    match event:
        case AgentSelected():
            return say("agent_selected", language, agent=event.agent, percent=f"{event.confidence:.0%}"[:-1])
        case StatusChanged():
            said = describe_status(event, language)
            return f"{event.agent}: {said}" if event.agent else said


def describe_status(event: StatusChanged, language: str) -> str:
    """The same where it is seen whose it is."""
    return say(f"doing_{event.status}", language, tool=event.tool)
