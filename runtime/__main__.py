"""`terminus COMMAND`: finds the command, reads the settings, and turns every error into one sentence."""

import errno
import gc
import io
import os
import sys
from collections.abc import Callable, Coroutine, Sequence
from typing import TYPE_CHECKING

from runtime import program
from runtime.cli import EXITS, Exit, refuse
from runtime.cli.parsers import command_names, command_parser, load_command, main_parser
from runtime.service_error import ServiceError

if TYPE_CHECKING:
    from runtime.settings import Settings

COLLECTOR = (50_000, 20, 100)
"""Python's thresholds are for a few hundred objects; with thousands of tickets they cost half of the time."""

NO_SPACE = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})


def main(argv: Sequence[str] | None = None) -> int:
    """Carry out one command and return its exit status."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # a terminal of another encoding is no reason to fail
    before, name, after = _split(list(sys.argv[1:] if argv is None else argv))
    parser = main_parser()
    options = parser.parse_args(before)
    if options.version:
        print(f"Terminus {program.version()}")
        return Exit.DONE
    if not name:
        print(parser.format_help(), end="")
        return Exit.DONE
    if name not in (known := command_names()):
        from runtime.user_text import nearest

        return refuse(f"There is no command {name!r}. {nearest(name, known)}")
    try:
        return _carry_out(name, after, options.config)
    except BrokenPipeError:
        _discard()
        return Exit.FAILED
    except KeyboardInterrupt:
        return refuse("Stopped.", Exit.CANCELLED)


def _discard() -> None:
    """Let go of what stdout did not take, or the interpreter complains when it flushes."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _split(argv: list[str]) -> tuple[list[str], str, list[str]]:
    """What stands before the command, the command, and what follows it."""
    at = 0
    while at < len(argv) and argv[at].startswith("-"):
        at += 2 if argv[at] == "--config" else 1
    return argv[:at], argv[at] if at < len(argv) else "", argv[at + 1 :]


def _carry_out(name: str, rest: Sequence[str], config: str | None) -> int:
    module, arguments = load_command(name), command_parser(name, config).parse_args(rest)
    from runtime.config import ConfigError, load

    try:
        settings = load(arguments.config)
    except ConfigError as error:
        return refuse(str(error))
    if settings.plugins.modules:
        from runtime.plugins import use_files

        use_files(settings.plugins.modules)

    def run() -> int:
        import asyncio

        from runtime.engine.actions import acting_as, name_user

        with acting_as(f"shell:{name_user()}"):
            done: int | Coroutine[object, object, int] = module.run(arguments, settings)
            status = done if isinstance(done, int) else asyncio.run(done)
        if sys.stdout is not None:  # closed before it began
            sys.stdout.flush()
        return status

    return _run_with_log(name, run, settings, getattr(module, "LOG", "file"))


def _run_with_log(name: str, run: Callable[[], int], settings: "Settings", to: str) -> int:
    """Run a command with its log open, so that what nobody expected is written down in full."""
    import msgspec

    from runtime.observe import logs

    gc.set_threshold(*COLLECTOR)
    if to == "errors":
        settings = msgspec.structs.replace(settings, log=msgspec.structs.replace(settings.log, level="error"))
    try:
        log = logs.to_file(settings) if to == "file" else logs.to_stderr(settings)
        with log as path:
            return _explain_errors(name, run, "above" if path is None else f"in {path}")
    except logs.LogError as error:
        return refuse(str(error), Exit.FAILED)


def _explain_errors(name: str, run: Callable[[], int], details: str) -> int:
    """The exit status of a command; whatever it raises becomes one sentence."""
    import structlog

    from actors.ports import PortFailed
    from runtime.config import ConfigError

    try:
        return run()
    except ServiceError as error:
        return refuse(str(error), EXITS[error.kind])
    except ConfigError as error:
        return refuse(str(error))
    except PortFailed as error:
        structlog.get_logger().warning("command.failed", command=name, reason=str(error))
        return refuse(str(error), Exit.FAILED)
    except BrokenPipeError:
        raise
    except Exception as error:
        structlog.get_logger().exception("command.crashed", command=name)
        if isinstance(error, OSError) and error.errno in NO_SPACE:
            _discard()
            return refuse(f"{name} could not write: {error.strerror}. Make room, and ask again.", Exit.FAILED)
        return refuse(f"{name} failed unexpectedly ({type(error).__name__}); the details are {details}.", Exit.FAILED)


if __name__ == "__main__":
    status = main()
    gc.freeze()  # the interpreter looks for garbage once more before it ends: half a second with the SDK of a provider
    sys.exit(status)
