"""Starts real helpdesks on loopback, each with an account for Terminus, and writes to them as their customers do."""

import base64
import contextlib
import http.cookiejar
import json
import os
import re
import signal
import socket
import subprocess
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable, Iterator
from email.message import EmailMessage
from email.utils import make_msgid
from pathlib import Path
from typing import Any, Protocol

import pytest

from tests import ROOT
from tests.patience import HANGS_SECONDS

PYTHON = ROOT / ".venv" / "helpdesks" / "bin" / "python"
LAB = Path(__file__).parent / "lab"
needs_helpdesks = pytest.mark.skipif(not PYTHON.exists(), reason="`make test` installs the helpdesks")
START_SECONDS = 4 * HANGS_SECONDS
"""A tracker makes its database in ten seconds, and on a crowded machine in a minute or two."""
LIST_SECONDS = 0.1


class RealHelpdesk(Protocol):
    """A helpdesk as its customer sees it."""

    connection: dict[str, str]
    """How Terminus is connected."""
    token: str

    def ask(self, subject: str, text: str) -> str:
        """A customer opens a ticket: its id."""

    def reply(self, ticket: str, text: str) -> None:
        """The customer writes again."""

    def read(self, ticket: str) -> list[tuple[str, bool]]:
        """What stands in a ticket: each text, and whether customers see it."""

    def status(self, ticket: str) -> str: ...

    def tag(self, ticket: str, tag: str) -> None:
        """Helen, of the helpdesk, gives a ticket a tag."""

    def tags(self, ticket: str) -> list[str]: ...

    solved: str
    """The status of a solved ticket."""
    has_notes: bool


class Roundup:
    """A classic tracker."""

    solved, has_notes = "resolved", False

    def __init__(self, url: str) -> None:
        self.url, self.token = url, "bot"
        self.connection = {"system": "roundup", "url": url, "user": "agentbot", "bot": "agentbot"}

    def call(self, method: str, path: str, body: Any = None, user: str = "customer1:c1", **head: str) -> Any:
        headers = {
            "X-Requested-With": "rest", "Origin": self.url, "Referer": f"{self.url}/",
            "Content-Type": "application/json",
            "Authorization": f"Basic {base64.b64encode(user.encode()).decode()}", **head,
        }  # fmt: skip
        data = None if body is None else json.dumps(body).encode()
        return _ask(urllib.request.Request(f"{self.url}/rest/data{path}", data, headers, method=method))["data"]  # noqa: S310

    def _say(self, text: str) -> str:
        now = time.strftime("%Y-%m-%d.%H:%M:%S", time.gmtime())
        return str(self.call("POST", "/msg", {"content": text, "author": "customer1", "date": now})["id"])

    def ask(self, subject: str, text: str) -> str:
        return str(self.call("POST", "/issue", {"title": subject, "messages": [self._say(text)]})["id"])

    def reply(self, ticket: str, text: str) -> None:
        said = self._say(text)
        version = self.call("GET", f"/issue/{ticket}")["@etag"]
        self.call("PATCH", f"/issue/{ticket}", {"messages": [said], "@op": "add"}, **{"If-Match": version})

    def read(self, ticket: str) -> list[tuple[str, bool]]:
        issue = self.call("GET", f"/issue/{ticket}")["attributes"]
        ids = [each["id"] for each in issue["messages"]]
        return [(self.call("GET", f"/msg/{number}?@verbose=3")["attributes"]["content"], True) for number in ids]

    def status(self, ticket: str) -> str:
        return str(self.call("GET", f"/issue/{ticket}?@verbose=2")["attributes"]["status"]["name"])

    def tag(self, ticket: str, tag: str) -> None:
        version = self.call("GET", f"/issue/{ticket}")["@etag"]
        changes = {"keyword": [tag], "@op": "add"}
        self.call("PATCH", f"/issue/{ticket}", changes, "helen:h1", **{"If-Match": version})

    def tags(self, ticket: str) -> list[str]:
        known = self.call("GET", f"/issue/{ticket}?@verbose=2")["attributes"]["keyword"]
        return [each["name"] for each in known]


class DjangoHelpdesk:
    """A django-helpdesk with one queue."""

    solved, has_notes = "3", True

    def __init__(self, url: str, bot: str, token: str, helen: str, environ: dict[str, str]) -> None:
        self.url, self.token, self._helen, self._environ = url, token, helen, environ
        self.connection = {"system": "django_helpdesk", "url": url, "bot": bot}

    def _get(self, ticket: str) -> Any:
        headers = {"Authorization": f"Token {self.token}"}
        return _ask(urllib.request.Request(f"{self.url}/api/tickets/{ticket}/", headers=headers))  # noqa: S310

    def ask(self, subject: str, text: str) -> str:
        jar = urllib.request.HTTPCookieProcessor(http.cookiejar.CookieJar())
        opener = urllib.request.build_opener(jar)
        page = opener.open(f"{self.url}/tickets/submit/", timeout=HANGS_SECONDS).read().decode()
        form = {
            "csrfmiddlewaretoken": _find('csrfmiddlewaretoken" value="([^"]+)', page), "queue": "1", "title": subject,
            "body": text, "priority": "3", "submitter_email": "ann@example.test",
        }  # fmt: skip
        data = urllib.parse.urlencode(form).encode()
        sent = urllib.request.Request(f"{self.url}/tickets/submit/", data, {"Referer": self.url})  # noqa: S310
        answer = opener.open(sent, timeout=HANGS_SECONDS)
        return _find(r"ticket=support-(\d+)", answer.geturl())

    def reply(self, ticket: str, text: str) -> None:
        """Its customers reply by mail only."""
        mail = EmailMessage()
        mail["From"], mail["To"], mail["Subject"] = "ann@example.test", "s@lab.test", f"Re: [support-{ticket}] VPN"
        mail["Message-ID"] = make_msgid(domain="example.test")
        mail.set_content(text)
        run_program([str(PYTHON), str(LAB / "django_mail.py")], self._environ, mail.as_string())

    def tag(self, ticket: str, tag: str) -> None:
        address, tags = f"{self.url}/api/tickets/{ticket}/", {"custom_tags": ",".join((*self.tags(ticket), tag))}
        ask_json("PATCH", address, tags, Authorization=f"Token {self._helen}")

    def tags(self, ticket: str) -> list[str]:
        return [each for each in (self._get(ticket)["custom_tags"] or "").split(",") if each]

    def read(self, ticket: str) -> list[tuple[str, bool]]:
        return [(each["comment"], each["public"]) for each in self._get(ticket)["followup_set"]]

    def status(self, ticket: str) -> str:
        return str(self._get(ticket)["status"])


@contextlib.contextmanager
def start_roundup(folder: Path) -> Iterator[Roundup]:
    """A tracker of its own in a folder."""
    port = find_free_port()
    url, admin = f"http://127.0.0.1:{port}", [str(PYTHON.parent / "roundup-admin"), "-i", str(folder)]
    given = f"mail_domain=example.test,admin_email=a@example.test,tracker_web={url}/,mail_host=127.0.0.1"
    run_program([*admin, "install", "classic", "anydbm", given])
    config = folder / "config.ini"
    text = config.read_text(encoding="utf-8")
    text = re.sub(r"(?m)^debug = ?$", f"debug = {folder / 'mail.log'}", text)
    text = re.sub(r"(?m)^#? ?(password_pbkdf2_default_rounds) = \d+$", r"\1 = 1000", text)  # else most of a test's time
    config.write_text(text, encoding="utf-8")
    run_program([*admin, "initialise", "secret"])
    run_program([*admin, "create", "keyword", "name=ai-send"])
    people = (("customer1", "c1", "User"), ("helen", "h1", "User"), ("agentbot", "bot", "User,Admin"))
    for name, password, roles in people:
        user = f"username={name}", f"address={name}@example.test", f"password={password}", f"roles={roles}"
        run_program([*admin, "create", "user", *user])
    with serve([str(PYTHON), str(LAB / "serve_roundup.py"), str(folder), str(port)], url, {}):
        yield Roundup(url)


@contextlib.contextmanager
def start_django_helpdesk(folder: Path) -> Iterator[DjangoHelpdesk]:
    """A helpdesk of its own in a folder."""
    environ = {"DH_FOLDER": str(folder), "DJANGO_SETTINGS_MODULE": "django_settings", "PYTHONPATH": str(LAB)}
    helen, bot, token = run_program([str(PYTHON), str(LAB / "django_seed.py")], environ).split()[-3:]
    port = find_free_port()
    command = [str(PYTHON), "-m", "django", "runserver", "--noreload", "--insecure", f"127.0.0.1:{port}"]
    with serve(command, f"http://127.0.0.1:{port}", environ):
        yield DjangoHelpdesk(f"http://127.0.0.1:{port}", bot, token, helen, environ)


def run_program(command: list[str], environ: dict[str, str] | None = None, given: str = "") -> str:
    """What a program says that ends well."""
    whole = {"PATH": os.environ["PATH"], "HOME": "/nonexistent", **(environ or {})}
    done = subprocess.run(  # noqa: S603 - what the lock file pins
        command, env=whole, input=given, capture_output=True, text=True, timeout=START_SECONDS, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def serve(command: list[str], url: str, environ: dict[str, str]) -> contextlib.AbstractContextManager[None]:
    """A server that answers at an address for as long as this is open."""
    return _start(command, environ, lambda: _answers(url))


def serve_port(command: list[str], port: int) -> contextlib.AbstractContextManager[None]:
    """A server that listens at a port of loopback for as long as this is open."""

    def listens() -> bool:
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=HANGS_SECONDS):
            return True
        return False

    return _start(command, {}, listens)


@contextlib.contextmanager
def _start(command: list[str], environ: dict[str, str], runs: Callable[[], bool]) -> Iterator[None]:
    whole = {"PATH": os.environ["PATH"], "HOME": "/nonexistent", **environ}
    with subprocess.Popen(  # noqa: S603
        command, env=whole, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True
    ) as process:
        try:
            _wait_for(runs, process)
            yield
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)  # those it started, too


def _wait_for(runs: Callable[[], bool], process: "subprocess.Popen[bytes]") -> None:
    until = time.monotonic() + START_SECONDS
    while not runs():
        assert process.poll() is None, "the helpdesk did not start"
        assert time.monotonic() < until, "the helpdesk does not answer"
        time.sleep(LIST_SECONDS)


def _answers(url: str) -> bool:
    try:
        urllib.request.urlopen(url, timeout=HANGS_SECONDS).close()  # noqa: S310
    except urllib.error.HTTPError:
        return True
    except OSError:
        return False
    return True


def find_free_port() -> int:
    """A port of loopback that nobody has."""
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        return int(sock.getsockname()[1])


def ask_json(method: str, url: str, body: Any = None, **headers: str) -> Any:
    """The JSON that a helpdesk answers with; names of headers with `_` for `-`."""
    data = None if body is None else json.dumps(body).encode()
    head = {"Content-Type": "application/json"} | {name.replace("_", "-"): value for name, value in headers.items()}
    return _ask(urllib.request.Request(url, data, head, method=method))  # noqa: S310


def _ask(request: urllib.request.Request) -> Any:
    with urllib.request.urlopen(request, timeout=HANGS_SECONDS) as answer:  # noqa: S310
        return json.load(answer)


def _find(pattern: str, text: str) -> str:
    found = re.search(pattern, text)
    assert found, text[:2_000]
    return found[1]
