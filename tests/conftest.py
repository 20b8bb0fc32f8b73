"""What holds for every test: it leaves no task, thread or process behind, and speaks with nobody beyond loopback."""

import asyncio
import inspect
import ipaddress
import sys
import threading
import time
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import hypothesis
import pytest
import structlog

from runtime.embeddings.model_file import find_model_file
from runtime.settings import EmbeddingsSettings
from tests.forked import FORK_SERVER, fork_workers

INSTALLED_MODEL = find_model_file(EmbeddingsSettings())
"""The built-in sentence model of whoever runs the tests; found before they get a cache of their own."""
ENDING_SECONDS = 20.0
"""What a test has closed and is not gone by then stays, on a busy machine too."""
MOST_SWALLOWED = 100
"""Cancellations that a stubborn actor of a test may swallow, so that a failing test fails instead of hanging."""
LOCAL_NAMES = frozenset({None, "", b"", "localhost", b"localhost"})

OF_THE_WHOLE = (
    "helpdesks", "deploy/test_image.py", "deploy/test_proxy.py", "bench/test_standstill.py", "bench/test_daemon.py",
    "bench/test_faults.py", "runtime/families/test_kills.py", "runtime/engine/test_crash.py",
    "runtime/http/test_day.py",
    *(
        f"runtime/http/pages/test_{name}.py"
        for name in (
            "hostile_content", "in_browser", "knowledge_page", "live_pages", "other_pages", "research_page",
            "shared_page", "ways_of_use",
        )
    ),
)  # fmt: skip
"""Folders and files whose tests start other people's servers, browsers or images, or kill and starve programs."""

_strangers: list[str] = []

# A slow machine is no failure, and what failed is printed as an example to be kept, not stored.
hypothesis.settings.register_profile("terminus", database=None, deadline=None, print_blob=True)
hypothesis.settings.load_profile("terminus")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what only `make test-all` runs."""
    apart = [Path(__file__).parent / each for each in OF_THE_WHOLE]
    for item in items:
        if any(item.path.is_relative_to(each) for each in apart):
            item.add_marker("whole")


def _is_local(host: Any) -> bool:
    if host in LOCAL_NAMES:
        return True
    try:
        address = ipaddress.ip_address(host.decode() if isinstance(host, bytes) else host)
    except ValueError:
        return False
    return address.is_loopback or address.is_unspecified


def _guard(event: str, arguments: tuple[Any, ...]) -> None:
    """An audit hook cannot be gone round: it sees what every library does."""
    if event == "socket.connect":
        address = arguments[1]
        host = address[0] if isinstance(address, tuple) else None  # a path, or netlink
    elif event == "socket.getaddrinfo":
        host = arguments[0]
    else:
        return
    if not _is_local(host):
        _strangers.append(f"{event} {host!r}")
        raise PermissionError(f"a test may only speak with this machine, not with {host!r}")


sys.addaudithook(_guard)


def _children(parent: int | None = None) -> set[int]:
    """Of this process, and of the fork server that it may have."""
    tasks = Path(f"/proc/{parent or 'self'}/task")
    if not tasks.exists():
        return set()
    found = set()
    for task in tasks.iterdir():
        try:
            found |= {int(pid) for pid in (task / "children").read_text(encoding="ascii").split()}
        except FileNotFoundError:
            continue  # that thread has just ended
    if FORK_SERVER.pid in found:
        found = found - {FORK_SERVER.pid} | _children(FORK_SERVER.pid)
    return found


def _await_forked(others: set[int]) -> None:
    """Wait for the workers of a program that was killed: they see that it is gone, and go."""
    until = time.monotonic() + ENDING_SECONDS
    while FORK_SERVER.pid and not _children(FORK_SERVER.pid) <= others and time.monotonic() < until:
        time.sleep(0.005)


@pytest.fixture(scope="session", autouse=True)
def fork_server() -> Iterator[None]:
    """What forks programs and worker processes, from when one is first wanted on."""
    if sys.platform == "linux":
        fork_workers(FORK_SERVER)
    yield
    FORK_SERVER.close()


@pytest.fixture(scope="session", autouse=True)
def own_cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """What is installed on this machine changes no test, save those that ask for it."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
        yield


@pytest.fixture(scope="session")
def sentence_model() -> Path:
    """The file of the real built-in model; `make test` installs it."""
    if not INSTALLED_MODEL.is_file():
        pytest.skip("the sentence model is not installed: python -m runtime model install")
    return INSTALLED_MODEL


@pytest.fixture
async def no_task_left() -> AsyncIterator[None]:
    before = asyncio.all_tasks()
    yield
    left = asyncio.all_tasks() - before - {asyncio.current_task()}
    if left:
        _, left = await asyncio.wait(left, timeout=ENDING_SECONDS)
    names = [str(task.get_coro()) for task in left]
    for _ in range(2 * MOST_SWALLOWED):  # else the end of the loop would wait for them for ever
        for task in left:
            task.cancel()
        await asyncio.sleep(0)
    assert not left, f"tasks were left behind: {names}"


@pytest.fixture(autouse=True)
def nothing_left(request: pytest.FixtureRequest) -> Iterator[None]:
    """Fail a test that leaves something running, or that tried to leave this machine."""
    threads, children = set(threading.enumerate()), _children()
    structlog.reset_defaults()  # a program under test, or `capture_logs`, leaves its configuration behind
    _strangers.clear()
    if inspect.iscoroutinefunction(getattr(request, "function", None)):
        request.getfixturevalue("no_task_left")
    yield
    # Threads of the loop's own executor end with the loop, right after the test.
    for thread in set(threading.enumerate()) - threads:
        if not thread.name.startswith("asyncio_"):
            thread.join(ENDING_SECONDS)
            assert not thread.is_alive(), f"a thread was left behind: {thread.name}"
    _await_forked(children)
    assert _children() <= children, "a process was left behind"
    assert not _strangers, f"it tried to reach {_strangers}"
