"""The other end of `runtime.processes.pool`: a process that runs one function at a time and dies with its parent."""

import contextlib
import importlib
import os
import queue
import socket
import struct
import sys
import threading
import typing
from collections.abc import Callable, Sequence
from typing import Any

import msgspec

HEADER = struct.Struct("!I")
Job = tuple[str, list[Any]]


def main(descriptor: int, plugins: Sequence[str], modules: Sequence[str] = ()) -> None:
    """
    Serve jobs from an inherited socket until it closes.

    :param plugins: the files that `[plugins] modules` names.
    :param modules: loaded at once, as the first jobs will need them.
    """
    sys.stdout = sys.stderr  # what a library prints must not be taken for an answer
    sys.modules["rich"] = None  # type: ignore[assignment]  # structlog would load it, for traces that nobody prints
    if plugins:
        from runtime.plugins import use_files

        use_files(plugins)
    line = socket.socket(fileno=descriptor)
    jobs: queue.SimpleQueue[Job] = queue.SimpleQueue()
    threading.Thread(target=_listen, args=(line, jobs), daemon=True).start()
    for module in modules:
        with contextlib.suppress(Exception):  # whoever calls a function of it hears why it cannot be loaded
            importlib.import_module(module)
    while True:
        name, arguments = jobs.get()
        try:
            answer = (True, _function(name)(*arguments))
            frame = msgspec.msgpack.encode(answer)
        except BaseException as error:  # whatever a job does, its caller hears of it
            frame = msgspec.msgpack.encode((False, f"{type(error).__name__}: {error}"))
        line.sendall(HEADER.pack(len(frame)) + frame)


def _listen(line: socket.socket, jobs: "queue.SimpleQueue[Job]") -> None:
    """Read jobs; when the parent is gone, so is this process, whatever it is doing."""
    try:
        while True:
            size = HEADER.unpack(_read(line, HEADER.size))[0]
            jobs.put(msgspec.msgpack.decode(_read(line, size), type=tuple[str, list[Any]]))
    except (OSError, EOFError):
        os._exit(0)


def _read(line: socket.socket, size: int) -> bytes:
    chunks = bytearray()
    while len(chunks) < size:
        chunk = line.recv(min(size - len(chunks), 1 << 20))
        if not chunk:
            raise EOFError
        chunks += chunk
    return bytes(chunks)


_functions: dict[str, Callable[..., Any]] = {}


def _function(name: str) -> Callable[..., Any]:
    """Find `module:function`, with its arguments converted to what its annotations say."""
    known = _functions.get(name)
    if known is not None:
        return known
    module, _, attribute = name.partition(":")
    function = getattr(importlib.import_module(module), attribute)
    hints = dict(typing.get_type_hints(function))
    hints.pop("return", None)
    types = list(hints.values())

    def call(*arguments: Any) -> Any:
        return function(*(msgspec.convert(a, t) for a, t in zip(arguments, types, strict=True)))

    _functions[name] = call
    return call


if __name__ == "__main__":
    main(int(sys.argv[1]), msgspec.json.decode(sys.argv[2], type=list[str]), sys.argv[3:])
