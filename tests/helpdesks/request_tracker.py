"""Request Tracker 5 as Debian packages it, started on loopback; its customers write mails."""

import contextlib
import shutil
import subprocess
from collections.abc import Iterator
from email.message import EmailMessage
from email.utils import make_msgid
from pathlib import Path
from typing import Any

import pytest

from tests import ROOT
from tests.helpdesks.real_helpdesks import LAB, ask_json, find_free_port, run_program, serve
from tests.patience import HANGS_SECONDS

SERVER = Path("/usr/share/request-tracker5/libexec/rt-server")
needs_request_tracker = pytest.mark.skipif(
    not SERVER.exists() or shutil.which("rt-mailgate-5") is None,
    reason="Debian's request-tracker5, rt5-db-sqlite and rt5-standalone are not installed",
)
SECRET = "a shared secret"
WRITTEN = {"Create", "Correspond", "Comment"}


class RequestTracker:
    """A tracker with one queue."""

    solved = "resolved"
    has_notes = True

    def __init__(self, url: str, hook: int, tokens: dict[str, str]) -> None:
        """
        :param hook: the port at which its scrips expect Terminus.
        :param tokens: of the accounts `agentbot` and `helen`.
        """
        self.url, self.hook, self._tokens = url, hook, tokens
        self.token = tokens["agentbot"]
        self.connection = {"system": "rt", "url": url, "bot": "agentbot"}

    def mail(self, subject: str, text: str, message_id: str = "") -> None:
        """A customer's mail goes through the gateway."""
        mail = EmailMessage()
        mail["From"], mail["To"], mail["Subject"] = "ann@example.test", "support@lab.test", subject
        mail["Message-ID"] = message_id or make_msgid(domain="example.test")
        mail.set_content(text, cte="quoted-printable")
        self.send(mail)

    def send(self, mail: EmailMessage) -> None:
        """A mail comes to the queue."""
        subprocess.run(  # noqa: S603
            ["rt-mailgate-5", "--url", self.url, "--queue", "Support", "--action", "correspond"],  # noqa: S607
            input=mail.as_bytes(), capture_output=True, timeout=HANGS_SECONDS, check=True,
        )  # fmt: skip

    def call(self, method: str, path: str, body: Any = None, person: str = "agentbot", **head: str) -> Any:
        """What somebody of the helpdesk does."""
        return ask_json(
            method, f"{self.url}/REST/2.0{path}", body, Authorization=f"token {self._tokens[person]}", **head
        )

    def ask(self, subject: str, text: str) -> str:
        self.mail(subject, text)
        return self.latest()

    def latest(self) -> str:
        """The ticket that was opened last; what came before it is not worked on from then on."""
        latest = self.call("GET", "/tickets?query=id+%3E+0&orderby=id&order=DESC&per_page=1")
        ticket = str(latest["items"][0]["id"])
        begun = int(self.call("GET", f"/ticket/{ticket}/history?per_page=1")["items"][0]["id"])
        self.connection["adapter.poll.start"] = f"id > {begun - 1}"  # tickets of other tests are not worked on again
        return ticket

    def reply(self, ticket: str, text: str, message_id: str = "") -> None:
        self.mail(f"Re: [lab #{ticket}] VPN", text, message_id)

    def read(self, ticket: str) -> list[tuple[str, bool]]:
        listed = self.call("GET", f"/ticket/{ticket}/history?fields=Type&per_page=100")["items"]
        kinds = {each["id"]: each["Type"] for each in listed if each["Type"] in WRITTEN}
        parts = self.call("GET", f"/ticket/{ticket}/attachments?fields=TransactionId,ContentType,Content&per_page=100")
        return [
            (each["Content"], kinds[each["TransactionId"]] != "Comment")
            for each in sorted(parts["items"], key=lambda each: int(each["TransactionId"]))
            if each["ContentType"] == "text/plain" and each["TransactionId"] in kinds
        ]

    def tag(self, ticket: str, tag: str) -> None:
        tags = [*self.tags(ticket), tag]
        self.call("PUT", f"/ticket/{ticket}", {"CustomFields": {"Tag": tags}}, "helen")

    def tags(self, ticket: str) -> list[str]:
        fields = self.call("GET", f"/ticket/{ticket}")["CustomFields"]
        return [str(tag) for each in fields if each["name"] == "Tag" for tag in each["values"]]

    def status(self, ticket: str) -> str:
        return str(self.call("GET", f"/ticket/{ticket}")["Status"])


@contextlib.contextmanager
def start_request_tracker(folder: Path) -> Iterator[RequestTracker]:
    """A tracker of its own in a folder."""
    port, hook = find_free_port(), find_free_port()
    environ = {
        "RT_LAB": str(folder), "RT_LAB_PORT": str(port), "RT_LAB_HOOK": str(hook), "RT_LAB_SECRET": SECRET,
        "RT_LAB_SCRIP": str(ROOT / "examples" / "helpdesks" / "rt-scrip.pl"),
        "RT_SITE_CONFIG": str(LAB / "RT_SiteConfig.pm"), "RT_SITE_CONFIG_DIR": str(folder / "none"),
    }  # fmt: skip
    run_program(["rt-setup-database-5", "--action", "init", "--skip-create"], environ)
    run_program(["rt-setup-database-5", "--action", "insert", "--datafile", str(LAB / "rt_initialdata.pl")], environ)
    tokens = {name: (folder / f"{name}.token").read_text(encoding="utf-8") for name in ("agentbot", "helen")}
    url = f"http://127.0.0.1:{port}"
    command = [str(SERVER), "--server", "Starlet", "--host", "127.0.0.1", "--port", str(port), "--max-workers", "2"]
    with serve(command, f"{url}/REST/2.0/rt", environ):
        yield RequestTracker(url, hook, tokens)
