"""Lines for people and machines, in which no secret stands and nothing commands a terminal."""

import io
import json
import logging
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest
import structlog

from runtime.observe import logs
from runtime.observe.sinks import Stderr
from runtime.settings import LogSettings, ModelSettings, ServerSettings, Settings, StorageSettings
from tests import ROOT

HOSTILE = "red \x1b[31m bell \x07 c1 \x9b2J turn \u202e line\nfeed"


def settings(tmp_path: Path, **log: object) -> Settings:
    return Settings(
        model=ModelSettings(api_key="sesame-sesame"),
        server=ServerSettings(token='quote " and \\ ü'),
        storage=StorageSettings(folder=str(tmp_path)),
        log=msgspec.convert(log, LogSettings),
    )


def fail(error: Exception) -> None:
    raise error


def written(tmp_path: Path, say: Callable[[], object], **log: object) -> list[str]:
    with logs.to_file(settings(tmp_path, **log)) as path:
        say()
    return path.read_text(encoding="utf-8").splitlines()


def test_a_machine_reads_one_json_object_a_line_with_time_level_and_ids(tmp_path: Path) -> None:
    def say() -> None:
        log = structlog.get_logger(run="R-1").bind(ticket="T-1")
        log.info("handoff.made", source="memory", number=3)
        log.debug("not wanted at this level")

    (line,) = written(tmp_path, say, format="json")

    event = json.loads(line)
    assert event.pop("timestamp").endswith("Z")
    assert event == {
        "event": "handoff.made", "level": "info", "run": "R-1", "ticket": "T-1", "source": "memory", "number": 3
    }  # fmt: skip


def test_people_read_a_line_with_its_keys(tmp_path: Path) -> None:
    (line,) = written(
        tmp_path, lambda: structlog.get_logger().warning("message.refused", sender="worker"), format="console"
    )

    assert "warning" in line
    assert "message.refused" in line
    assert "sender=worker" in line
    assert "\x1b" not in line


@pytest.mark.parametrize("form", ["json", "console"])
def test_nothing_in_a_value_commands_a_terminal_or_breaks_the_line(tmp_path: Path, form: str) -> None:
    def say() -> None:
        structlog.get_logger().error("ticket.read", text=HOSTILE, nested={"text": [HOSTILE]}, lone="\udc80")

    (line,) = written(tmp_path, say, format=form)

    assert line.isprintable()
    assert "red " in line
    if form == "json":
        assert json.loads(line)["nested"] == {"text": [HOSTILE]}


@pytest.mark.parametrize("form", ["json", "console"])
def test_a_secret_is_never_written_wherever_it_stands(tmp_path: Path, form: str) -> None:
    def say() -> None:
        log = structlog.get_logger()
        log.info("a", text="the key is sesame-sesame!", deep=[{"x": "sesame-sesame"}])
        log.info("b", text='my token is quote " and \\ ü', deep=['quote " and \\ ü'])
        log.info("c", token="anything", headers="Authorization: Bearer abcdefghijk", other="sk-proj-0123456789abcdef")
        try:
            fail(ValueError("refused sesame-sesame"))
        except ValueError:
            log.exception("d")

    text = "\n".join(written(tmp_path, say, format=form))

    assert "sesame" not in text
    assert "quote" not in text
    assert "anything" not in text
    assert "abcdefghijk" not in text
    assert "0123456789abcdef" not in text
    assert text.count("[secret]") >= 8


def test_an_exception_is_written_in_full_and_a_huge_value_is_cut(tmp_path: Path) -> None:
    def say() -> None:
        try:
            fail(LookupError("nobody there"))
        except LookupError:
            structlog.get_logger().exception("step.failed", text="x" * 100_000)

    (line,) = written(tmp_path, say, format="json")

    event = json.loads(line)
    assert event["exception"].splitlines()[0] == "Traceback (most recent call last):"
    assert event["exception"].splitlines()[-1] == "LookupError: nobody there"
    assert event["text"].endswith("(100000 characters)")
    assert len(line) < 10_000


def test_what_libraries_log_goes_the_same_way(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    def say() -> None:
        logging.getLogger("some.library").warning("slow \x1b[2J for %s", "sesame-sesame")
        logging.getLogger("some.library").info("chatter")
        broken = logging.LogRecord("some.library", logging.ERROR, "", 0, "bad %d", ("format",), None)
        logging.getLogger().handlers[-1].handle(broken)

    first, second = written(tmp_path, say, format="json")

    assert json.loads(first)["library"] == "some.library"
    assert json.loads(first)["text"] == "slow \\x1b[2J for [secret]"
    assert (json.loads(second)["level"], json.loads(second)["text"]) == ("error", "bad %d")
    assert capfd.readouterr() == ("", "")


def test_the_file_is_for_its_owner_and_is_begun_anew_when_it_is_full(tmp_path: Path) -> None:
    def say() -> None:
        for number in range(400):
            structlog.get_logger().info("filler", number=number, text="y" * 100)

    lines = written(tmp_path, say, format="json", file_megabytes=0.02)

    file = tmp_path / logs.FILE
    older = file.with_suffix(".1.log")
    assert file.stat().st_mode & 0o777 == 0o600
    assert file.stat().st_size <= 20_000
    assert older.stat().st_size <= 20_000
    assert json.loads(lines[-1])["number"] == 399
    assert sorted(path.name for path in file.parent.iterdir()) == ["terminus.1.log", "terminus.log"]


def test_a_second_command_appends_to_the_file(tmp_path: Path) -> None:
    written(tmp_path, lambda: structlog.get_logger().info("first"))

    assert len(written(tmp_path, lambda: structlog.get_logger().info("second"))) == 2


def test_a_log_that_cannot_be_written_does_not_harm_the_work() -> None:
    class Full(io.StringIO):
        def write(self, text: str, /) -> int:
            raise OSError(28, "No space left on device")

    lines = logs.Lines(Full())
    lines.msg("lost")

    assert lines.lost == 1


def test_a_reader_of_the_log_that_stops_reading_is_not_waited_for() -> None:
    reader, writer = os.pipe()
    try:
        lines = logs.Lines(Stderr(writer))
        for number in range(1_000):
            lines.msg(f"{number} {'x' * 2_000}")
        lost = lines.lost
        before = os.read(reader, 10_000_000)
        lines.msg("read again")
        after = os.read(reader, 10_000_000)
    finally:
        os.close(reader)
        os.close(writer)

    assert 0 < lost < 1_000
    assert before.startswith(b"0 x")
    assert b"read again" in after.splitlines()


def test_a_daemon_whose_log_nobody_reads_ends_its_work(tmp_path: Path) -> None:
    program = (
        "import structlog; from runtime.observe import logs; from runtime.settings import Settings\n"
        "with logs.to_stderr(Settings()):\n"
        "    for number in range(1_000): structlog.get_logger().info('filler', text='y' * 1_000)\n"
        "print('done')"
    )
    reader, writer = os.pipe()
    try:
        done = subprocess.run(  # noqa: S603 - our own program
            [sys.executable, "-c", program], cwd=ROOT, stdout=subprocess.PIPE, stderr=writer, timeout=60, check=True
        )
    finally:
        os.close(reader)
        os.close(writer)

    assert done.stdout == b"done\n"


def test_a_folder_that_cannot_be_written_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "task-data").write_text("a file where a folder should be", encoding="utf-8")

    with (
        pytest.raises(logs.LogError, match=r"Nothing can be written below .*\[storage\] folder"),
        logs.to_file(settings(tmp_path / "task-data")),
    ):
        pass


def test_all_is_as_before_when_the_log_is_closed(tmp_path: Path) -> None:
    handlers = list(logging.getLogger().handlers)

    written(tmp_path, lambda: structlog.get_logger().info("something"))

    assert not structlog.is_configured()
    assert logging.getLogger().handlers == handlers


@pytest.mark.parametrize(("form", "reads"), [("auto", json.loads), ("json", json.loads), ("console", str)])
def test_a_daemon_logs_to_stderr_as_json_unless_it_is_a_terminal(
    tmp_path: Path, form: str, reads: Callable[[str], object]
) -> None:
    program = (
        "from runtime.observe import logs\nimport structlog\nfrom runtime.settings import Settings, LogSettings\n"
        f"with logs.to_stderr(Settings(log=LogSettings(format='{form}'))): structlog.get_logger().info('x.started')"
    )
    done = subprocess.run(  # noqa: S603 - our own interpreter
        [sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, timeout=60, check=True
    )

    assert done.stdout == ""
    assert "x.started" in str(reads(done.stderr))
