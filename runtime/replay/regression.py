"""A recording as a test that stands alone: it passes while the product answers as it did then."""

from pathlib import Path

import msgspec

from runtime.replay.recorded_run import Recording
from runtime.replay.replay import Replay, replay
from runtime.settings import Settings

TEST = '''\
"""{ticket} is answered as it was: made by `terminus replay {ticket} --to-test`. Its recording stands beside it."""

from pathlib import Path

from runtime.replay.regression import check_recording


def test_{name}_is_answered_as_it_was() -> None:
    check_recording(Path(__file__).with_suffix(".json"))
'''


class RecordedTest(msgspec.Struct, frozen=True):
    """What stands in the file beside a test."""

    settings: Settings
    """Those of then, without secrets and places."""
    recording: Recording


def write_test(recording: Recording, settings: Settings, file: Path) -> tuple[Path, Path]:
    """
    Write a pytest file, and its recording beside it.

    :raises OSError: they cannot be written.
    """
    beside = file.with_suffix(".json")
    name = "".join(each if each.isalnum() else "_" for each in recording.ticket).lower()
    body = msgspec.json.format(msgspec.json.encode(RecordedTest(_remove_secrets(settings), recording)), indent=1)
    beside.write_bytes(body + b"\n")
    beside.chmod(0o600)
    file.write_text(
        TEST.format(ticket=recording.ticket.replace("\\", "/").replace('"', "'"), name=name), encoding="utf-8"
    )
    return file, beside


def check_recording(file: Path) -> None:
    """
    Replay what a file holds, and compare the answer with the one of then.

    :raises AssertionError: it is another one; the text shows both.
    """
    kept = msgspec.json.decode(file.read_bytes(), type=RecordedTest)
    done = replay(kept.recording, kept.settings)
    if not done.answers_same:
        raise AssertionError(_explain(done))


def _remove_secrets(settings: Settings) -> Settings:
    """Without secrets, and without the places of this machine."""
    plain = Settings()
    model = msgspec.structs.replace(settings.model, api_key="", base_url="")
    return msgspec.structs.replace(
        settings, model=model, embeddings=plain.embeddings, tavily=plain.tavily, feeds=plain.feeds, server=plain.server,
        storage=plain.storage,
    )  # fmt: skip


def _explain(done: Replay) -> str:
    from runtime.cli.view.replay_lines import replay_lines

    return "\n".join(" " * line.indent + line.text for line in replay_lines(done))
