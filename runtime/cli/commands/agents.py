"""`agents`: lists all agents of all workflows, or checks the file of one."""

import argparse
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from runtime.cli import Exit
from runtime.cli.view.printing import Line, print_result
from runtime.service_error import ServiceError
from runtime.user_text import pluralize

if TYPE_CHECKING:
    from runtime.families.limits import AgentRecord
    from runtime.settings import Settings

SUMMARY = "list all agents, or check the file of one"
LOG = "errors"
EPILOG = """\
exit status: 0 all is well, 2 a file or a setting cannot be used.

examples:
  %(prog)s                            (what each does, its tools and limits, to whom it may hand over, its file)
  %(prog)s check agents/printing.md   (whether a specialist can be added by this file; if not, why, and in which line)
"""


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.epilog = EPILOG
    parser.add_argument("action", nargs="?", choices=("check",), metavar="check", help="check a file instead")
    parser.add_argument("file", nargs="?", metavar="FILE", help="the Markdown file to check")
    parser.add_argument("--json", action="store_true", help="print one JSON object and nothing else")


def run(arguments: argparse.Namespace, settings: "Settings") -> int:
    from runtime.agent_folder import load_roster
    from runtime.families import FAMILIES
    from runtime.families.limits import configure_all, list_agents
    from runtime.tools.tool_registry import explain_missing

    if arguments.action and not arguments.file:
        raise ServiceError("agents check needs the Markdown file of an agent, such as agents/printing.md.")
    files = [Path(arguments.file)] if arguments.file else []
    roster = load_roster(settings, *files)
    found = list_agents(FAMILIES, configure_all(FAMILIES, settings, roster), roster)
    if files:
        found = [each for each in found if each.file and files[0].samefile(each.file)]
    print_result(_lines(found, explain_missing(settings)), {"agents": found}, json=arguments.json)
    return Exit.DONE


def _lines(found: "list[AgentRecord]", missing: Mapping[str, str]) -> Iterator[Line]:
    """:param missing: what tools that cannot be called here wait for."""
    workflow = None
    for each in found:
        if each.workflow != workflow:
            yield Line(each.workflow, "strong")
            workflow = each.workflow
        yield Line(f"{each.name}: {each.description}" if each.description else each.name, "", 2)
        facts = [f"{each.seconds:g} s a step, asked again {pluralize(each.retries, 'time')}"]
        facts += [f"tickets on {', '.join(each.intents)}"] if each.intents else []
        tools = (f"{name} ({missing[name]})" if missing.get(name) else name for name in each.tools)
        facts += [f"tools: {', '.join(tools)}"] if each.tools else []
        facts += [f"hands over to {', '.join(each.hands_over_to)}"] if each.hands_over_to else []
        facts += [each.file] if each.file else []
        yield Line(" · ".join(facts), "faint", 4)
