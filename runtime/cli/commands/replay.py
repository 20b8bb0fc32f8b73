"""`replay`: runs a finished ticket again on what it got from outside then, and says where it differs."""

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from runtime.cli import Exit, utf8
from runtime.cli.view.printing import Line, print_result
from runtime.user_text import display, safe

if TYPE_CHECKING:
    from runtime.replay.recorded_run import Recording
    from runtime.settings import Settings

SUMMARY = "run a finished ticket again on what it got then, and show where it differs"
FORMS = "model=NAME or prompt=AGENT:FILE"
LOG = "errors"
"""What the run logs once more happened then."""


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.epilog = (
        "exit status: 0 the same, 6 it differs, 3 there is no such ticket or run, or nothing is recorded of it."
    )
    parser.add_argument("id", type=utf8, help="a ticket or a run that has ended")
    parser.add_argument(
        "--with", action="append", default=[], dest="change", metavar="CHANGE",
        help=f"{FORMS}: ask a model for what would have come of it; everything else is as recorded",
    )  # fmt: skip
    parser.add_argument(
        "--to-test", type=Path, metavar="FILE", help="write a test for pytest, with the recording beside it as JSON"
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object and nothing else")


async def run(arguments: argparse.Namespace, settings: "Settings") -> int:
    import asyncio

    from runtime.cli.view.replay_lines import replay_lines
    from runtime.replay.counterfactual import read_change
    from runtime.replay.recorded_run import load_recording
    from runtime.replay.replay import replay
    from runtime.service import open_service

    change = read_change(arguments.change, settings)
    async with open_service(settings) as service:
        recording = await load_recording(
            service.node.journal, service.node.recordings, await service.find(arguments.id)
        )
    if arguments.to_test:
        return _write_test(arguments.to_test, recording, settings, json=arguments.json)
    done = await asyncio.to_thread(replay, recording, settings, change)
    print_result(replay_lines(done, answers=bool(change)), done.describe(), json=arguments.json)
    return Exit.DONE if done.is_same else Exit.DIFFERS


def _write_test(file: Path, recording: "Recording", settings: "Settings", *, json: bool) -> int:
    from runtime.replay.regression import write_test
    from runtime.service_error import ServiceError

    if file.suffix != ".py" or not file.name.startswith("test_"):
        raise ServiceError(f"{display(str(file))} is no file that pytest finds: name it test_SOMETHING.py.")
    try:
        written = [str(each) for each in write_test(recording, settings, file)]
    except OSError as error:
        raise ServiceError(f"{display(str(file))} cannot be written: {error.strerror}.") from None
    lines = [Line(f"{safe(written[0])} passes while {safe(recording.ticket)} is answered as it was."), Line(
        f"{safe(written[1])} holds what the run got from outside, as it came: look at it before you share it.", "unsure"
    )]  # fmt: skip
    print_result(lines, {"test": written[0], "recording": written[1]}, json=json)
    return Exit.DONE
