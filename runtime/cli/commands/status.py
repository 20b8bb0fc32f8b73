"""`status`: where a ticket stands and how it ended, or the latest tickets."""

import argparse
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from runtime.cli import Exit, utf8
from runtime.cli.view.printing import Line, print_result, width, write
from runtime.program import command
from runtime.service_error import ServiceError
from runtime.user_text import as_json, safe, spell_out

if TYPE_CHECKING:
    from runtime.engine.node import Node
    from runtime.engine.run_record import Ended, Record
    from runtime.settings import Settings
    from runtime.storage.journal import RunJournal
    from runtime.storage.records import StoredRun, Wanted

SUMMARY = "show where a ticket stands, or the latest tickets"
EPILOG = """\
exit status: 0 it is known, 3 there is no such ticket or run.

examples:
  %(prog)s --search "vpn"             (question, subject, requester, id; whatever its case)
  %(prog)s --failed --since 2d
  %(prog)s T-1a2b3c4d --verbose       (with the handoffs)
  %(prog)s T-1a2b3c4d --quotes        (with the words behind each statement)
"""
QUERIES = 20
"""So many that are not done are told one by one; `--json` and `trace` tell all."""
PICKING = ("search", "failed", "workflow", "since", "limit")


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.epilog = EPILOG
    parser.add_argument("id", nargs="?", type=utf8, help="a ticket or a run (default: the latest tickets)")
    parser.add_argument(
        "--search", type=utf8, default="", metavar="TEXT", help="those in whose question, requester or id it stands"
    )
    parser.add_argument("--failed", action="store_true", help="those that a limit, a failure or a person ended")
    parser.add_argument("--workflow", default="", metavar="NAME", help="those of one kind, such as research")
    parser.add_argument("--since", metavar="TIME", help="those begun since: 30m, 12h, 2d, 1w ago, or 2026-01-31")
    parser.add_argument("--limit", "--count", type=int, metavar="N", help="how many of the latest (default: 20)")
    parser.add_argument("-v", "--verbose", action="store_true", help="of one ticket: its handoffs, too")
    parser.add_argument("--quotes", action="store_true", help="of one ticket: the words behind each of its statements")
    parser.add_argument("--json", action="store_true", help="print one JSON object and nothing else")


async def run(arguments: argparse.Namespace, settings: "Settings") -> int:
    if arguments.id is None:
        from runtime.engine.run_filter import RunFilter, make_wanted

        wanted = make_wanted(RunFilter(**{name: getattr(arguments, name) for name in PICKING}))
        return await _list(wanted, settings, as_object=arguments.json)
    for name in PICKING:
        if getattr(arguments, name):
            raise ServiceError(f"--{name} picks from the list of tickets: leave it away, or the id.")
    return await _one(arguments, settings)


async def _list(wanted: "Wanted", settings: "Settings", *, as_object: bool) -> int:
    from runtime.engine.service import open_service

    async with open_service(settings) as service:
        found = await service.node.journal.store.search(wanted)
        rows = [
            (await service.describe(run, asked), await _progress(service.node.journal, run))
            for run, asked in found.runs
        ]
    value = {"runs": [_row(record, progress) for record, progress in rows]}
    print_result(_table(rows, wanted, stopped=found.stopped), value, json=as_object)
    return Exit.DONE


async def _one(arguments: argparse.Namespace, settings: "Settings") -> int:
    from runtime.cli.view.ticket_lines import head
    from runtime.engine.service import open_service

    async with open_service(settings) as service:
        stored, journal = await service.find(arguments.id), service.node.journal
        asked, outcome = await service.read_question(stored), await journal.outcome(stored)
        record, progress = await service.describe(stored, asked), await _progress(journal, stored)
        searches = await _list_searches(service.node, stored)
        if arguments.json:
            handoffs = outcome.handoffs if outcome else (await journal.fold(stored)).handoffs
            told = {"note": asked.note, "handoffs": handoffs, "outcome": outcome}
            print(as_json({**_row(record, progress), **({"searches": searches} if searches else {}), **told}))
            return Exit.DONE
        shown: Iterable[Line]
        if outcome is None:
            shown = await _going(journal, stored, record, progress, verbose=arguments.verbose)
        else:
            ended = (await service.conclude(outcome))._replace(judgement=await service.judgement(stored))
            shown = _describe_end(ended, verbose=arguments.verbose, quotes=arguments.quotes)
        language = outcome.language if outcome else ""
        begun = [*head(record, time.time(), asked.note, language), *_describe_searches(searches), Line("")]
        write([*begun, *shown], sys.stdout)
    return Exit.DONE


def _row(record: "Record", progress: dict[str, Any]) -> dict[str, Any]:
    """What is said of one run, under the names that `--json` prints."""
    import msgspec

    return {**msgspec.to_builtins(record), **progress}


async def _progress(journal: "RunJournal", stored: "StoredRun") -> dict[str, Any]:
    """Where a run stands that goes through rounds: the stage and the number of its deepest; nothing of another."""
    from runtime.cli.child_runs import below, round_of
    from runtime.storage.damage import JournalDamaged

    try:
        if round_of(stored.workflow, journal.case(stored)) is None:
            return {}
        rounds = [stored, *await below(journal, stored)]
        where = await journal.fold(next((each for each in reversed(rounds) if each.ended is None), stored))
        deepest = round_of(stored.workflow, where.case)
    except JournalDamaged:  # one that cannot be read hides none of the others
        return {}
    return {"stage": str(where.state), "round": deepest.number, "rounds": deepest.of} if deepest else {}


async def _list_searches(node: "Node", stored: "StoredRun") -> list[dict[str, str]]:
    """
    Each query of a run and of those below it, and how far it has come, as the deepest knows them.

    What a stage that is still at work, or was killed, has got is durable before its end, and so counts as done.
    """
    from runtime.cli.child_runs import below
    from runtime.families import find
    from runtime.observe.run_trace import find_outermost
    from runtime.search.source_registry import list_answered
    from runtime.storage.damage import JournalDamaged

    try:
        newest = [*reversed(await below(node.journal, stored)), stored]
        told = [find(each.workflow).list_searches((await node.journal.fold(each)).case) for each in newest]
    except JournalDamaged:
        return []
    known = {(each.where, each.query): each for steps in reversed(told) for each in steps}
    if not known:
        return []
    answered = list_answered(await node.effects.load(find_outermost(stored.id)))
    return [
        {
            "query": each.query, "source": each.where, "why": each.failed,
            "status": "done" if key in answered or not (each.pending or each.failed)
            else "pending" if each.pending else "failed",
        }
        for key, each in known.items()
    ]  # fmt: skip


def _describe_searches(searches: Sequence[dict[str, str]]) -> Iterator[Line]:
    """How many queries are done, and which are not."""
    if not searches:
        return
    of = [each["status"] for each in searches]
    counts = (f"{of.count(status)} {status}" for status in ("done", "pending", "failed") if status in of)
    yield Line(f"Queries: {', '.join(counts)}.")
    for each in [each for each in searches if each["status"] != "done"][:QUERIES]:
        why = f" ({safe(each['why'])})" if each["why"] else ""
        yield Line(f"{each['status']}, {safe(each['source'])}: {safe(each['query'])}{why}", "poor", 2)


def _describe_end(ended: "Ended", *, verbose: bool, quotes: bool) -> Iterator[Line]:
    from runtime.cli.view.result import lines

    yield from lines(
        ended.outcome, ended.report, ended.judgement, ended.files, verbose=verbose, named=False, quotes=quotes
    )
    if ended.report is not None:
        yield Line(f"{command(f'report {safe(ended.outcome.ticket)}')} prints its report.", "faint")


async def _going(
    journal: "RunJournal", stored: "StoredRun", record: "Record", progress: dict[str, Any], *, verbose: bool
) -> list[Line]:
    from runtime.cli.view.result import handoffs

    where = await journal.fold(stored)
    going = [
        *(handoffs(where.handoffs) if verbose else ()),
        Line(f"So far: {_stage(progress) or spell_out(where.state)}."),
    ]
    if record.status == "interrupted":
        going.append(Line(f"Its process is gone; {command('resume')} goes on with it.", "poor"))
    return going


def _table(rows: "list[tuple[Record, dict[str, Any]]]", wanted: "Wanted", *, stopped: bool) -> Iterator[Line]:
    import msgspec

    from runtime.cli.view.ticket_lines import table
    from runtime.storage.records import Wanted
    from runtime.storage.sqlite.run_store import MOST_LOOKED_THROUGH

    if rows:
        shown = [(each, _stage(progress) if each.ended is None else "") for each, progress in rows]
        yield from table(shown, time.time(), width(sys.stdout))
    elif msgspec.structs.replace(wanted, count=0) == Wanted(count=0):
        yield Line(f"No tickets yet: {command('submit TEXT')} runs one.")
    else:
        yield Line(f"No ticket is like that; {command('status')} lists the latest.")
    if stopped:
        yield Line(f"Older tickets than the latest {MOST_LOOKED_THROUGH:,} were not looked through.", "poor")
    if any(each.status == "interrupted" for each, _ in rows):
        yield Line(f"Interrupted: the process is gone; {command('resume')} goes on with them.", "poor")


def _stage(progress: dict[str, Any]) -> str:
    """Where a research stands, in words; nothing of a ticket."""
    return f"{progress['stage']}, round {progress['round']} of {progress['rounds']}" if progress else ""
