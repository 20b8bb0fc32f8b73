"""`resume`: goes on with every run whose process died, from the journal or, when that is gone, from its backups."""

import argparse
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from actors.reporting.report import Report
    from actors.workflow.outcome import Outcome
    from runtime.cli.view.plain_lines import View
    from runtime.node import RunHandle
    from runtime.run_record import EndedRecord
    from runtime.settings import Settings


SUMMARY = "continue what a crash or a kill left unfinished"


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.epilog = (
        "exit status: 0 if all ended well or there was nothing to do; else what `submit` would give for the worst."
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object and nothing else")


def run(arguments: argparse.Namespace, settings: "Settings") -> int:
    import asyncio

    from runtime.cli.view.result import exit_status, worst
    from runtime.messages import as_json

    ended = asyncio.run(_resume(settings))
    outcomes = [outcome for outcome, _ in ended]
    if arguments.json:
        print(as_json({"outcomes": outcomes}))
    elif not outcomes:
        print("Nothing to resume: no run was interrupted.")
    else:
        for outcome, report in ended:
            _show(outcome, report)
    return worst(map(exit_status, outcomes))


async def _resume(settings: "Settings") -> "list[tuple[EndedRecord, Report | None]]":
    """How all of them ended, with the reports of those that are researches."""
    import asyncio
    import contextlib

    from runtime.cli.session import came_of
    from runtime.cli.view.plain_lines import PlainView
    from runtime.cli.view.run_display import GONE, stopping
    from runtime.families.research_state.recovery import restore
    from runtime.service import open_node

    view = PlainView(sys.stderr)
    async with open_node(settings) as node:
        with stopping(view, settings.run.cancel_seconds) as stop:
            handles = await node.resume()
            restored, told = await restore(node)
            handles += restored
            with contextlib.suppress(*GONE):
                for sentence in told:
                    view.note(sentence)
            stop.gently(lambda: _cancel(handles))
            outcomes = await asyncio.gather(*(_seen(handle, view) for handle in handles))
            return [came_of(node, each) for each in outcomes]


async def _seen(handle: "RunHandle", view: "View") -> "Outcome":
    """Wait for a run, saying so. A terminal that went away must not harm it."""
    import contextlib

    from runtime.cli.view.run_display import GONE
    from runtime.messages import spell_out

    with contextlib.suppress(*GONE):
        view.note(f"Ticket {handle.ticket}: run {handle.run} goes on")
    outcome = await handle.outcome()
    with contextlib.suppress(*GONE):
        view.note(f"Ticket {handle.ticket}: {spell_out(outcome.status)} after {outcome.seconds:.1f} s")
    return outcome


def _cancel(handles: "list[RunHandle]") -> None:
    for handle in handles:
        handle.cancel()


def _show(outcome: "EndedRecord", report: "Report | None") -> None:
    from runtime.cli.view.result import RESEARCH, Line, lines, research_lines
    from runtime.cli.view.run_display import write
    from runtime.cli.view.terminal_markdown import show
    from runtime.cli.view.ticket_lines import question
    from runtime.messages import safe

    write([Line(f"=== Ticket {safe(outcome.ticket)}", "strong"), question(outcome), Line("")], sys.stdout)
    if outcome.workflow != RESEARCH:
        write([*lines(outcome), Line("")], sys.stdout)
        return
    if outcome.resolution is not None:
        sys.stdout.flush()
        show(outcome.resolution.text, sys.stdout)
    write([Line(""), *research_lines(outcome, report), Line("")], sys.stdout)
