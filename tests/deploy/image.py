"""
Runs the steps of a Dockerfile in their order where there is no Docker, and what comes of them as Docker would run it.

Each stage is an overlay over this machine's own root, which stands for the base image: its paths, users and rights are
those of the image. Needs root, and a kernel that mounts overlays in a namespace; nothing of it is left or seen outside.
"""

import json
import os
import shlex
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from tests import ROOT

BUILD_SECONDS = 600.0
NAMESPACE = ("/usr/bin/unshare", "--mount", "--propagation", "private")
USES = ("PIP_CERT", "PIP_FIND_LINKS", "PIP_INDEX_URL", "SSL_CERT_FILE", "HTTPS_PROXY", "https_proxy")
"""What this machine needs to reach the package index."""


class Step(NamedTuple):
    """An instruction: `RUN` and what stands behind it."""

    word: str
    rest: str


def read_steps(text: str) -> list[Step]:
    """The instructions of a Dockerfile, each on one line."""
    lines = [line for line in text.splitlines() if line.strip() and not line.startswith("#")]
    joined = "\n".join(lines).replace("\\\n", " ")
    return [Step(word, rest.strip()) for line in joined.splitlines() for word, _, rest in [line.partition(" ")]]


class Image:
    """What a Dockerfile makes, below a folder of its own."""

    def __init__(self, folder: Path, steps: Sequence[Step]) -> None:
        self.folder, self.volumes = folder, folder / "volumes"
        self._stages = 0
        self._names: dict[str, Path] = {}
        self.directory, self.user, self.environ = "/", "0:0", {"PATH": "/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"}
        self.entry: list[str] = []
        self.command: list[str] = []
        self.health: list[str] = []
        self.declared_volumes: list[str] = []
        for step in steps:
            self._take(step)

    def _take(self, step: Step) -> None:
        match step:
            case Step("FROM", rest):
                self._begin_stage(rest.partition(" AS ")[2])
            case Step("RUN", rest):
                self.run_as_root(rest)
            case Step("COPY", rest):
                self._copy(rest.split())
            case Step("WORKDIR", rest):
                self._enter(f"mkdir -p {shlex.quote(f'{self._stage}/root{rest}')}")
                self.directory = rest
            case Step("ENV", rest):
                self.environ |= dict(word.split("=", 1) for word in shlex.split(rest))
            case Step("USER", rest):
                self.user = rest
            case Step("VOLUME", rest):
                self._declare_volume(rest)
            case Step("ENTRYPOINT", rest):
                self.entry = json.loads(rest)
            case Step("CMD", rest):
                self.command = json.loads(rest)
            case Step("HEALTHCHECK", rest):
                self.health = json.loads(rest.partition("CMD ")[2])
            case Step("EXPOSE" | "STOPSIGNAL", _):
                pass
            case _:
                raise ValueError(f"what does {step.word} do?")

    def _begin_stage(self, name: str) -> None:
        self._stages += 1
        for part in ("changed", "work", "root"):
            (self._stage / part).mkdir(parents=True)
        self._names[name] = self._stage
        self.directory, self.user, self.environ = "/", "0:0", {"PATH": "/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"}
        program = Path(sys._base_executable).resolve()  # type: ignore[attr-defined]
        started = f'#!/bin/sh\nexec {program} "$@"\n'
        opened = "".join(f"chmod o+x {shlex.quote(str(each))}\n" for each in program.parents)
        self.run_as_root(
            f"{opened}rm -f /usr/local/bin/python3\nprintf %s {shlex.quote(started)} > /usr/local/bin/python3\n"
            "chmod 755 /usr/local/bin/python3"
        )

    @property
    def _stage(self) -> Path:
        return self.folder / str(self._stages)

    def _copy(self, words: list[str]) -> None:
        source, target = ROOT, words[-1]
        if words[0].startswith("--from="):
            source = self._names[words[0].removeprefix("--from=")] / "changed"
            words = words[1:]
        to = os.path.normpath(f"{self.directory}/{target}") if not target.startswith("/") else target
        for word in words[:-1]:
            place = f"{to}/{word}" if target.endswith("/") else to
            self._enter(
                f"cp -a --no-preserve=ownership {shlex.quote(str(source / word.lstrip('/')))} "
                f"{shlex.quote(str(self._stage / 'root') + place)}"
            )

    def _declare_volume(self, path: str) -> None:
        """As Docker does, a fresh volume gets what the image has there, with its owner."""
        self.declared_volumes.append(path)
        self.volumes.mkdir()
        place = self._stage / "root" / path.lstrip("/")
        self._enter(f"cp -a {shlex.quote(str(place))} {shlex.quote(str(self.volumes / path.lstrip('/')))}")

    def run_as_root(self, command: str) -> None:
        """One RUN of the Dockerfile: it may change the image."""
        inside = ["/bin/sh", "-ec", command]
        ours = {name: os.environ[name] for name in USES if name in os.environ}
        environ = {**ours, "HOME": "/root", "PIP_NO_COMPILE": "1", **self.environ}  # bytecode takes a third of the time
        self._enter(self._chroot(inside, environ, "0:0"))

    def _enter(self, command: str) -> None:
        done = subprocess.run(  # noqa: S603 - our own steps
            [*NAMESPACE, "/bin/sh", "-ec", f"{self._mount()}\n{command}"],
            capture_output=True, text=True, timeout=BUILD_SECONDS, check=False,
        )  # fmt: skip
        if done.returncode:
            raise RuntimeError(f"{command}\n{done.stdout[-2000:]}{done.stderr[-4000:]}")

    def start(self, words: Sequence[str] = (), **environ: str) -> "subprocess.Popen[str]":
        """`docker run --read-only --tmpfs /tmp --cap-drop ALL --security-opt no-new-privileges`, with its volumes."""
        return self._start([*NAMESPACE, "--net"], [*self.entry, *(words or self.command)], environ)

    def check_health(self, process: "subprocess.Popen[str]") -> int:
        """The exit status of HEALTHCHECK, asked beside a process that was started."""
        beside = ["/usr/bin/nsenter", f"--net=/proc/{process.pid}/ns/net", *NAMESPACE]
        with self._start(beside, self.health, {}) as check:
            check.communicate(timeout=BUILD_SECONDS)
            return check.returncode

    def _start(self, spaces: list[str], words: Sequence[str], environ: dict[str, str]) -> "subprocess.Popen[str]":
        root = self._stage / "root"
        binds = [f"mount --bind {self.volumes}{path} {root}{path}" for path in self.declared_volumes]
        closed = ["ip link set lo up", f"mount -o remount,bind,ro {root}", f"mount -t tmpfs tmpfs {root}/tmp", *binds]  # noqa: S108 - the image's
        inside = ["/usr/bin/setpriv", "--no-new-privs", *words]
        begun = f"exec {self._chroot(inside, {**self.environ, **environ}, self.user)}"
        return subprocess.Popen(  # noqa: S603 - our own steps
            [*spaces, "/bin/sh", "-ec", "\n".join([self._mount(), *closed, begun])],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip

    def _mount(self) -> str:
        stage = self._stage
        layers = f"lowerdir=/,upperdir={stage}/changed,workdir={stage}/work"
        return (
            f"mount -t overlay overlay -o {layers} {stage}/root\n"
            f"mount --rbind /dev {stage}/root/dev\nmount -t proc proc {stage}/root/proc"
        )

    def _chroot(self, words: Sequence[str], environ: dict[str, str], user: str) -> str:
        pairs = [f"{name}={value}" for name, value in environ.items()]
        into = ["/usr/sbin/chroot", f"--userspec={user}", "--groups=", str(self._stage / "root")]
        started = ["/bin/sh", "-c", 'cd "$0" && exec "$@"', self.directory, *words]
        return shlex.join([*into, "/usr/bin/env", "-i", *pairs, *started])


def can_mount() -> bool:
    """Whether this machine can do what an image needs here."""
    if os.geteuid() != 0 or sys.platform != "linux":
        return False
    shell = (
        "ip -V >&2 && d=$(mktemp -d) && mkdir $d/u $d/w $d/m && trap 'rm -rf $d/u $d/w; rmdir $d/m $d' EXIT && "
        "mount -t overlay overlay -o lowerdir=/,upperdir=$d/u,workdir=$d/w $d/m && umount $d/m"
    )
    words = [*NAMESPACE, "/bin/sh", "-c", shell]
    try:
        return subprocess.run(words, capture_output=True, timeout=60, check=False).returncode == 0  # noqa: S603 - ours
    except FileNotFoundError:
        return False
