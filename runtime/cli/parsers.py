"""What the command line takes, before the name of a command and after it. Each part is loaded when it is needed."""

import argparse
import importlib
import sys
import types
from pathlib import Path
from typing import NoReturn

from runtime import program
from runtime.cli import commands, refuse


class Parser(argparse.ArgumentParser):
    """Says what is wrong in one sentence, in which nothing commands the terminal."""

    def error(self, message: str) -> NoReturn:
        sentence = f"{message[:1].upper()}{message[1:]}. `{self.prog} --help` shows what is possible."
        sys.exit(refuse(sentence))


class MainParser(Parser):
    """Lists the commands in its help, for which all of them are loaded."""

    def format_help(self) -> str:
        names = command_names()
        width = max(map(len, names))
        does = "\n".join(f"  {name:<{width}}  {load_command(name).SUMMARY}" for name in names)
        hint = f"`{self.prog} COMMAND --help` shows what a command takes."
        return f"{super().format_help()}\ncommands:\n{does}\n\n{hint}\n"


def command_names() -> list[str]:
    """The commands that there are: the modules of their folder."""
    files = (file for folder in commands.__path__ for file in Path(folder).glob("[!_]*.py"))
    return sorted({file.stem for file in files})


def load_command(name: str) -> types.ModuleType:
    """The module of a command."""
    return importlib.import_module(f"{commands.__name__}.{name}")


def main_parser() -> MainParser:
    """What stands before the name of a command."""
    parser = MainParser(
        prog=program.name(), usage="%(prog)s [--config FILE] COMMAND ...", description="Agents that always finish."
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
    return _declare(parser, load_command(name), config)


def whole_parser() -> Parser:
    """Everything in one, for what has to know all commands at once."""
    parser = main_parser()
    subparsers = parser.add_subparsers(metavar="COMMAND", parser_class=Parser)
    for name in command_names():
        module = load_command(name)
        _declare(subparsers.add_parser(name, help=module.SUMMARY), module)
    return parser


def _declare(parser: Parser, module: types.ModuleType, config: str | None = None) -> Parser:
    parser.description = f"{module.SUMMARY[:1].upper()}{module.SUMMARY[1:]}."
    parser.add_argument("--config", metavar="FILE", default=config, help="settings to use")
    module.arguments(parser)
    return parser
