"""What the program is called, in every hint, by whoever started it."""

import ast
import sys

import pytest

from runtime.cli.parsers import command_parser, whole_parser
from runtime.program import command, name, shipped_file
from tests import ROOT
from tests.test_imports import LAYERS

STARTED = {
    "/home/kim/.venv/bin/terminus": "terminus",
    "terminus": "terminus",
    r"C:\Users\kim\Scripts\terminus.exe": "terminus",
    "/srv/terminus/runtime/__main__.py": "python -m runtime",
    "/srv/app/terminus/helpdesk.py": "python -m runtime",
    "-c": "python -m runtime",
    "": "python -m runtime",
}


@pytest.mark.parametrize("started", STARTED)
def test_a_command_is_named_as_the_caller_can_type_it(started: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", [started, "status"])

    assert name() == STARTED[started]
    assert command("status T-1") == f"`{STARTED[started]} status T-1`"


def test_without_arguments_of_a_program_it_has_a_name_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", [])

    assert name() == "python -m runtime"


def test_help_and_examples_name_the_callers_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", ["/usr/local/bin/terminus"])

    told = command_parser("submit").format_help()

    assert told.startswith("usage: terminus submit ")
    assert '  terminus submit "My VPN' in told
    assert "python -m" not in told
    assert "`terminus COMMAND --help`" in whole_parser().format_help()


def test_no_sentence_names_the_program_by_itself() -> None:
    """Each asks `runtime.program`, or a caller of another name reads of a command that he does not have."""
    found = [
        f"{file.relative_to(ROOT)}, line {node.lineno}: {node.value!r}"
        for layer in LAYERS
        for file in sorted((ROOT / layer).rglob("*.py"))
        if file != ROOT / "runtime" / "program.py"
        for node in _sentences(ast.parse(file.read_text(encoding="utf-8")))
        if "python -m runtime" in str(node.value)
    ]

    assert found == []


def _sentences(tree: ast.Module) -> list[ast.Constant]:
    """Texts of a module that are not there to explain it."""
    explaining = {id(statement.value) for statement in ast.walk(tree) if isinstance(statement, ast.Expr)}
    return [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in explaining
    ]


def test_what_ships_is_found_in_a_checkout() -> None:
    assert shipped_file("config.toml") == ROOT / "config.toml"
    assert shipped_file("examples/knowledge").is_dir()
