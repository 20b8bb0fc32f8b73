"""
Terminus for Python: `from runtime import Node, Ticket`; docs/python.md shows how it is used.

What this module names is loaded when it is asked for, so that `import runtime` costs nothing.
"""

import importlib
from typing import TYPE_CHECKING

__all__ = [
    "AgentSelected", "AnswerReady", "AnswerRefused", "AnswerText", "Busy", "ConfigError", "DraftChecked", "Handle",
    "HandoffMade", "NoReport", "Node", "Outcome", "PortFailed", "Progress", "ResearchOptions", "RoundBegan",
    "RunBegan", "RunEnded", "Settings", "StageProgress", "StatusChanged", "Ticket", "UnknownRun", "fold",
    "load_settings", "write_report",
]  # fmt: skip

if TYPE_CHECKING:
    from actors.ports import PortFailed
    from actors.workflow.outcome import AnswerReady, AnswerRefused, HandoffMade, Outcome, RunBegan, RunEnded
    from actors.workflow.progress import (
        AgentSelected,
        AnswerText,
        DraftChecked,
        Progress,
        RoundBegan,
        StageProgress,
        StatusChanged,
        fold,
    )
    from runtime.config import ConfigError
    from runtime.config import load as load_settings
    from runtime.engine.node import Node, NoReport
    from runtime.engine.runs import Busy, Handle
    from runtime.families.research import ResearchOptions
    from runtime.reports import write as write_report
    from runtime.settings import Settings
    from runtime.storage.errors import UnknownRun
    from runtime.tickets import Ticket
else:
    _HOMES = {
        "actors.workflow.outcome": ("AnswerReady", "AnswerRefused", "HandoffMade", "Outcome", "RunBegan", "RunEnded"),
        "actors.ports": ("PortFailed",),
        "actors.workflow.progress": (
            "AgentSelected",
            "AnswerText",
            "DraftChecked",
            "Progress",
            "RoundBegan",
            "StageProgress",
            "StatusChanged",
            "fold",
        ),
        "runtime.families.research": ("ResearchOptions",),
        "runtime.config": ("ConfigError", "load_settings"),
        "runtime.engine.node": ("NoReport", "Node"),
        "runtime.engine.runs": ("Busy", "Handle"),
        "runtime.reports": ("write_report",),
        "runtime.settings": ("Settings",),
        "runtime.storage.errors": ("UnknownRun",),
        "runtime.tickets": ("Ticket",),
    }
    _SHORTER = {"load_settings": "load", "write_report": "write"}
    """What has another name in its own module, where the module says the rest."""

    def __getattr__(name: str) -> object:
        for home, names in _HOMES.items():
            if name in names:
                return getattr(importlib.import_module(home), _SHORTER.get(name, name))
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

    def __dir__() -> list[str]:
        return sorted({*globals(), *__all__})
