"""`resume`: goes on with every run whose process died, from the journal or, when that is gone, from its backups."""

import argparse
import sys
from typing import TYPE_CHECKING

from runtime.cli.view.printing import Line, write
from runtime.user_text import as_json, safe, spell_out

if TYPE_CHECKING:
    from actors.workflow.outcome import Outcome
    from runtime.cli.view.board import View
    from runtime.engine.run_record import Ended
    from runtime.engine.runs import Handle
    from runtime.settings import Settings


SUMMARY = "continue what a crash or a kill left unfinished"


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.epilog = (
        "exit status: 0 if all ended well or there was nothing to do; else what `submit` would give for the worst."
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object and nothing else")


async def run(arguments: argparse.Namespace, settings: "Settings") -> int:
    from runtime.cli.view.result import exit_status, worst

    ended = await _resume(settings)
    if arguments.json:
        print(as_json({"outcomes": [each.as_json() for each in ended]}))
    elif not ended:
        print("Nothing to resume: no run was interrupted.")
    else:
        for each in ended:
            _show(each)
    return worst(exit_status(each.outcome) for each in ended)


async def _resume(settings: "Settings") -> "list[Ended]":
    """How all of them ended."""
    import asyncio
    import contextlib

    from runtime.cli.index_renewal import renew_index
    from runtime.cli.view.board import PlainView
    from runtime.cli.view.run_display import GONE, listen_for_stop
    from runtime.engine.service import open_service

    await renew_index(settings)
    view = PlainView(sys.stderr)
    async with open_service(settings) as service:
        with listen_for_stop(view, settings.run.cancel_seconds) as stop:
            handles = await service.node.resume()
            restored, told = await service.node.restore()
            handles += restored
            with contextlib.suppress(*GONE):
                for sentence in told:
                    view.note(sentence)
            stop.on_first(lambda: _cancel(handles))
            outcomes = await asyncio.gather(*(_watch(handle, view) for handle in handles))
            return [await service.conclude(each) for each in outcomes]


async def _watch(handle: "Handle", view: "View") -> "Outcome":
    """Wait for a run, saying so. A terminal that went away must not harm it."""
    import contextlib

    from runtime.cli.view.run_display import GONE

    with contextlib.suppress(*GONE):
        view.note(f"Ticket {handle.ticket}: run {handle.run} goes on")
    outcome = await handle.outcome()
    with contextlib.suppress(*GONE):
        view.note(f"Ticket {handle.ticket}: {spell_out(outcome.status)} after {outcome.seconds:.1f} s")
    return outcome


def _cancel(handles: "list[Handle]") -> None:
    for handle in handles:
        handle.cancel()


def _show(ended: "Ended") -> None:
    from runtime.cli.view.terminal_markdown import show_end
    from runtime.cli.view.ticket_lines import question

    title = Line(f"=== Ticket {safe(ended.outcome.ticket)}", "strong")
    write([title, question(ended.asked), Line("")], sys.stdout)
    show_end(ended, sys.stdout)
    write([Line("")], sys.stdout)
