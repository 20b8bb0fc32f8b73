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
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from tests import ROOT

BUILD_SECONDS = 600.0
NAMESPACE = ("/usr/bin/unshare", "--mount", "--propagation", "private")
NONE: Mapping[str, str] = {}
NO_FILES: Mapping[str, Path] = {}
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
        self.stages = 0
        self._names: dict[str, Path] = {}
        self.directory, self.user = "/", "0:0"
        self.environ: dict[str, str] = {}
        self.declared_volumes: list[str] = []
        self.entry: list[str] = []
        self.command: list[str] = []
        self.health: list[str] = []
        for step in steps:
            self.take(step)

    def take(self, step: Step) -> None:
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
        self.stages += 1
        for part in ("changed", "work", "root"):
            (self._stage / part).mkdir(parents=True)
        self._names[name] = self._stage
        self.directory, self.user, self.environ = "/", "0:0", {"PATH": "/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"}
        self.declared_volumes = []
        program = Path(sys._base_executable).resolve()  # type: ignore[attr-defined]
        started = f'#!/bin/sh\nexec {program} "$@"\n'
        opened = "".join(f"chmod o+x {shlex.quote(str(each))}\n" for each in program.parents)
        self.run_as_root(
            f"{opened}rm -f /usr/local/bin/python3\nprintf %s {shlex.quote(started)} > /usr/local/bin/python3\n"
            "chmod 755 /usr/local/bin/python3"
        )

    @property
    def _stage(self) -> Path:
        return self.folder / str(self.stages)

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
        place, volume = self._stage / "root" / path.lstrip("/"), self.volumes / path.lstrip("/")
        volume.parent.mkdir(parents=True)
        self._enter(f"cp -a {shlex.quote(str(place))} {shlex.quote(str(volume))}")

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

    def start(
        self, words: Sequence[str] = (), environ: Mapping[str, str] = NONE, files: Mapping[str, Path] = NO_FILES
    ) -> "Container":
        """
        `docker run --read-only --tmpfs /tmp --cap-drop ALL --security-opt no-new-privileges`, with its volumes.

        :param files: files and folders of this machine, by the path that they have inside; they cannot be written to.
        """
        root = self._stage / "root"
        shell = [self._mount(), "ip link set lo up"]
        for path, ours in files.items():
            shell.append(f"mkdir -p $(dirname {root}{path})")
            shell.append(f"mkdir -p {root}{path}" if ours.is_dir() else f"touch {root}{path}")
        shell.append(f"mount -o remount,bind,ro {root}")
        shell.append(f"mount -t tmpfs tmpfs {root}/tmp")  # noqa: S108 - the image's
        shell += [f"mount --bind {self.volumes}{path} {root}{path}" for path in self.declared_volumes]
        for path, ours in files.items():
            shell.append(f"mount --bind -o ro {ours} {root}{path}")
        environ = {**self.environ, **environ}
        inside = ["/usr/bin/setpriv", "--no-new-privs", *self.entry, *(words or self.command)]
        shell.append(f"exec {self._chroot(inside, environ, self.user)}")
        process = subprocess.Popen(  # noqa: S603 - our own steps
            [*NAMESPACE, "--net", "/bin/sh", "-ec", "\n".join(shell)],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip
        return Container(self, process, environ)

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


class Container(NamedTuple):
    """A process of an image in namespaces of its own, with no network but its own loopback."""

    image: Image
    process: "subprocess.Popen[str]"
    environ: dict[str, str]

    def execute(self, words: Sequence[str]) -> "subprocess.CompletedProcess[str]":
        """`docker exec`: a command beside it, as its user."""
        user, _, group = self.image.user.partition(":")
        pairs = [f"{name}={value}" for name, value in self.environ.items()]
        as_user = ["/usr/bin/setpriv", f"--reuid={user}", f"--regid={group}", "--clear-groups", "--no-new-privs"]
        inside = ["/usr/bin/env", "-i", *pairs, "/bin/sh", "-c", 'cd "$0" && exec "$@"', self.image.directory, *words]
        return self._enter(["--mount", "--net", "--root"], [*as_user, *inside])

    def reach(self, words: Sequence[str]) -> "subprocess.CompletedProcess[str]":
        """A command of this machine that reaches its ports."""
        return self._enter(["--net"], words)

    def _enter(self, spaces: list[str], words: Sequence[str]) -> "subprocess.CompletedProcess[str]":
        return subprocess.run(  # noqa: S603 - our own steps
            ["/usr/bin/nsenter", f"--target={self.process.pid}", *spaces, *words],
            capture_output=True, text=True, timeout=BUILD_SECONDS, check=False,
        )  # fmt: skip

    def stop(self) -> None:
        self.process.terminate()
        self.process.communicate(timeout=BUILD_SECONDS)


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
