"""What a command says of a run that it saw to its end."""

import contextlib

from actors.reporting.report import Report
from actors.workflow.outcome import Outcome
from runtime.cli.view.result import RESEARCH
from runtime.node import Node, NoReport
from runtime.run_record import EndedRecord, ended
from runtime.storage.tickets import asked


def came_of(node: Node, outcome: Outcome) -> tuple[EndedRecord, Report | None]:
    """How a run ended, with what it was asked, and its report if it is a research that has one."""
    stored = node.journal.run(outcome.run)
    report = None
    if outcome.workflow == RESEARCH:
        with contextlib.suppress(NoReport):
            report = node.report(stored.ref)
    return ended(outcome, stored, asked(node.database, stored)), report
