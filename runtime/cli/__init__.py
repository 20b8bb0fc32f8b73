"""The command line: what its exit statuses say, and how it refuses."""

import argparse
import enum
import os
import sys

from runtime.service_error import Kind


class Exit(enum.IntEnum):
    """What the exit status of a command says."""

    DONE = 0
    """Resolved or suggested; for other commands: it was done."""
    FAILED = 1
    BAD_INPUT = 2
    NOT_FOUND = 3
    """The sources do not answer the ticket, or there is no such ticket."""
    LIMIT = 4
    """A loop, too many handoffs, out of time, out of tries."""
    NEEDS_INPUT = 5
    """The run asks something: `answer` goes on with it."""
    DIFFERS = 6
    """A replay goes another way than the run did."""
    CANCELLED = 130


EXITS: dict[Kind, Exit] = {
    "invalid": Exit.BAD_INPUT, "key_reused": Exit.BAD_INPUT, "too_large": Exit.BAD_INPUT, "not_found": Exit.NOT_FOUND,
    "not_remembered": Exit.NOT_FOUND, "conflict": Exit.FAILED, "busy": Exit.FAILED, "unavailable": Exit.FAILED,
    "failed": Exit.FAILED, "cancelled": Exit.CANCELLED,
}  # fmt: skip


def refuse(sentence: str, status: Exit = Exit.BAD_INPUT) -> int:
    """Say on stderr why a command is not carried out; the status that it ends with."""
    from runtime.user_text import safe

    print(safe(sentence), file=sys.stderr)
    return status


def utf8(word: str) -> str:
    """An argument as UTF-8, whatever the locale took it for; the `type` of those that are stored or looked up."""
    try:
        return os.fsencode(word).decode()
    except UnicodeError:
        raise argparse.ArgumentTypeError("it is not UTF-8 text") from None
