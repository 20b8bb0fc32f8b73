"""What the command line takes, before the name of a command and after it. Each part is loaded when it is needed."""

import argparse
import importlib
import sys
import types
from typing import NoReturn

from runtime import program
from runtime.cli import COMMANDS, refuse

MODULES = "runtime.cli.commands"


class Parser(argparse.ArgumentParser):
    """Says what is wrong in one sentence, in which nothing commands the terminal."""

    def error(self, message: str) -> NoReturn:
        sentence = f"{message[:1].upper()}{message[1:]}. `{self.prog} --help` shows what is possible."
        sys.exit(refuse(sentence))


def module(name: str) -> types.ModuleType:
    """The module of a command."""
    return importlib.import_module(f"{MODULES}.{name}")


def main_parser() -> Parser:
    """What stands before the name of a command."""
    width = max(map(len, COMMANDS))
    parser = Parser(
        prog=program.name(),
        usage="%(prog)s [--config FILE] COMMAND ...",
        description="Agents that always finish.",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        epilog="commands:\n"
        + "\n".join(f"  {name:<{width}}  {does}" for name, does in COMMANDS.items())
        + "\n\n`%(prog)s COMMAND --help` shows what a command takes.",
    )
    parser.add_argument("--config", metavar="FILE", help="settings to use (default: config.toml here, if there is one)")
    parser.add_argument("--version", action="store_true", help="print the version and end")
    return parser


def command_parser(name: str, config: str | None = None) -> Parser:
    """
    What stands behind the name of a command.

    :param config: the file of settings that was named before it.
    """
    parser = Parser(prog=f"{program.name()} {name}", formatter_class=argparse.RawDescriptionHelpFormatter)
    return _declared(parser, name, config)


def whole_parser() -> Parser:
    """Everything in one, for what has to know all commands at once."""
    parser = main_parser()
    commands = parser.add_subparsers(metavar="COMMAND")
    for name, does in COMMANDS.items():
        _declared(commands.add_parser(name, help=does), name)
    return parser


def _declared(parser: Parser, name: str, config: str | None = None) -> Parser:
    parser.description = COMMANDS[name][0].upper() + COMMANDS[name][1:] + "."
    parser.add_argument("--config", metavar="FILE", default=config, help="settings to use")
    module(name).arguments(parser)
    return parser
