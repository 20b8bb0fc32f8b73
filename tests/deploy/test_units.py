"""deploy/: the compose file, the systemd unit and the dashboard name only what there is."""

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml  # type: ignore[import-untyped]

from runtime.config import load
from runtime.config_environment import IN_FILE
from runtime.config_schema import keys
from tests import ROOT
from tests.deploy.image import read_steps
from tests.pages import read_commands, run_command
from tests.patience import HANGS_SECONDS
from tests.runtime.cli.commands.program import Place
from tests.runtime.cli.commands.test_serve import daemon

DEPLOY = ROOT / "deploy"
PARTS = ("bucket", "count", "sum")
"""What a histogram is told as."""
UNIT = (DEPLOY / "terminus.service").read_text(encoding="utf-8")
EXPOSURE = 20
"""Tenths, of systemd's own ten: 2.0 and below is called OK, and a unit without hardening has 9.6."""


def check_variables(environ: dict[str, str], folder: Path) -> None:
    """Each variable sets something, and may be set to that."""
    (folder / "secret").write_text("correct-horse-battery", encoding="utf-8")
    secrets = {key.variable + IN_FILE for key in keys().values() if key.secret}
    (folder / "config.toml").touch()
    load(
        folder / "config.toml",
        {name: str(folder / "secret") if name in secrets else value for name, value in environ.items()},
    )


def test_compose_opens_loopback_alone_and_writes_only_to_its_volume(tmp_path: Path) -> None:
    compose: dict[str, Any] = yaml.safe_load((DEPLOY / "compose.yaml").read_text(encoding="utf-8"))
    services = compose["services"]
    terminus = services["terminus"]
    environ = {name: re.sub(r"\$\{\w+:-(.*?)\}", r"\1", value) for name, value in terminus["environment"].items()}

    assert all(port.startswith("127.0.0.1:") for each in services.values() for port in each.get("ports", ()))
    assert "ollama" not in {name for name, each in services.items() if "ports" in each}
    assert (terminus["read_only"], terminus["cap_drop"], terminus["tmpfs"]) == (True, ["ALL"], ["/tmp"])  # noqa: S108
    assert terminus["depends_on"] == ["ollama"]
    assert re.fullmatch(r"http://ollama:\d+/v1", environ["TERMINUS_MODEL_BASE_URL"])
    named = {volume.partition(":")[0] for each in services.values() for volume in each["volumes"]}
    assert {name for name in named if re.fullmatch(r"\w+", name)} == set(compose["volumes"])
    assert set(terminus["secrets"]) == set(compose["secrets"])
    assert environ["TERMINUS_SERVER_TOKEN_FILE"] == "/run/secrets/server_token"
    assert f":{environ['TERMINUS_KNOWLEDGE_FOLDERS']}:ro" in " ".join(terminus["volumes"])
    image = read_steps((ROOT / terminus["build"]["dockerfile"]).read_text(encoding="utf-8"))
    assert f"data:{next(step.rest for step in image if step.word == 'VOLUME')}" in terminus["volumes"]
    check_variables(environ, tmp_path)


def test_the_build_is_sent_what_the_dockerfile_copies() -> None:
    sent = {
        line.removeprefix("!")
        for line in (DEPLOY / "Dockerfile.dockerignore").read_text(encoding="utf-8").splitlines()
        if line.startswith("!")
    }
    steps = read_steps((DEPLOY / "Dockerfile").read_text(encoding="utf-8"))

    copied = [step.rest.split()[:-1] for step in steps if step.word == "COPY" and "--from" not in step.rest]
    assert {name for names in copied for name in names} == sent
    assert all((ROOT / name).exists() for name in sent)


def test_the_page_has_the_unit_write_into_its_state_folder_alone(tmp_path: Path) -> None:
    lines = dict(re.findall(r"(?m)^(\w+)=(.*)$", UNIT))
    (written,) = (each for each in read_commands("operate.md", "As a service of systemd") if each.startswith("printf"))
    file = lines["Environment"].removeprefix("TERMINUS_CONFIG=")
    assert file in written
    run_command(written.replace(file, str(tmp_path / "config.toml")), tmp_path)

    settings = load(tmp_path / "config.toml", {})

    state = f"/var/lib/{lines['StateDirectory']}/"
    assert [settings.storage.folder, settings.embeddings.folder] == [f"{state}task-data", f"{state}models"]


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="needs systemd-analyze")
def test_systemd_takes_the_unit_and_calls_its_exposure_low(tmp_path: Path) -> None:
    unit = tmp_path / "terminus.service"
    unit.write_text(UNIT.replace("/opt/terminus/bin/terminus", f"{sys.executable} -m runtime"), encoding="utf-8")

    for words in (["verify"], ["security", "--offline=yes", f"--threshold={EXPOSURE}"]):
        done = subprocess.run(  # noqa: S603 - our own unit
            ["/usr/bin/systemd-analyze", *words, str(unit)], capture_output=True, text=True, timeout=HANGS_SECONDS,
            check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stdout + done.stderr
        assert "terminus.service:" not in done.stderr, "an unknown or wrong line is named there"


def test_every_figure_of_the_dashboard_is_one_that_the_daemon_gives(tmp_path: Path) -> None:
    dashboard = json.loads((DEPLOY / "grafana.json").read_text(encoding="utf-8"))
    panels = [panel for panel in dashboard["panels"] if panel["type"] != "row"]
    asked = " ".join(target["expr"] for panel in panels for target in panel["targets"])

    with daemon(Place(tmp_path)) as server:
        server.ask("/tickets?wait=30", {"text": "My printer smokes."})
        given = fetch(f"{server.url}/metrics")

    families = dict(re.findall(r"^# TYPE (\w+) (\w+)$", given, re.MULTILINE))
    known = {*families, *(f"{name}_{part}" for name, kind in families.items() if kind == "histogram" for part in PARTS)}
    assert set(re.findall(r"terminus_\w+", asked)) - known == set()
    assert set(re.findall(r"terminus_\w+", asked)) >= {"terminus_ready", "terminus_run_seconds_bucket"}
    for labels, name in re.findall(r"by \(([\w, ]+)\) \((?:rate\()?(terminus_\w+)", asked):
        counted = re.findall(rf"^{name}\{{(.*)\}}", given, re.MULTILINE)
        assert all(f'{label}="' in counted[0] for label in labels.split(", ") if counted), (name, labels)
    assert len({panel["id"] for panel in panels}) == len(panels)


def fetch(url: str) -> str:
    import urllib.request

    with urllib.request.urlopen(url, timeout=HANGS_SECONDS) as answer:  # noqa: S310 - our own daemon
        return str(answer.read().decode())
