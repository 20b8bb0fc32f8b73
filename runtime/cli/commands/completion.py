"""`completion`: prints the script by which a shell completes the commands, options and choices of `terminus`."""

import argparse
from typing import TYPE_CHECKING

from runtime.cli import Exit

if TYPE_CHECKING:
    from runtime.settings import Settings

SUMMARY = "print what makes a shell complete commands and options"
LOG = "errors"
"""It leaves no file."""
SHELLS = ("bash", "zsh", "fish")
PROGRAM = "terminus"
EPILOG = """\
Once, then in every new shell:
  bash   terminus completion bash > ~/.local/share/bash-completion/completions/terminus
  zsh    terminus completion zsh > "${fpath[1]}/_terminus"
  fish   terminus completion fish > ~/.config/fish/completions/terminus.fish

For this shell only:  eval "$(terminus completion bash)"

It completes the installed command `terminus`; no shell completes what stands behind `python -m`.
"""
FILES = frozenset({"FILE", "FOLDER_OR_FILE", "FROM", "ticket"})
FOLDERS = frozenset({"FOLDER"})
"""By these names in its help an argument is known to take files, or folders."""


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.epilog = EPILOG
    parser.add_argument("shell", choices=SHELLS, help="the shell that is to complete")


def run(arguments: argparse.Namespace, settings: "Settings") -> int:  # noqa: ARG001 - the commands' contract
    import shtab

    from runtime.cli.parsers import whole_parser

    parser = whole_parser()
    parser.prog = PROGRAM
    _mark(parser)
    print(shtab.complete(parser, shell=arguments.shell), end="")
    return Exit.DONE


def _mark(parser: argparse.ArgumentParser) -> None:
    """Say of each argument that takes a file or a folder what it is to be completed with."""
    import shtab

    for action in parser._actions:  # noqa: SLF001 - argparse has no other way to list them, shtab does the same
        if isinstance(action, argparse._SubParsersAction):  # noqa: SLF001
            for command in action.choices.values():
                _mark(command)
        elif {action.metavar, action.dest} & FILES:
            action.complete = shtab.FILE  # type: ignore[attr-defined]
        elif {action.metavar, action.dest} & FOLDERS:
            action.complete = shtab.DIRECTORY  # type: ignore[attr-defined]
