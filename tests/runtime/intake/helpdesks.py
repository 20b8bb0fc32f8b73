"""What tests of the intake share: tickets of a helpdesk as it would tell them."""

from typing import Any

import msgspec

from runtime.intake.events import HelpdeskTicket, Message
from runtime.intake.helpdesk_settings import HelpdeskSettings

SETTINGS = HelpdeskSettings(system="rt", url="http://127.0.0.1", bot="bot", fallback="human")


def said(number: int, role: Any = "customer", text: str = "", **more: Any) -> Message:
    return Message(id=str(number), author=role, role=role, text=text or f"Words {number}", **more)


def ticket(*messages: Message, **more: Any) -> HelpdeskTicket:
    return HelpdeskTicket(id="7", subject="It broke", messages=messages or (said(1),), requester="customer", **more)


def settings(**more: Any) -> HelpdeskSettings:
    return msgspec.structs.replace(SETTINGS, **more)
