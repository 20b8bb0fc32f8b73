"""`replay`: runs a finished ticket again on what it got from outside then, and says where it differs."""

import argparse
from typing import TYPE_CHECKING

from runtime.cli import Exit, utf8
from runtime.cli.view.printing import print_result

if TYPE_CHECKING:
    from runtime.settings import Settings

SUMMARY = "run a finished ticket again on what it got then, and show where it differs"
LOG = "errors"
"""What the run logs once more happened then."""


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.epilog = (
        "exit status: 0 the same, 6 it differs, 3 there is no such ticket or run, or nothing is recorded of it."
    )
    parser.add_argument("id", type=utf8, help="a ticket or a run that has ended")
    parser.add_argument("--json", action="store_true", help="print one JSON object and nothing else")


async def run(arguments: argparse.Namespace, settings: "Settings") -> int:
    import asyncio

    from runtime.cli.view.replay_lines import replay_lines
    from runtime.engine.service import open_service
    from runtime.observe.replay import load_recording, replay

    async with open_service(settings) as service:
        recording = await load_recording(
            service.node.journal, service.node.recordings, await service.find(arguments.id)
        )
    done = await asyncio.to_thread(replay, recording, settings)
    print_result(replay_lines(done), done.describe(), json=arguments.json)
    return Exit.DONE if done.is_same else Exit.DIFFERS
