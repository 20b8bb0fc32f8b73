"""deploy/Dockerfile: its steps, run in their order, make a daemon that is not root and writes only to its volume."""

import copy
import json
import re
import shlex
import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import yaml  # type: ignore[import-untyped]

from tests import ROOT
from tests.deploy.image import Container, Image, Step, can_mount, read_steps
from tests.pages import read_commands, run_command
from tests.patience import HANGS_SECONDS

DEPLOY = ROOT / "deploy"
DOCKERFILE = (DEPLOY / "Dockerfile").read_text(encoding="utf-8")
UNIT = (DEPLOY / "terminus.service").read_text(encoding="utf-8")
COMPOSE = "docker compose -f deploy/compose.yaml "
SHARED, IMAGE_BYTES = Path("/dev/shm"), 2e9  # noqa: S108 - memory that all programs share
OFFLINE = re.compile(
    r"Temporary failure in name resolution|Failed to establish a new connection|Network is unreachable"
)


@pytest.fixture(scope="module")
def image(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Image]:
    """In memory where there is room: it is 20,000 small files."""
    if not can_mount():
        pytest.skip("needs root, and a kernel that mounts overlays")
    in_memory = SHARED.is_dir() and shutil.disk_usage(SHARED).free > IMAGE_BYTES
    folder = Path(tempfile.mkdtemp(dir=SHARED if in_memory else tmp_path_factory.getbasetemp()))
    try:
        yield Image(folder, read_steps(DOCKERFILE))
    except RuntimeError as error:
        if OFFLINE.search(str(error)):
            pytest.skip("the package index is out of reach")
        raise
    finally:
        shutil.rmtree(folder)


@contextmanager
def running(container: Container) -> Iterator[Container]:
    """A daemon that has said where it listens, until the block ends."""
    with container.process:
        try:
            assert container.process.stdout is not None
            assert "8421" in container.process.stdout.readline()
            yield container
        finally:
            container.stop()


def wait_until_healthy(container: Container) -> None:
    until = time.monotonic() + HANGS_SECONDS
    while container.execute(container.image.health).returncode != 0:
        assert time.monotonic() < until


def check_confined(container: Container) -> None:
    """Its user is not root, has no capability, and cannot get one."""
    status = Path(f"/proc/{container.process.pid}/status").read_text(encoding="utf-8")
    for line in (r"Uid:(\s+[1-9]\d*){4}", r"CapEff:\s+0+", r"NoNewPrivs:\s+1"):
        assert re.search(rf"^{line}$", status, re.MULTILINE), status


def test_no_step_runs_as_root_once_it_is_built_and_requirements_have_their_hashes() -> None:
    steps = read_steps(DOCKERFILE)
    last = [step for step in steps if step.word == "USER"][-1]

    assert int(last.rest.partition(":")[0]) > 0
    assert "RUN" not in {step.word for step in steps[steps.index(last) :]}
    installs = [step.rest for step in steps if "pip install" in step.rest]
    assert all("--require-hashes" in each or "--no-deps" in each for each in installs)
    assert {"HEALTHCHECK", "VOLUME", "ENTRYPOINT", "CMD"} <= {step.word for step in steps}


def test_without_a_token_the_image_says_what_is_missing(image: Image) -> None:
    container = image.start()
    told = container.process.communicate(timeout=HANGS_SECONDS)[1]

    assert (container.process.returncode, "needs a token" in told) == (2, True)


def test_the_commands_of_the_page_run_the_service_of_the_compose_file(image: Image, tmp_path: Path) -> None:
    (tmp_path / "deploy").mkdir()
    services: dict[str, Any] = yaml.safe_load((DEPLOY / "compose.yaml").read_text(encoding="utf-8"))["services"]
    commands = read_commands("operate.md", "In a container")
    begin = next(n for n, command in enumerate(commands) if command == f"{COMPOSE}up -d --build")
    for command in commands[:begin]:
        run_command(command, tmp_path)
    given = services["terminus"]["environment"]
    environ = {name: re.sub(r"\$\{\w+:-(.*?)\}", r"\1", value) for name, value in given.items()}
    environ["TERMINUS_KNOWLEDGE_SEARCH_SECONDS"] = "60"  # it was built without its bytecode
    files = {
        "/run/secrets/server_token": tmp_path / "deploy" / "secrets" / "server_token",
        "/manual": ROOT / "examples" / "knowledge",
    }
    with running(image.start(environ=environ, files=files)) as container:
        check_confined(container)
        wait_until_healthy(container)
        for command in commands[begin + 1 : -1]:
            service, *words = shlex.split(command.removeprefix(f"{COMPOSE}exec "))
            if service == "terminus":
                done = container.execute(words)
                assert done.returncode == 0, done.stdout + done.stderr
            else:
                assert words[:2] == [service, "pull"]
                assert words[2] == environ["TERMINUS_MODEL_NAME"]
        asked = container.reach(["/bin/sh", "-c", f"cd {tmp_path} && {commands[-1]}"])
        outcome = json.loads(asked.stdout)
        assert outcome["status"] == "suggested", outcome
        assert outcome["degraded"], "Ollama is not there"
        assert "Read-only file system" in container.execute(["touch", "/opt/x"]).stderr

    kept = image.volumes / "data" / "task-data" / "terminus.db"
    assert (kept.stat().st_uid, kept.stat().st_mode & 0o777) == (10001, 0o600)


def test_the_commands_of_the_page_install_what_the_unit_of_systemd_starts(image: Image, tmp_path: Path) -> None:
    """`systemctl` is not run: it needs a systemd. What it would start is started as the unit says, by its user."""
    commands = read_commands("operate.md", "As a service of systemd")
    built = [step.rest for step in read_steps(DOCKERFILE) if step.word == "RUN"]
    machine = copy.copy(image)
    machine.take(Step("FROM", "this machine"))
    machine.take(Step("COPY", "--from=build /opt/terminus /opt/terminus"))
    for command in commands:
        if command.startswith(("systemctl", "runuser")):
            continue
        if "/opt/terminus/bin/pip" in command or "-m venv" in command:
            assert command in built
        else:
            machine.take(Step("RUN", f"cd {ROOT}\n{command}"))
    lines = dict(re.findall(r"(?m)^(\w+)=(.*)$", UNIT))
    state = f"/var/lib/{lines['StateDirectory']}"
    machine.take(Step("RUN", f"install -d -o {lines['User']} -m {lines['StateDirectoryMode']} {state}"))
    machine.volumes = tmp_path / "volumes"
    machine.take(Step("VOLUME", state))
    machine.user, machine.directory = find_user(machine, lines["User"]), lines["WorkingDirectory"]
    machine.entry, machine.command = [], shlex.split(lines["ExecStart"])

    with running(machine.start(environ=dict([lines["Environment"].split("=", 1)]))) as container:
        check_confined(container)
        told = container.reach(["curl", "-s", "http://127.0.0.1:8421/health/ready"])
        assert json.loads(told.stdout)["live"] is True
        words = shlex.split(commands[-1])
        assert words[:3] == ["runuser", "-u", lines["User"]]
        assert "No tickets yet" in container.execute(words[4:]).stdout
    assert (tmp_path / "volumes" / state[1:] / "task-data" / "terminus.db").is_file()


def find_user(machine: Image, name: str) -> str:
    """By numbers, as the machine knows a user."""
    accounts = (machine.folder / str(machine.stages) / "changed" / "etc" / "passwd").read_text(encoding="utf-8")
    found = re.search(rf"^{name}:[^:]*:(\d+):(\d+):", accounts, re.MULTILINE)
    assert found
    return f"{found[1]}:{found[2]}"
