"""
The commands of `terminus`, or `python -m runtime`: one module each, imported only when it is asked for.

A module has `arguments(parser)`, which declares what it takes and imports nothing heavy (it serves `--help` too), and
`run(arguments, settings) -> int`, which does it and returns the exit status.
"""

import argparse
import enum
import os
import sys

COMMANDS = {
    "submit": "run one ticket or research and print what came of it",
    "status": "show where a ticket stands, or the latest tickets",
    "trace": "show what happened on a ticket, step by step",
    "report": "print or write the report of a research",
    "cancel": "stop a ticket gently",
    "resume": "continue what a crash or a kill left unfinished",
    "feedback": "say whether a resolution was right",
    "index": "read folders of documents into the knowledge base",
    "purge": "let tickets go with all that belongs to them",
    "backup": "copy all that is stored, while others may be working with it",
    "restore": "put a backup in the place of what is stored",
    "doctor": "show what is configured, reachable and missing",
    "serve": "run the daemon",
    "demo": "run tickets and a research over the knowledge base that ships with the project",
    "completion": "print what makes a shell complete commands and options",
}
LOG_TO_STDERR = frozenset({"serve", "doctor"})
"""A daemon, and what must work where nothing can be written. Any other logs to a file: its terminal is its user's."""
LEAVES_NOTHING = frozenset({"completion", "demo"})
"""No file, then; what went wrong is said on stderr."""


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
    CANCELLED = 130


class UserError(Exception):
    """The command cannot be carried out. The text is one sentence for the user, with what to do next."""

    def __init__(self, sentence: str, status: Exit = Exit.BAD_INPUT) -> None:
        super().__init__(sentence)
        self.status = status


def refuse(sentence: str, status: Exit = Exit.BAD_INPUT) -> int:
    """Say on stderr why a command is not carried out; the status that it ends with."""
    from runtime.messages import safe

    print(safe(sentence), file=sys.stderr)
    return status


def utf8(word: str) -> str:
    """An argument as UTF-8, whatever the locale took it for; the `type` of those that are stored or looked up."""
    try:
        return os.fsencode(word).decode()
    except UnicodeError:
        raise argparse.ArgumentTypeError("it is not UTF-8 text") from None
