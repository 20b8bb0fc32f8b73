"""
Forks programs of ours from a process that has loaded what they load: `python -m tests.fork_server`.

It has one thread and no loop of events, so that a child finds nothing half done. Each order comes in one packet, with
the descriptors that the child is to have; the last of them is where its process id is written, and later how it ended.
"""

import atexit
import contextlib
import fcntl
import gc
import importlib
import io
import os
import pkgutil
import runpy
import selectors
import signal
import socket
import sys
import termios
import threading
import time
import warnings
from collections.abc import Iterator

import msgspec

from tests.forked import READY, REPORT, ForkServer, Order, fork_workers

MOST_BYTES, MOST_DESCRIPTORS = 1 << 17, 16
HEAVY = (
    "aiohttp.web", "docx", "fastfeedparser", "lxml.html", "numpy", "openai.resources.chat", "protego",
    "reportlab.platypus", "rich.live", "rich.markdown", "trafilatura",
)  # fmt: skip
"""What the product loads when it is needed."""


def serve(orders: socket.socket) -> Order | None:
    """
    Fork a child for each order, and report how each ends, until nobody is left who could give one.

    :returns: in a child, which has nothing of the server's any more: what it is to carry out.
    """
    reports: dict[int, int] = {}
    ended, note = os.pipe()
    for end in (ended, note):
        os.set_blocking(end, False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.set_wakeup_fd(note, warn_on_full_buffer=False)
    waiting = selectors.PollSelector()  # it has no descriptor that a child would close
    waiting.register(orders, selectors.EVENT_READ)
    waiting.register(ended, selectors.EVENT_READ)
    while True:
        for key, _ in waiting.select():
            if key.fileobj is not orders:
                os.read(ended, 1024)
                for child, code in _reap():
                    report = reports.pop(child)
                    _report(report, code)
                    os.close(report)
                continue
            received = _receive(orders)
            if received is None:
                return None
            order, given = received
            report = given[-1]
            child = os.fork()
            if child == 0:
                signal.set_wakeup_fd(-1)
                signal.signal(signal.SIGCHLD, signal.SIG_DFL)
                _place(given[:-1], order.descriptors)
                return order
            for each in given[:-1]:
                os.close(each)
            reports[child] = report
            _report(report, child)


def _receive(orders: socket.socket) -> tuple[Order, list[int]] | None:
    try:
        packet, given, _, _ = socket.recv_fds(orders, MOST_BYTES, MOST_DESCRIPTORS)
    except ConnectionResetError:
        return None
    return (msgspec.msgpack.decode(packet, type=Order), given) if packet else None


def _reap() -> Iterator[tuple[int, int]]:
    while True:
        try:
            child, status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return
        if not child:
            return
        yield child, os.waitstatus_to_exitcode(status)


def _report(report: int, number: int) -> None:
    with contextlib.suppress(BrokenPipeError):  # who started it is gone
        os.write(report, REPORT.pack(number))


def _place(given: list[int], names: list[int]) -> None:
    """Give the descriptors the names that they are known by, and close all others."""
    above = max([*given, *names]) + 1
    moved = [fcntl.fcntl(each, fcntl.F_DUPFD, above) for each in given]
    for each, name in zip(moved, names, strict=True):
        os.dup2(each, name)
    kept = sorted({0, 1, 2, *names})
    for low, high in zip(kept, [*kept[1:], os.sysconf("SC_OPEN_MAX")], strict=True):
        os.closerange(low + 1, high)


def carry_out(order: Order, paths: list[str]) -> None:
    """
    Become the program.

    :param paths: where modules are found besides the program's folder and its `PYTHONPATH`.
    """
    if order.session:
        os.setsid()
    if order.terminal:
        fcntl.ioctl(0, termios.TIOCSCTTY, 0)
    os.chdir(order.folder)
    os.environ.clear()
    os.environ.update(order.environ)
    time.tzset()
    _open_streams()
    if options := order.environ.get("PYTHONWARNINGS"):
        warnings._processoptions(options.split(","))  # type: ignore[attr-defined]
    kind, what, *words = map(os.fsdecode, order.words)
    module = kind == "-m"
    own = [each for each in order.environ.get("PYTHONPATH", "").split(os.pathsep) if each]
    sys.path[:] = [order.folder if module else "", *own, *paths]
    sys.argv[:] = [what if module else kind, *words]
    fork_workers(ForkServer(order.starter))
    if not module:
        exec(compile(what, "<string>", "exec"), sys.modules["__main__"].__dict__)  # noqa: S102 - a test's own program
        return
    for name in (what, f"{what}.__main__"):
        if not hasattr(sys.modules.get(name), "__path__"):
            sys.modules.pop(name, None)  # it begins anew
    runpy.run_module(what, run_name="__main__", alter_sys=True)


def _open_streams() -> None:
    """As an interpreter opens them when it starts."""
    for name, number, errors in (
        ("stdin", 0, "surrogateescape"),
        ("stdout", 1, "surrogateescape"),
        ("stderr", 2, "backslashreplace"),
    ):
        raw = io.FileIO(number, "wb" if number else "rb", closefd=False)
        raw.name = f"<{name}>"
        buffer = io.BufferedWriter(raw) if number else io.BufferedReader(raw)
        at_once = number == 2 or os.isatty(number)
        stream = io.TextIOWrapper(buffer, "utf-8", errors, "\n" if number else None, line_buffering=at_once)
        setattr(sys, name, stream)
        setattr(sys, f"__{name}__", stream)


def load() -> None:
    """Load the product, and what it loads late."""
    import runtime

    for found in pkgutil.walk_packages(runtime.__path__, f"{runtime.__name__}."):
        if not found.name.endswith("__main__"):
            importlib.import_module(found.name)
    for name in HEAVY:
        importlib.import_module(name)
    gc.collect()
    gc.freeze()  # or the first collection of each child would copy all that the server has


def main() -> None:
    paths = [each for each in sys.path[1:] if each not in os.environ["PYTHONPATH"].split(os.pathsep)]
    orders = socket.socket(fileno=int(sys.argv[1]))
    load()
    orders.send(READY)
    order = serve(orders)
    if order is None:
        return
    orders.detach()  # closed by now
    try:
        carry_out(order, paths)
    except SystemExit as end:
        if isinstance(end.code, int | None):
            _end(end.code or 0)
        raise
    _end(0)


def _end(status: int) -> None:
    """
    End as an interpreter does, without taking down what the server has loaded: that takes as long as a start.

    So nobody complains of what a global name holds open to the very end; tests of commands in a `fresh_place` do.
    """
    threading._shutdown()  # type: ignore[attr-defined]
    atexit._run_exitfuncs()
    gc.collect()
    with contextlib.suppress(Exception):  # the interpreter says why a stream takes nothing
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)


if __name__ == "__main__":
    main()
