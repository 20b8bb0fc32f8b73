"""deploy/nginx.conf: TLS and single sign-on before the daemon, as it stands there but for names and ports."""

import http.client
import json
import shutil
import socket
import ssl
import subprocess
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests import ROOT
from tests.patience import HANGS_SECONDS
from tests.runtime.cli.commands.program import Place, silent_server
from tests.runtime.cli.commands.test_serve import Daemon, daemon

CONFIGURATION = (ROOT / "deploy" / "nginx.conf").read_text(encoding="utf-8")
NAME = "help.example.org"
SIGNED_IN = {"Cookie": "_oauth2_proxy=ann"}
NGINX = shutil.which("nginx", path="/usr/sbin:/usr/bin:/usr/local/sbin:/usr/local/bin")
OPENSSL = shutil.which("openssl")


class SignIn(BaseHTTPRequestHandler):
    """What oauth2-proxy answers nginx: 202 and who it is for a session's cookie, else 401."""

    def do_GET(self) -> None:
        known = self.path == "/oauth2/auth" and SIGNED_IN["Cookie"] in self.headers.get("Cookie", "")
        self.send_response(202 if known else 401 if self.path == "/oauth2/auth" else 200)
        if known:
            self.send_header("X-Auth-Request-User", "1001")
            self.send_header("X-Auth-Request-Email", "ann@example.org")
            self.send_header("X-Auth-Request-Groups", "support,staff")
        page = f"Sign in, then {self.headers.get('X-Auth-Request-Redirect')}".encode()
        self.send_header("Content-Length", str(len(page)))
        self.end_headers()
        self.wfile.write(page)

    def log_message(self, *args: Any) -> None:
        """Nothing on the terminal."""


class Site(NamedTuple):
    """The proxy's door, and the daemon behind it."""

    port: int
    trusted: ssl.SSLContext
    behind: Daemon

    def connect(self) -> http.client.HTTPSConnection:
        return http.client.HTTPSConnection("127.0.0.1", self.port, timeout=HANGS_SECONDS, context=self.trusted)

    def ask(self, path: str, body: Any = None, **headers: str) -> tuple[int, dict[str, str], Any]:
        connection = self.connect()
        sent = None if body is None else json.dumps(body)
        usual = {"Host": NAME, **({"Content-Type": "application/json"} if sent else {})}
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        connection.request("POST" if sent else "GET", path, sent, {**usual, **named})
        answer = connection.getresponse()
        told = answer.read()
        connection.close()
        is_json = "json" in answer.headers.get("Content-Type", "")
        return answer.status, dict(answer.headers), json.loads(told) if is_json else told


def find_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as sock:
        return int(sock.getsockname()[1])


@pytest.fixture(scope="module")
def sign_in() -> Iterator[int]:
    with ThreadingHTTPServer(("127.0.0.1", 0), SignIn) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield server.server_address[1]
        server.shutdown()
        thread.join()


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory, sign_in: int) -> Iterator[Site]:
    if NGINX is None or OPENSSL is None:
        pytest.skip("needs nginx and openssl: apt-get install nginx-light openssl")
    folder = tmp_path_factory.mktemp("site")
    certificate = folder / "terminus.crt"
    subprocess.run(  # noqa: S603 - a certificate of our own
        [OPENSSL, "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2",
         "-subj", f"/CN={NAME}", "-addext", f"subjectAltName=DNS:{NAME},IP:127.0.0.1",
         "-keyout", str(folder / "terminus.key"), "-out", str(certificate)],
        check=True, capture_output=True, timeout=HANGS_SECONDS,
    )  # fmt: skip
    access = {
        "TERMINUS_SERVER_PROXY": "127.0.0.1", "TERMINUS_SERVER_ROLES": "*=submit,support=operate",
        "TERMINUS_SERVER_HOSTS": NAME, "TERMINUS_SERVER_TOKEN": "correct-horse-battery",
    }  # fmt: skip
    with silent_server() as model, daemon(Place(folder), **access, **model) as behind:
        port = find_port()
        write_configuration(folder, {
            "listen 443 ssl": f"listen 127.0.0.1:{port} ssl", "/etc/ssl/terminus.crt": str(certificate),
            "/etc/ssl/private/terminus.key": str(folder / "terminus.key"),
            "http://127.0.0.1:8421": behind.url, "http://127.0.0.1:4180": f"http://127.0.0.1:{sign_in}",
        })  # fmt: skip
        program = [NGINX, "-p", str(folder), "-c", "nginx.conf", "-e", str(folder / "error.log")]
        with subprocess.Popen([*program, "-g", "daemon off;"], stderr=subprocess.PIPE) as nginx:  # noqa: S603 - Debian's
            wait_for(port, nginx)
            yield Site(port, ssl.create_default_context(cafile=str(certificate)), behind)
            nginx.terminate()


def write_configuration(folder: Path, changes: dict[str, str]) -> None:
    """The file that ships, in the smallest configuration that includes it."""
    text = CONFIGURATION
    for theirs, ours in changes.items():
        assert theirs in text
        text = text.replace(theirs, ours)
    kept = "".join(
        f"{kind}_temp_path {folder}/{kind};\n" for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    )
    (folder / "nginx.conf").write_text(
        f"pid {folder}/nginx.pid;\nevents {{}}\nhttp {{\naccess_log off;\n{kept}{text}}}\n", encoding="utf-8"
    )


def wait_for(port: int, nginx: "subprocess.Popen[bytes]") -> None:
    until = time.monotonic() + HANGS_SECONDS
    while time.monotonic() < until:
        assert nginx.poll() is None, nginx.stderr.read() if nginx.stderr else ""
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
        except ConnectionRefusedError:
            continue
        return
    raise AssertionError("nginx does not listen")


def test_who_has_signed_in_is_known_by_name_and_role(site: Site) -> None:
    status, headers, receipt = site.ask("/tickets", {"id": "HD-1", "text": "My printer smokes."}, **SIGNED_IN)
    _, _, ticket = site.ask("/tickets/HD-1", **SIGNED_IN)

    assert (status, receipt["ticket"]) == (202, "HD-1")
    assert headers["Strict-Transport-Security"]
    assert ticket["requester"] == "ann@example.org"
    assert ticket["actions"][0]["by"] == "user:ann@example.org"
    assert site.ask("/tickets/HD-1/cancel", {}, **SIGNED_IN)[0] == 202, "support may cancel"
    assert site.ask("/knowledge/index", {}, **SIGNED_IN)[0] == 403, "and is no administrator"


def test_who_has_not_signed_in_is_sent_to_do_so_and_forged_names_are_overwritten(site: Site) -> None:
    forged = {"X-Forwarded-User": "root", "X-Forwarded-Groups": "support"}

    status, _, page = site.ask("/tickets?limit=5", **forged)
    assert (status, page) == (403, b"Sign in, then /tickets?limit=5")
    assert site.ask("/oauth2/auth", **SIGNED_IN)[0] == 404

    site.ask("/tickets", {"id": "HD-2", "text": "My printer smokes."}, **forged, **SIGNED_IN)
    assert site.ask("/tickets/HD-2", **SIGNED_IN)[2]["actions"][0]["by"] == "user:ann@example.org"


def test_a_program_comes_through_with_its_token_and_with_no_name_beside_it(site: Site) -> None:
    told = site.ask(
        "/tickets", {"id": "HD-3", "text": "My printer smokes."}, Authorization="Bearer correct-horse-battery",
        X_Forwarded_User="root",
    )  # fmt: skip
    assert told[0] == 202
    _, _, ticket = site.ask("/tickets/HD-3", Authorization="Bearer correct-horse-battery")
    assert ticket["actions"][0]["by"] == "server-token"
    assert site.ask("/tickets/HD-3", Authorization="Bearer wrong")[0] == 401


def test_events_arrive_while_the_ticket_is_worked_on(site: Site) -> None:
    site.ask("/tickets", {"id": "HD-4", "text": "My printer smokes."}, **SIGNED_IN)
    connection = site.connect()
    connection.request("GET", "/tickets/HD-4/events", headers={"Host": NAME, **SIGNED_IN})
    stream = connection.getresponse()

    first = next(line for line in iter(stream.readline, b"") if line.startswith(b"event: "))
    assert first != b"event: ended\n"
    assert site.ask("/tickets/HD-4", **SIGNED_IN)[2]["status"] == "running", "the model is silent"
    site.ask("/tickets/HD-4/cancel", {}, **SIGNED_IN)
    site.ask("/tickets/HD-4/cancel", {}, **SIGNED_IN)
    assert b"event: ended\n" in iter(stream.readline, b"")
    connection.close()
