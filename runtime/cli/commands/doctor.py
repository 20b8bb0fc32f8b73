"""`doctor`: shows what is configured, what is reachable, what is missing and how to get it."""

import argparse
import os
from typing import TYPE_CHECKING

from runtime.cli import Exit
from runtime.cli.view.printing import print_result

if TYPE_CHECKING:
    from runtime.settings import Settings

SUMMARY = "show what is configured, reachable and missing"
LOG = "stderr"
"""It must work where nothing can be written."""


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.epilog = (
        "A model server on this machine is asked whether it answers; one elsewhere only with --reach, which also has "
        "the model give one small answer.\n\n"
        "exit status: 0 nothing stands in the way, 1 something does."
    )
    parser.add_argument("--reach", action="store_true", help="contact servers on other machines too")
    parser.add_argument("--json", action="store_true", help="print one JSON object and nothing else")


def run(arguments: argparse.Namespace, settings: "Settings") -> int:
    from runtime.cli.diagnostics import checks
    from runtime.cli.view.check_lines import check_lines
    from runtime.config import find

    found = checks(settings, find(arguments.config, os.environ), reach=arguments.reach)
    healthy = all(check.state != "problem" for check in found)
    print_result(check_lines(found), {"healthy": healthy, "checks": found}, json=arguments.json)
    return Exit.DONE if healthy else Exit.FAILED
