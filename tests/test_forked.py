"""A program that is forked and one that is started are told apart by nothing but the time that they take."""

import os
import re
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests import ROOT
from tests.forked import FORK_SERVER, ForkedPopen, ForkServer
from tests.patience import HANGS_SECONDS

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="programs are forked on Linux only")

PROGRAMS = {
    "done": "print('done')",
    "a status": "import sys; sys.exit(3)",
    "a sentence": "import sys; sys.exit('It went wrong.')",
    "raises": "raise KeyError('x')",
    "interrupted": "raise KeyboardInterrupt",
    "by a signal": "import os, signal; os.kill(os.getpid(), signal.SIGTERM)",
    "its place": "import os, sys; print(os.getcwd(), sys.argv, sys.path, sorted(os.environ.items()))",
    "its streams": "import sys\nfor each in (sys.stdin, sys.stdout, sys.stderr):\n"
    "    print(each.name, each.encoding, each.errors, each.isatty(), each.line_buffering)",
    "what it reads": "import sys; print(sys.stdin.read().upper(), end='')",
    "at the end": "import atexit, threading, time\natexit.register(print, 'last')\n"
    "threading.Thread(target=lambda: (time.sleep(0.05), print('before'))).start()",
    "a leak": "import socket\na, b = [socket.socket()], []\na.append(b); b.append(a)\ndel a, b",
    "signals": "import signal; print([signal.getsignal(each) for each in (2, 13, 15, 17)], signal.set_wakeup_fd(-1))",
    "a session": "import os; print(os.getsid(0) == os.getpid())",
    "descriptors": "import os; print([each for each in os.listdir('/proc/self/fd') if int(each) > 4])",
    "workers": "import asyncio\nfrom runtime.processes.pool import Workers\nasync def main():\n"
    "    workers = Workers(1)\n    print(await workers.call('tests.runtime.jobs:double', 21, within=50, returns=int))\n"
    "    workers.close()\nasyncio.run(main())",
}


@pytest.fixture
def ready() -> None:
    until = time.monotonic() + HANGS_SECONDS
    while not FORK_SERVER.is_ready():
        assert time.monotonic() < until
        time.sleep(0.01)


@pytest.mark.parametrize("program", PROGRAMS)
def test_a_forked_program_does_what_a_started_one_does(ready: None, tmp_path: Path, program: str) -> None:
    environ = {"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT), "PYTHONWARNINGS": "error::ResourceWarning"}
    environ |= {"LC_CTYPE": "C.UTF-8"}  # what an interpreter sets where no language is
    ends = []
    for start in (subprocess.Popen, FORK_SERVER.popen):
        with start(
            [sys.executable, "-c", PROGRAMS[program], "a", "b c"], cwd=tmp_path, env=environ, start_new_session=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        ) as popen:  # fmt: skip
            out, err = popen.communicate("größer".encode(), timeout=HANGS_SECONDS)
        said = re.sub(rb"fd=\d+", b"fd=", err)  # the lowest that is free
        ends.append((popen.returncode, out.decode(), b"Warning" in err, said.splitlines()[-1:]))

    assert ends[1] == ends[0]
    assert isinstance(popen, ForkedPopen)


def test_it_is_waited_for_and_killed_like_any_other(ready: None) -> None:
    with FORK_SERVER.popen([sys.executable, "-c", "import time; time.sleep(600)"]) as popen:
        assert popen.poll() is None
        with pytest.raises(subprocess.TimeoutExpired):
            popen.wait(0.01)
        popen.kill()
        assert popen.wait(HANGS_SECONDS) == -signal.SIGKILL
        assert popen.poll() == -signal.SIGKILL


def test_threads_that_want_it_at_once_start_one(ready: None, monkeypatch: pytest.MonkeyPatch) -> None:
    server, started = ForkServer(), []
    start = ForkServer._start

    def start_slowly(self: ForkServer) -> None:
        started.append(self)
        time.sleep(0.05)  # for the others to come by meanwhile
        start(self)

    monkeypatch.setattr(ForkServer, "_start", start_slowly)
    try:
        with ThreadPoolExecutor(4) as pool:
            list(pool.map(lambda _: server.is_ready(), range(4)))
    finally:
        server.close()
    assert len(started) == 1
