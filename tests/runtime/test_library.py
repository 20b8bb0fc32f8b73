"""What another program imports is light until it is used, complete, and keeps its log off that program's output."""

import logging
import subprocess
import sys
from pathlib import Path

import pytest
import structlog

import runtime
from runtime import ConfigError, Node, Settings, Ticket
from runtime.settings import LogSettings, ModelSettings, RunSettings, ServerSettings, StorageSettings
from tests import ROOT
from tests.test_imports import NOT_FOR_HELP


def test_every_public_name_is_there_and_loaded_only_when_asked_for() -> None:
    program = (
        "import sys, runtime\nbefore = ' '.join(sys.modules)\n"
        "assert all(getattr(runtime, name) for name in runtime.__all__)\n"
        "assert set(runtime.__all__) <= set(dir(runtime))\nprint(before)"
    )
    done = subprocess.run(  # noqa: S603 - our own interpreter
        [sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, timeout=60, check=True
    )

    loaded = {name.partition(".")[0] for name in done.stdout.split()}
    assert loaded & (NOT_FOR_HELP | {"actors", "bus"}) == set()


def test_a_name_that_there_is_not_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="module 'runtime' has no attribute 'Nodes'"):
        runtime.Nodes  # type: ignore[attr-defined]  # noqa: B018


async def test_the_log_goes_to_the_standard_library_and_not_to_the_programs_output(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, logger="terminus")
    key = "a-key-of-some-length"

    async with Node.open(_settings(tmp_path, key)) as node:
        await (await node.submit(Ticket(id="T-1", text="The printer is on fire."))).outcome()
        structlog.get_logger().warning("something.odd", detail=f"it said {key}")

    assert capsys.readouterr() == ("", "")
    assert {record.name for record in caplog.records} == {"terminus"}
    ended = next(record for record in caplog.records if "workflow.terminated" in record.getMessage())
    assert (ended.levelno, "ticket='T-1'" in ended.getMessage()) == (logging.INFO, True)
    assert caplog.messages[-1] == "event='something.odd' detail='it said [secret]'"


@pytest.mark.req("HD-7.3")
async def test_what_logs_in_a_run_within_a_run_names_the_ticket_here_too(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, logger="terminus")

    async with Node.open(_settings(tmp_path)):
        with structlog.contextvars.bound_contextvars(run="R-1.5", ticket="T-1"):
            structlog.get_logger().warning("something.odd")

    (line,) = caplog.messages
    assert "run='R-1.5'" in line
    assert "ticket='T-1'" in line


async def test_a_quiet_logger_hears_nothing_and_costs_nothing(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.ERROR, logger="terminus")

    async with Node.open(_settings(tmp_path)):
        structlog.get_logger().warning("something.odd")
        structlog.get_logger().error("something.worse")

    assert caplog.messages == ["event='something.worse'"]


async def test_a_program_that_configured_structlog_keeps_it(tmp_path: Path) -> None:
    heard: list[str] = []

    def hear(_: object, __: str, event: structlog.typing.EventDict) -> structlog.typing.EventDict:
        heard.append(event["event"])
        raise structlog.DropEvent

    structlog.configure(processors=[hear])

    async with Node.open(_settings(tmp_path)) as node:
        await (await node.submit(Ticket(text="The printer is on fire."))).outcome()

    assert "workflow.terminated" in heard


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        (Settings(run=RunSettings(max_handoffs=1_000)), r"Expected `int` <= 20 - at `\$.run.max_handoffs`."),
        (Settings(server=ServerSettings(port="80")), r"Expected `int`, got `str` - at `\$.server.port`."),  # type: ignore[arg-type]
        (Settings(log=LogSettings(level=object())), "The settings cannot be used: "),  # type: ignore[arg-type]
    ],
)
async def test_settings_of_a_program_lift_no_bound(
    settings: Settings, told: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)

    with pytest.raises(ConfigError, match=told):
        async with Node.open(settings):
            pass

    assert list(tmp_path.iterdir()) == []  # noqa: ASYNC240 - a folder of the test


def _settings(folder: Path, key: str = "") -> Settings:
    return Settings(
        storage=StorageSettings(folder=str(folder)), model=ModelSettings(provider="extractive", api_key=key)
    )
