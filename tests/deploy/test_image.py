"""deploy/Dockerfile: its steps, run in their order, make a daemon that is not root and writes only to its volume."""

import json
import re
import shutil
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests import ROOT
from tests.deploy.image import Image, can_mount, read_steps
from tests.patience import HANGS_SECONDS

DOCKERFILE = (ROOT / "deploy" / "Dockerfile").read_text(encoding="utf-8")
TOKEN = "correct-horse-battery-staple"
OFFLINE = re.compile(
    r"Temporary failure in name resolution|Failed to establish a new connection|Network is unreachable"
)


@pytest.fixture(scope="module")
def image(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Image]:
    if not can_mount():
        pytest.skip("needs root, and a kernel that mounts overlays")
    folder = tmp_path_factory.mktemp("image")
    try:
        yield Image(folder, read_steps(DOCKERFILE))
    except RuntimeError as error:
        if OFFLINE.search(str(error)):
            pytest.skip("the package index is out of reach")
        raise
    finally:
        shutil.rmtree(folder)  # 300 MB


def test_no_step_runs_as_root_once_it_is_built_and_requirements_have_their_hashes() -> None:
    steps = read_steps(DOCKERFILE)
    last = [step for step in steps if step.word == "USER"][-1]

    assert int(last.rest.partition(":")[0]) > 0
    assert "RUN" not in {step.word for step in steps[steps.index(last) :]}
    installs = [step.rest for step in steps if "pip install" in step.rest]
    assert all("--require-hashes" in each or "--no-deps" in each for each in installs)
    assert {"HEALTHCHECK", "VOLUME", "ENTRYPOINT", "CMD"} <= {step.word for step in steps}


def ask(process: "subprocess.Popen[str]", path: str, *words: str) -> Any:
    """What a request to the daemon in the container is answered."""
    beside = ["/usr/bin/nsenter", f"--net=/proc/{process.pid}/ns/net"]
    command = [*beside, "curl", "-s", "-H", f"Authorization: Bearer {TOKEN}", *words, f"http://127.0.0.1:8421{path}"]
    done = subprocess.run(command, capture_output=True, check=True, timeout=HANGS_SECONDS)  # noqa: S603 - ours
    return json.loads(done.stdout)


def serve(image: Image, **environ: str) -> Iterator["subprocess.Popen[str]"]:
    with image.start(**environ) as process:
        try:
            yield process
        finally:
            process.terminate()
            process.communicate(timeout=HANGS_SECONDS)


def test_the_image_serves_tickets_with_nothing_to_write_to_but_its_volume(image: Image) -> None:
    with image.start() as refused:
        assert "needs a token" in refused.communicate(timeout=HANGS_SECONDS)[1]
        assert refused.returncode == 2
    for process in serve(image, TERMINUS_SERVER_TOKEN=TOKEN):
        assert process.stdout is not None
        assert "8421" in process.stdout.readline()
        status = Path(f"/proc/{process.pid}/status").read_text(encoding="utf-8")
        assert re.search(r"^Uid:\s+10001\s+10001\s+10001\s+10001$", status, re.MULTILINE)
        assert re.search(r"^CapEff:\s+0+$", status, re.MULTILINE)
        until = time.monotonic() + HANGS_SECONDS
        while image.check_health(process) != 0:
            assert time.monotonic() < until
        outcome = ask(process, "/tickets?wait=60", "-H", "Content-Type: text/plain", "-d", "My printer smokes.")
        assert outcome["status"] == "not_found"

    kept = image.volumes / "data" / "task-data" / "terminus.db"
    assert (kept.stat().st_uid, kept.stat().st_mode & 0o777) == (10001, 0o600)
    with image.start(("status", outcome["ticket"], "--json")) as again:
        assert json.loads(again.communicate(timeout=HANGS_SECONDS)[0])["status"] == "not_found"
